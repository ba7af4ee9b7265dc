"""Games of tree ensembles: replacements of absent players, and gains of leaves.

A game returns the gains of all terms (see `tables`) at leaves, for patterns: bit i is
whether the row meets the condition of slot i.
"""

from functools import cached_property, partial

import numpy as np

from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._core.trees.shapley.interventional_few_rows import (
    is_cheaper,
    pair_blocks,
    pair_bytes,
    pair_values,
)
from sklearn_interpret._core.trees.shapley.multilinear_extension import (
    gains_of_integrals,
    leaf_integrals,
)
from sklearn_interpret._core.trees.shapley.path_dependent_few_rows import (
    carried_values,
    carrying_is_cheaper,
    split_blocks,
)
from sklearn_interpret._core.trees.shapley.patterns import (
    PatternFinder,
    RootPaths,
    Scratch,
    all_met,
    distinct_patterns,
    features_with_gaps,
)
from sklearn_interpret._core.trees.shapley.tables import (
    LeafTables,
    ProductRule,
    comparison_gains,
    comparison_tables,
    component_integrals,
    pattern_bits,
    terms,
)
from sklearn_interpret._core.trees.structure.ensemble import cover_shares, node_means

# Background rows in a block of counts, which fits the cache.
_ROWS_AT_ONCE = 2048
# Pairs of rows in a block of comparisons.
_COMPARED_AT_ONCE = 2**20
# Pairs of a leaf and a pattern in a block, which fits the cache.
_PAIRS_AT_ONCE = 4096
# Largest number of conditions of a leaf whose patterns all get integrals.
_MOST_WITH_INTEGRALS = 12


class PathDependentGame:
    """Absent players follow the cover of the trees, split by split.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    chances : ndarray of shape (n_nodes,), optional
        Probability that each condition is met while its player is absent, whatever
        else is met; None takes that of `node_chances`.
    """

    def __init__(self, ensemble, paths, chances=None):
        self.ensemble = ensemble
        self.paths = paths
        self.chances = node_chances(ensemble, paths) if chances is None else chances
        self.cached_tables = {}  # by order and first tree: see `TreeShare.groups`

    @classmethod
    def against(cls, ensemble, paths, codes):
        """Absent players take their values from one row, given by its codes."""
        met = all_met(ensemble, paths, codes[None, :])[:, 0]
        return cls(ensemble, paths, met.astype(np.float64))

    def of_nodes(self, nodes):
        """A function that makes the game of some trees from these and their paths."""
        return partial(type(self), chances=self.chances[nodes])

    def is_direct(self, n_rows, order):
        """Whether carrying `n_rows` rows down the trees is faster than tables."""
        return carrying_is_cheaper(self._n_leaves, self.paths.n_players, n_rows, order)

    def direct_values(self, plan, codes, order):
        """Values of rows without tables: (n_keys, n_rows)."""
        return carried_values(plan, self._splits, codes, order)

    @cached_property
    def _n_leaves(self):
        """Number of leaves with 0, 1, 2, ... conditions."""
        return np.bincount(self.paths.n_conditions[self.ensemble.is_leaf])

    @cached_property
    def _splits(self):
        """The trees' splits, for `direct_values`."""
        return split_blocks(self.ensemble, self.paths, self.chances)

    def leaf_tables(self, units, order):
        """LeafTables of all leaves of units, those of the first units first."""
        nodes = np.concatenate([part.leaves.ravel() for part in units])

        def make(at):
            chances = self.chances[self.paths.of_nodes(nodes[at])]
            d = len(chances)
            tables = np.empty((len(at), len(terms(d, order)), 2**d))
            step = max(1, _PAIRS_AT_ONCE >> d)
            for start in range(0, len(at), step):
                part = slice(start, start + step)
                rule = ProductRule.of_chances(chances[:, part], order)
                tables[part] = rule.everywhere().transpose(1, 0, 2)
            return tables

        return LeafTables.of_leaves(self.paths.n_conditions[nodes], order, make)

    def deep_gains(self, leaves, owner, patterns, order):
        """Gains of leaves with equally many conditions at few patterns of all.

        Parameters
        ----------
        leaves : ndarray of shape (n_leaves,), intp
            Nodes.
        owner : ndarray of shape (n,), intp
            Which of them each pattern is at; increasing.
        patterns : ndarray of shape (n,), integer
            Patterns.
        order : {1, 2}
            Order of the terms.

        Returns
        -------
        ndarray of shape (n_terms, n)
        """
        conditions = self.paths.of_nodes(leaves)
        d = len(conditions)
        gains = np.empty((len(terms(d, order)), len(patterns)))
        for start in range(0, len(patterns), _PAIRS_AT_ONCE):
            at = slice(start, start + _PAIRS_AT_ONCE)
            chances = self.chances[conditions[:, owner[at]]]
            met = pattern_bits(patterns[at, None], d)
            rule = ProductRule.of_chances(chances, order)
            gains[:, at] = rule.at(met)[:, :, 0]
        return gains

    def few_components(self, codes, max_order):
        """None: this game has no way for few rows."""

    def shares_without(self, leaves, subsets):
        """Share of replacements that meet the conditions of leaves outside of subsets.

        For leaves with equally many conditions, and tuples of slots: (n_subsets,
        n_leaves).
        """
        chances = self.chances[self.paths.of_nodes(leaves)]
        shares = np.empty((len(subsets), len(leaves)))
        for into, subset in zip(shares, subsets, strict=True):
            np.multiply.reduce(np.delete(chances, subset, axis=0), axis=0, out=into)
        return shares

    def base_values(self):
        """Mean raw output under the cover: (k,)."""
        means = node_means(self.ensemble)[self.ensemble.roots]
        return self.ensemble.base + means.sum(axis=0)


class InterventionalGame:
    """Absent players take their values from rows of a background.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    codes : array-like of shape (n_rows, n_features)
        Codes of the background's rows: an array, or an object that computes them for
        a slice of rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    most_kept : float, default=inf
        Largest memory of the blocks kept for comparisons of rows.
    """

    def __init__(self, ensemble, paths, codes, weights, most_kept=np.inf):
        self.ensemble = ensemble
        self.paths = paths
        self._codes = codes
        self._weights = weights
        self.shares = shares_of(weights)
        self.cached_tables = {}
        self.most_kept = most_kept

    @property
    def codes(self):
        """Codes of all rows of the background."""
        return self._codes[:]

    def of_nodes(self, nodes):
        """A function that makes the game of some trees from these and their paths."""
        # Weights, since shares of shares differ in the last bit.
        return partial(type(self), codes=self.codes, weights=self._weights)

    def is_direct(self, n_rows, order):
        """Whether comparing `n_rows` rows with the background is faster than tables."""
        n_players, n_others = self.paths.n_players, len(self._codes)
        return is_cheaper(self._n_leaves, n_players, n_others, n_rows, order)

    @cached_property
    def _n_leaves(self):
        """Number of leaves with 0, 1, 2, ... conditions."""
        return np.bincount(self.paths.n_conditions[self.ensemble.is_leaf])

    def direct_values(self, plan, codes, order, weights=None, **measure):
        """Values of rows without tables: (n_keys, n_rows).

        `weights` (n_rows, n_background_rows) are those of the comparisons; None gives
        each background row its share. `measure` may have other `integrals`.
        """
        if weights is None:
            weights = np.broadcast_to(self.shares, (len(codes), len(self.shares)))
        blocks = self._blocks_of_pairs
        if blocks is None:
            blocks = pair_blocks(self.ensemble, self.paths, self.codes, self.most_kept)
        return pair_values(blocks, self.paths, codes, weights, order, **measure)

    def few_components(self, codes, max_order):
        """Components of few rows, (k, n_players, ..., n_rows) by number of players.

        None where there are too many rows.
        """
        if not self.is_direct(len(codes), max_order):
            return None
        shape = (self.ensemble.n_outputs, *[self.paths.n_players] * max_order)
        return [
            self.direct_values(
                None, codes, order, integrals=component_integrals
            ).reshape(*shape[: order + 1], len(codes))
            for order in range(1, max_order + 1)
        ]

    @cached_property
    def _blocks_of_pairs(self):
        """Blocks of the background for `direct_values`; None if too large to keep."""
        if pair_bytes(self.ensemble, self.paths, len(self._codes)) > self.most_kept:
            return None
        return list(pair_blocks(self.ensemble, self.paths, self.codes))

    def leaf_tables(self, units, order):
        """As :meth:`PathDependentGame.leaf_tables`."""
        n_conditions = np.concatenate([part.n_conditions.ravel() for part in units])
        starts = np.append(0, np.cumsum(2**n_conditions))
        shares = np.zeros(starts[-1])
        unit_shares = self._unit_shares(units)
        n_before = 0
        for part, of_units in zip(units, unit_shares, strict=True):
            n_leaves = part.n_splits + 1
            of_part = starts[n_before : n_before + part.leaves.size + 1]
            into = shares[of_part[0] : of_part[-1]]
            for leaf in range(n_leaves):
                mine = of_part[leaf:-1:n_leaves, None] - of_part[0]
                place = mine + part.leaf_patterns(leaf)
                np.add.at(into, place.ravel(), of_units.ravel())
            n_before += part.leaves.size

        def make(at):
            width = 2 ** n_conditions[at[0]]
            return comparison_tables(shares[starts[at, None] + np.arange(width)], order)

        return LeafTables.of_leaves(n_conditions, order, make)

    def _unit_shares(self, units):
        """Share of the background with each pattern: (n_units, 2 ** n_bits) each."""
        shares = [np.zeros((len(part), 2**part.n_bits)) for part in units]
        finder, scratch = PatternFinder(self.ensemble, self.paths, units), Scratch()
        for weights, codes in self._blocks():
            gaps = features_with_gaps(self.ensemble, codes)
            patterns = finder.find(codes, gaps, scratch)
            for of_part, in_part in zip(shares, patterns, strict=True):
                for of_unit, pattern in zip(of_part, in_part, strict=True):
                    of_unit += np.bincount(pattern, weights, len(of_unit))
        return shares

    def _blocks(self):
        """Shares and codes of blocks of rows."""
        for start in range(0, len(self._codes), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            yield self.shares[rows], self._codes[rows]

    def deep_gains(self, leaves, owner, patterns, order):
        """As :meth:`PathDependentGame.deep_gains`."""
        d = self.paths.n_conditions[leaves[0]]
        others = RootPaths(self.ensemble, self.paths, leaves).patterns(self.codes)
        if d <= _MOST_WITH_INTEGRALS:
            integrals = leaf_integrals(others, self.shares, d, order)
            return gains_of_integrals(integrals, owner, patterns, d, order)
        leaf_of, other, place = distinct_patterns(others, d)
        weights = np.tile(self.shares, len(leaves))
        shares = np.bincount(place.ravel(), weights, len(other))
        ends = np.searchsorted(leaf_of, np.arange(len(leaves) + 1))
        gains = []
        for leaf in range(len(leaves)):
            theirs = slice(ends[leaf], ends[leaf + 1])
            mine = patterns[slice(*np.searchsorted(owner, [leaf, leaf + 1]))]
            lost, gained = (~pattern_bits(part, d) for part in (mine, other[theirs]))
            gains.append(_compared(lost, gained, shares[theirs], order))
        return np.concatenate(gains, axis=1)

    def shares_without(self, leaves, subsets):
        """As :meth:`PathDependentGame.shares_without`."""
        d = self.paths.n_conditions[leaves[0]]
        most = max(map(len, subsets))
        finder = RootPaths(self.ensemble, self.paths, leaves)
        masks = [sum(1 << slot for slot in subset) for subset in subsets]
        shares = np.zeros((len(subsets), len(leaves)))
        for weights, codes in self._blocks():
            patterns = finder.patterns(codes)
            failed = patterns ^ patterns.dtype.type((1 << int(d)) - 1)
            more = failed.copy()
            for _ in range(most):
                more &= more - 1  # without its first member
            leaf, row = np.nonzero(more == 0)
            failed, weights = failed[leaf, row], weights[row]
            for into, mask in zip(shares, masks, strict=True):
                at = np.flatnonzero((failed | failed.dtype.type(mask)) == mask)
                into += np.bincount(leaf[at], weights[at], len(leaves))
        return shares

    def distinct_rows(self):
        """Rows of the background, each once: their codes, and shares of the weight."""
        distinct, shares = self._codes[:0], np.empty(0)
        for of_block, codes in self._blocks():
            known = np.concatenate([distinct, codes])
            weights = np.concatenate([shares, of_block])
            distinct, place = np.unique(known, axis=0, return_inverse=True)
            shares = np.bincount(place.ravel(), weights)
        return distinct, shares

    def base_values(self):
        """Mean raw output over the background: (k,)."""
        return self.shares @ self.ensemble.raw_of_codes(self.codes)


def _compared(lost, gained, shares, order):
    """Result of `comparison_gains`, in blocks of pairs of rows."""
    step = max(1, _COMPARED_AT_ONCE // max(len(shares), 1))
    parts = [
        comparison_gains(lost[:, start : start + step], gained, shares, order)
        for start in range(0, lost.shape[1], step)
    ]
    return np.concatenate(parts, axis=1)


def node_chances(ensemble, paths):
    """Probability that each condition is met by the rows that the trees grew on.

    The product of the shares of cover at its splits, 1 at roots: (n_nodes,).
    """
    chances = cover_shares(ensemble)
    for nodes, previous in paths.merged:
        chances[nodes] *= chances[previous]
    return chances

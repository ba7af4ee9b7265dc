"""What stands in for absent players of a tree ensemble, and what its leaves then give.

A game says, for leaves and patterns (bit i: the row meets the condition of slot i), the
gains of all terms; see :mod:`~sklearn_interpret._core.trees.shapley.tables`.
"""

from copy import copy
from itertools import pairwise

import numpy as np

from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._core.trees.shapley import (
    subtrees as tree_units,
)
from sklearn_interpret._core.trees.shapley.patterns import (
    PatternFinder,
    WayDown,
    all_met,
    distinct_patterns,
    met_conditions,
)
from sklearn_interpret._core.trees.shapley.potentials import (
    comparison_potentials,
    gains_of_parts,
    gains_of_potentials,
    product_potentials,
)
from sklearn_interpret._core.trees.shapley.tables import (
    LeafTables,
    ProductRule,
    comparison_gains,
    comparison_tables,
    pattern_bits,
    terms,
)

# Rows of a background that are counted at once, so that they stay in the cache.
_ROWS_AT_ONCE = 2048
# Numbers of tables that are kept from one call to the next: 64 megabytes.
_MOST_KEPT = 2**23
# Leaves with fewer patterns than this are valued together, else one by one.
_FEW = 16
# Pairs of rows that are compared at once.
_COMPARED_AT_ONCE = 2**20
# Pairs of a leaf and a pattern that are valued at once, likewise.
_PAIRS_AT_ONCE = 4096
# Leaves with more conditions are valued pattern by pattern.
_MOST_WITH_POTENTIALS = 12


class CoverGame:
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

    @classmethod
    def against(cls, ensemble, paths, codes):
        """Absent players take their values from one row, given by its codes."""
        met = all_met(ensemble, paths, codes[None, :])[:, 0]
        return cls(ensemble, paths, met.astype(np.float64))

    def of_nodes(self, ensemble, paths, nodes):
        """The game of some of the trees, given by the range of their nodes."""
        return type(self)(ensemble, paths, self.chances[nodes])

    def is_direct(self, plan, order):
        """Whether `gains` has no tables to make."""
        return True

    def leaf_tables(self, units, order):
        """Tables of all leaves of some units.

        Parameters
        ----------
        units : list of TreeUnits
            Units.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        LeafTables
            Of the leaves of the first units first.
        """
        nodes = np.concatenate([part.leaves.ravel() for part in units])

        def make(at):
            rule = self._rule(nodes[at], order)
            d = rule.on.shape[1]
            met = pattern_bits(np.arange(2**d)[None, :], d)
            tables = np.empty((len(at), len(terms(d, order)), 2**d))
            step = max(1, _PAIRS_AT_ONCE >> d)
            for start in range(0, len(at), step):
                part = slice(start, start + step)
                found = rule[part].gains(rule[part].all_products(), met)
                tables[part] = found.transpose(1, 0, 2)
            return tables

        return LeafTables.of_leaves(self.paths.n_conditions[nodes], order, make)

    def gains(self, leaves, conditions, met, order):
        """Gains of leaves with equally many conditions.

        Parameters
        ----------
        leaves : ndarray of shape (n_leaves,), intp
            Nodes.
        conditions : ndarray of shape (d, n_leaves), integer
            Their conditions, as `TreePaths.of_nodes` has them.
        met : ndarray of shape (d, n_leaves or 1, m), bool
            Which of them are met in each of m situations.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        ndarray of shape (n_terms, n_leaves, m)
            Each number depends on its leaf and what is met only, to the last bit.
        """
        chances = self.chances[conditions]
        if _has_potentials(len(met)):
            return gains_of_parts(chances, met, order)
        rule = ProductRule.of_chances(chances, order)
        return rule.gains(rule.products(met), met)

    def _rule(self, leaves, order):
        """Rule of leaves that have equally many conditions."""
        return ProductRule.of_chances(self.chances[self.paths.of_nodes(leaves)], order)

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
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        ndarray of shape (n_terms, n)
            Each column depends on its leaf and pattern only, to the last bit.
        """
        d = self.paths.n_conditions[leaves[0]]
        if len(patterns) <= _FEW * len(leaves):
            gains = np.empty((len(terms(d, order)), len(patterns)))
            for start in range(0, len(patterns), _PAIRS_AT_ONCE):
                at = slice(start, start + _PAIRS_AT_ONCE)
                here = leaves[owner[at]]
                met = pattern_bits(patterns[at, None], d)
                found = self.gains(here, self.paths.of_nodes(here), met, order)
                gains[:, at] = found[:, :, 0]
            return gains
        if _has_potentials(d) and 2**d < d * d * len(patterns) / len(leaves) / 2:
            chances = self.chances[self.paths.of_nodes(leaves)]

            def make(some):
                return product_potentials(chances[:, some], order)

            return gains_of_potentials(make, owner, patterns, d, order)
        met = pattern_bits(patterns, d)
        ends = np.searchsorted(owner, np.arange(len(leaves) + 1))
        gains = np.empty((len(terms(d, order)), len(patterns)))
        for leaf, (start, stop) in enumerate(pairwise(ends)):
            one, here = leaves[leaf : leaf + 1], met[:, None, start:stop]
            found = self.gains(one, self.paths.of_nodes(one), here, order)
            gains[:, start:stop] = found[:, 0]
        return gains

    def wide_gains(self, leaf, met, order):
        """Gains of one leaf for rows.

        Parameters
        ----------
        leaf : int
            Node.
        met : ndarray of shape (d, n), bool
            Which of its conditions the rows meet.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        ndarray of shape (n_terms, n)
            Each column depends on its row only, to the last bit.
        """
        rule, met = self._rule(np.array([leaf]), order), met[:, None, :]
        return rule.gains(rule.products(met), met)[:, 0]

    def base_values(self):
        """Mean raw output under the cover: (k,)."""
        weight = np.ones(self.ensemble.n_nodes)
        parents = self.ensemble.parents
        shares = _cover_shares(self.ensemble)
        for level in self.ensemble.levels()[1:]:
            weight[level] = weight[parents[level]] * shares[level]
        leaf = self.ensemble.is_leaf
        return self.ensemble.base + weight[leaf] @ self.ensemble.value[leaf]


class BackgroundGame:
    """Absent players take their values from rows of a background.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    codes : array-like of shape (n_rows, n_features)
        Codes of the background's rows: an array, or what makes parts of it as they are
        asked for by a slice.
    weights : ndarray of shape (n_rows,)
        Their weights.
    """

    def __init__(self, ensemble, paths, codes, weights):
        self.ensemble = ensemble
        self.paths = paths
        self._codes = codes
        self.shares = shares_of(weights)
        self._kept = {}

    @property
    def codes(self):
        """Codes of all rows of the background."""
        return self._codes[:]

    def of_nodes(self, ensemble, paths, nodes):
        """The game of some of the trees, given by the range of their nodes."""
        part = copy(self)
        part.ensemble, part.paths = ensemble, paths
        part._codes = self.codes
        part._kept = {}
        return part

    def is_direct(self, plan, order):
        """Whether the tables that `gains` looks into are small enough to be kept."""
        if order not in self._kept:
            flat = [units for units in plan.groups if not units.is_deep]
            n_conditions = [units.n_conditions.ravel() for units in flat]
            sizes = [
                len(terms(d, order)) * 2**d
                for d in range(tree_units.MAX_TABLE_CONDITIONS + 1)
            ]
            n_numbers = sum(np.take(sizes, part).sum() for part in n_conditions)
            self._kept[order] = None
            if flat and n_numbers <= _MOST_KEPT:
                tables = self.leaf_tables(flat, order)
                start = np.zeros(self.ensemble.n_nodes, dtype=np.intp)
                start[np.concatenate([units.leaves.ravel() for units in flat])] = (
                    tables.start
                )
                self._kept[order] = LeafTables(tables.numbers, start)
        return self._kept[order] is not None

    def leaf_tables(self, units, order):
        """Tables of all leaves of some units.

        Parameters
        ----------
        units : list of TreeUnits
            Units.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        LeafTables
            Of the leaves of the first units first.
        """
        n_conditions = np.concatenate([part.n_conditions.ravel() for part in units])
        starts = np.append(0, np.cumsum(2**n_conditions))
        shares = np.zeros(starts[-1])
        found = self._unit_shares(units)
        n_before = 0
        for part, of_units in zip(units, found, strict=True):
            n_leaves = part.n_splits + 1
            for leaf in range(n_leaves):
                mine = n_before + np.arange(len(part)) * n_leaves + leaf
                place = starts[mine, None] + part.leaf_patterns(leaf)
                shares += np.bincount(
                    place.ravel(), of_units.ravel(), minlength=len(shares)
                )
            n_before += part.leaves.size

        def make(at):
            width = 2 ** n_conditions[at[0]]
            return comparison_tables(shares[starts[at, None] + np.arange(width)], order)

        return LeafTables.of_leaves(n_conditions, order, make)

    def gains(self, leaves, conditions, met, order):
        """Gains of leaves with equally many conditions, from the tables kept.

        Parameters
        ----------
        leaves : ndarray of shape (n_leaves,), intp
            Nodes.
        conditions : ndarray of shape (d, n_leaves), integer
            Their conditions, as `TreePaths.of_nodes` has them.
        met : ndarray of shape (d, n_leaves, m), bool
            Which of them are met in each of m situations.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        ndarray of shape (n_terms, n_leaves, m)
            Each number depends on its leaf and what is met only, to the last bit.
        """
        d, n_leaves, m = met.shape
        patterns = np.zeros((n_leaves, m), dtype=np.intp)
        for slot, held in enumerate(met):
            patterns |= held.astype(np.intp) << slot
        if d > tree_units.MAX_TABLE_CONDITIONS:
            owner = np.repeat(np.arange(n_leaves), m)
            found = self.deep_gains(leaves, owner, patterns.ravel(), order)
            return found.reshape(-1, n_leaves, m)
        tables = self._kept[order]
        places = tables.start[leaves, None] + patterns
        term = np.arange(len(terms(d, order)))[:, None, None]
        return tables.numbers[places + (term << d)]

    def _unit_shares(self, units):
        """Share of the background with each pattern: (n_units, 2 ** n_bits) each."""
        shares = [np.zeros((len(part), 2**part.n_bits)) for part in units]
        finder = PatternFinder(self.ensemble, self.paths, units)
        for weights, codes in self._blocks():
            patterns = finder.find(codes)
            for of_part, found in zip(shares, patterns, strict=True):
                for of_unit, pattern in zip(of_part, found, strict=True):
                    of_unit += np.bincount(pattern, weights, len(of_unit))
        return shares

    def _blocks(self):
        """Shares and codes of some rows after the other."""
        for start in range(0, len(self._codes), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            yield self.shares[rows], self._codes[rows]

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
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        ndarray of shape (n_terms, n)
            Each column depends on its leaf and pattern only, to the last bit.
        """
        d = self.paths.n_conditions[leaves[0]]
        others = WayDown(self.ensemble, self.paths, leaves).patterns(self.codes)
        if _has_potentials(d):

            def make(some):
                found = others[some].astype(np.intp)
                found += np.arange(len(found))[:, None] << d
                weights = np.tile(self.shares, len(found))
                counts = np.bincount(found.ravel(), weights, len(found) << d)
                return comparison_potentials(counts.reshape(-1, 2**d), order)

            return gains_of_potentials(make, owner, patterns, d, order)
        leaf_of, other, place = distinct_patterns(others, d)
        shares = np.bincount(
            place.ravel(), np.tile(self.shares, len(leaves)), len(other)
        )
        ends = np.searchsorted(leaf_of, np.arange(len(leaves) + 1))
        gains = []
        for leaf in range(len(leaves)):
            theirs = slice(ends[leaf], ends[leaf + 1])
            mine = patterns[slice(*np.searchsorted(owner, [leaf, leaf + 1]))]
            lost, gained = (~pattern_bits(part, d) for part in (mine, other[theirs]))
            gains.append(_compared(lost, gained, shares[theirs], order))
        return np.concatenate(gains, axis=1)

    def wide_gains(self, leaf, met, order):
        """Gains of one leaf for rows.

        Parameters
        ----------
        leaf : int
            Node.
        met : ndarray of shape (d, n), bool
            Which of its conditions the rows meet.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        ndarray of shape (n_terms, n)
            Each column depends on its row only, to the last bit.
        """
        others = met_conditions(self.ensemble, self.paths, leaf, self.codes)
        distinct, place = np.unique(others, axis=1, return_inverse=True)
        shares = np.bincount(place.ravel(), self.shares)
        return _compared(~met, ~distinct, shares, order)

    def distinct_rows(self):
        """Rows of the background, each once.

        Returns
        -------
        codes : ndarray of shape (n_distinct, n_features)
            Codes of the rows.
        shares : ndarray of shape (n_distinct,)
            Their shares of the weight.
        """
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


def _has_potentials(d):
    """Whether leaves with so many conditions are valued by their potentials."""
    return tree_units.MAX_TABLE_CONDITIONS < d <= _MOST_WITH_POTENTIALS


def _compared(lost, gained, shares, order):
    """What `comparison_gains` gives, for few enough pairs of rows at once."""
    step = max(1, _COMPARED_AT_ONCE // max(len(shares), 1))
    parts = [
        comparison_gains(lost[:, start : start + step], gained, shares, order)
        for start in range(0, lost.shape[1], step)
    ]
    return np.concatenate(parts, axis=1)


def _cover_shares(ensemble):
    """Share of each node in its parent's cover; halves where there is none."""
    above = ensemble.cover[ensemble.parents]
    halves = np.full(ensemble.n_nodes, 0.5)
    shares = np.divide(ensemble.cover, above, out=halves, where=above > 0)
    shares[ensemble.parents < 0] = 1
    return shares


def node_chances(ensemble, paths):
    """Probability that each condition is met by the rows that the trees grew on.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Product of the shares of cover at the splits that a condition is made of; 1 at
        roots.
    """
    chances = _cover_shares(ensemble)
    for nodes, previous in paths.merged:
        chances[nodes] *= chances[previous]
    return chances

"""Games of tree ensembles: replacements of absent players, and gains of leaves.

A game returns the gains of all terms (see `tables`) at leaves, for patterns: bit i is
whether the row meets the condition of slot i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._core.trees.shapley.interventional_few_rows import (
    comparing_is_cheaper,
    pair_blocks,
    pair_bytes,
    pair_values,
)
from sklearn_interpret._core.trees.shapley.multilinear_extension import (
    gains_of_integrals,
    leaf_integrals,
)
from sklearn_interpret._core.trees.shapley.path_dependent_few_rows import (
    carrying_is_cheaper,
    split_blocks,
    values_by_carrying,
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

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.shapley.interventional_few_rows import PairBlock
    from sklearn_interpret._core.trees.shapley.path_dependent_few_rows import SplitBlock
    from sklearn_interpret._core.trees.shapley.subtrees import TreeUnits
    from sklearn_interpret._core.trees.shapley.values import TreePlan, UnitGroup
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Sizes of blocks. Chosen by hand: smaller blocks call numpy more often, larger ones
# leave the cache or take memory. Background rows whose patterns are counted:
_ROWS_AT_ONCE = 2048
# Pairs of rows that are compared together.
_COMPARED_AT_ONCE = 2**20
# Pairs of a leaf and a pattern.
_PAIRS_AT_ONCE = 4096
# Largest number of conditions of a leaf whose patterns all get integrals: 4096 of them.
# With more conditions far fewer patterns occur than there are.
_MOST_WITH_INTEGRALS = 12


class PathDependentGame:
    """Absent players follow the cover of the trees, split by split.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Paths of the trees.
    chances : ndarray of shape (n_nodes,), optional
        Probability that each condition is met while its player is absent, whatever
        other conditions are met; None takes `node_chances`.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        paths: TreePaths,
        chances: NDArray[np.float64] | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.paths = paths
        self.chances = node_chances(ensemble, paths) if chances is None else chances
        # By order and first tree: see `TreeShare.groups`.
        self.cached_groups: dict[tuple[int, int], list[UnitGroup]] = {}

    def of_nodes(self, nodes: slice) -> Callable[..., Any]:
        """A function that makes the game of some trees, from the trees and paths."""
        return partial(type(self), chances=self.chances[nodes])

    def direct_is_cheaper(self, n_rows: int, order: int) -> bool:
        """Whether carrying `n_rows` rows down the trees is faster than tables."""
        return carrying_is_cheaper(
            self.paths.n_leaves, self.paths.n_players, n_rows, order
        )

    def direct_values(
        self, plan: TreePlan, codes: NDArray[np.intp], order: int
    ) -> NDArray[np.float64]:
        """Values of rows without tables: (n_keys, n_rows)."""
        return values_by_carrying(plan, self._splits, codes, order)

    @cached_property
    def _splits(self) -> list[SplitBlock]:
        """The trees' splits, for `direct_values`."""
        return split_blocks(self.ensemble, self.paths, self.chances)

    def leaf_tables(self, units: list[TreeUnits], order: int) -> LeafTables:
        """Tables of all leaves of units, in the order of the units."""
        nodes = np.concatenate([block.leaves.ravel() for block in units])

        def make(leaves: NDArray[np.intp]) -> NDArray[np.float64]:
            chances = self.chances[self.paths.conditions_by_slot(nodes[leaves])]
            d = len(chances)
            tables = np.empty((len(leaves), len(terms(d, order)), 2**d))
            step = max(1, _PAIRS_AT_ONCE >> d)
            for start in range(0, len(leaves), step):
                block = slice(start, start + step)
                rule = ProductRule.of_chances(chances[:, block], order)
                tables[block] = rule.gains_everywhere().transpose(1, 0, 2)
            return tables

        return LeafTables.of_leaves(self.paths.n_conditions[nodes], order, make)

    def deep_gains(
        self,
        leaves: NDArray[np.intp],
        owner: NDArray[np.intp],
        patterns: NDArray[np.intp],
        order: int,
    ) -> NDArray[np.float64]:
        """Gains of leaves with equally many conditions, at some of their patterns.

        Parameters
        ----------
        leaves : ndarray of shape (n_leaves,), intp
            Nodes.
        owner : ndarray of shape (n,), intp
            Position in `leaves` of each pattern's leaf; increasing.
        patterns : ndarray of shape (n,), integer
            Patterns.
        order : {1, 2}
            Order of the terms.

        Returns
        -------
        ndarray of shape (n_terms, n)
        """
        conditions = self.paths.conditions_by_slot(leaves)
        d = len(conditions)
        gains = np.empty((len(terms(d, order)), len(patterns)))
        for start in range(0, len(patterns), _PAIRS_AT_ONCE):
            block = slice(start, start + _PAIRS_AT_ONCE)
            chances = self.chances[conditions[:, owner[block]]]
            met = pattern_bits(patterns[block, None], d)
            rule = ProductRule.of_chances(chances, order)
            gains[:, block] = rule.gains_at(met)[:, :, 0]
        return gains

    def few_components(self, codes: NDArray[Any], max_order: int) -> None:
        """None: this game has no faster computation for few rows."""

    def shares_without(
        self, leaves: NDArray[np.intp], subsets: list[tuple[int, ...]]
    ) -> NDArray[np.float64]:
        """Share of replacements that meet the conditions of leaves outside of subsets.

        All leaves have equally many conditions; subsets are tuples of slots. Returns
        (n_subsets, n_leaves).
        """
        chances = self.chances[self.paths.conditions_by_slot(leaves)]
        outside = (np.delete(chances, subset, axis=0) for subset in subsets)
        return np.stack([np.multiply.reduce(factors, axis=0) for factors in outside])

    def base_values(self) -> NDArray[np.float64]:
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
        Weights of these rows.
    most_kept : float, default=inf
        Largest memory of the blocks kept for comparisons of rows.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        paths: TreePaths,
        codes: Any,
        weights: NDArray[np.float64],
        most_kept: float = np.inf,
    ) -> None:
        self.ensemble = ensemble
        self.paths = paths
        self._codes = codes
        self._weights = weights
        self.shares = shares_of(weights)
        self.cached_groups: dict[tuple[int, int], list[UnitGroup]] = {}
        self.most_kept = most_kept

    @property
    def codes(self) -> NDArray[Any]:
        """Codes of all rows of the background."""
        return self._codes[:]

    def of_nodes(self, nodes: slice) -> Callable[..., Any]:
        """A function that makes the game of some trees, from the trees and paths."""
        # Weights, since shares of shares differ in the last bit.
        return partial(type(self), codes=self.codes, weights=self._weights)

    def direct_is_cheaper(self, n_rows: int, order: int) -> bool:
        """Whether comparing `n_rows` rows with the background is faster than tables."""
        n_players, n_others = self.paths.n_players, len(self._codes)
        return comparing_is_cheaper(
            self.paths.n_leaves, n_players, n_others, n_rows, order
        )

    def direct_values(
        self,
        plan: TreePlan | None,
        codes: NDArray[Any],
        order: int,
        weights: NDArray[np.float64] | None = None,
        **measure: Any,
    ) -> NDArray[np.float64]:
        """Values of rows without tables: (n_keys, n_rows).

        `weights` (n_rows, n_background_rows) are the weights of the comparisons; None
        gives each background row its share. `measure` may have other `integrals`.
        """
        if weights is None:
            weights = np.broadcast_to(self.shares, (len(codes), len(self.shares)))
        blocks: Iterable[PairBlock] | None = self._blocks_of_pairs
        if blocks is None:
            blocks = pair_blocks(self.ensemble, self.paths, self.codes, self.most_kept)
        return pair_values(blocks, self.paths, codes, weights, order, **measure)

    def few_components(
        self, codes: NDArray[Any], max_order: int
    ) -> list[NDArray[np.float64]] | None:
        """Components of few rows, (k, n_players, ..., n_rows) by number of players.

        None where there are too many rows.
        """
        if not self.direct_is_cheaper(len(codes), max_order):
            return None
        shape = (self.ensemble.n_outputs, *[self.paths.n_players] * max_order)
        return [
            self.direct_values(
                None, codes, order, integrals=component_integrals
            ).reshape(*shape[: order + 1], len(codes))
            for order in range(1, max_order + 1)
        ]

    @cached_property
    def _blocks_of_pairs(self) -> list[PairBlock] | None:
        """Blocks of the background for `direct_values`; None if too large to keep."""
        if pair_bytes(self.ensemble, self.paths, len(self._codes)) > self.most_kept:
            return None
        return list(pair_blocks(self.ensemble, self.paths, self.codes))

    def leaf_tables(self, units: list[TreeUnits], order: int) -> LeafTables:
        """As :meth:`PathDependentGame.leaf_tables`."""
        nodes = np.concatenate([group.leaves.ravel() for group in units])
        n_conditions = np.concatenate([group.n_conditions.ravel() for group in units])
        starts = np.append(0, np.cumsum(2**n_conditions))
        shares = np.zeros(starts[-1])
        unit_shares = self._unit_shares(units)
        n_before = 0
        for group, of_units in zip(units, unit_shares, strict=True):
            n_after = n_before + group.leaves.size
            leaf_starts = starts[n_before:n_after].reshape(group.leaves.shape)
            for leaf in range(group.n_splits + 1):
                positions = leaf_starts[:, leaf, None] + group.leaf_patterns(leaf)
                np.add.at(shares, positions.ravel(), of_units.ravel())
            n_before = n_after

        def make(leaves: NDArray[np.intp]) -> NDArray[np.float64]:
            patterns = np.arange(2 ** n_conditions[leaves[0]])
            leaf_shares = shares[starts[leaves, None] + patterns]
            return self._comparison_tables(nodes[leaves], leaf_shares, order)

        return LeafTables.of_leaves(n_conditions, order, make)

    def _comparison_tables(
        self, leaves: NDArray[np.intp], shares: NDArray[np.float64], order: int
    ) -> NDArray[np.float64]:
        """Gains of leaves at all patterns, from the background's shares of these."""
        return comparison_tables(shares, order)

    def _unit_shares(self, units: list[TreeUnits]) -> list[NDArray[np.float64]]:
        """Share of the background with each pattern: (n_units, 2 ** n_bits) each."""
        shares = [np.zeros((len(group), 2**group.n_bits)) for group in units]
        finder, scratch = PatternFinder(self.ensemble, self.paths, units), Scratch()
        for weights, codes in self._blocks():
            gaps = features_with_gaps(self.ensemble, codes)
            patterns = finder.find(codes, gaps, scratch)
            for group_shares, group_patterns in zip(shares, patterns, strict=True):
                for unit, pattern in enumerate(group_patterns):
                    n_patterns = group_shares.shape[1]
                    group_shares[unit] += np.bincount(pattern, weights, n_patterns)
        return shares

    def _blocks(self) -> Iterator[tuple[NDArray[np.float64], NDArray[Any]]]:
        """Shares and codes of blocks of rows."""
        for start in range(0, len(self._codes), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            yield self.shares[rows], self._codes[rows]

    def deep_gains(
        self,
        leaves: NDArray[np.intp],
        owner: NDArray[np.intp],
        patterns: NDArray[np.intp],
        order: int,
    ) -> NDArray[Any]:
        """As :meth:`PathDependentGame.deep_gains`."""
        d = self.paths.n_conditions[leaves[0]]
        background = RootPaths(self.ensemble, self.paths, leaves).patterns(self.codes)
        if d <= _MOST_WITH_INTEGRALS:
            integrals = leaf_integrals(background, self.shares, d, order)
            return gains_of_integrals(integrals, owner, patterns, d, order)
        comparisons = self._leaf_comparisons(background, owner, patterns, d)
        gains = [_compare_in_blocks(*rows, order) for rows in comparisons]
        return np.concatenate(gains, axis=1)

    def _leaf_comparisons(
        self,
        background: NDArray[np.integer],
        owner: NDArray[np.intp],
        patterns: NDArray[np.intp],
        d: int,
    ) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]]:
        """Yield, leaf by leaf, what is compared: see `comparison_gains`.

        Takes the patterns of the background (n_leaves, n_background_rows), and patterns
        (n,) with the leaf of each.
        """
        distinct = distinct_patterns(background, d)
        weights = np.tile(self.shares, len(background))
        shares = _sum_weights_by_position(
            distinct.position, weights, len(distinct.unit)
        )
        ends = np.searchsorted(distinct.unit, np.arange(len(background) + 1))
        for leaf in range(len(background)):
            background_rows = slice(ends[leaf], ends[leaf + 1])
            row_patterns = patterns[slice(*np.searchsorted(owner, [leaf, leaf + 1]))]
            lost = ~pattern_bits(row_patterns, d)
            gained = ~pattern_bits(distinct.pattern[background_rows], d)
            yield lost, gained, shares[background_rows]

    def shares_without(
        self, leaves: NDArray[np.intp], subsets: list[tuple[int, ...]]
    ) -> NDArray[np.float64]:
        """As :meth:`PathDependentGame.shares_without`."""
        d = self.paths.n_conditions[leaves[0]]
        max_size = max(map(len, subsets))
        finder = RootPaths(self.ensemble, self.paths, leaves)
        masks = [sum(1 << slot for slot in subset) for subset in subsets]
        shares = np.zeros((len(subsets), len(leaves)))
        for weights, codes in self._blocks():
            patterns = finder.patterns(codes)
            failed = patterns ^ patterns.dtype.type((1 << int(d)) - 1)
            remaining = failed.copy()
            for _ in range(max_size):
                remaining &= remaining - 1  # removes the first member
            leaf, row = np.nonzero(remaining == 0)
            failed, weights = failed[leaf, row], weights[row]
            for subset, mask in enumerate(masks):
                inside = np.flatnonzero((failed | failed.dtype.type(mask)) == mask)
                weights_inside = np.bincount(leaf[inside], weights[inside], len(leaves))
                shares[subset] += weights_inside
        return shares

    def against_row(self, codes: NDArray[np.integer]) -> PathDependentGame:
        """The game in which absent players take their values from one row."""
        met = all_met(self.ensemble, self.paths, codes[None, :])[:, 0]
        return PathDependentGame(self.ensemble, self.paths, met.astype(np.float64))

    def distinct_rows(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Rows of the background, each once: their codes, and shares of the weight."""
        distinct, shares = self._codes[:0], np.empty(0)
        for block_shares, codes in self._blocks():
            all_codes = np.concatenate([distinct, codes])
            weights = np.concatenate([shares, block_shares])
            distinct, position = np.unique(all_codes, axis=0, return_inverse=True)
            shares = _sum_weights_by_position(position, weights)
        return distinct, shares

    def base_values(self) -> NDArray[np.float64]:
        """Mean raw output over the background: (k,)."""
        return self.shares @ self.ensemble.raw_of_codes(self.codes)


def _sum_weights_by_position(
    position: NDArray[np.intp], weights: NDArray[np.float64], n_positions: int = 0
) -> NDArray[np.float64]:
    """Sum of the weights at each position."""
    sums = np.bincount(position.ravel(), weights, n_positions)
    return sums.astype(np.float64, copy=False)


def _compare_in_blocks(
    lost: NDArray[np.bool_],
    gained: NDArray[np.bool_],
    shares: NDArray[np.float64],
    order: int,
) -> NDArray[Any]:
    """Result of `comparison_gains`, in blocks of pairs of rows."""
    step = max(1, _COMPARED_AT_ONCE // max(len(shares), 1))
    blocks = [
        comparison_gains(lost[:, start : start + step], gained, shares, order)
        for start in range(0, lost.shape[1], step)
    ]
    return np.concatenate(blocks, axis=1)


def node_chances(ensemble: TreeEnsemble, paths: TreePaths) -> NDArray[np.float64]:
    """Probability that each condition is met by the rows that the trees grew on.

    The product of the shares of cover at its splits, 1 at roots: (n_nodes,).
    """
    chances = cover_shares(ensemble)
    for nodes, previous in paths.narrowing_steps:
        chances[nodes] *= chances[previous]
    return chances

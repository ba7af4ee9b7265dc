"""Games of tree ensembles whose players are credited inside groups that nest.

Gains are those of `nested_tables`; trees and backgrounds are those of `games`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.shapley.games import (
    InterventionalGame,
    PathDependentGame,
)
from sklearn_interpret._core.trees.shapley.nested_tables import (
    leaves_by_structure,
    mean_comparison_gains,
    nested_comparison_tables,
    product_gains,
)
from sklearn_interpret._core.trees.shapley.patterns import RootPaths
from sklearn_interpret._core.trees.shapley.tables import LeafTables, pattern_bits

if TYPE_CHECKING:
    from sklearn_interpret._core.games.hierarchies import Hierarchy
    from sklearn_interpret._core.trees.shapley.subtrees import TreeUnits

# Pairs of a leaf and a pattern whose gains are computed together. Chosen by hand: fewer
# call numpy more often, more leave the cache.
_PAIRS_AT_ONCE = 2**14


class _NestedGame:
    """A game with players in the groups of `hierarchy`."""

    def __init__(self, *arguments: Any, hierarchy: Hierarchy, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.hierarchy = hierarchy

    def of_nodes(self, nodes: slice) -> Callable[..., Any]:
        """A function that makes the game of some trees, from the trees and paths."""
        return partial(super().of_nodes(nodes), hierarchy=self.hierarchy)  # type: ignore[misc]

    def direct_is_cheaper(self, n_rows: int, order: int) -> bool:
        """False: there are tables only."""
        return False


class NestedPathDependentGame(_NestedGame, PathDependentGame):
    """As `PathDependentGame`, with players in the groups of `hierarchy`."""

    def leaf_tables(self, units: list[TreeUnits], order: int) -> LeafTables:
        """As :meth:`PathDependentGame.leaf_tables`."""
        nodes = np.concatenate([block.leaves.ravel() for block in units])

        def make(leaves: NDArray[np.intp]) -> NDArray[np.float64]:
            d = self.paths.n_conditions[nodes[leaves[0]]]
            owner = np.repeat(np.arange(len(leaves)), 2**d)
            patterns = np.tile(np.arange(2**d), len(leaves))
            gains = self.deep_gains(nodes[leaves], owner, patterns, order)
            return gains.reshape(d, len(leaves), 2**d).swapaxes(0, 1)

        return LeafTables.of_leaves(self.paths.n_conditions[nodes], order, make)

    def deep_gains(
        self,
        leaves: NDArray[np.intp],
        owner: NDArray[np.intp],
        patterns: NDArray[np.intp],
        order: int,
    ) -> NDArray[np.float64]:
        """As :meth:`PathDependentGame.deep_gains`."""
        conditions = self.paths.conditions_by_slot(leaves)
        players = self.paths.player[conditions]
        gains = np.empty((len(conditions), len(patterns)))
        for structure, positions in leaves_by_structure(self.hierarchy, players):
            pairs = np.flatnonzero(np.isin(owner, positions))
            for start in range(0, len(pairs), _PAIRS_AT_ONCE):
                block = pairs[start : start + _PAIRS_AT_ONCE]
                chances = self.chances[conditions[:, owner[block]]]
                met = pattern_bits(patterns[block], len(conditions))
                gains[:, block] = product_gains(structure, chances, met)
        return gains


class NestedInterventionalGame(_NestedGame, InterventionalGame):
    """As `InterventionalGame`, with players in the groups of `hierarchy`."""

    def against_row(self, codes: NDArray[np.integer]) -> NestedPathDependentGame:
        """The game in which absent players take their values from one row."""
        chances = super().against_row(codes).chances
        return NestedPathDependentGame(
            self.ensemble, self.paths, chances, hierarchy=self.hierarchy
        )

    def _comparison_tables(
        self, leaves: NDArray[np.intp], shares: NDArray[np.float64], order: int
    ) -> NDArray[np.float64]:
        players = self.paths.player[self.paths.conditions_by_slot(leaves)]
        tables = np.empty((len(leaves), len(players), shares.shape[1]))
        for structure, block in leaves_by_structure(self.hierarchy, players):
            tables[block] = nested_comparison_tables(structure, shares[block])
        return tables

    def deep_gains(
        self,
        leaves: NDArray[np.intp],
        owner: NDArray[np.intp],
        patterns: NDArray[np.intp],
        order: int,
    ) -> NDArray[np.float64]:
        """As :meth:`PathDependentGame.deep_gains`."""
        players = self.paths.player[self.paths.conditions_by_slot(leaves)]
        background = RootPaths(self.ensemble, self.paths, leaves).patterns(self.codes)
        comparisons = self._leaf_comparisons(background, owner, patterns, len(players))
        gains = []
        for leaf_players, rows in zip(players.T, comparisons, strict=True):
            structures = leaves_by_structure(self.hierarchy, leaf_players[:, None])
            structure, _ = next(structures)  # that of the one leaf
            gains.append(mean_comparison_gains(structure, *rows))
        return np.concatenate(gains, axis=1)

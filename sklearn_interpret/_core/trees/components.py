r"""Components of the functional decomposition of sums of trees.

A tree is a sum over its leaves of the leaf's value w times the product of its
conditions. In the game of a row x, a leaf with conditions L gives the set U of players

.. math:: w \sum_{T \subseteq U} (-1)^{|U| - |T|} q(T)\, [x \text{ meets } T], \quad
    U \subseteq L,

where q(T) is the share of replacements that meet all conditions of the leaf except the
ones in T. This is the Moebius transform of the game (Hiabu, Meyer & Wright 2023), by
their Theorem 3.5 the decomposition that partial dependence identifies. A component is
a weighted sum of *conjunctions*: sets of conditions that a row meets or not, at any
depth of the trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import comb

from sklearn_interpret._core.trees.shapley.patterns import all_met

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.shapley.games import (
        InterventionalGame,
        PathDependentGame,
    )

    Game = PathDependentGame | InterventionalGame

# Weights of leaves that are collected together: some hundreds of megabytes.
_WEIGHTS_AT_ONCE = 2**21
# Conjunctions, and rows, that are checked together: flags of 2 MB. Chosen by hand:
# smaller blocks call numpy more often, larger ones leave the cache.
_CONJUNCTIONS_AT_ONCE = 2**13
_ROWS_AT_ONCE = 2**8


class Conjunctions(NamedTuple):
    """Some conjunctions, and what they add to the components of rows that meet them."""

    nodes: NDArray[np.intp]  # (max_order, n): nodes that name the conditions
    weights: sparse.csr_array  # (k * n_sets, n)


class _LeafWeights(NamedTuple):
    """Weights of leaves, one for each union U and subset T of their conditions.

    Fewer than `max_order` players are filled up with the number of players, fewer nodes
    with the root 0, whose condition all rows meet.
    """

    players: NDArray[np.intp]  # (max_order, n): of the component, U
    nodes: NDArray[np.intp]  # (max_order, n): of the conjunction, T
    weights: NDArray[np.float64]  # (k, n)


@dataclass(frozen=True, eq=False)
class TreeComponents:
    """The components of the sets of players that some path holds.

    Parameters
    ----------
    game : PathDependentGame or InterventionalGame
        The game: how absent players are replaced.
    max_order : int
        Largest number of players of a set.
    """

    game: Game
    max_order: int

    @cached_property
    def sets(self) -> list[tuple[int, ...]]:
        """The players of each component, by size, then position: list of tuple."""
        paths = self.game.paths
        leaves = np.flatnonzero(self.game.ensemble.is_leaf)
        leaf, conditions = paths.conditions_of(leaves)
        on_path = np.zeros((len(leaves), paths.n_players), dtype=bool)
        on_path[leaf, paths.player[conditions]] = True
        # Paths with the same players count once.
        columns, _ = _distinct_columns(np.packbits(on_path, axis=1).T.astype(np.intp))
        octets = columns.T.astype(np.uint8)
        on_path = np.unpackbits(octets, axis=1, count=paths.n_players).astype(bool)
        sets: list[tuple[int, ...]] = []
        # Sets of one size, and the paths that hold all of their players.
        sets_of_size: list[tuple[tuple[int, ...], NDArray[np.bool_]]] = [((), on_path)]
        for _ in range(self.max_order):
            sets_of_size = [
                ((*players, player), leaf_paths[leaf_paths[:, player]])
                for players, leaf_paths in sets_of_size
                for player in np.flatnonzero(leaf_paths.any(axis=0)).tolist()
                if not players or player > players[-1]
            ]
            sets += [players for players, _ in sets_of_size]
        return sets

    @cached_property
    def _conjunctions(self) -> list[Conjunctions]:
        """All conjunctions, some at a time."""
        positions = {players: position for position, players in enumerate(self.sets)}
        return list(
            chain.from_iterable(
                _conjunctions_of_leaves(self.game, leaves, positions)
                for leaves in _runs_of_leaves(self.game, self.max_order)
            )
        )

    def values(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Components of rows given by their codes: (k, n_sets, n_rows)."""
        game, n_sets = self.game, len(self.sets)
        if "_conjunctions" not in vars(self) and self.max_order <= 2:
            components = game.few_components(codes, self.max_order)
            if components is not None:
                return self._select_sets(components)
        values = np.zeros((game.ensemble.n_outputs * n_sets, len(codes)))
        for start in range(0, len(codes), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            met = all_met(game.ensemble, game.paths, codes[rows])
            for chunk in self._conjunctions:
                all_met_together = np.logical_and.reduce(met[chunk.nodes], axis=0)
                values[:, rows] += chunk.weights @ all_met_together.astype(np.float64)
        return values.reshape(game.ensemble.n_outputs, n_sets, len(codes))

    def _select_sets(
        self, components: list[NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Components of `sets`, from arrays (k, n_players, ..., n_rows) by size."""
        by_size = []
        for size, values in enumerate(components, 1):
            of_size = [players for players in self.sets if len(players) == size]
            index = np.array(of_size, dtype=np.intp).reshape(-1, size).T
            by_size.append(values[:, *index])
        return np.concatenate(by_size, axis=1)


def _runs_of_leaves(game: Game, max_order: int) -> list[NDArray[np.intp]]:
    """Leaves with conditions, as many at a time as have `_WEIGHTS_AT_ONCE` weights."""
    ensemble, n_conditions = game.ensemble, game.paths.n_conditions
    leaves = np.flatnonzero(ensemble.is_leaf & (n_conditions > 0))
    sizes = np.arange(1, max_order + 1)[:, None]
    n_weights = (comb(n_conditions[leaves], sizes) * 2.0**sizes).sum(axis=0)
    run = np.cumsum(n_weights) // _WEIGHTS_AT_ONCE
    return np.split(leaves, np.flatnonzero(np.diff(run)) + 1) if len(leaves) else []


def _conjunctions_of_leaves(
    game: Game, leaves: NDArray[np.intp], positions: dict[tuple[int, ...], int]
) -> Iterator[Conjunctions]:
    """Conjunctions of leaves, some at a time, with the `positions` of sets."""
    n_conditions = game.paths.n_conditions[leaves]
    max_order = max(map(len, positions))
    by_size = [
        _leaf_weights(game, leaves[n_conditions == d], max_order)
        for d in np.unique(n_conditions)
    ]
    players, nodes, weights = (
        np.concatenate(arrays, axis=1) for arrays in zip(*by_size, strict=True)
    )
    players, component = _distinct_columns(players)
    nodes, conjunction = _distinct_columns(nodes)
    n_players = game.paths.n_players
    of_component = np.array(
        [
            positions[tuple(player for player in column if player < n_players)]
            for column in players.T.tolist()
        ]
    )
    entries = of_component[component], conjunction
    shape = len(positions), nodes.shape[1]
    outputs = [sparse.coo_array((output, entries), shape=shape) for output in weights]
    matrix = sparse.vstack(outputs, format="csc")
    for start in range(0, shape[1], _CONJUNCTIONS_AT_ONCE):
        chunk = slice(start, start + _CONJUNCTIONS_AT_ONCE)
        yield Conjunctions(nodes[:, chunk], matrix[:, chunk].tocsr())


def _leaf_weights(game: Game, leaves: NDArray[np.intp], max_order: int) -> _LeafWeights:
    """Nonzero weights of leaves with equally many conditions, d."""
    conditions = game.paths.conditions_by_slot(leaves)
    d = len(conditions)
    # Sets of slots, which stand for U and for T, and q(T) of each leaf.
    slot_sets = [
        slots for size in range(max_order + 1) for slots in combinations(range(d), size)
    ]
    shares = game.shares_without(leaves, slot_sets)
    positions = {slots: position for position, slots in enumerate(slot_sets)}
    terms = [
        (positions[union], positions[subset], (-1.0) ** (len(union) - len(subset)))
        for union in slot_sets[1:]
        for size in range(len(union) + 1)
        for subset in combinations(union, size)
    ]
    union, subset, sign = map(np.array, zip(*terms, strict=True))
    # One weight for each term of a leaf whose q(T) is not zero.
    term, leaf = np.nonzero(shares[subset])
    union, subset = union[term], subset[term]
    weights = (sign[term] * shares[subset, leaf]) * game.ensemble.value[leaves[leaf]].T
    # Smaller sets are filled up with slot d, which has no player and the root as node.
    padded_slots = np.array([[*s, *[d] * (max_order - len(s))] for s in slot_sets]).T
    no_player = np.full(len(leaves), game.paths.n_players)
    players = np.vstack([game.paths.player[conditions], no_player])
    nodes = np.vstack([conditions, np.zeros(len(leaves), dtype=conditions.dtype)])
    players_of_union = np.sort(players[padded_slots[:, union], leaf], axis=0)
    nodes_of_subset = nodes[padded_slots[:, subset], leaf]
    return _LeafWeights(players_of_union, nodes_of_subset, weights)


def _distinct_columns(
    columns: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Distinct columns of an array of integers; position of each column in these."""
    key = np.zeros(columns.shape[1], dtype=np.intp)
    for row in columns:
        key = key * (int(row.max(initial=0)) + 1) + row
        _, first, key = np.unique(key, return_index=True, return_inverse=True)
    return columns[:, first], key

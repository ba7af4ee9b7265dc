r"""Mean outputs of trees, or of a function of them, given any set of features.

`TreeSets` finds partial dependence at rows' own values. With the features of the set as
one player and all others as another, a leaf has at most one condition on each: it adds
its value, times the share of the background that meets the condition on the others, to
all rows that meet the condition on the set.

`LinkedTreeSets` finds the mean of a function of the output. With :math:`w_l` the value
of leaf l and :math:`a_{lj}` its condition on player j, leaves that
have conditions on the players T, and on no others of the set S that moves, add

.. math:: G_T(b, u) = \sum_l \Big[ \prod_{j \notin T} a_{lj}(x_b) \Big]
    \Big[ w_l \prod_{j \in T} a_{lj}(u) \Big]

to row b with its players at u: rows by leaves times leaves by points, a matrix product.
So as S moves from the row's own values to u, the output of the row changes by

.. math:: \sum_{\emptyset \ne T \subseteq S} G_T(b, u) - G_T(b, x_b).

A product is made for the distinct values of T alone: S may have very many, and single
players have few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.bits import (
    Conditions,
    RowBits,
    RowWeights,
    blocks_of_trees,
    set_bits,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.effects.tree_effects import TreeEffects
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble

# Sizes of blocks. Chosen by hand: smaller blocks call numpy more often, larger ones
# leave the cache. Words of the bit sets of a block's conditions (2 MB), and of the bit
# sets that are listed together (512 kB):
_WORDS_OF_CONDITIONS = 2**18
_MOST_WORDS = 2**16
# Outputs of moved rows (2 MB), and numbers of a factor of a product (4 MB):
_MOST_OUTPUTS = 2**18
_MOST_NUMBERS = 2**19


class _BlockOfTrees(NamedTuple):
    """Some of the trees of `TreeSets`."""

    leaves: NDArray[np.intp]  # positions of the trees' leaves among all leaves
    inside: Conditions  # conditions on the features of the set
    outside: Conditions  # conditions on all other features


class TreeSets:
    """Partial dependence of trees on a set of features.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    values : ndarray of shape (n_nodes, k)
        Value of each leaf, zero at other nodes.
    features : ndarray of intp
        The set.
    block_rows : int
        Largest number of rows that the methods get in one call.
    """

    wants_order = False  # its methods take rows in any order in the same time

    def __init__(
        self,
        ensemble: TreeEnsemble,
        values: NDArray[np.float64],
        features: NDArray[np.intp],
        block_rows: int,
    ) -> None:
        self.ensemble, self.values = ensemble, values
        self.block_rows = block_rows
        player = np.ones(ensemble.n_features, dtype=np.intp)
        player[features] = 0
        paths = TreePaths.of_ensemble(ensemble, player, n_players=2)
        self._leaves = np.flatnonzero(ensemble.is_leaf)
        leaf, condition = paths.conditions_of(self._leaves)
        conditions = np.full((2, len(self._leaves)), -1)
        conditions[paths.player[condition], leaf] = condition
        # For each leaf the condition on the set, and on all other features; -1 if none.
        self._inside, self._outside = conditions
        max_nodes = max(1, _WORDS_OF_CONDITIONS * 64 // block_rows)
        self._blocks = []
        for nodes in blocks_of_trees(ensemble, max_nodes):
            is_in_block = np.zeros(ensemble.n_nodes, dtype=bool)
            is_in_block[nodes] = True
            leaves = np.flatnonzero(is_in_block[self._leaves])
            inside, outside = (
                Conditions.of_nodes(ensemble, paths, nodes[paths.player[nodes] == side])
                for side in range(2)
            )
            self._blocks.append(_BlockOfTrees(leaves, inside, outside))

    def leaf_weights(
        self, codes: NDArray[np.integer], weights: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        """Weight of the rows that meet each condition on the features outside.

        Returns one array in a list, by the node that names the condition; the last
        number is the weight of all rows.
        """
        bits, row_weights = RowBits(self.ensemble, codes), RowWeights(weights)
        weights_met = np.empty(self.ensemble.n_nodes + 1)
        weights_met[-1] = weights.sum()
        for block in self._blocks:
            if len(block.outside.nodes):
                met = block.outside.meeting_rows(bits)
                weights_met[block.outside.nodes] = row_weights.total(met)
        return [weights_met]

    def outputs(
        self, codes: NDArray[np.integer], leaf_weights: list[NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Partial dependence at rows, without the base: (n_rows, k).

        `leaf_weights` are sums over the background of the arrays of
        :meth:`leaf_weights`.
        """
        bits = RowBits(self.ensemble, codes)
        outputs = np.zeros((self.values.shape[1], len(codes)))
        weights_met = leaf_weights[0]
        shares = weights_met[self._outside] / weights_met[-1]
        amounts = self.values[self._leaves] * shares[:, None]
        position = np.empty(self.ensemble.n_nodes + 1, dtype=np.intp)
        for block in self._blocks:
            n_conditions = len(block.inside.nodes)
            position[block.inside.nodes] = np.arange(n_conditions)
            position[-1] = n_conditions  # of leaves without a condition on the set
            leaf_condition = position[self._inside[block.leaves]]
            met = block.inside.meeting_rows(bits)
            for output in range(len(outputs)):
                amount = np.bincount(
                    leaf_condition, amounts[block.leaves, output], n_conditions + 1
                )
                outputs[output] += amount[-1]
                for sums in _sums_of_rows(met, amount[:-1], len(codes)):
                    outputs[output] += sums
        return outputs.T


def _sums_of_rows(
    met: NDArray[np.uint64], amounts: NDArray[np.number], n_rows: int
) -> Iterator[NDArray[np.number]]:
    """Summed amounts of conditions that each row meets, some conditions at a time."""
    used = np.flatnonzero(amounts)
    step = max(1, _MOST_WORDS // met.shape[1])
    for start in range(0, len(used), step):
        chunk = used[start : start + step]
        condition, row = set_bits(met[chunk])
        yield np.bincount(row, amounts[chunk][condition], n_rows)


class _ConditionsOfLeaves(NamedTuple):
    """Leaves that have a condition on a player, and the nodes that name these."""

    leaves: NDArray[np.intp]
    conditions: NDArray[np.integer]


class LinkedTreeSets:
    """Outputs of rows whose players take the values of other rows.

    Parameters
    ----------
    effects : TreeEffects
        The trees, and the players that move; each along one axis.
    positions : list of ndarray of shape (n_rows,)
        For each player, at which of its points each row is.
    """

    def __init__(self, effects: TreeEffects, positions: list[NDArray[np.intp]]) -> None:
        self.effects, self.positions = effects, positions
        ensemble, paths = effects.ensemble, effects.paths
        leaves = np.flatnonzero(ensemble.is_leaf)
        leaf, condition = paths.conditions_of(leaves)
        player = paths.player[condition]
        order = np.argsort(player, kind="stable")
        ends = np.searchsorted(
            player[order], np.arange(len(effects.moved_features) + 1)
        )
        self._of_players = [
            _ConditionsOfLeaves(leaves[leaf[entries]], condition[entries])
            for entries in np.split(order, ends)[1:-1]
        ]
        inner = np.flatnonzero(paths.player >= 0)
        self._conditions = Conditions.of_nodes(ensemble, paths, inner)
        self._condition_position = np.empty(ensemble.n_nodes, dtype=np.intp)
        self._condition_position[self._conditions.nodes] = np.arange(len(inner))

    def averages(
        self,
        sets: Sequence[Sequence[int]],
        codes: NDArray[np.integer],
        weights: NDArray[np.float64],
        outputs: NDArray[np.float64],
        function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> list[NDArray[np.float64]]:
        """Mean of a function of the outputs over the rows, with each row's players.

        Parameters
        ----------
        sets : list of tuple of int
            Sets of players.
        codes : ndarray of shape (n_rows, n_features), int
            Codes of the rows.
        weights : ndarray of shape (n_rows,)
            Weights of the rows.
        outputs : ndarray of shape (n_rows, k)
            Outputs of the rows as they are.
        function : callable
            From outputs (n, n_points, k) to values (n, n_points, m).

        Returns
        -------
        list of ndarray of shape (n_rows, m)
            For each set.
        """
        moved_sets = [self._moved_set(players) for players in sets]
        sums = [np.zeros(())] * len(sets)
        size = self.effects.block_rows
        for start in range(0, len(codes), size):
            bits = RowBits(self.effects.ensemble, codes[start : start + size])
            # The last entry is a condition that all rows meet.
            met = np.vstack([self._conditions.meeting_rows(bits), bits.valid])
            for number, moved_set in enumerate(moved_sets):
                step = max(1, _MOST_OUTPUTS // (64 * moved_set.n_points))
                for word in range(0, bits.n_words, step):
                    first = start + 64 * word
                    rows = slice(first, min(first + 64 * step, start + bits.n_rows))
                    moved_outputs = self._moved_outputs(
                        moved_set, met[:, word : word + step], rows, outputs
                    )
                    total = weights[rows] @ np.moveaxis(function(moved_outputs), 2, 0)
                    sums[number] = sums[number] + total
        return [
            total.T[moved_set.point] / weights.sum()
            for total, moved_set in zip(sums, moved_sets, strict=True)
        ]

    def _moved_set(self, players: Sequence[int]) -> _MovedSet:
        """A set of players at the points of the rows."""
        sizes = [self.effects.moved_features[player].n_points for player in players]
        point = np.ravel_multi_index(
            [self.positions[player] for player in players], sizes
        )
        distinct, point = np.unique(point, return_inverse=True)
        points = np.stack(np.unravel_index(distinct, sizes))
        conditions = np.full((len(players), self.effects.ensemble.n_nodes), -1)
        for row, player in enumerate(players):
            of_player = self._of_players[player]
            conditions[row, of_player.leaves] = of_player.conditions
        order = range(len(players))
        subsets = (combinations(order, size + 1) for size in order)
        terms = []
        for members in map(list, chain.from_iterable(subsets)):
            is_member = np.isin(order, members)[:, None]
            leaves = np.flatnonzero(((conditions >= 0) == is_member).all(axis=0))
            if len(leaves):
                distinct_points, position = np.unique(
                    points[members], axis=1, return_inverse=True
                )
                term = _Term(
                    players=[players[member] for member in members],
                    leaves=leaves,
                    conditions=conditions[members][:, leaves],
                    points=distinct_points,
                    point_position=position,
                )
                terms.append(term)
        return _MovedSet(point, len(distinct), terms)

    def _moved_outputs(
        self,
        moved_set: _MovedSet,
        met: NDArray[np.uint64],
        rows: slice,
        outputs: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Outputs (n, n_points, k) of rows that meet conditions (m, n_words)."""
        moved_outputs = np.repeat(
            outputs[rows].T[:, :, None], moved_set.n_points, axis=2
        )
        for term in moved_set.terms:
            row_points = term.point_position[moved_set.point[rows]]
            row = np.arange(len(row_points))
            for output in range(len(moved_outputs)):
                products = self._product(term, output, met, len(row_points))
                changes = products - products[row, row_points][:, None]
                moved_outputs[output] += changes.take(term.point_position, axis=1)
        return np.moveaxis(moved_outputs, 0, 2)

    def _product(
        self, term: _Term, output: int, met: NDArray[np.uint64], n_rows: int
    ) -> NDArray[np.float64]:
        """Amounts of leaves in one output of rows at a term's points: (n_rows, n)."""
        n_points = term.points.shape[1]
        values = self.effects.values[term.leaves, output]
        used = np.flatnonzero(values)
        step = max(1, _MOST_NUMBERS // max(n_rows, n_points))
        products = np.zeros((n_rows, n_points))
        for start in range(0, len(used), step):
            chunk = used[start : start + step]
            rows = self._rows_inside(met, term.leaves[chunk], term.players)[:, :n_rows]
            reached = np.flatnonzero(rows.any(axis=1))
            conditions = term.conditions[:, chunk[reached]]
            amounts = values[chunk[reached], None]
            for player, player_conditions, points in zip(
                term.players, conditions, term.points, strict=True
            ):
                holds = self._points_inside(player, player_conditions)
                amounts = amounts * holds.take(points, axis=1)
            products += rows[reached].T.astype(np.float64) @ amounts
        return products

    def _rows_inside(
        self, met: NDArray[np.uint64], leaves: NDArray[np.intp], players: list[int]
    ) -> NDArray[np.uint8]:
        """Bits of rows that meet all conditions of leaves, except on some players."""
        paths = self.effects.paths
        _, conditions = paths.conditions_of(leaves)
        position = self._condition_position[conditions]
        position[np.isin(paths.player[conditions], players)] = len(met) - 1
        counts = paths.n_conditions[leaves]
        sets = np.bitwise_and.reduceat(
            met.take(position, axis=0), counts.cumsum() - counts
        )
        return np.unpackbits(sets.view(np.uint8), axis=1, bitorder="little")

    def _points_inside(
        self, player: int, conditions: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """1 where points of a player meet conditions, else 0: (m, n_points)."""
        effects = self.effects
        inside = np.zeros((len(conditions), effects.moved_features[player].n_points))
        position, point, sign = effects.steps.of_conditions(conditions)
        inside[position, point - effects.first[player]] = sign
        return np.cumsum(inside, axis=1, out=inside)


@dataclass(frozen=True, eq=False)
class _Term:
    """Leaves that have conditions on the same ones of the players that move.

    Parameters
    ----------
    players : list of int
        The players.
    leaves : ndarray of shape (m,), intp
        The leaves.
    conditions : ndarray of shape (n_moved, m), intp
        The nodes that name the leaves' conditions on each player.
    points : ndarray of shape (n_moved, n), intp
        Distinct points of the players.
    point_position : ndarray of shape (n_points,), intp
        For each point of the set that moves, its position in `points`.
    """

    players: list[int]
    leaves: NDArray[np.intp]
    conditions: NDArray[np.intp]
    points: NDArray[np.intp]
    point_position: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _MovedSet:
    """A set of players at all points that the rows have.

    Parameters
    ----------
    point : ndarray of shape (n_rows,), intp
        Point of each row.
    n_points : int
        Number of the points.
    terms : list of _Term
        Changes of the output by the leaves, as the players move.
    """

    point: NDArray[np.intp]
    n_points: int
    terms: list[_Term]

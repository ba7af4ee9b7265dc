r"""Interaction terms of pairs of players, features of trees or groups of them.

Let :math:`w_l` be the value of leaf l, :math:`a_{lj}` its condition on player j, and
:math:`W_l(T)` the share of the rows that meet all conditions of the leaf on players
outside of T. The interaction term of two players is their joint partial dependence less
the partial dependence on each of them,

.. math:: P_{jk}(u, v) = PD_{jk}(u, v) - PD_j(u) - PD_k(v) + \overline{f},

is a sum over the leaves with conditions on both alone:

.. math:: P_{jk}(u, v) = \sum_{l: j, k \in l} w_l \left[ W_l(jk)\, a_{lj}(u)
    a_{lk}(v) - W_l(j)\, a_{lj}(u) - W_l(k)\, a_{lk}(v) + W_l(\emptyset) \right].

The shares are counts of bits with one or two conditions left out. A condition is given
by the few points at which it begins or ceases to hold, so that each leaf adds amounts
at a few corners of a grid of both players' points; the term at a row is the sum of all
amounts below and to the left of it. Hence the cost hardly depends on the number of rows
explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.bits import (
    RowBits,
    RowWeights,
    all_but_one_and_all,
)

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.effects.tree_effects import (
        LastSplits,
        TreeEffects,
    )

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Words of bit sets that are combined together: 256 kB. Chosen by hand: smaller blocks
# call numpy more often, larger ones leave the cache.
_MOST_WORDS = 2**15

# Corners that are collected before they are added to their grids: bounds the memory.
_MOST_CORNERS = 2**20

# Numbers in memory for each leaf of each pair: in `_Openings`, in `leaf_weights`, and
# the amounts in `terms`.
_NUMBERS_OF_OPENING = 12


class TreePairs:
    """Partial dependence on pairs beyond both players alone, from codes of rows.

    Parameters
    ----------
    effects : TreeEffects
        The trees, and the players that move; each along one axis.
    pairs : list of tuple of int
        Pairs of players.
    """

    wants_order = False  # its methods take rows in any order in the same time

    def __init__(self, effects: TreeEffects, pairs: list[tuple[int, int]]) -> None:
        self.effects, self.pairs = effects, pairs
        self.block_rows = effects.block_rows
        numbers = np.full((len(effects.moved_features) + 1,) * 2, -1, dtype=np.int32)
        for number, pair in enumerate(pairs):
            numbers[pair] = number
        self._openings: list[_Openings] = []
        for block in effects.blocks:
            player = np.append(
                effects.paths.player[block.nodes], len(effects.moved_features)
            )
            self._openings += [
                _Openings.of_splits(
                    splits, player, numbers, len(block.conditions.nodes)
                )
                for splits in block.groups
            ]

    def leaf_weights(self, codes: NDArray[np.integer], weights: _Array) -> list[_Array]:
        """Weight of the rows that meet all conditions of leaves but two.

        An array (2, e) for each group of splits above leaves, by child and opening.
        Takes at most ``effects.block_rows`` rows.
        """
        bits = RowBits(self.effects.ensemble, codes)
        row_weights = RowWeights(weights)
        pair_weights, openings = [], iter(self._openings)
        for block in self.effects.blocks:
            met = np.concatenate(
                [block.conditions.meeting_rows(bits), bits.valid[None]]
            )
            for splits in block.groups:
                lefts = bits.left_rows(splits.nodes)
                pair_weights.append(
                    next(openings).weights(met, lefts, row_weights, bits.valid)
                )
        return pair_weights

    def terms(
        self,
        leaf_weights: _Array,
        pair_weights: list[_Array],
        total: float,
        points: list[NDArray[np.intp]],
    ) -> list[_Array]:
        """The terms of rows.

        Parameters
        ----------
        leaf_weights : ndarray
            Sums over all rows of the arrays of ``effects.leaf_weights``.
        pair_weights : list of ndarray
            Sums of the arrays of :meth:`leaf_weights`.
        total : float
            Total weight of the rows.
        points : list of ndarray of shape (n,), intp
            For each player, the points of the terms.

        Returns
        -------
        list of ndarray of shape (n, k)
            One for each pair.
        """
        sums = _PairSums(self.effects, self.pairs, points)
        groups = ((block, s) for block in self.effects.blocks for s in block.groups)
        weigher = self.effects.weigher
        for (block, splits), openings, weights in zip(
            groups, self._openings, pair_weights, strict=True
        ):
            nodes = np.append(block.nodes, -1)
            for child in range(2):
                leaves = splits.is_leaf[child, openings.split[openings.first_condition]]
                entries = np.flatnonzero(leaves)
                split = openings.split[openings.first_condition[entries]]
                slots = openings.slots[:, entries]
                leaf = splits.children[child, split]
                values = self.effects.values[leaf] / total
                without_one = [
                    weigher.all_but_one(leaf_weights, leaf, slot) for slot in slots
                ]
                sums.add(
                    openings.pair[entries],
                    nodes[splits.child_conditions[child, slots, split]],
                    values * weights[child, entries, None],
                    [-values * weight[:, None] for weight in without_one],
                    values * weigher.inside(leaf_weights, leaf)[:, None],
                )
        return sums.totals()


def leaves_of_pairs(effects: TreeEffects) -> NDArray[np.int32]:
    """How many leaves have conditions on both of two players: (n_moved, n_moved)."""
    n = len(effects.moved_features) + 1
    counts = np.zeros(n * n, dtype=np.int32)
    for block in effects.blocks:
        player = np.append(effects.paths.player[block.nodes], n - 1)
        for splits in block.groups:
            slot_players = player[splits.child_conditions[0]]
            n_leaves = splits.is_leaf.sum(axis=0)
            for first_player in slot_players:
                cells = (first_player * n + slot_players).ravel()
                weights = np.broadcast_to(n_leaves, slot_players.shape).ravel()
                np.add.at(counts, cells, weights)
    return counts.reshape(n, n)[:-1, :-1]


def mean_steps(effects: TreeEffects) -> _Array:
    """Mean number of times that conditions on each player begin or cease to hold."""
    n_moved = len(effects.moved_features)
    player = effects.paths.player
    conditions = np.flatnonzero((player >= 0) & (player < n_moved))
    counts = effects.steps.starts[conditions + 1] - effects.steps.starts[conditions]
    n_steps = np.bincount(player[conditions], counts, n_moved)
    return n_steps / np.maximum(np.bincount(player[conditions], minlength=n_moved), 1)


def bytes_of_pairs(
    shape: Sequence[NDArray[np.integer]],
    n_rows: int,
    n_leaves: NDArray[np.integer],
    k: int,
) -> NDArray[np.integer]:
    """Approximate memory that the k terms of each pair of players take.

    `shape` (2,) has the numbers of points of the first and of the second players,
    `n_leaves` the numbers of leaves with conditions on both players.
    """
    # 8 bytes for each cell of a grid, each term of a row, and each leaf's numbers.
    n_sums = k * (QuadrantSums.n_cells(n_rows, shape) + n_rows)
    return 8 * (n_sums + _NUMBERS_OF_OPENING * n_leaves)


@dataclass(frozen=True, eq=False)
class _Openings:
    """Pairs of conditions of the leaves below some splits, to be left out together.

    Parameters
    ----------
    split : ndarray of shape (c,), intp
        The splits, by position in their group; one for each first condition.
    other_conditions : ndarray of shape (d, c), intp
        Conditions of the split, by position in the block's conditions; past the end of
        these in place of the first condition of the pair.
    first_condition : ndarray of shape (e,), intp
        For each pair of conditions the position of the first one; increasing.
    slots : ndarray of shape (2, e), intp
        Slots of the first and second condition.
    pair : ndarray of shape (e,), intp
        The pair of players.
    by_side : ndarray of shape (e,), bool
        Whether the rows differ between the split's children: the split decides on
        neither of the two conditions.
    """

    split: NDArray[np.intp]
    other_conditions: NDArray[np.intp]
    first_condition: NDArray[np.intp]
    slots: NDArray[np.intp]
    pair: NDArray[np.integer]
    by_side: NDArray[np.bool_]

    @classmethod
    def of_splits(
        cls,
        splits: LastSplits,
        player: NDArray[np.intp],
        numbers: NDArray[np.integer],
        n_conditions: int,
    ) -> _Openings:
        """Openings of a group of splits.

        Parameters
        ----------
        splits : LastSplits
            The group.
        player : ndarray of intp
            The player of each of the block's nodes, then a placeholder.
        numbers : ndarray of shape (n_moved + 1, n_moved + 1), intp
            Number of each pair, -1 for other pairs.
        n_conditions : int
            Number of the block's conditions.
        """
        slot_players = player[splits.child_conditions[0]].T
        # Pairs of slots (n_splits, d + 1, d + 1); first and second slot of each.
        pairs = numbers[slot_players[:, :, None], slot_players[:, None]]
        split, first, second = np.nonzero(pairs >= 0)
        d = len(splits.conditions)
        # One key for each split and first slot that has pairs.
        keys, first_condition = np.unique(split * (d + 1) + first, return_inverse=True)
        key_split, key_slot = np.divmod(keys, d + 1)
        other_conditions = splits.conditions[:, key_split]
        is_of_split = np.flatnonzero(key_slot < d)  # the last slot is the children's
        other_conditions[key_slot[is_of_split], is_of_split] = n_conditions
        split_slot = splits.slot[split]
        return cls(
            split=key_split,
            other_conditions=other_conditions,
            first_condition=first_condition.reshape(-1),
            slots=np.stack([first, second]),
            pair=pairs[split, first, second],
            by_side=(first != split_slot) & (second != split_slot),
        )

    def weights(
        self,
        met: NDArray[np.uint64],
        lefts: NDArray[np.uint64],
        row_weights: RowWeights,
        valid: NDArray[np.uint64],
    ) -> _Array:
        """Weight of the rows that meet all other conditions, by child: (2, e).

        `met` holds the rows that meet each condition, then all rows; `lefts` the rows
        that go to the left at each split of the group.
        """
        d, c = self.other_conditions.shape
        weights = np.empty((2, len(self.first_condition)))
        step = max(1, _MOST_WORDS // ((d + 1) * met.shape[1]))
        for start in range(0, c, step):
            sets = met.take(self.other_conditions[:, start : start + step], axis=0)
            # (d + 1, step, n_words): each leaves out one slot, too, and the last none.
            sets = all_but_one_and_all(sets, valid)
            chunk = slice(*np.searchsorted(self.first_condition, [start, start + step]))
            first_condition = self.first_condition[chunk]
            sets_of_pairs = sets[self.slots[1, chunk], first_condition - start]
            weights[:, chunk] = row_weights.total(sets_of_pairs)
            by_side = np.flatnonzero(self.by_side[chunk])
            split_of_pair = self.split[first_condition[by_side]]
            left_weights = row_weights.total(
                sets_of_pairs[by_side] & lefts[split_of_pair]
            )
            weights[0, chunk][by_side] = left_weights
            weights[1, chunk][by_side] -= left_weights
        return weights


class _Corners(NamedTuple):
    """Points (u, v) of pairs from which on a leaf's amount is added or taken off."""

    pair: NDArray[np.int32]  # (n,)
    u: NDArray[np.int32]  # (n,): point of the first player
    v: NDArray[np.int32]  # (n,): point of the second player
    amounts: _Array  # (n, k)


class _PairSums:
    """Amounts of leaves added up for each pair at given points.

    Parameters
    ----------
    effects : TreeEffects
        The trees.
    pairs : list of tuple of int
        Pairs of players.
    points : list of ndarray of shape (n,), intp
        Points of each player.
    """

    def __init__(
        self,
        effects: TreeEffects,
        pairs: list[tuple[int, int]],
        points: list[NDArray[np.intp]],
    ) -> None:
        k = effects.values.shape[1]
        self._steps = effects.steps
        self._pairs = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        self._points = points
        self._first = effects.first[self._pairs]
        sizes = np.array([moved.n_points for moved in effects.moved_features])[
            self._pairs
        ]
        self._grids = [
            QuadrantSums(points[first], points[second], shape, k)
            for (first, second), shape in zip(pairs, sizes.tolist(), strict=True)
        ]
        # Amounts that depend on one player alone, and amounts that are constant.
        self._ends = np.cumsum(sizes, axis=0)
        self._lines = [np.zeros((k, size)) for size in sizes.sum(axis=0)]
        self._starts = self._ends - sizes
        self._constant = np.zeros((len(pairs), k))
        self._waiting: list[_Corners] = []
        self._n_waiting = 0

    def add(
        self,
        pair: NDArray[np.integer],
        conditions: NDArray[np.intp],
        with_both: _Array,
        with_one: list[_Array],
        constant: _Array,
    ) -> None:
        """Add leaves' amounts for pairs.

        Parameters
        ----------
        pair : ndarray of shape (e,), intp
            The pairs.
        conditions : ndarray of shape (2, e), intp
            The nodes that name the conditions on both players.
        with_both, constant : ndarray of shape (e, k)
            Amounts where both conditions are met, and anywhere.
        with_one : list of ndarray of shape (e, k)
            Amounts where the condition on the first player is met, and on the second.
        """
        for output, amount in enumerate(constant.T):
            self._constant[:, output] += np.bincount(pair, amount, len(self._grids))
        for side, amounts in enumerate(with_one):
            entry, point, sign = self._steps.of_conditions(conditions[side])
            offset = self._starts[pair, side] - self._first[pair, side]
            index = point + offset[entry]
            for line, amount in zip(self._lines[side], amounts.T, strict=True):
                np.add.at(line, index, amount[entry] * sign)
        starts = self._steps.starts
        n_steps = starts[conditions + 1] - starts[conditions]
        n_corners_upto = np.cumsum(n_steps[0] * n_steps[1])
        start = 0
        while start < len(pair):
            most = (n_corners_upto[start - 1] if start else 0) + _MOST_CORNERS
            stop = int(np.searchsorted(n_corners_upto, most, side="right"))
            stop = max(stop, start + 1)
            self._collect_corners(
                pair[start:stop], conditions[:, start:stop], with_both[start:stop]
            )
            start = stop

    def _collect_corners(
        self, pair: NDArray[np.integer], conditions: NDArray[np.intp], amounts: _Array
    ) -> None:
        """Collect the points at which both conditions begin or cease to hold."""
        entry, u, sign_u = self._steps.of_conditions(conditions[0])
        step, v, sign_v = self._steps.of_conditions(conditions[1, entry])
        entry, u, sign = entry[step], u[step], sign_u[step] * sign_v
        pair = pair[entry]
        corners = _Corners(
            pair=pair.astype(np.int32),
            u=(u - self._first[pair, 0]).astype(np.int32),
            v=(v - self._first[pair, 1]).astype(np.int32),
            amounts=amounts[entry] * sign[:, None],
        )
        self._waiting.append(corners)
        self._n_waiting += len(pair)
        if self._n_waiting >= _MOST_CORNERS:
            self._add_collected_corners()

    def _add_collected_corners(self) -> None:
        """Add the collected corners to their grids."""
        if not self._waiting:
            return
        pair, u, v, amounts = map(np.concatenate, zip(*self._waiting, strict=True))
        self._waiting, self._n_waiting = [], 0
        order = np.argsort(pair, kind="stable")
        ends = np.searchsorted(pair[order], np.arange(len(self._grids) + 1))
        for number, grid in enumerate(self._grids):
            entries = order[ends[number] : ends[number + 1]]
            if len(entries):
                grid.add(
                    u[entries].astype(np.intp),
                    v[entries].astype(np.intp),
                    amounts[entries],
                )

    def totals(self) -> list[_Array]:
        """The sums at the points: a list of (n, k)."""
        self._add_collected_corners()
        totals = []
        for number, (grid, pair) in enumerate(
            zip(self._grids, self._pairs, strict=True)
        ):
            total = grid.sums() + self._constant[number]
            for side, player in enumerate(pair):
                line = slice(self._starts[number, side], self._ends[number, side])
                along = np.cumsum(self._lines[side][:, line], axis=1)
                total += along[:, self._points[player]].T
            totals.append(total)
        return totals


class QuadrantSums:
    r"""Amounts at cells of a grid, added up over the quadrants of given points.

    For each point (u, v) the sum of the amounts at all cells (u', v') with
    :math:`u' \le u` and :math:`v' \le v`.

    Parameters
    ----------
    u, v : ndarray of shape (n,), intp
        The points.
    shape : tuple of int
        Height and width of the grid.
    k : int
        Number of sums for each point.

    Notes
    -----
    A grid of all cells may be large, so its rows are grouped into bands. Amounts in
    earlier bands are added up on a first grid that has one row per band. Within a band
    only the columns of its own points count: the second grid has one column per point.
    With a height h, a width w, and bands of height :math:`h / \sqrt n`, both grids have
    about :math:`w \sqrt n` cells.
    """

    def __init__(
        self, u: NDArray[np.intp], v: NDArray[np.intp], shape: Sequence[int], k: int
    ) -> None:
        height, width = shape
        u, v = u.astype(np.intp, copy=False), v.astype(np.intp, copy=False)
        self._width = width
        self._band = max(1, round(height / np.sqrt(max(len(u), 1))))
        n_bands = -(-height // self._band)
        band = u // self._band
        order = np.lexsort((v, band))
        # Each band's columns: one for each of its points, by v, and one behind them.
        self._column = np.empty(len(u), dtype=np.intp)
        self._column[order] = np.arange(len(u)) + band[order]
        # By band and v: the first of the columns whose points are no less.
        points = np.bincount(band * width + v, minlength=n_bands * width)
        points = points.reshape(n_bands, width)
        self._upto = np.cumsum(points, dtype=np.int32).reshape(n_bands, width)
        self._upto -= points.astype(np.int32)
        self._upto += np.arange(n_bands, dtype=np.int32)[:, None]
        self._ends = self._upto[:, 0]
        self._u, self._v, self._point_band = u, v, band
        self._n_columns = len(u) + n_bands
        self._bands = np.zeros((k, n_bands * width))
        self._cells = np.zeros((k, self._band * self._n_columns))

    @staticmethod
    def n_cells(n: int, shape: Sequence[Any]) -> Any:
        """Number of cells in memory for n points and one sum each."""
        band = np.maximum(1, np.rint(shape[0] / np.sqrt(max(n, 1))).astype(np.intp))
        n_bands = -(-shape[0] // band)
        return 2 * n_bands * shape[1] + band * (n + n_bands)

    def add(self, u: NDArray[np.intp], v: NDArray[np.intp], amounts: _Array) -> None:
        """Add amounts (m, k) to cells (m,) of the grid."""
        band, inside = np.divmod(u, self._band)
        in_bands = band * self._width + v
        in_cells = inside * self._n_columns + self._upto.reshape(-1)[in_bands]
        for output, amount in enumerate(amounts.T):
            np.add.at(self._bands[output], in_bands, amount)
            np.add.at(self._cells[output], in_cells, amount)

    def sums(self) -> _Array:
        """The sums: (n, k)."""
        u, v, band = self._u, self._v, self._point_band
        k, n_bands = len(self._bands), len(self._ends)
        bands = self._bands.reshape(k, n_bands, self._width)
        before = np.cumsum(np.cumsum(bands, axis=1) - bands, axis=2)
        cells = self._cells.reshape(k, self._band, self._n_columns)
        cells = np.cumsum(np.cumsum(cells, axis=1), axis=2)
        row, first = u % self._band, self._ends[band]
        earlier = np.where(first > 0, cells[:, row, first - 1], 0.0)
        return (before[:, band, v] + cells[:, row, self._column] - earlier).T

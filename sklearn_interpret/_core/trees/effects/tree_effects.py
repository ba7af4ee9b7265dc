r"""Effects of features on the raw output of trees, exact, without predictions.

With :math:`w_l` the value of leaf l and :math:`a_{lj}` its condition on what moves, j
(a feature, or some that move together), the output of a row whose j is at v is

.. math:: f(v, x_{-j}) = \sum_{l: j \in l} w_l\, a_{lj}(v) \prod_{i \ne j} a_{li}(x)
    + \sum_{l: j \notin l} w_l \prod_i a_{li}(x).

So two things are needed: the leaves that a row reaches, or would reach without one
condition; and the points v at which each condition begins and ceases to hold. The
leaves are found with bit sets of rows, the points are `ConditionSteps`. Both are
combined only when outputs are added up: the grid of points costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.effects.leaf_weights import LeafWeights
from sklearn_interpret._core.trees.structure.bits import (
    WORD,
    Conditions,
    RowBits,
    all_but_one_and_all,
    blocks_of_trees,
    first_bits,
    set_bits,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble

# Sizes of blocks. Chosen by hand: smaller blocks call numpy more often, larger ones
# leave the processor's caches. Words of the bit sets of a block's conditions (2 MB),
# and of the bit sets that are combined together (256 kB):
_WORDS_OF_CONDITIONS = 2**18
_MOST_WORDS = 2**15

# Least and largest number of rows of a block: each block evaluates each condition anew.
_LEAST_ROWS, _MOST_ROWS = 2**9, 2**13
# In between, a block has as many rows as tables of rows by code allow: words of these
# tables, 64 MB,
_WORDS_OF_TABLES = 2**23
# and 8 MB where the tables are read at random.
_WORDS_IN_CACHE = 2**20

# From this number on, rows are sorted by likeness. Fewer rows fill one block of the
# largest size, and sorting them takes longer than it saves.
_MANY_ROWS = 2**13


class GridWords(NamedTuple):
    """Size of a grid of points as bits: its height, and words of each of its rows."""

    height: int
    n_words: int


@dataclass(frozen=True, eq=False)
class MovedFeatures:
    """Features of the trees that move together, and the points to which they move.

    Parameters
    ----------
    features : ndarray of shape (m,), intp
        The features; empty where the trees do not split on the moved columns.
    codes : ndarray of shape (n_points, m), int
        Codes of the features at each point, the last axis of the grid fastest.
    shape : tuple of int
        Number of points along each axis of their grid, one or two.
    """

    features: NDArray[np.intp]
    codes: NDArray[np.integer]
    shape: tuple[int, ...]

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.codes)

    @property
    def words(self) -> GridWords:
        """Words for the bits of the grid; one axis is a single row."""
        height, width = (1, *self.shape)[-2:]
        return GridWords(height, -(-width // 64))

    def at(self, points: slice) -> MovedFeatures:
        """A slice of the points, of a grid without a second axis."""
        codes = self.codes[points]
        shape = self.shape if len(codes) == self.n_points else (len(codes),)
        return MovedFeatures(self.features, codes, shape)

    def sum_up(self, changes: NDArray[np.float64], axis: int) -> None:
        """Cumulate changes in place over the grid whose points lie along an axis."""
        shape = *changes.shape[:axis], *self.shape, *changes.shape[axis + 1 :]
        on_grid = changes.reshape(shape)  # a view
        for along in range(axis, axis + len(self.shape)):
            np.cumsum(on_grid, axis=along, out=on_grid)


@dataclass(frozen=True, eq=False)
class ConditionSteps:
    """Points of a player at which each condition begins and ceases to hold.

    A condition is 0 or 1 at each point, and 0 before the first point. Its steps are the
    differences from each point to the next; on a grid with two axes, the second
    differences. The sums of the steps along the axes are the condition. The points of
    all players are numbered one after another.

    Parameters
    ----------
    starts : ndarray of shape (n_nodes + 1,), intp
        Position of each condition's first step.
    point : ndarray of shape (n_steps,), intp
        The points.
    sign : ndarray of shape (n_steps,), intp
        1 or -1.
    """

    starts: NDArray[np.intp]
    point: NDArray[np.intp]
    sign: NDArray[np.intp]

    @classmethod
    def of_features(
        cls,
        ensemble: TreeEnsemble,
        paths: TreePaths,
        moved_features: list[MovedFeatures],
    ) -> ConditionSteps:
        """The steps of conditions on all players, the first players of the paths."""
        by_size: dict[GridWords, list[int]] = {}
        for player, moved in enumerate(moved_features):
            if moved.n_points and len(moved.features):
                by_size.setdefault(moved.words, []).append(player)
        steps = [(np.empty(0, dtype=np.intp),) * 3]
        for words, players in by_size.items():
            steps += _steps_of_moved(ensemble, paths, moved_features, players, words)
        node, point, sign = map(np.concatenate, zip(*steps, strict=True))
        order = np.argsort(node, kind="stable")
        starts = np.searchsorted(node[order], np.arange(ensemble.n_nodes + 1))
        return cls(starts, point[order], sign[order])

    def of_conditions(
        self, nodes: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """All steps of conditions: position in `nodes`, point, and sign, (n,) each."""
        condition, steps = self.positions(nodes)
        return condition, self.point[steps], self.sign[steps]

    def positions(
        self, nodes: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """All steps of conditions: position in `nodes` and number of the step, (n,)."""
        first = self.starts[nodes]
        counts = self.starts[nodes + 1] - first
        condition = np.repeat(np.arange(len(nodes)), counts)
        before = np.cumsum(counts) - counts
        return condition, np.arange(len(condition)) + np.repeat(first - before, counts)


class TreeEffects:
    """Outputs of trees as features, or groups of them, move, from codes of rows.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    values : ndarray of shape (n_nodes, k)
        Value of each leaf, zero at other nodes.
    base : ndarray of shape (k,)
        Constant that is added to the sum of the trees.
    moved_features : list of MovedFeatures
        Features that move together, for each player; no two share a feature.
    n_rows : int, default=0
        About how many rows :meth:`leaf_weights` will get.

    Attributes
    ----------
    block_rows : int
        Largest number of rows for one call: a multiple of 64.
    n_points : int
        Number of points of all players.
    first : ndarray of shape (n_moved,), intp
        The first point of each player.
    constant : ndarray of shape (k,)
        Outputs of the base and of trees without splits.
    paths : TreePaths
        Paths of the trees, whose first players are the players.
    steps : ConditionSteps
        Where along the points the conditions on players begin and cease to hold.
    blocks : list of BlockOfTrees
        The trees, some at a time.
    wants_order : bool
        Whether :meth:`leaf_weights` is fast for rows in `order_of_likeness`.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        values: NDArray[np.float64],
        base: NDArray[np.float64],
        moved_features: list[MovedFeatures],
        n_rows: int = 0,
    ) -> None:
        self.ensemble = ensemble
        self.values = values
        self.moved_features = moved_features
        # Trees that are a single leaf add to every output.
        self.constant = base + values[ensemble.roots].sum(axis=0)
        players = np.full(ensemble.n_features, len(moved_features))
        for player, moved in enumerate(moved_features):
            if moved.n_points:
                players[moved.features] = player
        self.paths = TreePaths.of_ensemble(ensemble, players)
        ends = np.cumsum([0, *(moved.n_points for moved in moved_features)])
        self.first, self.n_points = ends[:-1], int(ends[-1])
        self.steps = ConditionSteps.of_features(ensemble, self.paths, moved_features)
        self.block_rows = _block_rows(ensemble, _WORDS_OF_TABLES)
        self.wants_order = n_rows >= _MANY_ROWS

    @cached_property
    def blocks(self) -> list[BlockOfTrees]:
        """The trees, some at a time."""
        most_nodes = _WORDS_OF_CONDITIONS * 64 // self.block_rows
        return [
            BlockOfTrees.of_nodes(self.ensemble, self.paths, nodes)
            for nodes in blocks_of_trees(self.ensemble, most_nodes)
        ]

    @cached_property
    def weigher(self) -> LeafWeights:
        """Finds :meth:`leaf_weights`, and sorts them by condition."""
        return LeafWeights(self.ensemble, self.paths, len(self.moved_features))

    def leaf_weights(
        self, codes: NDArray[np.integer], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Weight of the rows that meet all conditions, or all but one, of each leaf.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, or an object whose slices are such arrays.
        weights : ndarray of shape (n_rows,)
            Weights of the rows.

        Returns
        -------
        ndarray of float
            Sums of these arrays over all rows are what :meth:`averages` takes.
        """
        leaf_weights = np.zeros(self.weigher.size)
        # Tables that do not fit the cache cost more than blocks of fewer rows.
        size = _block_rows(self.ensemble, _WORDS_IN_CACHE)
        for start in range(0, len(codes), size):
            rows = slice(start, start + size)
            self.weigher.add_rows(codes[rows], weights[rows], leaf_weights)
        return leaf_weights

    def averages(
        self, leaf_weights: NDArray[np.float64], total: float
    ) -> list[NDArray[np.float64]]:
        """Mean outputs with each player at each of its points.

        Parameters
        ----------
        leaf_weights : ndarray of float
            Sum over all rows of the arrays that :meth:`leaf_weights` returns.
        total : float
            Total weight of the rows.

        Returns
        -------
        list of ndarray of shape (n_points, k)
        """
        shares = self.weigher.by_condition(leaf_weights / total)
        leaf, conditions = shares.leaf, shares.conditions
        values = self.values[shares.leaves]
        mean = self.constant + shares.inside @ values
        n_nodes = self.ensemble.n_nodes
        node, point, sign = self.steps.of_conditions(np.arange(n_nodes))
        player = self.paths.player[conditions]
        moves = np.flatnonzero(player < len(self.moved_features))
        sizes = np.array([moved.n_points for moved in self.moved_features], np.intp)
        first = self.first[sizes > 0]
        changes = np.empty((self.n_points, len(mean)))
        for output, value in enumerate(values.T):
            # When a player moves, the mean loses the leaves that depend on it: `lost`.
            amounts = value.take(leaf) * shares.all_but_one
            met = np.bincount(conditions, amounts, n_nodes)
            leaf_means = (value * shares.inside).take(leaf[moves])
            lost = np.bincount(player[moves], leaf_means, len(self.moved_features))
            changes[:, output] = np.bincount(point, met[node] * sign, self.n_points)
            changes[first, output] += (mean[output] - lost)[sizes > 0]
        curves = np.split(changes, self.first[1:])
        for moved, curve in zip(self.moved_features, curves, strict=True):
            moved.sum_up(curve, axis=0)
        return curves

    def differences(
        self, codes: NDArray[np.integer], crossings: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Changes of the output of rows where they step from one point to the next.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most `block_rows` of them.
        crossings : ndarray of shape (n_rows, n_moved), intp
            For each player the point that the row steps to, from the point before it;
            for a player with two axes, from the points before it along both axes. -1
            for rows that take no step.

        Returns
        -------
        ndarray of shape (n_rows, n_moved, k)
            The difference; for a player with two axes the second difference.
        """
        k, n_moved = len(self.constant), len(self.moved_features)
        bits = RowBits(self.ensemble, codes)
        crossing = self._rows_by_point(crossings, bits.n_words)
        crossed = np.any(crossing, axis=1)
        differences = np.zeros((k, len(codes) * n_moved))
        for reached in self.leaves(bits):
            for row, player, amounts in self._amounts_of_crossings(
                reached, crossing, crossed
            ):
                _add_to(differences, row * n_moved + player, amounts)
        return differences.T.reshape(len(codes), n_moved, k)

    def _amounts_of_crossings(
        self, reached: Reached, crossing: NDArray[np.uint64], crossed: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]]:
        """Amounts of leaves in differences: row, player that moves, amounts (n, k)."""
        # Steps at which a condition begins (sign 1) or ceases (-1) to hold. A leaf's
        # value counts for rows that cross the step and meet all other conditions.
        condition, point, sign = self.steps.of_conditions(reached.conditions)
        crossed_steps = np.flatnonzero(crossed[point])
        size = max(1, _MOST_WORDS // crossing.shape[1])
        for start in range(0, len(crossed_steps), size):
            chunk = crossed_steps[start : start + size]
            rows = reached.all_but_one.take(condition[chunk], axis=0)
            rows &= crossing.take(point[chunk], axis=0)
            entry, row = set_bits(rows)
            step = chunk[entry]
            step_condition = condition[step]
            values = self.values[reached.leaves[reached.leaf[step_condition]]]
            player = self.paths.player[reached.conditions[step_condition]]
            yield row, player, values * sign[step, None]

    def _rows_by_point(
        self, crossings: NDArray[np.intp], n_words: int
    ) -> NDArray[np.uint64]:
        """Rows that step to each point, as bit sets."""
        row, player = np.nonzero(crossings >= 0)
        point = self.first[player] + crossings[row, player]
        sets = np.zeros((self.n_points, n_words), dtype=WORD)
        bit = WORD.type(1) << (row & 63).astype(WORD)
        np.add.at(sets, (point, row >> 6), bit)
        return sets

    def leaves(self, bits: RowBits) -> Iterator[Reached]:
        """All leaves, some at a time, with the rows that reach them."""
        for block in self.blocks:
            met = block.conditions.meeting_rows(bits)
            for splits in block.groups:
                for chunk, sets, lefts in splits.rows_at_splits(met, bits):
                    for child, side in enumerate((lefts, ~lefts)):
                        yield self._leaves_of_side(
                            block, splits, chunk, sets, child, side
                        )

    def _leaves_of_side(
        self,
        block: BlockOfTrees,
        splits: LastSplits,
        chunk: slice,
        sets: NDArray[np.uint64],
        child: int,
        side: NDArray[np.uint64],
    ) -> Reached:
        """The leaves on one side of some splits, and the rows that reach them."""
        positions = np.flatnonzero(splits.is_leaf[child, chunk])
        all_but_one = sets.take(positions, axis=1)
        # Without the split's own condition, rows count wherever they go at the split.
        split_slot = splits.slot[chunk][positions], np.arange(len(positions))
        on_both_sides = all_but_one[split_slot]
        all_but_one &= side.take(positions, axis=0)
        inside = all_but_one[-1].copy()
        all_but_one[split_slot] = on_both_sides
        leaf_conditions = splits.child_conditions[child][:, chunk][:, positions]
        conditions = np.append(block.nodes, -1)[leaf_conditions]
        player = np.where(conditions >= 0, self.paths.player[conditions], -1)
        slot, leaf = np.nonzero((player >= 0) & (player < len(self.moved_features)))
        return Reached(
            leaves=splits.children[child, chunk][positions],
            inside=inside,
            conditions=conditions[slot, leaf],
            leaf=leaf,
            all_but_one=all_but_one[slot, leaf],
        )


@dataclass(frozen=True, eq=False)
class Reached:
    """Leaves, and the rows that meet all of their conditions, or all but one.

    Parameters
    ----------
    leaves : ndarray of shape (m,), intp
        The leaves.
    inside : ndarray of shape (m, n_words), uint64
        Rows that reach the leaves.
    conditions : ndarray of shape (s,), intp
        Nodes that name the leaves' conditions on players that move.
    leaf : ndarray of shape (s,), intp
        Position in `leaves` of each condition's leaf.
    all_but_one : ndarray of shape (s, n_words), uint64
        Rows that meet all other conditions of the leaf.
    """

    leaves: NDArray[np.intp]
    inside: NDArray[np.uint64]
    conditions: NDArray[np.intp]
    leaf: NDArray[np.intp]
    all_but_one: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class BlockOfTrees:
    """Some of the trees: conditions of their splits, and the splits above leaves.

    Parameters
    ----------
    conditions : Conditions
        Conditions of the nodes that are no leaves.
    nodes : ndarray of intp
        The nodes that name these conditions, then the leaves.
    groups : list of LastSplits
        The splits above leaves.
    """

    conditions: Conditions
    nodes: NDArray[np.intp]
    groups: list[LastSplits]

    @classmethod
    def of_nodes(
        cls, ensemble: TreeEnsemble, paths: TreePaths, nodes: NDArray[np.intp]
    ) -> BlockOfTrees:
        """The block of the trees that consist of the given nodes."""
        leaves = nodes[ensemble.is_leaf[nodes]]
        inner = nodes[~ensemble.is_leaf[nodes]]
        inner = inner[paths.player[inner] >= 0]
        conditions = Conditions.of_nodes(ensemble, paths, inner)
        nodes = np.concatenate([conditions.nodes, leaves])
        position = np.empty(ensemble.n_nodes + 1, dtype=np.intp)
        position[nodes] = np.arange(len(nodes))
        position[-1] = len(nodes)
        splits = np.unique(ensemble.parents[leaves])
        splits = splits[splits >= 0]
        counts = paths.n_conditions[splits]
        groups = [
            LastSplits.of_splits(ensemble, paths, position, splits[counts == d])
            for d in np.unique(counts)
        ]
        return cls(conditions, nodes, groups)


@dataclass(frozen=True, eq=False)
class LastSplits:
    """Splits with a leaf below them whose nodes need equally many conditions, d.

    A leaf below a split needs the split's conditions, and the condition to go left or
    right at it. The latter is one condition more, or replaces one on the same player.
    So leaves have d + 1 *slots*, of which the last may be void, and the split decides
    on one slot.

    Parameters
    ----------
    nodes : ndarray of shape (m,), intp
        The splits.
    conditions : ndarray of shape (d, m), intp
        Conditions of the splits, by position in the block's conditions.
    slot : ndarray of shape (m,), intp
        The slot that each split decides on.
    children : ndarray of shape (2, m), intp
        The nodes on the left and on the right.
    is_leaf : ndarray of shape (2, m), bool
        Whether the children are leaves.
    child_conditions : ndarray of shape (2, d + 1, m), intp
        The conditions of the children in each slot, by position in the block's nodes;
        past the end of the nodes where a slot is void.
    """

    nodes: NDArray[np.intp]
    conditions: NDArray[np.intp]
    slot: NDArray[np.intp]
    children: NDArray[np.intp]
    is_leaf: NDArray[np.bool_]
    child_conditions: NDArray[np.intp]

    @classmethod
    def of_splits(
        cls,
        ensemble: TreeEnsemble,
        paths: TreePaths,
        position: NDArray[np.intp],
        splits: NDArray[np.intp],
    ) -> LastSplits:
        """The group of some splits, from the `position` of each node in the block."""
        conditions = paths.conditions_by_slot(splits)
        children = np.stack([ensemble.left[splits], ensemble.right[splits]])
        slot = paths.slot[children[0]]
        d, m = conditions.shape
        child_conditions = np.full((2, d + 1, m), -1)
        child_conditions[:, :d] = conditions
        child_conditions[:, slot, np.arange(m)] = children
        return cls(
            nodes=splits,
            conditions=position[conditions],
            slot=slot,
            children=children,
            is_leaf=ensemble.is_leaf[children],
            child_conditions=position[child_conditions],
        )

    def rows_at_splits(
        self, met: NDArray[np.uint64], bits: RowBits
    ) -> Iterator[tuple[slice, NDArray[np.uint64], NDArray[np.uint64]]]:
        """Rows at the splits, some splits at a time.

        Yields
        ------
        chunk : slice
            Which of the splits.
        sets : ndarray of shape (d + 1, c, n_words), uint64
            For each slot the rows that meet all other conditions; in the last place the
            rows that meet all conditions.
        lefts : ndarray of shape (c, n_words), uint64
            Rows that go to the left.
        """
        d, m = self.conditions.shape
        step = max(1, _MOST_WORDS // ((d + 1) * bits.n_words))
        for start in range(0, m, step):
            chunk = slice(start, start + step)
            sets = met.take(self.conditions[:, chunk], axis=0)
            sets = all_but_one_and_all(sets, bits.valid)
            yield chunk, sets, bits.left_rows(self.nodes[chunk])


def _block_rows(ensemble: TreeEnsemble, n_words: int) -> int:
    """Number of rows for which tables of rows by code take at most `n_words`."""
    n_codes = ensemble.split_codes.n_codes
    n_rows = _MOST_ROWS
    while (
        n_rows > _LEAST_ROWS
        and np.minimum(n_codes, n_rows).sum() * n_rows > 64 * n_words
    ):
        n_rows //= 2
    return n_rows


def _add_to(
    sums: NDArray[np.float64], index: NDArray[np.intp], amounts: NDArray[np.float64]
) -> None:
    """Add amounts (n, k) to `sums` (k, size) at an index (n,), in place."""
    for output_sums, amount in zip(sums, amounts.T, strict=True):
        np.add.at(output_sums, index, amount)


def _steps_of_moved(
    ensemble: TreeEnsemble,
    paths: TreePaths,
    moved_features: list[MovedFeatures],
    players: list[int],
    words: GridWords,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Nodes, points and signs of the steps of conditions on players of one size.

    The points of all these players are the bits of one `RowBits`.
    """
    height, n_words = words
    bits = _point_bits(ensemble, [moved_features[player] for player in players], words)
    first = np.cumsum([0, *(moved.n_points for moved in moved_features)])
    width = np.array([moved.shape[-1] for moved in moved_features])
    valid = np.zeros((len(moved_features), n_words), dtype=WORD)
    for player in players:
        valid[player] = first_bits(width[player])
    is_moved = np.isin(paths.player, players)
    if np.count_nonzero(is_moved) * bits.n_words <= _WORDS_OF_CONDITIONS:
        pieces = [np.flatnonzero(is_moved)]
    else:
        pieces = blocks_of_trees(ensemble, _WORDS_OF_CONDITIONS // bits.n_words)
    for nodes in pieces:
        nodes = nodes[is_moved[nodes]]
        conditions = Conditions.of_nodes(ensemble, paths, nodes)
        nodes = conditions.nodes
        players_of_nodes = paths.player[nodes]
        sets = conditions.meeting_rows(bits).reshape(len(nodes), height, n_words)
        for cells, sign in _changes(sets, valid[players_of_nodes][:, None]):
            condition, bit = set_bits(cells.reshape(len(nodes), height * n_words))
            row, column = np.divmod(bit, n_words * 64)
            point_player = players_of_nodes[condition]
            point = first[point_player] + row * width[point_player] + column
            yield nodes[condition], point, np.full(len(point), sign)


def _point_bits(
    ensemble: TreeEnsemble, moved_features: list[MovedFeatures], words: GridWords
) -> RowBits:
    """The points as rows; each row of a grid starts with a new word."""
    height, n_words = words
    codes = []
    for moved in moved_features:
        width = moved.shape[-1]
        point = np.minimum(np.arange(n_words * 64), width - 1)
        grid = moved.codes.reshape(height, width, len(moved.features))[:, point]
        codes.append(grid.reshape(height * n_words * 64, len(moved.features)))
    features = np.concatenate([moved.features for moved in moved_features])
    return RowBits(ensemble, np.hstack(codes), features)


def _changes(
    sets: NDArray[np.uint64], valid: NDArray[np.uint64]
) -> Iterator[tuple[NDArray[np.uint64], int]]:
    """Bit sets (m, height, n_words) of unit steps over both axes, with their signs."""
    sets = sets & valid
    shifted = sets << WORD.type(1)
    shifted[..., 1:] |= sets[..., :-1] >> WORD.type(63)
    begun = np.bitwise_and(sets, ~shifted)
    ended = np.bitwise_and(shifted, valid & ~sets)
    for cells, sign in ((begun, 1), (ended, -1)):
        row_before = np.zeros_like(cells)
        row_before[:, 1:] = cells[:, :-1]
        yield cells & ~row_before, sign
        if cells.shape[1] > 1:
            yield row_before & ~cells, -sign

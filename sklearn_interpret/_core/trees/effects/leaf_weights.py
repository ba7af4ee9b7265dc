"""Weight of the rows that meet all conditions of leaves, or all but one.

Sets of rows, as bits, go down the trees. At each node there is the set of rows that
meet all of its conditions, and for each condition of a player that moves, the set of
rows that meet all other conditions. Empty sets are dropped. Rows in `order_of_likeness`
mostly reach the same leaves as their neighbours, so that most sets are full or empty
words: with many rows, each row is in few sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.bits import WORD, RowBits, RowWeights

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Words of the rows of the sets that go down together: 512 kB, three times. Chosen by
# hand: smaller blocks call numpy more often, larger ones leave the cache.
_MOST_WORDS = 2**16

# Bits of the numbers by which rows are sorted: 16, since numpy sorts uint16 by
# counting. Wider numbers take longer to sort.
_N_BITS = 16

# Columns of `_next_sets`: the split's position among all codes, its node, and sets of
# the children: one gets the rows that go left, one the rows that go right, and up to
# two get all rows.
_POSITION, _NODE, _LEFT, _RIGHT, _ALL_FIRST, _ALL_SECOND = range(6)
_NO_SET = -1  # in the last two of these columns


class WeightsByCondition(NamedTuple):
    """Weights of rows at leaves, by the conditions of all leaves."""

    leaves: NDArray[np.intp]  # (n_leaves,)
    # (n_leaves,): weight that meets all conditions; zero in a tree of one leaf
    inside: NDArray[np.float64]
    conditions: NDArray[np.integer]  # (n,): nodes that name conditions
    leaf: NDArray[np.intp]  # (n,): position of each condition's leaf in `leaves`
    # (n,): weight that meets all other conditions; zero for a player that is fixed
    all_but_one: NDArray[np.float64]


class _RowSets(NamedTuple):
    """Sets of rows that go down the trees."""

    numbers: NDArray[np.integer]  # (n,)
    counts: NDArray[np.float32]  # (n,): how many rows each has
    rows: NDArray[np.uint64]  # (n, n_words): the rows as bits


class LeafWeights:
    """Weights of rows at leaves, from sets of rows that go down the trees.

    Sets are numbered node after node, inner nodes before leaves. The first set of a
    node holds the rows that meet all conditions; then there is one for each condition.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Paths of the trees.
    n_moved : int
        The conditions of the first `n_moved` players may be broken, one at a time.

    Attributes
    ----------
    size : int
        Number of weights that are found.
    """

    def __init__(self, ensemble: TreeEnsemble, paths: TreePaths, n_moved: int) -> None:
        self._ensemble, self._paths = ensemble, paths
        nodes = np.concatenate([np.empty(0, dtype=np.intp), *ensemble.levels])
        is_leaf = ensemble.is_leaf[nodes]
        nodes, self._leaves = nodes[~is_leaf], nodes[is_leaf]
        order = np.concatenate([nodes, self._leaves])
        widths = paths.n_conditions[order] + 1
        starts = np.empty(ensemble.n_nodes, dtype=np.int32)
        starts[order] = np.cumsum(widths) - widths
        self._n_inner = int(widths[: len(nodes)].sum())
        self.size = int(widths[len(nodes) :].sum())
        self._leaf_starts = starts - self._n_inner
        self._next_sets = _find_next_sets(ensemble, paths, nodes, starts, n_moved)
        roots = ensemble.roots
        self._roots = starts[roots[~ensemble.is_leaf[roots]]]

    def by_condition(self, weights: NDArray[np.float64]) -> WeightsByCondition:
        """Sort the weights (size,) that :meth:`add_rows` finds."""
        leaf, conditions = self._paths.conditions_of(self._leaves)
        d = self._paths.n_conditions[self._leaves]
        slot = np.arange(len(leaf)) - np.repeat(np.cumsum(d) - d, d)
        inside = self.inside(weights, self._leaves)
        all_but_one = self.all_but_one(weights, self._leaves[leaf], slot)
        return WeightsByCondition(self._leaves, inside, conditions, leaf, all_but_one)

    def inside(
        self, weights: NDArray[np.float64], leaves: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Weight of the rows that meet all conditions of leaves (n,)."""
        return weights[self._leaf_starts[leaves]]

    def all_but_one(
        self,
        weights: NDArray[np.float64],
        leaves: NDArray[np.intp],
        slot: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Weight of the rows that meet all conditions except the one in a slot (n,)."""
        return weights[self._leaf_starts[leaves] + 1 + slot]

    def add_rows(
        self,
        codes: NDArray[np.integer],
        weights: NDArray[np.float64],
        leaf_weights: NDArray[np.float64],
    ) -> None:
        """Add the weights of rows (n_rows, n_features) to `leaf_weights` in place."""
        bits, row_weights = RowBits(self._ensemble, codes), RowWeights(weights)
        size = max(1, _MOST_WORDS // bits.n_words)
        # Rows that go left, rows that go right, and all of them, of `size` sets.
        rows = np.empty((3, size, bits.n_words), dtype=WORD)
        flat_rows = rows.reshape(-1, bits.n_words)
        counts = np.full(len(self._roots), len(codes), dtype=np.float32)
        valid = np.tile(bits.valid, (len(self._roots), 1))
        waiting = [_RowSets(self._roots, counts, valid)]
        while waiting:
            numbers, counts = _pop_sets(waiting, rows[2])
            children, counts, source = self._sets_of_children(
                numbers, counts, bits, row_weights, rows
            )
            is_at_leaf = children >= self._n_inner
            at_leaf, inner = np.flatnonzero(is_at_leaf), np.flatnonzero(~is_at_leaf)
            if row_weights.common_weight is not None:
                n_at_leaf = counts.take(at_leaf).astype(np.float64)
                weight = n_at_leaf * row_weights.common_weight
            else:
                rows_at_leaf = flat_rows.take(source.take(at_leaf), axis=0)
                weight = row_weights.total(rows_at_leaf)
            # No child occurs twice, so that every weight is added.
            leaf_weights[children.take(at_leaf) - self._n_inner] += weight
            if len(inner):
                rows_inside = flat_rows.take(source.take(inner), axis=0)
                waiting.append(
                    _RowSets(children.take(inner), counts.take(inner), rows_inside)
                )

    def _sets_of_children(
        self,
        numbers: NDArray[np.integer],
        counts: NDArray[np.float32],
        bits: RowBits,
        row_weights: RowWeights,
        rows: NDArray[np.uint64],
    ) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]:
        """The nonempty sets at the children: numbers, counts, positions.

        `rows` (3, size, n_words) holds the sets' rows in its last table. The rows that
        go left and right are written to the first and second table. Positions are among
        the sets of all three tables.
        """
        table = self._next_sets.take(numbers, axis=0)
        lefts, rights, reached = rows[:, : len(numbers)]
        bits.left_rows_at(table[:, _POSITION], table[:, _NODE], out=lefts)
        lefts &= reached
        np.bitwise_xor(reached, lefts, out=rights)
        n_left = row_weights.counts(lefts)
        n_right = counts - n_left
        children, child_counts, positions = [], [], []
        for column, table_of_rows, n_rows, is_used in (
            (_LEFT, 0, n_left, n_left > 0),
            (_RIGHT, 1, n_right, n_right > 0),
            (_ALL_FIRST, 2, counts, table[:, _ALL_FIRST] != _NO_SET),
            (_ALL_SECOND, 2, counts, table[:, _ALL_SECOND] != _NO_SET),
        ):
            used = np.flatnonzero(is_used)
            children.append(table[:, column].take(used))
            child_counts.append(n_rows.take(used))
            positions.append(table_of_rows * rows.shape[1] + used)
        return (
            np.concatenate(children),
            np.concatenate(child_counts),
            np.concatenate(positions),
        )


def _pop_sets(
    waiting: list[_RowSets], rows: NDArray[np.uint64]
) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
    """Numbers and counts of the last sets of `waiting`, from which they are removed.

    As many sets are taken as `rows` has room for; their rows are written to `rows`.
    """
    numbers, counts, n = [], [], 0
    while waiting and n < len(rows):
        last = waiting.pop()
        n_waiting = max(0, len(last.numbers) - (len(rows) - n))
        if n_waiting:
            waiting.append(_RowSets._make(array[:n_waiting] for array in last))
        numbers.append(last.numbers[n_waiting:])
        counts.append(last.counts[n_waiting:])
        n_after = n + len(numbers[-1])
        rows[n:n_after] = last.rows[n_waiting:]
        n = n_after
    return np.concatenate(numbers), np.concatenate(counts)


def _find_next_sets(
    ensemble: TreeEnsemble,
    paths: TreePaths,
    nodes: NDArray[np.intp],
    starts: NDArray[np.int32],
    n_moved: int,
) -> NDArray[np.int32]:
    """For each set of rows at an inner node, the sets at the children.

    The rows of a set that go left at the node's split go to one set of the left child,
    the other rows to one set of the right child. In the set that need not meet the
    condition of the split's player, all rows go to both children. Where the split is
    the first of its player, such sets start at both children, with the rows that meet
    all conditions of the node.

    Parameters
    ----------
    ensemble, paths, n_moved : TreeEnsemble, TreePaths, int
        As `LeafWeights` takes them.
    nodes : ndarray of shape (m,), intp
        All inner nodes, in the order of their sets.
    starts : ndarray of shape (n_nodes,), int32
        The first set of each node.

    Returns
    -------
    ndarray of shape (n, 6), int32
        For each set the columns that `_POSITION` and the other constants name. Where
        all rows go to both children, the position is past all codes, the node any leaf.
    """
    left, right = ensemble.left[nodes], ensemble.right[nodes]
    moves = paths.player[left] < n_moved
    # A node's set at offset 0 meets all conditions, the set at offset 1 + slot all but
    # one. The split's open offset is of the set that need not meet its condition.
    open_offset = np.where(moves, paths.slot[left] + 1, -1).astype(np.int32)
    widths = paths.n_conditions[nodes] + 1
    # For each set: the position of its node in `nodes`, and its offset there.
    node_position = np.repeat(np.arange(len(nodes), dtype=np.int32), widths)
    first_sets = starts[nodes].take(node_position)
    offset = np.arange(len(node_position), dtype=np.int32) - first_sets
    table = np.empty((len(node_position), 6), dtype=np.int32)
    table[:, _POSITION] = ensemble.split_positions.take(nodes).take(node_position)
    table[:, _NODE] = nodes.take(node_position)
    table[:, _LEFT] = starts[left].take(node_position) + offset
    table[:, _RIGHT] = starts[right].take(node_position) + offset
    table[:, _ALL_FIRST:] = _NO_SET
    # Of open sets all rows "go left", and all of them are sent to the right, too.
    open_sets = np.flatnonzero(offset == open_offset.take(node_position))
    table[open_sets, _POSITION] = ensemble.split_codes.n_codes.sum()  # gives all rows
    table[open_sets, _NODE] = np.flatnonzero(ensemble.is_leaf)[:1]
    table[open_sets, _ALL_FIRST] = table[open_sets, _RIGHT]
    # Open sets of both children start where the split is the first of its player.
    is_first = moves & (paths.previous[left] < 0)
    sets_of_all = starts[nodes[is_first]]
    table[sets_of_all, _ALL_FIRST] = starts[left[is_first]] + open_offset[is_first]
    table[sets_of_all, _ALL_SECOND] = starts[right[is_first]] + open_offset[is_first]
    return table


def order_of_likeness(
    ensemble: TreeEnsemble, codes: NDArray[np.integer]
) -> NDArray[np.intp]:
    """Order of rows in which neighbours mostly reach the same leaves: (n_rows,), intp.

    A feature with b bits is cut into 2^b cells of equally many rows. Bits are given to
    features one by one, to the feature on which most rows are still to be split. Rows
    are ordered by these bits, of which the first given counts most.
    """
    cells = np.zeros(len(codes), dtype=np.uint16)
    bits = _features_of_bits(ensemble)
    for j in np.unique(bits):
        feature_bits = np.flatnonzero(bits == j)
        counts = np.bincount(codes[:, j], minlength=ensemble.split_codes.n_codes[j])
        middle = (np.cumsum(counts) - counts / 2) / len(codes)
        cell = (middle * 2 ** len(feature_bits)).astype(np.uint16)
        spread = np.zeros(len(cell), dtype=np.uint16)
        for k, bit in enumerate(feature_bits.tolist()):
            digit = (cell >> (len(feature_bits) - 1 - k)) & 1
            spread |= digit << (_N_BITS - 1 - bit)
        cells |= spread.take(codes[:, j])
    return np.argsort(cells, kind="stable")


def _features_of_bits(ensemble: TreeEnsemble) -> NDArray[np.intp]:
    """The feature that each bit belongs to: (_N_BITS,)."""
    inner = np.flatnonzero(~ensemble.is_leaf)
    # Each bit halves the rows that the feature's splits still separate.
    separated = np.bincount(
        ensemble.feature[inner], ensemble.cover[inner], ensemble.n_features
    )
    features = []
    for _ in range(_N_BITS):
        features.append(int(separated.argmax()))
        separated[features[-1]] /= 2
    return np.array(features)

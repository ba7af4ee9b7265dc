"""Weight of the rows that meet all conditions of leaves, or all but one.

Sets of rows, as bits, go down the trees: at each node the rows that meet all of its
conditions, and for each condition of a player that moves those that meet all others,
whether or not they meet this one. Empty sets are dropped. Rows in `order_of_likeness`
reach the same leaves as their neighbours, so that sets are full or empty: with many
rows each of them is in few sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.bits import WORD, RowBits, RowWeights

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Words of the sets that go down together: 512 kB, three times, which fit the cache.
_MOST_WORDS = 2**16

# Bits of the numbers by which rows are sorted: more take a further pass of sorting.
_N_BITS = 16

# Numbers of sets, numbers of their rows, and the rows as bits.
_Waiting = tuple[NDArray[np.integer], NDArray[np.float32], NDArray[np.uint64]]


class LeafWeights:
    """Weights of rows at leaves, from sets of rows that go down the trees.

    Sets are numbered node after node, those of leaves behind those of inner nodes: for
    each node that of the rows that meet all conditions, and one for each condition.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    n_moved : int
        The conditions of the first `n_moved` players are those that may be broken.

    Attributes
    ----------
    size : int
        Number of weights that are found.
    """

    def __init__(self, ensemble: TreeEnsemble, paths: TreePaths, n_moved: int) -> None:
        self._ensemble, self._paths = ensemble, paths
        nodes = np.concatenate([np.empty(0, dtype=np.intp), *ensemble.levels()])
        is_leaf = ensemble.is_leaf[nodes]
        nodes, self._leaves = nodes[~is_leaf], nodes[is_leaf]
        order = np.concatenate([nodes, self._leaves])
        widths = paths.n_conditions[order] + 1
        starts = np.empty(ensemble.n_nodes, dtype=np.int32)
        starts[order] = np.cumsum(widths) - widths
        self._n_inner = int(widths[: len(nodes)].sum())
        self.size = int(widths[len(nodes) :].sum())
        self._starts = starts - self._n_inner  # of leaves
        self._next_sets = _next_sets(ensemble, paths, nodes, starts, n_moved)
        roots = ensemble.roots
        self._roots = starts[roots[~ensemble.is_leaf[roots]]]

    def by_condition(
        self, weights: NDArray[np.float64]
    ) -> tuple[
        NDArray[np.intp],
        NDArray[np.float64],
        NDArray[np.integer],
        NDArray[np.intp],
        NDArray[np.float64],
    ]:
        """Weights of rows at leaves, by the conditions that they meet.

        Parameters
        ----------
        weights : ndarray of shape (size,)
            As :meth:`add_rows` finds them.

        Returns
        -------
        leaves : ndarray of shape (n_leaves,), intp
            The leaves.
        inside : ndarray of shape (n_leaves,)
            Weight of the rows that meet all conditions of a leaf.
        names : ndarray of shape (n,), intp
            The conditions of all leaves.
        leaf : ndarray of shape (n,), intp
            Position of each one's leaf in `leaves`.
        all_but_one : ndarray of shape (n,)
            Weight of the rows that meet all others. Zero for conditions on features
            that do not move.
        """
        leaf, names = self._paths.conditions_of(self._leaves)
        d = self._paths.n_conditions[self._leaves]
        slot = np.arange(len(leaf)) - np.repeat(np.cumsum(d) - d, d)
        inside = self.inside(weights, self._leaves)
        all_but_one = self.without(weights, self._leaves[leaf], slot)
        return self._leaves, inside, names, leaf, all_but_one

    def inside(
        self, weights: NDArray[np.float64], leaves: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Weight of the rows that meet all conditions of leaves (n,)."""
        return weights[self._starts[leaves]]

    def without(
        self,
        weights: NDArray[np.float64],
        leaves: NDArray[np.intp],
        slot: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Weight of the rows that meet all conditions but that in a slot (n,)."""
        return weights[self._starts[leaves] + 1 + slot]

    def add_rows(
        self,
        codes: NDArray[np.integer],
        weights: NDArray[np.float64],
        leaf_weights: NDArray[np.float64],
    ) -> None:
        """Add the weights of rows (n_rows, n_features) to `leaf_weights` (size,)."""
        bits, weigh = RowBits(self._ensemble, codes), RowWeights(weights)
        size = max(1, _MOST_WORDS // bits.n_words)
        # Rows that go left, rows that go right, and all of them.
        rows = np.empty((3, size, bits.n_words), dtype=WORD)
        every = rows.reshape(-1, bits.n_words)
        counts = np.full(len(self._roots), len(codes), dtype=np.float32)
        valid = np.tile(bits.valid, (len(self._roots), 1))
        waiting: list[_Waiting] = [(self._roots, counts, valid)]
        while waiting:
            sets, counts = _taken(waiting, rows[2])
            children, counts, source = self._parted(sets, counts, bits, weigh, rows)
            at_leaf = children >= self._n_inner
            selected = np.flatnonzero(at_leaf)
            if weigh.common_weight is not None:
                weight = counts.take(selected).astype(np.float64) * weigh.common_weight
            else:
                weight = weigh.total(every.take(source.take(selected), axis=0))
            # No child occurs twice, so that every weight is added.
            leaf_weights[children.take(selected) - self._n_inner] += weight
            selected = np.flatnonzero(~at_leaf)
            if len(selected):
                inside = every.take(source.take(selected), axis=0)
                waiting.append((children.take(selected), counts.take(selected), inside))

    def _parted(
        self,
        sets: NDArray[np.integer],
        counts: NDArray[np.float32],
        bits: RowBits,
        weigh: RowWeights,
        rows: NDArray[np.uint64],
    ) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]:
        """The sets of rows at the children, without empty ones.

        Returns sets of the children, their numbers of rows, and positions of these
        rows among all `rows`.
        """
        table = self._next_sets.take(sets, axis=0)
        lefts, rights, reached = rows[:, : len(sets)]
        bits.lefts_at(table[:, _POSITION], table[:, _NODE], out=lefts)
        lefts &= reached
        np.bitwise_xor(reached, lefts, out=rights)
        n_left = weigh.counts(lefts)
        n_right = counts - n_left
        further = table[:, _FIRST:].T >= 0
        used = [np.flatnonzero(entered) for entered in (n_left, n_right, *further)]
        children = np.concatenate(
            [
                table[:, _LEFT + child].take(positions)
                for child, positions in enumerate(used)
            ]
        )
        n_rows = zip((n_left, n_right, counts, counts), used, strict=True)
        counts = np.concatenate(
            [numbers.take(positions) for numbers, positions in n_rows]
        )
        for positions, slab in zip(used[1:], (1, 2, 2), strict=True):
            positions += slab * rows.shape[1]
        return children, counts, np.concatenate(used)


def _taken(
    waiting: list[_Waiting], rows: NDArray[np.uint64]
) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
    """The sets that have waited least, as many as `rows` has room for."""
    blocks, n = [], 0
    while waiting and n < len(rows):
        sets, counts, inside = waiting.pop()
        n_waiting = max(0, len(sets) - (len(rows) - n))
        if n_waiting:
            waiting.append((sets[:n_waiting], counts[:n_waiting], inside[:n_waiting]))
        blocks.append((sets[n_waiting:], counts[n_waiting:]))
        rows[n : n + len(sets) - n_waiting] = inside[n_waiting:]
        n += len(sets) - n_waiting
    all_sets, all_counts = zip(*blocks, strict=True)
    return np.concatenate(all_sets), np.concatenate(all_counts)


# Columns of `_next_sets`.
_POSITION, _NODE, _LEFT, _RIGHT, _FIRST, _SECOND = range(6)


def _next_sets(
    ensemble: TreeEnsemble,
    paths: TreePaths,
    nodes: NDArray[np.intp],
    starts: NDArray[np.int32],
    n_moved: int,
) -> NDArray[np.int32]:
    """For each set of rows at an inner node its sets at the children.

    Of the rows at a node those that go left at its split go to one set of the left
    child, the others to one of the right child. Where the condition that need not be
    met is that of the split, all rows go left, and likewise right, as a further set.
    Where the split is the first of its player, the rows that meet all conditions also
    start two such sets.

    Parameters
    ----------
    nodes : ndarray of shape (m,), intp
        All inner nodes, in the order of their sets.
    starts : ndarray of shape (n_nodes,), int32
        The first set of each node.

    Returns
    -------
    ndarray of shape (n, 6), int32
        For each set the position of the split among all codes (the last one for all
        rows), the node (a leaf where the split does not matter), the sets of the left
        and the right child, and further sets that all rows go to, -1 where there are
        none.
    """
    left, right = ensemble.left[nodes], ensemble.right[nodes]
    moves = paths.player[left] < n_moved
    slot = np.where(moves, paths.slot[left] + 1, -1).astype(np.int32)
    widths = paths.n_conditions[nodes] + 1
    node_position = np.repeat(np.arange(len(nodes), dtype=np.int32), widths)
    offset = np.arange(len(node_position), dtype=np.int32) - starts[nodes].take(
        node_position
    )
    table = np.empty((len(node_position), 6), dtype=np.int32)
    table[:, _POSITION] = ensemble.split_positions.take(nodes).take(node_position)
    table[:, _NODE] = nodes.take(node_position)
    table[:, _LEFT] = starts[left].take(node_position) + offset
    table[:, _RIGHT] = starts[right].take(node_position) + offset
    table[:, _FIRST:] = -1
    opened = np.flatnonzero(offset == slot.take(node_position))
    table[opened, _POSITION] = ensemble.split_codes.n_codes.sum()
    table[opened, _NODE] = np.flatnonzero(ensemble.is_leaf)[:1]
    table[opened, _FIRST] = table[opened, _RIGHT]
    starting = moves & (paths.previous[left] < 0)
    sets = starts[nodes[starting]]
    table[sets, _FIRST] = starts[left[starting]] + slot[starting]
    table[sets, _SECOND] = starts[right[starting]] + slot[starting]
    return table


def order_of_likeness(
    ensemble: TreeEnsemble, codes: NDArray[np.integer]
) -> NDArray[np.intp]:
    """Order of rows in which neighbours mostly reach the same leaves: (n_rows,), intp.

    Each feature is cut into cells of equally many rows, twice as many for each of its
    bits, and features get bits as the trees split on them: first those that most rows
    come to. Rows are ordered by the bits, the first ones first.
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
    """The feature that each bit is about."""
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

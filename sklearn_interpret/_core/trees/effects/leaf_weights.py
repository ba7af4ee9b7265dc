"""Weight of the rows that meet all conditions of leaves, or all but one.

Both methods hold sets of rows as bits. `SplitWeights` puts together what each
split above leaves needs, which suits small trees: the same steps for all rows.
`DescentWeights` sends sets of rows down the trees: at each node those that meet all of
its conditions, and for each condition of a part that moves those that meet all others,
whether or not they meet this one. A set that has run empty is not followed any further.
Rows in `order_of_likeness` reach the same leaves as their neighbours, so that sets are
full or empty: the more rows there are, the fewer sets each takes part in.
"""

import numpy as np

from sklearn_interpret._core.trees.structure.bits import WORD, RowBits, RowWeights

# Sets that go down together should stay in the processor's cache.
_WORDS_AT_ONCE = 2**16

# Of the numbers by which rows are sorted: sorting takes one pass for each byte.
_N_BITS = 16


class SplitWeights:
    """Weights at leaves of small trees, from the splits above them.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    blocks : list of BlockOfTrees
        The splits above their leaves.
    block_rows : int
        How many rows to give at once.

    Attributes
    ----------
    size : int
        Number of weights that are found.
    """

    def __init__(self, ensemble, blocks, block_rows):
        self._ensemble, self._blocks = ensemble, blocks
        self.block_rows = block_rows
        self._shapes = [
            (2, len(splits.conditions) + 2, len(splits.nodes))
            for block in blocks
            for splits in block.groups
        ]
        sizes = [int(np.prod(shape)) for shape in self._shapes]
        self._ends, self.size = np.cumsum(sizes, dtype=np.intp), sum(sizes)

    def add_rows(self, codes, weights, found):
        """Add the weights of rows (n_rows, n_features) to those found (size,)."""
        bits, weigh = RowBits(self._ensemble, codes), RowWeights(weights)
        parts = iter(self.by_split(found))
        for block in self._blocks:
            met = block.conditions.met(bits)
            for splits in block.groups:
                sums = next(parts)
                whole, left = np.empty((2, *sums[0, :-1].shape))
                for chunk, sets, lefts in splits.rows_at_splits(met, bits):
                    whole[:, chunk] = weigh.of(sets)
                    sets &= lefts
                    left[:, chunk] = weigh.of(sets)
                sums += _by_child(splits, whole, left)

    def by_split(self, weights):
        """Weights (size,), for each group of splits above leaves: (2, d + 2, m).

        For each child the weight of the rows that meet all of its conditions but
        possibly the one in a slot; in the last place that of those that meet them all.
        """
        parts = np.split(weights, self._ends[:-1])
        return [
            part.reshape(shape)
            for part, shape in zip(parts, self._shapes, strict=False)
        ]

    def by_condition(self, weights):
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
            Of the rows that meet all conditions of a leaf.
        names : ndarray of shape (n,), intp
            The conditions of all leaves.
        leaf : ndarray of shape (n,), intp
            Position of each one's leaf in `leaves`.
        all_but_one : ndarray of shape (n,)
            Of the rows that meet all others. Zero for conditions that are not looked
            at.
        """
        found, parts, n_leaves = [], iter(self.by_split(weights)), 0
        for block in self._blocks:
            nodes = np.append(block.nodes, -1)
            for splits in block.groups:
                child, split = np.nonzero(splits.is_leaf)
                names = nodes[splits.names[child, :, split]]
                of_leaves = next(parts)[child, :, split]
                leaf, slot = np.nonzero(names >= 0)
                found.append(
                    (
                        splits.children[child, split],
                        of_leaves[:, -1],
                        names[leaf, slot],
                        leaf + n_leaves,
                        of_leaves[leaf, slot],
                    )
                )
                n_leaves += len(child)
        found.append([np.empty(0, dtype=np.intp)] * 5)
        return tuple(map(np.concatenate, zip(*found, strict=True)))


def _by_child(splits, whole, left):
    """Weights by child and slot from those of the splits, and of them that go left."""
    slots, m = whole.shape
    found = np.empty((2, slots + 1, m))
    found[0, :-1], found[0, -1] = left, left[-1]
    found[1, :-1], found[1, -1] = whole - left, whole[-1] - left[-1]
    # Where the split's own slot is left open, both children get all of its rows.
    own = splits.slot, np.arange(m)
    found[:, *own] = whole[own]
    return found


class DescentWeights:
    """Weights at leaves of large trees, from sets of rows that go down.

    Sets are numbered node after node, those of leaves behind those of inner nodes: for
    each node that of the rows that meet all conditions, and one for each condition.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    n_parts : int
        The conditions of the first `n_parts` players are those that may be broken.

    Attributes
    ----------
    size : int
        Number of weights that are found.
    block_rows : int
        How many rows to give at once.
    """

    block_rows = 2**11

    def __init__(self, ensemble, paths, n_parts):
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
        self._starts = starts[self._leaves] - self._n_inner
        self._next_sets = _next_sets(ensemble, paths, nodes, starts, n_parts)
        roots = ensemble.roots
        self._roots = starts[roots[~ensemble.is_leaf[roots]]]

    def by_condition(self, weights):
        """As :meth:`SplitWeights.by_condition`."""
        leaf, names = self._paths.conditions_of(self._leaves)
        d = self._paths.n_conditions[self._leaves]
        slot = np.arange(len(leaf)) - np.repeat(np.cumsum(d) - d, d)
        all_but_one = weights[self._starts[leaf] + 1 + slot]
        return self._leaves, weights[self._starts], names, leaf, all_but_one

    def add_rows(self, codes, weights, found):
        """As :meth:`SplitWeights.add_rows`."""
        bits, weigh = RowBits(self._ensemble, codes), RowWeights(weights)
        size = max(1, _WORDS_AT_ONCE // bits.n_words)
        # Rows that go left, rows that go right, and all of them.
        rows = np.empty((3, size, bits.n_words), dtype=WORD)
        every = rows.reshape(-1, bits.n_words)
        counts = np.full(len(self._roots), len(codes), dtype=np.float32)
        waiting = [
            (self._roots, counts, np.tile(bits.valid, (len(self._roots), 1))),
        ]
        while waiting:
            sets, counts = _taken(waiting, rows[2])
            children, counts, source = self._parted(sets, counts, bits, weigh, rows)
            at_leaf = children >= self._n_inner
            at = np.flatnonzero(at_leaf)
            if weigh.each is not None:
                weight = counts.take(at).astype(np.float64) * weigh.each
            else:
                weight = weigh.of(every.take(source.take(at), axis=0))
            # No child is met twice, so that nothing is lost.
            found[children.take(at) - self._n_inner] += weight
            at = np.flatnonzero(~at_leaf)
            if len(at):
                inside = every.take(source.take(at), axis=0)
                waiting.append((children.take(at), counts.take(at), inside))

    def _parted(self, sets, counts, bits, weigh, rows):
        """The sets of rows at the children, without empty ones.

        Returns sets of the children, their numbers of rows, and which of the `rows`
        they are, all of these numbered.
        """
        table = self._next_sets.take(sets, axis=0)
        lefts, rights, whole = rows[:, : len(sets)]
        bits.lefts_at(table[:, _PLACE], table[:, _NODE], out=lefts)
        lefts &= whole
        np.bitwise_xor(whole, lefts, out=rights)
        n_left = weigh.counts(lefts)
        n_right = counts - n_left
        also = table[:, _FIRST:].T >= 0
        which = [np.flatnonzero(part) for part in (n_left, n_right, *also)]
        children = np.concatenate(
            [table[:, _LEFT + way].take(at) for way, at in enumerate(which)]
        )
        n_rows = zip((n_left, n_right, counts, counts), which, strict=True)
        counts = np.concatenate([part.take(at) for part, at in n_rows])
        for at, slab in zip(which[1:], (1, 2, 2), strict=True):
            at += slab * rows.shape[1]
        return children, counts, np.concatenate(which)


def _taken(waiting, rows):
    """The sets that have waited least, as many as there is room for."""
    taken, n = [], 0
    while waiting and n < len(rows):
        sets, counts, inside = waiting.pop()
        rest = max(0, len(sets) - (len(rows) - n))
        if rest:
            waiting.append((sets[:rest], counts[:rest], inside[:rest]))
        taken.append((sets[rest:], counts[rest:]))
        rows[n : n + len(sets) - rest] = inside[rest:]
        n += len(sets) - rest
    return (np.concatenate(parts) for parts in zip(*taken, strict=True))


# Columns of `_next_sets`.
_PLACE, _NODE, _LEFT, _RIGHT, _FIRST, _SECOND = range(6)


def _next_sets(ensemble, paths, nodes, starts, n_parts):
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
        For each set the place of the split among all codes (the last one for all
        rows), the node (a leaf where the split does not matter), the sets of the left
        and the right child, and further sets that all rows go to, -1 where there are
        none.
    """
    left, right = ensemble.left[nodes], ensemble.right[nodes]
    moves = paths.player[left] < n_parts
    slot = np.where(moves, paths.slot[left] + 1, -1).astype(np.int32)
    widths = paths.n_conditions[nodes] + 1
    at = np.repeat(np.arange(len(nodes), dtype=np.int32), widths)
    offset = np.arange(len(at), dtype=np.int32) - starts[nodes].take(at)
    table = np.empty((len(at), 6), dtype=np.int32)
    table[:, _PLACE] = ensemble.split_places.take(nodes).take(at)
    table[:, _NODE] = nodes.take(at)
    table[:, _LEFT] = starts[left].take(at) + offset
    table[:, _RIGHT] = starts[right].take(at) + offset
    table[:, _FIRST:] = -1
    opened = np.flatnonzero(offset == slot.take(at))
    table[opened, _PLACE] = ensemble.split_codes.n_codes.sum()
    table[opened, _NODE] = np.flatnonzero(ensemble.is_leaf)[0]
    table[opened, _FIRST] = table[opened, _RIGHT]
    starting = moves & (paths.previous[left] < 0)
    sets = starts[nodes[starting]]
    table[sets, _FIRST] = starts[left[starting]] + slot[starting]
    table[sets, _SECOND] = starts[right[starting]] + slot[starting]
    return table


def order_of_likeness(ensemble, codes):
    """Order of rows in which neighbours mostly reach the same leaves: (n_rows,), intp.

    Each feature is cut into parts of equally many rows, twice as many for each of its
    bits, and features get bits as the trees split on them: first those that most rows
    come to. Rows are ordered by the bits, the first ones first.
    """
    cells = np.zeros(len(codes), dtype=np.uint16)
    bits = _features_of_bits(ensemble)
    for j in np.unique(bits):
        which = np.flatnonzero(bits == j)
        counts = np.bincount(codes[:, j], minlength=ensemble.split_codes.n_codes[j])
        middle = (np.cumsum(counts) - counts / 2) / len(codes)
        parts = (middle * 2 ** len(which)).astype(np.uint16)
        spread = np.zeros(len(parts), dtype=np.uint16)
        for place, bit in enumerate(which.tolist()):
            digit = (parts >> (len(which) - 1 - place)) & 1
            spread |= digit << (_N_BITS - 1 - bit)
        cells |= spread.take(codes[:, j])
    return np.argsort(cells, kind="stable")


def _features_of_bits(ensemble):
    """The feature that each bit is taken from."""
    inner = np.flatnonzero(~ensemble.is_leaf)
    # Each bit halves the rows that the feature's splits still separate.
    parting = np.bincount(
        ensemble.feature[inner], ensemble.cover[inner], ensemble.n_features
    )
    features = []
    for _ in range(_N_BITS):
        features.append(int(parting.argmax()))
        parting[features[-1]] /= 2
    return np.array(features)

r"""How many rows reach the leaves of trees, if only in spite of one condition.

There are two ways to find out, both with sets of rows as bits. `SplitArrivals` puts
together what each split above leaves needs, which suits small trees: the same steps for
all rows. `LeafArrivals` lets sets of rows go down the trees: at each node those that
meet all of its conditions, and for each condition of a part that moves those that meet
all others, whether or not they meet this one. A set that has run empty is not followed
any further. Rows that are alike and stand side by side share their ways down, so that
sets are full or empty: the more rows there are, the fewer sets each takes part in.
"""

import numpy as np

from sklearn_interpret._core.trees.structure.bits import WORD, RowBits, RowWeights

# Sets that go down together should stay in the processor's cache.
_WORDS_AT_ONCE = 2**16


# What `_ways_down` tells of a set of rows at an inner node.
_PLACE, _NODE, _LEFT, _RIGHT, _FIRST, _SECOND = range(6)


def _ways_down(ensemble, paths, nodes, starts, n_parts):
    """Where the sets of rows at inner nodes go from there.

    Of the rows at a node those that go left at its split go to one set of the left
    child, the others to one of the right child. Where the condition that need not be
    met is that of the split, all rows go left, and likewise right, as a further set.
    Where the split is the first of its player, the rows that meet all conditions also
    start two such sets.

    Sets are numbered node after node, those of leaves behind those of inner nodes: for
    each node that of the rows that meet all conditions, and one for each condition.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    nodes : ndarray of shape (m,), intp
        All inner nodes, in the order of their sets.
    starts : ndarray of shape (n_nodes,), int32
        The first set of each node.
    n_parts : int
        Of the first players a condition may be broken.

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
    ways = np.empty((len(at), 6), dtype=np.int32)
    ways[:, _PLACE] = ensemble.split_places.take(nodes).take(at)
    ways[:, _NODE] = nodes.take(at)
    ways[:, _LEFT] = starts[left].take(at) + offset
    ways[:, _RIGHT] = starts[right].take(at) + offset
    ways[:, _FIRST:] = -1
    opened = np.flatnonzero(offset == slot.take(at))
    ways[opened, _PLACE] = ensemble.split_codes.n_codes.sum()
    ways[opened, _NODE] = np.flatnonzero(ensemble.is_leaf)[0]
    ways[opened, _FIRST] = ways[opened, _RIGHT]
    starting = moves & (paths.previous[left] < 0)
    sets = starts[nodes[starting]]
    ways[sets, _FIRST] = starts[left[starting]] + slot[starting]
    ways[sets, _SECOND] = starts[right[starting]] + slot[starting]
    return ways


class SplitArrivals:
    """As :class:`LeafArrivals`, for small trees.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    blocks : list of BlockOfTrees
        The splits above their leaves.
    rows_at_once : int
        How many rows to give at once.
    """

    def __init__(self, ensemble, blocks, rows_at_once):
        self._ensemble, self._blocks = ensemble, blocks
        self.rows_at_once = rows_at_once
        shapes = [
            (2, len(splits.conditions) + 2, len(splits.nodes))
            for block in blocks
            for splits in block.groups
        ]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        self._parts = [
            (slice(start, end), shape)
            for start, end, shape in zip(ends[:-1], ends[1:], shapes, strict=True)
        ]
        self.size = int(ends[-1])

    def add_rows(self, codes, weights, found):
        """As :meth:`LeafArrivals.add_rows`."""
        bits, weigh = RowBits(self._ensemble, codes), RowWeights(weights)
        parts = iter(self._parts)
        for block in self._blocks:
            met = block.conditions.met(bits)
            for splits in block.groups:
                part, shape = next(parts)
                whole, left = np.empty((2, shape[1] - 1, shape[2]))
                for chunk, sets, lefts in splits.beside_and_inside(
                    met, bits, bits.n_words
                ):
                    whole[:, chunk] = weigh.of(sets)
                    sets &= lefts
                    left[:, chunk] = weigh.of(sets)
                sums = found[part].reshape(shape)
                sums += _by_child(splits, whole, left)

    def by_split(self, weights):
        """Weights of rows, by split.

        Parameters
        ----------
        weights : ndarray of shape (size,)
            As :meth:`add_rows` finds them.

        Returns
        -------
        list of ndarray of shape (2, d + 2, m)
            For each group of splits above leaves and each of its children, the weight
            of the rows that meet all of the child's conditions but possibly the one
            in a slot; in the last place that of the rows that meet them all.
        """
        return [weights[part].reshape(shape) for part, shape in self._parts]

    def by_condition(self, weights):
        """As :meth:`LeafArrivals.by_condition`."""
        found, parts, n_leaves = [], iter(self.by_split(weights)), 0
        for block in self._blocks:
            nodes = np.append(block.nodes, -1)
            for splits in block.groups:
                child, split = np.nonzero(splits.is_leaf)
                names = nodes[splits.names[child, :, split]]
                arrived = next(parts)[child, :, split]
                leaf, slot = np.nonzero(names >= 0)
                found.append(
                    (
                        splits.children[child, split],
                        arrived[:, -1],
                        names[leaf, slot],
                        leaf + n_leaves,
                        arrived[leaf, slot],
                    )
                )
                n_leaves += len(child)
        none = np.empty(0, dtype=np.intp)
        found.append((none, none, none, none, none))
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


class LeafArrivals:
    """Weight of the rows that reach each leaf, if only in spite of one condition.

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
        Number of weights that are found: for each leaf that of the rows that meet all
        conditions, then one for each condition.
    rows_at_once : int
        How many rows to give at once.
    """

    rows_at_once = 2**11

    def __init__(self, ensemble, paths, n_parts):
        self._ensemble = ensemble
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
        self._names = (
            paths.conditions,
            paths.starts[self._leaves],
            paths.strides[self._leaves],
        )
        self._ways = _ways_down(ensemble, paths, nodes, starts, n_parts)
        roots = ensemble.roots
        self._roots = starts[roots[~ensemble.is_leaf[roots]]]

    def by_condition(self, weights):
        """Weights of rows at leaves, sorted by what they stand for.

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
        beside : ndarray of shape (n,)
            Of the rows that meet all others. Zero for conditions that are not looked
            at.
        """
        d = np.diff(self._starts, append=self.size) - 1
        leaf = np.repeat(np.arange(len(d)), d)
        steps = np.arange(len(leaf)) - np.repeat(np.cumsum(d) - d, d)
        conditions, first, stride = self._names
        names = conditions[first[leaf] + steps * stride[leaf]]
        beside = weights[self._starts[leaf] + 1 + steps]
        return self._leaves, weights[self._starts], names, leaf, beside

    def add_rows(self, codes, weights, found):
        """Add the weights of rows that reach the leaves.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes.
        weights : ndarray of shape (n_rows,)
            Their weights.
        found : ndarray of shape (size,)
            What to add them to.
        """
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
            arrived = children >= self._n_inner
            at = np.flatnonzero(arrived)
            if weigh.each is not None:
                weight = counts.take(at).astype(np.float64) * weigh.each
            else:
                weight = weigh.of(every.take(source.take(at), axis=0))
            # No child is met twice, so that nothing is lost.
            found[children.take(at) - self._n_inner] += weight
            at = np.flatnonzero(~arrived)
            if len(at):
                inside = every.take(source.take(at), axis=0)
                waiting.append((children.take(at), counts.take(at), inside))

    def _parted(self, sets, counts, bits, weigh, rows):
        """Where sets of rows go that are not empty.

        Returns
        -------
        children : ndarray of shape (n,), int32
            Sets of the children.
        counts : ndarray of shape (n,), float32
            Their numbers of rows.
        source : ndarray of shape (n,), intp
            Which of the `rows` they are, all of these numbered.
        """
        ways = self._ways.take(sets, axis=0)
        lefts, rights, whole = rows[:, : len(sets)]
        bits.lefts_at(ways[:, _PLACE], ways[:, _NODE], out=lefts)
        lefts &= whole
        np.bitwise_xor(whole, lefts, out=rights)
        n_left = weigh.counts(lefts)
        n_right = counts - n_left
        also = ways[:, _FIRST:].T >= 0
        which = [np.flatnonzero(part) for part in (n_left, n_right, *also)]
        children = np.concatenate(
            [ways[:, _LEFT + way].take(at) for way, at in enumerate(which)]
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

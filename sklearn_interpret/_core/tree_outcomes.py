"""Outputs of rows as parts move over points that the rows themselves have.

The leaves that a row would reach if it were not for one condition are noted down once
for all parts. Curves over many points are then made part by part, so that no more of
them are kept than those of some rows and one part.
"""

from itertools import chain

import numpy as np

from sklearn_interpret._core.tree_bits import RowBits, set_bits

# Bytes that an entry takes while it is kept, and while its part is added up.
_KEPT, _ADDED = 8, 40

# Steps of conditions that are worked on at once.
_STEPS_AT_ONCE = 2**20


class TreeOutcomes:
    """Outputs of rows as their parts move, whole or in the mean.

    Parameters
    ----------
    effects : TreeEffects
        The trees, and the parts that move; each along one axis.
    """

    def __init__(self, effects):
        self.effects = effects
        self._n_parts = len(effects.parts)
        self._k = effects.values.shape[1]

    def rows_at_once(self, arrived, total, most_bytes):
        """For how many rows to ask for curves at once.

        Parameters
        ----------
        arrived : list of ndarray
            Sums over the rows of what ``effects.arrivals`` returns.
        total : float
            Total weight of the rows.
        most_bytes : float
            Memory to take.

        Returns
        -------
        int
            A multiple of 64.
        """
        kept = np.zeros(self._n_parts + 1)
        sums = iter(arrived)
        for block in self.effects.blocks:
            player = np.append(self.effects.paths.player[block.nodes], self._n_parts)
            for splits in block.groups:
                beside = next(sums)[:, :-1] * splits.is_leaf[:, None]
                owner = player[splits.names].ravel()
                kept += np.bincount(owner, beside.ravel(), len(kept))
        kept = kept[:-1] / total
        widest = max((part.n_points for part in self.effects.parts), default=0)
        bytes_of_row = _KEPT * kept.sum() + _ADDED * kept.max(initial=0)
        bytes_of_row += 3 * 8 * self._k * widest
        n_words = int(most_bytes / max(bytes_of_row, 1)) // 64
        return min(self.effects.rows_at_once, 64 * max(1, n_words))

    def expectations(self, codes, shares):
        """Mean outputs of rows with each part drawn from its points.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most ``effects.rows_at_once`` of them.
        shares : list of ndarray of shape (n_points,)
            For each part how likely its points are; they sum to one.

        Returns
        -------
        ndarray of shape (n_rows, n_parts, k)
        """
        met = self._shares_of_conditions(shares)
        fixed, means = np.zeros((2, self._k, len(codes) * self._n_parts))
        for leaves in self._reached(codes, fixed):
            which, row = set_bits(leaves.beside)
            index = row * self._n_parts + self.effects.paths.player[leaves.names][which]
            values = self.effects.values[leaves.nodes[leaves.leaf]]
            amounts = values * met[leaves.names][:, None]
            for sums, amount in zip(means, amounts.T, strict=True):
                np.add.at(sums, index, amount[which])
        return (fixed + means).T.reshape(len(codes), self._n_parts, self._k)

    def _shares_of_conditions(self, shares):
        """How likely each condition is met: (n_nodes,)."""
        steps, n_nodes = self.effects.steps, self.effects.ensemble.n_nodes
        # At a point where a condition begins to hold, all later ones are gained.
        later = [np.cumsum(share[::-1])[::-1] for share in shares]
        later = np.concatenate([*later, np.empty(0)])
        node, point, sign = steps.of_conditions(np.arange(n_nodes))
        return np.bincount(node, sign * later[point], n_nodes)

    def _reached(self, codes, fixed):
        """Leaves with their rows; into `fixed` goes what does not depend on a part."""
        effects, n_parts = self.effects, self._n_parts
        bits = RowBits(effects.ensemble, codes)
        outputs = np.zeros((self._k, len(codes)))
        for leaves in chain.from_iterable(effects.leaves(bits, effects.rows_at_once)):
            which, row = set_bits(leaves.inside)
            own, player = _players_of(effects.paths, leaves.nodes[which], n_parts)
            for output, values in enumerate(effects.values[leaves.nodes[which]].T):
                outputs[output] += np.bincount(row, values, len(codes))
                np.subtract.at(fixed[output], row[own] * n_parts + player, values[own])
            yield leaves
        outputs += effects.constant[:, None]
        fixed += np.repeat(outputs, n_parts, axis=1)

    def curves(self, codes):
        """Outputs of each row with each part at each of its points, part by part.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most ``effects.rows_at_once`` of them.

        Yields
        ------
        ndarray of shape (n_rows, n_points, k)
        """
        n_rows, n_parts = len(codes), self._n_parts
        fixed = np.zeros((self._k, n_rows * n_parts))
        entries = _Entries(n_parts)
        for leaves in self._reached(codes, fixed):
            player = self.effects.paths.player[leaves.names]
            entries.add(leaves, player)
        fixed = fixed.reshape(self._k, n_rows, n_parts)
        leaf, name = entries.conditions()
        for part in range(n_parts):
            yield self._curves_of(part, fixed[:, :, part], leaf, name, entries)

    def _curves_of(self, part, fixed, leaf, name, entries):
        effects = self.effects
        n_points, first = effects.parts[part].n_points, effects.first[part]
        found = np.empty((self._k, len(fixed[0]), n_points))
        which, row = entries.of(part)
        begin, end = effects.steps.starts[name], effects.steps.starts[name + 1]
        for output, curves in enumerate(found):
            values, sums = effects.values[leaf, output], None
            for at, steps in _portions(which, begin, end):
                index = row[at] * np.intp(n_points) + (
                    effects.steps.point[steps] - first
                )
                amounts = effects.steps.sign[steps] * values[which[at]]
                if sums is None:
                    sums = np.bincount(index, amounts, curves.size)
                else:
                    np.add.at(sums, index, amounts)
            curves[:] = 0 if sums is None else sums.reshape(curves.shape)
            if n_points:
                curves[:, 0] += fixed[output]
            np.cumsum(curves, axis=1, out=curves)
        return np.moveaxis(found, 0, 2)


class _Entries:
    """Rows that reach leaves if it were not for one condition, part by part."""

    def __init__(self, n_parts):
        self._leaf, self._name, self._n_sets = [], [], 0
        self._found = [[] for _ in range(n_parts)]

    def add(self, leaves, player):
        """Note down the rows of leaves; `player` is whose condition is left out."""
        order = np.argsort(player, kind="stable")
        which, row = set_bits(leaves.beside.take(order, axis=0))
        ends = np.searchsorted(player[order], np.arange(len(self._found) + 1))
        ends = np.searchsorted(which, ends)
        which = (which + self._n_sets).astype(np.int32)
        row = row.astype(np.int32)
        for part, found in enumerate(self._found):
            if ends[part] < ends[part + 1]:
                at = slice(ends[part], ends[part + 1])
                found.append((which[at], row[at]))
        self._leaf.append(leaves.nodes[leaves.leaf[order]])
        self._name.append(leaves.names[order])
        self._n_sets += len(order)

    def conditions(self):
        """Leaf and condition that is left out, by number."""
        none = np.empty(0, dtype=np.intp)
        return np.concatenate([none, *self._leaf]), np.concatenate([none, *self._name])

    def of(self, part):
        """Numbers and rows of the entries of a part, which are then forgotten."""
        none = np.empty((2, 0), dtype=np.int32)
        found = [none, *self._found[part]]
        self._found[part] = []
        which, row = zip(*found, strict=True)
        return np.concatenate(which), np.concatenate(row)


def _players_of(paths, nodes, n_parts):
    """Players of the conditions of nodes, and the position of each one's node."""
    counts = paths.n_conditions[nodes]
    which = np.repeat(np.arange(len(nodes)), counts)
    place = np.arange(len(which)) + np.repeat(
        paths.starts[nodes] - np.cumsum(counts) + counts, counts
    )
    player = paths.player[paths.conditions[place]]
    moves = player < n_parts
    return which[moves], player[moves]


def _portions(which, begin, end):
    """Entries and the steps of their conditions, some at a time.

    Nearly all conditions are intervals, and have a first step and perhaps a second.
    """
    counts = end - begin
    for step in range(2):
        has = (counts > step)[which]
        at = slice(None) if has.all() else np.flatnonzero(has)
        if len(which[at]):
            yield at, begin[which[at]] + step
    rest = np.flatnonzero((counts > 2)[which])
    total = np.cumsum(counts[which[rest]] - 2)
    while len(rest):
        some = max(1, int(np.searchsorted(total, total[0] + _STEPS_AT_ONCE)))
        at = rest[:some]
        many = counts[which[at]] - 2
        steps = np.arange(many.sum()) + np.repeat(
            begin[which[at]] + 2 - np.cumsum(many) + many, many
        )
        yield np.repeat(at, many), steps
        rest, total = rest[some:], total[some:]

"""Outputs of rows as parts move over points that the rows themselves have.

The leaves that a row would reach if it were not for one condition are noted down once
for all parts. Curves over many points are then made part by part, so that no more of
them are kept than those of some rows and one part.
"""

from itertools import chain

import numpy as np

from sklearn_interpret._core.tree_bits import RowBits, set_bits

# Bytes that an entry takes while it is kept, and while its part is added up.
_KEPT, _ADDED = 12, 48

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
        for leaves in chain.from_iterable(effects.leaves(bits, 64 * bits.n_words)):
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
            entries.add(leaves, self.effects.paths.player[leaves.names])
        fixed = fixed.reshape(self._k, n_rows, n_parts)
        for part in range(n_parts):
            yield self._curves_of(part, fixed[:, :, part], *entries.of(part))

    def _curves_of(self, part, fixed, row, leaf, name):
        """Curves of a part from rows that reach leaves but for a condition on it."""
        effects, steps = self.effects, self.effects.steps
        n_points, first = effects.parts[part].n_points, effects.first[part]
        sums = np.zeros((self._k, len(fixed[0]) * n_points))
        start = row * np.intp(n_points) - first
        for at, step in _portions(steps.starts, name):
            index = start[at] + steps.point[step]
            sign = steps.sign[step]
            for output, sums_of in enumerate(sums):
                amounts = effects.values[leaf[at], output] * sign
                np.add.at(sums_of, index, amounts)
        curves = sums.reshape(self._k, -1, n_points)
        if n_points:
            curves[:, :, 0] += fixed
        np.cumsum(curves, axis=2, out=curves)
        return np.moveaxis(curves, 0, 2)


class _Entries:
    """Rows that reach leaves if it were not for one condition, part by part."""

    def __init__(self, n_parts):
        self._found = [[] for _ in range(n_parts)]

    def add(self, leaves, player):
        """Note down the rows of leaves; `player` is whose condition is left out."""
        order = np.argsort(player, kind="stable")
        which, row = set_bits(leaves.beside.take(order, axis=0))
        ends = np.searchsorted(player[order], np.arange(len(self._found) + 1))
        ends = np.searchsorted(which, ends)
        row = row.astype(np.int32)
        leaf = leaves.nodes[leaves.leaf[order]].astype(np.int32)[which]
        name = leaves.names[order].astype(np.int32)[which]
        for part in np.flatnonzero(np.diff(ends)):
            at = slice(ends[part], ends[part + 1])
            self._found[part].append((row[at], leaf[at], name[at]))

    def of(self, part):
        """Rows, leaves and conditions of the entries of a part, then forgotten."""
        none = np.empty((3, 0), dtype=np.int32)
        found = [none, *self._found[part]]
        self._found[part] = []
        return map(np.concatenate, zip(*found, strict=True))


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


def _portions(starts, name):
    """Entries and the steps of their conditions, some at a time.

    Nearly all conditions are intervals, and have a first step and perhaps a second.
    """
    begin = starts[name]
    counts = starts[name + 1] - begin
    for step in range(2):
        at = np.flatnonzero(counts > step)
        yield at, begin[at] + step
    rest = np.flatnonzero(counts > 2)
    total = np.cumsum(counts[rest] - 2)
    while len(rest):
        some = max(1, int(np.searchsorted(total, total[0] + _STEPS_AT_ONCE)))
        at, many = rest[:some], counts[rest[:some]] - 2
        steps = np.arange(many.sum()) + np.repeat(
            begin[at] + 2 - np.cumsum(many) + many, many
        )
        yield np.repeat(at, many), steps
        rest, total = rest[some:], total[some:]

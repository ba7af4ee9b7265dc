"""Outputs of single rows as parts of the features move over points.

*Entries* are pairs of a row and a leaf that the row reaches or would reach but for one
condition. They are found for all parts in one pass. Curves are then made part by part,
so that only those of some rows and one part are in memory.
"""

from functools import cached_property

import numpy as np

from sklearn_interpret._core.trees.structure.bits import RowBits, set_bits

# Bytes of an entry while it is kept, and while its part is added up.
_KEPT_BYTES, _ADDED_BYTES = 12, 60

# Outputs that are added up together; they fit the processor's cache.
_MOST_OUTPUTS = 2**18

# Rows from which the number of entries per row is estimated: one word of bits.
_ROWS_TRIED = 64

# Conditions with more than two steps that are expanded together, to bound memory.
_MOST_CONDITIONS = 2**14


class TreeCurves:
    """Outputs of single rows as their parts move, at all points or on average.

    Parameters
    ----------
    effects : TreeEffects
        The trees, and the parts that move.
    """

    def __init__(self, effects):
        self.effects = effects
        self._n_parts = len(effects.parts)
        self._k = effects.values.shape[1]

    def block_rows(self, codes, most_bytes):
        """Number of rows whose entries fit the memory: a multiple of 64."""
        tried = codes[:_ROWS_TRIED]
        if len(codes) <= len(tried):
            return _ROWS_TRIED
        weights = self.effects.leaf_weights(tried, np.ones(len(tried)))
        *_, name, _, all_but_one = self.effects.weigher.by_condition(weights)
        player = self.effects.paths.player[name]
        kept = np.bincount(player, all_but_one, self._n_parts + 1)[:-1] / len(tried)
        bytes_of_row = _KEPT_BYTES * kept.sum() + _ADDED_BYTES * kept.max(initial=0)
        bytes_of_row += 8 * self._k * self._n_parts
        n_words = int(most_bytes / max(bytes_of_row, 1)) // 64
        return min(self.effects.block_rows, 64 * max(1, n_words))

    def expectations(self, codes, shares):
        """Mean outputs of rows with each part drawn from its points.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most ``effects.block_rows`` of them.
        shares : list of ndarray of shape (n_points,)
            For each part, with one axis, the probabilities of its points.

        Returns
        -------
        ndarray of shape (n_rows, n_parts, k)
        """
        effects = self.effects
        met = self._shares_of_conditions(shares)
        fixed, means = np.zeros((2, self._k, len(codes) * self._n_parts))
        for reached in self._reached(codes, fixed):
            which, row = set_bits(reached.all_but_one)
            index = row * self._n_parts + effects.paths.player[reached.names][which]
            values = effects.values[reached.nodes[reached.leaf]]
            amounts = values * met[reached.names][:, None]
            for sums, amount in zip(means, amounts.T, strict=True):
                np.add.at(sums, index, amount[which])
        return (fixed + means).T.reshape(len(codes), self._n_parts, self._k)

    def _shares_of_conditions(self, shares):
        """Probability of meeting each condition: (n_nodes,)."""
        n_nodes = self.effects.ensemble.n_nodes
        # From the point at which a condition begins to hold, all later ones meet it.
        later = [np.cumsum(share[::-1])[::-1] for share in shares]
        later = np.concatenate([*later, np.empty(0)])
        node, point, sign = self.effects.steps.of_conditions(np.arange(n_nodes))
        return np.bincount(node, sign * later[point], n_nodes)

    def curves(self, codes):
        """Outputs of each row with each part at each of its points.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most ``effects.block_rows`` of them.

        Yields
        ------
        part : int
            The part.
        rows : slice
            Some of the rows; part by part all of them.
        outputs : ndarray of shape (rows, n_points, k)
        """
        n_parts = self._n_parts
        fixed = np.zeros((self._k, len(codes) * n_parts))
        entries = [[] for _ in range(n_parts)]
        for ends, *found in self._entries(codes, fixed):
            found = [each.astype(np.int32) for each in found]
            for part in np.flatnonzero(np.diff(ends)):
                at = slice(ends[part], ends[part + 1])
                entries[part].append([each[at] for each in found])
        fixed = fixed.reshape(self._k, len(codes), n_parts)
        for part in range(n_parts):
            n_outputs = self._k * self.effects.parts[part].n_points
            height = max(1, _MOST_OUTPUTS // max(n_outputs, 1))
            pieces, entries[part] = entries[part], None  # not needed any more
            for rows, found in _portions(pieces, len(codes), height):
                yield part, rows, self._curves_of(part, fixed[:, rows, part], *found)

    def _entries(self, codes, fixed):
        """Entries (row, leaf, condition), part by part, and where each part starts."""
        for reached in self._reached(codes, fixed):
            player = self.effects.paths.player[reached.names]
            order, ends = _by_part(player, self._n_parts)
            which, row = set_bits(reached.all_but_one.take(order, axis=0))
            ends = np.searchsorted(which, ends)
            leaf, name = reached.nodes[reached.leaf[order]], reached.names[order]
            yield ends, row, leaf[which], name[which]

    def _reached(self, codes, fixed):
        """Leaves with their rows; `fixed` gets the outputs without each part's leaves.

        `fixed` (k, n_rows * n_parts) is written over.
        """
        paths, values = self.effects.paths, self.effects.values
        outputs = np.zeros((self._k, len(codes)))
        for reached in self.effects.leaves(RowBits(self.effects.ensemble, codes)):
            which, row = set_bits(reached.inside)
            leaf = reached.nodes[which]
            own, name = paths.conditions_of(leaf)
            moves = paths.player[name] < self._n_parts
            own, player = own[moves], paths.player[name[moves]]
            index = row[own] * self._n_parts + player
            for output, amounts in enumerate(values[leaf].T):
                outputs[output] += np.bincount(row, amounts, len(codes))
                np.subtract.at(fixed[output], index, amounts[own])
            yield reached
        outputs += self.effects.constant[:, None]
        fixed += np.repeat(outputs, self._n_parts, axis=1)

    def _curves_of(self, part, fixed, row, leaf, name):
        """Curves (n_rows, n_points, k) of a part from its entries."""
        effects = self.effects
        moved, first = effects.parts[part], effects.first[part]
        sums = np.zeros((self._k, len(fixed[0]) * moved.n_points))
        start = row * np.intp(moved.n_points) - first
        for output, sums_of in enumerate(sums):
            values = effects.values[:, output].take(leaf)
            for at, point, sign in self._steps_of(name):
                index = start.take(at) + point
                np.add.at(sums_of, index, values.take(at) * sign)
        curves = sums.reshape(self._k, len(fixed[0]), moved.n_points)
        if moved.n_points:
            curves[:, :, 0] += fixed
        moved.sum_up(curves, axis=2)
        return np.moveaxis(curves, 0, 2)

    @cached_property
    def _ends(self):
        """Points where intervals begin and end, -1 for none: (2, n_nodes)."""
        steps = self.effects.steps
        counts = np.diff(steps.starts)
        ends = np.full((2, len(counts)), -1)
        for step in range(2):
            at = np.flatnonzero((counts > step) & (counts <= 2))
            ends[step, at] = steps.point[steps.starts[at] + step]
        return ends

    @cached_property
    def _has_many(self):
        """The mask of conditions with more than two steps; empty if there are none."""
        many = np.diff(self.effects.steps.starts) > 2
        return many if many.any() else many[:0]

    def _steps_of(self, name):
        """Steps of conditions, some at a time.

        Yields
        ------
        which : ndarray of shape (n,), intp
            Position in `name`.
        point, sign : ndarray of shape (n,) or int
            The steps.
        """
        # Nearly all conditions are intervals: 1 where they begin, -1 behind their end.
        for ends, sign in zip(self._ends, (1, -1), strict=True):
            point = ends.take(name)
            at = np.flatnonzero(point >= 0)
            yield at, point.take(at), sign
        if len(self._has_many):
            rest = np.flatnonzero(self._has_many.take(name))
            for start in range(0, len(rest), _MOST_CONDITIONS):
                some = rest[start : start + _MOST_CONDITIONS]
                which, point, sign = self.effects.steps.of_conditions(name[some])
                yield some[which], point, sign


def _portions(pieces, n_rows, height):
    """Entries [row, leaf, name] of `height` rows at a time, counted from the first."""
    pieces = zip(np.empty((3, 0), dtype=np.int32), *pieces, strict=True)
    entries = [np.concatenate(each) for each in pieces]
    n_portions = -(-n_rows // height)
    ends = [0, len(entries[0])]
    if n_portions > 1:
        portion = (entries[0] // height).astype(np.min_scalar_type(n_portions))
        order, ends = _by_part(portion, n_portions)
        entries = [each[order] for each in entries]
    for number in range(n_portions):
        at = slice(ends[number], ends[number + 1])
        rows = slice(number * height, min((number + 1) * height, n_rows))
        row, leaf, name = (each[at] for each in entries)
        yield rows, (row - rows.start, leaf, name)


def _by_part(part, n_parts):
    """The order that sorts by part, and where each part starts and ends in it."""
    order = np.argsort(part, kind="stable")
    return order, np.searchsorted(part[order], np.arange(n_parts + 1))

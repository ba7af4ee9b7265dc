"""Outputs of rows as parts move over points that the rows themselves have.

The leaves that a row would reach if it were not for one condition are noted down once
for all parts. Curves over many points are then made part by part, so that no more of
them are kept than those of some rows and one part.
"""

from functools import cached_property
from itertools import chain

import numpy as np

from sklearn_interpret._core.trees.effects.tree_ways import OWN, ways_down
from sklearn_interpret._core.trees.structure.bits import RowBits, set_bits

# Bytes that an entry takes while it is kept, and while its part is added up.
_KEPT, _ADDED = 12, 60

# Outputs that are added up at once should stay in the processor's cache.
_OUTPUTS_AT_ONCE = 2**18

# Rows that tell how many leaves a row reaches.
_ROWS_TRIED = 256

# Of trees with more nodes, rows are followed down instead of looking who meets what.
_MOST_NODES_OF_BITS = 2**9

# Conditions of many steps that are worked on at once.
_CONDITIONS_AT_ONCE = 2**14


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

    def rows_at_once(self, codes, most_bytes):
        """For how many rows to ask for curves at once.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            Codes of all rows.
        most_bytes : float
            Memory to take.

        Returns
        -------
        int
            A multiple of 64.
        """
        tried = np.linspace(0, len(codes) - 1, min(_ROWS_TRIED, len(codes)))
        tried = codes[tried.astype(np.intp)]
        arrived = self.effects.arrivals(tried, np.ones(len(tried)))
        arrived = iter(self.effects.by_arrivals.by_split(arrived))
        kept = np.zeros(self._n_parts + 1)
        for block in self.effects.blocks:
            player = np.append(self.effects.paths.player[block.nodes], self._n_parts)
            for splits in block.groups:
                beside = next(arrived)[:, :-1] * splits.is_leaf[:, None]
                owner = player[splits.names].ravel()
                kept += np.bincount(owner, beside.ravel(), len(kept))
        kept = kept[:-1] / len(tried)
        bytes_of_row = _KEPT * kept.sum() + _ADDED * kept.max(initial=0)
        bytes_of_row += 8 * self._k * self._n_parts
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
            self._add_own(row, leaves.nodes[which], outputs, fixed)
            yield leaves
        outputs += effects.constant[:, None]
        fixed += np.repeat(outputs, n_parts, axis=1)

    def _add_own(self, row, leaf, outputs, fixed):
        """Add leaves that rows reach; return their conditions on parts, as entries."""
        paths, n_parts = self.effects.paths, self._n_parts
        own, name = _conditions_of(paths, leaf, n_parts)
        index = row[own] * n_parts + paths.player[name]
        for output, values in enumerate(self.effects.values[leaf].T):
            outputs[output] += np.bincount(row, values, len(outputs[output]))
            np.subtract.at(fixed[output], index, values[own])
        return row[own], leaf[own], name

    def _opened(self, codes, fixed):
        """Entries: rows that reach leaves if it were not for a condition on a part.

        Yields
        ------
        ends : ndarray of shape (n_parts + 1,), intp
            Where the entries of each part start and end.
        row, leaf, name : ndarray of shape (n,)
            The rows, the leaves, and the conditions.
        """
        ensemble = self.effects.ensemble
        large = ensemble.n_nodes > _MOST_NODES_OF_BITS * ensemble.n_trees
        find = self._followed if large else self._by_bits
        yield from find(codes, fixed)

    def _by_bits(self, codes, fixed):
        """Entries from bit sets of the rows that meet conditions."""
        for leaves in self._reached(codes, fixed):
            player = self.effects.paths.player[leaves.names]
            order, ends = _by_part(player, self._n_parts)
            which, row = set_bits(leaves.beside.take(order, axis=0))
            ends = np.searchsorted(which, ends)
            leaf, name = leaves.nodes[leaves.leaf[order]], leaves.names[order]
            yield ends, row, leaf[which], name[which]

    def _followed(self, codes, fixed):
        """Entries from the ways that rows take, tree by tree."""
        ensemble = self.effects.ensemble
        outputs = np.zeros((self._k, len(codes)))
        for root in ensemble.roots[~ensemble.is_leaf[ensemble.roots]]:
            row, leaf, part, name = ways_down(ensemble, self._split_on, codes, root)
            own = part == OWN
            found = self._add_own(row[own], leaf[own], outputs, fixed)
            player = self.effects.paths.player[found[2]].astype(part.dtype)
            entries = (
                np.concatenate([every[~own], some])
                for every, some in zip(
                    (part, row, leaf, name), (player, *found), strict=True
                )
            )
            part, row, leaf, name = entries
            order, ends = _by_part(part, self._n_parts)
            yield ends, row[order], leaf[order], name[order]
        outputs += self.effects.constant[:, None]
        fixed += np.repeat(outputs, self._n_parts, axis=1)

    @cached_property
    def _split_on(self):
        """The part that each node splits on, less than `OWN` for none."""
        ensemble, n_parts = self.effects.ensemble, self._n_parts
        split_on = np.full(ensemble.n_nodes, OWN - 1, np.min_scalar_type(-2 - n_parts))
        inner = np.flatnonzero(~ensemble.is_leaf)
        player = self.effects.paths.player[ensemble.left[inner]]
        moves = player < n_parts
        split_on[inner[moves]] = player[moves]
        return split_on

    def curves(self, codes):
        """Outputs of each row with each part at each of its points.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most ``effects.rows_at_once`` of them.

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
        entries = _Entries(n_parts)
        for found in self._opened(codes, fixed):
            entries.add(*found)
        fixed = fixed.reshape(self._k, len(codes), n_parts)
        for part in range(n_parts):
            n_amounts = self._k * self.effects.parts[part].n_points
            height = max(1, _OUTPUTS_AT_ONCE // max(n_amounts, 1))
            for rows, found in entries.of(part, len(codes), height):
                yield part, rows, self._curves_of(part, fixed[:, rows, part], *found)

    def _curves_of(self, part, fixed, row, leaf, name):
        """Curves of a part from rows that reach leaves but for a condition on it."""
        effects = self.effects
        n_points, first = effects.parts[part].n_points, effects.first[part]
        sums = np.zeros((self._k, len(fixed[0]) * n_points))
        start = row * np.intp(n_points) - first
        for output, sums_of in enumerate(sums):
            values = effects.values[:, output].take(leaf)
            for at, point, sign in self._steps_of(name):
                index = start.take(at) + point
                np.add.at(sums_of, index, values.take(at) * sign)
        curves = sums.reshape(self._k, -1, n_points)
        if n_points:
            curves[:, :, 0] += fixed
        np.cumsum(curves, axis=2, out=curves)
        return np.moveaxis(curves, 0, 2)

    @cached_property
    def _ends(self):
        """Where conditions that are intervals begin and cease to hold, or -1.

        Returns
        -------
        ndarray of shape (2, n_nodes), intp
        """
        steps = self.effects.steps
        counts = np.diff(steps.starts)
        ends = np.full((2, len(counts)), -1)
        for step in range(2):
            at = np.flatnonzero((counts > step) & (counts <= 2))
            ends[step, at] = steps.point[steps.starts[at] + step]
        return ends

    def _steps_of(self, name):
        """Steps of conditions, some at a time.

        Yields
        ------
        which : ndarray of shape (n,), intp
            Position in `name`.
        point, sign : ndarray of shape (n,) or int
            The steps.
        """
        # Nearly all conditions are intervals; 1 where they begin, -1 behind their end.
        for ends, sign in zip(self._ends, (1, -1), strict=True):
            point = ends.take(name)
            at = np.flatnonzero(point >= 0)
            yield at, point.take(at), sign
        if len(self._has_many):
            rest = np.flatnonzero(self._has_many.take(name))
            for start in range(0, len(rest), _CONDITIONS_AT_ONCE):
                some = rest[start : start + _CONDITIONS_AT_ONCE]
                which, point, sign = self.effects.steps.of_conditions(name[some])
                yield some[which], point, sign

    @cached_property
    def _has_many(self):
        """Which conditions have more than two steps; of none, an empty array."""
        many = np.diff(self.effects.steps.starts) > 2
        return many if many.any() else many[:0]


class _Entries:
    """Rows that reach leaves if it were not for one condition, part by part."""

    def __init__(self, n_parts):
        self._found = [[] for _ in range(n_parts)]

    def add(self, ends, row, leaf, name):
        """Note down entries that stand part by part."""
        found = [each.astype(np.int32) for each in (row, leaf, name)]
        for part in np.flatnonzero(np.diff(ends)):
            at = slice(ends[part], ends[part + 1])
            self._found[part].append([each[at] for each in found])

    def of(self, part, n_rows, height):
        """Entries of a part, then forgotten.

        Yields
        ------
        rows : slice
            So many of the rows at a time.
        found : list of three ndarray
            For each entry the row, counted from the first of these, the leaf, and the
            condition.
        """
        none = np.empty((3, 0), dtype=np.int32)
        found = zip(none, *self._found[part], strict=True)
        self._found[part] = []
        found = [np.concatenate(pieces) for pieces in found]
        n_portions = -(-n_rows // height)
        ends = [0, len(found[0])]
        if n_portions > 1:
            portion = (found[0] // height).astype(np.min_scalar_type(n_portions))
            order = np.argsort(portion, kind="stable")
            ends = np.searchsorted(portion[order], np.arange(n_portions + 1))
            found = [each[order] for each in found]
        for number in range(n_portions):
            start = number * height
            row, leaf, name = (each[ends[number] : ends[number + 1]] for each in found)
            yield slice(start, min(start + height, n_rows)), (row - start, leaf, name)


def _by_part(part, n_parts):
    """The order that sorts by part, and where each part starts and ends in it."""
    order = np.argsort(part, kind="stable")
    return order, np.searchsorted(part[order], np.arange(n_parts + 1))


def _conditions_of(paths, nodes, n_parts):
    """Conditions of nodes on parts, and the position of each one's node."""
    counts = paths.n_conditions[nodes]
    which = np.repeat(np.arange(len(nodes)), counts)
    slot = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = np.repeat(paths.starts[nodes], counts)
    place += slot * np.repeat(paths.strides[nodes], counts)
    name = paths.conditions[place]
    moves = paths.player[name] < n_parts
    return which[moves], name[moves]

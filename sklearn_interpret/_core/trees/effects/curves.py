"""Outputs of single rows as parts of the features move over points.

*Entries* are a row, a leaf that the row reaches or would reach but for one condition,
and a step of this condition. They are found for all parts in one pass. Curves are then
made part by part, so that only those of some rows and one part are in memory.
"""

import numpy as np

from sklearn_interpret._core.trees.structure.bits import RowBits, set_bits
from sklearn_interpret._core.trees.structure.ensemble import cover_shares

# Bytes of an entry while it is kept, and while its part is added up.
_KEPT_BYTES, _ADDED_BYTES = 12, 60

# Outputs that are added up together; they fit the processor's cache.
_MOST_OUTPUTS = 2**18

# Largest number of leaves from which the number of entries is estimated.
_LEAVES_TRIED = 2**12

# Shares of training rows below this count as this: their logarithm is finite.
_LEAST_SHARE = 1e-12

# Words of bit sets that are listed together; they fit the cache.
_MOST_WORDS = 2**16


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

    def block_rows(self, most_bytes):
        """Number of rows whose entries fit the memory: a multiple of 64.

        The number of entries is estimated from the training rows at some leaves.
        """
        paths, trees = self.effects.paths, self.effects.ensemble
        met = np.clip(cover_shares(trees), _LEAST_SHARE, 1.0)
        for nodes, previous in paths.merged:
            met[nodes] *= met[previous]
        leaves = np.flatnonzero(trees.is_leaf)
        step = 1 + len(leaves) // _LEAVES_TRIED
        leaf, name = paths.conditions_of(leaves[::step])
        logs = np.log(met[name])
        all_but_one = np.exp(np.bincount(leaf, logs)[leaf] - logs)
        n_steps = step * np.diff(self.effects.steps.starts)[name]
        kept = np.bincount(paths.player[name], n_steps * all_but_one, self._n_parts + 1)
        kept = kept[: self._n_parts]
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
        """Entries (row, leaf, step), part by part, and where each part starts."""
        for reached in self._reached(codes, fixed):
            which, step = self.effects.steps.positions(reached.names)
            player = self.effects.paths.player[reached.names].take(which)
            order, ends = _by_part(player, self._n_parts)
            which, step = which.take(order), step.take(order)
            leaf = reached.nodes[reached.leaf].take(which)
            size = max(1, _MOST_WORDS // reached.all_but_one.shape[1])
            for start in range(0, len(which), size):
                some = slice(start, start + size)
                at, row = set_bits(reached.all_but_one.take(which[some], axis=0))
                found = leaf[some].take(at), step[some].take(at)
                yield np.searchsorted(at, ends - start), row, *found

    def _reached(self, codes, fixed):
        """Leaves with their rows; `fixed` gets the outputs without each part's leaves.

        `fixed` (k, n_rows * n_parts) holds zeros, and is complete at the end.
        """
        player, values = self.effects.paths.player, self.effects.values
        outputs = np.zeros((self._k, len(codes)))
        for reached in self.effects.leaves(RowBits(self.effects.ensemble, codes)):
            leaf, row = set_bits(reached.inside)
            step, at = set_bits(reached.inside.take(reached.leaf, axis=0))
            index = at * self._n_parts + player[reached.names].take(step)
            for output, amounts in enumerate(values[reached.nodes].T):
                outputs[output] += np.bincount(row, amounts.take(leaf), len(codes))
                lost = amounts.take(reached.leaf).take(step)
                np.subtract.at(fixed[output], index, lost)
            yield reached
        outputs += self.effects.constant[:, None]
        fixed += np.repeat(outputs, self._n_parts, axis=1)

    def _curves_of(self, part, fixed, row, leaf, step):
        """Curves (n_rows, n_points, k) of a part from its entries."""
        effects, moved = self.effects, self.effects.parts[part]
        sums = np.zeros((self._k, len(fixed[0]) * moved.n_points))
        point, sign = effects.steps.point.take(step), effects.steps.sign.take(step)
        index = row * np.intp(moved.n_points) + (point - effects.first[part])
        for sums_of, values in zip(sums, effects.values.T, strict=True):
            np.add.at(sums_of, index, values.take(leaf) * sign)
        curves = sums.reshape(self._k, len(fixed[0]), moved.n_points)
        if moved.n_points:
            curves[:, :, 0] += fixed
        moved.sum_up(curves, axis=2)
        return np.moveaxis(curves, 0, 2)


def _portions(pieces, n_rows, height):
    """Entries [row, leaf, step] of `height` rows at a time, counted from the first."""
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
        row, leaf, step = (each[at] for each in entries)
        yield rows, (row - rows.start, leaf, step)


def _by_part(part, n_parts):
    """The order that sorts by part, and where each part starts and ends in it."""
    order = np.argsort(part, kind="stable")
    return order, np.searchsorted(part[order], np.arange(n_parts + 1))

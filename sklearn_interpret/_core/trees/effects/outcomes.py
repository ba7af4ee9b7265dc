"""Outputs of rows as parts move over points that the rows themselves have.

*Entries* are rows with the leaves that they would reach if it were not for one
condition, found once for all parts. Curves over many points are then made part by part,
so that no more of them are kept than those of some rows and one part.
"""

from functools import cached_property

import numpy as np

from sklearn_interpret._core.trees.structure.bits import RowBits, set_bits

# Bytes that an entry takes while it is kept, and while its part is added up.
_KEPT, _ADDED = 12, 60

# Outputs that are added up at once should stay in the processor's cache.
_OUTPUTS_AT_ONCE = 2**18

# Rows from which the number of entries is estimated.
_ROWS_TRIED = 256

# Rows are followed down trees with more nodes, where each meets so few of these that
# this is quicker than to look which rows meet each condition.
_MOST_NODES_OF_BITS = 2**9

# Conditions of many steps that are worked on at once.
_CONDITIONS_AT_ONCE = 2**14

# The part of a row's own way down a tree.
_OWN = -1


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
        """For how many of the rows to ask for curves at once: a multiple of 64."""
        tried = np.linspace(0, len(codes) - 1, min(_ROWS_TRIED, len(codes)))
        tried = codes[tried.astype(np.intp)]
        weights = self.effects.leaf_weights(tried, np.ones(len(tried)))
        *_, name, _, all_but_one = self.effects.weigher.by_condition(weights)
        player = self.effects.paths.player[name]
        kept = np.bincount(player, all_but_one, self._n_parts + 1)[:-1] / len(tried)
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
        """How likely each condition is met: (n_nodes,)."""
        n_nodes = self.effects.ensemble.n_nodes
        # At a point where a condition begins to hold, all later ones are gained.
        later = [np.cumsum(share[::-1])[::-1] for share in shares]
        later = np.concatenate([*later, np.empty(0)])
        node, point, sign = self.effects.steps.of_conditions(np.arange(n_nodes))
        return np.bincount(node, sign * later[point], n_nodes)

    def _reached(self, codes, fixed):
        """Leaves with their rows; into `fixed` goes what does not depend on a part."""
        outputs = np.zeros((self._k, len(codes)))
        for reached in self.effects.leaves(RowBits(self.effects.ensemble, codes)):
            which, row = set_bits(reached.inside)
            self._add_own(row, reached.nodes[which], outputs, fixed)
            yield reached
        self._add_to_all(outputs, fixed)

    def _add_own(self, row, leaf, outputs, fixed):
        """Add leaves that rows reach; return their conditions on parts, as entries."""
        paths, n_parts = self.effects.paths, self._n_parts
        own, name = paths.conditions_of(leaf)
        moves = paths.player[name] < n_parts
        own, name = own[moves], name[moves]
        index = row[own] * n_parts + paths.player[name]
        for output, values in enumerate(self.effects.values[leaf].T):
            outputs[output] += np.bincount(row, values, len(outputs[output]))
            np.subtract.at(fixed[output], index, values[own])
        return row[own], leaf[own], name

    def _add_to_all(self, outputs, fixed):
        """Add outputs of rows as they are to those with any part left open."""
        outputs += self.effects.constant[:, None]
        fixed += np.repeat(outputs, self._n_parts, axis=1)

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
        ensemble, n_parts = self.effects.ensemble, self._n_parts
        fixed = np.zeros((self._k, len(codes) * n_parts))
        large = ensemble.n_nodes > _MOST_NODES_OF_BITS * ensemble.n_trees
        find = self._followed if large else self._by_bits
        entries = [[] for _ in range(n_parts)]
        for ends, *found in find(codes, fixed):
            found = [each.astype(np.int32) for each in found]
            for part in np.flatnonzero(np.diff(ends)):
                at = slice(ends[part], ends[part + 1])
                entries[part].append([each[at] for each in found])
        fixed = fixed.reshape(self._k, len(codes), n_parts)
        for part in range(n_parts):
            n_amounts = self._k * self.effects.parts[part].n_points
            height = max(1, _OUTPUTS_AT_ONCE // max(n_amounts, 1))
            pieces, entries[part] = entries[part], None  # not needed any more
            for rows, found in _portions(pieces, len(codes), height):
                yield part, rows, self._curves_of(part, fixed[:, rows, part], *found)

    # Both ways to find entries yield them part by part:
    #   ends : ndarray of shape (n_parts + 1,), where those of each part start and end
    #   row, leaf, name : ndarray of shape (n,), rows, leaves, and the conditions

    def _by_bits(self, codes, fixed):
        """Entries from bit sets of the rows that meet conditions."""
        for reached in self._reached(codes, fixed):
            player = self.effects.paths.player[reached.names]
            order, ends = _by_part(player, self._n_parts)
            which, row = set_bits(reached.all_but_one.take(order, axis=0))
            ends = np.searchsorted(which, ends)
            leaf, name = reached.nodes[reached.leaf[order]], reached.names[order]
            yield ends, row, leaf[which], name[which]

    def _followed(self, codes, fixed):
        """Entries from the paths that rows take, tree by tree."""
        ensemble = self.effects.ensemble
        outputs = np.zeros((self._k, len(codes)))
        for root in ensemble.roots[~ensemble.is_leaf[ensemble.roots]]:
            row, leaf, part, name = _reachable_leaves(
                ensemble, self._split_on, codes, root
            )
            own = part == _OWN
            found = self._add_own(row[own], leaf[own], outputs, fixed)
            player = self.effects.paths.player[found[2]].astype(part.dtype)
            part, row, leaf, name = (
                np.concatenate([every[~own], some])
                for every, some in zip(
                    (part, row, leaf, name), (player, *found), strict=True
                )
            )
            order, ends = _by_part(part, self._n_parts)
            yield ends, row[order], leaf[order], name[order]
        self._add_to_all(outputs, fixed)

    @cached_property
    def _split_on(self):
        """The part that each node splits on, less than `_OWN` for none."""
        ensemble, n_parts = self.effects.ensemble, self._n_parts
        split_on = np.full(ensemble.n_nodes, _OWN - 1, np.min_scalar_type(-2 - n_parts))
        inner = np.flatnonzero(~ensemble.is_leaf)
        player = self.effects.paths.player[ensemble.left[inner]]
        moves = player < n_parts
        split_on[inner[moves]] = player[moves]
        return split_on

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
        """Where conditions that are intervals begin and cease to hold, or -1."""
        steps = self.effects.steps
        counts = np.diff(steps.starts)
        ends = np.full((2, len(counts)), -1)
        for step in range(2):
            at = np.flatnonzero((counts > step) & (counts <= 2))
            ends[step, at] = steps.point[steps.starts[at] + step]
        return ends

    @cached_property
    def _has_many(self):
        """Which conditions have more than two steps; of none, an empty array."""
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


def _reachable_leaves(ensemble, player, codes, root):
    """Leaves of a tree that rows reach, themselves or with a part left open.

    A row goes its own way from the root to a leaf. At each split on a part another way
    sets out, on which that part is left open: at the part's splits it goes to both
    sides, at all others to the row's.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    player : ndarray of shape (n_nodes,), int
        The part that each node splits on; less than `_OWN` where it splits on none.
    codes : ndarray of shape (n_rows, n_features), int
        The rows' codes.
    root : int
        Root of the tree.

    Returns
    -------
    row, leaf : ndarray of shape (n,), intp
        The rows, and leaves that they reach.
    part : ndarray of shape (n,), int
        What is left open, or `_OWN`: a row's own leaf is not listed for other parts.
    name : ndarray of shape (n,), intp
        The node that names the leaf's condition on that part; `root` for `_OWN`.
    """
    n_rows, n_features = codes.shape
    row = np.arange(n_rows)
    node, name = np.full((2, n_rows), root)
    part = np.full(n_rows, _OWN, dtype=player.dtype)
    codes, finished = codes.ravel(), []
    while len(row):
        at_leaf = ensemble.is_leaf.take(node)
        ends, under_way = np.flatnonzero(at_leaf), np.flatnonzero(~at_leaf)
        finished.append([each.take(ends) for each in (row, node, part, name)])
        row, node, part, name = (
            each.take(under_way) for each in (row, node, part, name)
        )
        code = codes.take(row * n_features + ensemble.feature.take(node))
        left = ensemble.goes_left(node, code)
        first, second = ensemble.left.take(node), ensemble.right.take(node)
        taken, split_on = np.where(left, first, second), player.take(node)
        # The rows' own paths come first: they go on, with and without the part. Paths
        # without it go to both children of a split on it.
        n_own = np.searchsorted(under_way, n_rows)
        again = n_own + np.flatnonzero(part[n_own:] == split_on[n_own:])
        name[again] = taken.take(again)
        n_rows = n_own
        forks = np.append(np.flatnonzero(split_on[:n_own] > _OWN), again)
        other = first.take(forks) + second.take(forks) - taken.take(forks)
        row = np.append(row, row.take(forks))
        node = np.append(taken, other)
        part = np.append(part, split_on.take(forks))
        name = np.append(name, other)
    return [np.concatenate(pieces) for pieces in zip(*finished, strict=True)]

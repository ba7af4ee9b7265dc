r"""Effects of features on the raw output of trees, exact, without asking the model.

With :math:`w_l` the value of leaf l and :math:`a_{lj}` its condition on what moves, j
(a feature, or some that move together), the output of a row whose j is at v is

.. math:: f(v, x_{-j}) = \sum_{l: j \in l} w_l\, a_{lj}(v) \prod_{i \ne j} a_{li}(x)
    + \sum_{l: j \notin l} w_l \prod_i a_{li}(x).

So all that is needed of a row is which leaves it would reach if it were not for one
condition, and all that is needed of a condition is where along the points v it begins
and ceases to hold. The first are bit sets of rows, the second are `Steps`; the two
meet only when outputs are added up, and so the grid of points costs next to nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_interpret._core.trees.effects.leaf_weights import (
    LeafArrivals,
    SplitArrivals,
)
from sklearn_interpret._core.trees.effects.steps import Steps
from sklearn_interpret._core.trees.effects.tree_blocks import BlockOfTrees
from sklearn_interpret._core.trees.structure.bits import (
    WORD,
    RowBits,
    blocks_of_trees,
    set_bits,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths

# Sets that are worked on at once should stay in the processor's cache.
_WORDS_OF_CONDITIONS = 2**18
_WORDS_AT_ONCE = 2**15
_WORDS_OF_TABLES = 2**23
_LEAST_ROWS, _MOST_ROWS = 2**9, 2**13

# Of small trees all parts are worked on for all rows, and of large ones for few rows:
# only among many rows are enough alike for their ways down to be followed.
_NODES_OF_SMALL_TREES = 2**9
_MANY_ROWS = 2**14

# Amounts that wait to be added up, and outputs of single rows.
_AMOUNTS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Reached:
    """Leaves, and the rows that reach them if only in spite of one condition.

    Parameters
    ----------
    nodes : ndarray of shape (m,), intp
        The leaves.
    inside : ndarray of shape (m, n_words), uint64
        Rows that reach them.
    names : ndarray of shape (s,), intp
        Nodes of the leaves' conditions on what moves.
    leaf : ndarray of shape (s,), intp
        Position of each one's leaf in `nodes`.
    beside : ndarray of shape (s, n_words), uint64
        Rows that reach the leaf if this condition is not looked at.
    """

    nodes: np.ndarray
    inside: np.ndarray
    names: np.ndarray
    leaf: np.ndarray
    beside: np.ndarray


class TreeEffects:
    """Outputs of trees as parts of the features move, from codes of rows.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    values : ndarray of shape (n_nodes, k)
        Value of each leaf, zero at other nodes.
    base : ndarray of shape (k,)
        What is added to the sum of the trees.
    parts : list of Part
        What moves; no two of them share a feature.
    n_rows : int, default=0
        About how many rows :meth:`arrivals` will be asked for.

    Attributes
    ----------
    rows_at_once : int
        How many rows to give at once: a multiple of 64.
    n_points : int
        Number of points of all parts.
    first : ndarray of shape (n_parts,), intp
        The first point of each part.
    constant : ndarray of shape (k,)
        What does not depend on the row.
    paths : TreePaths
        Paths of the trees, whose first players are the parts.
    steps : Steps
        Where along the points the conditions on parts begin and cease to hold.
    blocks : list of BlockOfTrees
        The trees, some at a time.
    wants_order : bool
        Whether :meth:`arrivals` is fast for rows that are alike side by side.
    """

    def __init__(self, ensemble, values, base, parts, n_rows=0):
        self.ensemble = ensemble
        self.values = values
        self.parts = parts
        # Trees that are a single leaf add to every output.
        self.constant = base + values[ensemble.roots].sum(axis=0)
        players = np.full(ensemble.n_features, len(parts))
        for player, part in enumerate(parts):
            if part.n_points:
                players[part.features] = player
        self.paths = TreePaths.of_ensemble(ensemble, players)
        ends = np.cumsum([0, *(part.n_points for part in parts)])
        self.first, self.n_points = ends[:-1], int(ends[-1])
        self.steps = Steps.of_parts(ensemble, self.paths, parts)
        self.rows_at_once = _rows_at_once(ensemble)
        nodes_per_tree = ensemble.n_nodes / max(1, ensemble.n_trees)
        self.wants_order = (
            n_rows >= _MANY_ROWS and nodes_per_tree > _NODES_OF_SMALL_TREES
        )

    @cached_property
    def blocks(self):
        """The trees, some at a time."""
        most_nodes = _WORDS_OF_CONDITIONS * 64 // self.rows_at_once
        return [
            BlockOfTrees.of_nodes(self.ensemble, self.paths, nodes)
            for nodes in blocks_of_trees(self.ensemble, most_nodes)
        ]

    @cached_property
    def by_arrivals(self):
        """What finds :meth:`arrivals`, and sorts them."""
        if self.wants_order:
            return LeafArrivals(self.ensemble, self.paths, len(self.parts))
        return SplitArrivals(self.ensemble, self.blocks, self.rows_at_once)

    @property
    def curves_at_once(self):
        """For how many rows to ask for curves at once: a multiple of 64."""
        n_amounts = max(1, self.n_points * len(self.constant))
        n_words = _AMOUNTS_AT_ONCE // (64 * n_amounts)
        return min(self.rows_at_once, 64 * max(1, n_words))

    def arrivals(self, codes, weights):
        """Weight of the rows that reach each leaf, if only in spite of one condition.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, those that are alike side by side; or whatever has slices
            that are such arrays.
        weights : ndarray of shape (n_rows,)
            Their weights.

        Returns
        -------
        ndarray of float
            To be added up, and given to :meth:`averages`.
        """
        arrivals = self.by_arrivals
        found = np.zeros(arrivals.size)
        for start in range(0, len(codes), arrivals.rows_at_once):
            rows = slice(start, start + arrivals.rows_at_once)
            arrivals.add_rows(codes[rows], weights[rows], found)
        return found

    def averages(self, arrived, total):
        """Mean outputs with each part at each of its points.

        Parameters
        ----------
        arrived : ndarray of float
            Sum over all rows of what :meth:`arrivals` returns.
        total : float
            Total weight of the rows.

        Returns
        -------
        list of ndarray of shape (n_points, k)
        """
        leaves, inside, name, leaf, beside = self.by_arrivals.by_condition(
            arrived / total
        )
        values = self.values[leaves]
        mean = self.constant + inside @ values
        # By condition: what its leaves give where it is met, and what they give to
        # the mean, which does not hold when the part moves.
        met, given = np.empty((2, self.ensemble.n_nodes, len(mean)))
        for output, value in enumerate(values.T):
            size = self.ensemble.n_nodes
            met[:, output] = np.bincount(name, value.take(leaf) * beside, size)
            given[:, output] = np.bincount(name, (value * inside).take(leaf), size)
        return self._average_curves(mean, met, given)

    def _average_curves(self, mean, met, given):
        node, point, sign = self.steps.of_conditions(np.arange(len(met)))
        player = self.paths.player
        moves = np.flatnonzero((player >= 0) & (player < len(self.parts)))
        changes = np.empty((1, self.n_points, len(mean)))
        for output in range(len(mean)):
            amounts = met[node, output] * sign
            changes[0, :, output] = np.bincount(point, amounts, self.n_points)
            lost = np.bincount(player[moves], given[moves, output], len(self.parts))
            at = self.first < self.n_points
            np.add.at(changes[0, :, output], self.first[at], (mean[output] - lost)[at])
        return [curves[0] for curves in self._summed(changes)]

    def _summed(self, changes):
        """Outputs at the points of each part from changes (n_rows, n_points, k)."""
        n_rows, _, k = changes.shape
        found = []
        for part, first in zip(self.parts, self.first, strict=True):
            at = changes[:, first : first + part.n_points]
            at = at.reshape(n_rows, *part.shape, k)
            for axis in range(1, at.ndim - 1):
                at = np.cumsum(at, axis=axis)
            found.append(at.reshape(n_rows, part.n_points, k))
        return found

    def curves(self, codes):
        """Outputs of each row with each part at each of its points.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most `curves_at_once` of them.

        Returns
        -------
        list of ndarray of shape (n_rows, n_points, k)
        """
        k = len(self.constant)
        bits = RowBits(self.ensemble, codes)
        outputs = _Sums(len(codes), k)
        changes = _Sums(len(codes) * self.n_points, k)
        for reached in self.leaves(bits, self.curves_at_once):
            for leaves in reached:
                which, row = set_bits(leaves.inside)
                outputs.add(row, self.values[leaves.nodes[which]])
                for index, amounts in self._row_changes(leaves):
                    changes.add(index, amounts)
            outputs.settle()
            changes.settle()
        changes = changes.total().reshape(len(codes), self.n_points, k)
        first = self.first[[part.n_points > 0 for part in self.parts]]
        changes[:, first] += (outputs.total() + self.constant)[:, None]
        return self._summed(changes)

    def _row_changes(self, leaves):
        """Where along the points of all parts the output of rows changes, by how much.

        Yields
        ------
        index : ndarray of shape (n,), intp
            Row and point in one number.
        amounts : ndarray of shape (n, k)
        """
        which, row = set_bits(leaves.beside)
        leaf, name = leaves.leaf[which], leaves.names[which]
        values = self.values[leaves.nodes[leaf]]
        step, point, sign = self.steps.of_conditions(name)
        yield row[step] * self.n_points + point, values[step] * sign[:, None]
        # What a leaf adds to the row's own output holds only where it is met.
        words = leaves.inside[leaf, row >> 6] >> (row & 63).astype(WORD)
        held = np.flatnonzero(words & WORD.type(1))
        player = self.paths.player[name[held]]
        yield row[held] * self.n_points + self.first[player], -values[held]

    def differences(self, codes, crossings):
        """Changes of the output of rows where they step from one point to the next.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most `rows_at_once` of them.
        crossings : ndarray of shape (n_rows, n_parts), intp
            For each part the point that the row steps to from the one before it; of
            a part with two axes, from those before it along both. -1 for rows that
            take no such step.

        Returns
        -------
        ndarray of shape (n_rows, n_parts, k)
            The difference; for a part with two axes the second difference.
        """
        k, n_parts = len(self.constant), len(self.parts)
        bits = RowBits(self.ensemble, codes)
        crossing = self._rows_by_point(crossings, bits.n_words)
        crossed = crossing.any(axis=1)
        found = _Sums(len(codes) * n_parts, k)
        for reached in self.leaves(bits, self.rows_at_once):
            for leaves in reached:
                for row, player, amounts in self._crossed(leaves, crossing, crossed):
                    found.add(row * n_parts + player, amounts)
            found.settle()
        return found.total().reshape(len(codes), n_parts, k)

    def _crossed(self, leaves, crossing, crossed):
        """What leaves add to the differences of rows.

        Yields
        ------
        row, player : ndarray of shape (n,), intp
            The row, and the part that moves.
        amounts : ndarray of shape (n, k)
        """
        step, point, sign = self.steps.of_conditions(leaves.names)
        used = np.flatnonzero(crossed[point])
        size = max(1, _WORDS_AT_ONCE // crossing.shape[1])
        for start in range(0, len(used), size):
            chunk = used[start : start + size]
            rows = leaves.beside.take(step[chunk], axis=0)
            rows &= crossing.take(point[chunk], axis=0)
            which, row = set_bits(rows)
            at = step[chunk][which]
            values = self.values[leaves.nodes[leaves.leaf[at]]]
            yield (
                row,
                self.paths.player[leaves.names[at]],
                values * sign[chunk][which, None],
            )

    def _rows_by_point(self, crossings, n_words):
        """Rows that step to each point, as bit sets."""
        row, part = np.nonzero(crossings >= 0)
        point = self.first[part] + crossings[row, part]
        sets = np.zeros((self.n_points, n_words), dtype=WORD)
        bit = WORD.type(1) << (row & 63).astype(WORD)
        np.add.at(sets, (point, row >> 6), bit)
        return sets

    def leaves(self, bits, n_rows):
        """For each block its leaves, some at a time, with the rows that reach them.

        The order does not depend on how many rows there are, up to `n_rows`: then
        neither do the last bits of what is added up for one of them.

        Parameters
        ----------
        bits : RowBits
            The rows.
        n_rows : int
            As many as there might be.

        Yields
        ------
        generator of Reached
            The leaves of a block.
        """
        for block in self.blocks:
            yield self._leaves_of(block, bits, n_rows // 64)

    def _leaves_of(self, block, bits, n_words):
        met = block.conditions.met(bits)
        for splits in block.groups:
            for chunk, sets, lefts in splits.beside_and_inside(met, bits, n_words):
                for child, side in enumerate((lefts, ~lefts)):
                    yield self._reached(block, splits, chunk, sets, child, side)

    def _reached(self, block, splits, chunk, sets, child, side):
        """The leaves on one side of some splits, and the rows that reach them."""
        at = np.flatnonzero(splits.is_leaf[child, chunk])
        own = splits.slot[chunk][at], np.arange(len(at))
        beside = sets.take(at, axis=1)
        opened = beside[own]
        beside &= side.take(at, axis=0)
        inside = beside[-1].copy()
        beside[own] = opened
        names = np.append(block.nodes, -1)[splits.names[child][:, chunk][:, at]]
        player = np.where(names >= 0, self.paths.player[names], -1)
        slot, leaf = np.nonzero((player >= 0) & (player < len(self.parts)))
        return Reached(
            nodes=splits.children[child, chunk][at],
            inside=inside,
            names=names[slot, leaf],
            leaf=leaf,
            beside=beside[slot, leaf],
        )


def _rows_at_once(ensemble):
    """As many rows as tables of rows by code can be kept for."""
    n_codes = ensemble.split_codes.n_codes
    n_rows = _MOST_ROWS
    while (
        n_rows > _LEAST_ROWS
        and np.minimum(n_codes, n_rows).sum() * n_rows > 64 * _WORDS_OF_TABLES
    ):
        n_rows //= 2
    return n_rows


class _Sums:
    """Amounts added up by index; in which portions is left to the caller.

    Parameters
    ----------
    size : int
        Number of sums.
    k : int
        Number of outputs.
    """

    def __init__(self, size, k):
        self._sums = np.zeros((k, size))
        self._waiting = []

    def add(self, index, amounts):
        """Amounts (n, k) for the sums at `index` (n,), to be settled."""
        self._waiting.append((index, amounts))

    def total(self):
        """The sums: (size, k)."""
        self.settle()
        return self._sums.T

    def settle(self):
        """Add up what waits."""
        if self._waiting:
            index = np.concatenate([index for index, _ in self._waiting])
            amounts = np.concatenate([amounts for _, amounts in self._waiting])
            for sums, amount in zip(self._sums, amounts.T, strict=True):
                sums += np.bincount(index, amount, len(sums))
        self._waiting = []

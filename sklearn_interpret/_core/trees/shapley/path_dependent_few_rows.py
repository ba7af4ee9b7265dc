r"""Path-dependent values of few rows: products of factors carried down the trees.

With the factors :math:`f_k(t)` of `tables`, condition c gives its player the integral
of :math:`(a_c - z_c) G_c(t) / f_c(t)`, where G sums the products of the leaves below,
times their values. Where a later split of the same player takes its place, what is
below is taken out again. Three facts save work:

- all failed conditions of a leaf get the same, the integral of :math:`-G / (1 - t)`: a
  sum H without points, needed only where a condition fails first;
- of the two children of a split exactly one is met, or none where the player failed
  further up: then the split gives nothing;
- in a leaf's own condition the factor cancels: no product is made for leaves.

Interaction values of player j are the gains of the others in the game in which the
factor of j is its gain :math:`a_j - z_j` at each leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.shapley.patterns import features_with_gaps, lefts
from sklearn_interpret._core.trees.shapley.tables import quadrature

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.shapley.values import TreePlan
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Nodes of the trees in a block, and numbers, which fit the cache.
_NODES_AT_ONCE = 2**15
_AT_ONCE = 3 * 2**15
# Least divisor: chances may be exactly zero, and so are the products then.
_TINY = 1e-300
# Time of a number in the tables of leaves over that of a number carried; largest cost
# of a leaf; size of the tables of pairs over that of single players.
_COST_OF_TABLES = 4
_MOST_OF_LEAF = 1500
_SIZE_OF_PAIRS = 2.5


@dataclass(frozen=True, eq=False)
class SplitBlock:
    """Splits of some trees, level by level, those with most splits below first.

    Parameters
    ----------
    nodes : ndarray of shape (n,), intp
        The splits, as nodes of the ensemble.
    levels : list of tuple of int
        For each level where its splits start, where those with two splits and with any
        split below end, and where the level ends.
    up, first, second : ndarray of shape (n,), intp
        Position of the split above, and of the splits below; n where there is none.
    previous : ndarray of shape (n,), intp
        Position of the node whose condition the split's player has to meet already; n
        where there is none.
    side : ndarray of shape (n,), uint8
        Whether the node is the left (2) or the right (1) child of the split above.
    player, above : ndarray of shape (n,), intp
        Player of the split, and of the split above.
    chance, chance_before : ndarray of shape (n,)
        Chance of the condition of each node, and of the one at `previous`; 1 where
        there is none.
    left, right, absent : ndarray of shape (k, n)
        Values of children that are leaves, else 0, and their mean by chance.
    feature, rank : ndarray of shape (n,)
        Feature and threshold of the split.
    n_points : int
        Number of points of the quadrature.
    """

    nodes: np.ndarray
    levels: list
    up: np.ndarray
    first: np.ndarray
    second: np.ndarray
    previous: np.ndarray
    side: np.ndarray
    player: np.ndarray
    above: np.ndarray
    chance: np.ndarray
    chance_before: np.ndarray
    left: np.ndarray
    right: np.ndarray
    absent: np.ndarray
    feature: np.ndarray
    rank: np.ndarray
    n_points: int

    @classmethod
    def of_nodes(
        cls,
        ensemble: TreeEnsemble,
        paths: TreePaths,
        chances: NDArray[np.float64],
        start: int,
        stop: int,
    ) -> SplitBlock:
        """Block of whole trees, whose nodes are start to stop."""
        inner = start + np.flatnonzero(~ensemble.is_leaf[start:stop])
        left, right = ensemble.left[inner], ensemble.right[inner]
        n_leaves = ensemble.is_leaf[left].astype(np.uint16) + ensemble.is_leaf[right]
        # Short integers are sorted fast.
        kind = 3 * ensemble.depth[inner].astype(np.uint16) + n_leaves
        order = np.argsort(kind, kind="stable")
        nodes, left, right = inner[order], left[order], right[order]
        n_levels = int(kind.max(initial=0)) // 3 + 1
        ends = np.searchsorted(kind[order], np.arange(3 * n_levels + 1)).tolist()
        n_splits = len(nodes)
        position = np.full(stop - start + 1, n_splits)
        position[nodes - start] = np.arange(n_splits)
        below = position[left - start], position[right - start]
        parent, previous = ensemble.parents[nodes], paths.previous[left]
        values = ensemble.value[left].T, ensemble.value[right].T
        return cls(
            nodes=nodes,
            levels=[tuple(ends[i : i + 4]) for i in range(0, 3 * n_levels, 3)],
            up=position[np.maximum(parent - start, -1)],
            first=np.minimum(*below),
            second=np.maximum(*below),
            previous=position[np.maximum(previous - start, -1)],
            side=1 + (ensemble.left[parent] == nodes).astype(np.uint8),
            player=paths.player[left],
            above=np.maximum(paths.player[nodes], 0),
            chance=np.where(parent < 0, 1.0, chances[nodes]),
            chance_before=np.where(previous < 0, 1.0, chances[previous]),
            left=values[0],
            right=values[1],
            absent=values[0] * chances[left] + values[1] * chances[right],
            feature=ensemble.feature[nodes],
            rank=ensemble.split_codes.rank[nodes],
            n_points=max(1, -(-int(paths.n_conditions[start:stop].max()) // 2)),
        )

    @property
    def n_at_once(self) -> int:
        """How many points of the quadrature fit the cache: few for many splits."""
        return min(max(1, _AT_ONCE // len(self.nodes)), self.n_points)

    def rules(self) -> Iterator[tuple[NDArray[np.float64], ...]]:
        """Yield points of the quadrature, and the factors that no row changes."""
        if self.n_at_once == self.n_points:
            yield self._all_points
            return
        t, weights = quadrature(2 * self.n_points - 1)
        for start in range(0, len(t), self.n_at_once):
            block_points = slice(start, start + self.n_at_once)
            yield self._rule(t[block_points], weights[block_points])

    @cached_property
    def _all_points(self) -> tuple[NDArray[np.float64], ...]:
        """All points at once, kept for later rows."""
        return self._rule(*quadrature(2 * self.n_points - 1))

    def _rule(
        self, t: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], ...]:
        """Some points, with the factors of splits that `_add_points` takes."""
        # Gains of leaves, and losses where they are met, without their own factor.
        of_leaves = np.stack([weights, weights * t / (1 - t)])
        t, weights = t[:, None], weights[:, None]
        chance = (1 - t) * self.chance
        before = np.maximum((1 - t) * self.chance_before, _TINY)
        factor = weights * (1 - self.chance) / (t + chance)
        earlier_factor = weights * (1 - self.chance_before) / (t + before)
        return (
            t[:, None],
            of_leaves,
            chance[:, None],
            before[:, None],
            factor,
            earlier_factor,
        )

    def situations(self, ensemble: TreeEnsemble, codes: NDArray[np.intp]) -> Situations:
        """Where rows go, and the conditions that they meet: Situations."""
        gaps = features_with_gaps(ensemble, codes)
        left = codes.take(self.feature, axis=1) <= self.rank
        odd = np.flatnonzero((gaps | ensemble.split_codes.categorical)[self.feature])
        if len(odd):
            left[:, odd] = lefts(ensemble, self.nodes[odd], codes, gaps).T
        met = np.ones((len(codes), len(self.nodes) + 1), dtype=bool)
        is_active = np.ones(left.shape, dtype=bool)
        failed = np.zeros(left.shape, dtype=bool)
        sent = 1 + left.view(np.uint8)  # as `side`; 0 where the player has failed
        for start, *_, stop in self.levels[1:]:
            level, side = slice(start, stop), self.side[start:stop]
            came = sent.take(self.up[level], axis=1)
            np.equal(came, side, out=met[:, level])
            np.equal(came, 3 - side, out=failed[:, level])
            is_active[:, level] = met.take(self.previous[level], axis=1)
            sent[:, level] *= is_active[:, level]
        met = met[:, :-1]
        return Situations(left, met, failed, is_active)

    def leaf_values(
        self, at: Situations
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Values of children that are leaves, present and absent, by output."""
        leaf_values = []
        for left, right, absent in zip(self.left, self.right, self.absent, strict=True):
            present = np.where(at.left, left, right)
            present *= at.active
            leaf_values.append((present, absent))
        return leaf_values

    def without(
        self, at: Situations, player: int
    ) -> tuple[SplitBlock, Situations, list[list[NDArray[np.float64]]]]:
        """The game of a player's gains: block, situations, and values of leaves.

        The player's factors are 1 on the path, and its gain is in the leaves.
        """
        is_split_player, is_node_player = self.player == player, self.above == player
        is_node_player[: self.levels[0][-1]] = False  # roots
        gain = np.where(is_node_player, at.met - self.chance, 0.0)
        for start, *_, stop in self.levels[1:]:
            level = slice(start, stop)
            gain[:, level] += gain.take(self.up[level], axis=1) * ~is_node_player[level]
        leaf_values = [
            [
                np.where(is_split_player, present - absent, gain * values)
                for values in (present, absent)
            ]
            for present, absent in self.leaf_values(at)
        ]
        block = replace(
            self,
            chance=np.where(is_node_player, 1.0, self.chance),
            chance_before=np.where(is_split_player, 1.0, self.chance_before),
        )
        at = replace(
            at,
            met=at.met | is_node_player,
            failed=at.failed & ~is_node_player,
            active=at.active | is_split_player,
        )
        return block, at, leaf_values


@dataclass(frozen=True, eq=False)
class Situations:
    """States of rows at splits: each bool of shape (n_rows, n).

    Parameters
    ----------
    left : ndarray
        Whether a row goes to the left.
    met, failed : ndarray
        Whether it meets the condition of the split's node, and whether it fails it but
        meets all that this was merged from.
    active : ndarray
        Whether it meets what is asked of the split's player further up.
    """

    left: NDArray[np.bool_]
    met: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    active: NDArray[np.bool_]


def carried_values(
    plan: TreePlan, blocks: list[SplitBlock], codes: NDArray[np.intp], order: int
) -> NDArray[np.float64]:
    """Values of rows, as `value_blocks` has them: (n_keys, n_rows)."""
    n_outputs, n_players = plan.ensemble.n_outputs, plan.paths.n_players
    totals = np.zeros((n_outputs, *[n_players] * order, len(codes)))
    for block in blocks:
        width = (block.n_at_once + 1) * len(block.nodes)
        step = min(max(1, _AT_ONCE // width), len(codes))
        # Reused for all points: allocating them anew is slow.
        buffers = np.empty((2, width * step))
        for start in range(0, len(codes), step):
            into = totals[..., start : start + step]
            at = block.situations(plan.ensemble, codes[start : start + step])
            if order == 1:
                _add_gains(block, at, block.leaf_values(at), buffers, into)
                continue
            for player in np.unique(block.player):
                gains = np.zeros((n_outputs, n_players, into.shape[-1]))
                _add_gains(*block.without(at, player), buffers, gains)
                into[:, :player, player] += gains[:, :player] / 2
    return totals.reshape(plan.n_keys(order), len(codes))


def _add_gains(
    block: SplitBlock,
    at: Situations,
    leaf_values: list[Any],
    buffers: NDArray[np.float64],
    into: NDArray[np.float64],
) -> None:
    """Add gains of rows to totals by output, player and row."""
    for rule in block.rules():
        _add_points(block, at, leaf_values, rule, buffers, into)


def _add_points(
    block: SplitBlock,
    at: Situations,
    leaf_values: list[Any],
    rule: tuple[NDArray[np.float64], ...],
    buffers: NDArray[np.float64],
    into: NDArray[np.float64],
) -> None:
    """Add some points of the quadrature."""
    points, of_leaves, chance, before, factor, earlier_factor = rule
    met, active = at.met.astype(np.float64), at.active.astype(np.float64)
    shape = (len(points) + 1, *met.shape)
    products, sums = (buffer[: np.prod(shape)].reshape(shape) for buffer in buffers)
    products, below, failing = products[:-1], sums[:-1], sums[-1]
    np.multiply(points, met, out=products)
    products += chance
    np.multiply(points, active, out=below)
    below += before
    products /= below
    for start, *_, stop in block.levels[1:]:
        products[..., start:stop] *= products.take(block.up[start:stop], axis=2)
    gained, lost = (of_leaves @ products.reshape(len(points), -1)).reshape(
        2, *met.shape
    )
    for output, (present, absent) in enumerate(leaf_values):
        np.multiply(points, present, out=below)
        below += (1 - points) * absent
        below *= products
        np.multiply(absent, gained, out=failing)
        failing += present * lost
        for start, no_leaf, one_leaf, _ in block.levels[-2::-1]:
            sums[..., start:one_leaf] += sums.take(block.first[start:one_leaf], axis=2)
            sums[..., start:no_leaf] += sums.take(block.second[start:no_leaf], axis=2)
        gains_of_split = (present - absent) * gained
        gains_of_split -= np.einsum("qn,qrn->rn", earlier_factor, below)
        gains_of_split *= active
        above = np.einsum("qn,qrn->rn", factor, below)
        above *= met
        above -= at.failed * failing
        for row, gains in enumerate(zip(gains_of_split, above, strict=True)):
            for player, gain in zip((block.player, block.above), gains, strict=True):
                into[output, :, row] += np.bincount(player, gain, into.shape[1])


def split_blocks(
    ensemble: TreeEnsemble, paths: TreePaths, chances: NDArray[np.float64]
) -> list[SplitBlock]:
    """All trees that split, some at a time: list of SplitBlock."""
    ends = np.append(ensemble.roots, ensemble.n_nodes)
    run = ends[:-1] // _NODES_AT_ONCE
    edges = np.append(ends[:-1][np.diff(run, prepend=-1) > 0], ensemble.n_nodes)
    blocks = [
        SplitBlock.of_nodes(ensemble, paths, chances, start, stop)
        for start, stop in pairwise(edges)
    ]
    return [block for block in blocks if len(block.nodes)]


def carrying_is_cheaper(
    n_leaves: NDArray[np.intp], n_players: int, n_rows: int, order: int
) -> bool:
    """Whether carrying takes less time for `n_rows` rows than tables.

    `n_leaves` are the numbers of leaves with 0, 1, 2, ... conditions.
    """
    d = np.arange(len(n_leaves))
    n_carried = float(n_leaves.sum() * (len(d) // 2))
    # Deep leaves are valued at the patterns that occur only.
    n_tabled = float(n_leaves @ np.minimum(d * 2.0**d, _MOST_OF_LEAF))
    if order == 2:  # a game for each player, and tables of pairs
        n_carried, n_tabled = n_carried * n_players, n_tabled * _SIZE_OF_PAIRS
    return n_rows * n_carried <= _COST_OF_TABLES * n_tabled

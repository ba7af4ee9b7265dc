r"""Path-dependent values of few rows: products of factors carried down the trees.

With the factors :math:`f_k(t)` of `tables`, condition c gives its player the integral
of :math:`(a_c - z_c) G_c(t) / f_c(t)`, where G sums the products of the leaves below,
times their values. Where a later split of the same player takes its place, what is
below is taken out again. Three facts save work:

- all failed conditions of a leaf get the same value, the integral of
  :math:`-G / (1 - t)`: a sum H that does not depend on points, and is needed only where
  a condition fails first;
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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.shapley.patterns import (
    features_with_gaps,
    rows_going_left,
)
from sklearn_interpret._core.trees.shapley.tables import quadrature

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.shapley.values import TreePlan
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Nodes of the trees in a block, and numbers of an array that is computed together
# (768 kB). Chosen by hand: smaller blocks call numpy more often, larger ones leave the
# cache.
_NODES_AT_ONCE = 2**15
_AT_ONCE = 3 * 2**15
# Least divisor: chances may be exactly zero, and so are the products then.
_TINY = 1e-300
# Costs that `carrying_is_cheaper` compares, chosen by hand from times of ensembles of
# several depths. They change how long the values take, not the values. Cost of a number
# in the tables of leaves, in units of a number that is carried:
_COST_OF_TABLES = 4
# Largest cost of a leaf with many conditions, of which only patterns that occur are
# tabulated:
_MAX_LEAF_COST = 1500
# Cost of tables of pairs, in units of tables of single players:
_COST_OF_PAIRS = 2.5


class Level(NamedTuple):
    """Splits of one depth in a block, as positions; by their number of child splits."""

    start: int
    two_splits_end: int  # both children are splits up to here,
    one_split_end: int  # one child is a split up to here,
    stop: int  # and both are leaves up to here


class LeafValues(NamedTuple):
    """Values that rows get from children that are leaves, by the split's player."""

    present: NDArray[np.float64]  # (n_rows, n): value of the child on the row's side
    absent: NDArray[np.float64]  # (n,) or (n_rows, n): children's mean by their chances


class QuadratureFactors(NamedTuple):
    """Factors of splits at points of the quadrature that are the same for all rows.

    With t the point, w its weight, z the chance of a condition and f(t) its factor.
    """

    points: NDArray[np.float64]  # t: (n_points, 1, 1)
    leaf_weights: NDArray[np.float64]  # w, and w t / (1 - t): (2, n_points)
    chance: NDArray[np.float64]  # (1 - t) z of nodes: (n_points, 1, n)
    chance_before: NDArray[np.float64]  # (1 - t) z of the conditions at `previous`
    gain_factor: NDArray[np.float64]  # w (1 - z) / f(t), condition met: (n_points, n)
    gain_factor_before: NDArray[np.float64]  # w (1 - z) / f(t) of `previous`


@dataclass(frozen=True, eq=False)
class SplitBlock:
    """Splits of some trees, level by level; splits with most child splits come first.

    Parameters
    ----------
    nodes : ndarray of shape (n,), intp
        The splits, as nodes of the ensemble.
    levels : list of Level
        Where the splits of each depth are.
    up, first, second : ndarray of shape (n,), intp
        Position of the split above, and of the splits below; n where there is none.
    previous : ndarray of shape (n,), intp
        Position of the node whose condition the split's player has to meet already; n
        where there is none.
    side : ndarray of shape (n,), uint8
        Whether the node is the left (2) or the right (1) child of the split above.
    player, node_player : ndarray of shape (n,), intp
        Player of the split, and of the split above, whose condition is the node's.
    chance, chance_before : ndarray of shape (n,)
        Chance of the condition of each node, and of the one at `previous`; 1 where
        there is none.
    left_value, right_value, absent_value : ndarray of shape (k, n)
        Values of children that are leaves, else 0, and their mean by chance.
    feature, rank : ndarray of shape (n,)
        Feature and threshold of the split.
    n_points : int
        Number of points of the quadrature.
    """

    nodes: np.ndarray
    levels: list[Level]
    up: np.ndarray
    first: np.ndarray
    second: np.ndarray
    previous: np.ndarray
    side: np.ndarray
    player: np.ndarray
    node_player: np.ndarray
    chance: np.ndarray
    chance_before: np.ndarray
    left_value: np.ndarray
    right_value: np.ndarray
    absent_value: np.ndarray
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
        # Splits by depth, then by their number of leaves; short integers sort fast.
        kind = 3 * ensemble.depth[inner].astype(np.uint16) + n_leaves
        order = np.argsort(kind, kind="stable")
        nodes, left, right = inner[order], left[order], right[order]
        n_levels = int(kind.max(initial=0)) // 3 + 1
        ends = np.searchsorted(kind[order], np.arange(3 * n_levels + 1)).tolist()
        n_splits = len(nodes)
        # Position of each node of the block, and last, at -1, of a missing node.
        position = np.full(stop - start + 1, n_splits)
        position[nodes - start] = np.arange(n_splits)
        children = position[left - start], position[right - start]
        parent, previous = ensemble.parents[nodes], paths.previous[left]
        left_value, right_value = ensemble.value[left].T, ensemble.value[right].T
        return cls(
            nodes=nodes,
            levels=[Level(*ends[i : i + 4]) for i in range(0, 3 * n_levels, 3)],
            up=position[np.maximum(parent - start, -1)],
            first=np.minimum(*children),
            second=np.maximum(*children),
            previous=position[np.maximum(previous - start, -1)],
            side=1 + (ensemble.left[parent] == nodes).astype(np.uint8),
            player=paths.player[left],
            node_player=np.maximum(paths.player[nodes], 0),
            chance=np.where(parent < 0, 1.0, chances[nodes]),
            chance_before=np.where(previous < 0, 1.0, chances[previous]),
            left_value=left_value,
            right_value=right_value,
            absent_value=left_value * chances[left] + right_value * chances[right],
            feature=ensemble.feature[nodes],
            rank=ensemble.split_codes.rank[nodes],
            n_points=max(1, -(-int(paths.n_conditions[start:stop].max()) // 2)),
        )

    @property
    def n_at_once(self) -> int:
        """How many points of the quadrature fit the cache: few for many splits."""
        return min(max(1, _AT_ONCE // len(self.nodes)), self.n_points)

    def quadrature_factors(self) -> Iterator[QuadratureFactors]:
        """Yield factors at some points of the quadrature at a time."""
        if self.n_at_once == self.n_points:
            yield self._factors_of_all_points
            return
        t, weights = quadrature(2 * self.n_points - 1)
        for start in range(0, len(t), self.n_at_once):
            block_points = slice(start, start + self.n_at_once)
            yield self._factors(t[block_points], weights[block_points])

    @cached_property
    def _factors_of_all_points(self) -> QuadratureFactors:
        """Factors at all points together, kept for later rows."""
        return self._factors(*quadrature(2 * self.n_points - 1))

    def _factors(
        self, t: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> QuadratureFactors:
        """Factors at points t (n_points,) with their weights."""
        leaf_weights = np.stack([weights, weights * t / (1 - t)])
        t, weights = t[:, None], weights[:, None]
        chance = (1 - t) * self.chance
        chance_before = np.maximum((1 - t) * self.chance_before, _TINY)
        return QuadratureFactors(
            points=t[:, None],
            leaf_weights=leaf_weights,
            chance=chance[:, None],
            chance_before=chance_before[:, None],
            gain_factor=weights * (1 - self.chance) / (t + chance),
            gain_factor_before=weights * (1 - self.chance_before) / (t + chance_before),
        )

    def situations(self, ensemble: TreeEnsemble, codes: NDArray[np.intp]) -> Situations:
        """Where rows go, and the conditions that they meet: Situations."""
        gaps = features_with_gaps(ensemble, codes)
        goes_left = codes.take(self.feature, axis=1) <= self.rank
        not_by_rank = (gaps | ensemble.split_codes.categorical)[self.feature]
        if not_by_rank.any():
            goes_left[:, not_by_rank] = rows_going_left(
                ensemble, self.nodes[not_by_rank], codes, gaps
            ).T
        met = np.ones((len(codes), len(self.nodes) + 1), dtype=bool)
        is_active = np.ones(goes_left.shape, dtype=bool)
        failed = np.zeros(goes_left.shape, dtype=bool)
        side_taken = 1 + goes_left.view(np.uint8)  # 0 where the player has failed
        for start, *_, stop in self.levels[1:]:
            level, side = slice(start, stop), self.side[start:stop]
            taken_above = side_taken.take(self.up[level], axis=1)
            np.equal(taken_above, side, out=met[:, level])
            np.equal(taken_above, 3 - side, out=failed[:, level])
            is_active[:, level] = met.take(self.previous[level], axis=1)
            side_taken[:, level] *= is_active[:, level]
        return Situations(goes_left, met[:, :-1], failed, is_active)

    def leaf_values(self, situations: Situations) -> list[LeafValues]:
        """Values of children that are leaves, by output."""
        leaf_values = []
        for left, right, absent in zip(
            self.left_value, self.right_value, self.absent_value, strict=True
        ):
            present = np.where(situations.goes_left, left, right)
            present *= situations.active
            leaf_values.append(LeafValues(present, absent))
        return leaf_values

    def game_of_gains(
        self, situations: Situations, player: int
    ) -> tuple[SplitBlock, Situations, list[LeafValues]]:
        """The game of a player's gains: block, situations, and values of leaves.

        The player's factors are 1 on the path, and its gain is in the leaves.
        """
        is_split_player = self.player == player
        is_node_player = self.node_player == player
        is_node_player[: self.levels[0].stop] = False  # roots
        gain = np.where(is_node_player, situations.met - self.chance, 0.0)
        for start, *_, stop in self.levels[1:]:
            level = slice(start, stop)
            gain[:, level] += gain.take(self.up[level], axis=1) * ~is_node_player[level]
        leaf_values = [
            LeafValues(
                np.where(is_split_player, present - absent, gain * present),
                np.where(is_split_player, present - absent, gain * absent),
            )
            for present, absent in self.leaf_values(situations)
        ]
        block = replace(
            self,
            chance=np.where(is_node_player, 1.0, self.chance),
            chance_before=np.where(is_split_player, 1.0, self.chance_before),
        )
        situations = replace(
            situations,
            met=situations.met | is_node_player,
            failed=situations.failed & ~is_node_player,
            active=situations.active | is_split_player,
        )
        return block, situations, leaf_values


@dataclass(frozen=True, eq=False)
class Situations:
    """States of rows at splits: each bool of shape (n_rows, n).

    Parameters
    ----------
    goes_left : ndarray
        Whether a row goes to the left.
    met, failed : ndarray
        Whether it meets the condition of the split's node; and whether it fails this
        condition but meets the previous condition on the same player.
    active : ndarray
        Whether it meets the condition on the split's player from further up.
    """

    goes_left: NDArray[np.bool_]
    met: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    active: NDArray[np.bool_]


def values_by_carrying(
    plan: TreePlan, blocks: list[SplitBlock], codes: NDArray[np.intp], order: int
) -> NDArray[np.float64]:
    """Values of rows by output, and player or pair of players: (n_keys, n_rows)."""
    n_outputs, n_players = plan.ensemble.n_outputs, plan.paths.n_players
    totals = np.zeros((n_outputs, *[n_players] * order, len(codes)))
    for block in blocks:
        width = (block.n_at_once + 1) * len(block.nodes)
        step = min(max(1, _AT_ONCE // width), len(codes))
        # Reused for all points: allocating them anew is slow.
        buffers = np.empty((2, width * step))
        for start in range(0, len(codes), step):
            row_totals = totals[..., start : start + step]
            situations = block.situations(plan.ensemble, codes[start : start + step])
            if order == 1:
                leaf_values = block.leaf_values(situations)
                _add_gains(block, situations, leaf_values, buffers, row_totals)
                continue
            for player in np.unique(block.player):
                gains = np.zeros((n_outputs, n_players, row_totals.shape[-1]))
                _add_gains(*block.game_of_gains(situations, player), buffers, gains)
                row_totals[:, :player, player] += gains[:, :player] / 2
    return totals.reshape(plan.n_keys(order), len(codes))


def _add_gains(
    block: SplitBlock,
    situations: Situations,
    leaf_values: list[LeafValues],
    buffers: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add gains of rows to `totals`, by output, player and row, in place."""
    met = situations.met.astype(np.float64)
    active = situations.active.astype(np.float64)
    for factors in block.quadrature_factors():
        shape = (len(factors.points) + 1, *met.shape)
        products, sums = (buffer[: np.prod(shape)].reshape(shape) for buffer in buffers)
        products, point_sums, failed_sums = products[:-1], sums[:-1], sums[-1]
        np.multiply(factors.points, met, out=products)
        products += factors.chance
        np.multiply(factors.points, active, out=point_sums)
        point_sums += factors.chance_before
        products /= point_sums
        for start, *_, stop in block.levels[1:]:
            products[..., start:stop] *= products.take(block.up[start:stop], axis=2)
        leaf_gains = factors.leaf_weights @ products.reshape(len(products), -1)
        gained, lost = leaf_gains.reshape(2, *met.shape)
        for output, (present, absent) in enumerate(leaf_values):
            np.multiply(factors.points, present, out=point_sums)
            point_sums += (1 - factors.points) * absent
            point_sums *= products
            np.multiply(absent, gained, out=failed_sums)
            failed_sums += present * lost
            _sum_up_the_trees(sums, block)
            gains_of_splits = (present - absent) * gained
            gains_of_splits -= np.einsum(
                "qn,qrn->rn", factors.gain_factor_before, point_sums
            )
            gains_of_splits *= active
            gains_of_nodes = np.einsum("qn,qrn->rn", factors.gain_factor, point_sums)
            gains_of_nodes *= met
            gains_of_nodes -= situations.failed * failed_sums
            _add_by_player(totals[output], block.player, gains_of_splits)
            _add_by_player(totals[output], block.node_player, gains_of_nodes)


def _sum_up_the_trees(sums: NDArray[np.float64], block: SplitBlock) -> None:
    """Add to each split's entry of `sums` (..., n) the entries of all splits below."""
    for start, two_splits_end, one_split_end, _ in block.levels[-2::-1]:
        any_split, two = slice(start, one_split_end), slice(start, two_splits_end)
        sums[..., any_split] += sums.take(block.first[any_split], axis=2)
        sums[..., two] += sums.take(block.second[two], axis=2)


def _add_by_player(
    totals: NDArray[np.float64], player: NDArray[np.intp], gains: NDArray[np.float64]
) -> None:
    """Add gains (n_rows, n) to `totals` (n_players, n_rows) in place."""
    for row, row_gains in enumerate(gains):
        totals[:, row] += np.bincount(player, row_gains, len(totals))


def split_blocks(
    ensemble: TreeEnsemble, paths: TreePaths, chances: NDArray[np.float64]
) -> list[SplitBlock]:
    """Blocks of all trees that have splits."""
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
    # Deep leaves are evaluated at patterns that occur only.
    n_tabled = float(n_leaves @ np.minimum(d * 2.0**d, _MAX_LEAF_COST))
    if order == 2:  # a game for each player, and tables of pairs
        n_carried, n_tabled = n_carried * n_players, n_tabled * _COST_OF_PAIRS
    return n_rows * n_carried <= _COST_OF_TABLES * n_tabled

"""Regions of rows within which the curves of rows are similar.

A region is split where the curves' squared deviations from their mean on each side, the
loss, are least (Herbinger, Bischl & Casalicchio 2022, eq. 6). A cut of a column has
codes on its low and high side, and missing values on a side of their own. Sums over the
rows grouped by code give the loss of all cuts of a column together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.coded_conditions import CodedTable

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Limits the memory of sums of curves to some blocks of 8 MB: they are computed for as
# many points at a time.
_MAX_SUMS = 2**20
# Gain of the best of many cuts by noise, relative to the mean gain of a cut: splits of
# noise do not pay. `bench_regions` checks that additive models have a single region.
_BEST_BY_NOISE = 2.0
# Gains that differ relatively by less are equal but for rounding: the first wins.
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class RowCurves:
    """Curves of rows, some points of which may be missing.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_points)
        The curves.
    weights : ndarray of shape (n_rows, n_points) or (n_rows, 1)
        Weights, zero at missing points.
    """

    values: _Array
    weights: _Array

    def take(self, rows: NDArray[np.intp] | slice) -> RowCurves:
        """The curves of some rows."""
        return RowCurves(self.values[rows], self.weights[rows])

    def centred(self) -> tuple[RowCurves, _Array]:
        """The curves less their mean, and the sums of their squares: (n_points,)."""
        means = _ratio((self.weights * self.values).sum(axis=0), self.weights.sum(0))
        values = self.values - means
        losses = (self.weights * values**2).sum(axis=0)
        return RowCurves(values, self.weights), losses

    def spread(self, groups: Sequence[NDArray[np.intp] | slice]) -> float:
        """Root of the mean variance of the curves within groups of rows."""
        total = np.broadcast_to(self.weights, self.values.shape).sum()
        loss = sum(self.take(rows).centred()[1].sum() for rows in groups)
        return np.sqrt(loss / total) if total > 0 else 0.0


@dataclass(frozen=True, eq=False)
class RegionNode:
    """A node of a tree of regions.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), int
        Positions of its rows.
    allowed : dict of int to ndarray of shape (n_known + 1,)
        For columns with conditions, which codes are allowed; the last code stands for
        missing values.
    column : int, default=-1
        The column that is split; -1 for no split.
    children : tuple of RegionNode
        Nodes of the low, high and missing values, where such values exist.
    """

    rows: NDArray[np.intp]
    allowed: dict[int, NDArray[np.bool_]]
    column: int = -1
    children: tuple[RegionNode, ...] = ()

    def nodes_at(self, level: float) -> list[RegionNode]:
        """The nodes below this number of splits, and the leaves above them."""
        if level == 0 or not self.children:
            return [self]
        return [node for child in self.children for node in child.nodes_at(level - 1)]


class _Split(NamedTuple):
    """A split of a region, and the reduction of the loss by it."""

    gain: float
    column: int
    sides: list[NDArray[np.bool_]]  # codes (n_known + 1,) of each side


@dataclass(frozen=True, eq=False)
class RegionSearch:
    """Search for regions.

    Parameters
    ----------
    table : CodedTable
        Codes of the rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows, which count as repeated rows.
    columns : list of int
        Columns that may be split.
    max_depth : int
        Largest number of splits above a region.
    min_rows : float
        Least weight of the rows of a region.
    min_gain : float
        Least share of the loss of all rows by which a split lowers the loss.
    significance : float, optional
        Largest p-value of a split, by permutations of the curves among the rows.
    rng : RandomState, optional
        Draws the permutations.
    """

    table: CodedTable
    weights: _Array
    columns: list[int]
    max_depth: int
    min_rows: float
    min_gain: float
    significance: float | None = None
    rng: np.random.RandomState | None = None

    def grow(
        self, curves: RowCurves, least_spread: float, rounding: float
    ) -> RegionNode:
        """The tree of regions of the curves of all rows, as its root.

        A smaller spread of the curves counts as `least_spread`; up to `rounding`,
        differences between curves are rounding errors.
        """
        rows = np.arange(len(curves.values))
        total = np.broadcast_to(curves.weights, curves.values.shape).sum()
        loss = max(curves.centred()[1].sum(), least_spread**2 * total)
        least_gain = max(self.min_gain * loss, rounding**2 * total)
        return self._grow_node(curves, RegionNode(rows, {}), self.max_depth, least_gain)

    def _grow_node(
        self, curves: RowCurves, node: RegionNode, depth: int, least_gain: float
    ) -> RegionNode:
        """The node with its subtree of at most `depth` splits."""
        centred, losses = curves.take(node.rows).centred()
        # No split gains more than the node's loss.
        if depth == 0 or losses.sum() < least_gain:
            return node
        codes, weights = self.table.codes[:, node.rows], self.weights[node.rows]
        columns = {j: _Groups.of(codes[j], weights) for j in self.columns}
        gain, column, sides = self._best_split(centred, losses, columns)
        if gain <= 0 or gain < least_gain:
            return node
        if not self._is_significant(gain, centred, losses, columns):
            return node
        children = []
        for side in sides:
            rows = node.rows[side[codes[column]]]
            allowed = {**node.allowed, column: side & node.allowed.get(column, True)}
            child = RegionNode(rows, allowed)
            children.append(self._grow_node(curves, child, depth - 1, least_gain))
        return RegionNode(node.rows, node.allowed, column, tuple(children))

    def _is_significant(
        self,
        gain: float,
        centred: RowCurves,
        losses: _Array,
        columns: dict[int, _Groups],
    ) -> bool:
        """Whether few permutations of the curves have a split that gains as much."""
        if self.significance is None or self.rng is None:
            return True
        # Up to four permutations may gain as much: p-values of fewer are coarse.
        n_draws = int(np.ceil(5 / self.significance)) - 1
        n_rows, least = len(centred.values), gain * (1 - _TIE)
        n_reached = 1  # the curves themselves
        for _ in range(n_draws):
            permuted = centred.take(self.rng.permutation(n_rows))
            n_reached += self._best_split(permuted, losses, columns).gain >= least
        return n_reached / (n_draws + 1) <= self.significance

    def _best_split(
        self, centred: RowCurves, losses: _Array, columns: dict[int, _Groups]
    ) -> _Split:
        """The split of the largest gain; a gain of zero if there is none."""
        observed = centred.weights.sum(axis=0)
        # Expected reduction of the loss by one more mean if the curves are noise.
        noise = _BEST_BY_NOISE * _ratio(losses, np.maximum(observed - 1, observed / 2))
        best = _Split(0.0, -1, [])
        for column, groups in columns.items():
            split = self._best_cut(centred, noise, column, groups)
            if split is not None and split.gain > best.gain * (1 + _TIE):
                best = split
        return best

    def _best_cut(
        self, centred: RowCurves, noise: _Array, column: int, groups: _Groups
    ) -> _Split | None:
        """The split of the largest gain in a column, or None."""
        has_missing = groups.codes[-1] == self.table.n_known[column]
        n_observed = len(groups.codes) - int(has_missing)
        if not n_observed or not centred.values.size:
            return None
        order = np.arange(len(groups.codes))
        if self.table.nominal[column]:
            order[:n_observed] = _order_by_first_component(
                groups.sums(centred), n_observed
            )
        low_size = np.cumsum(groups.sizes[order])[:n_observed]
        known_size, missing_size = low_size[-1], groups.sizes.sum() - low_size[-1]
        # The last cut has all known values on one side, missing values on the other.
        high_size = np.where(low_size < known_size, known_size - low_size, missing_size)
        cuts = np.flatnonzero(np.minimum(low_size, high_size) >= self.min_rows)
        if not len(cuts):
            return None
        gains = np.zeros(len(cuts))
        width = max(1, _MAX_SUMS // len(groups.order))
        for start in range(0, centred.values.shape[1], width):
            points = slice(start, start + width)
            sums = groups.sums(centred, points, order)
            gains += _gains_of_cuts(sums, cuts, n_observed, noise[points])
        largest = gains.max()
        best = int(np.argmax(gains >= largest - _TIE * abs(largest)))
        sides = self._sides(column, groups, order, cuts[best], n_observed)
        return _Split(gains[best], column, sides)

    def _sides(
        self,
        column: int,
        groups: _Groups,
        order: NDArray[np.intp],
        cut: int,
        n_observed: int,
    ) -> list[NDArray[np.bool_]]:
        """Masks of codes (n_known + 1,): low, high and missing, if they have rows."""
        n_known = self.table.n_known[column]
        low = np.zeros(n_known + 1, dtype=bool)
        has_high_side = cut + 1 < n_observed
        if not has_high_side:
            low[:n_known] = True
        elif self.table.nominal[column]:
            low[groups.codes[order[: cut + 1]]] = True
        else:  # codes between the two groups go to the nearer group
            last_low, first_high = groups.codes[order[cut : cut + 2]]
            low[: (last_low + first_high + 1) // 2] = True
        missing = np.arange(n_known + 1) == n_known
        sides = [low, ~low & ~missing] if has_high_side else [low]
        return [*sides, missing] if n_observed < len(order) else sides


class _GroupSums(NamedTuple):
    """Sums over the rows of each group, at each point."""

    curves: _Array  # (n_groups, n_points): of weighted curves
    weights: _Array  # (n_groups, n_points) or (n_groups, 1)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows grouped by code, in the order of ascending codes."""

    order: NDArray[np.intp]  # (n_rows,): rows by code
    starts: NDArray[np.intp]  # (n_groups,): where groups start in `order`
    codes: NDArray[np.intp]  # (n_groups,)
    sizes: _Array  # (n_groups,): weights of their rows

    @classmethod
    def of(cls, codes: NDArray[np.intp], weights: _Array) -> _Groups:
        """Groups of rows with codes and weights (n_rows,)."""
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        sizes = np.add.reduceat(weights[order], starts)
        return cls(order, starts, codes[starts], sizes)

    def sums(
        self,
        curves: RowCurves,
        points: slice = slice(None),
        groups: NDArray[np.intp] | slice = slice(None),
    ) -> _GroupSums:
        """Sums at some points, of the groups in some order."""
        weights = curves.weights
        if weights.shape[1] > 1:
            weights = weights[:, points]
        weighted = weights * curves.values[:, points]
        curve_sums, weight_sums = (
            np.add.reduceat(by_row.take(self.order, axis=0), self.starts, axis=0)
            for by_row in (weighted, weights)
        )
        return _GroupSums(curve_sums[groups], weight_sums[groups])


def _ratio(sums: _Array, weights: _Array) -> _Array:
    """Sums over weights, zero where the weight is not positive."""
    weights = np.broadcast_to(weights, sums.shape)
    return np.divide(sums, weights, out=np.zeros_like(sums), where=weights > 0)


def _gains_of_cuts(
    sums: _GroupSums, cuts: NDArray[np.intp], n_observed: int, noise: _Array
) -> _Array:
    """Reductions of the loss of curves with mean zero by cuts: (n_cuts,).

    The sums are of the observed groups in their order, then of missing values. The
    `noise` (n_points,) is subtracted once for each side but the first.
    """
    up_to = [np.cumsum(values[:n_observed], axis=0) for values in sums]
    low = [cumulated[cuts] for cumulated in up_to]
    # Cuts with nothing above them would leave rounding errors there.
    is_last = (cuts == n_observed - 1)[:, None]
    high = [np.where(is_last, 0.0, total[-1] - total[cuts]) for total in up_to]
    missing = [values[n_observed:].sum(axis=0) for values in sums]
    gains, n_means = np.zeros(low[0].shape), np.zeros(low[1].shape)
    for curve_sums, weights in (low, high, missing):
        gains += _ratio(curve_sums**2, weights)
        n_means += weights > 0
    return (gains - (n_means - 1) * noise).sum(axis=1)


def _order_by_first_component(sums: _GroupSums, n_observed: int) -> NDArray[np.intp]:
    """Order of the first groups along the first principal component of their means."""
    curve_sums, weights = (values[:n_observed] for values in sums)
    means = _ratio(curve_sums, weights)
    mean = _ratio(curve_sums.sum(axis=0), weights.sum(axis=0))
    deviations = np.sqrt(weights) * (means - mean)
    _, _, components = np.linalg.svd(deviations, full_matrices=False)
    direction = components[0]
    # The sign of a component is arbitrary: its largest entry becomes positive.
    direction *= np.sign(direction[np.abs(direction).argmax()]) or 1.0
    return np.argsort(means @ direction, kind="stable")

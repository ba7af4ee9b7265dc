"""Regions of rows within which the curves of rows are alike.

A region is split where the curves' squared deviations from their mean on each side are
least (Herbinger, Bischl & Casalicchio 2022, eq. 6). Sums over the sorted rows give
this loss for all thresholds of a column together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import ratio_or_zero

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.coded_conditions import CodedTable

# Limits the memory of sums of curves to some blocks of 8 MB: they are computed for as
# many points at a time.
_MOST_SUMS = 2**20
# Gain of the best of many cuts by noise, relative to the mean gain of a cut: splits of
# noise do not pay. Chosen by hand; benchmarks/bench_regions.py counts how often an
# additive model has a single region.
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

    values: NDArray[np.float64]
    weights: NDArray[np.float64]

    def take(self, rows: NDArray[np.intp] | slice) -> RowCurves:
        """The curves of some rows."""
        return RowCurves(self.values[rows], self.weights[rows])

    def centred(self) -> tuple[RowCurves, NDArray[np.float64]]:
        """The curves less their mean, and the sums of their squares: (n_points,)."""
        means = ratio_or_zero(
            (self.weights * self.values).sum(axis=0), self.weights.sum(0)
        )
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
        For columns with conditions, which codes are allowed; the last one is that of
        missing values.
    column : int, default=-1
        The column that is split; -1 for none.
    children : tuple of RegionNode
        Those of low, high and missing values, as there are.
    """

    rows: NDArray[np.intp]
    allowed: dict[int, NDArray[np.bool_]]
    column: int = -1
    children: tuple[RegionNode, ...] = ()

    def at(self, level: float) -> list[RegionNode]:
        """The nodes below this number of splits, and the leaves above them."""
        if level == 0 or not self.children:
            return [self]
        return [node for child in self.children for node in child.at(level - 1)]


class _Split(NamedTuple):
    """A split of a region."""

    gain: float = 0.0
    column: int = -1
    # Codes (n_known + 1,) of each side: low, high and missing, as there are.
    sides: Sequence[NDArray[np.bool_]] = ()


class _GroupSums(NamedTuple):
    """Sums over groups of rows: (n_groups, n_points), or (n_groups, 1) of weights."""

    curves: NDArray[np.float64]  # weighted
    weights: NDArray[np.float64]


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
        Least weight of its rows.
    min_gain : float
        Least share of the loss of all rows by which a split lowers the loss.
    significance : float, optional
        Largest p-value of a split, by permutations of the curves among the rows.
    rng : RandomState, optional
        Draws these.
    """

    table: CodedTable
    weights: NDArray[np.float64]
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
        return self._grown(curves, RegionNode(rows, {}), self.max_depth, least_gain)

    def _grown(
        self, curves: RowCurves, node: RegionNode, depth: int, least_gain: float
    ) -> RegionNode:
        """A node with the tree of up to `depth` splits below it."""
        centred, losses = curves.take(node.rows).centred()
        # No split gains more than there is.
        if depth == 0 or losses.sum() < least_gain:
            return node
        codes, weights = self.table.codes[:, node.rows], self.weights[node.rows]
        columns = {j: _Groups.of(codes[j], weights) for j in self.columns}
        split = self._best_split(centred, losses, columns)
        if split.gain <= 0 or split.gain < least_gain:
            return node
        if not self._is_significant(split.gain, centred, losses, columns):
            return node
        column, children = split.column, []
        for side in split.sides:
            rows = node.rows[side[codes[column]]]
            allowed = {**node.allowed, column: side & node.allowed.get(column, True)}
            child = RegionNode(rows, allowed)
            children.append(self._grown(curves, child, depth - 1, least_gain))
        return RegionNode(node.rows, node.allowed, column, tuple(children))

    def _is_significant(
        self,
        gain: float,
        centred: RowCurves,
        losses: NDArray[np.float64],
        columns: dict[int, _Groups],
    ) -> bool:
        """Whether few permutations of the curves have a split that gains as much."""
        if self.significance is None or self.rng is None:
            return True
        # Up to four permutations may gain as much: p-values of fewer are coarse.
        n_draws = int(np.ceil(5 / self.significance)) - 1
        n_rows, reached = len(centred.values), 1
        for _ in range(n_draws):
            permuted = centred.take(self.rng.permutation(n_rows))
            split = self._best_split(permuted, losses, columns)
            reached += split.gain >= gain * (1 - _TIE)
        return reached / (n_draws + 1) <= self.significance

    def _best_split(
        self,
        centred: RowCurves,
        losses: NDArray[np.float64],
        columns: dict[int, _Groups],
    ) -> _Split:
        """The split of the largest gain, or one without any gain."""
        observed = centred.weights.sum(axis=0)
        # Expected reduction of the loss by one more mean if the curves are noise.
        noise = _BEST_BY_NOISE * ratio_or_zero(
            losses, np.maximum(observed - 1, observed / 2)
        )
        best = _Split()
        for column, groups in columns.items():
            split = self._best_split_of(column, groups, centred, noise)
            if split.gain > best.gain * (1 + _TIE):
                best = split
        return best

    def _best_split_of(
        self,
        column: int,
        groups: _Groups,
        centred: RowCurves,
        noise: NDArray[np.float64],
    ) -> _Split:
        """The split of a column with the largest gain, or one without any gain."""
        n_known = self.table.n_known[column]
        order = np.arange(len(groups.codes))
        n_observed = len(order) - (groups.codes[-1] == n_known)
        if not n_observed or not centred.values.size:
            return _Split()
        if self.table.nominal[column]:
            order[:n_observed] = _similar_first(groups.sums(centred), n_observed)
        low = np.cumsum(groups.sizes[order])[:n_observed]
        total, total_with_missing = low[-1], groups.sizes.sum()
        # The last cut has all known values on one side and missing ones on the other.
        high = np.where(low < total, total - low, total_with_missing - total)
        cuts = np.flatnonzero(np.minimum(low, high) >= self.min_rows)
        if not len(cuts):
            return _Split()
        gains = np.zeros(len(cuts))
        width = max(1, _MOST_SUMS // len(groups.order))
        for start in range(0, centred.values.shape[1], width):
            points = slice(start, start + width)
            sums = groups.sums(centred, points, order)
            gains += _gains(sums, cuts, n_observed, noise[points])
        best = gains.max()
        cut = int(np.argmax(gains >= best - _TIE * abs(best)))
        sides = self._sides(column, groups, order, cuts[cut], n_observed)
        return _Split(gains[cut], column, sides)

    def _sides(
        self,
        column: int,
        groups: _Groups,
        order: NDArray[np.intp],
        cut: int,
        n_observed: int,
    ) -> list[NDArray[np.bool_]]:
        """Codes (n_known + 1,) of each side: low, high and missing, as there are."""
        n_known = self.table.n_known[column]
        low = np.zeros(n_known + 1, dtype=bool)
        ends = groups.codes[order[:n_observed][cut : cut + 2]]
        if len(ends) < 2:
            low[:n_known] = True
        elif self.table.nominal[column]:
            low[groups.codes[order[: cut + 1]]] = True
        else:
            low[: (ends[0] + ends[1] + 1) // 2] = True
        missing = np.arange(n_known + 1) == n_known
        sides = [low, ~low & ~missing]
        if len(ends) < 2:
            sides.pop()
        return [*sides, missing] if n_observed < len(order) else sides


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows grouped by code: their order, where groups start, their codes and weight."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    codes: NDArray[np.intp]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, codes: NDArray[np.intp], weights: NDArray[np.float64]) -> _Groups:
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
        """Sums by group at some points, for all or some `groups` in their order."""
        weights = curves.weights
        if weights.shape[1] > 1:
            weights = weights[:, points]
        weighted = weights * curves.values[:, points]
        sums = np.add.reduceat(weighted.take(self.order, axis=0), self.starts, axis=0)
        sizes = np.add.reduceat(weights.take(self.order, axis=0), self.starts, axis=0)
        return _GroupSums(sums[groups], sizes[groups])


def _gains(
    sums: _GroupSums,
    cuts: NDArray[np.intp],
    n_observed: int,
    noise: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Reductions of the loss of curves with mean zero by cuts: (n_cuts,).

    Reductions by `noise` (n_points,), one for each side but one, are taken off.
    """
    cumulated = [np.cumsum(values[:n_observed], axis=0) for values in sums]
    low = _GroupSums(*(values[cuts] for values in cumulated))
    # Cuts with nothing above them would leave rounding errors there.
    is_last = (cuts == n_observed - 1)[:, None]
    high = _GroupSums(
        *(np.where(is_last, 0.0, values[-1] - values[cuts]) for values in cumulated)
    )
    missing = _GroupSums(*(values[n_observed:].sum(axis=0) for values in sums))
    gains, n_means = np.zeros(low.curves.shape), np.zeros(low.weights.shape)
    for total, weight in (low, high, missing):
        gains += ratio_or_zero(total**2, weight)
        n_means += weight > 0
    return (gains - (n_means - 1) * noise).sum(axis=1)


def _similar_first(sums: _GroupSums, n_observed: int) -> NDArray[np.intp]:
    """Order of the first groups along the first principal component of their means."""
    total, weights = sums.curves[:n_observed], sums.weights[:n_observed]
    means = ratio_or_zero(total, weights)
    scaled = np.sqrt(weights) * (
        means - ratio_or_zero(total.sum(axis=0), weights.sum(axis=0))
    )
    direction = np.linalg.svd(scaled, full_matrices=False)[2][0]
    direction *= np.sign(direction[np.abs(direction).argmax()]) or 1.0
    return np.argsort(means @ direction, kind="stable")

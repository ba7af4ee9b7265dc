"""Regions of rows within which the curves of rows are alike.

A region is split where the curves' squared deviations from their mean in each part are
least (Herbinger, Bischl & Casalicchio 2022, eq. 6). Sums over the sorted rows give
this loss for all thresholds of a column together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Sums of curves that are held together, for some of the points.
_MOST_SUMS = 2**20
# Gain of the best of many cuts by noise, in parts of the mean gain of a cut.
_BEST_BY_NOISE = 2.0
# Gains that differ relatively by less are equal but for rounding: the first is taken.
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class RowCurves:
    """Curves of rows, some points of which may be unknown.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_points)
        The curves.
    weights : ndarray of shape (n_rows, n_points) or (n_rows, 1)
        Weights, zero at unknown points.
    """

    values: np.ndarray
    weights: np.ndarray

    def take(self, rows: NDArray[np.intp]) -> RowCurves:
        """The curves of some rows."""
        return RowCurves(self.values[rows], self.weights[rows])

    def centred(self) -> tuple[RowCurves, NDArray[np.float64]]:
        """The curves less their mean, and the sums of their squares: (n_points,)."""
        means = _ratio((self.weights * self.values).sum(axis=0), self.weights.sum(0))
        values = self.values - means
        losses = (self.weights * values**2).sum(axis=0)
        return RowCurves(values, self.weights), losses

    def spread(self, groups: list[NDArray[np.intp]]) -> float:
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
    allowed : dict of int to ndarray of shape (n_known + 1,), bool
        For columns with conditions, which codes are allowed; the last one is that of
        missing values.
    column : int, optional
        The column that is split.
    parts : tuple of RegionNode
        The parts: of low, high and missing values, as there are.
    """

    rows: np.ndarray
    allowed: dict
    column: int | None = None
    parts: tuple = ()

    def at(self, level: int) -> list[RegionNode]:
        """The nodes below this number of splits, and the leaves above them."""
        if level == 0 or not self.parts:
            return [self]
        return [node for part in self.parts for node in part.at(level - 1)]


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

    table: Any
    weights: np.ndarray
    columns: list
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
        centred, losses = curves.take(node.rows).centred()
        # No split gains more than there is.
        if depth == 0 or losses.sum() < least_gain:
            return node
        codes, weights = self.table.codes[:, node.rows], self.weights[node.rows]
        columns = {j: _Groups.of(codes[j], weights) for j in self.columns}
        gain, column, sides = self._best(centred, losses, columns)
        if gain <= 0 or gain < least_gain:
            return node
        if (
            self.significance is not None
            and self._pvalue(gain, centred, losses, columns) > self.significance
        ):
            return node
        parts = []
        for side in sides:
            rows = node.rows[side[codes[column]]]
            allowed = {**node.allowed, column: node.allowed.get(column, True) & side}
            part = RegionNode(rows, allowed)
            parts.append(self._grown(curves, part, depth - 1, least_gain))
        return RegionNode(node.rows, node.allowed, column, tuple(parts))

    def _pvalue(
        self,
        gain: float,
        centred: RowCurves,
        losses: NDArray[np.float64],
        columns: dict[int, _Groups],
    ) -> float:
        """Share of permutations of the curves whose best split gains as much."""
        n_draws = int(np.ceil(5 / self.significance)) - 1
        n_rows, reached = len(centred.values), 1
        for _ in range(n_draws):
            drawn = centred.take(self.rng.permutation(n_rows))
            reached += self._best(drawn, losses, columns)[0] >= gain * (1 - _TIE)
        return reached / (n_draws + 1)

    def _best(
        self,
        centred: RowCurves,
        losses: NDArray[np.float64],
        columns: dict[int, _Groups],
    ) -> tuple[float, int | None, list[NDArray[np.bool_]] | None]:
        """The largest gain, its column, and the codes of each part."""
        known = centred.weights.sum(axis=0)
        # Expected reduction of the loss by one more mean if the curves are noise.
        noise = _BEST_BY_NOISE * _ratio(losses, np.maximum(known - 1, known / 2))
        best = 0.0, None, None
        for column, groups in columns.items():
            found = self._best_cut(centred, noise, column, groups)
            if found is not None and found[0] > best[0] * (1 + _TIE):
                best = found[0], column, found[1]
        return best

    def _best_cut(
        self,
        centred: RowCurves,
        noise: NDArray[np.float64],
        column: int,
        groups: _Groups,
    ) -> tuple[float, list[NDArray[np.bool_]]] | None:
        """The largest gain in a column and the codes of each part, or None."""
        n_known = self.table.n_known[column]
        order = np.arange(len(groups.codes))
        n_own = len(order) - (groups.codes[-1] == n_known)
        if not n_own or not centred.values.size:
            return None
        if self.table.nominal[column]:
            order[:n_own] = _similar_first(groups.sums(centred), n_own)
        upto = np.cumsum(groups.sizes[order])[:n_own]
        total, every = upto[-1], groups.sizes.sum()
        # The last cut has all known values on one side and missing ones on the other.
        above = np.where(upto < total, total - upto, every - total)
        cuts = np.flatnonzero(np.minimum(upto, above) >= self.min_rows)
        if not len(cuts):
            return None
        gains = np.zeros(len(cuts))
        width = max(1, _MOST_SUMS // len(groups.order))
        for start in range(0, centred.values.shape[1], width):
            points = slice(start, start + width)
            sums = groups.sums(centred, points, order)
            gains += _gains(*sums, cuts, n_own, noise[points])
        best = gains.max()
        cut = int(np.argmax(gains >= best - _TIE * abs(best)))
        return gains[cut], self._sides(column, groups, order, cuts[cut], n_own)

    def _sides(
        self,
        column: int,
        groups: _Groups,
        order: NDArray[np.intp],
        cut: int,
        n_own: int,
    ) -> list[NDArray[np.bool_]]:
        """Codes (n_known + 1,) of each part: low, high and missing, as there are."""
        n_known = self.table.n_known[column]
        low = np.zeros(n_known + 1, dtype=bool)
        ends = groups.codes[order[:n_own][cut : cut + 2]]
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
        return [*sides, missing] if n_own < len(order) else sides


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows grouped by code: their order, where groups start, their codes and weight."""

    order: np.ndarray
    starts: np.ndarray
    codes: np.ndarray
    sizes: np.ndarray

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
    ) -> list[NDArray[np.float64]]:
        """Sums of the weighted curves and of the weights, by group: (n_groups, ...)."""
        weights = curves.weights
        if weights.shape[1] > 1:
            weights = weights[:, points]
        weighted = weights * curves.values[:, points]
        parts = (part.take(self.order, axis=0) for part in (weighted, weights))
        return [np.add.reduceat(part, self.starts, axis=0)[groups] for part in parts]


def _ratio(
    sums: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums over weights, zero where the weight is not positive."""
    weights = np.broadcast_to(weights, sums.shape)
    return np.divide(sums, weights, out=np.zeros_like(sums), where=weights > 0)


def _gains(
    sums: NDArray[np.float64],
    weights: NDArray[np.float64],
    cuts: NDArray[np.intp],
    n_own: int,
    noise: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Reductions of the loss of curves with mean zero by cuts: (n_cuts,).

    Reductions by `noise` (n_points,), one for each part but one, are taken off.
    """
    low = [np.cumsum(part[:n_own], axis=0)[cuts] for part in (sums, weights)]
    known = [part[:n_own].sum(axis=0) for part in (sums, weights)]
    high = [all_known - part for all_known, part in zip(known, low, strict=True)]
    missing = [part[n_own:].sum(axis=0) for part in (sums, weights)]
    # Cuts with nothing above them leave rounding errors there.
    high = [np.where((cuts == n_own - 1)[:, None], 0.0, part) for part in high]
    parts = low, high, missing
    gains = reduce(np.add, [_ratio(total**2, weight) for total, weight in parts])
    n_means = reduce(np.add, [weight > 0 for _, weight in parts], 0)
    return (gains - (n_means - 1) * noise).sum(axis=1)


def _similar_first(sums: list[NDArray[np.float64]], n_own: int) -> NDArray[np.intp]:
    """Order of the first groups along the first principal component of their means."""
    total, weights = (part[:n_own] for part in sums)
    means = _ratio(total, weights)
    spread = np.sqrt(weights) * (means - _ratio(total.sum(axis=0), weights.sum(axis=0)))
    direction = np.linalg.svd(spread, full_matrices=False)[2][0]
    direction *= np.sign(direction[np.abs(direction).argmax()]) or 1.0
    return np.argsort(means @ direction, kind="stable")

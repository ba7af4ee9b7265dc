"""Sums over boxes of cells, and near points at which they reach their needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

# Points that are evaluated in one block, which bounds the memory of their profiles, and
# points that a climb keeps. With 4 or 64, costs differ by less than 0.5 % on average.
# This figure and those below are of 48 rows of forests and boosted trees with 600 to
# 4600 boxes, without time for branch and bound: `near_point` alone.
_BLOCK = 16
# Starts that are descended from, and the nearest results that are refined in time. With
# 1 start costs are 5 % higher on average, with 4 2 %; with 64 2 % lower, in 1.6 times
# the time.
_STARTS, _REFINED = 16, 12
# Results that are refined in any case; a single one with more boxes than `_MANY`, since
# a refinement tries pairs of cells. Six with any number of boxes lower costs by 3 %, in
# 4.6 times the time; a single one raises them by 1 %.
_SURELY, _MANY = 3, 1000
# Rounds without progress before a climb stops: one more than progress needs, for levels
# of equal shortfall. With 1 or 4, all costs are the same.
_IDLE = 2
# Relative difference of costs that count as equal, so that no descent follows rounding.
_SAME_COST = 1e-9
# Relative rounding error of sums, of thousands of terms.
_ROUNDING = 1e-12
# Largest relative extension of shifts, for the error of the constraints in solutions of
# `milp`: ten times the tolerance of HiGHS, 1e-6.
_MISSED = 1e-5


@dataclass(frozen=True, eq=False)
class CellValues:
    """Linear constraints on the values of some columns within their cells.

    Parameters
    ----------
    columns : ndarray of shape (k,), intp
        Positions of the columns that constraints have coefficients of.
    coefficients : ndarray of shape (m, k)
        Coefficients of m constraints.
    bounds : ndarray of shape (m,)
        Upper bounds of the sums of coefficients times values.
    nearest : list of ndarray
        The value of each cell that costs no more than the cell, by column.
    low, high : list of ndarray
        Ends of the cells.
    costs : ndarray of shape (k,)
        Costs of a unit away from the nearest.
    is_integer : ndarray of shape (k,), bool
        Mask of columns whose values move by whole units.
    """

    columns: NDArray[np.intp]
    coefficients: NDArray[np.float64]
    bounds: NDArray[np.float64]
    nearest: list[NDArray[np.float64]]
    low: list[NDArray[np.float64]]
    high: list[NDArray[np.float64]]
    costs: NDArray[np.float64]
    is_integer: NDArray[np.bool_]

    def _at(
        self, cells: Sequence[NDArray[np.intp]] | NDArray[np.intp]
    ) -> Iterator[list[NDArray[np.float64]]]:
        """Nearest values and ends at a cell, or some cells, of each column."""
        return (
            [values[cell] for values, cell in zip(by_column, cells, strict=True)]
            for by_column in (self.nearest, self.low, self.high)
        )

    def satisfied_by(self, values: NDArray[np.float64]) -> bool:
        """Whether values (p,) of all columns satisfy the constraints, to rounding."""
        terms = self.coefficients * values[self.columns]
        rounding = _ROUNDING * (np.abs(terms).sum(axis=1) + np.abs(self.bounds))
        return bool((terms.sum(axis=1) <= self.bounds + rounding).all())

    def shifts(
        self, point: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64] | None, float]:
        """The cheapest shifts (k,) from the nearest values of a point, and their cost.

        None, at infinite cost, where no shifts satisfy the constraints.
        """
        near, low, high = (np.array(values) for values in self._at(point[self.columns]))
        spare = self.bounds - self.coefficients @ near
        if (spare >= 0).all():
            return np.zeros(len(near)), 0.0
        if not len(near):
            return None, np.inf
        solution = milp(
            np.tile(self.costs, 2),
            integrality=np.tile(self.is_integer, 2),
            bounds=Bounds(0, np.append(high - near, near - low)),
            constraints=LinearConstraint(
                np.hstack([self.coefficients, -self.coefficients]), -np.inf, spare
            ),
        )
        if solution.x is None:
            return None, np.inf
        up, down = np.split(solution.x, 2)
        shifts = up - down
        shifts = np.where(self.is_integer, np.rint(shifts), shifts)
        # The solver misses constraints by its tolerance: shifts are extended by that.
        fractional = np.where(self.is_integer, 0, shifts)
        lacking = self.coefficients @ shifts - spare
        rates = -(self.coefficients @ fractional)
        useful = (lacking > 0) & (rates > 0)
        farther = (lacking[useful] / rates[useful]).max(initial=0)
        shifts = np.clip(
            shifts + min(farther, _MISSED) * fractional, low - near, high - near
        )
        return shifts, float(np.abs(shifts) @ self.costs)

    def rows(
        self,
        cells: list[NDArray[np.intp]],
        binaries: list[NDArray[np.intp]],
        first: int,
        most: float,
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64], float]]:
        """Rows of a program: variables, coefficients, upper limits of the sums.

        Parameters
        ----------
        cells : list of ndarray
            The cells of each column that are variables of the program.
        binaries : list of ndarray
            Variables of the cells from which on a point lies.
        first : int
            The first variable of the shifts up, then down.
        most : float
            Upper limit of the costs.
        """
        up, down = first + np.arange(2 * len(self.columns)).reshape(2, -1)
        near, low, high = self._at(cells)
        for k, of_column in enumerate(binaries):
            paid = most / self.costs[k] if self.costs[k] > 0 else np.inf
            rooms = high[k] - near[k], near[k] - low[k]
            for shift, room in zip((up[k], down[k]), rooms, strict=True):
                room = np.minimum(room, paid)
                size = max(np.abs(np.diff(room)).max(initial=0), 1.0)
                row = np.append(-np.diff(room), 1.0)
                yield np.append(of_column, shift), row / size, room[0] / size
        variables = np.concatenate([*binaries, up, down])
        for row, bound in zip(self.coefficients, self.bounds, strict=True):
            of_cells = [a * np.diff(value) for a, value in zip(row, near, strict=True)]
            start = sum(a * value[0] for a, value in zip(row, near, strict=True))
            row = np.concatenate([*of_cells, row, -row])
            size = np.abs(row).max(initial=0) or 1.0
            yield variables, row / size, (bound - start) / size


@dataclass(frozen=True, eq=False)
class BoxSums:
    """Sums of values over the boxes that a point lies in, and the costs of points.

    A point has a cell in each column, columns have cells 0, 1, ..., and a box spans
    consecutive cells of each column. The boxes of one tree share out all points.

    Parameters
    ----------
    costs : list of ndarray
        Costs of the cells of each column; infinite for those that may not be taken.
    origin : ndarray of shape (p,), intp
        The cells that cost nothing, or that have to be left, at infinite costs.
    tree : ndarray of shape (n_boxes,), intp
        Increasing.
    low, high : ndarray of shape (n_boxes, p), intp
        First and last cell of each box in each column.
    gains : ndarray of shape (n_boxes, m)
        Contribution of each box to each of m sums.
    needs : ndarray of shape (m,)
        Lower bounds that the sums have to reach.
    change_weights : ndarray of shape (k, p)
        Weights of changed columns; k may be zero.
    most_changed : ndarray of shape (k,)
        Upper limits of the summed weights of columns that leave the origin.
    within : CellValues or None
        Linear constraints on the values within the cells.
    """

    costs: list[NDArray[np.float64]]
    origin: NDArray[np.intp]
    tree: NDArray[np.intp]
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    gains: NDArray[np.float64]
    needs: NDArray[np.float64]
    change_weights: NDArray[np.float64]
    most_changed: NDArray[np.float64]
    within: CellValues | None = None

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Numbers of cells."""
        return np.array([len(cost) for cost in self.costs], dtype=np.intp)

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """Positions of each column's cells among all, with a gap between columns."""
        return np.cumsum(self.sizes + 1) - self.sizes - 1

    @cached_property
    def _costs(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Costs of all cells, infinite between columns, and the column of each."""
        flat = np.full((self.sizes + 1).sum(), np.inf)
        for start, cost in zip(self._starts, self.costs, strict=True):
            flat[start : start + len(cost)] = cost
        return flat, np.repeat(np.arange(len(self.sizes)), self.sizes + 1)

    @cached_property
    def _conditions(self) -> tuple[NDArray[np.integer], ...]:
        """Conditions of the boxes: box, column, first and last cell; starts of turns.

        A box has one for each column that it does not span. The first turn holds the
        first condition of each box, the second turn the second one of those that have
        more, and so on, the boxes with most conditions in front.
        """
        bounded = (self.low > 0) | (self.high < self.sizes - 1)
        bounded[:, :1] |= ~bounded.any(axis=1, keepdims=True)  # at least one per box
        numbers = bounded.sum(axis=1)
        boxes = np.argsort(-numbers, kind="stable")
        position, column = np.nonzero(bounded[boxes])
        first = np.cumsum(numbers[boxes]) - numbers[boxes]
        turn = np.arange(len(position)) - first[position]
        order = np.argsort(turn, kind="stable")
        box, column = boxes[position[order]], column[order]
        small = np.min_scalar_type(-self.sizes.max())
        low, high = (a[box, column].astype(small) for a in (self.low, self.high))
        return box, column, low, high, np.flatnonzero(np.diff(turn[order], prepend=-1))

    def take(self, boxes: NDArray[np.bool_] | NDArray[np.integer]) -> BoxSums:
        """The sums over some of the boxes, by a mask or positions."""
        return replace(
            self,
            tree=self.tree[boxes],
            low=self.low[boxes],
            high=self.high[boxes],
            gains=self.gains[boxes],
        )

    def without(self, point: NDArray[np.intp]) -> BoxSums:
        """The sums, where points in the same boxes never reach the needs.

        One more tree subtracts from the sums in the box around these, and only there.
        """
        around = ((self.low <= point) & (point <= self.high)).all(axis=1)
        first, last = self.low[around].max(axis=0), self.high[around].min(axis=0)
        box = np.array([np.zeros_like(self.sizes), self.sizes - 1])
        boxes = []
        for j in range(len(point)):
            for cell, edge in ((first[j] - 1, 0), (last[j] + 1, self.sizes[j] - 1)):
                if 0 <= cell < self.sizes[j]:
                    boxes.append(box.copy())
                    boxes[-1][:, j] = sorted((cell, edge))
            box[:, j] = first[j], last[j]
        low, high = np.array([*boxes, box]).swapaxes(0, 1)
        # This exceeds the slack of all trees together.
        size = np.abs(self.gains).max(axis=0) * (self.tree[-1] + 1)
        box_gains = np.zeros((len(low), len(self.needs)))
        box_gains[-1] = -2 * (size + np.abs(self.needs)) - np.finfo(float).tiny
        return replace(
            self,
            tree=np.append(self.tree, np.full(len(low), self.tree[-1] + 1)),
            low=np.concatenate([self.low, low]),
            high=np.concatenate([self.high, high]),
            gains=np.concatenate([self.gains, box_gains]),
        )

    def least_costs(self) -> NDArray[np.float64]:
        """Least costs of the cells of each box in each column, (n_boxes, p)."""
        least = np.empty(self.low.shape)
        for j, (cost, origin) in enumerate(zip(self.costs, self.origin, strict=True)):
            low, high = self.low[:, j], self.high[:, j]
            falls, rises = cost[1:] <= cost[:-1], cost[1:] >= cost[:-1]
            if falls[:origin].all() and rises[origin:].all():
                least[:, j] = cost[np.clip(origin, low, high)]
                continue
            cells = np.arange(len(cost))
            within = (cells >= low[:, None]) & (cells <= high[:, None])
            least[:, j] = np.where(within, cost, np.inf).min(axis=1)
        return least

    def within_cost(self, most: float) -> BoxSums:
        """The sums over the boxes that points up to a cost may lie in."""
        return self.take(self.least_costs().sum(axis=1) <= most * (1 + _SAME_COST))

    def cost(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Costs of points (n, p)."""
        return self._costs[0][self._starts + points].sum(axis=1)

    def total_cost(self, point: NDArray[np.intp]) -> float:
        """The cost of a point within its constraints; infinite if they exclude it."""
        extra = 0.0 if self.within is None else self.within.shifts(point)[1]
        return self.cost(point[None])[0] + extra

    def n_changes(self, points: NDArray[np.intp]) -> NDArray[np.intp]:
        """Numbers of changed cells of points (n, p)."""
        return (points != self.origin).sum(axis=1)

    def sums(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Sums at points (n, p): (n, m)."""
        sums = np.empty((len(points), len(self.needs)))
        for start in range(0, len(points), _BLOCK):
            block = slice(start, start + _BLOCK)
            sums[block] = self._reached(self._missed(points[block])[1]).T
        return sums

    def missing(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Shortfall of the sums at points (n, p), over all needs: (n,)."""
        return np.maximum(self.needs - self.sums(points), 0).sum(axis=1)

    def _reached(self, counts: NDArray[np.integer]) -> NDArray[np.float64]:
        """Sums (m, n) over the boxes of which all conditions are met."""
        point, position = np.divmod(np.flatnonzero(counts == 0), counts.shape[1])
        gains = self.gains[self._conditions[0][position]].T
        return np.array([np.bincount(point, gain, len(counts)) for gain in gains])

    def holds(self, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the sums at points reach their needs, with few changed columns."""
        return self.holds_but_for_changes(points) & self._few(points)

    def _few(self, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the changed columns of points are within their limits."""
        weights = (points != self.origin) @ self.change_weights.T
        return np.all(weights <= self.most_changed, axis=1)

    def _missed(
        self, points: NDArray[np.intp]
    ) -> tuple[NDArray[np.bool_], NDArray[np.integer]]:
        """Mask of conditions that points miss, and their numbers by box."""
        _, column, low, high, starts = self._conditions
        cells = points.astype(low.dtype).take(column, axis=1)
        missed = (cells < low) | (cells > high)
        shape = len(points), len(self.tree)
        counts = np.zeros(shape, dtype=np.min_scalar_type(len(starts)))
        for turn in np.split(missed, starts[1:], axis=1):
            counts[:, : turn.shape[1]] += turn
        return missed, counts

    def profiles(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Sums at points with any one cell replaced by any other: (m, n, n_cells)."""
        box, column, low, high, starts = self._conditions
        missed, counts = self._missed(points)
        # Conditions of boxes whose other conditions are all met.
        turns = np.split(missed, starts[1:], axis=1)
        near = [counts[:, : turn.shape[1]] == turn for turn in turns]
        entries = np.flatnonzero(np.concatenate(near, axis=1))
        point, condition = np.divmod(entries, len(column))
        met = ~missed.ravel()[entries]
        n_points, n_cells = len(points), len(self._costs[0])
        row = point * n_cells + self._starts[column[condition]]
        positions = np.concatenate([row + low[condition], row + high[condition] + 1])
        # In a column of a box that is met, its gain counts within the condition alone.
        lost_at = (point * len(self.sizes) + column[condition])[met]
        profiles = np.empty((len(self.needs), n_points, n_cells))
        for k, gain in enumerate(self.gains[box[condition]].T):
            changes = np.bincount(positions, np.append(gain, -gain), n_points * n_cells)
            changes = changes.reshape(n_points, n_cells)
            lost = np.bincount(lost_at, gain[met], n_points * len(self.sizes))
            lost = lost.reshape(n_points, -1)
            changes[:, self._starts] -= lost
            changes[:, self._starts + self.sizes] += lost
            profiles[k] = changes.cumsum(axis=1)
        return profiles + self._reached(counts)[:, :, None]

    def _moves(
        self, points: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """The best change of one cell of each point: column, cell, cost reached.

        The cost is infinite where no change of one cell reaches the needs.
        """
        enough = (self.profiles(points) >= self.needs[:, None, None]).all(axis=0)
        flat, column = self._costs
        now = flat[self._starts + points]
        other_costs = now.sum(axis=1, keepdims=True) - now
        costs = other_costs[:, column] + flat
        if len(self.most_changed):
            is_origin = np.zeros(len(flat), dtype=bool)
            is_origin[self._starts + self.origin] = True
            changed, weights = points != self.origin, self.change_weights.T
            total = changed @ weights
            after = (total[:, None] - changed[:, :, None] * weights)[:, column]
            after += ~is_origin[:, None] * weights[column]
            # Points with too many changes may lower them.
            fewer = after < total[:, None]
            costs[~((after <= self.most_changed) | fewer).all(axis=2)] = np.inf
        costs[~enough] = np.inf
        best = costs.argmin(axis=1)
        cost = costs[np.arange(len(points)), best]
        return column[best], best - self._starts[column[best]], cost

    def descended(
        self, points: NDArray[np.intp], end: float = np.inf
    ) -> NDArray[np.intp]:
        """Points at which the sums reach the needs, moved to lower costs by cells.

        Descents stop where no cell saves cost, or at the time `end`.
        """
        points = points.copy()
        costs = self.cost(points)
        boxes = self.within_cost(costs.max())
        active = np.arange(len(points))
        while len(active) and monotonic() < end:
            columns, cells, reached = boxes._moves(points[active])
            better = reached < costs[active] * (1 - _SAME_COST)
            active = active[better]
            points[active, columns[better]] = cells[better]
            costs[active] = reached[better]
        return points

    def attained(self, points: NDArray[np.intp]) -> NDArray[np.intp] | None:
        """A point that reaches the needs, by changes of single cells, or None.

        A beam search at any cost, from points (n, p): it keeps those of the smallest
        shortfall.
        """
        flat, column = self._costs
        best, idle = np.inf, 0
        while idle < _IDLE:
            missing = self.needs[:, None, None] - self.profiles(points)
            missing = np.maximum(missing, 0).sum(axis=0)
            missing[:, np.isinf(flat)] = np.inf
            least, first = np.unique(missing, return_index=True)
            first = first[np.isfinite(least)][:_BLOCK]
            if not len(first):
                break
            parent, cell = np.divmod(first, len(flat))
            points, changed = points[parent], column[cell]
            points[np.arange(len(cell)), changed] = cell - self._starts[changed]
            if least[0] == 0:
                return points[0]
            idle = 0 if least[0] < best else idle + 1
            best = min(least[0], best)
        return None

    def refined(self, point: NDArray[np.intp], end: float = np.inf) -> NDArray[np.intp]:
        """A point after changes of two cells together, one of which saves cost.

        Changes stop where none is left, or at the time `end`.
        """
        while monotonic() < end:
            cost = self.cost(point[None])[0]
            boxes = self.within_cost(cost)
            # Changes of two cells enter no boxes with more missed conditions.
            few = np.flatnonzero(boxes._missed(point[None])[1][0] <= 2)
            near = boxes.take(np.sort(boxes._conditions[0][few]))
            tried = near._savings(point)
            better = None
            for start in range(0, len(tried), _BLOCK):
                if monotonic() > end:
                    break
                block = tried[start : start + _BLOCK]
                columns, cells, reached = near._moves(block)
                best = reached.argmin()
                if reached[best] < cost * (1 - _SAME_COST):
                    better = block[best].copy()
                    better[columns[best]] = cells[best]
                    break
            if better is None:
                break
            point = boxes.descended(better[None], end)[0]
        return point

    def _savings(self, point: NDArray[np.intp]) -> NDArray[np.intp]:
        """Points with one cell replaced by a cheaper one, the largest saving first.

        Of cells in the same boxes, only the cheapest is tried.
        """
        flat, column = self._costs
        now = flat[self._starts + point]
        cheaper = np.flatnonzero(flat < now[column] * (1 - _SAME_COST))
        savings = flat[cheaper] - now[column[cheaper]]
        cheaper = cheaper[np.argsort(savings, kind="stable")]
        ends = np.zeros(len(flat), dtype=bool)
        ends[self._starts] = ends[self._starts + self.low] = True
        ends[self._starts + self.high + 1] = True
        _, first = np.unique(np.cumsum(ends)[cheaper], return_index=True)
        cheaper = cheaper[np.sort(first)]
        tried = np.repeat(point[None], len(cheaper), axis=0)
        columns = column[cheaper]
        tried[np.arange(len(cheaper)), columns] = cheaper - self._starts[columns]
        return tried

    def near_point(
        self, starts: NDArray[np.intp], end: float = 0.0, stop: float = np.inf
    ) -> NDArray[np.intp] | None:
        """A cheap point that reaches the needs, from starts (n, p) and the origin.

        None where none is found. The cheapest are refined until `stop`, others until
        `end`.
        """
        costs = self.cost(starts)
        order = np.argsort(costs, kind="stable")
        starts = starts[order[np.isfinite(costs[order])]]
        feasible = starts[:0]
        for block in np.split(starts, range(_STARTS, len(starts), _STARTS)):
            if len(feasible) < _STARTS:
                feasible = np.vstack(
                    [feasible, block[self.holds_but_for_changes(block)]]
                )
        starts = feasible[:_STARTS]
        # Cells of the origin that have to be left are exchanged for the cheapest.
        start = [
            cell if np.isfinite(cost[cell]) else cost.argmin()
            for cell, cost in zip(self.origin, self.costs, strict=True)
        ]
        attained = self.attained(np.array([start]))
        # A column that has to change may have no cell for it.
        if attained is not None and np.isfinite(self.cost(attained[None])[0]):
            starts = np.vstack([attained, starts])
        if not len(starts):
            return None
        if monotonic() > stop:
            starts = starts[:1]
        points = np.unique(self.descended(starts, stop), axis=0)
        points = points[self._few(points)]
        if not len(points):
            return None
        points = points[np.argsort(self.cost(points), kind="stable")[:_REFINED]]
        n_sure = _SURELY if len(self.tree) <= _MANY else 1
        for k, point in enumerate(points):
            if k < n_sure or monotonic() < end:
                points[k] = self.refined(point, stop)
        if self.within is not None:
            points = np.concatenate([points, starts])
            points = points[self.holds(points)]
        costs, best, least = self.cost(points), None, np.inf
        for k in np.argsort(costs, kind="stable"):
            if costs[k] >= least:
                break
            total = self.total_cost(points[k])
            if total < least:
                best, least = points[k], total
        return best

    def holds_but_for_changes(self, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the sums at points reach the needs."""
        return np.all(self.sums(points) >= self.needs, axis=1)

    def widened(
        self, low: NDArray[np.intp], high: NDArray[np.intp], columns: Iterable[int]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """A wider box of cells (p,) to (p,) in which the sums reach their needs.

        Each side of some columns is moved by one cell in turn, until none can be.
        """
        low, high = low.copy(), high.copy()
        n_missed = ((self.low > high) | (self.high < low)).sum(axis=1)
        starts = np.flatnonzero(np.diff(self.tree, prepend=-1))
        sides = [(j, step) for j in columns for step in (-1, 1)]
        while sides:
            wider = []
            for j, step in sides:
                side, ends = (low, self.high) if step < 0 else (high, self.low)
                cell = side[j] + step
                usable = 0 <= cell < len(self.costs[j])
                if not usable or np.isinf(self.costs[j][cell]):
                    continue
                entered = ends[:, j] == cell
                met = (n_missed == entered)[:, None]
                gains = np.where(met, self.gains, np.inf)
                least = np.minimum.reduceat(gains, starts, axis=0).sum(axis=0)
                if (least >= self.needs).all():
                    side[j] = cell
                    n_missed -= entered
                    wider.append((j, step))
            sides = wider
        return low, high

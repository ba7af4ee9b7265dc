"""Sums over boxes of cells, and cheap points at which they reach their needs.

A point is one cell in each column. A leaf of a tree is a box of cells with a gain for
each sum; a sum at a point adds up the gains of the boxes that the point lies in
(:class:`BoxSums`). Linear constraints may limit the values within the cells of a point
(:class:`CellConstraints`).

`BoxSums.near_point` is a heuristic: a beam search leads from the origin to the needs
(`reach_needs`), descents exchange single cells for cheaper ones (`descend`), and then
two cells at a time (`exchange_pairs`). :mod:`programs` finds the cheapest point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

# Points whose profiles are in memory together, and points that a beam search keeps:
# more take more memory and time, and hardly lower the costs. Chosen by hand.
_BLOCK = 16
# Largest number of starts of descents: more take time, fewer miss cheaper points.
_STARTS = 16
# The cheapest results of the descents, which are refined while there is time.
_REFINED = 12
# Results that are refined whether or not there is time; a single one with many boxes,
# since a refinement tries pairs of cells: its time grows fastest with the boxes.
_ALWAYS_REFINED = 3
_MANY_BOXES = 1000
# Rounds without progress before a beam search stops: it may have to cross points of
# equal shortfall.
_IDLE_ROUNDS = 2
# Relative difference of costs that count as equal, so that no descent follows rounding.
_SAME_COST = 1e-9
# Relative rounding error of sums, of thousands of terms.
_ROUNDING = 1e-12
# Largest relative extension of shifts, for the error of the constraints in solutions of
# `milp`: ten times the tolerance of HiGHS, 1e-6.
_LARGEST_EXTENSION = 1e-5


@dataclass(frozen=True, eq=False)
class CellConstraints:
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

    def _values_at(
        self, cells: Sequence[NDArray[np.intp]] | NDArray[np.intp]
    ) -> Iterator[list[NDArray[np.float64]]]:
        """Nearest values, low ends, high ends, by column: at one or some cells each."""
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
        nearest, low, high = map(np.array, self._values_at(point[self.columns]))
        slack = self.bounds - self.coefficients @ nearest
        if (slack >= 0).all():
            return np.zeros(len(nearest)), 0.0
        if not len(nearest):
            return None, np.inf
        solution = milp(
            np.tile(self.costs, 2),
            integrality=np.tile(self.is_integer, 2),
            bounds=Bounds(0, np.append(high - nearest, nearest - low)),
            constraints=LinearConstraint(
                np.hstack([self.coefficients, -self.coefficients]), -np.inf, slack
            ),
        )
        if solution.x is None:
            return None, np.inf
        up, down = np.split(solution.x, 2)
        shifts = up - down
        shifts = np.where(self.is_integer, np.rint(shifts), shifts)
        # The solver misses constraints by its tolerance: shifts that are not in whole
        # units are extended in proportion, until the constraints are met.
        fractional = np.where(self.is_integer, 0, shifts)
        excess = self.coefficients @ shifts - slack
        reductions = -(self.coefficients @ fractional)
        useful = (excess > 0) & (reductions > 0)
        extension = (excess[useful] / reductions[useful]).max(initial=0)
        shifts = shifts + min(extension, _LARGEST_EXTENSION) * fractional
        shifts = np.clip(shifts, low - nearest, high - nearest)
        return shifts, float(np.abs(shifts) @ self.costs)

    def program_rows(
        self,
        cells: list[NDArray[np.intp]],
        steps: list[NDArray[np.intp]],
        first: int,
        most: float,
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64], float]]:
        """Rows of a program: variables, coefficients, upper limits of the sums.

        The value of a column is written as the value of its first cell plus differences
        between neighbouring cells, each times the variable that says whether the point
        lies beyond it. All rows are scaled to a largest coefficient of about 1.

        Parameters
        ----------
        cells : list of ndarray
            The cells of each column that are variables of the program.
        steps : list of ndarray
            For each column the variables of its cells but the first: whether the point
            lies in this cell or a later one.
        first : int
            The first variable of the shifts up, then down.
        most : float
            Upper limit of the costs.
        """
        up, down = first + np.arange(2 * len(self.columns)).reshape(2, -1)
        nearest, low, high = self._values_at(cells)
        # Shifts stay within the cell, and cost at most `most`.
        for k, column_steps in enumerate(steps):
            affordable = most / self.costs[k] if self.costs[k] > 0 else np.inf
            rooms = high[k] - nearest[k], nearest[k] - low[k]
            for shift, room in zip((up[k], down[k]), rooms, strict=True):
                room = np.minimum(room, affordable)
                size = max(np.abs(np.diff(room)).max(initial=0), 1.0)
                row = np.append(-np.diff(room), 1.0)
                yield np.append(column_steps, shift), row / size, room[0] / size
        variables = np.concatenate([*steps, up, down])
        for factors, bound in zip(self.coefficients, self.bounds, strict=True):
            pairs = list(zip(factors, nearest, strict=True))
            differences = [factor * np.diff(values) for factor, values in pairs]
            first_cells = sum(factor * values[0] for factor, values in pairs)
            row = np.concatenate([*differences, factors, -factors])
            size = np.abs(row).max(initial=0) or 1.0
            yield variables, row / size, (bound - first_cells) / size


class _FlatCells(NamedTuple):
    """The cells of all columns side by side, with a gap after each column."""

    start: NDArray[np.intp]  # (p,): position of each column's first cell
    cost: NDArray[np.float64]  # (n_flat,): costs of the cells; infinite in gaps
    column: NDArray[np.intp]  # (n_flat,): the column of each cell


class _Exchanges(NamedTuple):
    """Exchanges of one cell of each of n points."""

    column: NDArray[np.intp]  # (n,)
    cell: NDArray[np.intp]  # (n,): the new cell
    cost: NDArray[np.float64]  # (n,): of the point after the exchange


class _Conditions(NamedTuple):
    """Conditions of boxes: one for each column of which a box does not span all cells.

    They are ordered by turns: the first turn holds the first condition of each box, the
    second turn the second condition of each box with two or more, and so on. In each
    turn the boxes with most conditions come first.
    """

    box: NDArray[np.intp]
    column: NDArray[np.intp]
    low: NDArray[np.integer]  # first and
    high: NDArray[np.integer]  # last cell that meets the condition
    turn_start: NDArray[np.intp]  # positions at which turns begin

    def split_by_turn(self, missed: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """The columns of a mask (n, n_conditions), split into turns."""
        return np.split(missed, self.turn_start[1:], axis=1)


@dataclass(frozen=True, eq=False)
class BoxSums:
    """Sums of gains over the boxes that a point lies in, and the costs of points.

    A point has a cell in each of p columns, columns have cells 0, 1, ..., and a box
    spans consecutive cells of each column. Each point lies in one box of each tree.

    Parameters
    ----------
    costs : list of ndarray
        Costs of the cells of each column; infinite for forbidden cells.
    origin : ndarray of shape (p,), intp
        The cell of each column that costs nothing; or, at infinite costs, that has to
        be left.
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
    change_limits : ndarray of shape (k,)
        Upper limits of the summed weights of columns that leave the origin.
    constraints : CellConstraints or None
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
    change_limits: NDArray[np.float64]
    constraints: CellConstraints | None = None

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Numbers of cells, (p,)."""
        return np.array([len(cost) for cost in self.costs], dtype=np.intp)

    @cached_property
    def _flat(self) -> _FlatCells:
        """The cells of all columns side by side."""
        starts = np.cumsum(self.sizes + 1) - self.sizes - 1
        costs = np.full((self.sizes + 1).sum(), np.inf)
        for start, cost in zip(starts, self.costs, strict=True):
            costs[start : start + len(cost)] = cost
        column = np.repeat(np.arange(len(self.sizes)), self.sizes + 1)
        return _FlatCells(starts, costs, column)

    @cached_property
    def _conditions(self) -> _Conditions:
        """The conditions of all boxes; at least one of each."""
        bounded = (self.low > 0) | (self.high < self.sizes - 1)
        bounded[:, :1] |= ~bounded.any(axis=1, keepdims=True)  # at least one per box
        n_conditions = bounded.sum(axis=1)
        boxes = np.argsort(-n_conditions, kind="stable")
        position, column = np.nonzero(bounded[boxes])
        first = np.cumsum(n_conditions[boxes]) - n_conditions[boxes]
        turn = np.arange(len(position)) - first[position]
        order = np.argsort(turn, kind="stable")
        box, column = boxes[position[order]], column[order]
        small = np.min_scalar_type(-self.sizes.max())
        low, high = (a[box, column].astype(small) for a in (self.low, self.high))
        turn_start = np.flatnonzero(np.diff(turn[order], prepend=-1))
        return _Conditions(box, column, low, high, turn_start)

    def take(self, boxes: NDArray[np.bool_] | NDArray[np.integer]) -> BoxSums:
        """The sums over some of the boxes, by a mask or positions."""
        return replace(
            self,
            tree=self.tree[boxes],
            low=self.low[boxes],
            high=self.high[boxes],
            gains=self.gains[boxes],
        )

    def exclude_boxes_at(self, point: NDArray[np.intp]) -> BoxSums:
        """The sums, changed so that no point in the same boxes as `point` suffices.

        One more tree subtracts from the sums in the intersection of these boxes alone.
        """
        hold_point = ((self.low <= point) & (point <= self.high)).all(axis=1)
        first = self.low[hold_point].max(axis=0)
        last = self.high[hold_point].min(axis=0)
        # Column by column, boxes are cut off below and above the intersection.
        inner = np.array([np.zeros_like(self.sizes), self.sizes - 1])
        outside = []
        for j in range(len(point)):
            for cell, edge in ((first[j] - 1, 0), (last[j] + 1, self.sizes[j] - 1)):
                if 0 <= cell < self.sizes[j]:
                    outside.append(inner.copy())
                    outside[-1][:, j] = sorted((cell, edge))
            inner[:, j] = first[j], last[j]
        low, high = np.array([*outside, inner]).swapaxes(0, 1)
        # The loss exceeds the surplus of all trees together.
        largest_sums = np.abs(self.gains).max(axis=0) * (self.tree[-1] + 1)
        box_gains = np.zeros((len(low), len(self.needs)))
        box_gains[-1] = -2 * (largest_sums + np.abs(self.needs)) - np.finfo(float).tiny
        return replace(
            self,
            tree=np.append(self.tree, np.full(len(low), self.tree[-1] + 1)),
            low=np.concatenate([self.low, low]),
            high=np.concatenate([self.high, high]),
            gains=np.concatenate([self.gains, box_gains]),
        )

    def least_costs(self) -> NDArray[np.float64]:
        """Least costs of the cells of each box in each column, (n_boxes, p)."""
        least_costs = np.empty(self.low.shape)
        for j, (cost, origin) in enumerate(zip(self.costs, self.origin, strict=True)):
            low, high = self.low[:, j], self.high[:, j]
            falls, rises = cost[1:] <= cost[:-1], cost[1:] >= cost[:-1]
            # Costs that rise away from the origin are least at the nearest cell.
            if falls[:origin].all() and rises[origin:].all():
                least_costs[:, j] = cost[np.clip(origin, low, high)]
                continue
            cells = np.arange(len(cost))
            within = (cells >= low[:, None]) & (cells <= high[:, None])
            least_costs[:, j] = np.where(within, cost, np.inf).min(axis=1)
        return least_costs

    def within_cost(self, most: float) -> BoxSums:
        """The sums over the boxes that points up to a cost may lie in."""
        return self.take(self.least_costs().sum(axis=1) <= most * (1 + _SAME_COST))

    def cost(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Costs of points (n, p)."""
        return self._flat.cost[self._flat.start + points].sum(axis=1)

    def total_cost(self, point: NDArray[np.intp]) -> float:
        """The cost of a point within its constraints; infinite if they exclude it."""
        shifts = 0.0 if self.constraints is None else self.constraints.shifts(point)[1]
        return self.cost(point[None])[0] + shifts

    def n_changes(self, points: NDArray[np.intp]) -> NDArray[np.intp]:
        """Numbers of changed cells of points (n, p)."""
        return (points != self.origin).sum(axis=1)

    def sums(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Sums at points (n, p): (n, m)."""
        sums = np.empty((len(points), len(self.needs)))
        for start in range(0, len(points), _BLOCK):
            block = slice(start, start + _BLOCK)
            sums[block] = self._sums_of_met(self._missed_conditions(points[block])[1]).T
        return sums

    def shortfalls(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Shortfall of the sums at points (n, p), over all needs: (n,)."""
        return np.maximum(self.needs - self.sums(points), 0).sum(axis=1)

    def _sums_of_met(self, n_missed: NDArray[np.integer]) -> NDArray[np.float64]:
        """Sums (m, n) over the boxes of which all conditions are met."""
        point, position = np.divmod(np.flatnonzero(n_missed == 0), n_missed.shape[1])
        gains = self.gains[self._conditions.box[position]].T
        return np.array([np.bincount(point, gain, len(n_missed)) for gain in gains])

    def holds(self, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the sums at points reach their needs, with few changed columns."""
        return self.holds_but_for_changes(points) & self._within_change_limits(points)

    def holds_but_for_changes(self, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the sums at points reach the needs."""
        return np.all(self.sums(points) >= self.needs, axis=1)

    def _within_change_limits(self, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the changed columns of points are within their limits."""
        weights = (points != self.origin) @ self.change_weights.T
        return np.all(weights <= self.change_limits, axis=1)

    def _missed_conditions(
        self, points: NDArray[np.intp]
    ) -> tuple[NDArray[np.bool_], NDArray[np.integer]]:
        """Mask (n, n_conditions) of conditions that points miss, and numbers of them.

        The numbers (n, n_boxes) are in the order of the first conditions of boxes.
        """
        conditions = self._conditions
        low, high = conditions.low, conditions.high
        cells = points.astype(low.dtype).take(conditions.column, axis=1)
        missed = (cells < low) | (cells > high)
        n_turns, shape = len(conditions.turn_start), (len(points), len(self.tree))
        n_missed = np.zeros(shape, dtype=np.min_scalar_type(n_turns))
        for turn in conditions.split_by_turn(missed):
            n_missed[:, : turn.shape[1]] += turn
        return missed, n_missed

    def profiles(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """Sums at points with any one cell replaced by any other: (m, n, n_flat).

        A profile is a cumulative sum along the cells: the gain of a box is added where
        the cells that meet its condition begin, and subtracted where they end.
        """
        starts, n_flat = self._flat.start, len(self._flat.cost)
        n_points, n_columns = points.shape
        missed, n_missed = self._missed_conditions(points)
        # The cell of one column decides on boxes whose other conditions are all met.
        decides = [
            n_missed[:, : turn.shape[1]] == turn
            for turn in self._conditions.split_by_turn(missed)
        ]
        deciding = np.flatnonzero(np.concatenate(decides, axis=1))
        point, condition = np.divmod(deciding, missed.shape[1])
        box, column, low, high = (a[condition] for a in self._conditions[:4])
        met = ~missed.ravel()[deciding]
        first_cell = point * n_flat + starts[column]
        change_cells = np.concatenate([first_cell + low, first_cell + high + 1])
        # The gain of a box that is met is in the sums at the point: in the column of
        # the condition it is subtracted from these, so that it is counted once.
        column_of_point = (point * n_columns + column)[met]
        profiles = np.empty((len(self.needs), n_points, n_flat))
        for k, gain in enumerate(self.gains[box].T):
            signed_gains = np.append(gain, -gain)
            changes = np.bincount(change_cells, signed_gains, n_points * n_flat)
            changes = changes.reshape(n_points, n_flat)
            counted = np.bincount(column_of_point, gain[met], n_points * n_columns)
            counted = counted.reshape(n_points, -1)
            changes[:, starts] -= counted
            changes[:, starts + self.sizes] += counted
            profiles[k] = changes.cumsum(axis=1)
        return profiles + self._sums_of_met(n_missed)[:, :, None]

    def _best_exchanges(self, points: NDArray[np.intp]) -> _Exchanges:
        """The best exchange of one cell of each point.

        The cost is infinite where no exchange of one cell reaches the needs.
        """
        # All exchanges, (n, n_flat): whether they suffice, and what points then cost.
        enough = (self.profiles(points) >= self.needs[:, None, None]).all(axis=0)
        starts, cell_costs, column = self._flat
        point_costs = cell_costs[starts + points]
        other_costs = point_costs.sum(axis=1, keepdims=True) - point_costs
        costs = other_costs[:, column] + cell_costs
        if len(self.change_limits):
            is_origin = np.zeros(len(cell_costs), dtype=bool)
            is_origin[starts + self.origin] = True
            is_changed, weights = points != self.origin, self.change_weights.T
            sums_before = (is_changed @ weights)[:, None]
            # The column leaves its cell, and is changed unless its new cell is origin.
            sums_after = (sums_before - is_changed[:, :, None] * weights)[:, column]
            sums_after += ~is_origin[:, None] * weights[column]
            # Points beyond the limits may come closer to them.
            permitted = (sums_after <= self.change_limits) | (sums_after < sums_before)
            costs[~permitted.all(axis=2)] = np.inf
        costs[~enough] = np.inf
        best = costs.argmin(axis=1)
        cost = costs[np.arange(len(points)), best]
        return _Exchanges(column[best], best - starts[column[best]], cost)

    def descend(
        self, points: NDArray[np.intp], end: float = np.inf
    ) -> NDArray[np.intp]:
        """Exchange single cells of points that reach the needs, while that saves cost.

        One cell of each point is exchanged at a time, until the time `end` at most.
        """
        points = points.copy()
        costs = self.cost(points)
        boxes = self.within_cost(costs.max())
        active = np.arange(len(points))
        while len(active) and monotonic() < end:
            exchanges = boxes._best_exchanges(points[active])
            saves = exchanges.cost < costs[active] * (1 - _SAME_COST)
            active = active[saves]
            points[active, exchanges.column[saves]] = exchanges.cell[saves]
            costs[active] = exchanges.cost[saves]
        return points

    def reach_needs(self, points: NDArray[np.intp]) -> NDArray[np.intp] | None:
        """A point that reaches the needs, by exchanges of single cells, or None.

        A beam search from points (n, p), without regard to costs: it keeps one point of
        each of the smallest shortfalls.
        """
        starts, cell_costs, column = self._flat
        smallest, idle_rounds = np.inf, 0
        while idle_rounds < _IDLE_ROUNDS:
            shortfalls = self.needs[:, None, None] - self.profiles(points)
            shortfalls = np.maximum(shortfalls, 0).sum(axis=0)
            shortfalls[:, np.isinf(cell_costs)] = np.inf
            # One exchange of each distinct shortfall, the smallest first.
            distinct, exchange = np.unique(shortfalls, return_index=True)
            exchange = exchange[np.isfinite(distinct)][:_BLOCK]
            if not len(exchange):
                break
            parent, cell = np.divmod(exchange, len(cell_costs))
            points, changed = points[parent], column[cell]
            points[np.arange(len(cell)), changed] = cell - starts[changed]
            if distinct[0] == 0:
                return points[0]
            idle_rounds = 0 if distinct[0] < smallest else idle_rounds + 1
            smallest = min(distinct[0], smallest)
        return None

    def exchange_pairs(
        self, point: NDArray[np.intp], end: float = np.inf
    ) -> NDArray[np.intp]:
        """Exchange two cells of a point together, while that saves cost.

        The first exchange saves cost, the second one makes up for the needs that the
        first one misses. Exchanges and descents alternate, at most until `end`.
        """
        while monotonic() < end:
            cost = self.cost(point[None])[0]
            boxes = self.within_cost(cost)
            better = boxes._better_by_two(point, cost, end)
            if better is None:
                break
            point = boxes.descend(better[None], end)[0]
        return point

    def _better_by_two(
        self, point: NDArray[np.intp], cost: float, end: float
    ) -> NDArray[np.intp] | None:
        """A point cheaper than `cost` by exchanges of two cells; None if not found."""
        # Exchanges of two cells enter no boxes with more missed conditions.
        _, n_missed = self._missed_conditions(point[None])
        near_positions = np.flatnonzero(n_missed[0] <= 2)
        near_boxes = self.take(np.sort(self._conditions.box[near_positions]))
        trials = near_boxes._cheaper_by_one(point)
        for start in range(0, len(trials), _BLOCK):
            if monotonic() > end:
                return None
            block = trials[start : start + _BLOCK]
            exchanges = near_boxes._best_exchanges(block)
            best = exchanges.cost.argmin()
            if exchanges.cost[best] < cost * (1 - _SAME_COST):
                better = block[best].copy()
                better[exchanges.column[best]] = exchanges.cell[best]
                return better
        return None

    def _cheaper_by_one(self, point: NDArray[np.intp]) -> NDArray[np.intp]:
        """Points with one cell replaced by a cheaper one, the largest saving first.

        Of cells in the same boxes, only the cheapest is tried.
        """
        starts, cell_costs, column = self._flat
        point_costs = cell_costs[starts + point]
        cheaper = np.flatnonzero(cell_costs < point_costs[column] * (1 - _SAME_COST))
        negative_savings = cell_costs[cheaper] - point_costs[column[cheaper]]
        cheaper = cheaper[np.argsort(negative_savings, kind="stable")]
        # Cells in the same boxes are a run, which begins where a box begins or ends.
        begins_run = np.zeros(len(cell_costs), dtype=bool)
        begins_run[starts] = begins_run[starts + self.low] = True
        begins_run[starts + self.high + 1] = True
        run = np.cumsum(begins_run)[cheaper]
        _, first = np.unique(run, return_index=True)
        cheaper = cheaper[np.sort(first)]
        trials = np.repeat(point[None], len(cheaper), axis=0)
        columns = column[cheaper]
        trials[np.arange(len(cheaper)), columns] = cheaper - starts[columns]
        return trials

    def near_point(
        self, starts: NDArray[np.intp], end: float = 0.0, stop: float = np.inf
    ) -> NDArray[np.intp] | None:
        """A cheap point that reaches the needs, from starts (n, p) and the origin.

        None where no point is found. Pairs of cells are exchanged in the
        `_ALWAYS_REFINED` cheapest points until `stop`, in other points until `end`.
        """
        starts = self._feasible_starts(starts)
        # Cells of the origin that have to be left are exchanged for the cheapest.
        near_origin = [
            cell if np.isfinite(cost[cell]) else cost.argmin()
            for cell, cost in zip(self.origin, self.costs, strict=True)
        ]
        attained = self.reach_needs(np.array([near_origin]))
        # A column that has to change may have no cell for it.
        if attained is not None and np.isfinite(self.cost(attained[None])[0]):
            starts = np.vstack([attained, starts])
        if not len(starts):
            return None
        if monotonic() > stop:
            starts = starts[:1]
        points = np.unique(self.descend(starts, stop), axis=0)
        points = points[self._within_change_limits(points)]
        if not len(points):
            return None
        points = points[np.argsort(self.cost(points), kind="stable")[:_REFINED]]
        n_always = _ALWAYS_REFINED if len(self.tree) <= _MANY_BOXES else 1
        for k, point in enumerate(points):
            if k < n_always or monotonic() < end:
                points[k] = self.exchange_pairs(point, stop)
        if self.constraints is not None:
            # Descents ignore costs of constraints: with them, starts may be cheaper.
            points = np.concatenate([points, starts])
            points = points[self.holds(points)]
        return self._cheapest_point(points)

    def _feasible_starts(self, starts: NDArray[np.intp]) -> NDArray[np.intp]:
        """The `_STARTS` cheapest starts at which the sums reach their needs."""
        costs = self.cost(starts)
        order = np.argsort(costs, kind="stable")
        starts = starts[order[np.isfinite(costs[order])]]
        feasible = starts[:0]
        for block in np.split(starts, range(_STARTS, len(starts), _STARTS)):
            if len(feasible) < _STARTS:
                reaching = block[self.holds_but_for_changes(block)]
                feasible = np.vstack([feasible, reaching])
        return feasible[:_STARTS]

    def _cheapest_point(self, points: NDArray[np.intp]) -> NDArray[np.intp] | None:
        """The point of least total cost; None if constraints exclude all."""
        costs, cheapest, least_cost = self.cost(points), None, np.inf
        for k in np.argsort(costs, kind="stable"):
            if costs[k] >= least_cost:  # the total cost is no less
                break
            total_cost = self.total_cost(points[k])
            if total_cost < least_cost:
                cheapest, least_cost = points[k], total_cost
        return cheapest

    def widen_box(
        self, low: NDArray[np.intp], high: NDArray[np.intp], columns: Iterable[int]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """A wider box, from cells `low` (p,) to `high` (p,), that reaches all needs.

        Each side of some columns is moved by one cell in turn, as long as the least
        gains of the trees within the wider box reach the needs.
        """
        low, high = low.copy(), high.copy()
        n_missed = ((self.low > high) | (self.high < low)).sum(axis=1)
        starts = np.flatnonzero(np.diff(self.tree, prepend=-1))
        sides = [(j, step) for j in columns for step in (-1, 1)]
        while sides:
            wider = []
            for j, step in sides:
                # The side of the wider box, and the ends of boxes that it meets first.
                side, box_ends = (low, self.high) if step < 0 else (high, self.low)
                cell = side[j] + step
                exists = 0 <= cell < len(self.costs[j])
                if not exists or np.isinf(self.costs[j][cell]):
                    continue
                entered = box_ends[:, j] == cell
                met = (n_missed == entered)[:, None]
                gains = np.where(met, self.gains, np.inf)
                least_sums = np.minimum.reduceat(gains, starts, axis=0).sum(axis=0)
                if (least_sums >= self.needs).all():
                    side[j] = cell
                    n_missed -= entered
                    wider.append((j, step))
            sides = wider
        return low, high

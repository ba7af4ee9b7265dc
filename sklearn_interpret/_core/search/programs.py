"""The cheapest point at which sums over boxes reach their needs, by branch and bound.

:func:`solve` serves the objectives of a :class:`Goal`, :func:`cheapest_point` is the
branch and bound. :class:`Program`, a linear program, bounds the costs: in each column
ordered shares say how much of the point lies from which cell on, shares of the boxes of
a tree add up to one, and the shares on one side of a cell are at most what the column
allows (Cui et al. 2015; Parmentier and Vidal 2021). Cells and boxes that no cheaper
point needs are left out first (:func:`within_reach`). A column is cut in two where its
cost is fractional and both halves have fewer boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from sklearn_interpret._core.search.boxes import BoxSums

# Relative difference of costs that count as equal: twice the tolerance of HiGHS, 1e-7.
GAP = 2e-7
# The largest cost of the programs, so that the tolerance of HiGHS, an absolute one, is
# far below it.
_PROGRAM_COST = 1e3
# Shares s with s (1 - s) below this are zero or one: the tolerance of HiGHS.
_UNDECIDED = 1e-7
# Share by which reduced costs must exceed the spare cost before what they price is left
# out: ten times the tolerance of HiGHS.
_SAFETY = 1e-6
# Shares of the known cost that the first lower bounds try: programs of an eighth of the
# cost have few cells, and where they already reach the needs, no larger one is built.
_FIRST_SHARES = 0.125, 0.25, 0.5
_INFEASIBLE = 2  # a status of linprog
# Division by smaller costs overflows.
_LEAST_UNIT = 1e-290
# Solvers take larger costs for infinite.
_LARGEST_COST = 1e15
# Relative rounding error of sums of costs.
_ROUNDING = 1e-12
# Share of the time for heuristics, chosen by hand: the cost of their point ends
# branches of the branch and bound, which has the remaining time.
_HEURISTIC_SHARE = 0.3
# Largest share of an earlier counterfactual's changes in columns that change again: the
# rows differ where at least half of the changes do, but for rounding.
_LARGEST_OVERLAP = 0.5 + 1e-9


@dataclass(frozen=True)
class Goal:
    """The objective of a search, its limits, and its time.

    Parameters
    ----------
    time_limit : float
        Seconds; zero leaves it at what heuristics find.
    objective : {"distance", "n_changed", "largest_change", "any"}, default="distance"
        The sum of the costs; the number of changed columns, then the sum; the largest
        cost of a column; or nothing: any point will do.
    max_changes : int, default=None
        Largest number of changed columns.
    change_shares : tuple of ndarray of shape (n_columns,), default=()
        Shares of the columns in the changes of rows to be apart from.
    """

    time_limit: float
    objective: str = "distance"
    max_changes: int | None = None
    change_shares: tuple[NDArray[np.float64], ...] = ()

    def limits(self, n_columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of changed columns (k, n_columns), and limits of their sums (k,)."""
        weights = list(self.change_shares)
        limits = [_LARGEST_OVERLAP] * len(weights)
        if self.max_changes is not None:
            weights.insert(0, np.ones(n_columns))
            limits.insert(0, self.max_changes)
        return np.reshape(weights, (-1, n_columns)), np.array(limits, dtype=np.float64)


@dataclass(frozen=True)
class Solution:
    """The best point found, and the bound that is proved.

    Parameters
    ----------
    point : ndarray of shape (p,) or None
        The best point.
    lower_bound : float
        No point costs less; infinite if there is none.
    """

    point: NDArray[np.intp] | None
    lower_bound: float


def solve(
    alternatives: Sequence[tuple[BoxSums, NDArray[np.intp]]], goal: Goal, end: float
) -> Solution:
    """The best point at which some of alternative sums reach their needs, until a time.

    Parameters
    ----------
    alternatives : list of (BoxSums, ndarray of shape (n, p))
        Sums, and the points from which heuristics start.
    goal : Goal
        Anything but the largest change.
    end : float
        When to stop, on the monotonic clock.

    Returns
    -------
    Solution
    """
    best_point, least_cost, lower_bounds = None, (np.inf, np.inf), []
    for number, (boxes, starts) in enumerate(alternatives):
        # The first alternatives get most of the time: they lack least of their needs.
        share = 2 / (len(alternatives) - number + 1)
        until = monotonic() + (end - monotonic()) * share
        if goal.objective == "n_changed":
            solved = _fewest_changes(boxes, starts, goal, until)
        else:
            solved = _cheapest_of_alternative(boxes, starts, best_point, goal, until)
        lower_bounds.append(solved.lower_bound)
        if solved.point is not None:
            n_changes = boxes.n_changes(solved.point[None])[0]
            counted = n_changes if goal.objective == "n_changed" else 0
            cost = float(counted), boxes.total_cost(solved.point)
            if cost < least_cost:
                best_point, least_cost = solved.point, cost
    return Solution(best_point, min(lower_bounds, default=np.inf))


def _cheapest_of_alternative(
    boxes: BoxSums,
    starts: NDArray[np.intp],
    best_point: NDArray[np.intp] | None,
    goal: Goal,
    end: float,
) -> Solution:
    """A point from heuristics, or the cheapest in the time left; or `best_point`."""
    now, any_point = monotonic(), goal.objective == "any"
    refined_until, known_cost = 0.0, np.inf
    if not any_point:
        heuristics_end = now + _HEURISTIC_SHARE * (end - now)
        refined_until = heuristics_end if goal.time_limit else 0.0
        known_cost = np.inf if best_point is None else boxes.total_cost(best_point)
    stop = end if goal.time_limit else np.inf
    point = boxes.within_cost(known_cost).near_point(starts, refined_until, stop)
    if point is None or boxes.total_cost(point) > known_cost:
        point = best_point
    if not goal.time_limit or (any_point and point is not None):
        return Solution(point, 0.0)
    return cheapest_point(boxes, point, end - monotonic())


def _fewest_changes(
    boxes: BoxSums, starts: NDArray[np.intp], goal: Goal, end: float
) -> Solution:
    """A point with the fewest changes, the cheapest among these."""
    counts = [np.where(np.isfinite(cost), 1.0, np.inf) for cost in boxes.costs]
    for changes, origin in zip(counts, boxes.origin, strict=True):
        changes[origin] = 0 if np.isfinite(changes[origin]) else np.inf
    # One change more costs more than all columns together.
    per_change = 1 + sum(cost[np.isfinite(cost)].max(initial=0) for cost in boxes.costs)
    pairs = zip(boxes.costs, counts, strict=True)
    costs_and_counts = [cost + per_change * changes for cost, changes in pairs]
    stop = end if goal.time_limit else np.inf
    point = replace(boxes, costs=costs_and_counts).near_point(starts, stop=stop)
    if not goal.time_limit:
        return Solution(point, 0.0)
    # Shifts within cells are no changes of a column: in the counts they cost nothing.
    constraints = boxes.constraints
    constraints = constraints and replace(constraints, costs=0 * constraints.costs)
    counted = replace(boxes, costs=counts, constraints=constraints)
    fewest = cheapest_point(counted, point, (end - monotonic()) / 2, step=1.0)
    if fewest.point is None:
        return fewest
    n_changes = boxes.n_changes(fewest.point[None])[0]
    limited = replace(
        boxes,
        change_weights=np.vstack([boxes.change_weights, np.ones(len(boxes.origin))]),
        change_limits=np.append(boxes.change_limits, n_changes),
    )
    point = limited.near_point(fewest.point[None], stop=stop)
    solved = cheapest_point(limited, point, end - monotonic())
    proved = fewest.lower_bound >= n_changes
    return solved if proved else Solution(solved.point, 0.0)


def cheapest_point(
    boxes: BoxSums, point: NDArray[np.intp] | None, time_limit: float, step: float = 0.0
) -> Solution:
    """Find a cheaper point than a known one, or prove the known one the cheapest.

    By branch and bound, which continues with the half of the lowest bound.

    Parameters
    ----------
    boxes : BoxSums
        The sums.
    point : ndarray of shape (p,) or None
        A point at which the sums reach their needs.
    time_limit : float
        Seconds.
    step : float, default=0.0
        The least difference between two costs, where it is known.

    Returns
    -------
    Solution
    """
    end = monotonic() + time_limit
    known_cost = np.inf if point is None else boxes.total_cost(point)
    heap: list[tuple[float, int, Program]] = []
    halves: Iterable[BoxSums] = [boxes]
    number, lower = count(), 0.0
    if not step and np.isfinite(known_cost):
        lower = _first_bound(boxes, known_cost, end)
        if monotonic() > end:
            return Solution(point, lower)
    while True:
        for half in halves:
            max_cost = _just_below(known_cost, step)
            reachable = within_reach(half, max_cost)
            if reachable is None:
                continue
            program = Program(reachable)
            bound = max(lower, program.solve_relaxation(max_cost, end - monotonic()))
            rounded = program.point()
            if boxes.holds(rounded[None])[0] and boxes.total_cost(rounded) < known_cost:
                point = rounded
                if boxes.constraints is None:
                    point = boxes.exchange_pairs(
                        boxes.descend(rounded[None], end)[0], end
                    )
                known_cost = boxes.total_cost(point)
            if bound <= max_cost and np.isfinite(bound):
                heappush(heap, (bound, next(number), program))
        if not heap or heap[0][0] > max_cost:
            return Solution(point, known_cost if step else known_cost * (1 - GAP))
        if monotonic() > end:
            return Solution(point, min(heap[0][0], known_cost))
        lower, _, program = heappop(heap)
        halves = program.halves()


def _just_below(cost: float, step: float = 0.0) -> float:
    """The highest cost that is lower than `cost` by more than rounding."""
    if np.isinf(cost):
        return cost
    return min(cost - max(GAP * cost, step / 2), np.nextafter(cost, -np.inf))


def _first_bound(boxes: BoxSums, known_cost: float, end: float) -> float:
    """A lower bound of the cost, from programs of the cells up to shares of it."""
    lower = 0.0
    for share in _FIRST_SHARES:
        if monotonic() > end:
            break
        max_cost = share * known_cost
        reachable = within_reach(boxes, max_cost)
        if reachable is not None:
            bound = Program(reachable).solve_relaxation(max_cost, end - monotonic())
            if not bound > max_cost:
                return max(lower, bound)
        lower = max_cost
    return lower


def within_reach(boxes: BoxSums, max_cost: float) -> BoxSums | None:
    """The sums with the cells and boxes of points up to a cost; None if there are none.

    Cells out of reach get infinite costs. Fewer cells leave out boxes, and fewer boxes
    cells, until both stay.
    """
    costs = [np.where(cost <= max_cost, cost, np.inf) for cost in boxes.costs]
    fixed = _with_fixed_columns(replace(boxes, costs=costs))
    if fixed is None:
        return None
    boxes = fixed
    while True:
        least_costs = boxes.least_costs()
        reachable = _reachable_boxes(boxes, least_costs, max_cost)
        if reachable is None:
            return None
        if not reachable.all():
            boxes = boxes.take(reachable)
            continue
        cell_costs = _reachable_cells(boxes, least_costs, max_cost)
        if cell_costs is None:
            return None
        n_before, n_after = (
            sum(np.isfinite(cost).sum() for cost in costs)
            for costs in (boxes.costs, cell_costs)
        )
        boxes = replace(boxes, costs=cell_costs)
        if n_after == n_before:
            return boxes


def _with_fixed_columns(boxes: BoxSums) -> BoxSums | None:
    """The sums, with columns fixed at the origin that may not change any more.

    Some columns have to change, which the limits count; None where too many have to.
    """
    must_change = np.array(
        [
            np.isinf(cost[origin])
            for cost, origin in zip(boxes.costs, boxes.origin, strict=True)
        ]
    )
    weight = boxes.change_weights @ must_change
    if not (weight <= boxes.change_limits).all():
        return None
    exceeds = weight + boxes.change_weights.T > boxes.change_limits
    costs = boxes.costs.copy()
    for j in np.flatnonzero(exceeds.any(axis=1) & ~must_change):
        is_origin = np.arange(len(costs[j])) == boxes.origin[j]
        costs[j] = np.where(is_origin, costs[j], np.inf)
    return replace(boxes, costs=costs)


def _reachable_boxes(
    boxes: BoxSums, least_costs: NDArray[np.float64], max_cost: float
) -> NDArray[np.bool_] | None:
    """Mask of boxes in reach, from least costs (n_boxes, p); None if a tree has none.

    Boxes are out of reach where they cost too much, or where the best boxes of all
    other trees do not make up for the gain that is lost.
    """
    total = least_costs.sum(axis=1)
    reachable = np.isfinite(total) & (total <= max_cost * (1 + _ROUNDING))
    starts = _tree_starts(boxes.tree)
    gains = np.where(reachable[:, None], boxes.gains, -np.inf)
    best = np.maximum.reduceat(gains, starts, axis=0)
    surplus = best.sum(axis=0) - boxes.needs
    if not (surplus >= 0).all():
        return None
    sizes = np.diff(np.append(starts, len(boxes.tree)))
    reachable &= (np.repeat(best, sizes, axis=0) - gains <= surplus).all(axis=1)
    return reachable if np.logical_or.reduceat(reachable, starts).all() else None


def _reachable_cells(
    boxes: BoxSums, least_costs: NDArray[np.float64], max_cost: float
) -> list[NDArray[np.float64]] | None:
    """Costs of the cells, infinite out of reach; None if a column has none in reach.

    A cell is in reach where the best boxes that it leaves to each tree reach the needs.
    """
    starts, total = _tree_starts(boxes.tree), least_costs.sum(axis=1)
    costs = []
    for j, cost in enumerate(boxes.costs):
        cells = np.flatnonzero(np.isfinite(cost))
        low, high = boxes.low[:, j], boxes.high[:, j]
        usable = (low <= cells[:, None]) & (high >= cells[:, None])
        other_costs = total - least_costs[:, j]
        usable &= other_costs + cost[cells][:, None] <= max_cost * (1 + _ROUNDING)
        enough = np.ones(len(cells), dtype=bool)
        for gains, need in zip(boxes.gains.T, boxes.needs, strict=True):
            usable_gains = np.where(usable, gains, -np.inf)
            best = np.maximum.reduceat(usable_gains, starts, axis=1)
            enough &= best.sum(axis=1) >= need
        if not enough.any():
            return None
        costs.append(np.full(len(cost), np.inf))
        costs[j][cells[enough]] = cost[cells[enough]]
    return costs


def _tree_starts(tree: NDArray[np.intp]) -> NDArray[np.intp]:
    """Positions at which the boxes of each tree begin."""
    return np.flatnonzero(np.diff(tree, prepend=-1))


class _CellGroups(NamedTuple):
    """Groups of neighbouring cells of a column that lie in the same boxes."""

    starts: NDArray[np.intp]  # first cell of each group
    cheapest: NDArray[np.intp]  # cheapest cell of each group


class Program:
    """The linear program whose solutions bound the costs of points.

    Its variables, in this order: steps, the share of the point that lies in each group
    of cells but the first, or beyond; shares of boxes; shares of columns that are
    changed, where these are limited; and shifts up and down within the cells, where
    there are constraints.

    Parameters
    ----------
    boxes : BoxSums
        The sums.
    """

    def __init__(self, boxes: BoxSums) -> None:
        self.boxes = boxes
        self.groups = [self._group_cells(j) for j in range(len(boxes.origin))]
        n_steps = [len(group.starts) - 1 for group in self.groups]
        self.first_steps = np.concatenate([[0], np.cumsum(n_steps)]).astype(np.intp)
        self.n_steps, self.n_boxes = int(self.first_steps[-1]), len(boxes.tree)
        n_changes = len(boxes.origin) if len(boxes.change_limits) else 0
        self.n_shares = self.n_steps + self.n_boxes + n_changes
        constraints = boxes.constraints
        shifts = np.zeros(0) if constraints is None else np.tile(constraints.costs, 2)
        self.costs = np.append(np.zeros(self.n_shares), shifts)
        self.constant = 0.0
        for j, group in enumerate(self.groups):
            costs = boxes.costs[j][group.cheapest]
            self.constant += costs[0]
            self.costs[self._steps_of(j)] = np.diff(costs)
        self.steps = np.full(self.n_steps, 0.5)

    def _group_cells(self, j: int) -> _CellGroups:
        """Groups of the cells of a column, without groups of infinite costs."""
        boxes, cost = self.boxes, self.boxes.costs[j]
        ends = np.concatenate([[0], boxes.low[:, j], boxes.high[:, j] + 1])
        starts = np.unique(ends)
        starts = starts[starts < len(cost)]
        # Cells of a constrained column differ by their values.
        if boxes.constraints is not None and j in boxes.constraints.columns:
            starts = np.arange(len(cost))
        groups = np.split(cost, starts[1:])
        cheapest = starts + [group.argmin() for group in groups]
        finite = np.isfinite(cost[cheapest])
        return _CellGroups(starts[finite], cheapest[finite])

    def _steps_of(self, j: int) -> slice:
        """The steps of a column among the variables."""
        return slice(self.first_steps[j], self.first_steps[j + 1])

    def _inequalities(self, max_cost: float) -> tuple[csr_array, NDArray[np.float64]]:
        """Matrix and upper limits of the inequalities."""
        rows = _Rows()
        for j, group in enumerate(self.groups):
            steps = np.arange(*self.first_steps[j : j + 2])
            # No later step exceeds an earlier one.
            rows.add(np.arange(len(steps) - 1), steps[1:], 1.0)
            rows.add(np.arange(len(steps) - 1), steps[:-1], -1.0)
            rows.end(np.zeros(max(len(steps) - 1, 0)))
            # Groups in which boxes begin and before which they end.
            begin = np.searchsorted(group.starts, self.boxes.low[:, j])
            end = np.searchsorted(group.starts, self.boxes.high[:, j], side="right")
            self._limit_boxes(rows, begin, steps, -1.0)
            self._limit_boxes(rows, end, steps, 1.0)
            if len(self.boxes.change_limits):
                self._count_change(rows, j)
        shares = self.n_steps + np.arange(self.n_boxes)
        for gains, need in zip(self.boxes.gains.T, self.boxes.needs, strict=True):
            size = np.abs(gains).max(initial=0) or 1.0
            rows.add(np.zeros(len(shares), np.intp), shares, -gains / size)
            rows.end([-need / size])
        changes = np.arange(self.n_steps + self.n_boxes, self.n_shares)
        for weights, limit in zip(
            self.boxes.change_weights, self.boxes.change_limits, strict=True
        ):
            rows.add(np.zeros(len(changes), np.intp), changes, weights)
            rows.end([limit])
        if self.boxes.constraints is not None:
            columns = self.boxes.constraints.columns.tolist()
            program_rows = self.boxes.constraints.program_rows(
                [self.groups[j].cheapest for j in columns],
                [np.arange(*self.first_steps[j : j + 2]) for j in columns],
                self.n_shares,
                max_cost,
            )
            for variables, values, limit in program_rows:
                rows.add(np.zeros(len(values), np.intp), variables, values)
                rows.end([limit])
        return rows.matrix(len(self.costs)), np.concatenate(rows.limits)

    def _limit_boxes(
        self, rows: _Rows, ends: NDArray[np.intp], steps: NDArray[np.intp], side: float
    ) -> None:
        """Boxes of a tree beyond a step have at most the share of the point beyond it.

        `side` is -1 for boxes that begin at the step or later, and 1 for boxes that end
        before it. `ends` are the groups at which boxes begin or end, (n_boxes,).
        """
        used = np.flatnonzero((ends > 0) & (ends <= len(steps)))
        tree = self.boxes.tree[used]
        key = np.unique(tree * (len(steps) + 1) + ends[used])
        of_tree, step = np.divmod(key, len(steps) + 1)
        beyond = -side * (ends[used] - step[:, None]) >= 0
        row, box = np.nonzero(beyond & (of_tree[:, None] == tree))
        rows.add(row, self.n_steps + used[box], 1.0)
        rows.add(np.arange(len(key)), steps[step - 1], side)
        rows.end(np.full(len(key), max(side, 0.0)))

    def _count_change(self, rows: _Rows, j: int) -> None:
        """Add the row: a column is changed by its share outside the origin's cell."""
        cells, change = self.groups[j].cheapest, self.n_steps + self.n_boxes + j
        position = np.flatnonzero(cells == self.boxes.origin[j])
        rows.add([0], [change], -1.0)
        if not len(position):
            rows.end([-1.0])
            return
        step = self.first_steps[j] + position[0] - 1
        if position[0] > 0:
            rows.add([0], [step], -1.0)
        if position[0] < len(cells) - 1:
            rows.add([0], [step + 1], 1.0)
        rows.end([-1.0 if position[0] > 0 else 0.0])

    def solve_relaxation(self, max_cost: float, time_limit: float) -> float:
        """Solve the program: a lower bound of the costs, infinite if infeasible.

        Keeps the solution, and drops from the sums what no point up to a cost needs.
        """
        matrix, limits = self._inequalities(max_cost)
        tree = np.unique(self.boxes.tree, return_inverse=True)[1]
        shares = self.n_steps + np.arange(self.n_boxes)
        shape = tree[-1] + 1, len(self.costs)
        if np.isinf(max_cost):
            unit = max(_PROGRAM_COST, self.costs.max(initial=0))
        else:
            unit = max_cost
        unit = max(unit, _LEAST_UNIT)
        bounds = np.tile([0.0, 1.0], (len(self.costs), 1))
        bounds[self.n_shares :, 1] = np.inf
        solved = linprog(
            np.minimum(self.costs / unit * _PROGRAM_COST, _LARGEST_COST),
            A_ub=matrix,
            b_ub=limits,
            A_eq=csr_array((np.ones(len(tree)), (tree, shares)), shape=shape),
            b_eq=np.ones(shape[0]),
            bounds=bounds,
            method="highs-ds",
            options={"presolve": False, "time_limit": max(time_limit, 0.01)},
        )
        if solved.status == _INFEASIBLE:
            return np.inf
        if solved.status != 0:
            return 0.0
        self.steps = solved.x[: self.n_steps]
        reduced_costs = solved.lower.marginals + solved.upper.marginals
        lower = solved.fun / _PROGRAM_COST * unit + self.constant
        spare = (max_cost - lower) / unit * _PROGRAM_COST * (1 + _SAFETY) + _SAFETY
        self._leave_out(reduced_costs > spare, -reduced_costs > spare)
        return lower

    def _leave_out(self, is_zero: NDArray[np.bool_], is_one: NDArray[np.bool_]) -> None:
        """Drop steps and boxes whose share is zero, or one, in all points sought.

        Cells beyond the first step that is zero, and before the last step that is one,
        get infinite costs.
        """
        costs = [cost.copy() for cost in self.boxes.costs]
        for j, group in enumerate(self.groups):
            zero_steps = np.flatnonzero(is_zero[self._steps_of(j)])
            one_steps = np.flatnonzero(is_one[self._steps_of(j)])
            if len(zero_steps):
                costs[j][group.starts[zero_steps[0] + 1] :] = np.inf
            if len(one_steps):
                costs[j][: group.starts[one_steps[-1] + 1]] = np.inf
        shares = slice(self.n_steps, self.n_steps + self.n_boxes)
        self.boxes = replace(self.boxes.take(~is_zero[shares]), costs=costs)

    def point(self) -> NDArray[np.intp]:
        """The point whose cells are nearest to the solution."""
        return np.array(
            [
                group.cheapest[(self.steps[self._steps_of(j)] > 0.5).sum()]
                for j, group in enumerate(self.groups)
            ]
        )

    def halves(self) -> Iterator[BoxSums]:
        """The sums on both sides of a cut of a column; none where all have one cell."""
        if len(self.boxes.change_limits):
            changed = self._changed_shares()
            j = int((changed * (1 - changed)).argmax())
            if _UNDECIDED < changed[j] < 1 - _UNDECIDED:
                cells = np.arange(len(self.boxes.costs[j]))
                yield from _cut_column(self.boxes, j, cells == self.boxes.origin[j])
                return
        n_steps = np.diff(self.first_steps)
        undecided = self.steps * (1 - self.steps)
        undecided[undecided < _UNDECIDED] = 0
        fewer_boxes = undecided * self._fewer_boxes()
        # The first of these scores that prefers any step decides on the cut. A solution
        # of shares 0 and 1 misses its needs by rounding: any cut will do.
        for score in (
            fewer_boxes * np.abs(self.costs[: self.n_steps]),
            fewer_boxes,
            undecided,
            np.repeat(n_steps, n_steps),
        ):
            if score.any():
                step = score.argmax()
                j = int(np.repeat(np.arange(len(n_steps)), n_steps)[step])
                start = self.groups[j].starts[step - self.first_steps[j] + 1]
                cells = np.arange(len(self.boxes.costs[j]))
                yield from _cut_column(self.boxes, j, cells < start)
                return

    def _fewer_boxes(self) -> NDArray[np.float64]:
        """Numbers of boxes that a cut at each step drops from both halves at least."""
        fewer = np.zeros(self.n_steps)
        for j, group in enumerate(self.groups):
            low, high = np.sort(self.boxes.low[:, j]), np.sort(self.boxes.high[:, j])
            beyond = len(low) - np.searchsorted(low, group.starts[1:])
            before = np.searchsorted(high, group.starts[1:])
            fewer[self._steps_of(j)] = np.minimum(beyond, before)
        return fewer

    def _changed_shares(self) -> NDArray[np.float64]:
        """The share of each column that is not in the origin's cell."""
        changed = np.ones(len(self.groups))
        for j, group in enumerate(self.groups):
            shares = -np.diff(np.r_[1.0, self.steps[self._steps_of(j)], 0.0])
            changed[j] -= shares[group.cheapest == self.boxes.origin[j]].sum()
        return changed


def _cut_column(
    boxes: BoxSums, j: int, in_first_half: NDArray[np.bool_]
) -> Iterator[BoxSums]:
    """The sums with the cells of one half of a column each."""
    for cells in (in_first_half, ~in_first_half):
        costs = boxes.costs.copy()
        costs[j] = np.where(cells, costs[j], np.inf)
        yield replace(boxes, costs=costs)


class _Rows:
    """Rows of a sparse matrix and their upper limits, built block by block.

    A block has its entries added, then its limits, which end it.
    """

    def __init__(self) -> None:
        self.limits: list[NDArray[np.float64] | list[float]] = []
        self._entries: list[tuple[NDArray[Any], ...]] = []
        self._n_rows = 0

    def add(
        self,
        rows: NDArray[np.intp] | list[int],
        columns: NDArray[np.intp] | list[int],
        values: NDArray[np.float64] | float,
    ) -> None:
        """Add entries of the current block; its rows count from 0."""
        rows = np.asarray(rows, dtype=np.intp) + self._n_rows
        columns = np.asarray(columns)
        self._entries.append((rows, columns, np.broadcast_to(values, len(rows))))

    def end(self, limits: NDArray[np.float64] | list[float]) -> None:
        """End a block of rows that have these limits."""
        self.limits.append(limits)
        self._n_rows += len(limits)

    def matrix(self, n_columns: int) -> csr_array:
        """The matrix of all rows."""
        rows, columns, values = map(np.concatenate, zip(*self._entries, strict=True))
        shape = self._n_rows, n_columns
        return csr_array((values, (rows, columns)), shape=shape)

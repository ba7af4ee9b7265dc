"""The cheapest point at which sums over boxes reach their needs, by branch and bound.

Linear programs bound the costs: in each column ordered shares say how much of the point
lies from which cell on, shares of the boxes of a tree add up to one, and the shares on
one side of a cell are at most what the column allows (Cui et al. 2015; Parmentier and
Vidal 2021). Cells and boxes that no cheaper point needs are left out first. A column is
cut in two where its cost is fractional and both halves have fewer boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from sklearn_interpret._core.search.boxes import BoxSums

# Relative difference of costs that count as equal: twice the tolerance of HiGHS, 1e-7.
# The largest cost of the programs, in its units, so that this tolerance is relative.
GAP, _UNIT = 2e-7, 1e3
# Shares s with s (1 - s) below this are zero or one: the tolerance of HiGHS. Reduced
# costs exceed the spare cost by this share before what they price is left out.
_UNDECIDED, _MORE = 1e-7, 1e-6
# Shares of the known cost that the first lower bounds try: programs of an eighth of the
# cost have few cells, and where they already reach the needs, no larger one is built.
_SHARES = 0.125, 0.25, 0.5
_INFEASIBLE = 2  # a status of linprog
# Division by smaller costs overflows, and solvers take larger ones for infinite.
_LEAST_UNIT, _MOST_COST = 1e-290, 1e15
# Share of the time for heuristics: the cost of their point ends branches of the branch
# and bound, which has the remaining time.
_STARTING = 0.3
# Largest share of an earlier counterfactual's changes in columns that change again: the
# rows differ where at least half of the changes do, but for rounding.
_MOST_SHARED = 0.5 + 1e-9


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
        weights, most = (
            list(self.change_shares),
            [_MOST_SHARED] * len(self.change_shares),
        )
        if self.max_changes is not None:
            weights.insert(0, np.ones(n_columns))
            most.insert(0, self.max_changes)
        return np.reshape(weights, (-1, n_columns)), np.array(most, dtype=np.float64)


@dataclass(frozen=True)
class Solved:
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
) -> Solved:
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
    Solved
    """
    best, least, bounds = None, (np.inf, np.inf), []
    for number, (boxes, starts) in enumerate(alternatives):
        share = 2 / (len(alternatives) - number + 1)
        until = monotonic() + (end - monotonic()) * share
        if goal.objective == "n_changed":
            solved = _fewest_changes(boxes, starts, goal, until)
        else:
            solved = _cheapest_of_alternative(boxes, starts, best, goal, until)
        bounds.append(solved.lower_bound)
        if solved.point is not None:
            changes = boxes.n_changes(solved.point[None])[0]
            few = changes if goal.objective == "n_changed" else 0
            cost = float(few), boxes.total_cost(solved.point)
            if cost < least:
                best, least = solved.point, cost
    return Solved(best, min(bounds, default=np.inf))


def _cheapest_of_alternative(
    boxes: BoxSums,
    starts: NDArray[np.intp],
    best: NDArray[np.intp] | None,
    goal: Goal,
    end: float,
) -> Solved:
    """A point from heuristics and, in the time left, the cheapest; or `best`."""
    now, any_point = monotonic(), goal.objective == "any"
    until, known_cost = 0.0, np.inf
    if not any_point:
        until = now + _STARTING * (end - now) if goal.time_limit else 0.0
        known_cost = np.inf if best is None else boxes.total_cost(best)
    stop = end if goal.time_limit else np.inf
    point = boxes.within_cost(known_cost).near_point(starts, until, stop)
    if point is None or boxes.total_cost(point) > known_cost:
        point = best
    if not goal.time_limit or (any_point and point is not None):
        return Solved(point, 0.0)
    return cheapest_point(boxes, point, end - monotonic())


def _fewest_changes(
    boxes: BoxSums, starts: NDArray[np.intp], goal: Goal, end: float
) -> Solved:
    """A point with the fewest changes, the cheapest among these."""
    unit = [np.where(np.isfinite(cost), 1.0, np.inf) for cost in boxes.costs]
    for cost, origin in zip(unit, boxes.origin, strict=True):
        cost[origin] = 0 if np.isfinite(cost[origin]) else np.inf
    much = 1 + sum(cost[np.isfinite(cost)].max(initial=0) for cost in boxes.costs)
    both = [a + much * b for a, b in zip(boxes.costs, unit, strict=True)]
    stop = end if goal.time_limit else np.inf
    point = replace(boxes, costs=both).near_point(starts, stop=stop)
    if not goal.time_limit:
        return Solved(point, 0.0)
    within = boxes.within and replace(boxes.within, costs=0 * boxes.within.costs)
    counted = replace(boxes, costs=unit, within=within)
    fewest = cheapest_point(counted, point, (end - monotonic()) / 2, step=1.0)
    if fewest.point is None:
        return fewest
    count = boxes.n_changes(fewest.point[None])[0]
    limited = replace(
        boxes,
        change_weights=np.vstack([boxes.change_weights, np.ones(len(boxes.origin))]),
        most_changed=np.append(boxes.most_changed, count),
    )
    point = limited.near_point(fewest.point[None], stop=stop)
    solved = cheapest_point(limited, point, end - monotonic())
    proved = fewest.lower_bound >= count
    return solved if proved else Solved(solved.point, 0.0)


def cheapest_point(
    boxes: BoxSums, point: NDArray[np.intp] | None, time_limit: float, step: float = 0.0
) -> Solved:
    """Find a cheaper point than a known one, or prove that one the cheapest.

    Parameters
    ----------
    boxes : BoxSums
        The sums.
    point : ndarray of shape (p,) or None
        A point at which they reach their needs.
    time_limit : float
        Seconds.
    step : float, default=0.0
        The least difference of costs, where that is known.

    Returns
    -------
    Solved
    """
    end = monotonic() + time_limit
    known_cost = np.inf if point is None else boxes.total_cost(point)
    heap: list[tuple[float, int, Program]] = []
    halves: Iterable[BoxSums] = [boxes]
    number, lower = count(), 0.0
    if not step and np.isfinite(known_cost):
        lower = _first_bound(boxes, known_cost, end)
        if monotonic() > end:
            return Solved(point, lower)
    while True:
        for half in halves:
            most = _just_below(known_cost, step)
            reachable = within_reach(half, most)
            if reachable is None:
                continue
            program = Program(reachable)
            bound = max(lower, program.relaxed(most, end - monotonic()))
            better = program.point()
            if boxes.holds(better[None])[0] and boxes.total_cost(better) < known_cost:
                point = better
                if boxes.within is None:
                    point = boxes.refined(boxes.descended(better[None], end)[0], end)
                known_cost = boxes.total_cost(point)
            if bound <= most and np.isfinite(bound):
                heappush(heap, (bound, next(number), program))
        if not heap or heap[0][0] > most:
            return Solved(point, known_cost if step else known_cost * (1 - GAP))
        if monotonic() > end:
            return Solved(point, min(heap[0][0], known_cost))
        lower, _, program = heappop(heap)
        halves = program.halves()


def _just_below(cost: float, step: float = 0.0) -> float:
    """The highest cost that is below another one by more than rounding."""
    if np.isinf(cost):
        return cost
    return min(cost - max(GAP * cost, step / 2), np.nextafter(cost, -np.inf))


def _first_bound(boxes: BoxSums, known_cost: float, end: float) -> float:
    """A lower bound of the cost, from programs of the cells within parts of it."""
    lower = 0.0
    for share in _SHARES:
        if monotonic() > end:
            break
        most = share * known_cost
        reachable = within_reach(boxes, most)
        if reachable is not None:
            bound = Program(reachable).relaxed(most, end - monotonic())
            if not bound > most:
                return max(lower, bound)
        lower = most
    return lower


def within_reach(boxes: BoxSums, most: float) -> BoxSums | None:
    """The sums with the cells and boxes of points up to a cost; None if there are none.

    Cells out of reach get infinite costs.
    """
    costs = [np.where(cost <= most, cost, np.inf) for cost in boxes.costs]
    boxes = replace(boxes, costs=costs)
    if not _fix_columns(boxes):
        return None
    while True:
        reachable = _reachable_boxes(boxes, most)
        if reachable is None:
            return None
        mask, column_costs, total = reachable
        if not mask.all():
            boxes = boxes.take(mask)
            continue
        cell_costs = _reachable_cells(boxes, column_costs, total, most)
        if cell_costs is None:
            return None
        n_before, n_after = (
            sum(np.isfinite(cost).sum() for cost in costs)
            for costs in (boxes.costs, cell_costs)
        )
        boxes = replace(boxes, costs=cell_costs)
        if n_after == n_before:
            return boxes


def _fix_columns(boxes: BoxSums) -> bool:
    """Close the other cells of columns that may not change; False if too many must."""
    changed = np.array(
        [
            np.isinf(cost[origin])
            for cost, origin in zip(boxes.costs, boxes.origin, strict=True)
        ]
    )
    total = boxes.change_weights @ changed
    exceeds = total + boxes.change_weights.T > boxes.most_changed
    for j in np.flatnonzero(exceeds.any(axis=1) & ~changed):
        is_origin = np.arange(len(boxes.costs[j])) == boxes.origin[j]
        boxes.costs[j] = np.where(is_origin, boxes.costs[j], np.inf)
    return bool((total <= boxes.most_changed).all())


def _reachable_boxes(
    boxes: BoxSums, most: float
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]] | None:
    """Mask of boxes in reach, and least costs by column and in all; None if too few."""
    column_costs = boxes.least_costs()
    total = column_costs.sum(axis=1)
    reachable = np.isfinite(total) & (total <= most * (1 + 1e-12))
    starts = _tree_starts(boxes.tree)
    gains = np.where(reachable[:, None], boxes.gains, -np.inf)
    best = np.maximum.reduceat(gains, starts, axis=0)
    spare = best.sum(axis=0) - boxes.needs
    if not (spare >= 0).all():
        return None
    sizes = np.diff(np.append(starts, len(boxes.tree)))
    reachable &= (np.repeat(best, sizes, axis=0) - gains <= spare).all(axis=1)
    if not np.logical_or.reduceat(reachable, starts).all():
        return None
    return reachable, column_costs, total


def _reachable_cells(
    boxes: BoxSums,
    column_costs: NDArray[np.float64],
    total: NDArray[np.float64],
    most: float,
) -> list[NDArray[np.float64]] | None:
    """Costs of the cells, infinite where the sums cannot reach their needs, or None."""
    starts = _tree_starts(boxes.tree)
    costs = []
    for j, cost in enumerate(boxes.costs):
        cells = np.flatnonzero(np.isfinite(cost))
        low, high = boxes.low[:, j], boxes.high[:, j]
        # Cells with no end of a box between them differ by their cost alone.
        near = (low <= cells[:, None]) & (high >= cells[:, None])
        near &= (total - column_costs[:, j]) + cost[cells][:, None] <= most * (
            1 + 1e-12
        )
        enough = np.ones(len(cells), dtype=bool)
        for gains, need in zip(boxes.gains.T, boxes.needs, strict=True):
            best = np.maximum.reduceat(np.where(near, gains, -np.inf), starts, axis=1)
            enough &= best.sum(axis=1) >= need
        if not enough.any():
            return None
        costs.append(np.full(len(cost), np.inf))
        costs[j][cells[enough]] = cost[cells[enough]]
    return costs


def _tree_starts(tree: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.flatnonzero(np.diff(tree, prepend=-1))


class Program:
    """The linear program whose solutions bound the costs of points.

    Its variables are shares: of the cells from which on the point lies, of boxes, and
    of changed columns.
    """

    def __init__(self, boxes: BoxSums) -> None:
        self.boxes = boxes
        self.groups = [self._grouped(j) for j in range(len(boxes.origin))]
        sizes = [len(cells) - 1 for _, cells in self.groups]
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.n_steps, self.n_boxes = int(self.first[-1]), len(boxes.tree)
        n_changes = len(boxes.origin) if len(boxes.most_changed) else 0
        self.n_shares = self.n_steps + self.n_boxes + n_changes
        within = boxes.within
        shifts = np.zeros(0) if within is None else np.tile(within.costs, 2)
        self.costs = np.append(np.zeros(self.n_shares), shifts)
        self.constant = 0.0
        for j, (_, cells) in enumerate(self.groups):
            costs = boxes.costs[j][cells]
            self.constant += costs[0]
            self.costs[self.first[j] : self.first[j + 1]] = np.diff(costs)
        self.steps = np.full(self.n_steps, 0.5)

    def _grouped(self, j: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Groups of cells in the same boxes: their starts, and their cheapest cells."""
        boxes, cost = self.boxes, self.boxes.costs[j]
        ends = np.concatenate([[0], boxes.low[:, j], boxes.high[:, j] + 1])
        starts = np.unique(ends)
        starts = starts[starts < len(cost)]
        if boxes.within is not None and j in boxes.within.columns:
            starts = np.arange(len(cost))
        groups = np.split(cost, starts[1:])
        cheapest = starts + [group.argmin() for group in groups]
        finite = np.isfinite(cost[cheapest])
        return starts[finite], cheapest[finite]

    def _steps_of(self, j: int) -> slice:
        return slice(self.first[j], self.first[j + 1])

    def _constraints(self, most: float) -> tuple[csr_array, NDArray[np.float64]]:
        """Matrix and upper limits of the inequalities."""
        rows = _Rows()
        for j, (starts, cells) in enumerate(self.groups):
            steps = np.arange(self.first[j], self.first[j + 1])
            rows.add(np.arange(len(steps) - 1), steps[1:], 1.0)
            rows.add(np.arange(len(steps) - 1), steps[:-1], -1.0)
            rows.end(np.zeros(max(len(steps) - 1, 0)))
            # Groups in which boxes begin and before which they end.
            begin = np.searchsorted(starts, self.boxes.low[:, j])
            end = np.searchsorted(starts, self.boxes.high[:, j], side="right")
            self._share_out(rows, begin, steps, -1.0)
            self._share_out(rows, end, steps, 1.0)
            if len(self.boxes.most_changed):
                self._count_change(rows, j, cells)
        shares = self.n_steps + np.arange(self.n_boxes)
        for gains, need in zip(self.boxes.gains.T, self.boxes.needs, strict=True):
            size = np.abs(gains).max(initial=0) or 1.0
            rows.add(np.zeros(len(shares), np.intp), shares, -gains / size)
            rows.end([-need / size])
        changes = np.arange(self.n_steps + self.n_boxes, self.n_shares)
        for weights, at_most in zip(
            self.boxes.change_weights, self.boxes.most_changed, strict=True
        ):
            rows.add(np.zeros(len(changes), np.intp), changes, weights)
            rows.end([at_most])
        if self.boxes.within is not None:
            columns = self.boxes.within.columns.tolist()
            linear = self.boxes.within.rows(
                [self.groups[j][1] for j in columns],
                [np.arange(*self.first[j : j + 2]) for j in columns],
                self.n_shares,
                most,
            )
            for variables, values, limit in linear:
                rows.add(np.zeros(len(values), np.intp), variables, values)
                rows.end([limit])
        return rows.matrix(len(self.costs)), np.concatenate(rows.limits)

    def _share_out(
        self, rows: _Rows, ends: NDArray[np.intp], steps: NDArray[np.intp], side: float
    ) -> None:
        """Boxes of a tree beyond a step have at most the share of points beyond it."""
        used = np.flatnonzero((ends > 0) & (ends <= len(steps)))
        tree = self.boxes.tree[used]
        key = np.unique(tree * (len(steps) + 1) + ends[used])
        of_tree, step = np.divmod(key, len(steps) + 1)
        beyond = -side * (ends[used] - step[:, None]) >= 0
        row, box = np.nonzero(beyond & (of_tree[:, None] == tree))
        rows.add(row, self.n_steps + used[box], 1.0)
        rows.add(np.arange(len(key)), steps[step - 1], side)
        rows.end(np.full(len(key), max(side, 0.0)))

    def _count_change(self, rows: _Rows, j: int, cells: NDArray[np.intp]) -> None:
        """A column is changed by the share that is not in the origin's cell."""
        change = self.n_steps + self.n_boxes + j
        position = np.flatnonzero(cells == self.boxes.origin[j])
        rows.add([0], [change], -1.0)
        if not len(position):
            rows.end([-1.0])
            return
        step = self.first[j] + position[0] - 1
        if position[0] > 0:
            rows.add([0], [step], -1.0)
        if position[0] < len(cells) - 1:
            rows.add([0], [step + 1], 1.0)
        rows.end([-1.0 if position[0] > 0 else 0.0])

    def relaxed(self, most: float, time_limit: float) -> float:
        """A lower bound of the costs; drops what no point up to `most` needs."""
        matrix, limits = self._constraints(most)
        tree = np.unique(self.boxes.tree, return_inverse=True)[1]
        shares = self.n_steps + np.arange(self.n_boxes)
        shape = tree[-1] + 1, len(self.costs)
        unit = max(_UNIT, self.costs.max(initial=0)) if np.isinf(most) else most
        unit = max(unit, _LEAST_UNIT)
        bounds = np.tile([0.0, 1.0], (len(self.costs), 1))
        bounds[self.n_shares :, 1] = np.inf
        solved = linprog(
            np.minimum(self.costs / unit * _UNIT, _MOST_COST),
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
        reduced = solved.lower.marginals + solved.upper.marginals
        lower = solved.fun / _UNIT * unit + self.constant
        spare = (most - lower) / unit * _UNIT * (1 + _MORE) + _MORE
        self._leave_out(reduced > spare, -reduced > spare)
        return lower

    def _leave_out(self, is_zero: NDArray[np.bool_], is_one: NDArray[np.bool_]) -> None:
        """Drop steps and boxes whose share is zero, or one, in all points sought."""
        costs = [cost.copy() for cost in self.boxes.costs]
        for j, (starts, _) in enumerate(self.groups):
            never = np.flatnonzero(is_zero[self._steps_of(j)])
            always = np.flatnonzero(is_one[self._steps_of(j)])
            if len(never):
                costs[j][starts[never[0] + 1] :] = np.inf
            if len(always):
                costs[j][: starts[always[-1] + 1]] = np.inf
        shares = slice(self.n_steps, self.n_steps + self.n_boxes)
        self.boxes = replace(self.boxes.take(~is_zero[shares]), costs=costs)

    def point(self) -> NDArray[np.intp]:
        """The point whose cells are nearest to the solution."""
        return np.array(
            [
                cells[(self.steps[self._steps_of(j)] > 0.5).sum()]
                for j, (_, cells) in enumerate(self.groups)
            ]
        )

    def halves(self) -> Iterator[BoxSums]:
        """The sums on either side of a cut of a column."""
        unsure = self.steps * (1 - self.steps)
        unsure[unsure < _UNDECIDED] = 0
        sizes = np.diff(self.first)
        if len(self.boxes.most_changed):
            changed = self._changed()
            j = int((changed * (1 - changed)).argmax())
            if _UNDECIDED < changed[j] < 1 - _UNDECIDED:
                cells = np.arange(len(self.boxes.costs[j]))
                yield from _cut(self.boxes, j, cells == self.boxes.origin[j])
                return
        split = unsure * self._fewer_boxes()
        # A solution of shares 0 and 1 misses its needs by rounding: any cut will do.
        for doubt in (
            split * np.abs(self.costs[: self.n_steps]),
            split,
            unsure,
            np.repeat(sizes, sizes),
        ):
            if doubt.any():
                step = doubt.argmax()
                j = int(np.repeat(np.arange(len(sizes)), sizes)[step])
                start = self.groups[j][0][step - self.first[j] + 1]
                cells = np.arange(len(self.boxes.costs[j]))
                yield from _cut(self.boxes, j, cells < start)
                return

    def _fewer_boxes(self) -> NDArray[np.float64]:
        """Numbers of boxes that a cut at each step drops from both halves at least."""
        fewer = np.zeros(self.n_steps)
        for j, (starts, _) in enumerate(self.groups):
            low, high = np.sort(self.boxes.low[:, j]), np.sort(self.boxes.high[:, j])
            beyond = len(low) - np.searchsorted(low, starts[1:])
            before = np.searchsorted(high, starts[1:])
            fewer[self._steps_of(j)] = np.minimum(beyond, before)
        return fewer

    def _changed(self) -> NDArray[np.float64]:
        """The share of each column that is not in the origin's cell."""
        changed = np.ones(len(self.groups))
        for j, (_, cells) in enumerate(self.groups):
            shares = -np.diff(np.r_[1.0, self.steps[self._steps_of(j)], 0.0])
            changed[j] -= shares[cells == self.boxes.origin[j]].sum()
        return changed


def _cut(boxes: BoxSums, j: int, first: NDArray[np.bool_]) -> Iterator[BoxSums]:
    """The sums with some cells of a column, and with its others."""
    for cells in (first, ~first):
        costs = boxes.costs.copy()
        costs[j] = np.where(cells, costs[j], np.inf)
        yield replace(boxes, costs=costs)


class _Rows:
    """Rows of a sparse matrix and their upper limits, built block by block."""

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
        """Entries of the next rows."""
        rows = np.asarray(rows, dtype=np.intp) + self._n_rows
        columns = np.asarray(columns)
        self._entries.append((rows, columns, np.broadcast_to(values, len(rows))))

    def end(self, limits: NDArray[np.float64] | list[float]) -> None:
        """Finish rows that have these limits."""
        self.limits.append(limits)
        self._n_rows += len(limits)

    def matrix(self, n_columns: int) -> csr_array:
        """The matrix of all rows."""
        rows, columns, values = map(np.concatenate, zip(*self._entries, strict=True))
        shape = self._n_rows, n_columns
        return csr_array((values, (rows, columns)), shape=shape)

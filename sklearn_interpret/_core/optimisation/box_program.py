"""The cheapest point at which sums over boxes are as wished, as a linear program.

In each column ordered binaries say from which cell on the point lies; shares of the
boxes of a tree add up to one, and those on a side of a cell are no more than the binary
allows (Cui et al. 2015; Parmentier and Vidal 2021).
"""

from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

# Points are the same if their costs differ by less, relatively; the unit of the
# objective, as the solver stops at an absolute gap too.
GAP, _UNIT = 2e-7, 1e3
# By how much solvers miss constraints that are scaled to about one.
_SLACK = 4e-6
_INFEASIBLE = 2  # a status of milp
# The share of the time in which any better point is sought.
_ANY = 0.6
# Lower bounds this near to what they bound, relatively, are not raised any more.
_CLOSE = 1e-3
# Boxes that are compared with each other.
_MOST_BOXES = 4000


@dataclass(frozen=True)
class Solved:
    """What is known of the cheapest point.

    Parameters
    ----------
    point : ndarray of shape (p,) or None
        The cheapest found.
    lower_bound : float
        No point as wished costs less; infinite where there is none.
    """

    point: np.ndarray | None
    lower_bound: float


def cheapest_point(boxes, point, time_limit, step=0.0):
    """Search for a point as wished that is cheaper than a known one, or prove it best.

    Parameters
    ----------
    boxes : BoxSums
        The sums.
    point : ndarray of shape (p,) or None
        A point as wished.
    time_limit : float
        Seconds.
    step : float, default=0.0
        By how much costs differ at least, where that is known.

    Returns
    -------
    Solved
    """
    start = monotonic()
    known = np.inf
    lower = _relaxed(boxes, point, start + time_limit / 2)
    if lower == np.inf:
        return Solved(point, np.inf if point is None else boxes.cost(point[None])[0])
    while point is None or boxes.cost(point[None])[0] < known:
        if point is not None:
            known = boxes.cost(point[None])[0]
        below = known if np.isinf(known) else known - max(GAP * known, step / 2)
        # Any cheaper point is found, or none proved, sooner than the best.
        status, better = _any_point(boxes, below, start + _ANY * time_limit)
        if status == _INFEASIBLE:
            return Solved(point, known)
        if better is None:
            break
        point = boxes.refined(better)
    return _bounded(boxes, point, lower, start + time_limit)


def _relaxed(boxes, point, end):
    """A first lower bound on the costs of points cheaper than a known one."""
    most = np.inf if point is None else boxes.cost(point[None])[0]
    reduced = within_reach(boxes, most)
    if reduced is None:
        return np.inf
    return _Program(reduced, most).relaxed(end - monotonic())


def _any_point(boxes, most, end):
    """A status, and a point as wished that costs no more, or None."""
    reduced = within_reach(boxes, most)
    if reduced is None:
        return _INFEASIBLE, None
    return _Program(reduced, most).any_point(end - monotonic())


def _bounded(boxes, point, lower, end):
    """A lower bound, raised as long as there is time; a point below it if one shows."""
    most = np.inf if point is None else boxes.cost(point[None])[0]
    upper = most
    while np.isfinite(upper) and upper - lower > _CLOSE * most and monotonic() < end:
        middle = (lower + upper) / 2
        status, better = _any_point(boxes, middle, (monotonic() + end) / 2)
        if status == _INFEASIBLE:
            lower = middle
            continue
        upper = middle
        if better is not None:
            point, most = better, boxes.cost(better[None])[0]
    return Solved(point, min(lower, most))


def within_reach(boxes, most):
    """The same with cells and boxes alone that points of a cost may have; None if none.

    Boxes stay as they are; cells out of reach have infinite costs.
    """
    boxes = replace(boxes, costs=[np.where(c <= most, c, np.inf) for c in boxes.costs])
    paired = False
    while True:
        kept, part, total = _reachable_boxes(boxes, most)
        if kept is not None and kept.all() and not paired:
            kept, paired = _reachable_with_others(boxes, part, most), True
        if kept is None or not kept.any():
            return None
        if not kept.all():
            boxes = _taken(boxes, kept)
            continue
        costs = _reachable_cells(boxes, part, total, most)
        if costs is None:
            return None
        same = sum(np.isfinite(cost).sum() for cost in costs) == sum(
            np.isfinite(cost).sum() for cost in boxes.costs
        )
        boxes = replace(boxes, costs=costs)
        if same:
            return boxes


def _reachable_with_others(boxes, part, most):
    """Which boxes are left if each needs boxes of all other trees that it meets."""
    n_boxes = len(boxes.tree)
    kept = np.ones(n_boxes, dtype=bool)
    if n_boxes > _MOST_BOXES:
        return kept
    meet = np.ones((n_boxes, n_boxes), dtype=bool)
    cost = np.zeros((n_boxes, n_boxes), dtype=np.float32)
    for low, high, of_column in zip(boxes.low.T, boxes.high.T, part.T, strict=True):
        overlap = low[:, None] <= high
        meet &= overlap & overlap.T
        if of_column.any():
            of_column = of_column.astype(np.float32)
            cost += np.maximum(of_column[:, None], of_column)
    meet &= cost <= most * (1 + 1e-4)  # single precision
    starts = _tree_starts(boxes.tree)
    while True:
        enough = kept.copy()
        for gains, need in zip(boxes.gains.T, boxes.needs, strict=True):
            best = np.maximum.reduceat(np.where(meet, gains, -np.inf), starts, axis=1)
            enough &= best.sum(axis=1) >= need
        if enough.sum() == kept.sum():
            return kept
        kept = enough
        meet &= kept


def _taken(boxes, kept):
    return replace(
        boxes,
        tree=boxes.tree[kept],
        low=boxes.low[kept],
        high=boxes.high[kept],
        gains=boxes.gains[kept],
    )


def _reachable_boxes(boxes, most):
    """Which boxes points of the cost reach, what each column costs these, and all."""
    part = np.empty(boxes.low.shape)
    for j, cost in enumerate(boxes.costs):
        part[:, j] = _least(cost, boxes.low[:, j], boxes.high[:, j], boxes.own[j])
    total = part.sum(axis=1)
    kept = np.isfinite(total) & (total <= most * (1 + 1e-12))
    starts = _tree_starts(boxes.tree)
    gains = np.where(kept[:, None], boxes.gains, -np.inf)
    best = np.maximum.reduceat(gains, starts, axis=0)
    spare = best.sum(axis=0) - boxes.needs
    if not (spare >= 0).all():
        return None, None, None
    sizes = np.diff(np.append(starts, len(boxes.tree)))
    kept &= (np.repeat(best, sizes, axis=0) - gains <= spare).all(axis=1)
    return kept, part, total


def _least(cost, low, high, own):
    """The least cost among consecutive cells; numbers cost more farther away."""
    at = np.minimum(np.maximum(low, own), high)
    falls, rises = cost[1:] <= cost[:-1], cost[1:] >= cost[:-1]
    if falls[:own].all() and rises[own:].all():
        return cost[at]
    cells = np.arange(len(cost))
    within = (cells >= low[:, None]) & (cells <= high[:, None])
    return np.where(within, cost, np.inf).min(axis=1)


def _reachable_cells(boxes, part, total, most):
    """Costs of the cells, infinite where no sums as wished are left, or None."""
    starts = _tree_starts(boxes.tree)
    costs = []
    for j, cost in enumerate(boxes.costs):
        cells = np.flatnonzero(np.isfinite(cost))
        low, high = boxes.low[:, j], boxes.high[:, j]
        # Between the ends of boxes cells differ by their cost alone.
        near = (low <= cells[:, None]) & (high >= cells[:, None])
        near &= (total - part[:, j]) + cost[cells][:, None] <= most * (1 + 1e-12)
        enough = np.ones(len(cells), dtype=bool)
        for gains, need in zip(boxes.gains.T, boxes.needs, strict=True):
            best = np.maximum.reduceat(np.where(near, gains, -np.inf), starts, axis=1)
            enough &= best.sum(axis=1) >= need
        if not enough.any():
            return None
        costs.append(np.full(len(cost), np.inf))
        costs[j][cells[enough]] = cost[cells[enough]]
    return costs


def _tree_starts(tree):
    return np.flatnonzero(np.diff(tree, prepend=-1))


class _Program:
    """Variables: binaries of all columns, shares of all boxes, changes of columns."""

    def __init__(self, boxes, most):
        self.boxes, self.most = boxes, most
        self.groups = [self._grouped(j) for j in range(len(boxes.own))]
        sizes = [len(cells) - 1 for _, cells in self.groups]
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.n_binaries = self.first[-1]
        self.n_shares = len(boxes.tree)
        limited = len(boxes.most_changed) > 0
        self.n_changes = len(boxes.own) if limited else 0
        self.scale = _UNIT / most if np.isfinite(most) and most > 0 else 1.0
        self.rows = []
        self._order()
        self._share_out()
        self._wish()
        self._cost()
        if limited:
            self._limit_changes()

    def _grouped(self, j):
        """Cells of a column that no box tells apart: where they start; the cheapest."""
        boxes, cost = self.boxes, self.boxes.costs[j]
        ends = np.concatenate([boxes.low[:, j], boxes.high[:, j] + 1])
        starts = np.unique(np.clip(ends, 0, len(cost)))
        starts = np.union1d(starts[starts < len(cost)], [0])
        cheapest = np.array(
            [
                start + part.argmin()
                for start, part in zip(starts, np.split(cost, starts[1:]), strict=True)
            ]
        )
        finite = np.isfinite(cost[cheapest])
        return starts[finite], cheapest[finite]

    def _row(self, columns, values, low, high):
        """Add a constraint."""
        self.rows.append((columns, values, low, high))

    def _order(self):
        for start, stop in zip(self.first[:-1], self.first[1:], strict=True):
            for k in range(start, stop - 1):
                self._row([k, k + 1], [1, -1], 0, np.inf)

    def _share_out(self):
        boxes = self.boxes
        for of_tree in np.split(np.arange(self.n_shares), _tree_starts(boxes.tree)[1:]):
            shares = self.n_binaries + of_tree
            self._row(shares, np.ones(len(shares)), 1, 1)
            low, high = boxes.low[of_tree], boxes.high[of_tree]
            for j, (starts, _) in enumerate(self.groups):
                n_groups = len(starts)
                # Groups in which boxes begin and after which they end.
                begin = np.searchsorted(starts, low[:, j])
                end = np.searchsorted(starts, high[:, j], side="right")
                for group in np.unique(begin[begin > 0]):
                    right = shares[begin >= group]
                    binary = self.first[j] + group - 1
                    self._row([*right, binary], [*[1.0] * len(right), -1.0], -np.inf, 0)
                for group in np.unique(end[end < n_groups]):
                    left = shares[end <= group]
                    binary = self.first[j] + group - 1
                    self._row([*left, binary], [1.0] * (len(left) + 1), -np.inf, 1)

    def _wish(self):
        shares = self.n_binaries + np.arange(self.n_shares)
        self.wishes = slice(len(self.rows), len(self.rows) + len(self.boxes.needs))
        for gains, need in zip(self.boxes.gains.T, self.boxes.needs, strict=True):
            size = np.abs(gains).max(initial=0) or 1.0
            self._row(shares, gains / size, need / size, np.inf)

    def _cost(self):
        """The objective, and no more than the cost known."""
        self.objective = np.zeros(self.n_binaries + self.n_shares + self.n_changes)
        self.constant = 0.0
        for j, (_, cells) in enumerate(self.groups):
            costs = self.boxes.costs[j][cells]
            self.constant += costs[0]
            self.objective[self.first[j] : self.first[j + 1]] = np.diff(costs)
        if np.isfinite(self.most):
            binaries = np.arange(self.n_binaries)
            costs = self.objective[: self.n_binaries] * self.scale
            high = (self.most - self.constant) * self.scale
            self._row(binaries, costs, -np.inf, high)

    def _limit_changes(self):
        changes = self.n_binaries + self.n_shares + np.arange(self.n_changes)
        for weights, most in zip(
            self.boxes.change_weights, self.boxes.most_changed, strict=True
        ):
            self._row(changes, weights, 0, most)
        for j, (_, cells) in enumerate(self.groups):
            own = np.flatnonzero(cells == self.boxes.own[j])
            if not len(own):
                self._row([changes[j]], [1.0], 1, 1)
                continue
            # 1 - change <= u_own - u_(own + 1)
            columns, values, least = [changes[j]], [1.0], 1.0
            if own[0] > 0:
                columns.append(self.first[j] + own[0] - 1)
                values.append(1.0)
            else:
                least = 0.0
            if own[0] < len(cells) - 1:
                columns.append(self.first[j] + own[0])
                values.append(-1.0)
            self._row(columns, values, least, np.inf)

    def any_point(self, time_limit):
        """A status, and any point at which the sums really are as wished, or None.

        Solvers take for integers and inequalities what nearly is; a point that does not
        hold is excluded.
        """
        end = monotonic() + time_limit
        slack = 0.0
        while True:
            found = self._solved(0 * self.objective, end - monotonic(), slack)
            if found.x is None and found.status > _INFEASIBLE and not slack:
                slack = _SLACK  # numerical trouble, which another bound may avoid
                continue
            if found.x is None:
                return found.status, None
            point = self.point(found.x)
            if self.boxes.holds(point[None])[0]:
                return found.status, point
            if monotonic() > end:
                return None, None
            slack = _SLACK
            self._exclude(found.x)

    def relaxed(self, time_limit):
        """A lower bound on costs: the least where shares and binaries are fractions."""
        found = self._solved(self.objective * self.scale, time_limit, whole=False)
        if found.status == _INFEASIBLE:
            return np.inf
        if found.status != 0:
            return 0.0
        return max(found.fun / self.scale + self.constant, 0.0)

    def _exclude(self, solution):
        binaries = np.arange(self.n_binaries)
        is_one = solution[: self.n_binaries] > 0.5
        self._row(binaries, np.where(is_one, -1.0, 1.0), 1 - is_one.sum(), np.inf)

    def _solved(self, objective, time_limit, slack=0.0, *, whole=True):
        """What the solver returns, where sums must exceed what is needed by a slack."""
        sizes = [len(columns) for columns, _, _, _ in self.rows]
        matrix = coo_array(
            (
                np.concatenate([values for _, values, _, _ in self.rows]),
                (
                    np.repeat(np.arange(len(self.rows)), sizes),
                    np.concatenate([columns for columns, _, _, _ in self.rows]),
                ),
            ),
            shape=(len(self.rows), len(self.objective)),
        )
        kinds = np.zeros(len(self.objective))
        kinds[: self.n_binaries] = whole
        low, high = (np.array([row[k] for row in self.rows]) for k in (2, 3))
        low[self.wishes] += slack
        return milp(
            objective,
            integrality=kinds,
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix.tocsr(), low, high),
            options={
                "time_limit": max(time_limit, 0.01),
                "mip_rel_gap": GAP,
                "presolve": False,  # takes longer than it saves here
            },
        )

    def point(self, solution):
        """The cells that a solution stands for."""
        point = np.empty(len(self.groups), dtype=np.intp)
        for j, (_, cells) in enumerate(self.groups):
            binaries = solution[self.first[j] : self.first[j + 1]]
            point[j] = cells[int((binaries > 0.5).sum())]
        return point

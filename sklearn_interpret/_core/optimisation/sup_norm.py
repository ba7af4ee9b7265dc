"""The nearest point at which sums over boxes are as wished: its dearest cell is cheap.

What the dearest cell costs is one of finitely many numbers. At each of them the cells
that cost more are left out, and what is asked is whether any point is as wished: sums of
the best boxes often say no, changes of one cell after the other yes, and branch and bound
tells the rest (`box_program`). Bisection finds where the answer changes.
"""

from dataclasses import replace
from time import monotonic

import numpy as np

from sklearn_interpret._core.optimisation.box_program import (
    Solved,
    cheapest_point,
    within_reach,
)

# Known points that are followed at each size.
_STARTS = 8
# The share of the time for one question at first, and how much longer it gets.
_FIRST, _LONGER = 0.01, 4


def nearest_point(ways, starts, time_limit):
    """Search for the point as wished whose dearest cell costs least.

    Parameters
    ----------
    ways : list of BoxSums
        Ways in which the wish comes true: they differ by their gains and needs.
    starts : list of ndarray of shape (n, p)
        For each way, points as wished.
    time_limit : float
        Seconds; without any, what heuristics find and what sums of boxes prove.

    Returns
    -------
    Solved
    """
    search = _Search(ways, starts)
    end = monotonic() + time_limit
    search.low = search.first(search.reachable)
    search.first(search.climbs)
    seconds = _FIRST * time_limit
    while search.low < search.high and monotonic() < end:
        search.low = search.first(lambda at: search.told(at, seconds, end))
        seconds *= _LONGER
    return Solved(search.few_changed(), search.sizes[search.low])


class _Search:
    """Sizes of changes: the lowest that may be enough, and the one that is."""

    def __init__(self, ways, starts):
        self.sizes = np.unique(np.concatenate([*[b for w in ways[:1] for b in w.costs], [np.inf]]))
        self.low, self.high = 0, len(self.sizes) - 1
        short = [np.maximum(way.needs - way.sums(way.own[None])[0], 0).sum() for way in ways]
        order = np.argsort(short, kind="stable").tolist()
        self.ways, self.starts = [ways[k] for k in order], [starts[k] for k in order]
        # From which size on each way may come true.
        self.lowest = np.zeros(len(ways), dtype=np.intp)
        self.best = None

    def first(self, enough):
        """The first size for which a function of its position is true."""
        low, high = self.low, self.high
        while low < high:
            middle = (low + high) // 2
            if enough(middle):
                high = min(middle, self.high)
            else:
                low = middle + 1
        return low

    def _left(self, at):
        """Ways that may come true at a size, with the cells up to it alone."""
        for number in np.flatnonzero(self.lowest <= at).tolist():
            way = self.ways[number]
            costs = [np.where(c <= self.sizes[at], c, np.inf) for c in way.costs]
            reached = within_reach(replace(way, costs=costs), np.inf)
            if reached is None:
                self.lowest[number] = at + 1
            else:
                yield number, reached

    def reachable(self, at):
        """Whether the best boxes of all trees together would be as wished."""
        return next(self._left(at), None) is not None

    def climbs(self, at):
        """Whether changes of one cell after the other lead to a point as wished."""
        for number, boxes in self._left(at):
            ends = [np.flatnonzero(np.isfinite(cost))[[0, -1]] for cost in boxes.costs]
            near = np.clip(self.starts[number][:_STARTS], *np.transpose(ends))
            near = near[np.isfinite(boxes.cost(near))]
            own = np.clip(boxes.own, *np.transpose(ends))
            point = _climbed(boxes, np.concatenate([own[None], near]))
            if point is not None:
                return self._keep(number, point)
        return False

    def told(self, at, seconds, end):
        """Whether a point is as wished, or may be for all that is told in some time."""
        for number, boxes in self._left(at):
            left = min(seconds, end - monotonic())
            if left <= 0:
                return True
            solved = cheapest_point(boxes, None, left, step=np.inf)
            if solved.point is not None:
                return self._keep(number, solved.point)
            if np.isfinite(solved.lower_bound):
                return True
            self.lowest[number] = at + 1
        return False

    def _keep(self, number, point):
        """Note a point as wished."""
        costs = self.ways[number].costs
        size = max(cost[cell] for cost, cell in zip(costs, point, strict=True))
        self.high = int(np.searchsorted(self.sizes, size))
        self.best = number, point
        return True

    def few_changed(self):
        """The best point, without changes that are not needed; None if there is none."""
        if self.best is None:
            return None
        number, point = self.best
        way, size = self.ways[number], self.sizes[self.high]
        costs = [np.where(cost <= size, cost, np.inf) for cost in way.costs]
        return replace(way, costs=costs).descended(point[None])[0]


def _climbed(boxes, points):
    """A point as wished, from some by the best changes of single cells; or None."""
    flat, column = boxes.cell_costs
    starts = boxes.cell_starts
    usable = np.isfinite(flat)
    needs = boxes.needs[:, None, None]
    short = np.full(len(points), np.inf)
    while len(points):
        missing = np.maximum(needs - boxes.profiles(points), 0).sum(axis=0)
        missing[:, ~usable] = np.inf
        best = missing.argmin(axis=1)
        reached = missing[np.arange(len(points)), best]
        points[np.arange(len(points)), column[best]] = best - starts[column[best]]
        if not reached.all():
            return points[reached.argmin()]
        points, short = points[reached < short], reached[reached < short]
    return None

"""The nearest point at which sums over boxes are as wished: its dearest cell is cheap.

What the dearest cell costs is one of finitely many sizes. At each size the cells that
cost more are left out, and the question is whether any point is as wished: sums of the
best boxes often say no, changes of one cell after the other yes, and branch and bound
tells the rest. Bisection finds the size at which the answer changes.
"""

from dataclasses import replace
from time import monotonic

import numpy as np

from sklearn_interpret._core.search.box_program import (
    Program,
    Solved,
    within_reach,
)

# Known points that are followed at each size.
_STARTS = 16
# The share of the time for one question at first, and how much longer it gets.
_FIRST, _LONGER = 1 / 32, 4
# What is left unknown of an interval of sizes until there is more time for a question.
_ROUGHLY = 0.1


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
    end = monotonic() + time_limit
    search = _Search(ways, starts)
    search.low = search.first(search.reachable)
    if time_limit:
        search.low = search.first(
            lambda at: search.status(at, 0.0, end), roughly=_ROUGHLY
        )
    search.first(search.climbs, roughly=_ROUGHLY)
    seconds = _FIRST * time_limit
    while search.low < search.high and monotonic() < end:
        search.low = search.first(
            lambda at, until=seconds: search.status(at, until, end),
            step=search.high - search.low,
            roughly=_ROUGHLY,
        )
        seconds *= _LONGER
    return Solved(search.few_changed(), search.sizes[min(search.low, search.high)])


class _Search:
    """Sizes of changes: the lowest that may be enough, and the one that is."""

    def __init__(self, ways, starts):
        costs = ways[0].costs if ways else []
        self.sizes = np.unique(np.concatenate([*costs, [np.inf]]))
        self.low, self.high = 0, len(self.sizes) - 1
        self.ways, self.starts = ways, starts
        # From which size on each way may come true.
        self.lowest = np.zeros(len(ways), dtype=np.intp)
        self.best = None

    def first(self, enough, step=1, roughly=0.0):
        """The first size for which a function of its position is true, or a bit less.

        The positions asked about are farther and farther apart, from `step` on.
        """
        low, high = self.low, self.high
        while high - low > roughly * (self.high - self.low):
            at = min(low + step - 1, (low + high) // 2)
            if enough(at):
                high = min(at, self.high)
            else:
                low, step = at + 1, 2 * step
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
        best = [] if self.best is None else [self.best[1]]
        return any(
            self._climbs(number, boxes, [*best, boxes.own, *self.starts[number]])
            for number, boxes in self._left(at)
        )

    def status(self, at, seconds, end):
        """Whether a point is as wished, or may be for all that is told in some time."""
        until = min(monotonic() + seconds, end)
        if monotonic() >= end:
            return True
        for number, boxes in self._left(at):
            parts = [boxes]
            while parts:
                part = within_reach(parts.pop(), np.inf)
                if part is None:
                    continue
                program = Program(part)
                if np.isinf(program.relaxed(np.inf, end - monotonic())):
                    continue
                point = program.point()
                if part.holds(point[None])[0]:
                    return self._keep(number, point)
                # Climbing takes as long as a program: from few of them.
                if not parts and self._climbs(number, part, [point]):
                    return True
                if monotonic() > until:
                    return True
                parts.extend(program.halves())
            self.lowest[number] = at + 1
        return False

    def _climbs(self, number, boxes, points):
        """Note a point as wished to which changes of single cells lead, if any do."""
        cells = [np.flatnonzero(np.isfinite(cost)) for cost in boxes.costs]
        near = [
            c[np.abs(c - x[:, None]).argmin(axis=1)]
            for c, x in zip(cells, np.array(points[:_STARTS]).T, strict=True)
        ]
        found = boxes.attained(np.transpose(near))
        return found is not None and self._keep(number, found)

    def _keep(self, number, point):
        """Note a point as wished."""
        costs = self.ways[number].costs
        size = max(cost[cell] for cost, cell in zip(costs, point, strict=True))
        self.high = int(np.searchsorted(self.sizes, size))
        self.best = number, point
        return True

    def few_changed(self):
        """The best point without changes that are not needed, or None."""
        if self.best is None:
            return None
        number, point = self.best
        way, size = self.ways[number], self.sizes[self.high]
        costs = [np.where(cost <= size, cost, np.inf) for cost in way.costs]
        return replace(way, costs=costs).descended(point[None])[0]

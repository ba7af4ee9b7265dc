"""The point of least largest cost at which sums over boxes reach their needs.

The largest cost of a point's cells is one of finitely many sizes. A size is feasible if
some point without dearer cells reaches the needs: sums of the best boxes often refute
it, changes of single cells often confirm it, and branch and bound decides the rest.
Bisection finds the least feasible size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.programs import Program, Solved, within_reach

if TYPE_CHECKING:
    from sklearn_interpret._core.search.boxes import BoxSums

# Known points from which climbs start at each size: one block of `BoxSums.attained`.
_STARTS = 16
# Share of the time for each size at first, and the factor by which it grows: easy sizes
# narrow the interval before hard ones get half of the time, in the third round.
_FIRST, _LONGER = 1 / 32, 4
# Share of an interval of sizes that is left undecided until sizes get more time: sizes
# close to the least one are the hardest to decide.
_ROUGHLY = 0.1


def nearest_point(
    alternatives: Sequence[tuple[BoxSums, NDArray[np.intp]]], time_limit: float
) -> Solved:
    """Search for the point of least largest cost.

    Parameters
    ----------
    alternatives : list of (BoxSums, ndarray of shape (n, p))
        Sums, any of which has to reach its needs, and points to start from. The costs
        are those of the first.
    time_limit : float
        Seconds; zero leaves it at heuristics and bounds from sums of boxes.

    Returns
    -------
    Solved
    """
    end = monotonic() + time_limit
    search = _Search(alternatives)
    # Without time, sums of the best boxes alone refute sizes.
    search.low = search.first(lambda position: search.status(position, 0.0, 0.0))
    search.low = search.first(
        lambda position: search.status(position, 0.0, end), roughly=_ROUGHLY
    )
    search.first(search.climbs, roughly=_ROUGHLY)
    seconds = _FIRST * time_limit
    while search.low < search.high and monotonic() < end:
        search.low = search.first(
            partial(search.status, seconds=seconds, end=end),
            step=search.high - search.low,
            roughly=_ROUGHLY,
        )
        seconds *= _LONGER
    return Solved(search.few_changed(), search.sizes[min(search.low, search.high)])


class _Search:
    """The interval of sizes between the lowest not refuted and the least confirmed."""

    def __init__(
        self, alternatives: Sequence[tuple[BoxSums, NDArray[np.intp]]]
    ) -> None:
        self.alternatives = [boxes for boxes, _ in alternatives]
        self.starts = [starts for _, starts in alternatives]
        costs = self.alternatives[0].costs if alternatives else []
        self.sizes = np.unique(np.concatenate([*costs, [np.inf]]))
        self.low, self.high = 0, len(self.sizes) - 1
        # The lowest size not refuted, of each alternative.
        self.lowest = np.zeros(len(alternatives), dtype=np.intp)
        self.best: tuple[int, NDArray[np.intp]] | None = None

    def first(
        self, enough: Callable[[int], bool], step: int = 1, roughly: float = 0.0
    ) -> int:
        """The first position for which a function is true, or a little before it.

        Positions are tried in growing steps, from `step` on.
        """
        low, high = self.low, self.high
        while high - low > roughly * (self.high - self.low):
            position = min(low + step - 1, (low + high) // 2)
            if enough(position):
                high = min(position, self.high)
            else:
                low, step = position + 1, 2 * step
        return low

    def _not_refuted(self, position: int) -> Iterator[tuple[int, BoxSums]]:
        """Alternatives not refuted at a size, with the cells up to it alone."""
        for number in np.flatnonzero(self.lowest <= position).tolist():
            alternative = self.alternatives[number]
            costs = [
                np.where(c <= self.sizes[position], c, np.inf)
                for c in alternative.costs
            ]
            reached = within_reach(replace(alternative, costs=costs), np.inf)
            if reached is None:
                self.lowest[number] = position + 1
            else:
                yield number, reached

    def climbs(self, position: int) -> bool:
        """Whether changes of single cells lead to a point that reaches the needs."""
        best = [] if self.best is None else [self.best[1]]
        return any(
            self._climbs(number, boxes, [*best, boxes.origin, *self.starts[number]])
            for number, boxes in self._not_refuted(position)
        )

    def status(self, position: int, seconds: float, end: float) -> bool:
        """True if a size is feasible, or undecided at the time limit."""
        until = min(monotonic() + seconds, end)
        for number, boxes in self._not_refuted(position):
            if monotonic() >= end:
                return True
            stack = [boxes]
            while stack:
                reachable = within_reach(stack.pop(), np.inf)
                if reachable is None:
                    continue
                program = Program(reachable)
                if np.isinf(program.relaxed(np.inf, end - monotonic())):
                    continue
                point = program.point()
                if reachable.holds(point[None])[0]:
                    return self._keep(number, point)
                # A climb takes as long as a program: only the last half starts one.
                if not stack and self._climbs(number, reachable, [point]):
                    return True
                if monotonic() > until:
                    return True
                stack.extend(program.halves())
            self.lowest[number] = position + 1
        return False

    def _climbs(
        self, number: int, boxes: BoxSums, points: list[NDArray[np.intp]]
    ) -> bool:
        """Keep the point that a climb by single cells attains, if it attains one."""
        cells = [np.flatnonzero(np.isfinite(cost)) for cost in boxes.costs]
        near = [
            c[np.abs(c - x[:, None]).argmin(axis=1)]
            for c, x in zip(cells, np.array(points[:_STARTS]).T, strict=True)
        ]
        attained = boxes.attained(np.transpose(near))
        return attained is not None and self._keep(number, attained)

    def _keep(self, number: int, point: NDArray[np.intp]) -> bool:
        """Keep a point that reaches the needs."""
        costs = self.alternatives[number].costs
        size = max(cost[cell] for cost, cell in zip(costs, point, strict=True))
        self.high = int(np.searchsorted(self.sizes, size))
        self.best = number, point
        return True

    def few_changed(self) -> NDArray[np.intp] | None:
        """The best point without needless changes, or None."""
        if self.best is None:
            return None
        number, point = self.best
        alternative, size = self.alternatives[number], self.sizes[self.high]
        costs = [np.where(cost <= size, cost, np.inf) for cost in alternative.costs]
        return replace(alternative, costs=costs).descended(point[None])[0]

"""The point of least largest cost at which sums over boxes reach their needs.

The largest cost of a point's cells is one of finitely many sizes. A size is feasible if
some point without dearer cells reaches the needs: sums of the best boxes often refute
it, a beam search by exchanges of single cells often confirms it, and branch and bound
decides the rest. Bisection finds the least feasible size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.programs import Program, Solution, within_reach

if TYPE_CHECKING:
    from sklearn_interpret._core.search.boxes import BoxSums

# Known points from which a beam search starts at each size: one block of
# `BoxSums.reach_needs`.
_STARTS = 16
# Share of the time for each size at first, and the factor by which it grows: easy sizes
# narrow the interval before hard ones get half of the time, in the third round.
_FIRST_SHARE = 1 / 32
_GROWTH = 4
# Share of an interval of sizes that is left undecided until sizes get more time: sizes
# close to the least one are the hardest to decide.
_ROUGHLY = 0.1


def nearest_point(
    alternatives: Sequence[tuple[BoxSums, NDArray[np.intp]]], time_limit: float
) -> Solution:
    """Search for the point of least largest cost.

    Parameters
    ----------
    alternatives : list of (BoxSums, ndarray of shape (n, p))
        Sums, any of which has to reach its needs, and points to start from. The costs
        of the first alternative count.
    time_limit : float
        Seconds; with zero, heuristics and sums of the best boxes alone are used.

    Returns
    -------
    Solution
    """
    end = monotonic() + time_limit
    search = _Search(alternatives)
    # Without time, sums of the best boxes alone refute sizes; then one program each.
    search.low = search.first_position(
        partial(search.is_not_refuted, seconds=0.0, end=0.0)
    )
    search.low = search.first_position(
        partial(search.is_not_refuted, seconds=0.0, end=end), roughly=_ROUGHLY
    )
    search.first_position(search.is_attained, roughly=_ROUGHLY)
    seconds = _FIRST_SHARE * time_limit
    while search.low < search.high and monotonic() < end:
        search.low = search.first_position(
            partial(search.is_not_refuted, seconds=seconds, end=end),
            step=search.high - search.low,
            roughly=_ROUGHLY,
        )
        seconds *= _GROWTH
    return Solution(
        search.undo_needless_changes(), search.sizes[min(search.low, search.high)]
    )


class _Search:
    """The interval from the lowest size not refuted to the least size confirmed.

    `low` and `high` are the positions of these two sizes in the sorted `sizes`.
    """

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
        self.best_point: NDArray[np.intp] | None = None
        self.best_alternative = 0  # the alternative whose needs the best point reaches

    def first_position(
        self, is_enough: Callable[[int], bool], step: int = 1, roughly: float = 0.0
    ) -> int:
        """The first position for which `is_enough` is true, or a little before it.

        Positions are tried in growing steps, the first of length `step`. A share
        `roughly` of the interval is left undecided.
        """
        low, high = self.low, self.high
        while high - low > roughly * (self.high - self.low):
            position = min(low + step - 1, (low + high) // 2)
            if is_enough(position):
                # The function may have lowered `self.high`.
                high = min(position, self.high)
            else:
                low, step = position + 1, 2 * step
        return low

    def _not_refuted(self, position: int) -> Iterator[tuple[int, BoxSums]]:
        """Alternatives not refuted at a size, with the cells up to this size alone."""
        for number in np.flatnonzero(self.lowest <= position).tolist():
            alternative = self.alternatives[number]
            limited = _with_costs_up_to(alternative, self.sizes[position])
            reachable = within_reach(limited, np.inf)
            if reachable is None:
                self.lowest[number] = position + 1
            else:
                yield number, reachable

    def is_attained(self, position: int) -> bool:
        """Whether exchanges of single cells lead to a point that reaches the needs."""
        best = [] if self.best_point is None else [self.best_point]
        return any(
            self._attains(number, boxes, [*best, boxes.origin, *self.starts[number]])
            for number, boxes in self._not_refuted(position)
        )

    def is_not_refuted(self, position: int, seconds: float, end: float) -> bool:
        """Whether a size is feasible, or undecided after some seconds, or at `end`."""
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
                if np.isinf(program.solve_relaxation(np.inf, end - monotonic())):
                    continue
                point = program.point()
                if reachable.holds(point[None])[0]:
                    self._keep(number, point)
                    return True
                # A beam search takes as long as a program: only the last half starts
                # one.
                if not stack and self._attains(number, reachable, [point]):
                    return True
                if monotonic() > until:
                    return True
                stack.extend(program.halves())
            self.lowest[number] = position + 1
        return False

    def _attains(
        self, number: int, boxes: BoxSums, points: list[NDArray[np.intp]]
    ) -> bool:
        """Whether a beam search reaches the needs; the point is then kept."""
        usable = [np.flatnonzero(np.isfinite(cost)) for cost in boxes.costs]
        columns = np.array(points[:_STARTS]).T
        near = [
            cells[np.abs(cells - of_points[:, None]).argmin(axis=1)]
            for cells, of_points in zip(usable, columns, strict=True)
        ]
        attained = boxes.reach_needs(np.transpose(near))
        if attained is not None:
            self._keep(number, attained)
        return attained is not None

    def _keep(self, number: int, point: NDArray[np.intp]) -> None:
        """Keep a point that reaches the needs, and lower `high` to its size."""
        costs = self.alternatives[number].costs
        size = max(cost[cell] for cost, cell in zip(costs, point, strict=True))
        self.high = int(np.searchsorted(self.sizes, size))
        self.best_alternative, self.best_point = number, point

    def undo_needless_changes(self) -> NDArray[np.intp] | None:
        """The best point without needless changes, or None."""
        if self.best_point is None:
            return None
        alternative = self.alternatives[self.best_alternative]
        limited = _with_costs_up_to(alternative, self.sizes[self.high])
        return limited.descend(self.best_point[None])[0]


def _with_costs_up_to(boxes: BoxSums, size: float) -> BoxSums:
    """The sums where no cell may cost more than a size."""
    costs = [np.where(cost <= size, cost, np.inf) for cost in boxes.costs]
    return replace(boxes, costs=costs)

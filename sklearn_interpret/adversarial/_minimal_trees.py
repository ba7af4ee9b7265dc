"""The smallest changes that make models of trees answer as wished."""

from dataclasses import dataclass
from time import monotonic

import numpy as np

from sklearn_interpret._core.search.sup_norm import nearest_point
from sklearn_interpret._model.trees.nearest import Cheapest, TreeSearch
from sklearn_interpret.adversarial._base import Tries


class TreePerturbation:
    """Finds the smallest changes of rows that a model of trees answers as wished.

    Parameters
    ----------
    known : SearchProblem
        Known rows; the norm of `known.feasible` is 1 or inf.
    time_limit : float
        Seconds for each row; without any, what heuristics find.

    Raises
    ------
    UnreadableModelError
        The model is none of trees that can be read.
    ValueError
        Another norm.
    """

    def __init__(self, known, time_limit):
        norm = known.actionability.norm
        self._search = TreeSearch(known.outcome, known, 0.0)
        if norm not in _SOUGHT:
            raise ValueError(
                f"norm={str(norm)!r} of changes is not among those that trees are "
                "searched for: norm='inf' and norm='1' are accepted. HopSkipJump "
                "looks for rows near in any norm."
            )
        self._sought = _SOUGHT[norm](time_limit)

    def tries(self, problem, index):
        """`Tries` at the rows at `index` of a task, with proved lower bounds.

        A row stays where it is if nothing is found; its bound is infinite if there is
        nothing to be found.
        """
        values, bounds = problem.values[index], np.zeros(len(index))
        for place, row in enumerate(index.tolist()):
            found, bounds[place] = self._search.found(
                problem, row, self._sought, problem.actionability
            )
            if found is not None:
                values[place] = found
                # Rounding may put the proof a hair beyond the row.
                nearest = problem.distances(found[None], index[[place]])[0]
                bounds[place] = min(bounds[place], nearest)
        return Tries(values, bounds)


@dataclass(frozen=True)
class _LeastLargest(Cheapest):
    """Seeks the point whose dearest cell costs least."""

    def solved(self, ways, end):
        """As of `Cheapest`."""
        boxes, starts = map(list, zip(*ways, strict=True)) if ways else ([], [])
        seconds = end - monotonic() if self.time_limit else 0.0
        return nearest_point(boxes, starts, seconds)


_SOUGHT = {1: Cheapest, np.inf: _LeastLargest}

"""The smallest perturbations of models of trees."""

import numpy as np

from sklearn_interpret._core.search.programs import Goal
from sklearn_interpret._model.trees.nearest import TreeSearch
from sklearn_interpret.adversarial._base import Tries

# The objective of each norm.
_OBJECTIVES = {1: "distance", np.inf: "largest_change"}


class TreePerturbation:
    """Finds the smallest changes for which a model of trees reaches a target.

    Parameters
    ----------
    known : SearchProblem
        Known rows; the norm of `known.actionability` is 1 or inf.
    time_limit : float
        Seconds for each row; zero leaves it at what heuristics find.

    Raises
    ------
    UnreadableModelError
        The model is not made of trees that can be read.
    ValueError
        Another norm.
    """

    def __init__(self, known, time_limit):
        norm = known.actionability.norm
        self._search = TreeSearch(known, 0.0)
        if norm not in _OBJECTIVES:
            raise ValueError(
                f"norm={str(norm)!r} of changes is not among those that trees are "
                "searched for: norm='inf' and norm='1' are accepted. HopSkipJump "
                "looks for rows near in any norm."
            )
        self._goal = Goal(time_limit, _OBJECTIVES[norm])

    def tries(self, problem, index):
        """`Tries` at the rows at `index` of a problem, with proved lower bounds.

        A row without a result stays; its bound is infinite if none is possible.
        """
        values, bounds = problem.values[index], np.zeros(len(index))
        for place, row in enumerate(index.tolist()):
            found, bounds[place] = self._search.found(
                problem, row, self._goal, problem.actionability
            )
            if found is not None:
                values[place] = found
                # Rounding may put the bound beyond the row.
                nearest = problem.distances(found[None], index[[place]])[0]
                bounds[place] = min(bounds[place], nearest)
        return Tries(values, bounds)

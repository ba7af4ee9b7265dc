"""The smallest perturbations of linear models."""

import numpy as np

from sklearn_interpret._core.search.norm_balls import nearest_beyond_all
from sklearn_interpret._model.linear_search import ColumnEffects
from sklearn_interpret.adversarial._base import Tries
from sklearn_interpret.adversarial._base_gradient import Budget
from sklearn_interpret.adversarial._minimal_steps import (
    nearest_on_rays,
    rows_after,
)

# Excess over the needs, relative to the size of the terms and in the precision of the
# numbers: more until the model's own answer satisfies the target.
_EXCESS = (2.0**3, 2.0**15, 2.0**25)


class LinearPerturbation:
    """Finds the nearest rows for which a linear model reaches a target.

    Parameters
    ----------
    known : SearchProblem
        Known rows; an UnreadableModelError says why the model is not linear in them.

    Attributes
    ----------
    rows_each : int
        Number of rows in one call of the model, per attacked row.
    """

    def __init__(self, known):
        self._effects = ColumnEffects(known)
        self._target = self._effects.target()
        self.rows_each = len(self._effects.model.intercept)
        slopes = self._effects.slopes
        slopes = [np.zeros(self.rows_each) if s is None else s for s in slopes]
        self._slopes = np.array(slopes) / known.actionability.costs[:, None]

    def tries(self, problem, index):
        """The nearest rows, with the distances of relaxed programs as lower bounds."""
        slopes, needs, sizes, most = self._programs(problem, index)
        n_ways = slopes.shape[1]
        slopes, needs, sizes, most = (
            part.reshape(-1, *part.shape[2:]) for part in (slopes, needs, sizes, most)
        )
        every = Budget(problem, np.repeat(index, n_ways), np.inf)
        steps, possible = nearest_beyond_all(
            slopes, every.low, every.high, needs, every.norm
        )
        norms = np.linalg.norm(steps, every.norm, axis=1)
        bounds = np.where(possible, norms, np.inf).reshape(-1, n_ways).min(axis=1)
        values, distances = every.origins.copy(), np.full(len(needs), np.inf)
        left = np.flatnonzero(possible)
        for excess in _EXCESS:
            if not len(left):
                break
            raised = np.minimum(excess * self._effects.precision * sizes, most)
            here, some = every.part(left), slopes[left]
            found = self._steps(some, here, (needs + raised)[left], steps[left])
            _keep_nearer(values, distances, every, left, rows_after(here, found))
            left = left[np.isinf(distances[left])]
        if problem.actionability.integer.any():
            left = np.flatnonzero(possible)
        on_rays, _ = nearest_on_rays(every.part(left), steps[left])
        _keep_nearer(values, distances, every, left, on_rays)
        best = distances.reshape(-1, n_ways).argmin(axis=1)
        best += n_ways * np.arange(len(index))
        return Tries(values[best], np.minimum(bounds, distances[best]))

    @staticmethod
    def _steps(slopes, budget, needs, relaxed):
        """The shortest steps whose whole numbers are those of relaxed ones, cut."""
        costs, whole = budget.actionability.costs, budget.actionability.integer
        cut = np.where(whole, np.trunc(relaxed / costs) * costs, 0)
        low, high = (np.where(whole, 0, part) for part in (budget.low, budget.high))
        needs = needs - np.einsum("nmp,np->nm", slopes, cut)
        return cut + nearest_beyond_all(slopes, low, high, needs, budget.norm)[0]

    def _programs(self, problem, index):
        """Slopes (n, n_ways, m, p), needs and sizes of the terms of m functions.

        And the largest excess over the needs.
        """
        sums = self._effects.margins(problem.rows.take(index).native)
        n_sums = sums.shape[1]
        own = problem.own_of(index)
        own = np.zeros(len(index), dtype=int) if own is None else own
        ways = [self._target.ways(k) for k in range(max(n_sums, 2))]
        weights, ends = (
            np.array([[way[part] for way in of_class] for of_class in ways])
            for part in (0, 1)
        )
        weights, ends = weights[own], ends[own]
        slopes = np.einsum("nwmk,pk->nwmp", weights, self._slopes)
        needs = ends - np.einsum("nwmk,nk->nwm", weights, sums)
        places = np.abs(problem.values[index] * problem.actionability.costs)
        sizes = np.einsum("nwmp,np->nwm", np.abs(slopes), np.nan_to_num(places))
        sizes += np.abs(ends) + np.einsum("nwmk,nk->nwm", np.abs(weights), np.abs(sums))
        most = np.full(ends.shape, np.inf)
        if ends.shape[2] == 2 and self._target.interval is not None:
            most[:] = -ends.sum(axis=2, keepdims=True) / 2
        return slopes, needs, sizes, most


def _keep_nearer(values, distances, budget, rows, found):
    """Exchange some rows for others that satisfy the target and are nearer."""
    if not len(rows):
        return
    index = budget.index[rows]
    holds = budget.problem.holds(found, index)
    reached = np.where(holds, budget.problem.distances(found, index), np.inf)
    nearer = reached < distances[rows]
    values[rows[nearer]], distances[rows[nearer]] = found[nearer], reached[nearer]

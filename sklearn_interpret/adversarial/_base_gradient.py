"""Base of the attacks along the slopes of a model, within a budget."""

from __future__ import annotations

from copy import copy
from numbers import Real

import numpy as np

from sklearn_interpret._core.search.norm_balls import farthest
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.actions.actionability import SearchProblem
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret.adversarial._base import BaseAttack


class Budget:
    """The norm ball and the box of some rows of a problem, in units of their columns.

    Parameters
    ----------
    problem : SearchProblem
        The rows.
    index : ndarray of shape (n,), int
        Positions of the rows.
    epsilon : float
        The largest norm.
    """

    def __init__(self, problem, index, epsilon):
        self.problem, self.index, self.epsilon = problem, index, float(epsilon)
        self.actionability = problem.actionability
        self.norm = self.actionability.norm
        self.origins = problem.values[index]
        limits = self.actionability.limits(self.origins)
        moves = [(end - self.origins) * self.actionability.costs for end in limits]
        # Missing entries stay.
        self.low, self.high = (np.where(np.isnan(part), 0, part) for part in moves)

    def part(self, some):
        """The budget of some of the rows."""
        part = copy(self)
        for name in ("index", "origins", "low", "high"):
            setattr(part, name, getattr(self, name)[some])
        return part

    def farthest(self, slopes, radius, steps=0.0):
        """Steps extended by a norm of `radius` where slopes gain most."""
        low, high = self.low - steps, self.high - steps
        return steps + farthest(slopes, low, high, radius, self.norm)

    def values(self, steps):
        """Encoded rows after some steps, as their columns take them, in the ball."""
        moved = steps / self.actionability.costs
        moved = np.where(self.actionability.integer, np.trunc(moved), moved)
        values = np.where(moved == 0, self.origins, self.origins + moved)
        values = self.actionability.projected(values, self.origins)
        if np.isfinite(self.epsilon):
            self._return_to_ball(values, np.abs(moved))
        return values

    def _return_to_ball(self, values, moved):
        """Move rows that rounding took out of the ball back, by the smallest moves."""
        left = np.arange(len(values))
        while True:
            origins, reached = self.origins[left], values[left]
            outside = self.actionability.distances(reached, origins) > self.epsilon
            if not outside.any():
                return
            left, origins, reached = (p[outside] for p in (left, origins, reached))
            far = np.abs(reached - origins)
            back = far > moved[left]
            # If no cell was rounded up, the norm was: real numbers move back first.
            for others in ((far > 0) & ~self.actionability.integer, far > 0):
                back |= others & ~back.any(axis=1, keepdims=True)
            nearer = self.actionability.nearer(reached, origins)
            values[left] = np.where(back, nearer, reached)


class BaseGradientAttack(BaseAttack):
    """Base of the attacks along the slopes of a model, within a budget.

    Sets `by_formula_`.
    """

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "epsilon": [Interval(Real, 0, None, closed="neither")],
    }

    def _prepare(self, sample, outcome, actionability):
        self._margins = Margins(SearchProblem(outcome, actionability, sample.rows))
        self.by_formula_ = self._margins.by_formula

    def _one_step(self, budget):
        """Rows after the step of the full size towards the best rival.

        And whether each satisfies the target, and that rival.
        """
        problem, index = budget.problem, budget.index
        best = budget.origins.copy()
        valid = np.zeros(len(index), dtype=bool)
        towards = np.zeros(len(index), dtype=np.intp)
        margins = np.full(len(index), -np.inf)
        for rival in range(self._margins.n_rivals):
            rivals = np.full(len(index), rival)
            slopes = self._margins.slopes(problem, budget.origins, index, rivals)
            values = budget.values(budget.farthest(slopes, budget.epsilon))
            holds = problem.holds(values, index)
            _, reached, _ = self._margins.at(problem, values, index)
            better = np.where(holds == valid, reached > margins, holds)
            best[better], towards[better] = values[better], rival
            valid[better], margins[better] = holds[better], reached[better]
        return best, valid, towards

    def _failure(self):
        return f"no row that reaches the target was found within epsilon={self.epsilon}"

    def _rows_each(self):
        n_columns = len(self._actionability.vary)
        return 1 if self.by_formula_ else 2 * n_columns

"""Wachter's counterfactuals."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from sklearn_interpret._core.optimisation.linear_steps import penalised_descent
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret.counterfactuals._base import Task
from sklearn_interpret.counterfactuals._heuristic import (
    BaseHeuristicCounterfactual,
    nearest_of_each,
)

# Half the difference that a derivative is taken over, in the unit of a feature.
_STEP = 1e-4
# Known rows that tell whether the response has derivatives.
_TRIED_ROWS = 10
# A second difference of less than this part of the first is that of a smooth response.
_CURVED = 0.1
_ROUNDING = 1e-11
# Descents begin at a row itself, and at so many of the near known rows.
_DESCENTS = 2


class WachterCounterfactual(BaseHeuristicCounterfactual):
    _parameter_constraints = {
        **BaseHeuristicCounterfactual._parameter_constraints,
        "tolerance": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"auto", "search"})],
    }

    _tried: ClassVar[str] = "near the rows of fit, nor by descent"

    def __init__(
        self,
        estimator: Any,
        *,
        desired: Any = "other",
        target: Any = None,
        features_to_vary: Any = None,
        permitted_range: dict | None = None,
        direction: dict | None = None,
        categorical_features: Any = "auto",
        max_changes: int | None = None,
        distance: str | dict = "mad",
        n_counterfactuals: int = 1,
        tolerance: float = 1e-3,
        max_iter: int = 100,
        method: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.desired = desired
        self.target = target
        self.features_to_vary = features_to_vary
        self.permitted_range = permitted_range
        self.direction = direction
        self.categorical_features = categorical_features
        self.max_changes = max_changes
        self.distance = distance
        self.n_counterfactuals = n_counterfactuals
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _prepare(self, sample, wish, feasible):
        super()._prepare(sample, wish, feasible)
        self._numbers = np.flatnonzero(feasible.vary & ~feasible.categorical)
        low, high = wish.interval or (-np.inf, np.inf)
        # In a narrow interval the margin cannot be larger than half of it.
        self._aim = min(self.tolerance, (high - low) / 2)
        smooth = self.method == "auto" and self._is_smooth(sample, wish, feasible)
        self.method_ = "differences" if smooth else "search"

    def _is_smooth(self, sample, wish, feasible):
        """Whether differences of the response look as those of a smooth one."""
        if not len(self._numbers):
            return False
        rows = sample.rows
        places = np.linspace(0, rows.n_rows - 1, min(_TRIED_ROWS, rows.n_rows))
        task = Task(wish, feasible, rows.take(np.rint(places).astype(np.intp)))
        index = np.arange(len(places))
        below, above, _ = self._on_both_sides(task, task.values, index)
        own = task.margins(task.values, index)[:, None]
        first, second = np.abs(above - below), np.abs(above - 2 * own + below)
        sloping = first > _ROUNDING * (1 + np.abs(own))
        even = sloping & (second < _CURVED * first)
        some = sloping.any(axis=1).mean() >= 0.5
        return bool(some and even.sum() >= 0.5 * sloping.sum())

    def _on_both_sides(self, task, values, index):
        """Margins a small step below and above each number, and the distances between.

        Each of shape (m, n_numbers).
        """
        feasible, numbers = task.feasible, self._numbers
        steps = _STEP / feasible.costs[numbers]
        steps = np.where(feasible.integer[numbers], np.maximum(steps, 1), steps)
        column = np.tile(np.arange(len(numbers)), len(values))
        point = np.repeat(np.arange(len(values)), len(numbers))
        margins, cells = [], []
        for sign in (-1, 1):
            trials = values[point]
            at = np.arange(len(trials)), numbers[column]
            trials[at] += sign * steps[column]
            trials = task.projected(trials, index[point])
            margins.append(task.margins(trials, index[point]))
            cells.append(trials[at])
        shape = len(values), len(numbers)
        between = (cells[1] - cells[0]) * feasible.costs[numbers[column]]
        return *(part.reshape(shape) for part in margins), between.reshape(shape)

    def _rows_each(self):
        if self.method_ == "search":
            return len(self._grid_columns) + len(self._known[0])
        return 2 * len(self._numbers) * (_DESCENTS + 2)

    def _candidates(self, task, index, starts, owner):
        if self.method_ == "search":
            return self._by_coordinates(task, index, self._aim), index
        begins, of = self._begins(task, index, starts, owner)
        return self._descended(task, begins, of), of

    def _begins(self, task, index, starts, owner):
        """Where descents begin: at the rows, changed in a category, and at known rows.

        Of the changes of a category, that which the model follows most.
        """
        near = nearest_of_each(task.distances(starts, owner), owner, _DESCENTS)
        values = [task.values[index], starts[near]]
        of = [index, owner[near]]
        category = task.feasible.categorical[self._grid_columns]
        columns = self._grid_columns[category]
        if len(columns):
            which = np.repeat(index, len(columns))
            trials = task.values[which]
            cells = np.tile(self._grid_values[category], len(index))
            trials[np.arange(len(trials)), np.tile(columns, len(index))] = cells
            trials = task.projected(trials, which)
            best = nearest_of_each(-task.margins(trials, which), which, _DESCENTS)
            values.append(trials[best])
            of.append(which[best])
        return np.concatenate(values), np.concatenate(of)

    def _descended(self, task, begins, of):
        """Rows at the ends of descents along the numbers that vary."""
        numbers = self._numbers
        costs, origins = task.feasible.costs[numbers], task.values[of][:, numbers]
        low, high = task.feasible.limits(task.values[of])
        # What is missing stays so; a change of it is none.
        low, high = (
            np.nan_to_num(
                (part[:, numbers] - origins) * costs, posinf=np.inf, neginf=-np.inf
            )
            for part in (low, high)
        )

        def encoded(points, rows):
            values = begins[rows]
            values[:, numbers] = origins[rows] + points / costs
            return task.projected(values, of[rows])

        def scaled(values, rows):
            return np.nan_to_num((values[:, numbers] - origins[rows]) * costs)

        def evaluate(points, rows):
            values = encoded(points, rows)
            return scaled(values, rows), task.margins(values, of[rows])

        def slopes(points, rows):
            below, above, between = self._on_both_sides(
                task, encoded(points, rows), of[rows]
            )
            gradients = np.zeros_like(between)
            np.divide(above - below, between, out=gradients, where=between > 0)
            return gradients

        start = scaled(begins, np.arange(len(begins)))
        points = penalised_descent(
            start, low, high, evaluate, slopes, aim=self._aim, max_iter=self.max_iter
        )
        return encoded(points, np.arange(len(begins)))

"""The provably nearest counterfactuals of linear models and of trees."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.parallel import run
from sklearn_interpret.counterfactuals._base import BaseCounterfactual, Found
from sklearn_interpret.counterfactuals._exact_trees import Settings, TreeSearch

# Relative difference of distances that are the same.
_SAME = 1e-6
# What may make a wish impossible.
_LIMITS = ("permitted_range", "direction", "features_to_vary", "max_changes")


class ExactCounterfactual(BaseCounterfactual):
    """TODO."""

    _parameter_constraints = {
        **BaseCounterfactual._parameter_constraints,
        "time_limit": [Interval(Real, 0, None, closed="left")],
        "objective": [StrOptions({"distance", "n_changed"})],
        "margin": [Interval(Real, 0, None, closed="left")],
    }

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
        distance: Any = "mad",
        n_counterfactuals: int = 1,
        time_limit: float = 10.0,
        objective: str = "distance",
        margin: float = 0.0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
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
        self.time_limit = time_limit
        self.objective = objective
        self.margin = margin
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _prepare(self, sample, wish, feasible):
        self._searcher = TreeSearch(wish, feasible, sample.rows, self.margin)

    def _search(self, task, index):
        return run(
            self._search_row,
            [(task, row) for row in index.tolist()],
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _search_row(self, task, row):
        settings = Settings(self.time_limit, self.objective, self.max_changes)
        values, lower = self._searcher.found(task, row, settings, task.feasible)
        if values is not None:
            return Found(values[None], lower_bound=lower)
        nothing = np.empty((0, task.values.shape[1]))
        if lower == np.inf:
            reason = self._why_impossible(task, row, settings)
            return Found(nothing, reason, impossible=True, lower_bound=lower)
        reason = f"nothing was found within time_limit={self.time_limit}"
        return Found(nothing, reason, lower_bound=lower)

    def _why_impossible(self, task, row, settings):
        """The limit without which there would be a row as wished."""
        for name in _LIMITS:
            if getattr(self, name) is None:
                continue
            free, without = settings, task.feasible
            if name == "max_changes":
                free = replace(settings, max_changes=None)
            else:
                without = task.feasible.without(name)
            if self._searcher.found(task, row, free, without)[0] is not None:
                return f"{name} leaves no row that the model answers as wished"
        if all(getattr(self, name) is None for name in _LIMITS):
            return "the model answers no row as wished"
        return "no single limit is the reason: several of them together are"

    def _proofs(self, found, task):
        lower = np.array([of_row.lower_bound for of_row in found])
        nearest = np.array(
            [
                task.distances(of_row.values[:1], np.array([row]))[0]
                if len(of_row.values)
                else np.inf
                for row, of_row in enumerate(found)
            ]
        )
        proved = nearest * (1 - _SAME) <= lower
        return {"lower_bounds": lower, "optimal": proved & np.isfinite(nearest)}

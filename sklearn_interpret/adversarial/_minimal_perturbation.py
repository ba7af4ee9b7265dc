"""The smallest perturbation that makes a model answer otherwise."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._row_search import Task
from sklearn_interpret.adversarial._base import BaseAttack
from sklearn_interpret.adversarial._minimal_linear import LinearPerturbation
from sklearn_interpret.adversarial._minimal_smooth import SmoothPerturbation
from sklearn_interpret.adversarial._minimal_trees import TreePerturbation
from sklearn_interpret.exceptions import UnreadableModelError


class MinimalPerturbation(BaseAttack):
    r"""The smallest perturbation that makes a model answer otherwise.
    """

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "time_limit": [Interval(Real, 0, None, closed="left")],
    }

    _budget = None

    def __init__(
        self,
        estimator: Any,
        *,
        target: Any = None,
        desired: tuple | None = None,
        norm: str = "2",
        units: str = "std",
        bounds: Any = None,
        features_to_vary: Any = None,
        time_limit: float = 10.0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.desired = desired
        self.norm = norm
        self.units = units
        self.bounds = bounds
        self.features_to_vary = features_to_vary
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _prepare(self, sample, wish, feasible):
        known = Task(wish, feasible, sample.rows)
        try:
            self._search, self.method_ = LinearPerturbation(known), "linear"
            return
        except UnreadableModelError:
            pass
        try:
            search = TreePerturbation(known, self.time_limit)
            self._search, self.method_ = search, "trees"
        except UnreadableModelError:
            self._search, self.method_ = SmoothPerturbation(known), "gradient"

    def _attack(self, task, index):
        return self._search.tries(task, index)

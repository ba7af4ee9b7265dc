"""Base of inspectors of regressions: the models that they read, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    HalfTweedie,
    Logistic,
    Softmax,
)
from sklearn_interpret._model.formulas.column_lineage import input_columns
from sklearn_interpret._model.gradients.objectives import (
    LinearLayer,
    read_objective,
    score_model_as_fitted,
)
from sklearn_interpret._model.rows.base import default_names
from sklearn_interpret._model.rows.validation import check_scale, check_scales
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._core.influence.score_models import ScoreModel
    from sklearn_interpret._core.regression.working_regression import FittedRegression
    from sklearn_interpret._core.statistics.score_losses import Loss
    from sklearn_interpret._model.gradients.objectives import Objective
    from sklearn_interpret._model.rows.sample import Sample


class BaseRegressionInspector(BaseInspector):
    """Base of the inspectors of least squares and generalized linear models."""

    _errors_count_rows = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = replace(tags.target_tags, multi_output=False)
        if tags.classifier_tags is not None:
            tags.classifier_tags = replace(tags.classifier_tags, multi_class=False)
        return tags

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        rows = super()._check_rows(X, reset=reset)
        if reset:
            check_scales(rows)
        return rows

    def _make_response(self) -> Objective:
        objective = read_objective(self.estimator_)
        is_regressor = objective.classes is None
        losses = HalfSquared | HalfTweedie if is_regressor else Logistic | Softmax
        is_linear = isinstance(objective.score_function, LinearLayer)
        if not (is_linear and isinstance(objective.loss, losses)):
            raise UnreadableModelError(
                f"{type(self).__name__} reads LinearRegression, Ridge, "
                "LogisticRegression, PoissonRegressor, GammaRegressor and "
                "TweedieRegressor, alone or at the end of a pipeline."
            )
        if not np.isfinite(objective.score_function.parameters).all():
            raise ValueError(
                f"The weights of the {type(objective.model).__name__} are not finite, "
                "as those of counts that are all zero: there is nothing to test."
            )
        if objective.classes is not None and len(objective.classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"multiclass: y has {len(objective.classes)} classes."
            )
        return objective

    def _check_residuals(self, regression: FittedRegression) -> None:
        """Refuse too few rows to have a residual."""
        if not regression.residual_dof:
            raise ValueError(
                f"{type(self).__name__} needs more rows than parameters: "
                f"n_samples={regression.n_rows}, with weights that sum to "
                f"{regression.total_weight:g}, determine {regression.effective_dof:g} "
                "parameters and leave no residual."
            )


def score_model_of(caller: str, estimator: BaseEstimator, sample: Sample) -> ScoreModel:
    """The fitted model as a ScoreModel of a sample; errors name the caller."""
    if sample.y is None:
        raise ValueError(
            f"{caller} requires y to be passed, but the target y is None: residuals "
            "need the targets that the model was fitted to."
        )
    y = column_or_1d(sample.y, warn=True)
    if y.dtype.kind == "f":
        check_scale(y, "y")
    return score_model_as_fitted(estimator, sample.rows.native, y, sample.weights)


def has_known_dispersion(loss: Loss) -> bool:
    """Whether the dispersion is one, as in models of classes and of counts."""
    return isinstance(loss, Logistic) or loss == HalfTweedie(1)


def column_names(objective: Objective, names: Sequence[str]) -> list[str]:
    """Names of the columns that the model gets, from those of the rows."""
    if objective.before is None:
        return list(names)
    try:
        return list(objective.before.get_feature_names_out(names))
    except (AttributeError, ValueError):  # a step that has no names
        score_function: Any = objective.score_function
        return default_names(len(score_function.coefs[0]))


def feature_columns(objective: Objective, n_columns: int) -> NDArray[np.intp] | None:
    """Input column of each column that the model gets; None where steps mix them."""
    if objective.before is None:
        return np.arange(n_columns)
    try:
        return input_columns(objective.before, n_columns)
    except UnreadableModelError:
        return None

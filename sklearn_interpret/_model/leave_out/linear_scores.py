"""Models of linear scores without some training rows, by Newton's steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax
from sklearn.base import BaseEstimator
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.svm import LinearSVC

from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.statistics.weighted import row_blocks
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.formulas.linear import coefficient_table
from sklearn_interpret._model.gradients.objectives import (
    Objective,
    has_balanced_classes,
    read_objective,
    score_model_at_optimum,
    with_ones,
)
from sklearn_interpret._model.leave_out.training import Training
from sklearn_interpret._model.responses.response import Response, check_finite
from sklearn_interpret._model.rows.base import copy_of

# Classes that are read; subclasses, which may fit in another way, are not.
_CLASSES = (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    LogisticRegression,
    LinearSVC,
    PoissonRegressor,
    GammaRegressor,
    TweedieRegressor,
)
# Rows whose leverages sum to one, but for this, determine a parameter alone.
_ROUNDING_OF_LEVERAGES = 1e-9


@dataclass(frozen=True, eq=False)
class ScoresWithout:
    """A model of linear scores, by its parameters without some rows.

    Parameters
    ----------
    fitted : fitted predictor
        The model.
    full_parameters : ndarray of shape (d, k)
        Parameters of the model at the optimum: weights of the columns, then intercepts.
    deleted_parameters : ndarray of shape (n, d, k)
        Parameters without each of n lists of rows.
    """

    fitted: BaseEstimator
    full_parameters: NDArray[np.float64]
    deleted_parameters: NDArray[np.float64]
    method: Literal["newton"] = "newton"

    def baseline(self, response: Response, X: Any) -> NDArray[np.float64]:
        """Responses (m, k) of the model of all rows."""
        return next(self._responses(response, X, self.full_parameters[None]))

    def responses(self, response: Response, X: Any) -> Iterator[NDArray[np.float64]]:
        """Responses (m, k) without each of the lists of rows, one after the other."""
        return self._responses(response, X, self.deleted_parameters)

    def _responses(
        self, response: Response, X: Any, parameters: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Responses (m, k) of models with other parameters (n, d, k), one by one."""
        objective = read_objective(self.fitted)
        design = _design(objective, X, self.full_parameters.shape[0])
        (m, _), (n, d, k) = design.shape, parameters.shape
        # For each model: k scores of m rows, and what is read of them.
        for block in row_blocks(n, m * (k + 1)):
            block_parameters = parameters[block]
            side_by_side = block_parameters.transpose(1, 0, 2).reshape(d, -1)
            scores = (design @ side_by_side).reshape(m, len(block_parameters), k)
            scores_of_rows = scores.transpose(1, 0, 2).reshape(-1, k)
            values = response.read(
                _as_result(objective, response.method, scores_of_rows)
            )
            check_finite(values)
            yield from values.reshape(len(block_parameters), m, -1)

    def parameters(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coefficients and intercepts of the model (p,) and without rows (n, p)."""
        return self.full_parameters.ravel(), self.deleted_parameters.reshape(
            len(self.deleted_parameters), -1
        )


def _design(objective: Objective, X: Any, d: int) -> NDArray[np.float64]:
    """Columns that the parameters belong to: (m, d)."""
    inputs, _ = objective.activations(copy_of(X))
    if inputs.shape[1] == d:
        return inputs
    return with_ones(inputs)


def _as_result(
    objective: Objective, method: object, scores: NDArray[np.float64]
) -> NDArray[Any]:
    """Result of a method of a model, from scores (m, k)."""
    if method == "predict":
        return objective.predictions(scores)
    binary = scores.shape[1] == 1
    if method == "decision_function":
        return scores[:, 0] if binary else scores
    logs = log_expit(scores * [-1, 1]) if binary else log_softmax(scores, axis=1)
    return logs if method == "predict_log_proba" else np.exp(logs)


def score_model_without(
    training: Training, response: Response, deleted: list[NDArray[np.intp]]
) -> ScoresWithout | None:
    """`ScoresWithout` of a model of linear scores; None for any other model."""
    _, model = steps_and_model(training.fitted)
    if type(model) not in _CLASSES or not _is_smooth(model):
        return None
    sample = training.rows.native, training.y, training.weights
    optimum = read_formula([score_model_at_optimum], training.fitted, *sample)
    if optimum is None:
        return None
    n_inputs = coefficient_table(model).shape[1]
    penalised = (optimum.penalty + optimum.row_penalty > 0)[:n_inputs].all()
    if not penalised and not _stay_determined(optimum, deleted):
        return None
    without, converged = optimum.without(deleted)
    if not converged.all():
        return None
    return ScoresWithout(training.fitted, optimum.parameters, without)


def _is_smooth(model: BaseEstimator) -> bool:
    """Whether a model minimises a smooth sum over rows, without bounds."""
    balanced = has_balanced_classes(model)
    several = isinstance(model, LogisticRegression) and len(model.classes_) > 2
    one_vs_rest = several and model.solver == "liblinear"
    has_scheme = getattr(model, "multi_class", "auto") in ("ovr", "multinomial")
    has_scheme = has_scheme and not isinstance(model, LinearSVC)
    bounded = getattr(model, "positive", False)
    return not (balanced or bounded or one_vs_rest or has_scheme)


def _stay_determined(optimum: ScoreModel, deleted: list[NDArray[np.intp]]) -> bool:
    """Whether the rows left determine all parameters, without each list of rows."""
    q, r = np.linalg.qr(np.sqrt(optimum.weights)[:, None] * optimum.design)
    if np.linalg.matrix_rank(r) < optimum.design.shape[1]:
        return False
    hat_norms = np.array([np.square(q[rows]).sum() for rows in deleted])
    # The largest eigenvalue of their part of the hat matrix is at most its trace.
    doubtful = np.flatnonzero(hat_norms >= 1 - _ROUNDING_OF_LEVERAGES)
    hat_norms[doubtful] = [np.linalg.norm(q[deleted[i]], 2) ** 2 for i in doubtful]
    return bool((hat_norms < 1 - _ROUNDING_OF_LEVERAGES).all())

"""Models without some training rows, fitted again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from sklearn_interpret._model._sklearn_compat import parameters_of_rows
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.formulas.linear import coefficient_table
from sklearn_interpret._model.leave_out.training import Training, transform_by_steps
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.responses.response import Response, check_finite


def refit_without(training: Training, rows: NDArray[np.intp]) -> BaseEstimator:
    """A clone fitted without some rows."""
    remaining = np.delete(np.arange(training.rows.n_rows), rows)
    X = training.rows.native
    params = parameters_of_rows(X, training.params, remaining)
    try:
        if not len(remaining):
            raise ValueError("no row is left.")
        X_remaining = training.rows.take(remaining).native
        return clone(training.unfitted).fit(
            X_remaining, training.y[remaining], **params
        )
    except ValueError as error:
        few = ", ".join(map(str, rows[:5])) + ", ..." * (len(rows) > 5)
        raise ValueError(
            f"The estimator can't be fitted without row {few} of the "
            f"n_samples={training.rows.n_rows} rows: {error}"
        ) from error


def score_without(
    training: Training,
    rows: NDArray[np.intp],
    metric: Callable[..., float],
    test: tuple[Any, Any],
) -> float:
    """Score on `test` (rows, targets) of a clone fitted without some rows."""
    return metric(refit_without(training, rows), *test, None)


@dataclass(frozen=True, eq=False)
class ModelsWithout:
    """Fitted models, each without some rows.

    Parameters
    ----------
    fitted : fitted predictor
        The model of all rows.
    models : list of fitted predictors
        The models without each list of rows.
    steps : Pipeline, default=None
        The steps before all of the models.
    method : str, default="refit"
        How the models were found.
    n_jobs : int or None, default=None
        Workers.
    """

    fitted: BaseEstimator
    models: list[BaseEstimator]
    steps: Pipeline | None = None
    method: Literal["refit", "sufficient_statistics"] = "refit"
    n_jobs: int | None = None

    def baseline(self, response: Response, X: Any) -> NDArray[np.float64]:
        """Responses (m, k) of the model of all rows."""
        return response(X)

    def responses(self, response: Response, X: Any) -> Iterator[NDArray[np.float64]]:
        """Responses (m, k) without each of the lists of rows, one after the other."""
        inputs = transform_by_steps(self.steps, X)
        tasks = [(response, model, inputs) for model in self.models]
        yield from run(_responses_of, tasks, n_jobs=self.n_jobs)

    def parameters(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Coefficients and intercepts of the model (p,) and without rows (n, p)."""
        parameters = [
            numbers
            for numbers in map(_parameters_of, (self.fitted, *self.models))
            if numbers is not None
        ]
        shapes = {numbers.shape for numbers in parameters}
        if len(parameters) <= len(self.models) or len(shapes) > 1:
            return None
        return parameters[0], np.stack(parameters[1:])


def _parameters_of(fitted: BaseEstimator) -> NDArray[np.float64] | None:
    """Weights, inputs by outputs, and intercepts of a linear model; or None."""
    _, model = steps_and_model(fitted)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        return None
    weights = coefficient_table(model).T
    if not getattr(model, "fit_intercept", True):
        return weights.ravel()
    intercepts = np.broadcast_to(np.ravel(model.intercept_), weights.shape[1])
    return np.concatenate([weights.ravel(), intercepts])


def _responses_of(
    response: Response, model: BaseEstimator, X: Any
) -> NDArray[np.float64]:
    """Responses of another model, zero for the classes that the model lacks."""
    model_response = replace(response, estimator=model)
    missing = _missing_classes(response, model)
    if not len(missing):
        return model_response(X)
    if response.method not in ("predict_proba", "centered_log_proba"):
        raise ValueError(
            f"response_method={response.method!r} has no column for the class "
            f"{missing[0]!r}, of which no row is left without some row: "
            "'predict_proba' and 'predict' take it for a class that is never found."
        )
    raw = np.asarray(model_response.raw(X))
    aligned = np.zeros((len(raw), len(response.classes)))
    aligned[:, np.isin(response.classes, model.classes_)] = raw
    values = response.read(aligned)
    check_finite(values)
    return values


def _missing_classes(response: Response, model: BaseEstimator) -> list[Any]:
    """Classes that a refitted model lacks, where that changes its columns."""
    has_one_output = isinstance(response.classes, np.ndarray)
    if not has_one_output or callable(response.method) or response.method == "predict":
        return []
    return np.setdiff1d(response.classes, model.classes_).tolist()

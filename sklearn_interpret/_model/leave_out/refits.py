"""Models without some training rows, fitted again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_interpret._model._sklearn_compat import parameters_of_rows
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.formulas.linear import coefficient_table
from sklearn_interpret._model.leave_out.training import Training, transformed
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.responses.response import Response, check_finite


def refitted(training: Training, rows: np.ndarray) -> Any:
    """A clone fitted without some rows."""
    kept = np.delete(np.arange(training.rows.n_rows), rows)
    X = training.rows.native
    params = parameters_of_rows(X, training.params, kept)
    try:
        if not len(kept):
            raise ValueError("no row is left.")
        part = training.rows.take(kept).native
        return clone(training.unfitted).fit(part, training.y[kept], **params)
    except ValueError as error:
        few = ", ".join(map(str, rows[:5])) + ", ..." * (len(rows) > 5)
        raise ValueError(
            f"The estimator can't be fitted without row {few} of the "
            f"n_samples={training.rows.n_rows} rows: {error}"
        ) from error


def scores_without(
    training: Training,
    removed: list[np.ndarray],
    metric: Callable[..., float],
    test: tuple[Any, Any],
    *,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Scores on rows of test (X, y) of clones fitted without each list of rows."""
    tasks = [(training, rows, metric, test) for rows in removed]
    return np.array(list(run(_score_without, tasks, n_jobs=n_jobs)))


def _score_without(
    training: Training,
    rows: np.ndarray,
    metric: Callable[..., float],
    test: tuple[Any, Any],
) -> float:
    return metric(refitted(training, rows), *test, None)


@dataclass(frozen=True, eq=False)
class ModelsWithout:
    """Fitted models, each without some rows.

    Parameters
    ----------
    fitted : fitted predictor
        The model of all rows.
    models : list of fitted predictors
        Those without.
    steps : Pipeline, default=None
        The steps before all of them.
    method : str, default="refit"
        How the models were found.
    n_jobs : int or None, default=None
        Workers.
    """

    fitted: object
    models: list
    steps: object = None
    method: str = "refit"
    n_jobs: int | None = None

    def baseline(self, response: Response, X: Any) -> np.ndarray:
        """Responses (m, k) of the model of all rows."""
        return response(X)

    def responses(self, response: Response, X: Any) -> Iterator[np.ndarray]:
        """Responses (m, k) without each of the lists of rows, one after the other."""
        made = transformed(self.steps, X)
        tasks = [(response, model, made) for model in self.models]
        yield from run(_responses_of, tasks, n_jobs=self.n_jobs)

    def parameters(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Coefficients and intercepts of the model (p,) and without rows (n, p)."""
        own = _parameters_of(self.fitted)
        others = list(map(_parameters_of, self.models))
        if own is None or any(np.shape(one) != own.shape for one in others):
            return None
        return own, np.stack(others)


def _parameters_of(fitted: Any) -> Any:
    """Weights, inputs by outputs, and intercepts of a linear model; or None."""
    _, model = steps_and_model(fitted)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        return None
    weights = coefficient_table(model).T
    if not getattr(model, "fit_intercept", True):
        return weights.ravel()
    intercepts = np.broadcast_to(np.ravel(model.intercept_), weights.shape[1])
    return np.concatenate([weights.ravel(), intercepts])


def _responses_of(response: Response, model: Any, X: Any) -> np.ndarray:
    """Responses of another model; those of classes that it lacks are zero."""
    own = replace(response, estimator=model)
    gone = _classes_gone(response, model)
    if not len(gone):
        return own(X)
    if response.method not in ("predict_proba", "centered_log_proba"):
        raise ValueError(
            f"response_method={response.method!r} has no column for the class "
            f"{gone[0]!r}, of which no row is left without some row: "
            "'predict_proba' and 'predict' take it for a class that is never found."
        )
    raw = np.asarray(own.raw(X))
    aligned = np.zeros((len(raw), len(response.classes)))
    aligned[:, np.isin(response.classes, model.classes_)] = raw
    values = response.read(aligned)
    check_finite(values)
    return values


def _classes_gone(response: Response, model: Any) -> list[Any]:
    """Classes that a refitted model lacks, where that changes its columns."""
    one_each = isinstance(response.classes, np.ndarray)
    if not one_each or callable(response.method) or response.method == "predict":
        return []
    return np.setdiff1d(response.classes, model.classes_).tolist()

"""Scores of one model on many tables of the same targets, without repeated work.

`RepeatedScore` checks targets once, `CachedModel` predicts once for several tables,
which `split_copies` takes apart.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.responses.predictors import RESPONSE_METHODS
from sklearn_interpret._model.responses.response import check_length, is_list_of_outputs
from sklearn_interpret._model.row_limit import ask_model
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import copy_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.responses.scoring import Metric

# Kinds of dtypes that are numbers.
_NUMBERS = "biuf"

# Largest relative difference between a scorer and its formula that is rounding: both
# compute in double precision, in another order.
_ROUNDING = 1e-10


def split_copies(table: Any, n_copies: int) -> list[Any]:
    """The tables whose rows alternate in a table."""
    if n_copies == 1:
        return [table]
    if isinstance(table, np.ndarray):
        return [table[start::n_copies] for start in range(n_copies)]
    rows, index = as_rows(table), np.arange(0, table.shape[0], n_copies)
    return [rows.take(index + start).native for start in range(n_copies)]


class RepeatedScore:
    """A score, or a loss, on one table after another with the same targets.

    Scikit-learn's metrics check the targets at each call, which takes longer than the
    predictions of small models. Where the plain formula of a score gives the scorer's
    number for the rows as they are, it is used instead.
    """

    def __init__(
        self, metric: Metric, y: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> None:
        self._metric, self._y, self._weights = metric, y, weights
        self._targets: NDArray[Any] | None = None
        self._scale = 1.0
        if not isinstance(y, np.ndarray) or y.ndim != 1:
            return
        if metric.row_loss == "zero_one":
            self._targets = y
        elif metric.row_loss in ("squared", "absolute", "r2") and _are_numbers(y):
            self._targets = y.astype(np.float64)
        if metric.row_loss == "r2" and self._targets is not None:
            centred = self._targets - np.average(self._targets, weights=weights)
            self._scale = np.average(centred**2, weights=weights)
            if not self._scale > 0:
                self._targets = None

    def baseline(self, model: BaseEstimator, X: Any) -> float:
        """The score of the rows as they are; to be called first."""
        score = self._metric(model, X, self._y, self._weights)
        by_formula = self._score_by_formula(model, X)
        if by_formula is not None and np.isclose(
            by_formula, score, rtol=_ROUNDING, atol=0
        ):
            return by_formula
        self._targets = None  # the formula is not used
        return score

    def __call__(self, model: BaseEstimator, X: Any) -> float:
        """The score of other rows."""
        score = self._score_by_formula(model, X)
        if score is not None:
            return score
        return self._metric(model, X, self._y, self._weights)

    def _score_by_formula(self, model: BaseEstimator, X: Any) -> float | None:
        """The score by its formula; None where there is none, or it is not finite."""
        if self._targets is None:
            return None
        predictions, y = model.predict(X), self._targets
        if getattr(predictions, "shape", None) != y.shape:
            return None
        if _are_numbers(predictions) != _are_numbers(y):
            return None
        if self._metric.row_loss == "zero_one":
            losses = predictions != y
        elif self._metric.row_loss == "absolute":
            losses = np.abs(predictions - y)
        else:
            losses = np.square(predictions - y)
        loss = np.average(losses, weights=self._weights) / self._scale
        return float(self._metric.as_loss(loss)) if np.isfinite(loss) else None


def _are_numbers(values: NDArray[Any]) -> bool:
    return values.dtype.kind in _NUMBERS


class CachedModel:
    """A fitted model that predicts once for several tables, and for all scorers.

    It has the model's attributes and kind. The rows of the `copies` alternate in
    `table`; the first prediction for any of them lets the model predict for all.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        table: Any,
        copies: list[Any],
        *,
        changes_input: bool,
    ) -> None:
        self._estimator = estimator
        self._table, self._copies = table, copies
        self._changes_input = changes_input
        self._cache: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._estimator, name)
        if name not in (*RESPONSE_METHODS, "score"):
            return attribute

        @wraps(attribute)
        def call(X: Any, *args: Any, **kwargs: Any) -> Any:
            plain = name != "score" and not (args or kwargs)
            for start, copied in enumerate(self._copies):
                if plain and X is copied:
                    if name not in self._cache:
                        table = self._input_or_copy(self._table)
                        returned = ask_model(attribute, table, table.shape[0])
                        check_length(self._estimator, returned, self._table.shape[0])
                        self._cache[name] = returned
                    return self._predictions_of_copy(self._cache[name], start)
            return ask_model(
                lambda rows: attribute(rows, *args, **kwargs),
                self._input_or_copy(X),
                X.shape[0],
            )

        return call

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class of the model, so that checks of its kind accept this object."""
        return type(self._estimator)

    def _input_or_copy(self, X: Any) -> Any:
        """A copy of `X` where the model may write to it."""
        return copy_of(X) if self._changes_input else X

    def _predictions_of_copy(self, predictions: Any, start: int) -> Any:
        """Predictions for the copy whose first row is the table's row `start`."""
        if is_list_of_outputs(predictions):
            return [self._predictions_of_copy(output, start) for output in predictions]
        if isinstance(predictions, list):
            predictions = np.asarray(predictions)
        return predictions[start :: len(self._copies)]

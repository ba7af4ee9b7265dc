"""Models that record which rows they are given."""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_interpret.estimator_checks._tables import (
    TEXTS,
    days,
    numeric_table,
    prepared,
    target_for,
)
from sklearn_interpret.exceptions import UnreadableModelError


def recorder_for(inspector: Any) -> RecordingRegressor:
    """An unfitted recording model of the inspector's kind.

    An inspector that reads some models only refuses the usual recorder. It gets its own
    model, in a pipeline whose first step turns everything into numbers.
    """
    recorder = RecordingClassifier if is_classifier(inspector) else RecordingRegressor
    first_rows = slice(20)
    try:
        trial = prepared(inspector, estimator=recorder())
        trial.fit(numeric_table()[first_rows], target_for(inspector)[first_rows])
    except UnreadableModelError:
        return RecordingPipeline(_pipeline_steps(prepared(inspector).estimator))
    return recorder()


class RecordingRegressor(RegressorMixin, BaseEstimator):
    """A model that takes any container and records what it is given.

    Its response depends on every column of any kind, and columns act together.
    """

    def fit(self, X: Any, y: NDArray[np.float64] | None = None) -> Self:
        """Record `X` and count the call."""
        validate_data(self, X, skip_check_array=True)
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1
        self.seen_ = [SeenTable.of_table(X)]
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """A fixed function of the row."""
        check_is_fitted(self)
        self.seen_.append(SeenTable.of_table(X))
        total = np.zeros(len(X) if hasattr(X, "columns") else X.shape[0])
        for weight, column in enumerate(_columns_as_lists(X), start=1):
            total += weight * _as_numbers(column)
            total += np.sin(total)
        return total

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


class RecordingClassifier(ClassifierMixin, RecordingRegressor):
    """The recorder as a classifier of the classes 0 and 1."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Record `X` and the classes."""
        self.classes_ = np.unique(y)
        return super().fit(X, y)

    def decision_function(self, X: Any) -> Any:
        """Scores of the second class."""
        return super().predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of both classes."""
        second = 1 / (1 + np.exp(-0.1 * self.decision_function(X)))
        return np.stack([1 - second, second], axis=1)

    def predict(self, X: Any) -> Any:
        """The likelier class."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class SeenTable(NamedTuple):
    """Structure of a table that a model was given."""

    container: str
    columns: list[Any]  # names, or positions in an array
    dtypes: list[str]
    categories: list[tuple[list[Any], bool | None]]  # levels, and whether ordered

    @classmethod
    def of_table(cls, X: Any) -> SeenTable:
        """The description of a table."""
        container = f"{type(X).__module__}.{type(X).__qualname__}"
        if not hasattr(X, "columns"):
            return cls(container, list(range(X.shape[1])), [str(X.dtype)], [])
        dtypes = [X[name].dtype for name in X.columns]
        categories = [
            (list(getattr(dtype, "categories", ())), getattr(dtype, "ordered", None))
            for dtype in dtypes
        ]
        return cls(container, list(X.columns), list(map(str, dtypes)), categories)


def _columns_as_lists(X: Any) -> list[list[Any]]:
    if hasattr(X, "columns"):
        return [X[name].to_list() for name in X.columns]
    return X.T.tolist()


def _as_numbers(column: list[Any]) -> NDArray[np.float64]:
    """A list of numbers, dates or texts as an array of numbers."""
    if isinstance(column[0], date):
        return days(column)
    if isinstance(column[0], str):
        codes = {text: sum(map(ord, text)) % 7 for text in set(column)}
        column = [codes[text] for text in column]
    return np.asarray(column, dtype=np.float64)


def _pipeline_steps(model: BaseEstimator) -> list[tuple[str, Any]]:
    """Steps of a pipeline: one that makes numbers of all columns, and a model."""
    codes = ("codes", OrdinalEncoder(), _text_columns)
    numbers = ColumnTransformer([codes], remainder="passthrough")
    return [("numbers", numbers), ("model", clone(model))]


def _text_columns(X: Any) -> list[int]:
    """Positions of the columns of a table that hold texts or categories."""
    return [j for j, name in enumerate(getattr(X, "columns", ())) if name in TEXTS]


def _recording_method(name: str) -> Any:
    """The method of a pipeline of this name, which also records its argument."""

    def has(self: Any) -> bool:
        return hasattr(self.steps[-1][1], name)

    def method(self: Any, X: Any) -> Any:
        self.seen_.append(SeenTable.of_table(X))
        return getattr(super(RecordingPipeline, self), name)(X)

    method.__doc__ = f"Record `X`; then as `{name}` of the last step."
    return available_if(has)(method)


class RecordingPipeline(Pipeline):
    """A pipeline that records what it is given."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit, record `X` and count the call."""
        super().fit(X, y, **params)
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1
        self.seen_ = [SeenTable.of_table(X)]
        return self

    predict = _recording_method("predict")
    predict_proba = _recording_method("predict_proba")
    decision_function = _recording_method("decision_function")

"""The response of a predictor: a function of rows to a float array.

`make_response` chooses the method of the model, and finds the target among its outputs.
A `Response` calls the method, checks what it returns, and makes it an array of outputs.
`plain_responses` are those of many rows, in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from types import MethodType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression

from sklearn_interpret._model._sklearn_compat import has_independent_labels
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.predictors import (
    RESPONSE_METHODS,
    innermost,
    is_classifier,
    tags_of,
    unfrozen,
)
from sklearn_interpret._model.row_limit import ask_model
from sklearn_interpret._model.rows.base import copy_of, same_content
from sklearn_interpret._model.rows.features import near_names
from sklearn_interpret.exceptions import NonFiniteResponseError

# The parameter `response_method`.
ResponseMethod = str | Sequence[str] | Callable[..., Any]

CENTERED_LOG_PROBA = "centered_log_proba"
# Name of the user's callable, where methods of the model have theirs.
_CALLABLE = ""
# Largest absolute response: its fourth power is 1e300, and doubles end at 1.8e308.
_LARGEST = 1e75
# Names of responses; a decision function may also be "log-odds".
_NAMES = {
    "predict": "prediction",
    "predict_proba": "probability",
    "predict_log_proba": "log-probability",
    "decision_function": "decision function",
    "score_samples": "score",
    CENTERED_LOG_PROBA: "centered log-probability",
}
# Attribute of a model that names its predictions: a survival model of ours.
_NAME = "response_name_"
# Classifiers whose binary decision function is the log-odds, if their loss is the
# log-loss.
_LOG_ODDS_CLASSIFIERS = {
    "LogisticRegression",
    "LogisticRegressionCV",
    "SGDClassifier",
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
}


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of a model's outputs, by their positions."""

    name: str
    weights: dict[int, float]

    def of(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum (n_rows, 1) of all outputs (n_rows, n_outputs)."""
        total = np.zeros((len(outputs), 1))
        for position, weight in self.weights.items():
            check_position(position, outputs.shape[1])
            total += weight * outputs[:, position : position + 1]
        return total


@dataclass
class Response:
    """A fitted predictor as a function of rows, made by :func:`make_response`.

    Parameters
    ----------
    estimator : fitted predictor
        The model.
    method : str or callable
        Method of the model to call, "centered_log_proba", or ``f(estimator, X)``.
    classes : ndarray, list of ndarray, or None
        Class labels of a classifier.
    target : int, Contrast or None
        Column to keep, in the order of `output_names`, or a sum of columns; None keeps
        all, or the positive class of a binary classifier.

    Notes
    -----
    A response is a copy, because a model may return a view of its input. A model that
    changes its input in place (a scaler with ``copy=False``) is detected at its first
    call, and then gets copies. A model is never asked about a table without rows: the
    answer is an empty slice of an earlier one.
    """

    estimator: Any
    method: str | Callable[..., Any]
    classes: Any = None
    target: int | Contrast | None = None
    # By method of the model: whether it changes its input, and its answer to no rows.
    _changes_input: dict[str, bool] = field(
        default_factory=dict, repr=False, compare=False
    )
    _empty: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """State without the cache of how the model treats its input."""
        return {**vars(self), "_changes_input": {}}

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Response to rows `X`: float64, finite, of shape (n_rows, n_outputs)."""
        values = self.read(self.raw(X))
        check_finite(values)
        return values

    @property
    def name(self) -> str:
        """Name of the response: "probability", "log-odds"..."""
        if callable(self.method):
            return getattr(self.method, "__name__", type(self.method).__name__)
        binary = isinstance(self.classes, np.ndarray) and len(self.classes) == 2
        if self.method == "decision_function" and binary:
            model = innermost(self.estimator)
            log_loss = getattr(model, "loss", "log_loss") == "log_loss"
            if type(model).__name__ in _LOG_ODDS_CLASSIFIERS and log_loss:
                return "log-odds"
        return getattr(self._named_model, _NAME, _NAMES[self.method])

    @property
    def _named_model(self) -> Any:
        """The model, if it has names of its response and of the outputs, or None."""
        model = innermost(self.estimator)
        return model if self.method == "predict" and hasattr(model, _NAME) else None

    def read(self, predictions: Any) -> NDArray[np.float64]:
        """Outputs, (n_rows, n_outputs), from what the model's method returned."""
        return self.select_output(self._as_outputs(predictions))

    def output_names(self, n_outputs: int) -> list[Any]:
        """Names of the outputs: class labels, or positions."""
        names: list[Any]
        if isinstance(self.target, Contrast):
            return [self.target.name]
        if callable(self.method) or self.classes is None:
            n_named = n_outputs if self.target is None else self.target + 1
            names = list(getattr(self._named_model, "output_names_", range(n_named)))
        elif isinstance(self.classes, list):
            names = [
                f"{output}={label}"
                for output, labels in enumerate(self.classes)
                for label in (labels[1:] if len(labels) == 2 else labels)
            ]
        else:
            names = list(self.classes)
            if len(names) == 2 and self.target is None:
                names = names[1:]
        if self.target is not None:
            return [names[self.target]]
        return names if len(names) == n_outputs else list(range(n_outputs))

    def raw(self, X: Any) -> Any:
        """Return value of the model's method for rows, which are not changed."""
        if callable(self.method):
            return self._call(_CALLABLE, partial(self.method, self.estimator), X)
        return self.returned_by(_method_of_model(self.method), X)

    def returned_by(self, method: str, X: Any) -> Any:
        """Return value of a method of the model for rows, which are not changed."""
        return self._call(method, getattr(self.estimator, method), X)

    def answers(self, X: Any) -> NDArray[np.intp]:
        """Positions (n_rows,) of the classes that the model predicts for rows."""
        labels = np.asarray(self.returned_by("predict", X))
        return self._match_classes(labels, self.classes).argmax(axis=1)

    @property
    def decides_answers(self) -> bool:
        """Whether the answers are known to be the classes of the largest scores."""
        if self.method != "decision_function" or self.target is not None:
            return False
        model = self.estimator
        scorer = getattr(model.decision_function, "__self__", model)
        # scikit-learn's linear classifiers share one `predict`. A wrapper may change
        # the scores alone: then the two methods belong to different objects.
        return model.predict == MethodType(LogisticRegression.predict, scorer)

    def labels(self, X: Any) -> NDArray[Any]:
        """Labels that `predict` of a classifier returns for rows, checked."""
        if isinstance(self.classes, np.ndarray):
            return self.classes[self.answers(X)]
        return np.asarray(self.returned_by("predict", X))

    def _call(self, name: str, function: Callable[..., Any], X: Any) -> Any:
        """Return value of a function of rows, which is a method of the name."""
        if _n_rows(X) == 0 and name in self._empty:
            return self._empty[name]
        changes = self._changes_input.get(name)
        copied = X if changes is False else copy_of(X)
        returned = ask_model(function, copied, _n_rows(X))
        if _n_rows(X) == 1 and getattr(returned, "ndim", 1) == 0:
            returned = returned.reshape(1)  # scipy's scalar for a row of a COO array
        check_length(self.estimator, returned, _n_rows(X))
        if changes is None and _n_rows(X) > 1:  # a single row may stay equal by chance
            self._changes_input[name] = not same_content(X, copied)
        if name not in self._empty and _n_rows(X):
            has_list = is_list_of_outputs(returned)
            self._empty[name] = (
                [output[:0] for output in returned] if has_list else returned[:0]
            )
        return returned

    def _match_classes(
        self, labels: NDArray[Any], classes: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """Indicators of the predicted classes, (n_rows, n_classes), bool."""
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.ndim != 1:
            needed = "predict must return a label for each row"
            _refuse_shape(self.estimator, labels.shape, needed)
        matches = labels[:, None] == classes
        unknown = ~matches.any(axis=1)
        if unknown.any():
            raise ValueError(
                f"{type(unfrozen(self.estimator)).__name__}.predict returned the label "
                f"{labels[unknown].tolist()[0]!r}, which is none of its classes "
                f"{classes.tolist()!r}."
            )
        return matches

    def _as_outputs(self, raw: Any) -> NDArray[np.float64]:
        """Return value of the model as an array (n_rows, n_outputs)."""
        if self.method == "predict" and self.classes is not None:
            return self._class_indicators(np.asarray(raw))
        if isinstance(raw, list) and isinstance(self.classes, list):
            outputs = [self._center_logs(_as_real(output)) for output in raw]
            return np.hstack(list(map(_drop_negative, outputs)))
        values = _as_real(raw)
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim != 2:
            needed = "(n_rows,) or (n_rows, n_outputs) is needed"
            _refuse_shape(self.estimator, values.shape, needed)
        return self._center_logs(values)

    def _class_indicators(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Predicted classes as one 0/1 column per class."""
        if isinstance(self.classes, list):
            if labels.shape[1:] != (len(self.classes),):
                needed = f"a label for each of {len(self.classes)} outputs is needed"
                _refuse_shape(self.estimator, labels.shape, needed)
            columns = [
                self._match_classes(labels[:, output], classes)
                for output, classes in enumerate(self.classes)
            ]
            return np.hstack(list(map(_drop_negative, columns))).astype(np.float64)
        return self._match_classes(labels, self.classes).astype(np.float64)

    def _center_logs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.method != CENTERED_LOG_PROBA:
            return values
        logs = np.log(np.clip(values, np.finfo(np.float64).eps, None))
        return logs - logs.mean(axis=1, keepdims=True)

    def select_output(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The target's column, or the positive class of a binary classifier."""
        binary = (
            self.classes is not None
            and not isinstance(self.classes, list)
            and len(self.classes) == 2
            and not callable(self.method)
        )
        if isinstance(self.target, Contrast):
            is_signed = binary and values.shape[1] == 1
            return self.target.of(np.hstack([-values, values]) if is_signed else values)
        if binary and values.shape[1] == 1:
            # One signed column (decision_function) is the score of the positive class.
            return -values if self.target == 0 else values
        if self.target is None:
            return values[:, 1:] if binary and values.shape[1] == 2 else values
        check_position(self.target, values.shape[1])
        return values[:, self.target : self.target + 1]


def make_response(
    estimator: Any, response_method: ResponseMethod = "auto", target: Any = None
) -> Response:
    """The response of a fitted predictor.

    Parameters
    ----------
    estimator : fitted predictor
        The model.
    response_method : str, list of str or callable, default="auto"
        See the common parameters of the inspectors.
    target : class label, int or dict, default=None
        The output to explain, or a dict {output: weight}, whose weighted sum is.

    Returns
    -------
    Response
    """
    classes = getattr(estimator, "classes_", None) if is_classifier(estimator) else None
    if classes is not None and not isinstance(classes, list):
        # Labels of a multilabel classifier are outputs, not classes of one output.
        classes = None if has_independent_labels(estimator) else np.asarray(classes)
    method = _resolve_method(estimator, response_method)
    labels = None if callable(method) else classes
    if isinstance(target, dict):
        name = contrast_name(target)
        positions = [_position_of(output, labels) for output in target]
        target = Contrast(name, dict(zip(positions, target.values(), strict=True)))
    elif target is not None:
        target = _position_of(target, labels)
    return Response(estimator, method, classes, target)


def contrast_name(target: dict[Any, float]) -> str:
    """Name of a `target` {output: weight}, as "B - 0.5 A", after a check."""
    weights = list(target.values())
    are_finite = all(isinstance(w, Real) and np.isfinite(w) for w in weights)
    if len(weights) < 2 or not are_finite or not any(weights):
        raise ValueError(
            f"target={target!r} must have a finite weight for each of two outputs or "
            "more, not all of them zero; a single output is passed without a dict."
        )
    # Positive weights stand first: the name starts without a sign where it can.
    terms = sorted(target.items(), key=lambda term: term[1] <= 0)
    texts = [
        f"{'-' if weight < 0 else '+'} "
        + (f"{abs(weight):g} " if abs(weight) != 1 else "")
        + str(output)
        for output, weight in terms
        if weight
    ]
    return " ".join(texts).removeprefix("+ ")


def check_position(position: int, n_outputs: int) -> None:
    """Refuse the position of an output that the model does not have."""
    if not 0 <= position < n_outputs:
        raise ValueError(
            f"target={position!r} is out of range: the model has {n_outputs} outputs."
        )


def check_length(estimator: Any, returned: Any, n_rows: int) -> None:
    """Refuse a return value of a model that has not one entry for each row."""
    for output in returned if is_list_of_outputs(returned) else [returned]:
        shape = getattr(output, "shape", None)
        if shape is None:
            shape = (len(output),) if hasattr(output, "__len__") else ()
        if shape[:1] != (n_rows,):
            _refuse_shape(estimator, shape, f"{n_rows} rows were sent")


def is_list_of_outputs(returned: Any) -> bool:
    """Whether a model returned a list of arrays, one for each output."""
    return isinstance(returned, list) and bool(returned) and np.ndim(returned[0]) == 2


def _refuse_shape(estimator: Any, shape: tuple[int, ...], needed: str) -> NoReturn:
    name = type(unfrozen(estimator)).__name__
    raise ValueError(f"The response of {name} has the shape {shape}: {needed}.")


def _drop_negative(columns: NDArray[Any]) -> NDArray[Any]:
    """Columns of the classes of an output: of two classes the positive one's."""
    return columns[:, 1:] if columns.shape[1] == 2 else columns


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)  # texts: a list


def drop_single_output(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop the leading axis of outputs if there is one output."""
    return values[0] if len(values) == 1 else values


def _resolve_method(
    estimator: Any, response_method: ResponseMethod
) -> str | Callable[..., Any]:
    """The first of the methods that the estimator has."""
    if callable(response_method):
        return response_method
    if not isinstance(response_method, str):
        candidates = list(response_method)
    elif response_method != "auto":
        candidates = [response_method]
    elif is_classifier(estimator):
        candidates = ["predict_proba", "decision_function", "predict"]
    elif tags_of(estimator).estimator_type == "density_estimator":
        # What mixtures predict is the number of a component, which is no quantity.
        candidates = ["predict_proba", "predict", "score_samples"]
    else:
        candidates = ["predict", "score_samples"]
    accepted = (*RESPONSE_METHODS, CENTERED_LOG_PROBA)
    if not candidates or any(name not in accepted for name in candidates):
        raise ValueError(
            f"response_method={response_method!r} must name one or several of "
            f"{', '.join(accepted)}."
        )
    needed = {name: _method_of_model(name) for name in candidates}
    for name, method in needed.items():
        if hasattr(estimator, method):
            return name
    raise ValueError(
        f"response_method={response_method!r} cannot be used: "
        f"{type(unfrozen(estimator)).__name__} has none of "
        f"{', '.join(needed.values())}."
    )


def _method_of_model(name: str) -> str:
    return "predict_proba" if name == CENTERED_LOG_PROBA else name


def _as_real(raw: ArrayLike) -> NDArray[np.float64]:
    """A copy as float64, of real numbers only."""
    try:
        values = np.asarray(raw)
        if values.dtype.kind == "c":
            raise TypeError("complex")
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The model's response is not an array of real numbers: {error}."
        ) from error


def _position_of(target: Any, labels: Any) -> int:
    """Position of an output, of the class labels if these are an array."""
    if isinstance(labels, np.ndarray):
        return _class_position(target, labels)
    if not isinstance(target, Integral):
        raise ValueError(
            f"target={target!r} must be the index of an output (int) here."
        )
    return target.__index__()


def _class_position(target: Any, classes: NDArray[Any]) -> int:
    # array_equal: a target that is a list or tuple must not be compared by entry.
    positions = np.flatnonzero([np.array_equal(label, target) for label in classes])
    if len(positions) != 1:
        raise ValueError(
            f"target={target!r} is not a class of the model; "
            f"{near_names(target, classes.tolist(), 'its classes are')}"
        )
    return int(positions[0])


def check_finite(values: NDArray[np.float64]) -> None:
    """Refuse responses (n_rows, k) that are not finite, or whose fourth powers are not.

    Standard errors of variances take fourth powers.
    """
    if values.size == 0 or -_LARGEST <= values.min() <= values.max() <= _LARGEST:
        return
    refused = np.flatnonzero(~(np.abs(values) <= _LARGEST).all(axis=1))
    first_refused, reason = refused[0], "not finite"
    if np.isfinite(values[refused]).all():
        reason = f"beyond {_LARGEST:g}, where powers are not finite: scale the target"
    raise NonFiniteResponseError(
        f"The model's response is {reason}: row {first_refused} of the rows sent to it "
        f"has {values[first_refused].tolist()} ({len(refused)} such rows in this "
        "batch)."
    )


def plain_responses(
    response: Callable[[Any], NDArray[np.float64]], rows: Any
) -> NDArray[np.float64]:
    """Responses to the rows as they are, in batches: (n_rows, n_outputs)."""
    height = batch_rows(rows.row_bytes)
    if rows.n_rows <= height:
        return response(rows.native)
    index = np.arange(rows.n_rows)
    batches = with_progress([index[batch] for batch in slices(rows.n_rows, height)])
    return np.concatenate([response(rows.take(batch).native) for batch in batches])


def count_outputs(response: Callable[[Any], NDArray[np.float64]], rows: Any) -> int:
    """Number of the model's outputs, from a single row."""
    return plain_responses(response, rows.take([0])).shape[1]

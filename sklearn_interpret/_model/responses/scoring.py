"""Scores and losses of a model, from the forms of `scoring` that users pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import metrics
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, make_scorer
from sklearn.neighbors import KNeighborsClassifier

from sklearn_interpret._core.statistics import losses
from sklearn_interpret._model._sklearn_compat import (
    scorer_of_classes,
    scorer_takes_weights,
)
from sklearn_interpret._model.responses.predictors import final_step, has_tags, unfrozen
from sklearn_interpret._model.responses.response import (
    Response,
    ResponseMethod,
    make_response,
)

# Scores in terms of losses, by orientation; each function is its own inverse.
_ORIENTATIONS: dict[str | None, Callable[[Any], Any]] = {
    "loss": lambda loss: loss,
    "negated": lambda loss: -loss,
    "complement": lambda loss: 1 - loss,
}

# Losses that are means over rows: the loss of a row, and the predictions that it takes.
ROW_LOSSES: dict[str, tuple[Callable[..., NDArray[np.float64]], str]] = {
    "squared": (losses.squared, "values"),
    "r2": (losses.weighted_squared, "values"),
    "absolute": (losses.absolute, "values"),
    "relative": (losses.relative, "values"),
    "squared_logarithmic": (losses.squared_logarithmic, "values"),
    "poisson": (losses.poisson_deviance, "values"),
    "gamma": (losses.gamma_deviance, "values"),
    "log": (losses.log_loss, "probabilities"),
    "brier": (losses.brier, "probabilities"),
    "zero_one": (losses.zero_one, "labels"),
}

# Row losses of scikit-learn's scorers.
_BY_NAME = {
    "r2": "r2",
    "accuracy": "zero_one",
    "neg_mean_squared_error": "squared",
    "neg_mean_absolute_error": "absolute",
    "neg_mean_absolute_percentage_error": "relative",
    "neg_mean_squared_log_error": "squared_logarithmic",
    "neg_mean_poisson_deviance": "poisson",
    "neg_mean_gamma_deviance": "gamma",
    "neg_log_loss": "log",
    "neg_brier_score": "brier",
}

# scikit-learn's loss functions: the method of the model, and the name of the row loss.
_FUNCTIONS = {
    metrics.mean_squared_error: ("predict", "squared"),
    metrics.mean_absolute_error: ("predict", "absolute"),
    metrics.mean_absolute_percentage_error: ("predict", "relative"),
    metrics.mean_squared_log_error: ("predict", "squared_logarithmic"),
    metrics.mean_poisson_deviance: ("predict", "poisson"),
    metrics.mean_gamma_deviance: ("predict", "gamma"),
    metrics.log_loss: ("predict_proba", "log"),
    metrics.brier_score_loss: ("predict_proba", "brier"),
    metrics.zero_one_loss: ("predict", "zero_one"),
}


def class_indicators(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Labels (n_rows,) as a 0/1 column for each class of the model."""
    labels = np.asarray(y)
    indicators = labels[:, None] == classes
    unknown = labels[~indicators.any(axis=1)].tolist()
    if unknown:
        raise ValueError(
            f"y has the class {unknown[0]!r}, and the classes of the model are "
            f"{classes.tolist()!r}."
        )
    return indicators.astype(np.float64)


def call_scorer(
    scorer: Callable[..., Any], estimator: Any, X: Any, y: Any, **params: Any
) -> Any:
    """A scorer's result, on rows that may lack some of the model's classes."""
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, np.ndarray) and np.ndim(y) == 1:
        informed = scorer_of_classes(scorer, classes)
        if informed is not scorer:
            class_indicators(y, classes)  # refuses other classes
        scorer = informed
    try:
        return scorer(estimator, X, y, **params)
    except AttributeError as error:
        raise ValueError(f"scoring cannot be computed: {error}") from error


def as_number(score: Any) -> float | None:
    """A scorer's result as a float; None if it is not a number."""
    try:
        number = float(score)
    except (TypeError, ValueError):
        return None
    return None if np.isnan(number) else number


@dataclass(frozen=True)
class Metric:
    """A score, or a loss, of a fitted model on rows, made by :func:`resolve_metrics`.

    Parameters
    ----------
    name : str
        Key of the results.
    scorer : callable
        ``scorer(estimator, X, y[, sample_weight])``.
    takes_weights : bool
        Whether the scorer takes `sample_weight`.
    orientation : {"loss", "negated", "complement"} or None
        The number is a loss, minus a loss, or one minus a loss; None for a score
        without a loss.
    row_loss : str or None
        Key in `ROW_LOSSES` of the loss that it is the mean of, if any.
    """

    name: str
    scorer: Callable[..., Any]
    takes_weights: bool
    orientation: str | None = None
    row_loss: str | None = None

    def __call__(
        self, estimator: Any, X: Any, y: Any, weights: NDArray[np.float64] | None
    ) -> float:
        """Score of rows, with targets, and weights or None."""
        params = {} if weights is None else {"sample_weight": weights}
        score = call_scorer(self.scorer, estimator, X, y, **params)
        number = as_number(score)
        if number is None:
            raise ValueError(
                f"scoring: {self.name!r} must be a number for every table of rows; got "
                f"{score!r}."
            )
        return number

    @property
    def worse(self) -> float:
        """The sign of a change for the worse: 1 for losses, -1 for scores."""
        return 1.0 if self.orientation == "loss" else -1.0

    def as_loss(
        self, number: NDArray[np.float64] | float
    ) -> NDArray[np.float64] | float:
        """The score as a loss, or a loss as the score."""
        return _ORIENTATIONS[self.orientation](number)


@dataclass(frozen=True)
class LossOfModel:
    """A scorer from a loss function of targets and predictions.

    Parameters
    ----------
    loss : callable
        ``loss(y_true, y_pred[, sample_weight])``: a number, or one for each row.
    response : Response
        The predictions that the loss takes.
    """

    loss: Callable[..., Any]
    response: Response

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> Any:
        """Mean loss of the model on rows."""
        return self.mean(y, self.predictions(estimator, X), sample_weight)

    def mean(
        self,
        y: Any,
        predictions: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
    ) -> Any:
        """Mean loss of predictions, (n_rows, ...)."""
        takes = takes_weights(self.loss)
        parameters = {} if weights is None or not takes else {"sample_weight": weights}
        losses = np.asarray(self.loss(y, predictions, **parameters))
        if losses.shape == (len(predictions),):
            return np.average(losses, weights=weights)
        if weights is not None and not takes:
            raise ValueError(
                f"scoring: the loss {_name_of(self.loss)} must take sample_weight, or "
                "return one number for each row, because rows have weights."
            )
        return losses

    def predictions(self, estimator: Any, X: Any) -> NDArray[Any]:
        """Predictions that the loss takes."""
        method = self.response.method
        if callable(method):
            return _drop_single_column(self.response.read(method(estimator, X)))
        predictions = getattr(estimator, method)(X)
        if method == "predict":
            return np.asarray(predictions)
        return _drop_single_column(self.response.read(predictions))

    def from_responses(self, responses: NDArray[np.float64]) -> NDArray[Any]:
        """Predictions that the loss takes, from responses (n_rows, n_outputs)."""
        classes = self.response.classes
        if self.response.method != "predict" or classes is None:
            return _drop_single_column(responses)
        if len(classes) == 2:
            return classes[(responses[:, 0] > 0.5).astype(np.intp)]
        return classes[responses.argmax(axis=1)]


def _drop_single_column(responses: NDArray[np.float64]) -> NDArray[np.float64]:
    return responses[:, 0] if responses.shape[1] == 1 else responses


def resolve_metrics(
    scoring: Any, estimator: Any, response_method: ResponseMethod = "auto"
) -> list[Metric]:
    """Scores and losses from the parameter `scoring`.

    Parameters
    ----------
    scoring : None, str, callable, or list or dict of str and callable
        See :class:`~sklearn_interpret.importance.PermutationImportance`.
    estimator : fitted predictor
        The model.
    response_method : str, list of str or callable, default="auto"
        The response that losses compare with the targets.

    Returns
    -------
    list of Metric
    """
    if scoring is None:
        return [_default_metric(estimator)]
    if isinstance(scoring, str) or callable(scoring):
        return [_make_metric(_name_of(scoring), scoring, estimator, response_method)]
    if isinstance(scoring, Mapping):
        named = [(str(name), entry) for name, entry in scoring.items()]
    elif isinstance(scoring, list | tuple | set):
        named = [(_name_of(entry), entry) for entry in scoring]
    else:
        raise TypeError(
            "scoring must be None, a scorer's name, a callable, or a list or dict of "
            f"these; got {scoring!r}."
        )
    names = [name for name, _ in named]
    if not named or len(set(names)) < len(names):
        raise ValueError(
            f"scoring={scoring!r} must have at least one entry, and none twice."
        )
    return [
        _make_metric(name, entry, estimator, response_method) for name, entry in named
    ]


def check_weights_are_taken(metrics: Iterable[Metric]) -> None:
    """Refuse scorers that would ignore the weights of rows."""
    for metric in metrics:
        if not metric.takes_weights:
            raise ValueError(
                f"scoring: {metric.name!r} takes no sample_weight, and rows have "
                "different weights."
            )


def check_are_means(metrics: Iterable[Metric]) -> None:
    """Refuse scores that are not known to be means over rows."""
    for metric in metrics:
        if metric.row_loss is None:
            raise ValueError(
                f"scoring: {metric.name!r} is not known to be a mean over rows, as "
                "rows in partitions need it; accepted are None for models that score "
                f"by R squared or accuracy, {', '.join(_BY_NAME)}, and the functions "
                "of sklearn.metrics for the same losses."
            )


def _default_metric(estimator: Any) -> Metric:
    """The metric of the model's own `score`."""
    score = getattr(estimator, "score", None)
    if score is None:
        raise TypeError(
            f"scoring=None takes the model's own score, and "
            f"{type(unfrozen(estimator)).__name__} has none: name a scorer."
        )
    method = getattr(type(final_step(estimator)), "score", None)
    if method is RegressorMixin.score:
        scorer = partial(_score_predictions, metrics.r2_score)
        return Metric("score", scorer, True, "complement", "r2")
    if method in (ClassifierMixin.score, KNeighborsClassifier.score):
        scorer = partial(_score_predictions, metrics.accuracy_score)
        return Metric("score", scorer, True, "complement", "zero_one")
    return Metric("score", _own_score, takes_weights(score))


# The `score` of most models, as a function of `predict`, whose calls can be shared.
def _score_predictions(
    score: Callable[..., Any], estimator: Any, X: Any, y: Any, **weights: Any
) -> Any:
    return score(y, estimator.predict(X), **weights)


def _own_score(estimator: Any, X: Any, y: Any, **weights: Any) -> Any:
    return estimator.score(X, y, **weights)


def _make_metric(
    name: str, scoring: Any, estimator: Any, response_method: ResponseMethod
) -> Metric:
    """One score or loss."""
    if isinstance(scoring, str):
        scorer, row_loss = get_scorer(scoring), _BY_NAME.get(scoring)
        orientation = _orientation_of_name(scoring)
        return Metric(
            name, scorer, bool(scorer_takes_weights(scorer)), orientation, row_loss
        )
    if not callable(scoring):
        raise TypeError(
            f"scoring: {name!r} must be a scorer's name or a callable; got {scoring!r}."
        )
    if _is_of_scikit_learn(scoring):
        return _metric_of_function(name, scoring, estimator, response_method)
    if _is_loss(scoring):
        return _metric_of_loss(name, scoring, estimator, response_method)
    takes = scorer_takes_weights(scoring)
    takes = takes_weights(scoring) if takes is None else takes
    return Metric(name, scoring, takes)


def _orientation_of_name(name: str) -> str | None:
    if name.startswith("neg_"):
        return "negated"
    if name in ("accuracy", "r2", "explained_variance") or name.startswith("d2_"):
        return "complement"
    return None


def _metric_of_loss(
    name: str, loss: Callable[..., Any], estimator: Any, response_method: ResponseMethod
) -> Metric:
    """A loss of the model's response."""
    response = make_response(estimator, response_method)
    return Metric(name, LossOfModel(loss, response), True, "loss", None)


def _metric_of_function(
    name: str,
    function: Callable[..., Any],
    estimator: Any,
    response_method: ResponseMethod,
) -> Metric:
    """One of scikit-learn's loss functions."""
    if function.__name__.endswith("_score"):
        raise ValueError(
            f"scoring: {function.__name__} is a score of targets and predictions, but "
            "such a function is taken as a loss: name the scorer, or make one with "
            "sklearn.metrics.make_scorer."
        )
    method, row_loss = _FUNCTIONS.get(function, ("predict", None))
    if response_method not in ("auto", method):
        return _metric_of_loss(name, function, estimator, response_method)
    scorer = make_scorer(function, response_method=method)
    if not has_tags(estimator):  # which scikit-learn's scorers need
        scorer = LossOfModel(function, make_response(estimator, method))
    return Metric(name, scorer, takes_weights(function), "loss", row_loss)


def _is_of_scikit_learn(function: Callable[..., Any]) -> bool:
    module = getattr(function, "__module__", None) or ""
    return module.startswith("sklearn.metrics.") and hasattr(function, "__name__")


def _name_of(scoring: Any) -> str:
    if isinstance(scoring, str):
        return scoring
    return str(getattr(scoring, "__name__", None) or scoring)


def takes_weights(function: Callable[..., Any]) -> bool:
    """Whether a function's signature has `sample_weight`."""
    try:
        return "sample_weight" in signature(function).parameters
    except (TypeError, ValueError):
        return False


def _is_loss(function: Callable[..., Any]) -> bool:
    """Whether a callable is a loss of targets and predictions, not a scorer.

    Scorers take an estimator, rows and targets, which may default to None.
    """
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"scoring: the signature of {_name_of(function)} can't be read, so it may "
            "be a loss or a scorer: wrap it in a function."
        ) from error
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    positional = [
        p for p in parameters if p.kind in kinds and p.name != "sample_weight"
    ]
    needed = [p for p in positional if p.default is Parameter.empty]
    if len(needed) == 3 or (len(positional) > 2 and positional[2].name.startswith("y")):
        return False
    if len(needed) == 2:
        return True
    raise TypeError(
        f"scoring: {_name_of(function)} must be a scorer(estimator, X, y) or a "
        f"loss(y_true, y_pred); it takes {', '.join(p.name for p in parameters)}."
    )

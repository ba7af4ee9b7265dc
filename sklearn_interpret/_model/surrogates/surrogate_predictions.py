"""Surrogates of a model: how they are fitted, and their predictions in its terms.

:func:`fit_surrogate` fits any regressor to responses, or a classifier to labels, of the
model; :class:`SurrogatePredictions` has the predictions of the fitted surrogate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.responses.predictors import (
    has_tags,
    is_classifier,
    tags_of,
    unfrozen,
    weight_parameter,
)
from sklearn_interpret._model.responses.response import Contrast, Response
from sklearn_interpret._model.rows.arrays import as_days
from sklearn_interpret._model.rows.base import is_missing

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Largest number of indicators of a column: the rarest levels share the last one.
MAX_LEVELS = 20

# Responses above which the positive class is the likelier one.
_THRESHOLDS = {
    "predict_proba": 0.5,
    "predict": 0.5,
    "predict_log_proba": np.log(0.5),
    "decision_function": 0.0,
    "centered_log_proba": 0.0,
}


def check_surrogate(surrogate: Any) -> None:
    """Refuse objects that are not predictors, such as a class."""
    message = "surrogate must be an estimator with fit and predict; got"
    if isinstance(surrogate, type):
        name = surrogate.__name__
        raise TypeError(f"{message} the class {name}: pass {name}().")
    if not (hasattr(surrogate, "fit") and hasattr(surrogate, "predict")):
        raise TypeError(f"{message} {type(surrogate).__name__}.")


def default_surrogate(random_state: Any) -> DecisionTreeRegressor:
    """An unfitted tree of depth three."""
    return DecisionTreeRegressor(max_depth=3, random_state=random_state)


def _add_encoders(surrogate: Any, rows: Rows) -> Any:
    """A surrogate, behind encoders where it takes no categories and `Rows` have some.

    Ordered categories become their positions, others a column each.
    """
    if sparse.issparse(rows.native) or _may_take_categories(surrogate):
        return surrogate
    is_categorical = rows.detected_categorical
    for j in np.flatnonzero(~is_categorical & ~rows.are_numbers)[:1].tolist():
        raise ValueError(
            f"surrogate={surrogate!r} cannot be fitted: the column {rows.names[j]!r} "
            f"of X, of dtype {rows.column(j).dtype}, has neither numbers nor "
            "categories. Pass a pipeline as surrogate that makes numbers of it."
        )
    categorical = np.flatnonzero(is_categorical).tolist()
    has_dates = any(rows.dates(j) is not None for j in range(rows.n_columns))
    if not categorical and not has_dates:
        return surrogate
    category_orders = {j: _category_order(rows, j) for j in categorical}
    ordered = [j for j in categorical if category_orders[j] is not None]
    unordered = [j for j in categorical if category_orders[j] is None]
    ordinal_encoder = OrdinalEncoder(
        categories=[category_orders[j] for j in ordered],
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
    )
    one_hot_encoder = OneHotEncoder(
        max_categories=MAX_LEVELS,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    # This scaler leaves numbers as they are, for any data frame and in any version.
    identity = StandardScaler(with_mean=False, with_std=False)
    if has_dates:
        identity = FunctionTransformer(as_days, feature_names_out="one-to-one")
    encoders = make_column_transformer(
        (ordinal_encoder, ordered), (one_hot_encoder, unordered), remainder=identity
    )
    return make_pipeline(encoders, surrogate)


def _may_take_categories(estimator: Any) -> bool:
    """Whether an estimator, or its first step, may handle categories."""
    if isinstance(estimator, Pipeline):
        return _may_take_categories(estimator[0])
    if not has_tags(estimator):
        return True
    if isinstance(estimator, ColumnTransformer | FrozenEstimator):
        return True
    inner_estimator = getattr(estimator, "estimator", None)  # of searches and wrappers
    if hasattr(inner_estimator, "fit"):
        return _may_take_categories(inner_estimator)
    tags = tags_of(estimator)
    return tags.no_validation or tags.input_tags.categorical or tags.input_tags.string


def with_exact_sums(
    targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Round targets, and scale weights, so that their sums are exact in any order.

    Among features that split the rows alike, a tree takes the one whose sums rounding
    makes largest: a row of weight two would differ from the same row twice. Sums are
    exact where weights are multiples of the smallest one.
    """
    if (weights != np.round(weights)).any():
        weights = np.round(weights / weights.min(), 9)
    largest = np.abs(targets).max()
    if (targets == targets[:1]).all() or not 0 < largest < 1e200:
        return targets, weights
    _, exponent = np.frexp(largest * weights.sum())
    if exponent < -900:  # steps of smaller sums would be subnormal, below 2**-1022
        return targets, weights
    step = np.ldexp(1.0, int(exponent) - 52)
    return np.round(targets / step) * step, weights


def _category_order(rows: Rows, j: int) -> list[Any] | None:
    """Categories of an ordered column, or None where they have no order to keep."""
    if not rows.is_ordered(j):
        return None
    labels = rows.categories(j)
    if labels is None:
        labels = [label for label in rows.encode([j])[1] if not is_missing(label)]
    categories = np.asarray(labels)
    # The encoder takes numbers in increasing order only.
    is_accepted = (
        categories.dtype.kind in "OUS" or (categories[1:] >= categories[:-1]).all()
    )
    return categories.tolist() if is_accepted and len(categories) else None


def fit_surrogate(
    surrogate: Any, rows: Rows, targets: NDArray[Any], weights: NDArray[np.float64]
) -> Any:
    """A clone of a surrogate, fitted to responses or labels of the model for `Rows`.

    A surrogate that takes a single output is fitted once for each. It must take the
    weights if they differ. Categories are encoded for one that does not take them.
    """
    weight_name = weight_parameter(surrogate)
    if weight_name is None and (weights != weights[0]).any():
        raise ValueError(
            f"surrogate: the fit of {type(unfrozen(surrogate)).__name__} takes no "
            "sample_weight, and rows have different weights."
        )
    learner = _add_encoders(clone(surrogate), rows)
    weight_name = weight_parameter(learner)
    fit_params = (
        {} if weight_name is None or (weights == 1).all() else {weight_name: weights}
    )
    if targets.ndim == 2 and not tags_of(surrogate).target_tags.multi_output:
        learner = MultiOutputRegressor(learner)
    # The weights go to the surrogate whatever it requests by metadata routing.
    with config_context(enable_metadata_routing=False):
        return learner.fit(rows.native, targets, **fit_params)


def squeeze_outputs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values without the axis of outputs where there is only one."""
    return values[:, 0] if values.shape[1] == 1 else values


@dataclass(frozen=True)
class SurrogatePredictions:
    """Predictions of a fitted surrogate, in the terms of its model."""

    surrogate: Any  # a regressor fitted to responses, or a classifier to labels
    response: Response  # of the model

    @property
    def predicts_labels(self) -> bool:
        """Whether the surrogate was fitted to labels."""
        return is_classifier(self.surrogate)

    @property
    def has_probabilities(self) -> bool:
        """Whether the surrogate can give probabilities of the model's classes."""
        if self.predicts_labels:
            return hasattr(self.surrogate, "predict_proba")
        return self._has_probability_scale and self.why_no_labels() is None

    @property
    def _has_probability_scale(self) -> bool:
        """Whether the response is a probability, or an average of labels 0 and 1."""
        return self.response.method in ("predict_proba", "predict")

    @property
    def methods(self) -> set[str]:
        """Names of a classifier's methods, besides `predict`, that it can provide."""
        if self.has_probabilities:
            return {"predict_proba", "predict_log_proba"}
        method, target = self.response.method, self.response.target
        is_regression = not self.predicts_labels and self.why_no_labels() is None
        if is_regression and method == "decision_function" and target is None:
            return {"decision_function"}
        return set()

    def responses(self, X: Any) -> Any:
        """The surrogate's estimate of the model's responses, (n, k).

        None for a classifier without probabilities of the kind of the response.
        """
        if not self.predicts_labels:
            values = np.asarray(self.surrogate.predict(X), dtype=np.float64)
            return values.reshape(len(values), -1)
        if not (self._has_probability_scale and self.has_probabilities):
            return None
        probability_response = replace(self.response, method="predict_proba")
        return probability_response.read(self.probabilities(X))

    def predictions(self, X: Any) -> NDArray[Any]:
        """Estimates of the model's `predict`: numbers, or labels of classes."""
        if self.predicts_labels:
            return np.asarray(self.surrogate.predict(X))
        values = self.responses(X)
        if is_classifier(self.response.estimator):
            return self._likeliest_labels(values)
        return squeeze_outputs(values)

    def probabilities(self, X: Any) -> Any:
        """Probabilities of the model's classes, a list of them for several outputs."""
        if self.predicts_labels:
            predicted = np.asarray(self.surrogate.predict_proba(X), dtype=np.float64)
            classes = self.response.classes.tolist()
            # Some classes may be missing among the labels it was fitted to.
            columns = list(map(classes.index, self.surrogate.classes_.tolist()))
            probabilities = np.zeros((len(predicted), len(classes)))
            probabilities[:, columns] = predicted
            return probabilities
        values, classes = (self._orient(self.responses(X)), self.response.classes)
        if classes is None:
            return np.clip(values, 0, 1)
        if isinstance(classes, list):
            outputs = zip(_split_outputs(values, classes), classes, strict=True)
            return [_normalise(columns, len(labels)) for columns, labels in outputs]
        return _normalise(values, len(classes))

    def why_no_labels(self) -> str | None:
        """Reason why the surrogate's responses determine no labels; None if they do."""
        method, classes = self.response.method, self.response.classes
        if self.predicts_labels:
            return None
        if callable(method):
            return "it was fitted to what a callable response_method returns"
        target = self.response.target
        determines_labels = _is_binary(classes) and not isinstance(target, Contrast)
        if target is not None and not determines_labels:
            (name,) = self.response.output_names(1)
            name = name.item() if isinstance(name, np.generic) else name
            return f"it was fitted to one output, target={name!r}"
        return None

    def _likeliest_labels(self, values: NDArray[np.float64]) -> NDArray[Any]:
        """Labels of the largest responses (n, k)."""
        values, classes = self._orient(values), self.response.classes
        threshold = _THRESHOLDS[str(self.response.method)]
        if classes is None:
            return (values > threshold).astype(np.intp)
        if isinstance(classes, list):
            outputs = zip(_split_outputs(values, classes), classes, strict=True)
            labels = [_likeliest_class(*output, threshold) for output in outputs]
            return np.stack(labels, axis=1)
        return _likeliest_class(values, classes, threshold)

    def _orient(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Responses of the positive class, where the target is the negative one."""
        if self.response.target != 0 or not _is_binary(self.response.classes):
            return values
        if self._has_probability_scale:
            return 1 - values
        if self.response.method == "predict_log_proba":
            return np.log1p(-np.exp(np.minimum(values, -1e-12)))
        return -values


def _is_binary(classes: Any) -> bool:
    return classes is not None and not isinstance(classes, list) and len(classes) == 2


def _split_outputs(
    values: NDArray[np.float64], classes: list[NDArray[Any]]
) -> list[NDArray[np.float64]]:
    """Columns of each output: one for two classes, else one per class."""
    widths = [1 if len(labels) == 2 else len(labels) for labels in classes]
    return np.split(values, np.cumsum(widths)[:-1], axis=1)


def _likeliest_class(
    values: NDArray[np.float64], classes: NDArray[Any], threshold: float
) -> NDArray[Any]:
    """The label with the largest response."""
    if len(classes) == 2 and values.shape[1] == 1:
        return classes[(values[:, 0] > threshold).astype(np.intp)]
    if values.shape[1] != len(classes):
        raise ValueError(
            f"The surrogate was fitted to {values.shape[1]} responses, which determine "
            f"no label of {len(classes)} classes: use another response_method."
        )
    return classes[values.argmax(axis=1)]


def _normalise(values: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Responses clipped and scaled to probabilities, in the same order."""
    if n_classes == 2 and values.shape[1] == 1:
        positive_proba = np.clip(values, 0, 1)
        return np.hstack([1 - positive_proba, positive_proba])
    positive = np.maximum(values, 0)
    # Where no response is positive, the largest has all of the probability.
    none_positive = ~positive.any(axis=1)
    largest = values[none_positive].max(axis=1, keepdims=True)
    positive[none_positive] = values[none_positive] == largest
    return positive / positive.sum(axis=1, keepdims=True)

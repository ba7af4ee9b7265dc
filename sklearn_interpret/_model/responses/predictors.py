"""What a predictor is: its kind, its state, and what its `fit` takes."""

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import (
    ClassifierTags,
    InputTags,
    RegressorTags,
    Tags,
    TargetTags,
    get_tags,
)
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from sklearn_interpret._model.rows.arrays import as_rows

RESPONSE_METHODS = (
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "predict",
    "score_samples",
)


def innermost(estimator: Any) -> Any:
    """The predictor inside of pipelines and searches."""
    model = final_step(estimator)
    while hasattr(model, "best_estimator_"):
        model = final_step(model.best_estimator_)
    return model


def final_step(estimator: Any) -> Any:
    """The predictor at the end of (nested) pipelines."""
    model = unfrozen(estimator)
    while isinstance(model, Pipeline):
        model = unfrozen(model[-1])
    return model


def unfrozen(estimator: Any) -> Any:
    """The estimator inside of any number of :class:`FrozenEstimator`."""
    while isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    return estimator


def has_tags(estimator: Any) -> bool:
    """Whether the estimator has scikit-learn's tags."""
    return hasattr(unfrozen(estimator), "__sklearn_tags__")


def check_predictor_is_fitted(estimator: Any) -> None:
    """Raise :class:`~sklearn.exceptions.NotFittedError` if scikit-learn can check."""
    if has_tags(estimator):  # other classes raise their own errors
        check_is_fitted(unfrozen(estimator))


def tags_of(estimator: Any) -> Tags:
    """Tags of a predictor; inferred from its methods if it has none."""
    model = unfrozen(estimator)  # FrozenEstimator would deep-copy the tags
    if has_tags(model):
        return get_tags(model)
    classifies = any(
        hasattr(model, name)
        for name in ("classes_", "predict_proba", "decision_function")
    )
    return Tags(
        estimator_type="classifier" if classifies else "regressor",
        target_tags=TargetTags(required=True),
        transformer_tags=None,
        classifier_tags=ClassifierTags() if classifies else None,
        regressor_tags=None if classifies else RegressorTags(),
        input_tags=InputTags(allow_nan=True),
    )


def is_classifier(estimator: Any) -> bool:
    """Whether a predictor is a classifier; it need not have tags."""
    return tags_of(estimator).estimator_type == "classifier"


def check_has_classes(estimator: Any) -> None:
    """Refuse a classifier without `classes_`, where its labels are needed."""
    if is_classifier(estimator) and getattr(estimator, "classes_", None) is None:
        raise ValueError(
            f"{type(unfrozen(estimator)).__name__} is a classifier without classes_: "
            "set this attribute to its labels, in the order of its outputs."
        )


def requires_y(estimator: Any) -> bool:
    """Whether a predictor needs targets in `fit`."""
    tags = tags_of(estimator)
    # The tags of a pipeline do not include what its last step requires.
    supervised = tags.estimator_type in ("classifier", "regressor")
    return tags.target_tags.required or supervised


def weight_parameter(estimator: Any) -> str | None:
    """Name of the parameter of `fit` for sample weights, or None."""
    estimator = unfrozen(estimator)
    of_outputs = isinstance(estimator, MultiOutputClassifier | MultiOutputRegressor)
    if of_outputs or getattr(estimator, "_passes_fit_parameters", False):
        return weight_parameter(estimator.estimator)
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and estimator.steps:
        last, final = estimator.steps[-1]
        inner = weight_parameter(final)
        return None if inner is None else f"{last}__{inner}"
    return None


def check_is_predictor(estimator: Any) -> None:
    """Refuse objects with neither `predict` nor a probability or decision method."""
    # A stacking estimator gets its methods in `fit`; its tags are known before.
    estimator_type = tags_of(estimator).estimator_type if has_tags(estimator) else None
    will_be = estimator_type in ("classifier", "regressor")
    # So do wrappers of scikit-survival for scores.
    inner = getattr(estimator, "estimator", None)
    will_be |= hasattr(type(estimator), "predict") and hasattr(inner, "predict")
    if not (will_be or any(hasattr(estimator, name) for name in RESPONSE_METHODS)):
        raise TypeError(
            f"{type(unfrozen(estimator)).__name__} has none of the methods "
            f"{', '.join(RESPONSE_METHODS)}: a predictor is needed."
        )


def is_fitted(estimator: Any) -> bool:
    """Whether the estimator is fitted, by scikit-learn's check or its attributes."""
    checks = has_tags(estimator)  # of other classes the attributes alone tell
    try:
        if checks:
            check_is_fitted(estimator)
    except (NotFittedError, TypeError, AttributeError):
        return False
    # Some classes start with attributes of `fit` that are None.
    state = getattr(unfrozen(estimator), "__dict__", {})
    values = [value for name, value in state.items() if name.endswith("_")]
    return (checks and not values) or any(value is not None for value in values)


def check_fits_rows(estimator: Any, X: Any) -> None:
    """Check that a frozen estimator is fitted on the same columns as `X`."""
    check_predictor_is_fitted(estimator)
    # Images have no columns to count.
    if not has_tags(estimator) or getattr(X, "ndim", 2) > 2:
        return
    model = unfrozen(estimator)
    names = getattr(model, "feature_names_", None)
    # Some wrappers keep neither the number of columns nor their names.
    if names is None and not hasattr(model, "n_features_in_"):
        return
    # CatBoost checks its own copy of the names, but ignores their order.
    if names is None:
        if not _are_lightgbm_names(model, X):
            validate_data(model, X, reset=False, skip_check_array=True)
        return
    rows = as_rows(X)
    if rows.named and rows.names != list(names) and set(rows.names) == set(names):
        raise ValueError(
            "The feature names should match those that were passed during fit. Feature "
            "names must be in the same order as they were in fit."
        )


def _are_lightgbm_names(model: Any, X: Any) -> bool:
    """Whether the names of a model are those of X as LightGBM writes them."""
    # A meta-estimator has the names of the LightGBM model inside. Any other model that
    # was fitted on names with underlines refuses blanks itself.
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(X, "columns") or not as_rows(X).named:
        return False
    return [name.replace(" ", "_") for name in as_rows(X).names] == list(names)

"""What kind of predictor a model is, also where it is no scikit-learn estimator."""

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
from sklearn.utils.validation import check_is_fitted, has_fit_parameter


def unfrozen(estimator):
    """The estimator inside of any number of :class:`FrozenEstimator`."""
    while isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    return estimator


def has_tags(estimator):
    """Whether scikit-learn can tell the kind of the estimator."""
    return hasattr(unfrozen(estimator), "__sklearn_tags__")


def check_predictor_is_fitted(estimator):
    """Raise :class:`~sklearn.exceptions.NotFittedError` where scikit-learn can tell."""
    if has_tags(estimator):  # a foreign class speaks for itself
        check_is_fitted(estimator)


def tags_of(estimator):
    """Tags of a predictor; where it has none, what its methods tell."""
    model = unfrozen(estimator)  # whose tags a frozen one copies in depth
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


def is_classifier(estimator):
    """Whether a predictor, of whatever class, is a classifier."""
    return tags_of(estimator).estimator_type == "classifier"


def requires_y(estimator):
    """Whether a predictor can't be fitted without targets."""
    tags = tags_of(estimator)
    # The tags of a pipeline do not tell what its last step requires.
    supervised = tags.estimator_type in ("classifier", "regressor")
    return tags.target_tags.required or supervised


def weight_parameter(estimator):
    """Name under which `fit` takes sample weights, or None; also of a pipeline."""
    estimator = unfrozen(estimator)
    if isinstance(estimator, MultiOutputClassifier | MultiOutputRegressor):
        return weight_parameter(estimator.estimator)  # to whom it hands all on
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and estimator.steps:
        last, final = estimator.steps[-1]
        inner = weight_parameter(final)
        return None if inner is None else f"{last}__{inner}"
    return None

"""Checks that an inspector stands in for its model, fitted or frozen."""

from functools import partial

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from sklearn_interpret.estimator_checks._expect import expect_error
from sklearn_interpret.estimator_checks._recorders import recorder_for
from sklearn_interpret.estimator_checks._results import assert_same, fitted_results
from sklearn_interpret.estimator_checks._tables import (
    N_ROWS,
    numeric_table,
    prepared,
    target_for,
    without_draws,
)

_ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _answers_itself(inspector):
    """Whether its predictions are its own, and the model's another method's."""
    return hasattr(inspector, "black_box_predict")


def check_given_estimator_is_cloned(inspector):
    """`fit` fits a clone and leaves the given estimator unfitted.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    given = recorder_for(inspector)
    inspector = prepared(inspector, estimator=given)
    inspector.fit(numeric_table(), target_for(inspector))
    assert inspector.estimator is given
    assert not hasattr(given, "n_fits_")
    assert inspector.estimator_.n_fits_ == 1


def check_frozen_is_not_refitted(inspector):
    """A frozen model is inspected as it is, and needs no targets.

    An inspector that needs them for more than to fit the model says so.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, y = numeric_table(), target_for(inspector)
    model = recorder_for(inspector).fit(X, y)
    inspector = without_draws(inspector, estimator=FrozenEstimator(model))
    with_y = fitted_results(inspector.fit(X, y))
    try:
        without_y = fitted_results(clone(inspector).fit(X))
    except ValueError as error:
        if "requires y" not in str(error):
            raise
    else:
        assert_same(without_y, with_y)
    assert model.n_fits_ == 1
    asked = getattr(inspector, "black_box_predict", inspector.predict)
    np.testing.assert_array_equal(asked(X), model.predict(X))


def check_unfitted_frozen(inspector):
    """A frozen estimator that was never fitted is refused as such.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    frozen = FrozenEstimator(recorder_for(inspector))
    inspector = prepared(inspector, estimator=frozen)
    with expect_error(NotFittedError, doing="fit around an unfitted frozen estimator"):
        inspector.fit(numeric_table(), target_for(inspector))


def check_fitted_bare_without_y(inspector):
    """A fitted model passed bare and without `y` is an error that tells the way.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, y = numeric_table(), target_for(inspector)
    inspector = prepared(inspector, estimator=recorder_for(inspector).fit(X, y))
    with expect_error(ValueError, "FrozenEstimator", doing="fit without y"):
        inspector.fit(X)


def check_delegation(inspector):
    """Predictions, classes and scores are those of the fitted model.

    An inspector with `black_box_predict` has the model's predictions there, and its own
    in `predict`, of which its score is.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, y = numeric_table(), target_for(inspector)
    fitted = prepared(inspector).fit(X, y)
    model, weights = fitted.estimator_, np.arange(N_ROWS)
    if _answers_itself(fitted):
        answer = fitted.black_box_predict(X)
        np.testing.assert_array_equal(answer, model.predict(X))
        scored = _Predicting(fitted) if not is_classifier(model) else _Labelling(fitted)
    else:
        for name in filter(partial(hasattr, model), _ANSWERS):
            with np.errstate(divide="ignore"):  # the logarithm of a zero is the model's
                expected, answer = getattr(model, name)(X), getattr(fitted, name)(X)
            np.testing.assert_array_equal(answer, expected)
        scored = model
    assert fitted.score(X, y) == scored.score(X, y)
    weighted = scored.score(X, y, sample_weight=weights)
    assert fitted.score(X, y, sample_weight=weights) == weighted
    assert hasattr(fitted, "classes_") == hasattr(model, "classes_")
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(fitted.classes_, model.classes_)


class _Predicting(RegressorMixin):
    """The predictions of an inspector, with scikit-learn's score of a regressor."""

    def __init__(self, inspector):
        self.predict = inspector.predict


class _Labelling(ClassifierMixin):
    """The predictions of an inspector, with scikit-learn's score of a classifier."""

    def __init__(self, inspector):
        self.predict = inspector.predict


def check_has_what_the_estimator_has(inspector):
    """The inspector has those methods that its estimator has, fitted or not.

    Of one with `black_box_predict`, `predict` and `score` are asked for alone.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, y = numeric_table(), target_for(inspector)
    inspector = prepared(inspector)
    names = (*_ANSWERS, "score")
    if _answers_itself(inspector):
        names = ("predict", "score")
    for state in ("unfitted", "fitted"):
        for name in names:
            has = hasattr(inspector.estimator, name)
            assert hasattr(inspector, name) == has, (
                f"{state}: the estimator has {name}: {has}, the inspector differs"
            )
        inspector.fit(X, y)


def check_tags_of_the_estimator(inspector):
    """The inspector is of its estimator's kind, and accepts what that accepts.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    ours, inner = get_tags(inspector), get_tags(inspector.estimator)
    assert ours.estimator_type == inner.estimator_type
    assert ours.target_tags == inner.target_tags
    assert ours.input_tags == inner.input_tags
    assert ours.classifier_tags == inner.classifier_tags
    assert ours.regressor_tags == inner.regressor_tags


def check_not_fitted(inspector):
    """Before `fit`, every method that needs it says so.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    inspector, X = prepared(inspector), numeric_table()
    methods = ("black_box_predict", "transform", "explain", "interaction_values")
    for name in (*_ANSWERS, *methods):
        if hasattr(inspector, name):
            with expect_error(NotFittedError, doing=f"{name} before fit"):
                getattr(inspector, name)(X)

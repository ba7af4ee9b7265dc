"""Checks of an estimator that wraps a model and passes its methods on."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret.estimator_checks._recorders import (
    RecordingPipeline,
    recorder_for,
)
from sklearn_interpret.estimator_checks._results import (
    BY_ROW,
    assert_same,
    everything,
    expect_error,
    fitted_results,
)
from sklearn_interpret.estimator_checks._tables import (
    N_ROWS,
    SOME,
    fitted,
    frames_of_dates_and_days,
    mixed_frame,
    numeric_table,
    optional,
    prepared,
    target_for,
    without_draws,
)
from sklearn_interpret.exceptions import RefitWarning

_PREDICTIONS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _predicts_itself(inspector: Any) -> bool:
    """Whether `predict` is not the model's, which is another method then."""
    return hasattr(inspector, "black_box_predict")


def check_no_predictor(inspector: Any) -> None:
    """An object that is no predictor is refused by name, and None without a default."""
    default = signature(type(inspector)).parameters["estimator"].default
    for useless in (object(), *[None] * (default is not None)):
        bad = clone(inspector).set_params(estimator=useless)
        kind = type(useless).__name__
        with expect_error((ValueError, TypeError), kind, doing=f"estimator={kind}"):
            bad.fit(numeric_table(), target_for(inspector))


def check_given_estimator_is_cloned(inspector: Any) -> None:
    """`fit` fits a clone and leaves the given estimator unfitted."""
    model = recorder_for(inspector)
    inspector = prepared(inspector, estimator=model)
    inspector.fit(numeric_table(), target_for(inspector))
    assert inspector.estimator is model
    assert not hasattr(model, "n_fits_")
    assert inspector.estimator_.n_fits_ == 1


def check_frozen_is_not_refitted(inspector: Any) -> None:
    """A frozen model is inspected as it is, and needs no targets.

    An inspector that needs them for more than to fit the model says so.
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
    predict = getattr(inspector, "black_box_predict", inspector.predict)
    np.testing.assert_array_equal(predict(X), model.predict(X))


def check_unfitted_frozen(inspector: Any) -> None:
    """A frozen estimator that was never fitted is refused as such."""
    frozen = FrozenEstimator(recorder_for(inspector))
    inspector = prepared(inspector, estimator=frozen)
    with expect_error(NotFittedError, doing="fit around an unfitted frozen estimator"):
        inspector.fit(numeric_table(), target_for(inspector))


def check_fitted_bare_without_y(inspector: Any) -> None:
    """A fitted model passed bare, without `y`: the error names FrozenEstimator."""
    X, y = numeric_table(), target_for(inspector)
    inspector = prepared(inspector, estimator=recorder_for(inspector).fit(X, y))
    with expect_error(ValueError, "FrozenEstimator", doing="fit without y"):
        inspector.fit(X)


def check_refit_warns(inspector: Any) -> None:
    """A fitted model passed bare, with `y`, is fitted again: a warning says so."""
    X, y = numeric_table(), target_for(inspector)
    inspector = prepared(inspector, estimator=recorder_for(inspector).fit(X, y))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        inspector.fit(X, y)
    said = [w for w in caught if issubclass(w.category, RefitWarning)]
    assert len(said) == 1, f"{len(said)} warnings of a model that is fitted again"
    assert "FrozenEstimator" in str(said[0].message)


def check_masked_arrays_are_refused(inspector: Any) -> None:
    """Masked arrays are refused: their masked values would be used."""
    inputs = {
        "X": numeric_table(),
        "y": target_for(inspector),
        "sample_weight": np.ones(N_ROWS),
    }
    for name, values in inputs.items():
        masked = np.ma.masked_array(values, mask=values == values.max())
        with expect_error(TypeError, name, "masked", doing=f"a masked {name}"):
            prepared(inspector).fit(**{**inputs, name: masked})


def check_failed_fit_is_forgotten(inspector: Any) -> None:
    """After a `fit` that failed, the inspector is not fitted."""
    X, y = numeric_table(), target_for(inspector)
    failing = {"response_method": ["no_such_method"], "random_state": "seed"}
    params = inspector.get_params(deep=False)
    for bad in ({}, *({k: v} for k, v in failing.items() if k in params)):
        model = fitted(inspector)
        new = set(vars(prepared(inspector)))
        with expect_error((ValueError, TypeError, AttributeError), doing=f"fit, {bad}"):
            model.set_params(**bad).fit(X, y if bad else y[:-1])
        with expect_error(NotFittedError, doing=f"check_is_fitted after fit, {bad}"):
            check_is_fitted(model)
        left = {name for name in set(vars(model)) - new if name.endswith("_")}
        assert not left, f"left over after a fit that failed: {sorted(left)}"


def check_delegation(inspector: Any) -> None:
    """Predictions, classes and scores are those of the fitted model.

    An inspector with `black_box_predict` has the model's predictions there, and its own
    in `predict`, of which its score is.
    """
    X, y, weights = numeric_table(), target_for(inspector), np.arange(N_ROWS)
    outer = fitted(inspector)
    model = outer.estimator_
    if _predicts_itself(outer):
        np.testing.assert_array_equal(outer.black_box_predict(X), model.predict(X))
        metric = accuracy_score if is_classifier(model) else r2_score
        score = metric(y, outer.predict(X))
        weighted = metric(y, outer.predict(X), sample_weight=weights)
    else:
        for name in _PREDICTIONS:
            if hasattr(model, name):
                with np.errstate(divide="ignore"):  # the model's own logarithms of zero
                    expected, result = getattr(model, name)(X), getattr(outer, name)(X)
                np.testing.assert_array_equal(result, expected)
        score = model.score(X, y)
        weighted = model.score(X, y, sample_weight=weights)
    assert outer.score(X, y) == score
    assert outer.score(X, y, sample_weight=weights) == weighted
    assert hasattr(outer, "classes_") == hasattr(model, "classes_")
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(outer.classes_, model.classes_)


def check_has_what_the_estimator_has(inspector: Any) -> None:
    """The inspector has those methods that its estimator has, fitted or not.

    Of one with `black_box_predict`, `predict` and `score` alone.
    """
    X, y = numeric_table(), target_for(inspector)
    inspector = prepared(inspector)
    names: tuple[str, ...] = ("predict", "score")
    if not _predicts_itself(inspector):
        names = (*_PREDICTIONS, "score")
    for state in ("unfitted", "fitted"):
        for name in names:
            expected = hasattr(inspector.estimator, name)
            assert hasattr(inspector, name) == expected, (
                f"{state}: the estimator has {name}: {expected}, the inspector differs"
            )
        inspector.fit(X, y)


def check_tags_of_the_estimator(inspector: Any) -> None:
    """The inspector is of its estimator's kind, and accepts the same input.

    It may refuse sparse tables, several outputs, and more than two classes: then it
    does.
    """
    ours, inner = get_tags(inspector), get_tags(inspector.estimator)
    X, y = numeric_table(), target_for(inspector)
    inner.input_tags.sparse &= ours.input_tags.sparse
    if inner.target_tags.multi_output and not ours.target_tags.multi_output:
        inner.target_tags.multi_output = False
        with expect_error(ValueError, "y ", doing="two targets"):
            prepared(inspector).fit(X, np.column_stack([y, y]))
    classes, accepted = inner.classifier_tags, ours.classifier_tags
    if classes is not None:
        classes.multi_label &= accepted.multi_label
    if classes is not None and classes.multi_class and not accepted.multi_class:
        classes.multi_class = False
        with expect_error(ValueError, "binary", doing="three classes"):
            prepared(inspector).fit(X, np.arange(N_ROWS) % 3)
    assert ours.estimator_type == inner.estimator_type
    assert ours.target_tags == inner.target_tags
    assert ours.input_tags == inner.input_tags
    assert ours.classifier_tags == inner.classifier_tags
    assert ours.regressor_tags == inner.regressor_tags


def check_model_sees_array(inspector: Any) -> None:
    """A model fitted on an array is called with arrays of the same dtype."""
    _on_recorder(inspector, numeric_table().astype(np.float32))


def check_model_sees_frames(inspector: Any) -> None:
    """A model fitted on a frame of many dtypes is called with the like of it.

    The same columns in the same order, with the same dtypes and categories. The frame
    is not changed.
    """
    _on_pandas(inspector)


def check_polars_equals_pandas(inspector: Any) -> None:
    """A model fitted on a polars frame sees polars; results are those of pandas."""
    of_polars = _on_recorder(inspector, mixed_frame("polars", inspector))
    assert_same(of_polars, _on_pandas(inspector))


def check_dates_are_days(inspector: Any) -> None:
    """A column of dates gives the results of its days; the model sees dates.

    Or it is refused by name, with advice. Of inspectors that read some models only,
    whose steps before these take no dates, and of those that take numbers alone,
    nothing is asked.
    """
    reads_some = isinstance(recorder_for(inspector), RecordingPipeline)
    if reads_some or getattr(inspector, "_takes_numbers_only", False):
        return
    inspector = prepared(inspector, bounds=None)  # those of all numbers are no dates
    of_dates, of_days = frames_of_dates_and_days()
    try:
        results = _on_recorder(inspector, of_dates)
    except ValueError as refusal:
        if not all(word in str(refusal) for word in ("'count'", "turn it into num")):
            raise
        return
    expected = _on_recorder(inspector, of_days)
    for name in ("feature_importances_", *BY_ROW):
        assert_same(results.get(name), expected.get(name), rtol=1e-7)


def _on_pandas(inspector: Any) -> dict[str, Any]:
    """Everything about a recording model fitted on a frame, which is not changed."""
    X = mixed_frame("pandas", inspector)
    before = X.copy(deep=True)
    results = _on_recorder(inspector, X)
    optional("pandas.testing").assert_frame_equal(X, before)
    return results


def _on_recorder(inspector: Any, X: Any) -> dict[str, Any]:
    """Everything about a recording model, which has to see rows like those of `fit`."""
    model = clone(recorder_for(inspector)).fit(X, target_for(inspector))
    inspector = prepared(inspector, estimator=FrozenEstimator(model))
    results = everything(inspector.fit(X, target_for(inspector)), X[SOME])
    fitted_on, *sent = model.seen_
    assert sent, "the model was never called"
    for seen in sent:
        assert seen == fitted_on, f"fitted on {fitted_on}, called with {seen}"
    return results

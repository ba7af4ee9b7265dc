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
    all_results,
    assert_same,
    expect_error,
    fitted_results,
)
from sklearn_interpret.estimator_checks._tables import (
    FEW_ROWS,
    N_ROWS,
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


def _has_own_predict(inspector: Any) -> bool:
    """Whether `predict` is the inspector's; the model's is `black_box_predict` then."""
    return hasattr(inspector, "black_box_predict")


def check_no_predictor(inspector: Any) -> None:
    """The error for an object that is no predictor, such as None, names its class.

    None is accepted where it is the default of `estimator`.
    """
    no_predictors = [object()]
    if signature(type(inspector)).parameters["estimator"].default is not None:
        no_predictors.append(None)
    for no_predictor in no_predictors:
        bad = clone(inspector).set_params(estimator=no_predictor)
        kind = type(no_predictor).__name__
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
    """A frozen model is not fitted again, and needs no targets.

    An inspector whose results depend on targets may demand them ("requires y").
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
    refits = [each for each in caught if issubclass(each.category, RefitWarning)]
    assert len(refits) == 1, f"{len(refits)} warnings of a model that is fitted again"
    assert "FrozenEstimator" in str(refits[0].message)


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
    bad_params = {"response_method": ["no_such_method"], "random_state": "seed"}
    bad_fits: list[tuple[dict[str, Any], Any]] = [({}, y[:-1])]  # with a target missing
    bad_fits += [
        ({name: value}, y)
        for name, value in bad_params.items()
        if name in inspector.get_params(deep=False)
    ]
    for params, targets in bad_fits:
        again = fitted(inspector)
        before = set(vars(prepared(inspector)))
        errors = ValueError, TypeError, AttributeError
        with expect_error(errors, doing=f"fit, {params}"):
            again.set_params(**params).fit(X, targets)
        with expect_error(NotFittedError, doing=f"check_is_fitted after fit, {params}"):
            check_is_fitted(again)
        left = {name for name in set(vars(again)) - before if name.endswith("_")}
        assert not left, f"left over after a fit that failed: {sorted(left)}"


def check_delegation(inspector: Any) -> None:
    """Predictions, classes and scores are those of the fitted model.

    An inspector with `black_box_predict` returns the model's predictions there. Its
    `predict` and `score` are its own.
    """
    X, y, weights = numeric_table(), target_for(inspector), np.arange(N_ROWS)
    outer = fitted(inspector)
    model = outer.estimator_
    if _has_own_predict(outer):
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
    """The inspector has the prediction methods of its estimator, fitted or not.

    Only `predict` and `score` are checked of one with `black_box_predict`.
    """
    X, y = numeric_table(), target_for(inspector)
    inspector = prepared(inspector)
    names: tuple[str, ...] = ("predict", "score")
    if not _has_own_predict(inspector):
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

    Its tags may exclude sparse tables, several outputs and more than two classes, if it
    then refuses them.
    """
    tags, expected = get_tags(inspector), get_tags(inspector.estimator)
    X, y = numeric_table(), target_for(inspector)
    expected.input_tags.sparse &= tags.input_tags.sparse
    if expected.target_tags.multi_output and not tags.target_tags.multi_output:
        expected.target_tags.multi_output = False
        with expect_error(ValueError, "y ", doing="two targets"):
            prepared(inspector).fit(X, np.column_stack([y, y]))
    if (classifier := expected.classifier_tags) is not None:
        classifier.multi_label &= tags.classifier_tags.multi_label
        if classifier.multi_class and not tags.classifier_tags.multi_class:
            classifier.multi_class = False
            with expect_error(ValueError, "binary", doing="three classes"):
                prepared(inspector).fit(X, np.arange(N_ROWS) % 3)
    assert tags.estimator_type == expected.estimator_type
    assert tags.target_tags == expected.target_tags
    assert tags.input_tags == expected.input_tags
    assert tags.classifier_tags == expected.classifier_tags
    assert tags.regressor_tags == expected.regressor_tags


def check_model_sees_array(inspector: Any) -> None:
    """A model fitted on an array is called with arrays of the same dtype."""
    X = numeric_table().astype(np.float32)
    _results_of_recorder(inspector, X, recorder_for(inspector))


def check_model_sees_frames(inspector: Any) -> None:
    """A model fitted on a frame is called with frames like it, which is not changed.

    They have the same columns in the same order, of the same dtypes and categories.
    """
    _results_on_pandas(inspector, recorder_for(inspector))


def check_polars_equals_pandas(inspector: Any) -> None:
    """A model fitted on a polars frame sees polars; results are those of pandas."""
    recorder = recorder_for(inspector)
    polars = mixed_frame("polars", inspector)
    of_polars = _results_of_recorder(inspector, polars, recorder)
    assert_same(of_polars, _results_on_pandas(inspector, recorder))


def check_dates_are_days(inspector: Any) -> None:
    """A column of dates gives the results of its days; the model sees dates.

    An inspector may refuse dates by an error that names the column and gives advice.
    Not checked of inspectors that read some models only, since the pipeline that they
    are checked with takes no dates, nor of those that take numbers only.
    """
    recorder = recorder_for(inspector)
    takes_no_dates = isinstance(recorder, RecordingPipeline)
    if takes_no_dates or getattr(inspector, "_takes_numbers_only", False):
        return
    inspector = prepared(inspector, bounds=None)  # bounds in numbers are no dates
    of_dates, of_days = frames_of_dates_and_days()
    try:
        results = _results_of_recorder(inspector, of_dates, recorder)
    except ValueError as refusal:
        if not all(text in str(refusal) for text in ("'count'", "turn it into num")):
            raise
        return
    expected = _results_of_recorder(inspector, of_days, recorder)
    for name in ("feature_importances_", *BY_ROW):
        assert_same(results.get(name), expected.get(name), rtol=1e-7)


def _results_on_pandas(inspector: Any, recorder: Any) -> dict[str, Any]:
    """Results around a recording model fitted on a frame, which is not changed."""
    X = mixed_frame("pandas", inspector)
    before = X.copy(deep=True)
    results = _results_of_recorder(inspector, X, recorder)
    optional("pandas.testing").assert_frame_equal(X, before)
    return results


def _results_of_recorder(inspector: Any, X: Any, recorder: Any) -> dict[str, Any]:
    """Results around a recording model, which must see rows like those of its `fit`."""
    model = clone(recorder).fit(X, target_for(inspector))
    inspector = prepared(inspector, estimator=FrozenEstimator(model))
    results = all_results(inspector.fit(X, target_for(inspector)), X[FEW_ROWS])
    fitted_on, *called_with = model.seen_
    assert called_with, "the model was never called"
    for seen in called_with:
        assert seen == fitted_on, f"fitted on {fitted_on}, called with {seen}"
    return results

"""What is checked of rows and weights, and which rows an inspection averages over."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import sklearn_interpret
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.sample import draw_rows
from sklearn_interpret._model.rows.validation import check_rows, check_weights
from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.exceptions import (
    ConstantFeatureWarning,
    ExtrapolationWarning,
    LowFidelityWarning,
    UnseenCategoryWarning,
)
from sklearn_interpret.linear import CoefficientInference, SparseLinearClassifier
from sklearn_interpret.surrogates import LimeTabular
from tests.speeds import examples


@pytest.mark.parametrize("subsample", [None, 10, 11, 1.0, np.int64(500)])
def test_all_rows_are_kept_unless_fewer_are_asked(subsample):
    assert_array_equal(draw_rows(10, subsample), np.arange(10))


@pytest.mark.parametrize(
    "subsample, size", [(3, 3), (1, 1), (0.25, 25), (0.001, 1), (np.float32(0.5), 50)]
)
def test_a_draw_has_its_size_and_no_row_twice(subsample, size):
    drawn = draw_rows(100, subsample, random_state=0)
    assert len(drawn) == size
    assert np.all(np.diff(drawn) > 0)
    assert 0 <= drawn.min() <= drawn.max() < 100


def test_the_draw_follows_the_random_state():
    first, again = (draw_rows(1000, 20, random_state=3) for _ in range(2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, draw_rows(1000, 20, random_state=4))
    shared = np.random.RandomState(3)
    assert_array_equal(draw_rows(1000, 20, random_state=shared), first)
    assert not np.array_equal(draw_rows(1000, 20, random_state=shared), first)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"]])
def test_classes_keep_their_shares(labels):
    classes = np.repeat(labels, [600, 300, 100])
    drawn = draw_rows(1000, 50, stratify=classes, random_state=0)
    counts = [(classes[drawn] == label).sum() for label in labels]
    assert counts == [30, 15, 5]


def test_rare_classes_are_not_required():
    """One row of a class, or more classes than rows to draw: no error."""
    classes = np.array([0] * 99 + [1])
    assert len(draw_rows(100, 10, stratify=classes, random_state=0)) == 10
    assert len(draw_rows(100, 5, stratify=np.arange(100), random_state=0)) == 5


@pytest.mark.parametrize("extreme", [1e300, 1e-300])
def test_weights_whose_products_leave_the_numbers_are_refused(extreme):
    rows = as_rows(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="sample_weight holds weights up to"):
        check_weights(np.array([0, 1, 2]) * extreme, rows)


@given(scale=st.floats(1e-90, 1e90))
def test_weights_of_other_scales_are_taken(scale):
    weights = np.array([0.0, 1.0, 2.0]) * scale
    assert_array_equal(check_weights(weights, as_rows(np.ones((3, 1)))), weights)


def test_names_that_are_no_text_are_refused():
    names = pd.Index(["a", "b\ud800"], dtype=object)
    X = pd.DataFrame(np.zeros((3, 2)), columns=names)
    with pytest.raises(
        ValueError, match=r"column name 'b\\ud800', which is not Unicode"
    ):
        check_rows(LinearRegression(), X, reset=True)


@pytest.mark.parametrize("weights", [["1"] * 3, np.array([1, b"2", 3], dtype=object)])
def test_weights_are_no_texts(weights):
    with pytest.raises(TypeError, match=r"sample_weight has b?'[12]'; weights are num"):
        check_weights(weights, as_rows(np.ones((3, 1))))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_are_named(missing):
    """By all that takes labels: what wraps a model, and what is one."""
    X, y = np.arange(8.0).reshape(4, 2), np.array(["a", "b", missing, "a"], object)
    for estimator in (
        CoefficientInference(LogisticRegression(C=np.inf)),
        SparseLinearClassifier(),
        GAMClassifier(),
    ):
        for labels in (y, pd.Series(y)):
            with pytest.raises(ValueError, match=r"missing label .* in row 2: leave"):
                estimator.fit(X, labels)


# The model itself overflows, before its numbers are looked at.
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@examples(10)
@given(st.floats(-300, 300))
@example(-200.0)
@example(155.0)
def test_columns_of_any_scale(power):
    """A fit as in another unit, or an error that names the column."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    scaled = X * [1, 10**power]
    own = GAMRegressor(smoothing=1.0), GAMClassifier(smoothing=1.0)
    for estimator, target in zip(own, (y, y > 0), strict=True):
        if abs(power) < 270:
            expected = estimator.fit(X, target).predict(X)
            found = estimator.fit(scaled, target).predict(scaled)
            assert_allclose(found, expected, rtol=1e-6)
    if not -61 < power < 60:
        estimator = CoefficientInference(LinearRegression())
        with pytest.raises(ValueError, match="Column 'x1' of X has numbers up to"):
            estimator.fit(scaled, y > 0)
        with pytest.raises(ValueError, match="y has numbers up to"):
            estimator.fit(X, scaled[:, 1])


def test_warnings_point_at_the_call():
    """In `fit`, `transform` (with `set_output`), `explain` and `predict`."""
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.zeros(20)})
    y = X["a"] ** 2
    model = FrozenEstimator(DecisionTreeRegressor().fit(X, y))
    effect = PartialDependence(model, categorical_features=["b"])
    gam, lime = GAMRegressor(), LimeTabular(model, min_fidelity=0.999)
    effect.set_output(transform="pandas")
    for expected, call in {
        ConstantFeatureWarning: lambda: effect.fit(X, y),
        UnseenCategoryWarning: lambda: effect.transform(X + 1),
        ExtrapolationWarning: lambda: gam.fit(X[["a"]], y).predict(X[["a"]] + 30),
        LowFidelityWarning: lambda: lime.fit(X).explain(X),
    }.items():
        with pytest.warns(expected) as record:
            call()
        assert {warning.filename for warning in record} == {__file__}


def test_one_function_warns():
    """It finds the line; a fixed `stacklevel` is wrong as soon as a frame is added."""
    package = Path(sklearn_interpret.__file__).parent
    found = {p.name for p in package.rglob("*.py") if "stacklevel" in p.read_text()}
    assert found == {"_sklearn_compat.py", "__init__.py"}  # the latter of checks

"""GAMClassifier: odds, several classes, classes that are separated."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from sklearn_interpret.exceptions import InspectionWarning, SeparationWarning
from sklearn_interpret.shapley import ShapleyWaterfallDisplay
from tests.references.additive import b_splines, penalty_roots
from tests.speeds import examples


def table(n_rows=200, seed=0):
    """One feature of few values, and classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(40, size=(n_rows, 1)) / 39
    X[:2] = [[0], [1]]
    return X, rng.random(n_rows) < expit(2 * np.sin(2 * np.pi * X[:, 0]))


X, Y = table()


def test_the_penalised_likelihood_is_greatest():
    model = GAMClassifier(n_splines=7).fit(X, Y)
    design = np.column_stack([np.ones(len(X)), b_splines(X[:, 0], 7)])
    roots = penalty_roots(7, model.smoothing_, True)

    def loss(b):
        scores = design @ b
        value = 2 * (np.logaddexp(0, scores) - Y * scores).sum()
        slopes = 2 * design.T @ (expit(scores) - Y)
        slopes[1:] += 2 * roots.T @ (roots @ b[1:])
        return value + np.sum((roots @ b[1:]) ** 2), slopes

    found = minimize(loss, np.zeros(8), jac=True, options={"gtol": 1e-9})
    assert_allclose(model.decision_function(X), design @ found.x, atol=1e-4)


def test_straight_lines_are_logistic_regression():
    model = GAMClassifier(terms={0: "linear"}, shrinkage=False).fit(X, Y)
    expected = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000).fit(X, Y)
    assert_allclose(
        model.decision_function(X), expected.decision_function(X), rtol=1e-4
    )
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), 1e-4)


def test_is_the_binomial_regressor():
    classes = np.where(Y, "yes", "no")
    model = GAMClassifier().fit(X, classes)
    shares = GAMRegressor(family="binomial").fit(X, Y)
    assert_allclose(model.predict_proba(X)[:, 1], shares.predict(X))
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.predict(X), np.where(shares.predict(X) > 0.5, "yes", "no"))
    residuals = model.partial_residuals(X, classes) - model.transform(X)
    p = shares.predict(X)
    assert_allclose(residuals[:, 0], (Y - p) / (p * (1 - p)))


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(SeparationWarning, match="separate classes without error.*: 'x"):
        model = GAMClassifier(n_splines=8).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.effective_dof_.shape == model.pvalues_.shape == (3, 4)
    assert model.intercept_.shape == model.reml_.shape == (3,)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    effects = model.transform(X).reshape(len(X), 3, 4)
    assert_allclose(effects.sum(axis=2) + model.intercept_, model.decision_function(X))
    names = model.get_feature_names_out()
    assert names[[0, 5]].tolist() == ["x0_0", "x1_1"]
    assert model.partial_effect(0)[1].shape == (100, 3)
    alone = GAMClassifier(n_splines=8).fit(X, y == 1)
    assert_allclose(model.decision_function(X)[:, 1], alone.decision_function(X))


def test_classes_that_are_told_apart_without_error():
    X = np.linspace(-1, 1, 60)[:, None]
    three = np.digitize(X[:, 0], [-0.4, 0.4])
    levels = np.array(["a", "b", "c"], dtype=object)[three][:, None]
    for rows, y in ((X, X[:, 0] > 0), (X, three), (levels, three > 0)):
        with pytest.warns(SeparationWarning, match="classes without error.*: 'x0'"):
            model = GAMClassifier().fit(rows, y)
        assert np.abs(model.decision_function(rows)).max() < 1000
        assert model.score(rows, y) == 1
        assert np.max(model.pvalues_) < 1e-4


@examples(8)
@given(st.integers(0, 10**6), st.sampled_from([30, 100]), st.sampled_from([0, 1]))
@example(4, 100, 0)
def test_no_fit_of_separable_classes_ends_at_the_intercept(seed, n_rows, digits):
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    X = X.round(digits) if digits else X
    y = X[:, 0] > 0
    with pytest.warns(SeparationWarning):
        model = GAMClassifier(n_splines=10).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.pvalues_[0] < 1e-3


@pytest.mark.parametrize("slope", [10, 30, 1000])
def test_pvalues_do_not_grow_with_the_effect(slope):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = rng.random(400) < expit(slope * X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        model = GAMClassifier().fit(X, y)
    assert model.pvalues_[0] < 1e-30
    assert model.pvalues_[1] > 0.05


@pytest.mark.thorough
def test_smoothing_parameters_do_not_go_round_in_circles():
    """No warning of convergence for few rows of many functions."""
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(20, 3))
        y = X[:, 0].astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)
            model = GAMClassifier().fit(X, y)
            assert model.n_iter_ <= 25
            if seed == 2:
                # What was chosen is kept: of the first class in the second choice.
                warnings.simplefilter("ignore", ConvergenceWarning)
                first, last = (
                    GAMClassifier(max_iter=n).fit(X, y).smoothing_ for n in (2, 20)
                )
                assert_allclose(model.smoothing_[0], first[0], rtol=0.05)
                assert_allclose(model.smoothing_, last, rtol=0.05)


@pytest.mark.parametrize("estimator", [GAMClassifier(), GAMRegressor(family="poisson")])
def test_weights_of_any_size(estimator):
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(60, 3)), 10 ** rng.uniform(-12, 12, 60)
    y = rng.poisson(np.exp(X[:, 0]))
    y = y > 1 if isinstance(estimator, GAMClassifier) else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InspectionWarning)
        model = clone(estimator).set_params(n_splines=8).fit(X, y, weights)
    assert np.isfinite(model.covariance_).all()
    assert model.deviance_explained_ > 0.5


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class only, 'a'"):
        GAMClassifier().fit([[0], [1], [2]], ["a", "a", "b"], sample_weight=[1, 1, 0])


def test_the_last_iteration_is_warned_of():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        GAMClassifier(max_iter=1).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"], "inconsistent numbers of samples"),
        (["a", "?", "b"], "'\\?', which"),
    ],
)
def test_residuals_of_other_targets_are_refused(y, message):
    X = np.arange(30.0)[:, None]
    model = GAMClassifier(n_splines=4).fit(X, np.tile(["a", "b"], 15))
    with pytest.raises(ValueError, match=message):
        model.partial_residuals(X[:3], y)


def test_terms_are_explained():
    """Of all classes; the terms and what they start from sum to the log-odds."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "exposure"])
    y = np.array(["u", "v", "w"])[np.digitize(X["a"] + rng.normal(size=90), [-1, 1])]
    terms = {"a": "spline", ("a", "b"): "tensor"}
    model = GAMClassifier(terms=terms, offset="exposure", smoothing=3.0).fit(X, y)
    explanation = model.explain(X[:5])
    assert explanation.values.shape == (5, 2, 3)
    assert explanation.columns == ((0,), (0, 1))
    assert explanation.feature_names == ("a", "a:b")
    assert list(explanation.output_names) == ["u", "v", "w"]
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)
    assert_allclose(explanation.predictions, model.decision_function(X[:5]))
    starts = X["exposure"].to_numpy()[:5, None] + model.intercept_
    assert_allclose(explanation.base_values, starts)
    two = GAMClassifier(terms=["a"], smoothing=3.0).fit(X, y == "w")
    explanation = two.explain(X[:5])
    assert explanation.values.shape == (5, 1)
    assert (list(explanation.output_names), explanation.response_name) == (
        [True],
        "log-odds",
    )
    ShapleyWaterfallDisplay.from_explanation(explanation[0])

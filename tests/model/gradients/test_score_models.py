"""Models without a row equal those that are fitted without it."""

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC

from sklearn_interpret._model.gradients.objectives import (
    read_objective,
    score_model_at_optimum,
)
from sklearn_interpret.exceptions import UnreadableModelError

X, CLASSES = load_iris(return_X_y=True)
X, CLASSES = X[::3], CLASSES[::3]
NUMBERS = X @ [1.0, -0.5, 0.5, 1.0] + 0.5 * np.sin(9 * X[:, 0])
SHARP = {"tol": 1e-12, "max_iter": 100_000}
LASSO = {"l1_ratio": 1, "solver": "saga", "tol": 1}
if LogisticRegression().penalty == "l2":  # until scikit-learn 1.7
    LASSO["penalty"] = "elasticnet"

MODELS = [
    (LinearRegression(), NUMBERS),
    (LinearRegression(fit_intercept=False), NUMBERS),
    (Ridge(), np.c_[NUMBERS, X[:, 0] ** 2]),
    (Ridge(alpha=np.array([1.0, 3.0])), np.c_[NUMBERS, X[:, 0] ** 2]),
    (RidgeClassifier(class_weight={0: 1, 1: 2, 2: 3}), CLASSES),
    (LogisticRegression(**SHARP), CLASSES),
    (LogisticRegression(class_weight={0: 1, 1: 2, 2: 3}, **SHARP), CLASSES),
    (LogisticRegression(C=3.0, **SHARP), CLASSES == 1),
    (
        LogisticRegression(solver="liblinear", intercept_scaling=2.0, **SHARP),
        CLASSES == 1,
    ),
    (LinearSVC(C=0.1, **SHARP), CLASSES),
    (LinearSVC(C=0.1, intercept_scaling=3.0, **SHARP), CLASSES == 2),
    (PoissonRegressor(**SHARP), NUMBERS),
    (PoissonRegressor(alpha=0.0, **SHARP), NUMBERS),
    (GammaRegressor(alpha=0.1, **SHARP), NUMBERS),
    (TweedieRegressor(power=1.5, alpha=0.1, **SHARP), NUMBERS),
    (make_pipeline(PolynomialFeatures(2), Ridge()), NUMBERS),
]


@pytest.mark.thorough(after=6)
@pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda part: str(part)[:70])
def test_without_rows(model, y):
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    last = model[-1] if hasattr(model, "steps") else model
    name = (
        f"{model.steps[-1][0]}__sample_weight" if last is not model else "sample_weight"
    )
    model = clone(model).fit(X, y, **{name: weights})
    scores = score_model_at_optimum(model, X, y, weights)
    left_out = np.arange(0, len(X), 9)
    found, converged = scores.without(left_out[:, None])
    assert converged.all()
    for row, parameters in zip(range(0, len(X), 9), found, strict=True):
        kept = np.arange(len(X)) != row
        refit = clone(model).fit(X[kept], y[kept], **{name: weights[kept]})
        expected = score_model_at_optimum(refit, X[kept], y[kept], weights[kept])
        assert_allclose(parameters, expected.parameters, rtol=1e-6, atol=1e-7)
        last = refit[-1] if hasattr(refit, "steps") else refit
        own = np.atleast_2d(last.coef_).T
        assert_allclose(expected.parameters[: len(own)], own, rtol=0, atol=1e-4)


@pytest.mark.parametrize("y", [CLASSES, CLASSES > 0])
@pytest.mark.parametrize("kind", [LogisticRegression, RidgeClassifier, LinearSVC])
def test_balanced_classes_of_weighted_rows(kind, y):
    if kind is LinearSVC:
        y = y > 0  # of more classes it weighs one side of each boundary alone
    weights = np.random.default_rng(0).integers(1, 4, len(X)) ** 2.0
    how = {} if kind is RidgeClassifier else SHARP
    model = kind(class_weight="balanced", **how).fit(X, y, sample_weight=weights)
    found = score_model_at_optimum(model, X, y, weights).parameters
    assert_allclose(found[:-1], np.atleast_2d(model.coef_).T, rtol=0, atol=1e-4)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 3, 2: 2}])
def test_weights_of_each_class_against_the_rest(class_weight):
    model = LinearSVC(class_weight=class_weight, C=0.1, **SHARP).fit(X, CLASSES)
    with pytest.raises(UnreadableModelError, match="class_weight"):
        score_model_at_optimum(model, X, CLASSES, np.ones(len(X)))


NEW = "use_legacy_attributes" in signature(LogisticRegressionCV).parameters


def cross_validated(ratio):
    how = {"use_legacy_attributes": False} if NEW else {"penalty": "elasticnet"}
    how |= {"solver": "saga", "scoring": "neg_log_loss", "max_iter": 100_000}
    return LogisticRegressionCV(Cs=[1.0, 3.0], cv=2, l1_ratios=(ratio,), **how)


def test_strengths_found_by_cross_validation():
    model = cross_validated(0.0)
    if not NEW:
        model.set_params(penalty="l2", l1_ratios=None)
    model.fit(X, CLASSES)
    expected = LogisticRegression(C=float(np.ravel(model.C_)[0]), **SHARP)
    expected.fit(X, CLASSES)
    found = score_model_at_optimum(model, X, CLASSES, np.ones(len(X))).parameters
    assert_allclose(found[:-1], expected.coef_.T, rtol=0, atol=1e-4)
    model = cross_validated(1.0).set_params(tol=0.1).fit(X, CLASSES)
    with pytest.raises(UnreadableModelError, match="sum of squares"):
        score_model_at_optimum(model, X, CLASSES, np.ones(len(X)))


def one_against_the_rest():
    """A model as older versions of scikit-learn fit it."""
    model = LogisticRegression(**SHARP).fit(X, CLASSES)
    model.solver = "liblinear"
    for place, own in enumerate(np.arange(3)[:, None] == CLASSES):
        one = LogisticRegression(solver="liblinear", **SHARP).fit(X, own)
        model.coef_[place], model.intercept_[place] = one.coef_[0], one.intercept_[0]
    return model


def test_one_against_the_rest_is_no_softmax():
    model = one_against_the_rest()
    found = score_model_at_optimum(model, X, CLASSES, np.ones(len(X))).parameters
    assert_allclose(found[:-1], model.coef_.T, rtol=0, atol=1e-4)
    objective = read_objective(model)
    found = objective.probabilities(objective.activations(X)[-1])
    shares = 1 / (1 + np.exp(-model.decision_function(X)))
    assert_allclose(found, shares / shares.sum(axis=1, keepdims=True))
    other = LogisticRegression(**SHARP).fit(X, CLASSES == 1)
    other.multi_class = "multinomial"  # of older versions, too
    with pytest.raises(UnreadableModelError, match="multinomial"):
        read_objective(other)


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier((2,), solver="lbfgs", alpha=1.0, max_iter=5000),
        LogisticRegression(**LASSO),
    ],
    ids=str,
)
def test_other_models(model):
    with pytest.raises(UnreadableModelError):
        score_model_at_optimum(model.fit(X, CLASSES), X, CLASSES, np.ones(len(X)))


def test_bounded_coefficients():
    """Where they are zero, the objective is not the smallest."""
    model = Ridge(positive=True).fit(X, -NUMBERS)
    with pytest.raises(UnreadableModelError, match="positive=True"):
        score_model_at_optimum(model, X, -NUMBERS, np.ones(len(X)))

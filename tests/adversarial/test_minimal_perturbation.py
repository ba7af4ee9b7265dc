"""Smallest perturbations against closed forms, programs, and L-BFGS-B."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sklearn_interpret._model.gradients.models import read_scores
from sklearn_interpret.adversarial import MinimalPerturbation
from sklearn_interpret.exceptions import NoCounterfactualWarning, UnreadableModelError
from tests.speeds import examples

ORDERS = {"inf": np.inf, "2": 2, "1": 1}
DUALS = {"inf": 1, "2": 2, "1": np.inf}
ANYWHERE = (-np.inf, np.inf)
every_norm = pytest.mark.parametrize("norm", ORDERS)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y, LogisticRegression(max_iter=1000).fit(X, y)


def attacked(model, X, rows, **arguments):
    """The explanation of some rows, by an attack in raw units."""
    attack = MinimalPerturbation(FrozenEstimator(model), units="raw", **arguments)
    return attack.fit(X).explain(rows)


def check_rows(explanation, model, rows, norm):
    """Rows are as far as they say, and answered otherwise."""
    assert explanation.valid.all()
    moved = np.linalg.norm(explanation.rows - rows, ORDERS[norm], axis=1)
    assert_allclose(explanation.distances, moved)
    assert (model.predict(explanation.rows) != model.predict(rows)).all()


@every_norm
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(max_iter=1000), LinearSVC(), RidgeClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_linear_models_without_bounds(iris, norm, estimator):
    """|f_k - f_y| / ||w_k - w_y||, in the dual norm."""
    X, y, _ = iris
    model, rows = estimator.fit(X, y), X[::7]
    found = attacked(model, X, rows, norm=norm, bounds=ANYWHERE)
    check_rows(found, model, rows, norm)
    scores, own = model.decision_function(rows), model.predict(rows)
    with np.errstate(invalid="ignore"):
        expected = [
            [
                (of_row[k] - of_row).take(j)
                / np.linalg.norm(model.coef_[k] - model.coef_[j], DUALS[norm])
                for j in range(3)
                if j != k
            ]
            for of_row, k in zip(scores, own, strict=True)
        ]
    assert_allclose(found.distances, np.min(expected, axis=1), rtol=1e-8)
    assert_allclose(found.lower_bounds, found.distances, rtol=1e-8)
    assert (found.lower_bounds <= found.distances).all()


def nearest_euclidean(model, row, target, low, high):
    """Distance to the nearest row of a class of a linear model, by a program."""
    weights = np.delete(model.coef_[target] - model.coef_, target, axis=0)
    ends = np.delete(model.intercept_[target] - model.intercept_, target)
    found = minimize(
        lambda x: (x - row) @ (x - row),
        (low + high) / 2,
        jac=lambda x: 2 * (x - row),
        bounds=list(zip(low, high, strict=True)),
        constraints={
            "type": "ineq",
            "fun": lambda x: weights @ x + ends,
            "jac": lambda x: weights,
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert (weights @ found.x + ends).min() > -1e-6
    return np.sqrt(found.fun)


@pytest.mark.parametrize("target", [0, 1, 2])
def test_a_class_among_several(iris, target):
    X, _, model = iris
    rows = X[::12]
    low, high = X.min(axis=0), X.max(axis=0)
    found = attacked(model, X, rows, target=target)
    assert found.valid.all()
    assert (model.predict(found.rows) == target).all()
    away = model.predict(rows) != target
    expected = [nearest_euclidean(model, row, target, low, high) for row in rows[away]]
    assert_allclose(found.distances[away], expected, rtol=1e-4)
    assert (found.distances[~away] == 0).all()


@pytest.mark.thorough(after=1)
@every_norm
@given(seed=st.integers(0, 10_000))
@examples(15)
def test_no_row_is_nearer(norm, seed):
    """Random rows within the bound of each are answered as before."""
    rng = np.random.default_rng(seed)
    X, y = make_classification(
        60,
        4,
        n_informative=3,
        n_redundant=0,
        n_classes=3,
        random_state=seed,
        n_clusters_per_class=1,
    )
    model = LogisticRegression(max_iter=1000).fit(X, y)
    target = rng.choice([None, 0, 1])
    found = attacked(model, X, X[:5], norm=norm, target=target)
    for row, bound, unchanged in zip(
        X[:5], found.lower_bounds, found.status == "unchanged", strict=True
    ):
        if unchanged:
            continue
        steps = rng.laplace(size=(200, 4)) * rng.integers(0, 2, (200, 4))
        norms = np.linalg.norm(steps, ORDERS[norm], axis=1, keepdims=True)
        steps *= min(bound, 1e6) * 0.999 / np.maximum(norms, 1e-9)
        near = np.clip(row + steps, X.min(axis=0), X.max(axis=0))
        answers = model.predict(near)
        own = model.predict([row])[0]
        assert ((answers == own) if target is None else (answers != target)).all()


@every_norm
@pytest.mark.parametrize("target", [None, 2])
def test_whole_numbers(norm, target):
    """All rows of whole numbers, one by one, are the reference."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (80, 3))
    y = (X @ [1, 2, -1] > 5).astype(int) + (X[:, 0] > 3)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    rows = X[:15]
    found = attacked(model, X, rows, norm=norm, target=target)
    every = np.array(list(product(range(6), repeat=3)))
    answers, own = model.predict(every), model.predict(rows)
    assert found.rows.dtype == X.dtype
    assert found.valid.all()
    best = []
    for row, of_row in zip(rows, own, strict=True):
        wanted = answers != of_row if target is None else answers == target
        moves = every[wanted] - row
        best.append(np.linalg.norm(moves, ORDERS[norm], axis=1).min())
    assert (found.lower_bounds <= np.array(best) + 1e-9).all()
    assert (found.distances >= np.array(best) - 1e-9).all()
    assert found.distances.mean() <= 1.1 * np.mean(best)


def by_penalty(model, row, own, low, high):
    """Distance by L-BFGS-B: c ||x - row||^2 and a loss (Szegedy et al. 2014)."""
    scores = read_scores(model)
    n_classes, nearest = len(model.classes_), np.inf
    for rival in set(range(n_classes)) - {own}:
        weights = scores.differences(np.array([rival]), np.array([own]), n_classes)

        def value(x, c, weights=weights):
            margin = (scores.function(x[None]) @ weights[0])[0]
            slopes = scores.function.vjp(x[None], weights)[0] * (margin < 1e-6)
            step = x - row
            return c * step @ step + max(1e-6 - margin, 0), 2 * c * step - slopes

        small, large = 1e-5, 1e2
        for _ in range(10):
            c = np.sqrt(small * large)
            ends = list(zip(low, high, strict=True))
            x = minimize(value, row, (c,), jac=True, bounds=ends).x
            if (scores.function(x[None]) @ weights[0])[0] >= 0:
                nearest, small = min(nearest, np.linalg.norm(x - row)), c
            else:
                large = c
    return nearest


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier(20, solver="lbfgs", max_iter=2000, alpha=0.1, random_state=0),
        make_pipeline(
            StandardScaler(),
            MLPClassifier(20, solver="lbfgs", max_iter=2000, alpha=0.1, random_state=0),
        ),
        SVC(C=10),
    ],
    ids=["network", "scaled", "vectors"],
)
def test_smooth_models_against_penalties(iris, estimator):
    X, y, _ = iris
    X, y = X[50:], y[50:]
    model, rows = estimator.fit(X, y), X[::60]
    found = attacked(model, X, rows)
    check_rows(found, model, rows, "2")
    assert found.lower_bounds is None
    low, high = X.min(axis=0), X.max(axis=0)
    own = np.searchsorted(model.classes_, model.predict(rows))
    expected = [
        by_penalty(model, *each, low, high) for each in zip(rows, own, strict=True)
    ]
    assert found.distances.mean() <= 1.005 * np.mean(expected)


@pytest.fixture(scope="module")
def linear_twins(iris):
    """A network without bends, and the linear model of the same scores."""
    X, y, _ = iris
    network = MLPClassifier(
        hidden_layer_sizes=3, activation="identity", max_iter=3000, random_state=0
    )
    network.fit(X, y)
    linear = LogisticRegression(max_iter=1000).fit(X, y)
    linear.coef_ = (network.coefs_[0] @ network.coefs_[1]).T
    linear.intercept_ = network.intercepts_[0] @ network.coefs_[1]
    linear.intercept_ += network.intercepts_[1]
    return network, linear


@every_norm
@pytest.mark.parametrize("target", [None, 1])
def test_smooth_search_of_a_linear_model_is_exact(iris, linear_twins, norm, target):
    X, _, _ = iris
    network, linear = linear_twins
    rows = X[::50]
    found = attacked(network, X, rows, norm=norm, target=target)
    exact = attacked(linear, X, rows, norm=norm, target=target)
    assert_allclose(found.distances, exact.distances, rtol=1e-4)


@every_norm
@pytest.mark.parametrize("desired", [(90, None), (None, -90), (20, 30)])
@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        MLPRegressor(
            hidden_layer_sizes=10, max_iter=2000, solver="lbfgs", random_state=0
        ),
    ],
    ids=["linear", "network"],
)
def test_intervals_of_regressors(norm, desired, model):
    X, y = make_regression(80, 3, n_informative=3, random_state=0)
    model.fit(X, y)
    found = attacked(model, X, X[:10], norm=norm, desired=desired, bounds=ANYWHERE)
    assert found.valid.all()
    low, high = (
        np.inf * sign if end is None else end
        for end, sign in zip(desired, (-1, 1), strict=True)
    )
    predictions = model.predict(X[:10])
    missing = np.maximum(low - predictions, predictions - high)
    away = missing > 0
    assert (found.distances[~away] == 0).all()
    if isinstance(model, LinearRegression):
        expected = missing[away] / np.linalg.norm(model.coef_, DUALS[norm])
        assert_allclose(found.distances[away], expected, rtol=1e-8)


def test_predictions_that_are_exponentials():
    X, _ = make_regression(80, 3, random_state=0)
    model = PoissonRegressor().fit(X, np.exp(X @ [1, 0.5, -1] / 2))
    found = attacked(model, X, X[:10], desired=(2.0, None), bounds=ANYWHERE)
    needs = np.maximum(np.log(2) - np.log(model.predict(X[:10])), 0)
    expected = needs / np.linalg.norm(model.coef_)
    assert_allclose(found.distances, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_answers_hold_among_other_rows(iris, dtype):
    X, y, _ = iris
    X = X.astype(dtype)
    for estimator in (
        LogisticRegression(max_iter=1000),
        MLPClassifier(max_iter=2000, random_state=0),
    ):
        model = estimator.fit(X, y)
        found = attacked(model, X, X)
        assert found.rows.dtype == dtype
        own = model.predict(X)
        assert (model.predict(found.rows) != own).all()
        one_by_one = [model.predict(row[None])[0] for row in found.rows]
        assert (one_by_one != own).all()


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=1000),
        MLPClassifier(hidden_layer_sizes=5, max_iter=2000, random_state=0),
    ],
)
def test_one_feature(model):
    X = np.linspace(-2, 2, 40)[:, None]
    attack = MinimalPerturbation(model, units="raw").fit(X, X[:, 0] > 0.5)
    found = attack.explain(X)
    assert found.valid.all()
    (low,) = X[attack.predict(X)].min(axis=0)
    assert (np.abs(found.rows - low) <= 4 / 39 + 1e-9).all()


def test_nothing_can_be_done(iris, linear_twins):
    X, _, model = iris
    bounds = {j: (X[0, j], X[0, j] + 0.01) for j in range(4)}
    with pytest.warns(NoCounterfactualWarning, match="nothing was found for 1 of 1"):
        found = attacked(model, X, X[:1], bounds=bounds)
    assert found.status[0] == "impossible"
    assert found.lower_bounds[0] == np.inf
    with pytest.warns(NoCounterfactualWarning, match="nothing was found for 1 of 1"):
        found = attacked(linear_twins[0], X, X[:1], bounds=bounds)
    assert found.status[0] == "failed"


@pytest.mark.parametrize(
    "last",
    [
        LogisticRegression(),
        MLPClassifier(5, solver="lbfgs", alpha=1, max_iter=5000, random_state=0),
    ],
)
def test_missing_values_stay(last):
    numbers = np.random.default_rng(0).normal(size=(100, 2))
    X = pd.DataFrame(numbers, columns=["a", "b"])
    y = np.digitize(numbers.sum(axis=1), [-1, 1])
    X.iloc[::5, 0] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), last).fit(X, y)
    found = attacked(model, X, X[:10])
    assert_array_equal(found.rows.a.isna(), X[:10].a.isna())
    assert found.valid.all()


def test_how_rows_are_found(iris):
    X, y, model = iris
    assert MinimalPerturbation(clone(model)).fit(X, y).method_ == "linear"
    assert MinimalPerturbation(SVC()).fit(X, y).method_ == "gradient"
    # Of several classes its pairs vote: no class has one linear score.
    linear_kernel = MinimalPerturbation(SVC(kernel="linear"))
    assert linear_kernel.fit(X, y).method_ == "gradient"
    assert linear_kernel.fit(X[:100], y[:100]).method_ == "linear"
    with pytest.raises(UnreadableModelError, match="HopSkipJump"):
        MinimalPerturbation(KNeighborsClassifier()).fit(X, y)

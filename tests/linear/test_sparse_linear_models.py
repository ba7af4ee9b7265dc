"""Sparse linear models against glmnet, scikit-learn and what they promise."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.exceptions import SkippedSizeWarning
from sklearn_interpret.linear import SparseLinearClassifier, SparseLinearRegressor

DIABETES = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)

# The first penalties of R's glmnet 4.1-6 at which each feature has a weight, of
#   glmnet(x, y, family, lambda = <6000 (gaussian), 3000, 2000, 2000 values, evenly in
#          log, down to 1e-3 (gaussian) or 1e-2 of the largest>, thresh = 1e-13)
GLMNET = {
    "diabetes": (
        SparseLinearRegressor,
        DIABETES,
        [2, 8, 3, 6, 1, 9, 4, 7, 5, 0],
        [45.108, 42.291, 21.538, 15.020, 6.1888, 4.2226, 3.2777, 0.94946, 0.26024],
    ),
    "cancer": (
        SparseLinearClassifier,
        CANCER,
        [27, 22, 20, 7, 21, 28, 24, 10, 26, 1, 19, 15, 9, 14],
        [0.38309, 0.35533, 0.23690, 0.12110, 0.10259, 0.041653, 0.034168, 0.029895],
    ),
    "iris": (
        SparseLinearClassifier,
        IRIS,
        [2, 3, 1, 0],
        [0.43500, 0.29539, 0.15932, 0.0089463],
    ),
    "wine": (
        SparseLinearClassifier,
        WINE,
        [12, 11, 0, 9, 10, 6, 2, 3, 1, 7],
        [0.38840, 0.34774, 0.33516, 0.29732, 0.26436, 0.24388, 0.094184, 0.064105],
    ),
}


@pytest.mark.parametrize("name", GLMNET)
def test_features_enter_in_the_order_of_glmnet(name):
    model, (X, y), order, penalties = GLMNET[name]
    fitted = model().fit(X, y)
    assert fitted.entry_order_[: len(order)].tolist() == order
    used = np.abs(fitted.coef_path_).reshape(-1, X.shape[1], len(fitted.alphas_)).sum(0)
    # The last point at which a feature has had no weight yet.
    entries = [fitted.alphas_[np.flatnonzero(used[j])[0] - 1] for j in order]
    # A grid of so many values is that much too late.
    found = entries[: len(penalties)]
    assert_allclose(found, penalties, rtol=4e-3)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("model", "data", "largest"),
    [
        (SparseLinearRegressor, DIABETES, 10),
        (SparseLinearClassifier, CANCER, 28),
        (SparseLinearClassifier, IRIS, 4),
        (SparseLinearClassifier, WINE, 11),
    ],
)
def test_exactly_so_many_features(model, data, largest):
    X, y = data
    sizes = range(1, largest + 1)
    for size in sizes if largest < 20 else (*range(1, 12), 19, 28):
        fitted = model(n_features_to_select=size).fit(X, y)
        coefs = np.atleast_2d(fitted.coef_)
        assert np.count_nonzero(coefs.any(axis=0)) == size
        assert fitted.get_support().sum() == size
        assert_array_equal(fitted.coef_path_[..., -1], fitted.coef_)


def test_the_lasso_of_scikit_learn_at_the_same_penalty():
    X, y = DIABETES
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = SparseLinearRegressor(n_features_to_select=6)
    model.fit(X, y, sample_weight=weights)
    X, y = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    lasso = make_pipeline(StandardScaler(), Lasso(model.alpha_, tol=1e-12)).fit(X, y)
    assert_allclose(model.predict(X), lasso.predict(X), rtol=1e-6)


@pytest.mark.parametrize(("data", "size"), [(IRIS, 3), (CANCER, 4)])
def test_logistic_regression_of_scikit_learn_at_the_same_penalty(data, size):
    X, y = data
    model = SparseLinearClassifier(n_features_to_select=size).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        # scikit-learn 1.8 has another name for the penalty.
        warnings.simplefilter("ignore")
        other = LogisticRegression(
            C=1 / (len(y) * model.alpha_),
            penalty="l1",
            solver="saga",
            tol=1e-10,
            max_iter=100_000,
        ).fit(scaled, y)

    def objective(coefs, probabilities):
        return log_loss(y, probabilities) + model.alpha_ * np.abs(coefs).sum()

    own = objective(model.coef_ * model.scale_, model.predict_proba(X))
    assert own <= objective(other.coef_, other.predict_proba(scaled)) + 1e-10
    assert_allclose(model.predict_proba(X), other.predict_proba(scaled), atol=1e-5)


def test_the_end_of_the_path_is_least_squares():
    X, y = DIABETES
    model, squares = SparseLinearRegressor().fit(X, y), LinearRegression().fit(X, y)
    assert model.alpha_ == 0
    assert_allclose(model.coef_, squares.coef_, rtol=1e-7)
    assert_allclose(model.predict(X), squares.predict(X), rtol=1e-9)


def test_probabilities_follow_the_scores():
    X, y = CANCER
    model = SparseLinearClassifier(n_features_to_select=3).fit(X, y)
    scores = model.decision_function(X)
    assert_allclose(scores, X @ model.coef_[0] + model.intercept_[0])
    assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores)))
    assert_array_equal(model.predict(X), (scores > 0).astype(int))
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


@pytest.mark.parametrize("model", [SparseLinearRegressor, SparseLinearClassifier])
def test_a_number_that_the_path_does_not_have_is_said(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + X[:, 1] / 2 + rng.normal(size=40) > 0).astype(int)
    X = np.column_stack([X, X, np.ones(40)])
    with pytest.warns(SkippedSizeWarning, match="exactly n_features_to_select=4 .* 2"):
        fitted = model(n_features_to_select=4).fit(X, y)
    assert fitted.get_support().tolist() == [True, True, False, False, False]
    assert fitted.transform(X).shape == (40, 2)


@pytest.mark.parametrize("model", [SparseLinearRegressor, SparseLinearClassifier])
def test_of_equally_good_features_none_alone(model):
    """Both enter at the same penalty: there is nowhere exactly one feature."""
    X = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]] * 5)
    y = (X > 0).all(axis=1).astype(int)
    y[:4] = 1
    with pytest.warns(SkippedSizeWarning, match="=1 features, and 0"):
        model(n_features_to_select=1).fit(X, y)
    assert model(n_features_to_select=2).fit(X, y).get_support().all()


@pytest.mark.parametrize("X", [[[2.0, 1.0]], [[2.0, 1.0], [2.0, 1.0]]])
def test_nothing_to_learn_from(X):
    with pytest.warns(SkippedSizeWarning, match="=1 features, and 0"):
        model = SparseLinearRegressor(n_features_to_select=1).fit(X, [3.0] * len(X))
    assert model.predict([[7, 7]]) == 3
    assert model.alphas_.tolist() == [0]
    assert model.entry_order_.tolist() == []


def test_one_feature_and_one_class():
    x = np.arange(6.0)[:, None]
    model = SparseLinearRegressor(n_features_to_select=1).fit(x, 2 * x[:, 0] + 1)
    assert_allclose(model.coef_, [2])
    with pytest.raises(ValueError, match=r"two classes .* one class: 'a'"):
        SparseLinearClassifier().fit(x, list("aaaaaa"))
    with pytest.raises(ValueError, match="two classes"):
        SparseLinearClassifier().fit(x, list("aaaaab"), [1, 1, 1, 1, 1, 0])


@pytest.mark.parametrize("model", [SparseLinearRegressor, SparseLinearClassifier])
@pytest.mark.parametrize("size", [0, -1, 1.5, "all", 5])
def test_bad_numbers_of_features(model, size):
    with pytest.raises(ValueError, match="n_features_to_select"):
        model(n_features_to_select=size).fit(*IRIS)


def test_separable_classes_and_more_features_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2000))
    y = np.where(X[:, 5] > 0, "up", "down")
    model = SparseLinearClassifier(n_features_to_select=3).fit(X, y)
    assert model.entry_order_[0] == 5
    assert model.get_support().sum() == 3
    y = X[:, :3].sum(axis=1) + rng.normal(size=30)
    line = SparseLinearRegressor(n_features_to_select=25).fit(X, y)
    assert line.get_support().sum() == 25


def test_units_of_features_and_targets_do_not_matter():
    X, y = DIABETES
    units = np.logspace(-6, 6, 10)
    one = SparseLinearRegressor(n_features_to_select=4).fit(X, y)
    other = SparseLinearRegressor(n_features_to_select=4).fit(X * units + 5, 1e3 * y)
    assert_array_equal(one.entry_order_, other.entry_order_)
    assert_allclose(1e3 * one.predict(X), other.predict(X * units + 5), rtol=1e-6)


def test_selector_before_a_model_without_penalty():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    refit = make_pipeline(
        SparseLinearRegressor(n_features_to_select=2).set_output(transform="pandas"),
        LinearRegression(),
    ).fit(X, y)
    expected = LinearRegression().fit(X[["bmi", "s5"]], y)
    assert_allclose(refit.predict(X), expected.predict(X[["bmi", "s5"]]))


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_and_grid_search(frame):
    library = pytest.importorskip(frame)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = library.DataFrame(X.to_dict("list"))
    sizes = {"n_features_to_select": [1, 4]}
    search = GridSearchCV(SparseLinearClassifier(), sizes, cv=2).fit(X, y)
    best = search.best_estimator_
    assert search.best_params_ == {"n_features_to_select": 4}
    assert best.get_feature_names_out().tolist() == [
        X.columns[j] for j in np.flatnonzero(best.get_support())
    ]
    assert best.score(X, y) > 0.9


def test_categories_are_refused():
    X = pd.DataFrame({"a": ["x", "y"] * 3, "b": np.arange(6)})
    with pytest.raises(ValueError, match="could not convert string to float"):
        SparseLinearRegressor().fit(X, np.arange(6))

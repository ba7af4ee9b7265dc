"""Predictions of boosted trees are weighted sums of the training targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.training_weights.boosting import read_boosting
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.influence import PredictionWeights
from tests.model.training_weights.agreement import assert_weights, fit, training_data
from tests.speeds import examples

# Gradients, or targets, are in single precision.
SINGLE = 1e-6


def data(seed=0, n=120, weighted=True):
    """Rows with equal values, targets, weights of which some are zero, new rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = 3 * X[:, 0] * X[:, 1] + rng.normal(size=n) + rng.normal() * 20
    weights = rng.integers(0, 4, n).astype(float) if weighted else None
    return X, y, weights, rng.normal(size=(20, 4))


@given(
    seed=st.integers(0, 2**16),
    weighted=st.booleans(),
    init=st.sampled_from([None, "zero", DummyRegressor()]),
    subsample=st.sampled_from([1.0, 0.5, 0.05]),
    stops=st.booleans(),
    tree=st.fixed_dictionaries(
        {
            "max_depth": st.integers(1, 5),
            "max_leaf_nodes": st.sampled_from([None, 2, 6]),
            "max_features": st.sampled_from([None, 2]),
            "ccp_alpha": st.sampled_from([0.0, 0.05]),
        }
    ),
)
@examples(60)
def test_gradient_boosting(seed, weighted, init, subsample, stops, tree):
    X, y, weights, new = data(seed, weighted=weighted)
    model = GradientBoostingRegressor(
        n_estimators=12,
        init=init,
        subsample=subsample,
        n_iter_no_change=3 if stops else None,
        random_state=seed,
        **tree,
    )
    fit(model, X, y, weights)
    rows = assert_weights(read_boosting, model, X, y, new, weights)
    if init != "zero":
        assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)


@given(seed=st.integers(0, 2**16), weighted=st.booleans(), changed=st.integers(0, 119))
@examples(20)
def test_a_changed_target_changes_predictions_by_its_weight(seed, weighted, changed):
    X, y, weights, new = data(seed, weighted=weighted)
    model = fit(GradientBoostingRegressor(n_estimators=8), X, y, weights)
    rows = read_boosting(model, training_data(X, y, weights)).weights(
        training_data(new, np.zeros(20)).rows
    )
    weights = np.ones(len(y)) if weights is None else weights

    def boosted(y):
        start = np.average(y, weights=weights)
        fitted, predictions = np.full(len(y), start), np.full(len(new), start)
        for (tree,) in model.estimators_:
            leaves, of_new = tree.apply(X), tree.apply(new)
            residuals = y - fitted
            for leaf in np.unique(leaves):
                inside = (leaves == leaf) & (weights > 0)
                if inside.any():
                    mean = np.average(residuals[inside], weights=weights[inside])
                    fitted[leaves == leaf] += model.learning_rate * mean
                    predictions[of_new == leaf] += model.learning_rate * mean
        return predictions

    before = boosted(y)
    assert_allclose(before, model.predict(new), rtol=1e-10)
    y[changed] += 1
    assert_allclose(boosted(y) - before, rows[:, changed], atol=1e-12)


@given(
    seed=st.integers(0, 2**16),
    weighted=st.booleans(),
    stops=st.sampled_from([False, True, "unseeded", "by training loss"]),
    missing=st.booleans(),
    categorical=st.booleans(),
    tree=st.fixed_dictionaries(
        {
            "l2_regularization": st.sampled_from([0.0, 2.0]),
            "learning_rate": st.sampled_from([0.1, 0.5]),
            "max_leaf_nodes": st.sampled_from([2, 7, None]),
            "min_samples_leaf": st.sampled_from([1, 20, 200]),
            "max_bins": st.sampled_from([4, 255]),
            "max_features": st.sampled_from([1.0, 0.5]),
        }
    ),
)
@examples(60)
def test_histogram_boosting(seed, weighted, stops, missing, categorical, tree):
    X, y, weights, new = data(seed, weighted=weighted)
    X[:, 1], new[:, 1] = X[:, 1].round() % 4, new[:, 1].round() % 4
    if missing:
        X[::7, 0], new[::3, :2] = np.nan, np.nan
    model = HistGradientBoostingRegressor(
        max_iter=10,
        early_stopping=bool(stops),
        validation_fraction=None if stops == "by training loss" else 0.2,
        random_state=None if stops == "unseeded" else seed,
        categorical_features=[1] if categorical else None,
        **tree,
    )
    fit(model, X, y, weights)
    rows = assert_weights(read_boosting, model, X, y, new, weights, SINGLE)
    assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)


def test_sparse_rows_and_frames():
    X, y, _, new = data()
    X[X < 0], new[new < 0] = 0, 0
    model = GradientBoostingRegressor(n_estimators=5).fit(X, y)
    dense = assert_weights(read_boosting, model, X, y, new)
    X, new = sparse.csr_array(X), sparse.csr_array(new)
    assert_allclose(assert_weights(read_boosting, model, X, y, new), dense)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X.toarray()[:, 0], "b": list("xyyz") * 30})
    frame["b"] = frame["b"].astype("category")
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3)
    model.fit(frame, y + 5 * (frame["b"] == "y"))
    y = y + 5 * (frame["b"] == "y").to_numpy()
    assert_weights(read_boosting, model, frame, y, frame, rtol=SINGLE)


def test_warm_starts_continue_the_draws():
    X, y, weights, new = data()
    model = GradientBoostingRegressor(
        n_estimators=4, subsample=0.5, random_state=1, warm_start=True
    )
    fit(model, X, y, weights)
    fit(model.set_params(n_estimators=9), X, y, weights)
    assert_weights(read_boosting, model, X, y, new, weights)


class _Doubled(GradientBoostingRegressor):
    def predict(self, X):
        return 2 * super().predict(X)


@pytest.mark.parametrize(
    "model, reason",
    [
        (GradientBoostingRegressor(loss="huber"), "loss='huber'"),
        (GradientBoostingRegressor(init=LinearRegression()), "init LinearRegression"),
        (GradientBoostingRegressor(init=DecisionTreeRegressor()), "starts from a Dec"),
        (GradientBoostingRegressor(init=DummyRegressor(strategy="median")), "'median'"),
        (GradientBoostingRegressor(subsample=0.5), "an integer random_state"),
        (GradientBoostingRegressor(n_iter_no_change=3), "an integer random_state"),
        (HistGradientBoostingRegressor(loss="absolute_error"), "loss="),
        (HistGradientBoostingRegressor(monotonic_cst=[1, 0, 0, 0]), "monotonic_cst"),
        (GradientBoostingClassifier(), "on squared error"),
        (_Doubled(), "with predict of its own"),
    ],
    ids=str,
)
def test_other_models_are_refused(model, reason):
    X, y, _, _ = data()
    y = y > y.mean() if isinstance(model, GradientBoostingClassifier) else y
    with pytest.raises(UnreadableModelError, match=reason):
        read_boosting(model.fit(X, y), training_data(X, y))


def test_validation_rows_of_the_user_are_refused():
    X, y, _, _ = data()
    model = HistGradientBoostingRegressor(max_iter=20, early_stopping=True)
    try:
        model.fit(X, y, X_val=X[:30], y_val=y[:30])
    except TypeError:  # scikit-learn < 1.7
        return
    inspector = PredictionWeights(FrozenEstimator(model))
    with pytest.raises(UnreadableModelError, match="do not give the predictions"):
        inspector.fit(X, y)


@given(
    seed=st.integers(0, 2**16),
    weighted=st.booleans(),
    missing=st.booleans(),
    model=st.fixed_dictionaries(
        {
            "reg_lambda": st.sampled_from([0.0, 1.0]),
            "base_score": st.sampled_from([None, 0.5]),
            "tree_method": st.sampled_from(["exact", "hist"]),
            "gamma": st.sampled_from([0.0, 200.0]),
            "max_leaves": st.sampled_from([0, 5]),
        }
    ),
)
@examples(40)
def test_xgboost(seed, weighted, missing, model):
    xgboost = pytest.importorskip("xgboost")
    X, y, weights, new = data(seed, weighted=weighted)
    if missing:
        X[::7, 0], new[::3, :2] = np.nan, np.nan
    if weighted:
        weights += 1  # leaves without weight are zero
    model = xgboost.XGBRegressor(n_estimators=10, max_depth=3, n_jobs=1, **model)
    fit(model, X, y, weights)
    rows = assert_weights(read_boosting, model, X, y, new, weights, SINGLE)
    if model.base_score is None:
        assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)


@given(
    seed=st.integers(0, 2**16),
    weighted=st.booleans(),
    missing=st.booleans(),
    model=st.fixed_dictionaries(
        {
            "reg_lambda": st.sampled_from([0.0, 3.0]),
            "boost_from_average": st.booleans(),
            "min_child_samples": st.sampled_from([1, 20]),
            "num_leaves": st.sampled_from([3, 31]),
            "colsample_bytree": st.sampled_from([1.0, 0.5]),
        }
    ),
)
@examples(40)
def test_lightgbm(seed, weighted, missing, model):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, weights, new = data(seed, weighted=weighted)
    if missing:
        X[::7, 0], new[::3, :2] = np.nan, np.nan
    model = lightgbm.LGBMRegressor(n_estimators=10, n_jobs=1, verbose=-1, **model)
    fit(model, X, y, weights)
    assert_weights(read_boosting, model, X, y, new, weights, SINGLE)


def test_lightgbm_without_a_split():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, weights, new = data()
    model = lightgbm.LGBMRegressor(min_child_samples=200, verbose=-1)
    fit(model, X, y, weights)
    assert_weights(read_boosting, model, X, y, new, weights, SINGLE)
    fit(model.set_params(boost_from_average=False), X, y, weights)
    inspector = PredictionWeights(FrozenEstimator(model))
    with pytest.raises(UnreadableModelError, match="do not give the predictions"):
        inspector.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "library, parameters, reason",
    [
        ("xgboost", {"subsample": 0.5}, "subsample='0.5'"),
        ("xgboost", {"reg_alpha": 2}, "alpha='2'"),
        ("xgboost", {"num_parallel_tree": 2}, "num_parallel_tree"),
        ("xgboost", {"objective": "reg:absoluteerror"}, "reg:absoluteerror"),
        ("xgboost", {"monotone_constraints": "(1,0,0,0)"}, "monotone_constraints"),
        ("lightgbm", {"bagging_freq": 1, "subsample": 0.5}, "bagging_fraction='0.5'"),
        ("lightgbm", {"boosting_type": "dart"}, "boosting='dart'"),
        ("lightgbm", {"objective": "l1"}, "objective='regression_l1'"),
        ("lightgbm", {"lambda_l1": 1}, "lambda_l1='1'"),
        ("lightgbm", {"linear_tree": True}, "linear"),
        ("lightgbm", {"monotone_constraints": [1, 0, 0, 0]}, "monotone_constraints"),
    ],
)
def test_other_settings_of_libraries_are_refused(library, parameters, reason):
    module = pytest.importorskip(library)
    kind = module.XGBRegressor if library == "xgboost" else module.LGBMRegressor
    quiet = {} if library == "xgboost" else {"verbose": -1}
    X, y, _, _ = data()
    model = kind(n_estimators=5, n_jobs=1, **quiet, **parameters).fit(X, y)
    with pytest.raises(UnreadableModelError, match=reason):
        read_boosting(model, training_data(X, y))

"""Exact counterfactuals of linear models against closed forms and brute force."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.special import logit
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from sklearn_interpret.counterfactuals import ExactCounterfactual
from sklearn_interpret.exceptions import UnreadableModelError
from tests.counterfactuals.data import exact

COSTS = dict(enumerate([1.0, 0.5, 2.0, 1.5]))
UNIT_COSTS = np.array(list(COSTS.values()))


@pytest.fixture
def data():
    X, y = make_classification(100, 4, n_redundant=0, random_state=0)
    return X, y


def coefficients(model):
    """Coefficients and intercept on the columns of the table."""
    scaler, linear = model
    coef = linear.coef_[0] / scaler.scale_
    return coef, linear.intercept_[0] - coef @ scaler.mean_


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_one_feature_moves(data, share):
    X, y = data
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    rows = X[model.predict_proba(X)[:, 1] < share][:5]
    found = exact(model, X, desired=(share, None), distance=COSTS).explain(rows)
    coef, intercept = coefficients(model)
    needs = logit(share) - rows @ coef - intercept
    expected = needs * (UNIT_COSTS / np.abs(coef)).min()
    assert_allclose(found.distances, expected, rtol=1e-6)
    assert (found.n_changed == 1).all()
    assert found.optimal.all()
    assert (model.predict_proba(found.rows)[:, 1] >= share).all()


def test_boxes_and_frozen_features(data):
    X, y = data
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    ranges = {j: (X[:, j].min(), X[:, j].max()) for j in range(4)}
    search = exact(
        model,
        X,
        desired=1,
        features_to_vary=[0, 2, 3],
        permitted_range=ranges,
        distance=COSTS,
    )
    rows = X[model.predict(X) == 0][:8]
    found = search.explain(rows)
    coef, intercept = coefficients(model)
    for i in found.origin.tolist():
        row = rows[i]
        room = [
            (0, max(0, room)) if j != 1 else (0, 0)
            for sign in (1, -1)
            for j in range(4)
            for room in [(ranges[j][sign > 0] - row[j]) * sign]
        ]
        program = linprog(
            np.tile(UNIT_COSTS, 2),
            -np.append(coef, -coef)[None],
            [row @ coef + intercept],
            bounds=room,
        )
        assert_allclose(found.distances[found.origin == i], program.fun, rtol=1e-6)
    assert_array_equal(found.rows[:, 1], rows[found.origin, 1])
    assert (model.predict(found.rows) == 1).all()


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    found = exact(model, X, permitted_range="any", distance=COSTS).explain(X[::30])
    assert found.optimal.all()
    scores = model.decision_function(X[::30])
    own = model.predict(X[::30])
    for i in range(len(own)):
        ways = []
        for other in set(range(3)) - {own[i]}:
            change = model.coef_[other] - model.coef_[own[i]]
            need = scores[i, own[i]] - scores[i, other]
            ways.append(need * (UNIT_COSTS / np.abs(change)).min())
        assert_allclose(found.distances[i], min(ways), rtol=1e-6)
    found = exact(model, X, desired=1, distance=COSTS).explain(X[::30])
    assert (model.predict(found.rows) == 1).all()


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("objective", ["distance", "n_changed"])
@pytest.mark.parametrize("max_changes", [None, 2])
def test_whole_numbers_and_levels(objective, max_changes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 6, 200),
            "b": rng.integers(0, 6, 200),
            "c": pd.Categorical(rng.choice(list("xyz"), 200)),
            "d": rng.choice(["u", "v"], 200),
        }
    )
    y = (X["a"] + X["b"] + 2 * (X["c"] == "x") + (X["d"] == "u") > 6).astype(int)
    encoded = make_column_transformer(
        (OneHotEncoder(), ["c", "d"]), (StandardScaler(), ["a", "b"])
    )
    model = make_pipeline(encoded, LogisticRegression()).fit(X, y)
    rows = X.iloc[:4]
    found = exact(
        model,
        X,
        permitted_range={"a": (0, 5), "b": (0, 5)},
        distance={"a": 1.0, "b": 1.1, "c": 1.7, "d": 0.8},
        objective=objective,
        max_changes=max_changes,
    ).explain(rows)
    grid = pd.DataFrame(
        list(product(range(6), range(6), "xyz", "uv")), columns=X.columns
    )
    answers, own = model.predict(grid), model.predict(rows)
    for i in range(len(rows)):
        row = rows.iloc[i]
        changed = (grid != row).to_numpy()
        distances = abs(grid["a"] - row["a"]) + 1.1 * abs(grid["b"] - row["b"])
        distances += 1.7 * changed[:, 2] + 0.8 * changed[:, 3]
        n_changed = changed.sum(axis=1)
        kept = answers != own[i]
        if max_changes is not None:
            kept &= n_changed <= max_changes
        if objective == "n_changed":
            kept &= n_changed == n_changed[kept].min()
        assert_allclose(
            found.distances[found.origin == i], distances[kept].min(), rtol=1e-6
        )
    assert found.rows.dtypes.equals(X.dtypes)


def test_regressor(data):
    X, y = data
    model = LinearRegression().fit(X, 3.0 * y + X[:, 0])
    found = exact(model, X, desired=(1.0, 1.2), distance=COSTS).explain(X[:10])
    answers = model.predict(X[:10])
    needs = np.maximum(np.maximum(1.0 - answers, answers - 1.2), 0)
    expected = needs * (UNIT_COSTS / np.abs(model.coef_)).min()
    assert_allclose(found.distances, expected, rtol=1e-6)
    after = model.predict(found.rows)
    assert ((after >= 1.0) & (after <= 1.2)).all()


def test_next_ones_take_the_next_best_features(data):
    X, y = data
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    found = exact(
        model, X, permitted_range="any", distance=COSTS, n_counterfactuals=5
    ).explain(X[:5])
    coef, intercept = coefficients(model)
    costs = np.sort(UNIT_COSTS / np.abs(coef))
    needs = np.abs(X[:5] @ coef + intercept)
    assert_allclose(found.distances.reshape(5, 4), needs[:, None] * costs, rtol=1e-6)
    assert all("only 4 rows" in reason for reason in found.reasons)


@pytest.mark.parametrize("desired", ["other", (0.6, 0.9)])
def test_boxes_satisfy_the_target_to_their_ends(data, desired):
    X, y = data
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    rows = X[model.predict_proba(X)[:, 1] < 0.5][:5]
    found = exact(
        model,
        X,
        desired=desired,
        permitted_range="any",
        region=True,
        n_counterfactuals=2,
    ).explain(rows)
    slopes, _ = coefficients(model)
    assert ((found.low <= found.rows) & (found.rows <= found.high)).all()
    for low, high in zip(found.low, found.high, strict=True):
        far = np.clip([low, high], -99, 99)
        corners = model.predict_proba(np.array(list(product(*far.T))))[:, 1]
        if desired == "other":
            assert (corners >= 0.5).all()
            # What helps may be done without end, and nothing else.
            assert_array_equal(np.isinf(high), slopes > 0)
            assert_array_equal(np.isinf(low), slopes < 0)
        else:
            assert ((corners >= 0.6) & (corners <= 0.9)).all()
            assert_allclose(corners.max(), 0.9, rtol=1e-6)


def test_pairs_that_vote_are_no_linear_function_of_the_classes():
    """Scores of a linear kernel are those of pairs; two classes have one."""
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel="linear")
    with pytest.raises(UnreadableModelError):
        ExactCounterfactual(model).fit(X, y)
    explanation = ExactCounterfactual(model).fit(X[:100], y[:100]).explain(X[:3])
    assert (model.fit(X[:100], y[:100]).predict(explanation.rows) == 1).all()

"""What exact counterfactuals prove, attacked: ties, rounding, offsets, small tables."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.counterfactuals.data import brute_force, exact
from tests.speeds import examples

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.NoCounterfactualWarning"
)

COLUMNS = (
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.integers(-2, 3, n),
    lambda rng, n: 1e6 + rng.normal(size=n),
    lambda rng, n: rng.random(n) < 0.5,
)
TREES = (
    DecisionTreeClassifier(max_depth=3, random_state=0),
    RandomForestClassifier(4, random_state=0),
    RandomForestClassifier(5, max_depth=1, min_samples_leaf=2, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=2), 4, random_state=0),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3),
    GradientBoostingClassifier(n_estimators=2, max_depth=1, learning_rate=1.0),
    HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1),
    ExtraTreesRegressor(3, max_depth=2, random_state=0),
    GradientBoostingRegressor(n_estimators=3, max_depth=2, random_state=0),
)
LINEAR = (
    LogisticRegression(C=100.0),
    RidgeClassifier(),
    LinearRegression(),
    PoissonRegressor(),
)


def small_table(rng, largest=20):
    """A table of a few rows and columns, some of them far from zero."""
    n_rows = int(rng.choice([2, 3, 4, 8, largest]))
    chosen = rng.choice(len(COLUMNS), rng.integers(1, 4))
    return np.column_stack([COLUMNS[k](rng, n_rows) for k in chosen]).astype(float)


def fitted(model, X, rng):
    """The model on classes that are there, or on targets that are counts."""
    y = rng.integers(0, 3, len(X))
    y[:2] = 0, 1
    return clone(model).fit(X, y)


def goal(model, X, rng):
    """A target outcome of a model, and whether rows satisfy it."""
    if hasattr(model, "classes_"):
        wanted = rng.choice(["other", *model.classes_.tolist()[:2]])
        if wanted == "other":
            return "other", lambda rows, own: model.predict(rows) != own
        wanted = int(wanted)
        return wanted, lambda rows, own: model.predict(rows) == wanted
    low = float(rng.choice(model.predict(X)))
    interval = (low, None) if rng.random() < 0.5 else (low, low + 0.5)
    high = np.inf if interval[1] is None else interval[1]

    def holds(rows, own):
        return (model.predict(rows) >= low) & (model.predict(rows) <= high)

    return interval, holds


def check_box(found, row, holds, own, dtype):
    """Whether corners and points of a row's box satisfy the target."""
    low, high = (part[found.origin == row][0] for part in (found.low, found.high))
    at = found.rows[found.origin == row][0].astype(float)
    assert ((low <= at) & (at <= high)).all()
    low, high = np.maximum(low, at - 1e4), np.minimum(high, at + 1e4)
    corners = np.array(list(product(*zip(low, high, strict=True))))
    assert holds(corners.astype(dtype), own).all()


@given(seed=st.integers(0, 10**6))
@examples(15)
def test_proofs_of_trees_against_all_cells(seed):
    rng = np.random.default_rng(seed)
    X = small_table(rng)
    model = fitted(TREES[rng.integers(len(TREES))], X, rng)
    rows = X[:2] + rng.choice([0.0, 0.5], X[:2].shape)
    desired, holds = goal(model, X, rng)
    costs = rng.choice([0.5, 1.0, 2.0], X.shape[1])
    most = rng.choice([None, 1, 2])
    limits = np.column_stack([X.min(axis=0) - 1, X.max(axis=0) + 1])
    found = exact(
        model,
        X,
        desired=desired,
        distance=dict(enumerate(costs.tolist())),
        permitted_range=dict(enumerate(map(tuple, limits))),
        max_changes=most,
        region=True,
    )
    found = found.explain(rows)
    for i, row in enumerate(rows):
        own = model.predict(row[None])
        if found.status[i] == "unchanged":
            continue
        least, _, _ = brute_force(
            model, row, costs, lambda X, own=own: holds(X, own), most, (), limits
        )
        assert found.status[i] == ("found" if np.isfinite(least) else "impossible")
        if np.isfinite(least):
            (distance,) = found.distances[found.origin == i]
            assert found.optimal[i]
            assert_allclose(distance, least, rtol=1e-6)
            assert found.lower_bounds[i] <= least * (1 + 1e-12)
            check_box(found, i, holds, own, float)


@given(seed=st.integers(0, 10**6))
@examples(15)
def test_proofs_of_linear_models_against_rows_near(seed):
    rng = np.random.default_rng(seed)
    dtype = rng.choice([np.float64, np.float32])
    X = small_table(rng).astype(dtype)
    scaler = rng.choice([StandardScaler(), MinMaxScaler()])
    model = make_pipeline(scaler, LINEAR[rng.integers(len(LINEAR))])
    model = fitted(model, X, rng)
    desired, holds = goal(model, X, rng)
    costs = rng.choice([0.5, 1.0, 2.0], X.shape[1])
    limits = np.column_stack([X.min(axis=0) - 9, X.max(axis=0) + 9]).astype(float)
    found = exact(
        model,
        X,
        desired=desired,
        distance=dict(enumerate(costs.tolist())),
        permitted_range=dict(enumerate(map(tuple, limits))),
        region=True,
    )
    found = found.explain(X[:2])
    for i, row in enumerate(X[:2].astype(float)):
        own = model.predict(X[[i]])
        if found.status[i] == "unchanged":
            continue
        near = [rng.uniform(*limits.T, (200, X.shape[1]))]
        for at in found.rows[found.origin == i].astype(float):
            shares = 1 - 10.0 ** -np.arange(2, 10)[:, None]
            near.append(row + shares * (at - row))
            check_box(found, i, holds, own, dtype)
            assert holds(at[None].astype(dtype), own).all()
        near = np.clip(np.vstack(near), *limits.T).astype(dtype)
        near = near[holds(near, own)].astype(float)
        near = near[((near >= limits[:, 0]) & (near <= limits[:, 1])).all(axis=1)]
        distances = np.abs(near - row) @ costs
        assert (found.lower_bounds[i] <= distances * (1 + 1e-12)).all()
        if dtype is np.float64:
            assert found.status[i] in ("found", "impossible")


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    "offset, scaled", [(0, False), (0, True), (100, True), (1e6, True)]
)
def test_rounding_of_large_terms(offset, scaled):
    X, y = load_breast_cancer(return_X_y=True)
    if offset == 1e6:
        X = X / X.std(axis=0) + offset
    else:
        X = (X + offset).astype(np.float32)
    linear = (
        LogisticRegression(solver="newton-cholesky")
        if scaled
        else RidgeClassifier(solver="svd")
    )
    model = make_pipeline(StandardScaler(), linear) if scaled else linear
    model.fit(X, y)
    rows = X[:25]
    found = exact(model, X, region=True).explain(rows)
    assert (found.status == "found").all()
    answers = model.predict(rows)
    assert (model.predict(found.rows) != answers).all()
    assert (found.lower_bounds <= found.distances).all()
    rng = np.random.default_rng(0)
    far = 10 * X.std(axis=0)
    low, high = np.maximum(found.low, rows - far), np.minimum(found.high, rows + far)
    low, high = np.minimum(low, found.rows), np.maximum(high, found.rows)
    for _ in range(20):
        corners = np.where(rng.random(low.shape) < 0.5, low, high).astype(X.dtype)
        assert (model.predict(corners) != answers).all()


def test_ties_of_gradient_boosting_go_to_the_second_class():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0], [2.0]]), np.array([0, 0, 1, 1, 1])
    model = GradientBoostingClassifier(
        n_estimators=1, max_depth=2, learning_rate=1.0, init="zero"
    ).fit(X, y)
    assert_array_equal(model.decision_function([[0], [1], [2]]), [-2.0, 0.0, 2.0])
    found = exact(model, X, distance={0: 1.0}).explain(X[[0, 1]])
    assert found.optimal.all()
    assert_allclose(found.distances, [0.5, 0.5], rtol=1e-6)
    assert_array_equal(found.answers, [1, 0])


@pytest.mark.parametrize("seed, n_estimators", [(494, 5), (2008, 5)])
def test_class_means_that_differ_by_rounding(seed, n_estimators):
    """The model takes the second class where its mean is larger by rounding alone."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(4, 9))
    X = rng.integers(0, 4, size=(n_rows, 1)).astype(float)
    y = rng.integers(2, size=n_rows)
    rng.integers(2, 6)
    model = RandomForestClassifier(
        n_estimators, max_depth=1, random_state=seed, min_samples_leaf=2
    ).fit(X, y)
    places = np.arange(-1, 4.5, 0.5)[:, None]
    shares, answers = model.predict_proba(places), model.predict(places)
    assert (np.abs(shares[:, 1] - shares[:, 0])[answers == 1] < 1e-12).all()
    found = exact(model, X, desired=1, distance={0: 1.0}).explain(places[answers == 0])
    assert found.optimal.all()
    assert (model.predict(found.rows) == 1).all()


@pytest.mark.parametrize("model", [TREES[0], TREES[6]], ids=["single", "double"])
def test_a_row_on_a_threshold_at_zero(model):
    X = np.array([[-1.0], [0.0], [1.0]])
    model = clone(model).fit(X[[0, 2]], [0, 1])
    found = exact(model, X).explain(X[[1]])
    assert found.status == ["found"]
    assert 0 < found.distances[0] < 1e-40
    assert found.optimal.all()


UNREACHABLE = {
    "logistic": (LogisticRegression(), (1, None)),
    "logistic low": (LogisticRegression(), (None, -0.5)),
    "boosting": (GradientBoostingClassifier(n_estimators=2), (1, None)),
    "histograms": (HistGradientBoostingClassifier(max_iter=2), (None, 0)),
    "forest": (RandomForestClassifier(2), (1.5, None)),
    "poisson": (PoissonRegressor(), (None, 0)),
    "linear": (LinearRegression(), (np.inf, None)),
}


@pytest.mark.parametrize("name", UNREACHABLE)
def test_goals_out_of_reach_are_impossible(name):
    model, desired = UNREACHABLE[name]
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = model.fit(X, (X.sum(axis=1) > 0).astype(int))
    found = exact(model, X, desired=desired).explain(X[:2])
    assert (found.status == "impossible").all()
    assert np.isinf(found.lower_bounds).all()


def test_numbers_that_need_not_move_stay():
    X = np.random.default_rng(2).normal(size=(40, 4))
    model = RandomForestRegressor(4, max_depth=3, random_state=0)
    model.fit(X, X.sum(axis=1))
    at_most = (dict.fromkeys(range(4), 1.0), float(np.median(X.sum(axis=1))))
    found = exact(model, X, desired=(0.5, None), constraints=[at_most]).explain(X[:10])
    moves = np.abs(found.rows - X[found.origin])
    assert (moves > 0).any()
    assert not ((moves > 0) & (moves < 1e-12)).any()

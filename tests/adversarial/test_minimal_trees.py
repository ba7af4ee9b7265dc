"""Smallest perturbations of trees against a search of all cells between thresholds."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._model.actions.actionability import Actionability
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.adversarial._perturbations import TreePerturbation
from sklearn_interpret.exceptions import UnreadableModelError
from tests.counterfactuals.data import cell_ends
from tests.counterfactuals.data import class_table as table
from tests.speeds import examples

COSTS = np.array([1.0, 0.5, 2.0])
NORMS = [1, np.inf]
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(5, max_depth=4, random_state=0),
    "votes": RandomForestClassifier(6, max_leaf_nodes=9, random_state=1),
    "extra": ExtraTreesClassifier(5, max_depth=4, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=5, max_depth=3),
}
REGRESSORS = {
    "forest": RandomForestRegressor(5, max_depth=4, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=8, random_state=0),
    "histograms": HistGradientBoostingRegressor(max_iter=8, max_depth=3),
}


@cache
def fitted(name, n_classes=2):
    """A table, and a classifier fitted on it."""
    X, y = table(n_classes)
    return X, clone(CLASSIFIERS[name]).fit(X, y)


def tasks(model, X, rows, norm, outcome="other", ranges=None, vary=None, **more):
    """Tasks of known rows, and of some that are attacked."""
    known, n_columns = as_rows(X), X.shape[1]
    actionability = Actionability(
        known,
        np.ones(known.n_rows),
        categorical=np.zeros(n_columns, dtype=bool),
        vary=np.isin(np.arange(n_columns), range(n_columns) if vary is None else vary),
        ranges=ranges or {},
        directions={},
        norm=norm,
        missing_stays=True,
        **{"distance": dict(enumerate(COSTS)), **more},
    )
    outcome = TargetOutcome.of_model(model, outcome)
    return SearchProblem(outcome, actionability, known), SearchProblem(
        outcome, actionability, as_rows(rows)
    )


def tried(known, problem, time_limit=60.0):
    """Encoded rows, distances, lower bounds, and which rows satisfy the target."""
    index = np.arange(problem.rows.n_rows)
    result = TreePerturbation(known, time_limit).search(problem, index)
    distances = problem.distances(result.values, index)
    return (
        result.values,
        distances,
        result.lower_bounds,
        problem.holds(result.values, index),
    )


def least(model, problem, ranges=None, vary=None):
    """Distances of the nearest cells, infinite where none satisfies the target."""
    low, high = np.array([(ranges or {}).get(j, (-np.inf, np.inf)) for j in range(3)]).T
    nearest = []
    for i, row in enumerate(problem.values):
        cells = []
        for j, of_cells in enumerate(cell_ends(model)):
            first, last = of_cells.T
            first, last = np.maximum(first, low[j]), np.minimum(last, high[j])
            if problem.actionability.integer[j]:
                first, last = np.ceil(first), np.floor(last)
            kept = first <= last
            moved = np.unique(np.clip(row[j], first[kept], last[kept]))
            moves = vary is None or j in vary
            # A number outside of its range may stay.
            cells.append(np.append(moved, row[j]) if moves else row[[j]])
        rows = np.array(list(product(*cells)))
        index = np.full(len(rows), i)
        rows = rows[problem.holds(rows, index)]
        sizes = np.abs(rows - row) * COSTS
        norms = np.linalg.norm(sizes, problem.actionability.norm, axis=1)
        nearest.append(norms.min(initial=np.inf))
    return np.array(nearest)


def check(model, known, problem, **limits):
    values, distances, bounds, holds = tried(known, problem)
    nearest = least(model, problem, **limits)
    found = np.isfinite(nearest)
    assert (holds == found).all()
    assert_allclose(distances[found], nearest[found], rtol=1e-9, atol=1e-12)
    # Nearer points than this are the same to the program.
    assert_allclose(bounds, nearest, rtol=1e-6, atol=1e-12)
    assert (bounds[found] <= distances[found]).all()
    assert_array_equal(values[~found], problem.values[~found])
    return values


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("n_classes", "outcome"), [(2, "other"), (3, "other"), (3, 1)])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_nearest_of_all_cells(name, n_classes, outcome, norm):
    X, model = fitted(name, n_classes)
    rows = X[model.predict(X) != outcome][:2]
    check(model, *tasks(model, X, rows, norm, outcome))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("interval", [(0.4, 0.7), (None, -0.5), (1e9, None)])
@pytest.mark.parametrize("name", REGRESSORS)
def test_intervals(name, interval, norm):
    X, y = make_regression(80, 3, random_state=0)
    X = X.astype(np.float32).astype(float)
    y = (y - y.mean()) / y.std()
    model = REGRESSORS[name].fit(X, y)
    known, problem = tasks(model, X, X[:3], norm, interval)
    check(model, known, problem)


@pytest.mark.parametrize("norm", NORMS)
def test_bounds_and_frozen_columns(norm):
    X, model = fitted("forest")
    ranges, vary = {0: (-1.0, 1.0), 2: (-0.5, 2.0)}, [0, 2]
    known, problem = tasks(model, X, X[:12], norm, ranges=ranges, vary=vary)
    values = check(model, known, problem, ranges=ranges, vary=vary)
    assert_array_equal(values[:, 1], X[:12, 1])
    inside = (values >= [-1, -np.inf, -0.5]) & (values <= [1, np.inf, 2])
    assert (inside | (values == X[:12])).all()


@pytest.mark.parametrize("norm", NORMS)
def test_whole_numbers(norm):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (150, 3))
    model = CLASSIFIERS["forest"].fit(X, X[:, 0] + X[:, 1] * X[:, 2] / 9 > 35)
    known, problem = tasks(model, X, X[:6], norm)
    values = check(model, known, problem)
    assert_array_equal(values, np.rint(values))


@pytest.mark.parametrize("norm", NORMS)
def test_dtypes_of_frames_and_missing_values(norm):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abc")).astype({"a": "float32"})
    frame["b"] = (10 * frame["b"]).round().astype("int16")
    frame.loc[2, "c"] = np.nan
    model = HistGradientBoostingClassifier(max_iter=5).fit(frame, y)
    known, problem = tasks(model, frame, frame.iloc[:6], norm)
    values, _, bounds, holds = tried(known, problem)
    assert holds.any()
    assert np.isnan(values[2, 2])
    assert (np.isinf(bounds) == ~holds).all()
    native = problem.decode(values, np.arange(6))
    assert (native.dtypes == frame.dtypes).all()
    assert_array_equal(native["a"].to_numpy(dtype=float), values[:, 0])


@pytest.mark.parametrize("norm", NORMS)
def test_no_time(norm):
    X, model = fitted("forest", 3)
    known, problem = tasks(model, X, X[:10], norm)
    _, distances, bounds, holds = tried(known, problem, time_limit=0)
    nearest = least(model, problem)
    assert holds.all()
    assert (distances >= nearest * (1 - 1e-9)).all()
    assert (bounds <= nearest * (1 + 1e-9)).all()
    if norm == np.inf:
        assert (bounds > 0).all()


def test_little_time_leaves_a_gap():
    X, y = make_classification(400, 8, n_informative=8, n_redundant=0, random_state=0)
    model = RandomForestClassifier(30, max_depth=6, random_state=0).fit(X, y)
    problem, few = tasks(model, X, X[:2], np.inf, distance="std")
    _, quick, low, holds = tried(problem, few, time_limit=0.05)
    _, slow, high, _ = tried(problem, few)
    assert holds.all()
    assert_allclose(slow, high, rtol=1e-9)
    assert (quick >= slow * (1 - 1e-9)).all()
    assert (low <= high * (1 + 1e-9)).all()


def test_few_numbers_change():
    """Of changes that are no larger than another one, only those that are needed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = DecisionTreeClassifier().fit(X, X[:, 0] > 1)
    known, problem = tasks(model, X, X[:10], np.inf)
    values, *_ = tried(known, problem)
    assert_array_equal(values[:, 1:], X[:10, 1:])


@examples(6)
@given(st.integers(0, 10_000), st.sampled_from(NORMS), st.sampled_from([2, 3]))
def test_any_forest(seed, norm, n_classes):
    X, y = table(n_classes, seed=seed % 50)
    model = ExtraTreesClassifier(4, max_depth=4, random_state=seed).fit(X, y)
    check(model, *tasks(model, X, X[[seed % 120]], norm))


def test_other_models_and_norms():
    X, y = table()
    known, _ = tasks(LogisticRegression().fit(X, y), X, X, 2)
    with pytest.raises(UnreadableModelError):
        TreePerturbation(known, 1.0)
    known, _ = tasks(DecisionTreeClassifier().fit(X, y), X, X, 2)
    with pytest.raises(ValueError, match=r"norm='2'.*'inf'.*'1'"):
        TreePerturbation(known, 1.0)


def test_nothing_may_change():
    X, y = table()
    known, problem = tasks(
        DecisionTreeClassifier().fit(X, y), X, X[:2], np.inf, vary=[]
    )
    values, _, bounds, holds = tried(known, problem)
    assert not holds.any()
    assert np.isinf(bounds).all()
    assert_array_equal(values, X[:2])

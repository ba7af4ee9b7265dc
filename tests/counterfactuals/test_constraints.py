"""Linear constraints of exact counterfactuals, against linear programs in all cells."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.counterfactuals import ExactCounterfactual
from sklearn_interpret.exceptions import NoCounterfactualWarning
from tests.counterfactuals.data import cell_ends

COSTS = np.array([1.0, 0.5, 2.0])


@pytest.fixture
def data():
    X, y = make_classification(
        120, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0
    )
    return X.astype(np.float32).astype(np.float64), y


def exact(model, **parameters):
    """An inspector of a fitted model, of real numbers."""
    defaults = {"distance": dict(enumerate(COSTS)), "permitted_range": "any"}
    defaults["steps"] = "exact"
    parameters = {**defaults, **parameters}
    return ExactCounterfactual(FrozenEstimator(model), **parameters)


def as_pairs(coefficients, bounds):
    """Constraints as the inspector takes them."""
    return [
        ({j: a for j, a in enumerate(row) if a}, bound)
        for row, bound in zip(coefficients, bounds, strict=True)
    ]


def nearest_value(row, low, high, coefficients, bounds):
    """Least distance of values between limits that keep constraints."""
    p = len(row)
    program = linprog(
        np.append(np.zeros(p), COSTS),
        np.block(
            [
                [coefficients, np.zeros_like(coefficients)],
                [np.eye(p), -np.eye(p)],
                [-np.eye(p), -np.eye(p)],
            ]
        ),
        np.concatenate([bounds, row, -row]),
        bounds=[*zip(low, high, strict=True), *[(0, None)] * p],
    )
    return program.fun if program.success else np.inf


def nearest_by_changes(model, row, coefficients, bounds):
    """Least distance of another class with at most 0, 1, 2 ... changes, in any cell."""
    ends = list(cell_ends(model))
    best = np.full(len(row) + 1, np.inf)
    for size in range(1, len(row) + 1):
        best[size] = best[size - 1]
        for changed in combinations(range(len(row)), size):
            tried = [
                ends[j] if j in changed else [[row[j], row[j]]] for j in range(len(row))
            ]
            boxes = np.array(list(product(*tried)))
            nearest = np.clip(row, boxes[..., 0], boxes[..., 1])
            distances = np.abs(nearest - row) @ COSTS
            other = model.predict(nearest) != model.predict(row[None])
            for k in np.argsort(distances):
                if distances[k] >= best[size]:
                    break
                if other[k]:
                    least = nearest_value(row, *boxes[k].T, coefficients, bounds)
                    best[size] = min(best[size], least)
    return best


def binding(row, found):
    """Constraints that allow half the change to what was found without any."""
    change = found - row
    coefficients = np.array([np.sign(change) + 0.25, [0.5, -1.0, 0.25]])
    bounds = coefficients @ row
    return coefficients, bounds + [0.5 * (coefficients[0] @ change), 0.1]


MODELS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=5, max_depth=2),
}


KINDS = {"linear": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=4)}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("name", "k"), [("tree", 2), ("forest", 0), ("boosting", 2)])
def test_trees(name, k, data):
    X, y = data
    model = MODELS[name].fit(X, y)
    free = exact(model).fit(X).explain(X[[k]])
    for row, nearest in zip(X[[k]], free.rows, strict=True):
        coefficients, bounds = binding(row, nearest)
        constraints = as_pairs(coefficients, bounds)
        best = nearest_by_changes(model, row, coefficients, bounds)
        outcomes = [
            ({}, best[3]),
            ({"max_changes": 2}, best[2]),
            ({"objective": "n_changed"}, best[np.isfinite(best).argmax()]),
        ]
        for outcome, expected in outcomes:
            search = exact(model, constraints=constraints, **outcome).fit(X)
            found = search.explain(row[None])
            assert found.optimal.all()
            assert_allclose(found.distances, expected, rtol=1e-6)
            assert (model.predict(found.rows) != model.predict(row[None])).all()
            excess = coefficients @ found.rows[0] - bounds
            assert (excess <= 1e-9 * (1 + np.abs(bounds))).all()
            if "objective" in outcome:
                assert found.n_changed[0] == np.isfinite(best).argmax()


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_linear_models(share, data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    outcome = {"desired": (share, None)}
    rows = X[model.predict(X) == 0][:2]
    free = exact(model, **outcome).fit(X).explain(rows)
    slope, need = model.coef_[0], np.log(share / (1 - share)) - model.intercept_[0]
    for row, nearest in zip(rows, free.rows, strict=True):
        coefficients, bounds = binding(row, nearest)
        both = np.vstack([coefficients, -slope]), np.append(bounds, -need)
        best = [np.inf]
        for size in (1, 2, 3):
            moved = [np.isin(range(3), of) for of in combinations(range(3), size)]
            ends = [
                (np.where(m, -np.inf, row), np.where(m, np.inf, row)) for m in moved
            ]
            best.append(min(nearest_value(row, *limits, *both) for limits in ends))
        assert best[3] > 1.01 * np.abs(nearest - row) @ COSTS
        limited = [
            ({}, best[3]),
            ({"max_changes": 2}, best[2]),
            ({"objective": "n_changed"}, best[np.isfinite(best).argmax()]),
        ]
        for limits, least in limited:
            constraints = as_pairs(coefficients, bounds)
            search = exact(model, constraints=constraints, **outcome, **limits).fit(X)
            found = search.explain(row[None])
            assert_allclose(found.distances, least, rtol=1e-6)
            assert found.optimal.all()
            assert (coefficients @ found.rows[0] <= bounds + 1e-9).all()


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("kind", ["linear", "tree"])
def test_whole_numbers_that_keep_their_sum(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, (200, 3)), columns=["a", "b", "c"])
    X["job"] = rng.choice(["u", "v"], 200)
    y = 2 * X["a"] + X["b"] - X["c"]
    model = LinearRegression() if kind == "linear" else DecisionTreeRegressor()
    model.fit(X[["a", "b", "c"]], y)
    constraints = [
        ({"a": 1, "b": 1, "c": 1}, 12),
        ({"a": -1, "b": -1, "c": -1}, -12),
        ({"a": 1, "b": -1}, 0),
    ]
    costs = dict(zip("abc", COSTS, strict=True))
    numbers = X[["a", "b", "c"]]
    search = exact(model, desired=(8.5, 10.5), distance=costs, constraints=constraints)
    found = search.fit(numbers).explain(numbers[:5])
    grid = pd.DataFrame(list(product(range(-5, 20), repeat=3)), columns=numbers.columns)
    kept = grid[(grid.sum(axis=1) == 12) & (grid.a <= grid.b)]
    answers = model.predict(kept)
    kept = kept[(answers > 8.5) & (answers < 10.5)]
    for row, distance, origin in zip(
        found.rows.to_numpy(), found.distances, found.origin, strict=True
    ):
        if found.status[origin] == "found":
            before = numbers.to_numpy()[origin]
            least = (np.abs(kept.to_numpy() - before) @ COSTS).min()
            assert_allclose(distance, least, rtol=1e-6)
            assert row.sum() == 12
            assert row[0] <= row[1]
    assert (found.status == "found").sum() > 3
    assert found.rows.dtypes.equals(numbers.dtypes)


@pytest.mark.parametrize("kind", ["linear", "tree"])
def test_single_precision_and_rows_that_break_a_constraint(kind, data):
    X, y = data
    X = pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"])
    model = KINDS[kind].fit(X, y)
    coefficients = {"a": 1.0, "b": 0.3, "c": -0.7}
    values = X.astype(float) @ list(coefficients.values())
    bound = float(np.median(values))
    search = exact(model, distance="std", constraints=[(coefficients, bound)]).fit(X)
    rows = X[values > bound][:4]
    found = search.explain(rows)
    assert (found.status == "found").all()
    after = found.rows.astype(float) @ list(coefficients.values())
    sizes = found.rows.abs().astype(float) @ np.abs(list(coefficients.values()))
    assert (after <= bound + 1e-9 * (sizes + np.abs(bound))).all()
    assert found.rows.dtypes.equals(X.dtypes)
    assert found.optimal.all()


@pytest.mark.parametrize("kind", ["linear", "tree"])
def test_the_constraints_make_it_impossible(kind, data):
    X, y = data
    model = KINDS[kind].fit(X, y)
    keep = [({j: sign}, sign * X[0, j]) for j in range(3) for sign in (1, -1)]
    search = exact(model, constraints=keep, max_changes=3).fit(X)
    with pytest.warns(NoCounterfactualWarning, match="constraints leave no row"):
        found = search.explain(X[:1])
    assert found.status == ["impossible"]
    assert np.isinf(found.lower_bounds).all()


BAD = {
    "number": 3,
    "pairs": [{"a": 1}],
    "of a list": [([1, 2], 3)],
    "unknown": [({"d": 1}, 3)],
    "position": [({7: 1}, 3)],
    "twice": [({0: 1, "a": 2}, 3)],
    "category": [({"job": 1}, 3)],
    "infinite": [({"a": 1}, np.inf)],
    "missing": [({"a": np.nan}, 1)],
    "text": [({"a": "b"}, 1)],
    "nothing": [({}, 1)],
    "zero": [({"a": 0}, 1)],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_constraints(name):
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "job": list("uvuv")})
    model = DecisionTreeClassifier().fit(X[["a"]], [0, 0, 1, 1])
    search = ExactCounterfactual(FrozenEstimator(model), constraints=BAD[name])
    table = X if name == "category" else X[["a"]]
    if name == "category":
        model.n_features_in_ = 2
        model.feature_names_in_ = np.array(["a", "job"], object)
    with pytest.raises((ValueError, TypeError), match="constraints"):
        search.fit(table)


@pytest.mark.parametrize("model", [MODELS["forest"], LogisticRegression()])
def test_boxes_keep_constraints(model, data):
    X, y = data
    rows = X[:12]
    model = model.fit(X, y)
    constraints = [({0: 1.0, 1: -2.0}, 2.0), ({1: 0.5, 2: 1.0}, 1.0)]
    search = exact(model, region=True, constraints=constraints).fit(X)
    found = search.explain(rows)
    rng = np.random.default_rng(0)
    wide = np.zeros(3, dtype=bool)
    for origin, row, low, high in zip(
        found.origin, found.rows, found.low, found.high, strict=True
    ):
        assert ((low <= row) & (row <= high)).all()
        wide |= low < high
        inside = rng.uniform(np.maximum(low, -9), np.minimum(high, 9), (100, 3))
        assert (model.predict(inside) != model.predict(rows[[origin]])).all()
        # Constraints are kept to 1e-9 of the sizes of their terms.
        assert high[0] - 2 * low[1] <= 2 + 5e-9
        assert 0.5 * high[1] + high[2] <= 1 + 5e-9
    assert wide.all()

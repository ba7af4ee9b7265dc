"""Linear constraints of exact counterfactuals, against a linear program in each cell."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._model.trees.tree_response import read_trees
from sklearn_interpret.counterfactuals import ExactCounterfactual
from sklearn_interpret.exceptions import NoCounterfactualWarning

COSTS = np.array([1.0, 0.5, 2.0])


@pytest.fixture
def data():
    X, y = make_classification(
        120, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0
    )
    return X.astype(np.float32).astype(np.float64), y


def exact(model, **parameters):
    """An inspector of a fitted model."""
    parameters = {"distance": dict(enumerate(COSTS)), **parameters}
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


def cells(model):
    """First and last numbers of all cells of each feature."""
    for thresholds in read_trees(model).ensemble.split_codes.thresholds:
        last = thresholds.astype(np.float32)
        too_far = last > thresholds
        last[too_far] = np.nextafter(last[too_far], np.float32(-np.inf))
        low = np.append(-np.inf, np.nextafter(last, np.float32(np.inf)))
        yield np.stack([low, np.append(last, np.inf)], axis=1)


def nearest_by_changes(model, row, coefficients, bounds):
    """Least distance of another class with at most 1, 2 ... changes, all cells tried."""
    ends = list(cells(model))
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


def binding(row, found, steps=(0.5,)):
    """Constraints that allow parts of the change to what was found without any."""
    change = found - row
    coefficients = np.array([np.sign(change) + 0.25, [0.5, -1.0, 0.25]])
    bounds = coefficients @ row
    return coefficients, bounds + [0.5 * (coefficients[0] @ change), 0.1]


MODELS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=5, max_depth=2),
}


@pytest.mark.parametrize("name", MODELS)
def test_trees(name, data):
    X, y = data
    model = MODELS[name].fit(X, y)
    free = exact(model).fit(X).explain(X[:3])
    for row, nearest in zip(X[:3], free.rows, strict=True):
        coefficients, bounds = binding(row, nearest)
        constraints = as_pairs(coefficients, bounds)
        best = nearest_by_changes(model, row, coefficients, bounds)
        wishes = [
            ({}, best[3]),
            ({"max_changes": 2}, best[2]),
            ({"objective": "n_changed"}, best[np.isfinite(best).argmax()]),
        ]
        for wish, expected in wishes:
            search = exact(model, constraints=constraints, **wish).fit(X)
            found = search.explain(row[None])
            assert found.optimal.all()
            np.testing.assert_allclose(found.distances, expected, rtol=1e-6)
            assert (model.predict(found.rows) != model.predict(row[None])).all()
            excess = coefficients @ found.rows[0] - bounds
            assert (excess <= 1e-9 * (1 + np.abs(bounds))).all()
            if "objective" in wish:
                assert found.n_changed[0] == np.isfinite(best).argmax()

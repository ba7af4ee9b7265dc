"""Memory that exact effects take in passing: set by the working memory, not by rows."""

import gc
import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._core.trees.effects import tree_effects
from sklearn_interpret._model import parallel
from sklearn_interpret._model.replacement import replaced_trees
from sklearn_interpret.effects import AccumulatedLocalEffects as ALE
from sklearn_interpret.effects import PartialDependence
from tests.references.memory import peak_memory

pytestmark = pytest.mark.thorough

FEW, MANY = 1000, 3000
# Grids that are given: quantiles sort a column in passing.
GRIDS = {"custom_values": {j: np.linspace(-2, 2, 9) for j in range(6)}}


def table(n_rows, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, 6))


def fitted(model):
    X = table(300)
    return FrozenEstimator(model.fit(X, X[:, 0] * X[:, 1] + X[:, 2]))


def boosted():
    return fitted(
        GradientBoostingRegressor(n_estimators=3, max_depth=3, random_state=0)
    )


def partial_dependence(X, model=None, **params):
    model = boosted() if model is None else model
    return PartialDependence(model, grid_resolution=8, method="tree", **params).fit(X)


def accumulated(X, model=None, **params):
    model = boosted() if model is None else model
    params = {"n_intervals": 8, "method": "tree", **params}
    return ALE(model, **params).fit(X)


PAIRS = {"features": [0, 1, (0, 1), (1, 2)]}
WORKS = {
    "partial dependence": partial_dependence,
    "centred": partial(partial_dependence, centered=True),
    "standard errors": lambda X, **p: partial_dependence(X, **p).standard_errors_,
    "pairs": partial(partial_dependence, **PAIRS),
    "accumulated": accumulated,
    "accumulated, pairs": partial(accumulated, **PAIRS),
    "accumulated, with bands": partial(accumulated, confidence_level=0.9),
}


@pytest.mark.parametrize("name", WORKS)
def test_peak_memory_does_not_grow_with_the_rows(name, monkeypatch):
    monkeypatch.setattr(parallel, "_BLOCK_BYTES", 2**14)
    monkeypatch.setattr(tree_effects, "_MOST_ROWS", 2**7)
    with config_context(working_memory=0.1):
        WORKS[name](table(FEW), **GRIDS)
        works = [partial(WORKS[name], table(n), **GRIDS) for n in (FEW, MANY)]
        gc.collect()
        few, many = map(peak_memory, works)
    assert many - few < 8 * (MANY - FEW)


def results(effect):
    names = "average_", "standard_errors_", "effects_", "local_effects_std_"
    found = [getattr(effect, name) for name in names if hasattr(effect, name)]
    return [part for parts in found for part in parts]


@pytest.mark.parametrize("make", [partial_dependence, accumulated])
@pytest.mark.parametrize("features", [None, [0, (0, 1), (1, 2)]])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_effects_do_not_depend_on_the_working_memory(make, features, n_jobs):
    X = table(700)
    X[::7, 4] = -0.0
    expected = make(X, features=features)
    with config_context(working_memory=1e-3):
        found = make(X, features=features, n_jobs=n_jobs)
        pairs = zip(results(found), results(expected), strict=True)
        for here, there in pairs:
            assert_array_equal(here, there)
    assert_array_equal(found.feature_importances_, expected.feature_importances_)


def test_rows_put_in_order_piece_by_piece_give_the_same_averages(monkeypatch):
    forest = fitted(RandomForestRegressor(n_estimators=3, random_state=0))
    X = table(3000)
    expected = partial_dependence(X, forest)
    monkeypatch.setattr(tree_effects, "_MANY_ROWS", 0)
    monkeypatch.setattr(replaced_trees, "_LEAST_IN_ORDER", 700)
    monkeypatch.setattr(parallel, "_BLOCK_BYTES", 0)
    monkeypatch.setattr(parallel, "_FEWEST_BLOCK_ROWS", 700)
    whole = partial_dependence(X, forest)
    for here, there in zip(whole.average_, expected.average_, strict=True):
        assert_allclose(here, there, rtol=0, atol=1e-12)
    with config_context(working_memory=0.01):
        made = partial_dependence(X, forest, n_jobs=2)
    for here, there in zip(made.average_, whole.average_, strict=True):
        assert_array_equal(here, there)


def test_standard_errors_travel_once_they_are_read():
    """They are computed from the rows, which do not travel."""
    effect = partial_dependence(table(700))
    with pytest.raises(AttributeError, match="before pickling"):
        pickle.loads(pickle.dumps(effect)).standard_errors_  # noqa: B018
    expected = effect.standard_errors_
    again = pickle.loads(pickle.dumps(effect))
    for here, there in zip(again.standard_errors_, expected, strict=True):
        assert_array_equal(here, there)

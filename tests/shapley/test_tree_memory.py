"""Memory that TreeSHAP takes in passing: set by the working memory, not by the rows."""

import gc
import pickle
import tracemalloc
from functools import partial
from itertools import chain

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._core.trees.shapley.values import TreeShare
from sklearn_interpret.shapley import TreeSHAP

pytestmark = pytest.mark.thorough

FEW, MANY = 1500, 6000
IMPORTANCES = "feature_importances_"


def table(n_rows, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, 6))


def target(X):
    return X[:, 0] * X[:, 1] + X[:, 2]


def regressor():
    # Forests leave circles of objects behind, which hold rows until they are collected.
    X = table(200)
    model = GradientBoostingRegressor(n_estimators=3, max_depth=3, random_state=0)
    return model.fit(X, target(X))


def classifier():
    X = table(200)
    model = GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0)
    return model.fit(X, target(X) > 0)


def path_dependent(X, n_fitted=10):
    inspector = TreeSHAP(FrozenEstimator(regressor()), perturbation="path_dependent")
    return inspector.fit(X[:n_fitted])


def interventional(X):
    inspector = TreeSHAP(FrozenEstimator(regressor()), background=X[::-1])
    return inspector.fit(X[:10])


def of_probabilities(X):
    inspector = TreeSHAP(
        FrozenEstimator(classifier()), background=X[:2], response_method="predict_proba"
    )
    return inspector.fit(X[:10])


# What is done with rows; it returns the work to be measured.
WORKS = {
    "path-dependent": lambda X: lambda: path_dependent(X).explain(X),
    "as many background rows": lambda X: lambda: interventional(X).explain(X),
    "a background alone": lambda X: lambda: interventional(X),
    "interactions": lambda X: lambda: path_dependent(X).interaction_values(X),
    "probabilities": lambda X: lambda: of_probabilities(X).explain(X),
    "importances": lambda X: partial(getattr, path_dependent(X, None), IMPORTANCES),
    "sparse": lambda X: partial(path_dependent(X).explain, sparse.csr_array(X)),
}
# A quarter of the rows is enough for these: a block is smaller.
SLOW = {"probabilities", "importances"}


def passing_memory(work):
    """Peak of traced memory beyond what is kept at the end."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = work()
        now, peak = tracemalloc.get_traced_memory()
        del kept
        return peak - now
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", WORKS)
def test_peak_memory_does_not_grow_with_the_rows(name):
    work, X = WORKS[name], table(MANY)
    sizes = [n // 4 if name in SLOW else n for n in (FEW, MANY)]
    with config_context(working_memory=0.05):
        # What a first call imports and caches is not the work's own.
        work(X[: sizes[0]])()
        few, many = (passing_memory(work(X[:n])) for n in sizes)
    # One number for each further row would be more.
    assert many - few < 8 * (sizes[1] - sizes[0])


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("make", [path_dependent, interventional, of_probabilities])
@pytest.mark.parametrize("memory", [1e-6, 0.01, 1])
def test_values_do_not_depend_on_the_working_memory(memory, make, order):
    X = table(150 if memory > 1e-3 else 20)

    def found():
        inspector = make(X)
        if order == 2:
            return inspector.interaction_values(X), inspector.base_values_
        return inspector.transform(X), inspector.feature_importances_

    expected = found()
    with config_context(working_memory=memory):
        for here, there in zip(found(), expected, strict=True):
            assert_allclose(here, there, rtol=1e-10, atol=1e-10)


def test_codes_of_a_large_background_are_made_as_they_are_needed():
    X = table(3000)
    expected = interventional(X).transform(X[:40])
    with config_context(working_memory=0.01):
        inspector = interventional(X)
        game = inspector._tree_values().game
        assert not isinstance(game._codes, np.ndarray)
        assert_array_equal(inspector.transform(X[:40]), expected)


def plan_and_game(inspector):
    tree_values = inspector._tree_values()
    return tree_values.plan, tree_values.game


@pytest.fixture
def made(monkeypatch):
    """Orders for which shares of trees make their tables."""
    orders = []

    def make_groups(self, order):
        orders.append(order)
        return original(self, order)

    original = TreeShare.make_groups
    monkeypatch.setattr(TreeShare, "make_groups", make_groups)
    return orders


@pytest.mark.parametrize("make", [path_dependent, interventional])
def test_tables_are_kept_for_the_next_rows(make, made):
    X = table(400)
    inspector = make(X)
    plan, game = plan_and_game(inspector)
    assert not game.cached_groups
    first = inspector.transform(X)
    assert {order for order, _ in game.cached_groups} == {1}
    n_made = len(made)
    assert_array_equal(inspector.transform(X), first)
    assert len(made) == n_made == len(plan.shares(game))
    inspector.interaction_values(X)
    assert len(game.cached_groups) == 2 * n_made
    assert made.count(2) == n_made
    again = pickle.loads(pickle.dumps(inspector))
    assert not again._tree_values().game.cached_groups
    assert_array_equal(again.transform(X), first)


def test_tables_are_kept_within_an_eighth_of_the_working_memory(made):
    X = table(400)
    inspector = path_dependent(X)
    plan, game = plan_and_game(inspector)
    assert len(plan.shares(game)) == 2
    for memory, n_kept in (0.001, 0), (0.01, 1), (100, 2):
        game.cached_groups.clear()
        with config_context(working_memory=memory):
            expected = inspector.transform(X)
            made.clear()
            assert_allclose(inspector.transform(X), expected, atol=1e-12)
        assert (
            sum(group.n_bytes for group in chain(*game.cached_groups.values()))
            <= memory * 2**20 / 8
        )
        assert len(game.cached_groups) == n_kept
        assert bool(made) == (n_kept < 2)


def test_only_the_trees_of_a_share_travel():
    X = table(150)
    plan, game = plan_and_game(interventional(X))
    shares = plan.shares(game)
    assert len(shares) == 2
    travelling = [pickle.loads(pickle.dumps(share)).plan.ensemble for share in shares]
    assert sum(part.n_nodes for part in travelling) == plan.ensemble.n_nodes
    assert all(0 < part.n_nodes < plan.ensemble.n_nodes for part in travelling)

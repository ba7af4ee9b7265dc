"""Values of few rows, carried down the trees, against those from tables."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.trees.shapley import games
from sklearn_interpret._core.trees.shapley import path_dependent_few_rows as carried
from sklearn_interpret._core.trees.shapley.games import PathDependentGame
from sklearn_interpret._core.trees.shapley.path_dependent_few_rows import (
    carrying_is_cheaper,
)
from sklearn_interpret._core.trees.shapley.values import TreePlan
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from tests.references.trees import (
    random_ensemble,
    shapley_values,
    telling_rows,
    with_cover,
)

N_FEATURES, N_CATEGORICAL = 5, 1
PLAYERS = {
    "features": None,
    "groups": np.array([1, 0, 1, 2, 0]),
    "one player": np.zeros(N_FEATURES, dtype=int),
}


def ensemble(seed, **options):
    """Random trees with covers."""
    options |= {"n_features": N_FEATURES, "n_categorical": N_CATEGORICAL}
    return with_cover(random_ensemble(seed, **options), seed)


def by_both_routes(monkeypatch, trees, players, rows, order):
    """Values of rows carried down, and by tables."""
    plan = TreePlan.of_ensemble(trees, players)
    codes, found = trees.codes(rows), []
    for direct in (True, False):
        monkeypatch.setattr(
            games, "carrying_is_cheaper", lambda *_, direct=direct: direct
        )
        game = PathDependentGame(trees, plan.paths)
        found.append(shapley_values(plan, game, codes, order))
    return found


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize(("seed", "at_once"), [(0, 50), (2, 2**19)])
def test_values_are_those_of_tables(seed, at_once, players, order, monkeypatch):
    """However many trees, rows and points are worked on at a time."""
    monkeypatch.setattr(carried, "_NODES_AT_ONCE", 40)
    monkeypatch.setattr(carried, "_AT_ONCE", at_once)
    trees = ensemble(seed, n_trees=6, depth=7, k=3)
    rows = telling_rows(trees, 15, n_categorical=N_CATEGORICAL)
    assert np.isnan(rows).any()
    found, expected = by_both_routes(monkeypatch, trees, PLAYERS[players], rows, order)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_conditions_that_nothing_meets_by_chance(order, monkeypatch):
    """One side of every split has no cover, whichever a row takes."""
    trees = ensemble(5, n_trees=6, depth=7)
    cover = np.zeros(trees.n_nodes)
    cover[trees.roots] = 1
    rng = np.random.default_rng(5)
    for level in trees.levels:
        inner = level[~trees.is_leaf[level]]
        side = rng.random(len(inner)) < 0.5
        taken = np.where(side, trees.left[inner], trees.right[inner])
        cover[taken] = cover[inner]
    trees = replace(trees, cover=cover)
    rows = telling_rows(trees, 30, n_categorical=N_CATEGORICAL)
    found, expected = by_both_routes(monkeypatch, trees, None, rows, order)
    assert np.isfinite(found).all()
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_one_feature_split_again_and_again(order, monkeypatch):
    """Most of the conditions are merged with others, further up or right above."""
    trees = ensemble(8, n_trees=4, depth=9)
    feature = np.where(trees.feature >= 3, 3, trees.feature)
    trees = replace(trees, feature=feature)
    rows = telling_rows(trees, 20, n_categorical=N_CATEGORICAL)
    found, expected = by_both_routes(monkeypatch, trees, None, rows, order)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_trees_without_splits(order, monkeypatch):
    leaf = Tree([-1], [-1], [-2], [np.nan], [[1.0]], [1.0])
    stump = Tree(
        [1, -1, -1], [2, -1, -1], [0, 0, 0], [0.0] * 3, [[1], [2], [4]], [4, 1, 3]
    )
    for members, gain in (([leaf, leaf], 0.0), ([leaf, stump, leaf], -1.5)):
        trees = join_trees(members, base=[0.0], n_features=2, precision=np.float64)
        rows = np.array([[-1.0, 5.0]])
        found, expected = by_both_routes(monkeypatch, trees, None, rows, order)
        assert_allclose(found, expected, atol=1e-12)
        if order == 1:
            assert_allclose(found[0, :, 0], [gain, 0], atol=1e-12)


def test_few_rows_are_carried_and_many_are_looked_up():
    n_leaves = np.bincount([6] * 1000)
    direct = [carrying_is_cheaper(n_leaves, 10, n, 1) for n in (1, 10, 100_000)]
    assert direct == [True, True, False]
    most = [
        max(
            n
            for n in range(0, 5000, 50)
            if carrying_is_cheaper(np.bincount([d] * 1000), 10, n, 1)
        )
        for d in (3, 6, 12)
    ]
    assert most == sorted(most)
    assert carrying_is_cheaper(np.zeros(1, dtype=int), 3, 10, 1)

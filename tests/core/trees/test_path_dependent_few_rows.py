"""Values of few rows, carried down the trees, against tables and the definition."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_interpret._core.trees.shapley import games
from sklearn_interpret._core.trees.shapley import path_dependent_few_rows as carried
from sklearn_interpret._core.trees.shapley.games import PathDependentGame
from sklearn_interpret._core.trees.shapley.path_dependent_few_rows import (
    carrying_is_cheaper,
)
from sklearn_interpret._core.trees.shapley.values import TreePlan, shapley_values
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from tests.references.shapley import enumerated, path_dependent_game
from tests.references.trees import goes_left, random_ensemble, telling_rows

N_FEATURES, N_CATEGORICAL = 5, 1
PLAYERS = {
    "features": None,
    "groups": np.array([1, 0, 1, 2, 0]),
    "one player": np.zeros(N_FEATURES, dtype=int),
}


def ensemble(seed, *, least=0, **options):
    """Random trees, whose leaves have a cover of `least` or a little more."""
    trees = random_ensemble(
        seed, n_features=N_FEATURES, n_categorical=N_CATEGORICAL, **options
    )
    cover = np.zeros(trees.n_nodes)
    rng = np.random.default_rng(seed)
    cover[trees.is_leaf] = least + rng.integers(0, 3, trees.is_leaf.sum())
    for level in reversed(trees.levels()):
        inner = level[~trees.is_leaf[level]]
        cover[inner] = cover[trees.left[inner]] + cover[trees.right[inner]]
    return replace(trees, cover=cover)


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


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("n_rows", [1, 7])
def test_values_are_those_of_the_enumerated_game(players, n_rows, least, monkeypatch):
    monkeypatch.setattr(games, "carrying_is_cheaper", lambda *_: True)
    trees = ensemble(3, n_trees=3, depth=6, k=2, least=least)
    player_of = PLAYERS[players]
    plan = TreePlan.of_ensemble(trees, player_of)
    game = PathDependentGame(trees, plan.paths)
    if player_of is None:
        player_of = np.arange(N_FEATURES)
    rows = telling_rows(trees, n_rows, n_categorical=N_CATEGORICAL)
    singles, pairs = (
        shapley_values(plan, game, trees.codes(rows), order) for order in (1, 2)
    )
    upper = np.triu_indices(plan.paths.n_players, 1)
    for i, row in enumerate(rows):
        value = path_dependent_game(trees, goes_left, row, player_of)
        expected = enumerated(value, plan.paths.n_players)
        np.testing.assert_allclose(singles[..., i].T, expected, atol=1e-12)
        expected = enumerated(value, plan.paths.n_players, order=2)[upper]
        np.testing.assert_allclose(pairs[:, *upper, i].T, expected, atol=1e-12)
        assert not np.tril(pairs[..., i]).any()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize(("seed", "at_once"), [(0, 50), (1, 400), (2, 2**19)])
def test_values_are_those_of_tables(seed, at_once, players, order, monkeypatch):
    """However many trees, rows and points are worked on at a time."""
    monkeypatch.setattr(carried, "_NODES_AT_ONCE", 40)
    monkeypatch.setattr(carried, "_AT_ONCE", at_once)
    trees = ensemble(seed, n_trees=6, depth=7, k=3)
    rows = telling_rows(trees, 15, n_categorical=N_CATEGORICAL)
    assert np.isnan(rows).any()
    found, expected = by_both_routes(monkeypatch, trees, PLAYERS[players], rows, order)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_conditions_that_nothing_meets_by_chance(order, monkeypatch):
    """One side of every split has no cover, whichever a row takes."""
    trees = ensemble(5, n_trees=6, depth=7)
    cover = np.zeros(trees.n_nodes)
    cover[trees.roots] = 1
    rng = np.random.default_rng(5)
    for level in trees.levels():
        inner = level[~trees.is_leaf[level]]
        side = rng.random(len(inner)) < 0.5
        taken = np.where(side, trees.left[inner], trees.right[inner])
        cover[taken] = cover[inner]
    trees = replace(trees, cover=cover)
    rows = telling_rows(trees, 30, n_categorical=N_CATEGORICAL)
    found, expected = by_both_routes(monkeypatch, trees, None, rows, order)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_one_feature_split_again_and_again(order, monkeypatch):
    """Most of the conditions are merged with others, further up or right above."""
    trees = ensemble(8, n_trees=4, depth=9)
    feature = np.where(trees.feature >= 3, 3, trees.feature)
    trees = replace(trees, feature=feature)
    rows = telling_rows(trees, 20, n_categorical=N_CATEGORICAL)
    found, expected = by_both_routes(monkeypatch, trees, None, rows, order)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


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
        np.testing.assert_allclose(found, expected, atol=1e-12)
        if order == 1:
            np.testing.assert_allclose(found[0, :, 0], [gain, 0], atol=1e-12)


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

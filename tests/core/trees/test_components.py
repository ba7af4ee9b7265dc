"""Components of trees against the definition of the game, coalition by coalition."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.trees import components as tree_components
from sklearn_interpret._core.trees.components import TreeComponents
from sklearn_interpret._core.trees.shapley import games
from sklearn_interpret._core.trees.shapley import patterns as tree_patterns
from sklearn_interpret._core.trees.shapley.games import (
    InterventionalGame,
    PathDependentGame,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths
from tests.references.shapley import interventional_game, path_dependent_game
from tests.references.trees import (
    goes_left,
    random_ensemble,
    raw,
    telling_rows,
    with_cover,
)
from tests.speeds import examples

PLAYERS = {
    "features": np.arange(5),
    "groups": np.array([1, 0, 1, 2, 0]),
    "one player": np.zeros(5, dtype=int),
}


@pytest.fixture(params=["parts", "small parts", "long patterns", "few rows"])
def regime(request, monkeypatch):
    """The ways in which components are computed; all give the same."""
    few = request.param == "few rows"
    monkeypatch.setattr(games, "comparing_is_cheaper", lambda *_: few)
    if request.param == "small parts":
        monkeypatch.setattr(tree_components, "_WEIGHTS_AT_ONCE", 1)
        monkeypatch.setattr(tree_components, "_CONJUNCTIONS_AT_ONCE", 2)
        monkeypatch.setattr(tree_components, "_ROWS_AT_ONCE", 2)
        monkeypatch.setattr(games, "_ROWS_AT_ONCE", 3)
    if request.param == "long patterns":
        monkeypatch.setattr(tree_patterns, "MAX_PATTERN_BITS", 2)


def both_games(trees, paths, players, background, weights):
    """Games, and the values of coalitions by definition, of a row."""
    members = [np.flatnonzero(players == p) for p in range(paths.n_players)]
    yield (
        PathDependentGame(trees, paths),
        lambda row: path_dependent_game(trees, goes_left, row, players),
    )
    yield (
        InterventionalGame(trees, paths, trees.codes(background), weights),
        lambda row: interventional_game(
            lambda X: raw(trees, X), row, background, weights, members
        ),
    )


def check(seed, players, max_order, **options):
    """Components are the Moebius transform of the values of coalitions."""
    options |= {"n_trees": 3, "n_features": 5, "n_categorical": 1, "k": 2}
    trees = with_cover(random_ensemble(seed, **options), seed)
    paths = TreePaths.of_ensemble(trees, players)
    rows = telling_rows(trees, 12, n_categorical=1)
    weights = np.random.default_rng(seed).uniform(0.1, 2, 8)
    codes = trees.codes(rows[:4])
    for game, value_of in both_games(trees, paths, players, rows[4:], weights):
        components = TreeComponents(game, max_order)
        values = components.values(codes)
        assert values.shape == (2, len(components.sets), 4)
        found = dict(zip(components.sets, values.transpose(1, 2, 0), strict=True))
        for place in (0, 3):
            value = value_of(rows[place])
            for size in range(1, max_order + 1):
                for members in combinations(range(paths.n_players), size):
                    expected = sum(
                        (-1) ** (size - n) * value(frozenset(subset))
                        for n in range(size + 1)
                        for subset in combinations(members, n)
                    )
                    got = found[members][place] if members in found else 0.0
                    assert_allclose(got, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("max_order", [1, 2, 3])
@pytest.mark.parametrize("players", PLAYERS.values(), ids=PLAYERS)
def test_components_are_those_of_the_definition(players, max_order, regime):
    check(0, players, max_order, depth=6)


@examples(8)
@given(seed=st.integers(0, 10**6), depth=st.integers(0, 7))
def test_components_of_any_trees(seed, depth):
    check(seed, np.arange(5), 5, depth=depth)


def test_few_rows_and_many_agree():
    trees = with_cover(random_ensemble(1, n_trees=30, depth=9, n_features=12), 1)
    paths = TreePaths.of_ensemble(trees)
    codes = trees.codes(telling_rows(trees, 40))
    game = InterventionalGame(trees, paths, codes[5:], np.ones(35))
    few, many = TreeComponents(game, 2), TreeComponents(game, 2)
    assert game.few_components(codes[:1], 2) is not None
    many._conjunctions  # noqa: B018  -- computed, so that it is used
    assert_allclose(few.values(codes[:1]), many.values(codes[:1]), atol=1e-12)

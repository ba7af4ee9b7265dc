"""Shapley and interaction values of trees against the definition of the game."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.trees.shapley import games, subtrees
from sklearn_interpret._core.trees.shapley import patterns as tree_patterns
from sklearn_interpret._core.trees.shapley import values as tree_shapley
from sklearn_interpret._core.trees.shapley.games import (
    InterventionalGame,
    PathDependentGame,
)
from sklearn_interpret._core.trees.shapley.values import (
    TreePlan,
    add_value_parts,
    value_parts_of_task,
    value_tasks,
)
from tests.references.shapley import (
    enumerated,
    interventional_game,
    path_dependent_game,
)
from tests.references.trees import (
    goes_left,
    random_ensemble,
    raw,
    shapley_values,
    telling_rows,
    with_cover,
)
from tests.speeds import examples

N_CATEGORICAL = 1
CLOSE = {"rtol": 1e-10, "atol": 1e-10}
PLAYERS = {
    "features": np.arange(5),
    "groups": np.array([1, 0, 1, 2, 0]),
    "one player": np.zeros(5, dtype=int),
}


def ensemble_with_cover(seed, depth=6, k=2, n_features=5, **options):
    options |= {"depth": depth, "k": k, "n_features": n_features}
    trees = random_ensemble(seed, n_trees=3, n_categorical=N_CATEGORICAL, **options)
    return with_cover(trees, seed)


def full(pairs, singles):
    """Symmetric matrices from what the upper half says, diagonals from the values."""
    both = pairs + pairs.swapaxes(1, 2)
    place = np.arange(both.shape[1])
    both[:, place, place] = singles - both.sum(axis=2)
    return both


def rows_of(trees, n):
    return telling_rows(trees, n, n_categorical=N_CATEGORICAL)


REGIMES = ["few rows", "tables", "deep", "deeper", "wide", "single leaves"]


@pytest.fixture(params=REGIMES)
def regime(request, monkeypatch):
    """The ways in which leaves are valued; all give the same."""
    few = request.param == "few rows"
    monkeypatch.setattr(games, "carrying_is_cheaper", lambda *_: few)
    monkeypatch.setattr(games, "comparing_is_cheaper", lambda *_: few)
    if request.param == "wide":
        monkeypatch.setattr(tree_patterns, "MAX_PATTERN_BITS", 2)
    if request.param == "deeper":
        monkeypatch.setattr(games, "_MOST_WITH_INTEGRALS", 0)
    if request.param in ("deep", "deeper", "wide"):
        monkeypatch.setattr(subtrees, "MAX_TABLE_CONDITIONS", 1)
        monkeypatch.setattr(subtrees, "MAX_UNIT_BITS", 1)
    if request.param == "single leaves":
        monkeypatch.setattr(tree_shapley, "_SPLITS_PER_UNIT", 0)


def check_values(trees, plan, game, rows, value_of):
    """Values and interaction values are those of the game, coalition by coalition."""
    codes, n_players = trees.codes(rows), plan.paths.n_players
    singles, pairs = (shapley_values(plan, game, codes, order) for order in (1, 2))
    assert not np.tril(np.moveaxis(pairs, -1, 0)).any()
    pairs = full(pairs, singles)
    for i, row in enumerate(rows):
        value = value_of(row)
        expected = enumerated(value, n_players, order=2)
        assert_allclose(pairs[..., i].transpose(1, 2, 0), expected, atol=1e-12)
        assert_allclose(singles[..., i].T, expected.sum(axis=1), atol=1e-12)
        assert_allclose(game.base_values(), value(frozenset()), atol=1e-12)


def check_path_dependent(seed, player_of, **options):
    trees = ensemble_with_cover(seed, **options)
    plan = TreePlan.of_ensemble(trees, player_of)

    def value_of(row):
        return path_dependent_game(trees, goes_left, row, player_of)

    game = PathDependentGame(trees, plan.paths)
    check_values(trees, plan, game, rows_of(trees, 5), value_of)


def check_interventional(seed, player_of, **options):
    trees = ensemble_with_cover(seed, **options)
    plan = TreePlan.of_ensemble(trees, player_of)
    rows, background = rows_of(trees, 4), rows_of(trees, 12)[4:]
    weights = np.random.default_rng(seed).uniform(0.1, 2, len(background))
    members = [
        np.flatnonzero(player_of == player) for player in range(max(player_of) + 1)
    ]

    def value_of(row):
        ask = partial(raw, trees)
        return interventional_game(ask, row, background, weights, members)

    game = InterventionalGame(trees, plan.paths, trees.codes(background), weights)
    check_values(trees, plan, game, rows, value_of)


CHECKS = [check_path_dependent, check_interventional]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("players", PLAYERS)
def test_values_are_those_of_the_enumerated_game(players, check, regime):
    check(0, PLAYERS[players])


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("check", CHECKS)
def test_values_of_any_trees(check):
    """Hence also efficiency, symmetry, linearity, and zero for unused features."""

    @examples(25)
    @given(seed=st.integers(0, 2**16), depth=st.integers(0, 5), k=st.integers(1, 3))
    def holds(seed, depth, k):
        check(seed, np.arange(4), depth=depth, k=k, n_features=4)

    holds()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("most", "integrals", "longest"), [(8, 12, 62), (3, 12, 62), (2, 3, 62), (2, 3, 3)]
)
def test_a_row_gets_the_same_alone_and_among_many(
    order, most, integrals, longest, monkeypatch
):
    monkeypatch.setattr(games, "comparing_is_cheaper", lambda *sizes: sizes[3] < 20)
    monkeypatch.setattr(games, "_MOST_WITH_INTEGRALS", integrals)
    monkeypatch.setattr(tree_patterns, "MAX_PATTERN_BITS", longest)
    monkeypatch.setattr(subtrees, "MAX_TABLE_CONDITIONS", most)
    monkeypatch.setattr(tree_shapley, "_UNITS_PER_GROUP", 2)
    monkeypatch.setattr(games, "carrying_is_cheaper", lambda *sizes: sizes[2] <= 16)
    trees = ensemble_with_cover(2, depth=7)
    plan = TreePlan.of_ensemble(trees)
    codes = trees.codes(rows_of(trees, 100))
    for game in (
        PathDependentGame(trees, plan.paths),
        InterventionalGame(trees, plan.paths, codes[:7], np.arange(1.0, 8.0)),
    ):
        together = shapley_values(plan, game, codes, order)
        for row in range(0, 100, 9):
            alone = shapley_values(plan, game, codes[[row]], order)
            assert_allclose(alone[..., 0], together[..., row], **CLOSE)
        few = shapley_values(plan, game, codes[50:62], order)
        assert_allclose(few, together[..., 50:62], **CLOSE)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("most", [1, 8])
def test_values_do_not_hang_on_how_much_is_worked_on_at_once(most, order, monkeypatch):
    monkeypatch.setattr(subtrees, "MAX_TABLE_CONDITIONS", most)
    trees = ensemble_with_cover(0, depth=7)
    plan = TreePlan.of_ensemble(trees)
    codes = trees.codes(rows_of(trees, 150))
    one = PathDependentGame(trees, plan.paths)
    other = InterventionalGame(trees, plan.paths, codes, np.arange(1.0, 151.0))
    at_once = [shapley_values(plan, game, codes, order) for game in (one, other)]
    monkeypatch.setattr(games, "_ROWS_AT_ONCE", 20)
    monkeypatch.setattr(tree_patterns, "_PAIRS_AT_ONCE", 5000)
    monkeypatch.setattr(tree_shapley, "_ADDED_AT_ONCE", 7)
    for game, expected in zip((one, other), at_once, strict=True):
        values = shapley_values(plan, game, codes, order, rows_at_once=40)
        assert_allclose(values, expected, **CLOSE)


@pytest.mark.parametrize("order", [1, 2])
def test_gains_are_summed_together_as_one_by_one(monkeypatch, order):
    trees = ensemble_with_cover(12)
    plan = TreePlan.of_ensemble(trees)
    codes = trees.codes(rows_of(trees, 400))
    game = PathDependentGame(trees, plan.paths)
    assert not game.direct_is_cheaper(len(codes), order)
    together = shapley_values(plan, game, codes, order)
    monkeypatch.setattr(tree_shapley, "_SUMMED_AT_ONCE", 0)
    assert_allclose(shapley_values(plan, game, codes, order), together, **CLOSE)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("background", [False, True])
def test_trees_that_travel_give_the_same(regime, monkeypatch, background, order):
    """A share that another process gets knows its own trees only."""
    monkeypatch.setattr(tree_shapley, "_NUMBERS_PER_SHARE", 1)
    trees = ensemble_with_cover(11)
    plan = TreePlan.of_ensemble(trees)
    codes = trees.codes(rows_of(trees, 40))
    game = PathDependentGame(trees, plan.paths)
    if background:
        game = InterventionalGame(trees, plan.paths, codes[:9], np.arange(9) / 7)

    assert len(plan.shares(game)) > 1
    expected = shapley_values(plan, game, codes, order)
    found = np.zeros_like(expected)
    for task in value_tasks(plan, game, codes, order):
        add_value_parts(found, value_parts_of_task(*pickle.loads(pickle.dumps(task))))
    assert_array_equal(found, expected)

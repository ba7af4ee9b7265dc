"""Values of rows that are compared one by one, against those from tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.trees.shapley import games
from sklearn_interpret._core.trees.shapley import interventional_few_rows as pairs
from sklearn_interpret._core.trees.shapley.games import InterventionalGame
from sklearn_interpret._core.trees.shapley.values import TreePlan
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from tests.references.shapley import leaf_by_leaf
from tests.references.trees import (
    goes_left,
    random_ensemble,
    random_tree,
    shapley_values,
    telling_rows,
)

CLOSE = {"rtol": 0, "atol": 1e-12}


@pytest.fixture(params=["kept", "in blocks"])
def way(request, monkeypatch):
    """Blocks of the background that are kept, and small ones, made each time."""
    if request.param == "in blocks":
        monkeypatch.setattr(pairs, "_BYTES_PER_BLOCK", 900)
        monkeypatch.setattr(pairs, "_ROWS_PER_BLOCK", 30)
        monkeypatch.setattr(pairs, "_SPLITS_AT_ONCE", 3)
        return 0
    return np.inf


def compared_and_looked_up(trees, rows, background, order, monkeypatch, most_kept):
    """Values of rows in both ways, the background's rows weighing differently."""
    plan = TreePlan.of_ensemble(trees)
    weights = np.random.default_rng(0).uniform(0.1, 2, len(background))
    codes = trees.codes(background)
    game = InterventionalGame(trees, plan.paths, codes, weights, most_kept)
    for direct in (True, False):
        monkeypatch.setattr(
            games, "comparing_is_cheaper", lambda *_, answer=direct: answer
        )
        yield shapley_values(plan, game, trees.codes(rows), order)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n_others", [1, 64, 65, 130])
def test_backgrounds_of_any_size(n_others, order, way, monkeypatch):
    trees = random_ensemble(1, n_trees=3, depth=5, k=2, n_categorical=1)
    rows = telling_rows(trees, n_others + 5, n_categorical=1)
    found, expected = compared_and_looked_up(
        trees, rows[:5], rows[5:], order, monkeypatch, way
    )
    assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize(
    ("n_features", "order"),
    [(1, 1), (1, 2), (9, 1), (17, 2), (33, 1), (65, 1), (70, 2), (200, 1)],
)
def test_any_number_of_players(n_features, order, way, monkeypatch):
    trees = random_ensemble(2, n_trees=3, depth=6, n_features=n_features)
    rows = telling_rows(trees, 9)
    found, expected = compared_and_looked_up(
        trees, rows[:1], rows[1:], order, monkeypatch, way
    )
    assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("depth", [0, 1])
def test_trees_of_one_or_two_leaves(depth, way, monkeypatch):
    trees = random_ensemble(3, n_trees=4, depth=depth)
    rows = telling_rows(trees, 9)
    found, expected = compared_and_looked_up(
        trees, rows[:4], rows[4:], 1, monkeypatch, way
    )
    assert_allclose(found, expected, **CLOSE)
    assert found.any() == (depth > 0)


def test_trees_of_different_depths(way, monkeypatch):
    rng = np.random.default_rng(4)
    options = {"n_features": 4, "k": 1, "thresholds": rng.normal(size=8)}
    trees = join_trees(
        [random_tree(rng, depth=depth, **options) for depth in (0, 7, 1, 4, 0)],
        base=np.zeros(1),
        n_features=4,
        precision=float,
        strict=False,
    )
    rows = telling_rows(trees, 20)
    found, expected = compared_and_looked_up(
        trees, rows[:4], rows[4:], 1, monkeypatch, way
    )
    assert_allclose(found, expected, **CLOSE)


def chain(n_features):
    """A tree whose lowest leaf needs every feature below 0."""
    n, k = 2 * n_features + 1, np.arange(n_features)
    tree = {"left": np.full(n, -1), "right": np.full(n, -1), "feature": np.full(n, -2)}
    tree["left"][2 * k], tree["right"][2 * k] = 2 * k + 2, 2 * k + 1
    tree["feature"][2 * k] = k
    is_leaf = tree["left"] < 0
    value = np.where(is_leaf, np.random.default_rng(0).normal(size=n), 0)[:, None]
    threshold = np.where(is_leaf, np.nan, 0.0)
    tree = Tree(**tree, threshold=threshold, value=value, cover=np.ones(n))
    return join_trees(
        [tree], base=np.zeros(1), n_features=n_features, precision=float, strict=False
    )


def test_more_conditions_than_bits(way, monkeypatch):
    trees = chain(66)
    # Rows that get far down.
    row, *others = np.where(np.random.default_rng(1).random((3, 66)) < 0.03, 1, -1.0)
    found = next(
        compared_and_looked_up(trees, row[None], np.array(others), 1, monkeypatch, way)
    )
    weights = np.random.default_rng(0).uniform(0.1, 2, 2)
    expected = 0.0
    for other, weight in zip(others, weights / weights.sum(), strict=True):

        def factors(feature, conditions, other=other):
            for x in (row, other):
                sides = (goes_left(trees, node, x[feature]) for node, _ in conditions)
                yield list(sides) == [left for _, left in conditions]

        expected = expected + weight * leaf_by_leaf(
            trees, lambda *condition: tuple(factors(*condition)), 66
        )
    assert expected.any()
    assert_allclose(found[0, :, 0], expected, **CLOSE)


@pytest.mark.parametrize(
    ("leaves", "n_rows", "n_others", "expected"),
    [
        ({6: 5000}, 1, 100, True),
        ({6: 5000}, 10_000, 100, False),
        ({6: 5000}, 300, 1, True),
        ({6: 5000}, 10, 50_000, False),
        ({10: 300_000}, 500, 100, True),
        ({10: 300_000}, 500, 10_000, False),
    ],
)
def test_rows_are_compared_where_that_costs_less(leaves, n_rows, n_others, expected):
    counts = np.zeros(12, dtype=int)
    counts[list(leaves)] = list(leaves.values())
    assert pairs.comparing_is_cheaper(counts, 20, n_others, n_rows, 1) == expected

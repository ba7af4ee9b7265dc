"""Groups that nest, against the enumeration of the orders that keep them together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.games.loss_games import (
    membership,
    nested_squared_error_values,
    squared_error_values,
)
from tests.references.shapley import permitted_orders, values_over_orders
from tests.speeds import examples

TREES = {
    "flat": [0, 1, 2, 3],
    "one": [[0]],
    "pairs": [[0, 1], [2, 3]],
    "group of one": [[0], [1, 2], 3],
    "three levels": [[[0, 1], [2, 3]], [4], 5],
    "all in one": [[3, 0, 2, 1]],
    "chain": [0, [1, [2, [3, 4]]]],
}


def paths_of(tree):
    """Numbers of the groups of each player, outermost first."""
    paths = {}

    def walk(member, path):
        if isinstance(member, list):
            for number, inner in enumerate(member):
                walk(inner, (*path, number) if isinstance(inner, list) else path)
        else:
            paths[member] = path

    walk(tree, ())
    return [paths[player] for player in range(len(paths))]


def hierarchy_of(tree, causal=False):
    """The hierarchy of nested lists; with `causal`, the outermost ones are ordered."""
    if causal:  # single players are entries of their own
        tree = [member if isinstance(member, list) else [member] for member in tree]
    return Hierarchy.of_paths(paths_of(tree), causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_values_are_means_over_the_orders(tree, causal):
    hierarchy, orders = hierarchy_of(tree, causal), permitted_orders(tree, causal)
    p = hierarchy.n_players
    game = np.random.default_rng(p).normal(size=(2**p, 2))
    numbers = 2 ** np.arange(p)
    expected = values_over_orders(lambda s: game[sum(2**j for j in s)], orders)
    sums = hierarchy.coalition_sums()
    values = sums.coefficients @ game[sums.coalitions @ numbers]
    assert_allclose(values, expected, atol=1e-13)
    assert not sums.coalitions[0].any()
    assert sums.coalitions[-1].all()
    assert len(sums.coalitions) <= 2 * hierarchy.n_coalitions


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_orders(tree, causal):
    hierarchy = hierarchy_of(tree, causal)
    expected = sorted(map(tuple, permitted_orders(tree, causal)))
    assert sorted(map(tuple, hierarchy.all_orders().tolist())) == expected
    assert hierarchy.n_orders == len(expected)
    drawn = hierarchy.draw_orders(4000, np.random.default_rng(0))
    distinct, counts = np.unique(drawn, axis=0, return_counts=True)
    assert list(map(tuple, distinct.tolist())) == expected
    # Each as often as the others, up to five standard deviations.
    mean = 4000 / len(expected)
    assert np.abs(counts - mean).max() <= 5 * np.sqrt(mean)
    reverses = set(map(tuple, hierarchy.reverse_orders(drawn).tolist()))
    assert reverses == set(expected)
    twice = hierarchy.reverse_orders(hierarchy.reverse_orders(drawn))
    assert np.array_equal(twice, drawn)


@examples(30)
@given(st.integers(0, 2**32 - 1))
def test_players_who_add_nothing_can_be_left_out(seed):
    rng = np.random.default_rng(seed)
    hierarchy = Hierarchy.of_paths(
        [tuple(rng.integers(2, size=rng.integers(3)).tolist()) for _ in range(5)]
    )
    game = rng.normal(size=2**5)
    absent = rng.random(5) < 0.4
    absent[rng.integers(5)] = False
    present = np.flatnonzero(~absent)
    numbers = np.where(absent, 0, 2 ** np.arange(5))
    sums = hierarchy.coalition_sums()
    values = sums.coefficients @ game[sums.coalitions @ numbers]
    inside = hierarchy.restricted(present).coalition_sums()
    expected = np.zeros(5)
    expected[present] = inside.coefficients @ game[inside.coalitions @ numbers[present]]
    assert_allclose(values, expected, atol=1e-13)


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_squared_errors(tree):
    """The game 2 r'g_S - g_S'g_S of sums g_S of components inside S."""
    hierarchy, rng = hierarchy_of(tree), np.random.default_rng(1)
    p = hierarchy.n_players
    sets = [(j,) for j in range(p)] + [tuple(range(0, p, 2)), tuple(range(p))]
    sets = list(dict.fromkeys(sets))
    linear, root = rng.normal(size=len(sets)), rng.normal(size=(9, len(sets)))
    gram, members = root.T @ root, membership(sets, p)

    def value(coalition):
        inside = np.array([set(s) <= coalition for s in sets], dtype=float)
        return 2 * linear @ inside - inside @ gram @ inside

    expected = values_over_orders(value, permitted_orders(tree))
    values = nested_squared_error_values(members, linear, gram, hierarchy)
    assert_allclose(values, expected, atol=1e-12)
    flat = nested_squared_error_values(members, linear, gram, Hierarchy.flat(p))
    assert_allclose(flat, squared_error_values(members, linear, gram), atol=1e-12)

"""Bit sets of rows against rows taken one at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.trees.structure.bits import (
    Conditions,
    RowBits,
    RowWeights,
    all_but_one_and_all,
    blocks_of_trees,
    first_bits,
    set_bits,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths
from tests.references.trees import random_ensemble, telling_rows


def members(sets, n_rows):
    """Bit sets (..., n_words) as booleans (..., n_rows)."""
    return np.unpackbits(sets.view(np.uint8), axis=-1, bitorder="little")[
        ..., :n_rows
    ].astype(bool)


def random_sets(seed, *shape):
    rng = np.random.default_rng(seed)
    sets = rng.integers(0, 2**63, size=shape, dtype=np.uint64)
    return sets & rng.integers(0, 2**63, size=shape, dtype=np.uint64)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("n_categorical", [0, 2])
def test_lefts_are_the_rows_that_go_left(n_rows, n_categorical):
    trees = random_ensemble(n_rows, n_categorical=n_categorical)
    codes = trees.codes(telling_rows(trees, n_rows, n_categorical=n_categorical))
    nodes = np.flatnonzero(~trees.is_leaf)
    found = members(RowBits(trees, codes).left_rows(nodes), n_rows)
    for node, rows in zip(nodes, found, strict=True):
        expected = trees.goes_left(np.full(n_rows, node), codes[:, trees.feature[node]])
        assert_array_equal(rows, expected)


def test_some_features_are_enough_for_their_splits():
    trees = random_ensemble(3, n_categorical=1)
    codes = trees.codes(telling_rows(trees, 90, n_categorical=1))
    nodes = np.flatnonzero(np.isin(trees.feature, [0, 2]))
    some = RowBits(trees, codes[:, [2, 0]], [2, 0]).left_rows(nodes)
    assert_array_equal(
        members(some, 90), members(RowBits(trees, codes).left_rows(nodes), 90)
    )


@pytest.mark.parametrize("players", [[0, 1, 2, 3], [0, 1, 0, 1], [0, 0, 0, 0]])
def test_conditions_are_met_by_rows_that_go_this_way_at_all_their_splits(players):
    trees, n_rows = random_ensemble(8, depth=7, n_categorical=1), 100
    codes = trees.codes(telling_rows(trees, n_rows, n_categorical=1))
    players = np.array(players)
    paths = TreePaths.of_ensemble(trees, players)
    nodes = np.flatnonzero(trees.parents >= 0)
    conditions = Conditions.of_nodes(trees, paths, nodes)
    assert sorted(conditions.nodes) == nodes.tolist()
    sets = conditions.meeting_rows(RowBits(trees, codes))
    assert not members(sets, 128)[:, n_rows:].any()
    for node, rows in zip(conditions.nodes, members(sets, n_rows), strict=True):
        expected, below = np.ones(n_rows, dtype=bool), node
        while trees.parents[below] >= 0:
            parent = trees.parents[below]
            if players[trees.feature[parent]] == paths.player[node]:
                codes_there = codes[:, trees.feature[parent]]
                left = trees.goes_left(np.full(n_rows, parent), codes_there)
                expected &= left == (trees.left[parent] == below)
            below = parent
        assert_array_equal(rows, expected)


@pytest.mark.parametrize("d", range(5))
def test_all_but_one_and_all(d):
    sets, valid = random_sets(d, d, 7, 3), first_bits(150)
    found = all_but_one_and_all(sets, valid)
    for slot in range(d + 1):
        others = [sets[s] for s in range(d) if s != slot]
        expected = np.bitwise_and.reduce([np.tile(valid, (7, 1)), *others], axis=0)
        assert_array_equal(found[slot], expected)


def test_set_bits():
    sets = random_sets(1, 9, 4)
    which, row = set_bits(sets)
    expected = np.nonzero(members(sets, 256))
    assert_array_equal((which, row), expected)
    assert all(len(found) == 0 for found in set_bits(np.zeros((3, 2), np.uint64)))


@pytest.mark.parametrize("n_rows", [5, 64, 100])
@pytest.mark.parametrize("equal", [True, False])
def test_weights_of_sets(n_rows, equal):
    rng = np.random.default_rng(n_rows)
    weights = np.full(n_rows, 0.7) if equal else rng.uniform(size=n_rows)
    valid = first_bits(n_rows)
    sets = random_sets(2, 3, 6, len(valid)) & valid
    found = RowWeights(weights).total(sets)
    assert_allclose(found, members(sets, n_rows) @ weights, rtol=1e-13)


def test_blocks_hold_whole_trees():
    trees = random_ensemble(4, n_trees=7)
    for most in (1, 40, 10**6):
        blocks = blocks_of_trees(trees, most)
        assert sorted(np.concatenate(blocks)) == list(range(trees.n_nodes))
        for nodes in blocks:
            inner = nodes[~trees.is_leaf[nodes]]
            assert set(trees.left[inner]) | set(trees.right[inner]) <= set(nodes)
    assert len(blocks) == 1


@pytest.mark.parametrize("n", [0, 1, 63, 64, 127, 130])
@pytest.mark.parametrize("kind", [int, np.int64])
def test_the_first_bits(n, kind):
    found = members(first_bits(kind(n)), 192)
    assert found.tolist() == [True] * n + [False] * (len(found) - n)

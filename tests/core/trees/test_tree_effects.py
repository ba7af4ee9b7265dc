"""Exact effects of trees against outputs of altered rows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.trees.effects import curves as tree_curves
from sklearn_interpret._core.trees.effects import tree_effects as module
from sklearn_interpret._core.trees.effects.curves import TreeCurves
from sklearn_interpret._core.trees.effects.tree_effects import (
    ConditionSteps,
    MovedFeatures,
    TreeEffects,
)
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._core.trees.structure.paths import TreePaths
from tests.references.trees import random_ensemble, telling_rows
from tests.speeds import examples


def every_code(trees, features):
    """The part that moves features through all combinations of their codes."""
    sizes = [trees.split_codes.n_codes[j] for j in features]
    points = np.array(list(product(*map(range, sizes))), dtype=np.intp)
    return MovedFeatures(np.array(features), points, tuple(sizes))


def parts_of(trees, seed=0):
    """A feature, two along two axes, and points of one in any order."""
    shuffled = np.random.default_rng(seed).permutation(trees.split_codes.n_codes[3])
    last = MovedFeatures(np.array([3]), shuffled[:, None], shuffled.shape)
    return [every_code(trees, [1]), every_code(trees, [0, 2]), last]


def effects_of(trees, parts):
    return TreeEffects(trees, trees.value, trees.base, parts)


def outputs(trees, codes, part):
    """The definition: all rows with the part at each of its points, (n, G, k)."""
    found = []
    for point in part.codes:
        altered = codes.copy()
        altered[:, part.features] = point
        found.append(trees.base + trees.value[trees.apply_codes(altered)].sum(axis=1))
    return np.stack(found, axis=1)


def whole_curves(effects, codes):
    """Outputs of all rows, for each part: (n, G, k)."""
    return [outputs for _, outputs in TreeCurves(effects).curves(codes)]


def check(trees, codes, weights, parts):
    effects = effects_of(trees, parts)
    curves = whole_curves(effects, codes)
    averages = effects.averages(effects.leaf_weights(codes, weights), weights.sum())
    for part, curve, mean in zip(parts, curves, averages, strict=True):
        expected = outputs(trees, codes, part)
        assert_allclose(curve, expected, rtol=0, atol=1e-12)
        expected = np.average(expected, axis=0, weights=weights)
        assert_allclose(mean, expected, rtol=0, atol=1e-12)


@examples(25)
@given(
    seed=st.integers(0, 2**16),
    n_categorical=st.integers(0, 3),
    k=st.sampled_from([1, 3]),
    n_rows=st.sampled_from([9, 130]),
)
def test_averages_and_curves_of_any_trees(seed, n_categorical, k, n_rows):
    trees = random_ensemble(seed, n_categorical=n_categorical, k=k)
    codes = trees.codes(telling_rows(trees, n_rows, n_categorical=n_categorical))
    weights = np.random.default_rng(seed).uniform(0.1, 3, size=n_rows)
    weights = weights if seed % 2 else np.full(n_rows, 0.3)
    check(trees, codes, weights, parts_of(trees, seed))


@examples(15)
@given(seed=st.integers(0, 2**16), n_categorical=st.integers(0, 3))
def test_differences(seed, n_categorical):
    rng = np.random.default_rng(seed)
    trees = random_ensemble(seed, n_categorical=n_categorical, k=1 + seed % 2)
    codes = trees.codes(telling_rows(trees, 70, n_categorical=n_categorical))
    parts = parts_of(trees, seed)
    crossings, expected = [], []
    for part in parts:
        shape = part.shape
        whole = outputs(trees, codes, part).reshape(70, *shape, -1)
        for axis in range(1, len(shape) + 1):
            whole = np.diff(whole, axis=axis)
        steps = [rng.integers(0, size, 70) for size in shape]  # 0 is none
        taken = np.all([step > 0 for step in steps], axis=0)
        crossing = np.ravel_multi_index(steps, shape)
        crossings.append(np.where(taken, crossing, -1))
        change = np.zeros((70, whole.shape[-1]))
        at = tuple(step[taken] - 1 for step in steps)
        change[taken] = whole[(np.flatnonzero(taken), *at)]
        expected.append(change)
    found = effects_of(trees, parts).differences(codes, np.column_stack(crossings))
    assert_allclose(found, np.stack(expected, axis=1), rtol=0, atol=1e-12)


def test_many_points_and_groups_of_features():
    trees = random_ensemble(5, n_features=5, n_categorical=1)
    codes = trees.codes(telling_rows(trees, 40, n_categorical=1))
    rng = np.random.default_rng(3)
    group = np.array([0, 3, 4])
    n_codes = trees.split_codes.n_codes[group]
    points = rng.integers(0, n_codes, size=(150, 3))
    check(trees, codes, np.ones(40), [MovedFeatures(group, points, (150,))])


def test_what_the_trees_do_not_look_at_changes_nothing():
    trees = random_ensemble(6)
    codes = trees.codes(telling_rows(trees, 20))
    no_codes = np.empty((3, 0), dtype=np.intp)
    none = MovedFeatures(no_codes[0], no_codes, (3,))
    empty, other = (
        MovedFeatures(np.array([j]), no_codes.reshape(0, 1), (0,)) for j in (1, 2)
    )
    check(trees, codes, np.ones(20), [none, every_code(trees, [0])])
    effects = effects_of(trees, [empty, none, other])
    curves = whole_curves(effects, codes)
    assert [c.shape for c in curves] == [(20, 0, 1), (20, 3, 1), (20, 0, 1)]
    averages = effects.averages(effects.leaf_weights(codes, np.ones(20)), 20.0)
    assert [c.shape for c in averages] == [(0, 1), (3, 1), (0, 1)]
    assert_allclose(averages[1], curves[1].mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_trees", [0, 2])
def test_trees_of_a_single_leaf(n_trees):
    leaf = Tree([-1], [-1], [-2], [np.nan], [[1.5]], [1.0])
    trees = join_trees([leaf] * n_trees, base=[0.5], n_features=2, precision=np.float64)
    codes = np.zeros((5, 2), dtype=np.int32)
    part = MovedFeatures(np.array([0]), np.zeros((4, 1), dtype=np.intp), (4,))
    check(trees, codes, np.ones(5), [part])
    effects = effects_of(trees, [part])
    assert not effects.differences(codes, np.full((5, 1), 2)).any()


def test_splits_above_leaves_that_are_roots():
    stump = random_ensemble(2, depth=1, n_trees=3, n_features=4)
    codes = stump.codes(telling_rows(stump, 30))
    check(stump, codes, np.ones(30), parts_of(stump))


def test_sizes_of_blocks_do_not_matter(monkeypatch):
    trees = random_ensemble(9, depth=7, n_trees=8)
    codes = trees.codes(telling_rows(trees, 100))
    for name in ("_WORDS_OF_CONDITIONS", "_MOST_WORDS", "_WORDS_OF_TABLES"):
        monkeypatch.setattr(module, name, 8)
    monkeypatch.setattr(tree_curves, "_MOST_WORDS", 8)
    effects = effects_of(trees, parts_of(trees))
    assert effects.block_rows == 512
    check(trees, codes, np.ones(100), parts_of(trees))


def test_a_row_alone_has_the_curve_that_it_has_among_many():
    trees = random_ensemble(10, depth=6, n_trees=20)
    codes = trees.codes(telling_rows(trees, 200))
    effects = effects_of(trees, parts_of(trees))
    together = whole_curves(effects, codes)
    for row in (0, 77, 199):
        alone = whole_curves(effects, codes[[row]])
        for whole, one in zip(together, alone, strict=True):
            assert_allclose(one[0], whole[row], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("which", range(3))
def test_steps_add_up_to_conditions(which):
    trees = random_ensemble(13, depth=6, n_categorical=1)
    parts = parts_of(trees)
    players = np.full(trees.n_features, 3)
    for player, part in enumerate(parts):
        players[part.features] = player
    paths = TreePaths.of_ensemble(trees, players)
    steps = ConditionSteps.of_features(trees, paths, parts)
    part, first = parts[which], sum(other.n_points for other in parts[:which])
    for node in np.flatnonzero(paths.player == which):
        _, point, sign = steps.of_conditions(np.array([node]))
        found = np.bincount(point - first, sign, part.n_points).reshape(part.shape)
        for axis in range(len(part.shape)):
            found = np.cumsum(found, axis=axis)
        expected, below = np.ones(part.n_points, dtype=bool), node
        while trees.parents[below] >= 0:
            parent = trees.parents[below]
            at = np.flatnonzero(part.features == trees.feature[parent])
            if len(at):
                codes = part.codes[:, at[0]]
                left = trees.goes_left(np.full(len(codes), parent), codes)
                expected &= left == (trees.left[parent] == below)
            below = parent
        assert_array_equal(found.ravel(), expected)

"""Pairs, sets and outcomes of random trees against altered rows."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.trees.effects import curves as tree_curves
from sklearn_interpret._core.trees.effects import feature_sets as tree_sets
from sklearn_interpret._core.trees.effects import pairwise_interactions as tree_pairs
from sklearn_interpret._core.trees.effects.curves import TreeCurves
from sklearn_interpret._core.trees.effects.feature_sets import TreeSets
from sklearn_interpret._core.trees.effects.pairwise_interactions import (
    TreePairs,
    bytes_of_pairs,
    leaves_of_pairs,
    mean_steps,
)
from sklearn_interpret._core.trees.effects.tree_effects import (
    MovedFeatures,
    TreeEffects,
)
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from tests.references.observed import mean_given
from tests.references.trees import random_ensemble, telling_rows
from tests.speeds import examples

GROUPS = ([0], [1], [2], [3]), ([2], [3, 0]), ([1], [0, 2], [3])


def sample(trees, n_rows, n_categorical=0, *, weighted=True):
    codes = trees.codes(telling_rows(trees, n_rows, n_categorical=n_categorical))
    weights = np.full(n_rows, 0.7)
    if weighted:
        weights = np.random.default_rng(1).uniform(0.1, 3, size=n_rows)
        weights[::5] = 0
    return np.ascontiguousarray(codes), weights


def observed(trees, codes, groups):
    """Effects of groups over the points that rows have, and those of the rows."""
    parts, at = [], []
    for features in groups:
        points, places = np.unique(codes[:, features], axis=0, return_inverse=True)
        parts.append(MovedFeatures(np.array(features), points, (len(points),)))
        at.append(places.reshape(-1))
    return TreeEffects(trees, trees.value, trees.base, parts), at


def expected_terms(trees, codes, weights, groups, pairs):
    """The definition: PD_jk - PD_j - PD_k + mean, for each pair."""

    def given(*parts):
        columns = [column for part in parts for column in groups[part]]
        return mean_given(trees.raw_of_codes, codes, weights, columns)

    alone = [given(part) for part in range(len(groups))]
    return [given(j, k) - alone[j] - alone[k] + given() for j, k in pairs]


def check_pairs(trees, codes, weights, groups, pairs):
    effects, at = observed(trees, codes, groups)
    terms = TreePairs(effects, pairs)
    found = terms.terms(
        effects.leaf_weights(codes, weights),
        terms.leaf_weights(codes, weights),
        weights.sum(),
        at,
    )
    assert len(found) == len(pairs)
    expected = expected_terms(trees, codes, weights, groups, pairs)
    for term, right in zip(found, expected, strict=True):
        assert_allclose(term, right, rtol=0, atol=1e-12)


any_trees = given(
    seed=st.integers(0, 2**16),
    n_categorical=st.integers(0, 3),
    k=st.sampled_from([1, 3]),
    n_rows=st.sampled_from([12, 70]),  # within a word of bits, and beyond
)


@pytest.mark.thorough
@examples(25)
@any_trees
def test_pairs_of_any_trees(seed, n_categorical, k, n_rows):
    trees = random_ensemble(seed, n_categorical=n_categorical, k=k)
    codes, weights = sample(trees, n_rows, n_categorical, weighted=seed % 2)
    groups, random = GROUPS[seed % 3], np.random.default_rng(seed)
    pairs = random.permutation(list(combinations(range(len(groups)), 2)))
    pairs = [tuple(random.permutation(pair)) for pair in pairs]
    check_pairs(trees, codes, weights, groups, pairs)


@examples(25)
@given(seed=st.integers(0, 2**16), n_categorical=st.integers(0, 3))
def test_sets_of_any_trees(seed, n_categorical):
    trees = random_ensemble(seed, n_categorical=n_categorical, k=1 + seed % 2)
    codes, weights = sample(trees, 12, n_categorical)
    for size in range(5):
        features = np.random.default_rng(seed).permutation(4)[:size]
        sets = TreeSets(trees, trees.value, features, 64)
        found = sets.outputs(codes, sets.leaf_weights(codes, weights)) + trees.base
        expected = mean_given(trees.raw_of_codes, codes, weights, features)
        assert_allclose(found, expected, rtol=0, atol=1e-12)


def check_outcomes(trees, codes, weights, groups):
    effects, at = observed(trees, codes, groups)
    made = TreeCurves(effects)
    everything = range(trees.n_features)
    shares = [
        np.bincount(places, weights, part.n_points) / weights.sum()
        for places, part in zip(at, effects.moved_features, strict=True)
    ]
    means = made.expectations(codes, shares)
    curves = [answers for _, answers in made.curves(codes)]
    for which, features in enumerate(groups):
        others = [j for j in everything if j not in features]
        expected = mean_given(trees.raw_of_codes, codes, weights, others)
        assert_allclose(means[:, which], expected, rtol=0, atol=1e-12)
        answers = []
        for point in effects.moved_features[which].codes:
            altered = codes.copy()
            altered[:, features] = point
            answers.append(trees.raw_of_codes(altered))
        expected = np.stack(answers, axis=1)
        assert_allclose(curves[which], expected, rtol=0, atol=1e-12)


@examples(15)
@any_trees
def test_outcomes_of_any_trees(seed, n_categorical, k, n_rows):
    trees = random_ensemble(seed, n_categorical=n_categorical, k=k)
    check_outcomes(trees, *sample(trees, n_rows, n_categorical), GROUPS[seed % 3])


def check_everything(trees, n_rows):
    codes, weights = sample(trees, n_rows)
    check_pairs(trees, codes, weights, GROUPS[0], [(0, 1), (3, 2), (1, 3)])
    check_outcomes(trees, codes, weights, GROUPS[0])


@pytest.mark.parametrize("n_trees", [0, 2])
def test_trees_of_a_single_leaf(n_trees):
    leaf = Tree([-1], [-1], [-2], [np.nan], [[1.5]], [1.0])
    trees = join_trees([leaf] * n_trees, base=[0.5], n_features=4, precision=np.float64)
    check_everything(trees, 10)


@pytest.mark.parametrize("depth", [1, 2])
def test_shallow_trees(depth):
    check_everything(random_ensemble(3, depth=depth, n_trees=3), 20)


def test_one_row():
    trees = random_ensemble(4)
    codes, _ = sample(trees, 1)
    check_pairs(trees, codes, np.ones(1), GROUPS[0], [(0, 1)])
    check_outcomes(trees, codes, np.ones(1), GROUPS[0])


def test_portions_do_not_matter(monkeypatch):
    trees = random_ensemble(9, depth=6, n_trees=3, n_categorical=1)
    codes, weights = sample(trees, 70, 1)
    for module in (tree_pairs, tree_sets):
        monkeypatch.setattr(module, "_MOST_WORDS", 8)
    monkeypatch.setattr(tree_sets, "_WORDS_OF_CONDITIONS", 8)
    monkeypatch.setattr(tree_pairs, "_MOST_CORNERS", 8)
    monkeypatch.setattr(tree_curves, "_MOST_WORDS", 8)
    for groups in GROUPS:
        pairs = list(combinations(range(len(groups)), 2))
        check_pairs(trees, codes, weights, groups, pairs)
        check_outcomes(trees, codes, weights, groups)
    sets = TreeSets(trees, trees.value, np.array([0, 3]), 64)
    found = sets.outputs(codes, sets.leaf_weights(codes, weights)) + trees.base
    expected = mean_given(trees.raw_of_codes, codes, weights, [0, 3])
    assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_leaves_and_steps_are_counted():
    trees = random_ensemble(17, depth=5)
    codes, _ = sample(trees, 60)
    effects, _ = observed(trees, codes, GROUPS[0])
    counts = leaves_of_pairs(effects)
    paths = effects.paths
    expected = np.zeros((4, 4), dtype=int)
    for leaf in np.flatnonzero(trees.is_leaf):
        own = paths.conditions_by_slot(np.array([leaf]))[:, 0]
        met = paths.player[own]
        expected[np.ix_(met, met)] += 1
    assert_array_equal(counts, expected)
    steps = mean_steps(effects)
    assert np.all((steps > 0) & (steps < 5))
    shape = [part.n_points for part in effects.moved_features[:2]]
    k = effects.values.shape[1]
    pair = bytes_of_pairs(shape, 60, counts[0, 1], k)
    cells = tree_pairs.QuadrantSums.n_cells(60, shape)
    assert pair > 8 * cells / 2


def test_block_rows_follow_the_memory():
    trees = random_ensemble(9, depth=7, n_trees=8)
    codes, _ = sample(trees, 100)
    effects, _ = observed(trees, codes, GROUPS[0])
    made = TreeCurves(effects)
    few, some, many = (made.block_rows(most) for most in (1, 2**16, 2**40))
    assert few == 64 < some < many <= effects.block_rows

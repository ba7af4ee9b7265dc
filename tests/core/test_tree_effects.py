"""Exact effects of trees against averages over altered rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_interpret._core import tree_effects as module
from sklearn_interpret._core.tree_boxes import LeafBoxes
from sklearn_interpret._core.tree_effects import arrivals, partial_dependence_by_code
from sklearn_interpret._core.tree_joining import Tree, join_trees
from tests.references.trees import random_ensemble, telling_rows


def raw_by_codes(trees, codes):
    """Raw output of rows given by their codes."""
    return trees.base + trees.value[trees.apply_codes(codes)].sum(axis=1)


def averages(trees, codes, weights, j):
    """The definition: all rows with feature j at each of its codes, averaged."""
    found = []
    for code in range(trees.split_codes.n_codes[j]):
        altered = codes.copy()
        altered[:, j] = code
        found.append(np.average(raw_by_codes(trees, altered), axis=0, weights=weights))
    return np.array(found)


def check(trees, codes, weights):
    boxes = LeafBoxes.of_ensemble(trees)
    curves = partial_dependence_by_code(trees, boxes, codes, weights)
    assert len(curves) == trees.n_features
    for j, curve in enumerate(curves):
        expected = averages(trees, codes, weights, j)
        np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("n_categorical", [0, 2])
def test_partial_dependence_is_the_average(k, n_categorical):
    trees = random_ensemble(11, k=k, n_categorical=n_categorical)
    codes = trees.codes(telling_rows(trees, 80, n_categorical=n_categorical))
    weights = np.random.default_rng(0).uniform(0.1, 3, size=len(codes))
    check(trees, codes, weights)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), n_categorical=st.integers(0, 3))
def test_partial_dependence_of_any_trees(seed, n_categorical):
    trees = random_ensemble(seed, n_categorical=n_categorical)
    codes = trees.codes(telling_rows(trees, 9, n_categorical=n_categorical))
    check(trees, codes, np.ones(len(codes)))


def test_whole_weights_are_repeated_rows():
    trees = random_ensemble(12)
    codes = trees.codes(telling_rows(trees, 40))
    weights = np.random.default_rng(1).integers(1, 4, size=len(codes))
    boxes = LeafBoxes.of_ensemble(trees)
    weighted = partial_dependence_by_code(trees, boxes, codes, weights.astype(float))
    repeated = np.repeat(codes, weights, axis=0)
    plain = partial_dependence_by_code(trees, boxes, repeated, np.ones(len(repeated)))
    for left, right in zip(weighted, plain, strict=True):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)


def test_each_row_and_leaf_comes_up_once_with_what_it_violates(monkeypatch):
    """Against counting the violated features of every leaf for every row."""
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 16)
    trees = random_ensemble(13, n_categorical=1)
    codes = trees.codes(telling_rows(trees, 25, n_categorical=1))
    found = {}
    for rows, nodes, free in arrivals(trees, codes):
        for row, node, feature in zip(rows, nodes, free, strict=True):
            assert (row, node) not in found
            found[row, node] = feature
    expected = {}
    for row, own in enumerate(codes):
        for leaf in np.flatnonzero(trees.is_leaf):
            violated, node = set(), leaf
            while trees.parents[node] >= 0:
                above = trees.parents[node]
                j = trees.feature[above]
                left = trees.goes_left(np.array([above]), own[[j]])[0]
                if left != (trees.left[above] == node):
                    violated.add(j)
                node = above
            if len(violated) <= 1:
                expected[row, leaf] = violated.pop() if violated else -1
    assert found == expected


def test_no_trees_and_single_leaves():
    leaf = Tree([-1], [-1], [-2], [np.nan], [[2.0]], [1.0])
    for trees, value in (([leaf, leaf], 5.0), ([], 1.0)):
        ensemble = join_trees(trees, base=1.0, n_features=2, precision="f8")
        boxes = LeafBoxes.of_ensemble(ensemble)
        codes = ensemble.codes(np.zeros((3, 2)))
        curves = partial_dependence_by_code(ensemble, boxes, codes, np.ones(3))
        for curve in curves:
            np.testing.assert_allclose(curve, value)

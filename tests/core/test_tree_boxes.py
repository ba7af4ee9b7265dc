"""Leaf boxes against the trees that they are read from, code by code."""

import numpy as np
import pytest

from sklearn_interpret._core.tree_boxes import LeafBoxes
from sklearn_interpret._core.tree_joining import Tree, join_trees
from tests.references.trees import random_ensemble, telling_rows


def meets(boxes, condition, code, missing_at):
    """The definition of a condition."""
    if boxes.category_row[condition] >= 0:
        return boxes.categories[boxes.category_row[condition], code]
    if code == missing_at:
        return boxes.missing[condition]
    return boxes.low[condition] <= code <= boxes.high[condition]


@pytest.mark.parametrize("n_categorical", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_row_meets_all_conditions_of_the_leaves_that_it_reaches_alone(
    seed, n_categorical
):
    trees = random_ensemble(seed, n_categorical=n_categorical)
    boxes = LeafBoxes.of_ensemble(trees)
    codes = trees.codes(telling_rows(trees, 60, n_categorical=n_categorical))
    missing = trees.split_codes.missing
    for row, reached in zip(codes, trees.apply_codes(codes), strict=True):
        met = np.ones(len(boxes.leaves), dtype=bool)
        for condition in range(boxes.n_conditions):
            j = boxes.feature[condition]
            if not meets(boxes, condition, row[j], missing[j]):
                met[boxes.leaf[condition]] = False
        assert set(boxes.leaves[met]) == set(reached)


def test_one_condition_for_each_feature_on_the_way():
    trees = random_ensemble(1, n_categorical=1)
    boxes = LeafBoxes.of_ensemble(trees)
    for place, node in enumerate(boxes.leaves):
        above = set()
        while trees.parents[node] >= 0:
            node = trees.parents[node]
            above.add(trees.feature[node])
        found = boxes.feature[boxes.leaf == place]
        assert found.tolist() == sorted(above)
    here = np.arange(boxes.n_conditions)
    np.testing.assert_array_equal(boxes.find(boxes.leaf, boxes.feature), here)


@pytest.mark.parametrize("n_categorical", [0, 2])
def test_curves_add_what_each_code_meets(n_categorical):
    trees = random_ensemble(2, n_categorical=n_categorical)
    boxes = LeafBoxes.of_ensemble(trees)
    rng = np.random.default_rng(0)
    for j, n_codes in enumerate(trees.split_codes.n_codes):
        conditions = np.flatnonzero(boxes.feature == j)
        amounts = rng.normal(size=(len(conditions), 2))
        expected = np.zeros((n_codes, 2))
        for code in range(n_codes):
            for condition, amount in zip(conditions, amounts, strict=True):
                if meets(boxes, condition, code, n_codes - 1):
                    expected[code] += amount
        found = boxes.curve(conditions, amounts, n_codes)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_contradicting_splits_leave_nothing():
    """x <= 1, then x > 2: a leaf that no number reaches."""
    tree = Tree(
        left=[1, 3, -1, -1, -1],
        right=[2, 4, -1, -1, -1],
        feature=[0, 0, -2, -2, -2],
        threshold=[1.0, 2.0, np.nan, np.nan, np.nan],
        value=[[0.0], [0.0], [1.0], [2.0], [4.0]],
        cover=np.ones(5),
    )
    trees = join_trees([tree], base=0.0, n_features=1, precision="f8")
    boxes = LeafBoxes.of_ensemble(trees)
    empty = np.flatnonzero(boxes.leaves == 4)[0]
    assert boxes.low[empty] > boxes.high[empty]
    curve = boxes.curve(np.arange(3), trees.value[boxes.leaves], 4)
    np.testing.assert_array_equal(curve[:3, 0], [2, 1, 1])


def test_single_leaves_have_no_conditions():
    leaf = Tree([-1], [-1], [-2], [np.nan], [[2.0]], [1.0])
    trees = join_trees([leaf, leaf], base=1.0, n_features=3, precision="f8")
    boxes = LeafBoxes.of_ensemble(trees)
    assert boxes.n_conditions == 0
    assert boxes.leaves.tolist() == [0, 1]
    none = join_trees([], base=1.0, n_features=3, precision="f8")
    assert LeafBoxes.of_ensemble(none).n_conditions == 0

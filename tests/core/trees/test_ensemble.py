"""Flat tree ensembles against a router that takes one row and one node at a time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.trees.structure import ensemble as module
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._core.trees.structure.joining import (
    in_float64,
    scale_outputs,
    sum_ensembles,
    with_features,
    with_outputs,
)
from tests.references import trees as reference
from tests.references.tree_validity import check_ensemble
from tests.references.trees import random_ensemble, telling_rows, telling_values
from tests.speeds import examples

COMPARISONS = [
    {"precision": precision, "strict": strict}
    for precision in (np.float32, np.float64)
    for strict in (False, True)
]


def chain(depth, precision=np.float64):
    """A tree as deep as it can be: every right child splits on."""
    inner = np.arange(depth)
    n_nodes = 2 * depth + 1
    left = np.full(n_nodes, -1)
    right = np.full(n_nodes, -1)
    left[inner] = depth + 1 + inner
    right[inner] = inner + 1
    return join_trees(
        [
            Tree(
                left=left,
                right=right,
                feature=np.arange(n_nodes) % 2,
                threshold=np.arange(n_nodes) / 4,
                value=np.arange(n_nodes, dtype=float)[:, None],
                cover=np.ones(n_nodes),
            )
        ],
        base=0.0,
        n_features=2,
        precision=precision,
    )


# Routing


@pytest.mark.parametrize("how", COMPARISONS)
@pytest.mark.parametrize("n_categorical", [0, 2])
def test_apply_is_the_definition(how, n_categorical):
    trees = random_ensemble(3, n_categorical=n_categorical, **how)
    check_ensemble(trees)
    X = telling_rows(trees, 300, n_categorical=n_categorical)
    assert_array_equal(trees.apply(X), reference.apply(trees, X))


@pytest.mark.parametrize("how", COMPARISONS)
def test_apply_takes_single_precision_as_it_is(how):
    trees = random_ensemble(4, **how)
    with np.errstate(over="ignore"):
        X = telling_rows(trees, 200).astype(np.float32)
    assert_array_equal(trees.apply(X), reference.apply(trees, X))


@pytest.mark.parametrize("k", [1, 3])
def test_raw_is_the_sum_over_trees(k):
    trees = random_ensemble(5, k=k, n_categorical=1)
    X = telling_rows(trees, 200, n_categorical=1)
    assert_allclose(trees.raw(X), reference.raw(trees, X), atol=1e-13)
    assert trees.n_outputs == k


@pytest.mark.parametrize("n_rows", [50, 300])
def test_blocks_of_rows_change_nothing(monkeypatch, n_rows):
    trees = random_ensemble(6, k=2)
    X = telling_rows(trees, n_rows)
    leaves, outputs = trees.apply(X), trees.raw(X)
    monkeypatch.setattr(module, "_MOST_PAIRS", 7)
    assert_array_equal(trees.apply(X), leaves)
    assert_array_equal(trees.raw(X), outputs)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 700])
def test_few_and_many_rows_reach_the_same_leaves(n_rows):
    trees = random_ensemble(n_rows, k=2, n_categorical=1)
    codes = trees.codes(telling_rows(trees, n_rows, n_categorical=1))
    one_by_one = [trees.apply_codes(codes[row : row + 1]) for row in range(n_rows)]
    assert_array_equal(trees.apply_codes(codes), np.vstack(one_by_one))


@pytest.mark.parametrize("depth", [150, 2000])
def test_deep_trees(depth):
    trees = chain(depth)
    check_ensemble(trees)
    assert trees.depth.max() == depth
    assert len(trees.levels) == depth + 1
    rows = np.random.default_rng(0).uniform(0, depth / 3, size=(40, 2))
    rows[0] = np.inf
    assert_array_equal(trees.apply(rows), reference.apply(trees, rows))
    assert trees.apply(rows)[0, 0] == depth


def test_single_leaves_and_no_trees():
    leaf = Tree([-1], [-1], [-2], [np.nan], [[2.0, 3.0]], [1.0])
    trees = join_trees([leaf, leaf], base=[1.0, 0.0], n_features=3, precision="f8")
    check_ensemble(trees)
    X = np.full((2, 3), np.nan)
    assert_array_equal(trees.raw(X), [[5, 6], [5, 6]])
    assert_array_equal(trees.apply(X), [[0, 1], [0, 1]])
    many = np.full((200, 3), np.nan)
    assert_array_equal(trees.apply(many), np.tile([0, 1], (200, 1)))
    none = join_trees([], base=[1.0, 0.0], n_features=3, precision="f4")
    check_ensemble(none)
    assert_array_equal(none.raw(X), [[1, 0], [1, 0]])
    assert none.apply(X).shape == (2, 0)
    assert none.apply(many).shape == (200, 0)
    assert none.levels == ()


def test_no_rows():
    trees = random_ensemble(7, k=2)
    assert trees.apply(np.empty((0, 4))).shape == (0, 5)
    assert trees.raw(np.empty((0, 4))).shape == (0, 2)


def test_wrong_number_of_features():
    with pytest.raises(ValueError, match=r"shape \(2, 3\).*4 features"):
        random_ensemble().codes(np.zeros((2, 3)))


# Structure


def test_levels_parents_and_depth():
    trees = random_ensemble(8)
    everyone = np.sort(np.concatenate(trees.levels))
    assert_array_equal(everyone, range(trees.n_nodes))
    assert_array_equal(trees.levels[0], trees.roots)
    for depth, nodes in enumerate(trees.levels):
        for node in nodes:
            assert trees.depth[node] == depth
            parent = trees.parents[node]
            if depth == 0:
                assert parent == -1
            else:
                assert trees.depth[parent] == depth - 1
                assert node in (trees.left[parent], trees.right[parent])
        if depth:
            assert_array_equal(nodes[::2], trees.left[trees.parents[nodes]][::2])
            assert_array_equal(nodes[1::2], trees.right[trees.parents[nodes]][1::2])


# Codes


@pytest.mark.parametrize("how", COMPARISONS)
def test_every_split_is_a_comparison_of_codes(how):
    trees = random_ensemble(10, **how)
    codes = trees.split_codes
    for node in np.flatnonzero(~trees.is_leaf):
        j = trees.feature[node]
        values = telling_values(trees, j)
        found = codes.encode(np.tile(values[:, None], trees.n_features))[:, j]
        missing = np.isnan(values)
        assert set(found[missing]) == {codes.missing[j]}
        assert found.min() >= 0
        assert found[~missing].max() < codes.missing[j]
        expected = [reference.goes_left(trees, node, x) for x in values[~missing]]
        assert_array_equal(found[~missing] <= codes.rank[node], np.array(expected))
        nodes = np.full(len(values), node)
        assert_array_equal(
            trees.goes_left(nodes, found),
            [reference.goes_left(trees, node, x) for x in values],
        )


def test_codes_of_numbers():
    trees = join_trees(
        [
            Tree([1, -1, -1], [2, -1, -1], [1, 0, 0], [t, 0, 0], [[0.0]] * 3, [1] * 3)
            for t in (0.0, 2.0, -0.0, 1.0)
        ],
        base=0.0,
        n_features=2,
        precision=np.float64,
    )
    codes = trees.split_codes
    assert_array_equal(codes.thresholds[1], [0, 1, 2])
    assert len(codes.thresholds[0]) == 0
    assert_array_equal(codes.n_codes, [2, 5])
    assert_array_equal(codes.missing, [1, 4])
    values = [-1, -0.0, 0, 0.5, 1, 2, 3, np.nan]
    assert_array_equal(
        trees.codes(np.column_stack([values, values]))[:, 1], [0, 0, 0, 1, 1, 2, 3, 4]
    )
    assert_array_equal(
        trees.codes(np.column_stack([values, values]))[:, 0], [0] * 7 + [1]
    )
    assert_array_equal(
        replace(trees, strict=True).codes(np.column_stack([values, values]))[:, 1],
        [0, 1, 1, 1, 2, 3, 3, 4],
    )


def test_codes_of_categories():
    trees = random_ensemble(11, n_categorical=2)
    codes = trees.split_codes
    assert_array_equal(codes.categorical, [True, True, False, False])
    values = np.array([0, 3, 4, 5, 1e30, -1, np.nan])
    found = codes.encode(np.tile(values[:, None], 4))
    assert_array_equal(found[:, 0], [0, 3, 4, 5, 5, 5, 5])


# Building and joining


@pytest.mark.parametrize("how", COMPARISONS)
def test_in_float64_moves_no_row(how):
    trees = random_ensemble(12, n_categorical=1, **how)
    largest = float(np.finfo(np.float32).max)
    more = [largest, -largest, 1e39, -1e39, 1e-45, 1e-46, -1e-46, 3e-39, 1 + 2**-24]
    trees = replace(
        trees,
        threshold=np.where(
            trees.is_leaf | (trees.category_set >= 0),
            np.nan,
            np.resize(more, trees.n_nodes),
        ),
    )
    converted = in_float64(trees)
    check_ensemble(converted)
    assert converted.precision == np.float64
    assert not converted.strict
    X = telling_rows(trees, 2000, n_categorical=1)
    assert_array_equal(converted.apply(X), trees.apply(X))


@examples(300)
@given(
    threshold=st.floats(allow_nan=False),
    x=st.floats(allow_nan=False),
    near=st.integers(-3, 3),
    strict=st.booleans(),
)
def test_in_float64_for_any_numbers(threshold, x, near, strict):
    leaf = [[0.0]] * 3
    stump = Tree([1, -1, -1], [2, -1, -1], [0, 0, 0], [threshold, 0, 0], leaf, [1] * 3)
    trees = join_trees([stump], base=0, n_features=1, precision="f4", strict=strict)
    converted = in_float64(trees)
    if strict and threshold == -np.inf:
        return  # nothing is below, and no float64 says so
    values = [x]
    for number in (threshold, *converted.threshold[:1]):
        values.append(number + near * np.spacing(number) if abs(number) < 1e300 else x)
    X = np.array(values)[:, None]
    assert_array_equal(converted.apply(X), trees.apply(X))
    assert_array_equal(trees.apply(X), reference.apply(trees, X))


@pytest.mark.parametrize("second", COMPARISONS)
def test_merged_is_the_sum(second):
    parts = [
        random_ensemble(13, k=2, n_categorical=1, precision=np.float32),
        random_ensemble(14, k=2, n_categorical=1, **second),
    ]
    both = sum_ensembles(parts)
    check_ensemble(both)
    X = np.vstack([telling_rows(part, 200, n_categorical=1) for part in parts])
    expected = parts[0].raw(X) + parts[1].raw(X)
    assert_allclose(both.raw(X), expected, atol=1e-13)


def test_merged_of_one():
    trees = random_ensemble(13, precision=np.float32, strict=True)
    assert sum_ensembles([trees]) is trees


def test_merged_pads_tables_of_categories():
    narrow = random_ensemble(15, n_categorical=1)
    wide = np.hstack(
        [narrow.categories_known, np.ones((len(narrow.categories_known), 2), bool)]
    )
    wide = replace(narrow, categories_known=wide, categories_left=np.zeros_like(wide))
    none = random_ensemble(16, n_categorical=0, n_features=4)
    none = replace(none, feature=np.where(none.feature == 0, 1, none.feature))
    both = sum_ensembles([none, narrow, wide])
    check_ensemble(both)
    X = telling_rows(narrow, 100, n_categorical=1)
    X[:20, 0] = 6
    expected = none.raw(X) + narrow.raw(X) + wide.raw(X)
    assert_allclose(both.raw(X), expected, atol=1e-13)


def test_scaled_placed_and_renamed():
    trees = random_ensemble(17, k=2)
    X = telling_rows(trees, 50)
    assert_allclose(scale_outputs(trees, -0.5).raw(X), -0.5 * trees.raw(X))
    placed = with_outputs(trees, [3, 0], 4)
    check_ensemble(placed)
    assert_array_equal(placed.raw(X)[:, [3, 0]], trees.raw(X))
    assert_array_equal(placed.raw(X)[:, [1, 2]], 0)
    wide = with_features(trees, [5, 0, 0, 2], 6)
    check_ensemble(wide)
    rows = np.zeros((50, 6))
    rows[:, [5, 0, 2]] = X[:, [0, 1, 3]]
    X[:, 2] = X[:, 1]
    assert_array_equal(wide.raw(rows), trees.raw(X))


def test_nothing_is_changed():
    trees = random_ensemble(18, n_categorical=1, precision=np.float32)
    before = {
        name: np.copy(value)
        for name, value in vars(trees).items()
        if isinstance(value, np.ndarray)
    }
    X = telling_rows(trees, 20, n_categorical=1)
    X.flags.writeable = False
    trees.raw(X)
    in_float64(trees)
    sum_ensembles([trees, scale_outputs(trees, 2.0)])
    for name, value in before.items():
        assert_array_equal(getattr(trees, name), value)

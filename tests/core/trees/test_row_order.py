"""Rows put side by side that trees treat alike."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.trees.effects import leaf_weights
from sklearn_interpret._core.trees.effects import tree_effects as module
from sklearn_interpret._core.trees.effects.leaf_weights import order_of_likeness
from sklearn_interpret._core.trees.effects.tree_effects import TreeEffects
from tests.core.trees.test_tree_effects import effects_of, parts_of
from tests.references.trees import random_ensemble, telling_rows


def many_rows(trees, n_rows):
    return trees.codes(telling_rows(trees, n_rows))


def leaves_per_block(trees, codes):
    leaves = trees.apply_codes(codes)
    return sum(len(np.unique(leaves[i : i + 64])) for i in range(0, len(codes), 64))


def test_order_holds_every_row_once_and_blocks_reach_fewer_leaves():
    trees = random_ensemble(0, n_trees=5)
    codes = many_rows(trees, 2000)
    order = order_of_likeness(trees, codes)
    assert_array_equal(np.sort(order), np.arange(2000))
    ordered = leaves_per_block(trees, codes[order])
    assert ordered < 0.9 * leaves_per_block(trees, codes)


def test_averages_depend_on_neither_order_nor_portions(monkeypatch):
    trees = random_ensemble(1, n_trees=5, k=2)
    codes, parts = many_rows(trees, 700), parts_of(trees)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=700)
    effects = effects_of(trees, parts)
    expected = effects.averages(effects.leaf_weights(codes, weights), weights.sum())
    monkeypatch.setattr(leaf_weights, "_MOST_WORDS", 40)
    monkeypatch.setattr(module, "_MOST_ROWS", 128)
    effects = TreeEffects(trees, trees.value, trees.base, parts, n_rows=10**6)
    assert effects.wants_order
    assert effects.block_rows == 128
    order = order_of_likeness(trees, codes)
    arrived = effects.leaf_weights(codes[order], weights[order])
    for one, other in zip(
        effects.averages(arrived, weights.sum()), expected, strict=True
    ):
        assert_allclose(one, other, rtol=0, atol=1e-12)

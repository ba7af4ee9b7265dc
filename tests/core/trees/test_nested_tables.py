"""Gains of products inside groups, against the enumeration of orders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.trees.shapley.nested_tables import (
    leaves_by_structure,
    mean_comparison_gains,
    nested_comparison_gains,
    nested_comparison_tables,
    product_gains,
)
from sklearn_interpret._core.trees.shapley.tables import comparison_tables, pattern_bits
from tests.core.games.test_hierarchies import TREES, hierarchy_of
from tests.references.shapley import permitted_orders, values_over_orders


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_products(tree, causal):
    structure, rng = hierarchy_of(tree, causal), np.random.default_rng(0)
    orders, d = permitted_orders(tree, causal), structure.n_players
    met, chances = rng.random((d, 7)) < 0.5, rng.random((d, 7))
    chances[:, 0] = 0.0

    def value(coalition):
        present = np.isin(np.arange(d), list(coalition))[:, None]
        return np.where(present, met, chances).prod(axis=0)

    expected = values_over_orders(value, orders)
    assert_allclose(product_gains(structure, chances, met), expected, atol=1e-15)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_comparisons_are_products_of_chances_zero_and_one(tree, causal):
    structure, rng = hierarchy_of(tree, causal), np.random.default_rng(0)
    d = structure.n_players
    patterns = pattern_bits(np.arange(2**d), d)
    row, background = (part.ravel() for part in np.indices((2**d, 2**d)))
    comparable = (row | background) == 2**d - 1
    row, background = row[comparable], background[comparable]
    gains = nested_comparison_gains(
        structure, ~patterns[:, background], ~patterns[:, row]
    )
    expected = product_gains(structure, 1.0 * patterns[:, background], patterns[:, row])
    assert_allclose(gains, expected, atol=1e-15)
    shares = rng.random((3, 2**d))
    tables = nested_comparison_tables(structure, shares)
    for leaf, leaf_shares in enumerate(shares):
        means = mean_comparison_gains(structure, ~patterns, ~patterns, leaf_shares)
        assert_allclose(tables[leaf], means, atol=1e-15)


def test_without_groups_they_are_shapley_values():
    shares = np.random.default_rng(0).random((4, 2**5))
    tables = nested_comparison_tables(Hierarchy.flat(5), shares)
    assert_allclose(tables, comparison_tables(shares, 1), atol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_leaves_of_one_structure_come_together(causal):
    hierarchy = hierarchy_of([[0, 1], [2, 3], [4, 5]], causal)
    players = np.array([[0, 2, 5, 0], [1, 3, 4, 2], [2, 4, 3, 1]])
    pairs = list(leaves_by_structure(hierarchy, players))
    together = sorted(leaves.tolist() for _, leaves in pairs)
    # The third leaf has its pair first, and the other group joins before it.
    assert together == ([[0, 1], [2], [3]] if causal else [[0, 1, 2], [3]])
    for structure, leaves in pairs:
        for leaf in leaves:
            inside = hierarchy.restricted(players[:, leaf]).levels
            same = inside[:, :, None] == inside[:, None]
            levels = structure.levels
            assert_array_equal(levels[:, :, None] == levels[:, None], same)

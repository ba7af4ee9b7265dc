"""Potentials say the same as the tables of all terms."""

import numpy as np
import pytest

from sklearn_interpret._core.trees.shapley.potentials import (
    absences,
    combined,
    comparison_potentials,
    product_parts,
    product_potentials,
    read_potentials,
)
from sklearn_interpret._core.trees.shapley.tables import (
    ProductRule,
    comparison_tables,
    pattern_bits,
)


@pytest.fixture(params=[2, 3, 5, 8])
def d(request):
    return request.param


@pytest.fixture(params=[1, 2])
def order(request):
    return request.param


def of_potentials(potentials, d, order):
    """Values of all terms, for every leaf and pattern."""
    patterns = np.arange(2**d)
    return np.stack(
        [
            combined(read_potentials(of_leaf, patterns, order), d, order)
            for of_leaf in potentials
        ]
    )


def chances_of(d, n_leaves):
    chances = np.random.default_rng(d).uniform(size=(d, n_leaves))
    chances[0, 0], chances[-1, 1] = 0, 1
    return chances


def test_absent_sets():
    assert absences(3, 1) == [(), (0,), (1,), (2,)]
    assert absences(3, 2) == [(), (0,), (1,), (0, 1), (2,), (0, 2), (1, 2)]


def test_potentials_of_products_give_their_gains(d, order):
    chances = chances_of(d, 4)
    rule = ProductRule.of_chances(chances, order)
    met = pattern_bits(np.arange(2**d)[None, :], d)
    expected = rule.gains(rule.all_products(), met).transpose(1, 0, 2)
    found = of_potentials(product_potentials(chances, order), d, order)
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_potentials_of_comparisons_give_their_tables(d, order):
    rng = np.random.default_rng(d)
    shares = rng.uniform(size=(3, 2**d)) * (rng.uniform(size=(3, 2**d)) < 0.3)
    found = of_potentials(comparison_potentials(shares, order), d, order)
    np.testing.assert_allclose(found, comparison_tables(shares, order), atol=1e-14)


def test_parts_are_those_of_tables_to_the_last_bit(d, order):
    n_leaves = 5
    chances = chances_of(d, n_leaves)
    potentials = product_potentials(chances, order)
    patterns = np.random.default_rng(0).integers(2**d, size=n_leaves)
    found = product_parts(chances, pattern_bits(patterns, d), order)
    for leaf, of_leaf in enumerate(potentials):
        expected = read_potentials(of_leaf, patterns[leaf : leaf + 1], order)
        np.testing.assert_array_equal(found[:, [leaf]], expected)
    alone = product_potentials(chances[:, :1], order)
    np.testing.assert_array_equal(alone, potentials[:1])

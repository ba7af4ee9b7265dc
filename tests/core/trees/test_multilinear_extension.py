"""Integrals say the same as the tables of all terms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.trees.shapley.multilinear_extension import (
    comparison_integrals,
    gains_at_patterns,
)
from sklearn_interpret._core.trees.shapley.tables import comparison_tables


@pytest.fixture(params=[2, 3, 5, 8])
def d(request):
    return request.param


@pytest.fixture(params=[1, 2])
def order(request):
    return request.param


def gains_of_all(integrals, order):
    """Values of all terms, for every leaf and pattern."""
    patterns = np.arange(integrals.shape[-1])
    return np.stack(
        [gains_at_patterns(of_leaf, patterns, order) for of_leaf in integrals]
    )


def test_potentials_of_comparisons_give_their_tables(d, order):
    rng = np.random.default_rng(d)
    shares = rng.uniform(size=(3, 2**d)) * (rng.uniform(size=(3, 2**d)) < 0.3)
    found = gains_of_all(comparison_integrals(shares, order), order)
    assert_allclose(found, comparison_tables(shares, order), atol=1e-14)

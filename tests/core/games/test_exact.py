"""Games whose coalitions have all been asked about: Shapley's formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.games.coalitions import (
    all_coalitions,
    interactions_of_all,
    values_of_all,
)
from tests.references.shapley import enumerated
from tests.speeds import examples


def by_formula(values, order):
    """Values of a game given as an array, by enumeration over sets."""
    p = len(values).bit_length() - 1
    return enumerated(lambda s: values[sum(2**j for j in s)], p, order)


def games(p, k=2):
    seeds = st.integers(0, 2**32 - 1)
    return seeds.map(lambda seed: np.random.default_rng(seed).normal(size=(2**p, k)))


@pytest.mark.parametrize("p", range(8))
def test_the_formula(p):
    values = np.random.default_rng(p).normal(size=(2**p, 3))
    assert_allclose(values_of_all(values), by_formula(values, 1), atol=1e-12)
    pairs = interactions_of_all(values)
    expected = by_formula(values, 2) if p else np.zeros((0, 0, 3))
    expected[np.arange(p), np.arange(p)] = 0
    assert_allclose(pairs, expected, atol=1e-12)


@pytest.mark.parametrize("p", range(6))
def test_coalitions_are_numbered_by_their_members(p):
    found = all_coalitions(p)
    assert found.shape == (max(2**p - 2, 0), p)
    assert_array_equal(found @ 2 ** np.arange(p), np.arange(1, len(found) + 1))


@examples(25)
@given(games(4))
def test_a_player_who_adds_nothing_gets_nothing(values):
    """To the last bit, and the others share as if it were not there."""
    widened = np.concatenate([values, values])
    shares = values_of_all(widened)
    assert_array_equal(shares[4], 0)
    assert_allclose(shares[:4], values_of_all(values), atol=1e-12)
    assert_array_equal(interactions_of_all(widened)[4], 0)

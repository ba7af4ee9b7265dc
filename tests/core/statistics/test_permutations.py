"""Donors of rows: permutations, shares of weights, strata, halves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.statistics.permutations import (
    random_donors,
    swapped_halves,
)

both_draws = pytest.mark.parametrize("draw", [random_donors, swapped_halves])
seeds = st.integers(0, 2**31 - 1)
sizes = st.integers(1, 40)


@both_draws
@given(n=sizes, weight=st.floats(1e-6, 1e6), seed=seeds)
def test_equal_weights_give_permutations(draw, n, weight, seed):
    donors = draw(np.full(n, weight), np.random.RandomState(seed))
    assert_array_equal(np.sort(donors), np.arange(n))


@both_draws
@given(strata=st.lists(st.integers(0, 4), min_size=1, max_size=40), seed=seeds)
def test_donors_stay_in_their_stratum(draw, strata, seed):
    strata = np.unique(strata, return_inverse=True)[1].reshape(-1)
    rng = np.random.RandomState(seed)
    equal = draw(np.ones(len(strata)), rng, strata)
    assert_array_equal(strata[equal], strata)
    assert_array_equal(np.sort(equal), np.arange(len(strata)))
    weights = rng.uniform(0.1, 9, size=len(strata))
    assert_array_equal(strata[draw(weights, rng, strata)], strata)


@given(half=st.integers(1, 20), seed=seeds)
def test_halves_exchange(half, seed):
    donors = swapped_halves(np.ones(2 * half), np.random.RandomState(seed))
    assert_array_equal(donors[donors], np.arange(2 * half))
    assert (donors != np.arange(2 * half)).all()


@given(n=st.integers(1, 20), seed=seeds)
def test_of_an_odd_number_none_is_its_own_donor(n, seed):
    donors = swapped_halves(np.ones(2 * n + 1), np.random.RandomState(seed))
    assert (donors != np.arange(2 * n + 1)).all()


@given(n=st.integers(2, 20), seed=seeds, scale=st.floats(1e-3, 1e3))
def test_the_scale_of_weights_does_not_matter(n, seed, scale):
    weights = np.random.RandomState(seed).randint(1, 5, size=n).astype(float)
    one = random_donors(weights, np.random.RandomState(seed))
    other = random_donors(weights * scale, np.random.RandomState(seed))
    assert_array_equal(one, other)


def test_each_row_gives_in_the_share_of_its_weight():
    weights = np.array([1.0, 4.0, 2.0, 3.0])
    rng = np.random.RandomState(0)
    n_draws = 4000
    given_by = np.zeros((4, 4))
    for _ in range(n_draws):
        given_by[np.arange(4), random_donors(weights, rng)] += 1
    # Of each row alone, whichever it is.
    shares = np.broadcast_to(weights / 10, (4, 4))
    errors = np.sqrt(shares * (1 - shares) / n_draws)
    assert (np.abs(given_by / n_draws - shares) < 5 * errors).all()
    assert_allclose(given_by.sum(axis=1), n_draws)

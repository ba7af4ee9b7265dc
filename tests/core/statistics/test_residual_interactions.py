"""Which feature explains what a feature's own value leaves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal, assert_array_less

from sklearn_interpret._core.statistics.residual_interactions import (
    _adjusted_share,
    quantile_codes,
    residual_strengths,
)

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-5, 5), st.just(float("nan"))
)


@given(arrays(float, st.integers(1, 100), elements=NUMBERS))
def test_codes_follow_the_values(values):
    codes = quantile_codes(values, 4)
    assert set(codes) == set(range(codes.max() + 1))
    known = np.isfinite(values)
    for left in np.flatnonzero(known):
        assert_array_less(codes[values < values[left]], codes[left] + 1)
        assert (codes[values == values[left]] == codes[left]).all()
    if not known.all() and known.any():
        assert len(set(codes[~known])) == 1
        assert codes[~known][0] > codes[known].max()


def test_few_values_are_groups_of_their_own():
    values = np.repeat([3.0, 1.0, 2.0, np.nan, 7.0, 9.0], [1, 50, 3, 2, 1, 1])
    assert (
        quantile_codes(values, 2).tolist()
        == np.repeat([2, 0, 1, 5, 3, 4], [1, 50, 3, 2, 1, 1]).tolist()
    )


@pytest.mark.parametrize("n_groups", [20, 25])
def test_groups_of_distinct_values_are_of_equal_size(n_groups):
    counts = np.bincount(quantile_codes(np.arange(100.0), n_groups))
    assert counts.tolist() == [100 // n_groups] * n_groups


@pytest.fixture
def features():
    X = np.random.default_rng(0).normal(size=(6, 1000))
    X[3] = np.round(X[3])
    X[4, ::3] = np.nan
    X[5] = X[5] > 0
    return X


@pytest.mark.parametrize("partner", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_the_partner_is_found(features, partner, scale):
    attributions = (features[0] * features[partner] + features[0] ** 2) * scale
    strengths = residual_strengths(attributions, features[0], features[1:])
    assert np.argmax(strengths) == partner - 1
    assert strengths[partner - 1] > 0.3
    others = np.delete(strengths, partner - 1)
    assert_array_equal(others, 0)


def test_being_missing_may_be_what_interacts(features):
    attributions = features[0] * np.isnan(features[4])
    strengths = residual_strengths(attributions, features[0], features[1:])
    assert np.argmax(strengths) == 3


def test_own_missing_values_are_a_group(features):
    attributions = np.where(np.isnan(features[4]), features[5], 0.0)
    strengths = residual_strengths(attributions, features[4], features[:4])
    assert_array_equal(strengths, 0)
    strengths = residual_strengths(attributions, features[4], features[[0, 5]])
    assert strengths[1] > 0.9


@pytest.mark.parametrize("shape", [np.sin, np.exp, np.sign, np.zeros_like])
def test_a_function_of_its_own_value_has_no_partner(features, shape):
    strengths = residual_strengths(shape(features[0]), features[0], features[1:])
    assert_array_equal(strengths, 0)


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_few_rows(features, n_rows):
    X = features[:, :n_rows]
    strengths = residual_strengths(X[0] * X[1], X[0], X[1:])
    assert_array_equal(strengths, 0)


def test_shares_are_adjusted_for_the_numbers_of_means():
    """A share is that of the variance, with one row less for each mean."""
    values, cells = np.array([1.0, 3.0, -2.0, -4.0, 2.0, 0.0]), np.repeat([0, 1, 2], 2)
    # Two rows less for two more means than without the cells: of 6 - 1, 3 are left.
    expected = 1 - (6 / 3) / ((values @ values) / 5)
    assert _adjusted_share(values, cells, 2) == pytest.approx(expected)

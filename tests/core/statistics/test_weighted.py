"""Weighted moments and quantiles: a row of weight two is the row given twice."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sklearn_interpret._core.statistics.weighted import (
    CrossProducts,
    Moments,
    averaged_quantile,
    known_moments,
    weighted_quantile,
)
from tests.references import weighted as reference

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
PROBABILITIES = st.one_of(
    st.floats(0, 1),
    st.integers(1, 60).flatmap(
        lambda parts: st.integers(0, parts).map(lambda k: k / parts)
    ),
)


@st.composite
def weighted_samples(draw, weights=None):
    """Values, with repetitions, and positive weights."""
    weights = st.integers(1, 9) if weights is None else weights
    size = draw(st.integers(1, 40))
    values = draw(
        st.one_of(
            hnp.arrays(np.float64, size, elements=NUMBERS),
            hnp.arrays(np.float64, size, elements=st.integers(-3, 3).map(float)),
        )
    )
    return values, draw(hnp.arrays(np.float64, size, elements=weights.map(float)))


@given(weighted_samples(), st.lists(PROBABILITIES, min_size=1, max_size=20))
def test_quantiles_of_weights_are_those_of_repeated_rows(sample, probabilities):
    values, weights = sample
    again = reference.repeated(values, weights)
    expected = weighted_quantile(again, probabilities)
    for scale in (1.0, 2.0**60):
        assert_array_equal(
            weighted_quantile(values, probabilities, scale * weights), expected
        )
    for equal in (1.0, 0.1):
        equals = np.full(len(again), equal)
        assert_array_equal(weighted_quantile(again, probabilities, equals), expected)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 30, 49, 99, 100, 1000, 1001])
def test_quantiles_are_counted_in_whole_numbers(n_rows):
    """As floats, 11 / 20 of 100 rows is more than 55: that must not count as 56."""
    values = np.random.default_rng(0).permutation(n_rows).astype(np.float64)
    for n_parts in range(1, 61):
        k = np.arange(1, n_parts + 1)
        expected = -(-n_rows * k // n_parts) - 1
        found = weighted_quantile(values, k / n_parts)
        assert_array_equal(found, expected, err_msg=f"K={n_parts}")
        weights = np.where(values < n_rows // 2, 2.0, 1.0)
        again = np.sort(reference.repeated(values, weights))
        assert_array_equal(
            weighted_quantile(values, k / n_parts, weights),
            again[-(-len(again) * k // n_parts) - 1],
            err_msg=f"K={n_parts}",
        )


@pytest.mark.parametrize("weight", [0.1, 0.7, 1e-3])
def test_quantiles_of_many_rows_do_not_depend_on_the_rounding_of_sums(weight):
    values = np.arange(200_000.0)
    weights, probabilities = np.where(values % 2, 1.0, 3.0), np.arange(1, 41) / 40
    assert_array_equal(
        weighted_quantile(values, probabilities, weight * weights),
        weighted_quantile(values, probabilities, weights),
    )


@given(weighted_samples(st.integers(1, 64).map(lambda k: k / 16)), st.integers(0, 16))
def test_quantiles_of_fractional_weights_follow_the_definition(sample, sixteenths):
    """All numbers are binary fractions here, so that ties are exact."""
    values, weights = sample
    p = sixteenths / 16
    assert weighted_quantile(values, [p], weights) == reference.quantile(
        values, p, weights
    )


@given(weighted_samples(), st.integers(1, 60), st.floats(1e-6, 1e6))
def test_quantiles_do_not_depend_on_the_scale_of_weights(sample, parts, scale):
    """Whatever the rounding of scaled weights, ties are those of exact fractions."""
    values, weights = sample
    scaled = weights * scale
    found = weighted_quantile(values, np.arange(1, parts + 1) / parts, scaled)
    expected = [
        reference.quantile(values, Fraction(k, parts), weights)
        for k in range(1, parts + 1)
    ]
    assert_array_equal(found, expected)


@given(weighted_samples(), st.floats(1e-6, 1e6))
def test_medians_are_the_usual_ones(sample, weight):
    values, counts = sample
    again = reference.repeated(values, counts)
    expected = np.median(again)
    assert averaged_quantile(values, [0.5], counts) == expected
    assert averaged_quantile(values, [0.5], counts * weight) == expected
    assert averaged_quantile(again, [0.5], np.full(len(again), weight)) == expected
    shares = np.arange(9) / 8
    numpys = np.quantile(again, shares, method="averaged_inverted_cdf")
    assert_array_equal(averaged_quantile(again, shares), numpys)


@given(weighted_samples())
def test_moments_of_rows_follow_the_definition(sample):
    values, weights = sample
    found = Moments.of_rows(values, weights)
    weight, mean, m2 = reference.moments(values, weights)
    scale = np.abs(values).max()
    assert found.weight == weight
    assert_allclose(found.mean, mean, rtol=0, atol=1e-12 * scale)
    assert_allclose(found.m2, m2, rtol=1e-9, atol=1e-12 * scale**2)


def test_moments_of_rows_keep_further_axes():
    values = np.random.default_rng(0).normal(size=(7, 2, 3))
    weights = np.arange(1.0, 8.0)
    found = Moments.of_rows(values, weights)
    again = Moments.of_rows(
        reference.repeated(values, weights), np.ones(int(weights.sum()))
    )
    assert found.mean.shape == found.m2.shape == (2, 3)
    for name in ("mean", "m2", "variance", "standard_error"):
        assert_allclose(getattr(found, name), getattr(again, name), rtol=1e-12)


@given(weighted_samples(), st.data())
def test_merged_moments_are_those_of_the_whole(sample, data):
    values, weights = sample
    cut = data.draw(st.integers(0, len(values)))
    empty = Moments(np.zeros(()), np.zeros(()), np.zeros(()))
    parts = [
        Moments.of_rows(values[part], weights[part]) if len(values[part]) else empty
        for part in (slice(None, cut), slice(cut, None))
    ]
    whole = Moments.of_rows(values, weights)
    for merged in (parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        scale = np.abs(values).max()
        assert merged.weight == whole.weight
        assert_allclose(merged.mean, whole.mean, rtol=0, atol=1e-12 * scale)
        assert_allclose(
            merged.m2, whole.m2, rtol=1e-9, atol=1e-12 * scale**2 * len(values)
        )


def test_merging_survives_a_large_offset():
    """Squares of the raw values would leave nothing of a variance of one."""
    values = 1e8 + np.tile([-1.0, 1.0], 500)
    parts = [
        Moments.of_rows(values[k : k + 100], np.ones(100)) for k in range(0, 1000, 100)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert_allclose(merged.variance, 1.0, rtol=1e-12)


@given(weighted_samples(), st.data())
def test_moments_of_groups_are_those_of_each_group(sample, data):
    values, weights = sample
    groups = data.draw(hnp.arrays(np.intp, len(values), elements=st.integers(0, 4)))
    two = np.stack([values, 2 - values], axis=1)
    found = Moments.of_groups(two, groups, 6, weights)
    assert found.weight.shape == (6, 1)
    for group in range(6):
        members = groups == group
        if not members.any():
            assert found.weight[group] == 0
            assert not found.mean[group].any()
            assert not found.m2[group].any()
            continue
        alone = Moments.of_rows(two[members], weights[members])
        scale = np.abs(two).max()
        assert found.weight[group] == alone.weight
        assert_allclose(found.mean[group], alone.mean, atol=1e-12 * scale)
        assert_allclose(found.m2[group], alone.m2, rtol=1e-9, atol=1e-12 * scale**2)


def test_groups_without_rows_have_no_spread():
    found = Moments.of_groups(np.ones((1, 1)), np.array([1]), 3, np.ones(1))
    assert_array_equal(found.variance, np.zeros((3, 1)))
    assert_array_equal(found.standard_error, np.zeros((3, 1)))


def test_standard_error_of_equal_weights_is_the_textbooks():
    values = np.random.default_rng(0).normal(size=(30, 2))
    found = Moments.of_rows(values, np.ones(30))
    assert_allclose(found.standard_error, stats.sem(values), rtol=1e-12)
    assert_allclose(found.variance, values.var(axis=0), rtol=1e-12)


def test_standard_error_has_no_jump_at_a_weight_of_two():
    values = np.array([0.0, 1.0])
    errors = [
        Moments.of_rows(values, np.full(2, total / 2)).standard_error
        for total in (2 - 1e-9, 2.0, 2 + 1e-9)
    ]
    assert_allclose(errors, errors[1], rtol=1e-8)


@pytest.mark.parametrize("total", [1e-3, 1.0, 1.5])
def test_standard_error_of_little_weight_is_defined(total):
    values = np.array([0.0, 1.0])
    found = Moments.of_rows(values, np.full(2, total / 2)).standard_error
    assert_allclose(found, np.sqrt(2 * 0.25 / total), rtol=1e-12)


def test_spread_leaves_missing_values_out():
    values = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan], [4.0, np.nan]])
    weights = np.array([1.0, 2.0, 5.0, 1.0])
    expected = np.std([1.0, 2.0, 2.0, 4.0])
    spread = np.sqrt(known_moments(values, weights).variance)
    assert_allclose(spread, [expected, 0.0], rtol=1e-12)


@pytest.mark.parametrize("at", [0, 1, 7, 20])
def test_cross_products_of_two_parts(at):
    rng = np.random.default_rng(0)
    columns, weights = rng.normal(size=(20, 3)) + 1e3, rng.integers(0, 4, 20) * 1.0
    parts = slice(at), slice(at, None)
    one, other = (CrossProducts.of_rows(columns[p], weights[p]) for p in parts)
    both = one.merge(other)
    expected = np.cov(columns.T, ddof=0, fweights=weights.astype(int)) * weights.sum()
    assert_allclose(both.products, expected, rtol=1e-10)
    assert_allclose(both.means, np.average(columns, axis=0, weights=weights))
    assert both.weight == weights.sum()

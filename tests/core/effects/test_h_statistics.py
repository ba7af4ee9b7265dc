"""H statistics from arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.effects.h_statistics import (
    Strength,
    as_matrices,
    greenwell_strength,
    overall_moments,
    overall_strengths,
    rounding_floor,
    strength,
)

RNG = np.random.default_rng(0)
WEIGHTS = RNG.integers(1, 4, 30).astype(float)
NO_FLOOR = np.zeros(2)


def centred_square(values):
    """Weighted mean of the squares of centred values."""
    values = values - np.average(values, axis=0, weights=WEIGHTS)
    return np.average(values**2, axis=0, weights=WEIGHTS)


def test_every_statistic_is_a_ratio_of_centred_sums():
    f, terms = RNG.normal(size=(2, 30, 2))
    found = strength(f, terms, WEIGHTS, NO_FLOOR)
    left = centred_square(f - terms)
    assert_allclose(found.numerator, left)
    assert_allclose(found.denominator, centred_square(f))
    assert_allclose(found.squared, left / centred_square(f))
    assert_allclose(found.unnormalized**2, left)


@pytest.mark.parametrize(
    "slices",
    [
        [(slice(None), slice(None))],
        [(slice(0, 7), slice(None)), (slice(7, 30), slice(None))],
        [(slice(None), slice(j, j + 1)) for j in range(3)],
    ],
)
def test_strengths_with_all_others_from_parts(slices):
    f = RNG.normal(size=(30, 2)) + 1e4
    alone, all_but = RNG.normal(size=(2, 30, 3, 2))
    parts = ((*one, alone[one], all_but[one]) for one in slices)
    moments = overall_moments(parts, 3, f, WEIGHTS)
    found = overall_strengths(moments, f, WEIGHTS, NO_FLOOR)
    for j in range(3):
        left = f - alone[:, j] - all_but[:, j]
        assert_allclose(found.numerator[j], centred_square(left))
        assert_allclose(found.denominator[j], centred_square(f))


def test_a_share_of_nothing_is_zero_and_something_of_nothing_is_undefined():
    strength = Strength(np.array([0.0, 0.0, 2.0]), np.array([0.0, 3.0, 0.0]))
    assert_array_equal(strength.squared, [0, 0, 0])
    assert_array_equal(strength.is_undefined, [False, False, True])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_rounding_is_no_interaction(size, offset):
    x, z = size * RNG.normal(size=(2, 200, 1))
    weights = RNG.random(200)
    f = (x + offset) + (z - offset / 3) + offset
    floor = rounding_floor(f, weights)
    noise = 1e-15 * np.abs(f).max() * RNG.normal(size=f.shape)
    assert strength(f + noise, x + z, weights, floor).squared == 0
    real = 1e-8 * np.abs(f).max() * (x / size) * (z / size)
    assert strength(f + real, x + z, weights, floor).numerator > 0


def test_a_matrix_of_pairs():
    found = as_matrices(np.array([[1.0, 2.0], [3.0, 4.0]]), [(2, 0), (0, 1)], 3)
    assert_array_equal(found[0], [[0, 3, 1], [3, 0, np.nan], [1, np.nan, 0]])
    assert_array_equal(found[1], [[0, 4, 2], [4, 0, np.nan], [2, np.nan, 0]])
    assert as_matrices(np.empty((0, 2)), [], 1).tolist() == [[[0]], [[0]]]


@pytest.mark.parametrize("shape", [(2, 2), (4, 5)])
def test_greenwells_strength_is_a_deviation_of_deviations(shape):
    surface = RNG.normal(size=(2, *shape))
    for found, values in zip(greenwell_strength(surface), surface, strict=True):
        rows = np.std([np.std(row, ddof=1) for row in values], ddof=1)
        columns = np.std([np.std(column, ddof=1) for column in values.T], ddof=1)
        assert_allclose(found, (rows + columns) / 2)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1)])
def test_a_single_point_has_no_deviation(shape):
    surface = RNG.normal(size=(2, *shape))
    assert_array_equal(greenwell_strength(surface), [0, 0])

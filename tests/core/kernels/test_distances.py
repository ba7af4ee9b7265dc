"""Distances between all rows of two tables, against loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.kernels.distances import gower_distances, squared_distances


@pytest.mark.parametrize("n_rows", [1, 8, 9, 30])
def test_squared_distances(n_rows):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(20, 4)), rng.normal(size=(n_rows, 4))
    expected = [[((a - b) ** 2).sum() for b in B] for a in A]
    assert_allclose(squared_distances(A, B), expected, atol=1e-13)


def test_squared_distances_are_not_negative():
    A = np.random.default_rng(0).normal(size=(40, 3)) + 1e4
    assert (squared_distances(A, A) >= 0).all()


def test_copies_are_at_no_distance_from_a_row():
    A = np.repeat(np.random.default_rng(0).normal(size=(1, 7)), 50, axis=0)
    assert_array_equal(squared_distances(A, A[:1]), 0)


def slow_gower(a, b, categorical, power=1):
    """Gower's distance of two encoded rows."""
    total = 0.0
    for x, z, is_category in zip(a, b, categorical, strict=True):
        if is_category or np.isnan(x) or np.isnan(z):
            total += not (x == z or np.isnan([x, z]).all())
        else:
            total += abs(x - z) ** power
    return total / len(a)


@pytest.mark.parametrize(
    "categorical", [[False] * 4, [True] * 4, [False, True, False, True]], ids=str
)
@pytest.mark.parametrize("missing", [False, True])
def test_gower_distances(categorical, missing):
    rng = np.random.default_rng(1)
    A, B = rng.integers(3, size=(12, 4)) / 2, rng.integers(3, size=(9, 4)) / 2
    if missing:
        A[:5, :3], B[3:6, :3] = np.nan, np.nan
    expected = [[slow_gower(a, b, categorical) for b in B] for a in A]
    found = gower_distances(A, B, np.array(categorical))
    assert_allclose(found, expected, atol=1e-14)
    expected = [[slow_gower(a, b, categorical, power=2) for b in B] for a in A]
    found = gower_distances(A, B, np.array(categorical), squared=True)
    assert_allclose(found, expected, atol=1e-14)

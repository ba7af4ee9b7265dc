"""Curves over a grid, and the rows' weight on it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.statistics.grids import (
    grid_position,
    grid_sums,
    interpolate,
    masses_of_sums,
    variance_of_sums,
)


@pytest.mark.parametrize("n_points", [1, 2, 7])
def test_sums_by_point_give_the_mean_and_variance_of_interpolated_curves(n_points):
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=200), rng.integers(1, 4, 200).astype(float)
    nodes = np.linspace(-1, 1, n_points)
    curves = rng.normal(size=(2, n_points))
    sums = grid_sums(*grid_position(values, nodes), n_points, weights)
    at_rows = np.repeat(interpolate(values, nodes, curves), weights.astype(int), axis=0)
    found = curves @ masses_of_sums(sums)
    assert_allclose(found, at_rows.mean(axis=0), rtol=1e-12)
    for level in (0.0, 1e6):
        found = variance_of_sums(level + curves, sums)
        assert_allclose(found, at_rows.var(axis=0), rtol=1e-8, atol=1e-18)

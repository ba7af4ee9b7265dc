"""Sums over quadrants against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.trees.effects.pairwise_interactions import QuadrantSums
from tests.speeds import examples


def check(seed, n, m, shape, k):
    rng = np.random.default_rng(seed)
    u, v = (rng.integers(0, size, n) for size in shape)
    cells = [rng.integers(0, size, m) for size in shape]
    amounts = rng.normal(size=(m, k))
    sums = QuadrantSums(u, v, shape, k)
    half = m // 2
    sums.add(cells[0][:half], cells[1][:half], amounts[:half])
    sums.add(cells[0][half:], cells[1][half:], amounts[half:])
    below = (cells[0] <= u[:, None]) & (cells[1] <= v[:, None])
    assert_allclose(sums.sums(), below @ amounts, rtol=0, atol=1e-11)


@examples(60)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(0, 30),
    m=st.integers(0, 60),
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    k=st.integers(1, 2),
)
def test_any_points(seed, n, m, height, width, k):
    check(seed, n, m, (height, width), k)


@pytest.mark.parametrize("shape", [(900, 700), (1, 500), (500, 1)])
@pytest.mark.parametrize("n", [4, 2000])
def test_large_grids(shape, n):
    check(0, n, 3000, shape, 1)


def test_bands_keep_far_fewer_numbers_than_the_grid_has_cells():
    n, shape = 10_000, (10_000, 10_000)
    assert QuadrantSums.n_cells(n, shape) < 5 * 100 * 10_000

"""Greedy steps by running sums, against objectives computed anew for each set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.kernels.mmd import (
    select_criticisms,
    select_prototypes,
    strip_of_means,
)
from tests.references.mmd import criticisms_of, prototypes_of
from tests.speeds import examples


def gaussian(X):
    """A kernel with ones on its diagonal."""
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))


def linear(X):
    """A kernel whose diagonal differs, of full rank for few rows."""
    return X @ X.T + np.diag(np.linspace(0.1, 2, len(X)))


@pytest.mark.parametrize("step", [1, 3, 7, 40])
def test_means_from_strips(step):
    rng = np.random.default_rng(0)
    K, shares = gaussian(rng.normal(size=(25, 2))), rng.dirichlet(np.ones(25))
    asked = []

    def block(rows, columns):
        asked.append((rows.start, columns.start))
        return K[rows, columns]

    means = np.zeros(25)
    for start in range(0, 25, step):
        rows = slice(start, min(start + step, 25))
        means[start:] += strip_of_means(block, shares, rows, step)
    assert_allclose(means, K @ shares, rtol=1e-13)
    # Each pair of blocks once: on the diagonal, and to the right of it.
    n_blocks = -(-25 // step)
    assert len(asked) == len(set(asked)) == n_blocks * (n_blocks + 1) // 2


@examples(15)
@given(
    kernel=st.sampled_from([gaussian, linear]),
    seed=st.integers(0, 1000),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    n_distinct=st.integers(1, 14),
    spread=st.booleans(),
)
def test_greedy_equals_brute_force(kernel, seed, scale, n_distinct, spread):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_distinct, 2)).round(1)
    K = kernel(X)[np.ix_(*[rng.integers(n_distinct, size=16)] * 2)]
    if scale != 1 and not spread:
        K = K * scale
    shares = rng.dirichlet(np.ones(16))
    found, objectives, similarity, free = select_prototypes(
        K.T.__getitem__, shares @ K, np.diagonal(K), 5
    )
    expected, mmd = prototypes_of(K, shares, 5)
    assert found.tolist() == expected
    size = np.diagonal(K).max()
    assert_allclose(shares @ K @ shares - objectives, mmd, atol=1e-10 * size)
    assert_allclose(similarity, K[found].sum(axis=0), rtol=1e-12)
    criticisms = select_criticisms(
        K.T.__getitem__,
        shares @ K - similarity / len(found),
        np.diagonal(K),
        free,
        4,
        spread=spread,
    )
    slow = criticisms_of(K, shares, expected, 4, log_determinant=spread)
    assert criticisms.tolist() == slow


def test_the_first_of_ties():
    """The corners of a square are alike, whatever rounding says."""
    K = gaussian(np.array([[0.1, 0.3], [0.1, 0.7], [0.5, 0.3], [0.5, 0.7]]))
    K += 1e-15 * np.random.default_rng(0).normal(size=K.shape)
    means = K.mean(axis=0)
    found, *_ = select_prototypes(K.T.__getitem__, means, np.diagonal(K), 2)
    assert found.tolist() == [0, 3]


def test_no_criticism_in_the_span_of_others():
    """Three points on a line have a linear kernel of rank one."""
    x = np.array([1.0, 2.0, 3.0, -1.0])
    K = np.outer(x, x)
    found = select_criticisms(
        K.T.__getitem__, np.ones(4), x**2, np.ones(4, dtype=bool), 3, spread=True
    )
    assert found.tolist() == [2]


def test_no_criticism_at_the_origin_of_feature_space():
    x = np.array([0.0, 1.0, 2.0])
    found = select_criticisms(
        np.outer(x, x).__getitem__, x, x**2, np.ones(3, dtype=bool), 2**62, spread=True
    )
    assert found.tolist() == [2]

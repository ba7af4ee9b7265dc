"""Shortest steps for several functions at once, against a general solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize

from sklearn_interpret._core.search.norm_balls import nearest_beyond, nearest_beyond_all

ORDERS = [np.inf, 2, 1]


def problem(seed, n=4):
    rng = np.random.default_rng(seed)
    m, p = rng.integers(1, 4), rng.integers(1, 5)
    slopes = rng.normal(size=(n, m, p)) * rng.choice([0, 1, 3], (n, m, p))
    low, high = -rng.exponential(size=(n, p)), rng.exponential(size=(n, p))
    low[rng.random((n, p)) < 0.2] = 0
    high[rng.random((n, p)) < 0.2] = np.inf
    return slopes, low, high, rng.normal(size=(n, m)) * 0.7


def shortest(slopes, low, high, needs, norm):
    """Length of the shortest step that gains enough, infinite if there is none."""
    p = slopes.shape[1]
    ends = list(zip(low, high, strict=True))
    # Sizes of the coordinates, or the largest of them, beside the step itself.
    k = 1 if norm == np.inf else p
    sizes = np.ones((p, 1)) if norm == np.inf else np.eye(p)
    found = linprog(
        np.append(np.zeros(p), np.ones(k)),
        A_ub=np.block(
            [
                [-slopes, np.zeros((len(slopes), k))],
                [np.eye(p), -sizes],
                [-np.eye(p), -sizes],
            ]
        ),
        b_ub=np.concatenate([-needs, np.zeros(2 * p)]),
        bounds=ends + [(0, None)] * k,
    )
    if found.x is None or norm != 2:
        return np.inf if found.x is None else found.fun
    quadratic = minimize(
        lambda step: step @ step,
        found.x[:p],
        jac=lambda step: 2 * step,
        bounds=ends,
        constraints={
            "type": "ineq",
            "fun": lambda step: slopes @ step - needs,
            "jac": lambda step: slopes,
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.sqrt(quadratic.fun)


@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 10_000))
def test_shortest_steps(norm, seed):
    slopes, low, high, needs = problem(seed)
    steps, enough = nearest_beyond_all(slopes, low, high, needs, norm)
    expected = [
        shortest(*each, norm) for each in zip(slopes, low, high, needs, strict=True)
    ]
    np.testing.assert_array_equal(enough, np.isfinite(expected))
    norms = np.linalg.norm(steps, norm, axis=1)
    assert_allclose(norms[enough], np.array(expected)[enough], rtol=1e-5, atol=1e-6)
    gains = np.einsum("nmp,np->nm", slopes, steps)
    assert (gains >= needs - 1e-9)[enough].all()
    assert ((low <= steps) & (steps <= high)).all()


@pytest.mark.parametrize("norm", ORDERS)
def test_one_function_is_the_closed_form(norm):
    slopes, low, high, needs = problem(0)
    steps, enough = nearest_beyond_all(
        slopes[:, :1], low, high, np.abs(needs[:, :1]), norm
    )
    expected = nearest_beyond(slopes[:, 0], low, high, np.abs(needs[:, 0]), norm)
    np.testing.assert_array_equal(steps, expected[0])
    np.testing.assert_array_equal(enough, expected[1])


@pytest.mark.parametrize("norm", ORDERS)
def test_functions_that_exclude_each_other(norm):
    slopes = np.array([[[1.0, 0.0], [-1.0, 0.0]]])
    box = np.full((1, 2), 5.0)
    _, enough = nearest_beyond_all(slopes, -box, box, np.array([[1.0, 1.0]]), norm)
    assert not enough.any()

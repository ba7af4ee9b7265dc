"""Steps in boxes against linear programs, a quadratic program, and the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize

from sklearn_interpret._core.search.norm_balls import (
    farthest,
    nearest_beyond,
    shrunk,
)

ORDERS = [np.inf, 2, 1]


def problem(seed, n_rows=6):
    """Slopes and boxes around zero: some without room, or without an end."""
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 7)
    slopes = rng.normal(size=(n_rows, p)) * rng.choice([0, 1, 3], (n_rows, p))
    low, high = -rng.exponential(size=(n_rows, p)), rng.exponential(size=(n_rows, p))
    low[rng.random((n_rows, p)) < 0.2] = 0
    high[rng.random((n_rows, p)) < 0.2] = np.inf
    return slopes, low, high


def most_gained(slopes, low, high, radius, norm):
    """The largest gain, by a program."""
    if norm == 2:
        start = np.zeros(len(slopes))
        return -minimize(
            lambda step: -slopes @ step,
            start,
            jac=lambda step: -slopes,
            bounds=list(zip(low, high, strict=True)),
            constraints={
                "type": "ineq",
                "fun": lambda step: radius**2 - step @ step,
                "jac": lambda step: -2 * step,
            },
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        ).fun
    size = np.abs(slopes)
    room = np.where(slopes > 0, high, -low)
    if norm == np.inf:
        return (size * np.minimum(room, radius))[size > 0].sum()
    solved = linprog(
        -size,
        A_ub=np.ones((1, len(size))),
        b_ub=[radius],
        bounds=[(0, end) for end in room],
    )
    return -solved.fun


# SciPy 1.14 says that its own steps leave the box.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 10_000), radius=st.floats(0.01, 5))
def test_the_farthest_steps_gain_most(norm, seed, radius):
    slopes, low, high = problem(seed)
    steps = farthest(slopes, low, high, radius, norm)
    assert (steps >= low).all()
    assert (steps <= high).all()
    assert (np.linalg.norm(steps, norm, axis=1) <= radius * (1 + 1e-12)).all()
    for row, step in enumerate(steps):
        most = most_gained(slopes[row], low[row], high[row], radius, norm)
        assert slopes[row] @ step >= most - 1e-6 * (1 + most)


@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
def test_the_nearest_steps_are_the_farthest_of_their_norm(norm, seed, share):
    slopes, low, high = problem(seed)
    room = np.where(slopes > 0, high, -low)
    most = np.where(slopes != 0, np.abs(slopes) * room, 0).sum(axis=1)
    needs = share * np.minimum(most, 10)
    steps, enough = nearest_beyond(slopes, low, high, needs, norm)
    assert enough.all()
    assert (steps >= low).all()
    assert (steps <= high).all()
    assert_allclose((slopes * steps).sum(axis=1), needs, rtol=1e-9, atol=1e-9)
    # No shorter step gains as much.
    sizes = np.linalg.norm(steps, norm, axis=1)
    again = farthest(slopes, low, high, sizes, norm)
    assert_allclose((slopes * again).sum(axis=1), needs, rtol=1e-6, atol=1e-9)


def test_what_a_box_does_not_allow():
    slopes = np.array([[1.0, -2.0], [0.0, 0.0], [1.0, 0.0]])
    low, high = np.full((3, 2), -1.0), np.ones((3, 2))
    for norm in ORDERS:
        steps, enough = nearest_beyond(slopes, low, high, np.full(3, 4.0), norm)
        assert enough.tolist() == [False, False, False]
        assert_allclose(steps, [[1, -1], [0, 0], [1, 0]], atol=1e-12)


@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 10_000), radius=st.floats(0.01, 3))
def test_shrunk_steps_are_the_nearest_of_the_norm(norm, seed, radius):
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(5, rng.integers(1, 6))) * 2
    kept = steps.copy()
    near = shrunk(steps, radius, norm)
    assert_allclose(steps, kept)
    assert (np.linalg.norm(near, norm, axis=1) <= radius * (1 + 1e-12)).all()
    assert (np.abs(near) <= np.abs(steps)).all()
    # The angle to any other point of the ball is not acute: that is the projection.
    others = shrunk(rng.normal(size=(40, steps.shape[1])) * radius, radius, norm)
    for step, point in zip(steps, near, strict=True):
        assert ((others - point) @ (step - point) <= 1e-9).all()

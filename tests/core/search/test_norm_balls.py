"""Steps in boxes against linear programs, a quadratic program, and the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, minimize

from sklearn_interpret._core.search.norm_balls import (
    farthest,
    project_onto_ball,
    shortest_steps,
    shortest_steps_for_all,
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
@pytest.mark.thorough(after=1)
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
    steps, enough = shortest_steps(slopes, low, high, needs, norm)
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
        steps, enough = shortest_steps(slopes, low, high, np.full(3, 4.0), norm)
        assert enough.tolist() == [False, False, False]
        assert_allclose(steps, [[1, -1], [0, 0], [1, 0]], atol=1e-12)


@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 10_000), radius=st.floats(0.01, 3))
def test_shrunk_steps_are_the_nearest_of_the_norm(norm, seed, radius):
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(5, rng.integers(1, 6))) * 2
    kept = steps.copy()
    near = project_onto_ball(steps, radius, norm)
    assert_allclose(steps, kept)
    assert (np.linalg.norm(near, norm, axis=1) <= radius * (1 + 1e-12)).all()
    assert (np.abs(near) <= np.abs(steps)).all()
    # The angle to any other point of the ball is not acute: that is the projection.
    others = project_onto_ball(
        rng.normal(size=(40, steps.shape[1])) * radius, radius, norm
    )
    for step, point in zip(steps, near, strict=True):
        assert ((others - point) @ (step - point) <= 1e-9).all()


def problem_of_several(seed, n=4):
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


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 10_000))
def test_shortest_steps(norm, seed):
    slopes, low, high, needs = problem_of_several(seed)
    steps, enough = shortest_steps_for_all(slopes, low, high, needs, norm)
    expected = [
        shortest(*each, norm) for each in zip(slopes, low, high, needs, strict=True)
    ]
    assert_array_equal(enough, np.isfinite(expected))
    norms = np.linalg.norm(steps, norm, axis=1)
    assert_allclose(norms[enough], np.array(expected)[enough], rtol=1e-5, atol=1e-6)
    gains = np.einsum("nmp,np->nm", slopes, steps)
    assert (gains >= needs - 1e-9)[enough].all()
    assert ((low <= steps) & (steps <= high)).all()


@pytest.mark.parametrize("norm", ORDERS)
def test_one_function_is_the_closed_form(norm):
    slopes, low, high, needs = problem_of_several(0)
    steps, enough = shortest_steps_for_all(
        slopes[:, :1], low, high, np.abs(needs[:, :1]), norm
    )
    expected = shortest_steps(slopes[:, 0], low, high, np.abs(needs[:, 0]), norm)
    assert_array_equal(steps, expected[0])
    assert_array_equal(enough, expected[1])


@pytest.mark.parametrize("norm", ORDERS)
def test_functions_that_exclude_each_other(norm):
    slopes = np.array([[[1.0, 0.0], [-1.0, 0.0]]])
    box = np.full((1, 2), 5.0)
    _, enough = shortest_steps_for_all(slopes, -box, box, np.array([[1.0, 1.0]]), norm)
    assert not enough.any()

"""Steps of the linear model of a gap, and descents by them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sklearn_interpret._core.search.penalised_descents import (
    penalised_descent,
    penalised_steps,
)


@pytest.mark.parametrize("seed", range(10))
def test_steps_minimise_the_penalised_cost(seed):
    rng = np.random.default_rng(seed)
    n = 4
    at, gradient = rng.normal(size=n), rng.normal(size=n)
    gap, weight = rng.uniform(0.5, 2), rng.uniform(0.2, 20)
    low, high = at - rng.uniform(0.1, 2, size=n), at + rng.uniform(0.1, 2, size=n)

    def objective(z):
        return np.abs(z).sum() + weight * max(0, gap - gradient @ (z - at)) ** 2

    found = penalised_steps(
        at[None],
        gradient[None],
        np.array([gap]),
        np.array([weight]),
        low[None],
        high[None],
    )[0]
    assert (found >= low - 1e-12).all()
    assert (found <= high + 1e-12).all()
    # Differences of two numbers above zero make the cost smooth.
    best = minimize(
        lambda parts: (
            parts.sum()
            + weight * max(0, gap - gradient @ (parts[:n] - parts[n:] - at)) ** 2
        ),
        np.concatenate([np.maximum(at, 0), np.maximum(-at, 0)]),
        method="SLSQP",
        bounds=[(0, None)] * (2 * n),
        constraints=[
            {"type": "ineq", "fun": lambda parts: parts[:n] - parts[n:] - low},
            {"type": "ineq", "fun": lambda parts: high - parts[:n] + parts[n:]},
        ],
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert objective(found) <= best.fun + 1e-6


def test_endless_room():
    found = penalised_steps(
        np.zeros((1, 3)),
        np.array([[1.0, -4.0, 0.0]]),
        np.array([8.0]),
        np.array([1e9]),
        np.full((1, 3), -np.inf),
        np.full((1, 3), np.inf),
    )
    np.testing.assert_allclose(found, [[0, -2, 0]], atol=1e-8)


def test_a_descent_finds_the_nearest_point_of_a_ball():
    """Where the margin bends, steps are taken back and tried again shorter."""
    centre = np.array([3.0, 2.0])

    def evaluate(z, rows):
        return z, 1 - ((z - centre) ** 2).sum(axis=1), -2 * (z - centre)

    endless = np.full((1, 2), np.inf)
    found, n_steps = penalised_descent(
        np.zeros((1, 2)), -endless, endless, evaluate, aim=1e-3, max_iter=200
    )
    # Both coordinates cost the same: the nearest point lies on the diagonal.
    np.testing.assert_allclose(found.sum(), 5 - np.sqrt(2), rtol=2e-3)
    assert evaluate(found, None)[1][0] >= 0
    assert 1 <= n_steps < 200


def test_a_flat_margin_has_no_descent():
    found, n_steps = penalised_descent(
        np.zeros((1, 2)),
        np.full((1, 2), -np.inf),
        np.full((1, 2), np.inf),
        lambda z, rows: (z, np.full(len(z), -1.0), np.zeros_like(z)),
        aim=1e-3,
        max_iter=10,
    )
    assert found.tolist() == [[0, 0]]
    assert n_steps == 0

"""Descents of a penalised margin: by single coordinates, and by linear steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from sklearn_interpret._core.search.penalised_descents import (
    coordinate_search,
    penalised_descent,
    penalised_steps,
)


def search(margin, grid, *, n_columns, most_changes=np.inf, max_iter=50):
    """A search from zero, over the same values in all columns."""
    grid = np.asarray(grid, dtype=float)

    def moved(values, columns, cells, rows):
        values[np.arange(len(values)), columns] = cells
        return values

    return coordinate_search(
        np.zeros((1, n_columns)),
        (np.repeat(np.arange(n_columns), len(grid)), np.tile(grid, n_columns)),
        moved,
        lambda values, rows: margin(values),
        lambda values, rows: (np.abs(values).sum(axis=1), (values != 0).sum(axis=1)),
        aim=1e-3,
        most_changes=most_changes,
        max_iter=max_iter,
    )


def test_the_cheapest_coordinate_is_taken():
    found, _ = search(lambda v: v @ [1.0, 2.0] - 3.9, [0, 1, 2, 3, 4], n_columns=2)
    assert found.tolist() == [[0, 2]]


def test_several_coordinates_are_needed():
    found, _ = search(lambda v: v.sum(axis=1) - 2.5, [0, 1], n_columns=4)
    assert found.sum() == 3


def test_a_move_is_taken_back_when_another_makes_it_needless():
    def margin(values):
        return np.maximum(values[:, 0] - 0.5, 3 * values[:, 1] - 5.5)

    found, _ = search(margin, [0, 1, 2], n_columns=2)
    assert found.tolist() == [[1, 0]]


@pytest.mark.parametrize(("most", "reached"), [(1, False), (2, True)])
def test_no_more_changes_than_allowed(most, reached):
    def margin(values):
        return np.minimum(values.sum(axis=1), 2) - 1.5

    found, _ = search(margin, [0, 1], n_columns=3, most_changes=most)
    assert (found != 0).sum() <= most
    assert (margin(found)[0] > 0) == reached


def test_the_number_of_moves_is_bounded():
    found, n_steps = search(
        lambda v: v.sum(axis=1) - 9.5, [0, 1], n_columns=10, max_iter=3
    )
    assert found.sum() == 3
    assert n_steps == 3


def test_many_moves():
    """Moves that are not among the best at first are tried again later."""
    slopes = np.linspace(1, 2, 120)
    found, _ = search(
        lambda v: v @ slopes - slopes[-100:].sum() + 0.1,
        [0, 1],
        n_columns=120,
        max_iter=200,
    )
    assert found.tolist() == [[0] * 20 + [1] * 100]


def test_the_nearest_point_with_the_margin():
    """Of all that were tried, also where the search goes on from another one."""

    def margin(values):
        return np.where(values[:, 0] >= 3, 5.0, values.sum(axis=1) - 4)

    found, _ = search(margin, [0, 1, 3], n_columns=2, max_iter=1)
    assert found.tolist() == [[3, 0]]


def test_no_moves():
    found, n_steps = search(lambda v: v.sum(axis=1), [], n_columns=2)
    assert found.tolist() == [[0, 0]]
    assert n_steps == 0


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
    assert_allclose(found, [[0, -2, 0]], atol=1e-8)


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
    assert_allclose(found.sum(), 5 - np.sqrt(2), rtol=2e-3)
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

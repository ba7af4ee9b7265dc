"""Sums over boxes, against all boxes one by one."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import OptimizeResult

from sklearn_interpret._core.search import boxes as boxes_module
from sklearn_interpret._core.search.boxes import BoxSums, CellConstraints


def chain(n_columns, rng):
    """A tree that asks for one column after the other: on some cells a leaf."""
    n_cells = 3
    low = np.zeros((n_columns + 1, n_columns), dtype=np.intp)
    high = np.full_like(low, n_cells - 1)
    for k in range(n_columns):
        low[k, k] = 1
        high[k + 1 :, k] = 0
    return BoxSums(
        costs=[np.arange(n_cells, dtype=float)] * n_columns,
        origin=np.zeros(n_columns, dtype=np.intp),
        tree=np.zeros(n_columns + 1, dtype=np.intp),
        low=low,
        high=high,
        gains=rng.normal(size=(n_columns + 1, 2)),
        needs=np.zeros(2),
        change_weights=np.zeros((0, n_columns)),
        change_limits=np.zeros(0),
    )


def plain_sums(boxes, points):
    """Gains of the boxes that points lie in."""
    cells = points[:, None]
    inside = ((boxes.low <= cells) & (cells <= boxes.high)).all(axis=2)
    return inside @ boxes.gains


@pytest.mark.parametrize("n_columns", [1, 4, 300])
def test_sums_and_profiles(n_columns):
    rng = np.random.default_rng(0)
    boxes = chain(n_columns, rng)
    points = rng.integers(0, 3, size=(5, n_columns))
    points[0] = 0  # meets all conditions of the longest box
    points[1] = 2  # misses all
    assert_allclose(boxes.sums(points), plain_sums(boxes, points))
    profiles = boxes.profiles(points).reshape(2, 5, n_columns, 4)
    for j in {0, n_columns // 2, n_columns - 1}:
        for cell in range(3):
            moved = points.copy()
            moved[:, j] = cell
            expected = plain_sums(boxes, moved).T
            assert_allclose(profiles[:, :, j, cell], expected, atol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 4])
def test_points_in_the_same_boxes_are_left_out(n_columns):
    boxes = chain(n_columns, np.random.default_rng(0))
    points = np.array(list(product(range(3), repeat=n_columns)))
    point = points[1]
    around = ((boxes.low <= point) & (point <= boxes.high)).all(axis=1)
    same = ((boxes.low[around] <= points) & (points <= boxes.high[around])).all(axis=1)
    rest = boxes.exclude_boxes_at(point)
    assert (rest.sums(points[same]) < rest.needs).all()
    assert_allclose(rest.sums(points[~same]), boxes.sums(points[~same]))


@pytest.mark.parametrize("shortfall", [0.0, 1e-9, 5e-6])
def test_shifts_make_up_for_what_a_solver_misses(shortfall, monkeypatch):
    """Columns that move freely go on; those of whole units stay, as do ends."""
    within = CellConstraints(
        columns=np.arange(3),
        coefficients=np.array([[-1.0, -1.0, -1.0], [0.0, 0.0, 1.0]]),
        bounds=np.array([-3.5, 2.0]),
        nearest=[np.zeros(1)] * 3,
        low=[np.full(1, -5.0)] * 3,
        high=[np.full(1, 5.0), np.full(1, 1.0), np.full(1, 5.0)],
        costs=np.array([2.0, 1.0, 1.5]),
        is_integer=np.array([False, False, True]),
    )
    exact = np.array([0.5, 1.0, 2.0])
    missed = OptimizeResult(x=np.append(exact * (1 - shortfall), np.zeros(3)))
    monkeypatch.setattr(boxes_module, "milp", lambda *args, **kw: missed)
    shifts, cost = within.shifts(np.zeros(3, dtype=np.intp))
    assert within.satisfied_by(shifts)
    assert shifts[1] <= 1.0
    assert shifts[2] == 2.0
    assert_allclose(shifts, exact, atol=2e-5)
    assert cost == within.costs @ shifts

"""Points whose dearest cell costs least, against all points one by one."""

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_interpret._core.search.boxes import BoxSums
from sklearn_interpret._core.search.programs import (
    Program,
    cheapest_point,
    within_reach,
)
from sklearn_interpret._core.search.sup_norm import nearest_point

N_CELLS, N_COLUMNS = 5, 3


def halved(low, high, depth, rng):
    """Boxes of a tree of random cuts."""
    column = rng.integers(len(low))
    if not depth or low[column] == high[column]:
        return [(low, high)]
    cut = rng.integers(low[column], high[column])
    first, second = high.copy(), low.copy()
    first[column], second[column] = cut, cut + 1
    halves = (low, first), (second, high)
    return [box for ends in halves for box in halved(*ends, depth - 1, rng)]


def sums(rng, n_trees=6, n_sums=1):
    """Random trees over a few cells, some of which may not be taken."""
    ends = np.zeros(N_COLUMNS, dtype=int), np.full(N_COLUMNS, N_CELLS - 1)
    trees = [halved(*ends, 3, rng) for _ in range(n_trees)]
    boxes = np.array([box for tree in trees for box in tree])
    own = rng.integers(0, N_CELLS, N_COLUMNS)
    costs = [rng.random() * np.abs(np.arange(N_CELLS) - cell) for cell in own]
    for cost in costs:
        cost[(rng.random(N_CELLS) < 0.1) & (cost > 0)] = np.inf
    return BoxSums(
        costs=costs,
        origin=own,
        tree=np.repeat(np.arange(n_trees), [len(tree) for tree in trees]),
        low=boxes[:, 0],
        high=boxes[:, 1],
        gains=rng.normal(size=(len(boxes), n_sums)),
        needs=np.full(n_sums, 2.0),
        change_weights=np.zeros((0, N_COLUMNS)),
        change_limits=np.zeros(0),
    )


def least(ways):
    """What the dearest cell of the nearest point costs; all points as wished."""
    points = np.array(list(product(range(N_CELLS), repeat=N_COLUMNS)))
    costs = np.max([c[p] for c, p in zip(ways[0].costs, points.T, strict=True)], axis=0)
    holds = np.any([way.holds(points) for way in ways], axis=0)
    return costs[holds].min(initial=np.inf), points[holds]


def dearest(way, point):
    return max(cost[cell] for cost, cell in zip(way.costs, point, strict=True))


@given(st.integers(0, 2**32 - 1), st.integers(1, 2), st.integers(1, 3))
def test_nearest_of_all_points(seed, n_sums, n_ways):
    rng = np.random.default_rng(seed)
    boxes = sums(rng, n_sums=n_sums)
    gains = rng.normal(size=(n_ways, *boxes.gains.shape))
    ways = [replace(boxes, gains=part) for part in gains]
    expected, wished = least(ways)
    some = wished[:2]
    with_starts = [(way, some[way.holds(some)]) for way in ways]
    solved = nearest_point(with_starts, 60.0)
    assert solved.lower_bound == expected
    if np.isinf(expected):
        assert solved.point is None
        return
    assert dearest(boxes, solved.point) == expected
    assert any(way.holds(solved.point[None])[0] for way in ways)
    quick = nearest_point(with_starts, 0)
    assert quick.lower_bound <= expected
    assert quick.point is None or dearest(boxes, quick.point) >= expected


def test_no_ways():
    solved = nearest_point([], 1.0)
    assert solved.point is None
    assert np.isinf(solved.lower_bound)


def test_attained_in_several_changes():
    """Two changes are found where neither of them alone brings anything."""
    low = np.array([[0, 0], [1, 0], [1, 1]])
    high = np.array([[0, 1], [1, 0], [1, 1]])
    boxes = BoxSums(
        costs=[np.array([0.0, 1.0])] * 2,
        origin=np.zeros(2, dtype=int),
        tree=np.zeros(3, dtype=int),
        low=low,
        high=high,
        gains=np.array([[0.0], [-1.0], [1.0]]),
        needs=np.ones(1),
        change_weights=np.zeros((0, 2)),
        change_limits=np.zeros(0),
    )
    assert_array_equal(boxes.reach_needs(np.zeros((1, 2), dtype=int)), [1, 1])


def test_an_infeasible_program_is_a_proof(monkeypatch):
    """It needs no cuts, also where no point is known."""
    proved = []
    for seed in range(60):
        boxes = sums(np.random.default_rng(seed))
        left = within_reach(boxes, np.inf)
        if left is not None and np.isinf(Program(left).solve_relaxation(np.inf, 10.0)):
            proved.append(boxes)
    assert proved
    monkeypatch.delattr(Program, "halves")
    for boxes in proved:
        solved = cheapest_point(boxes, None, 10.0)
        assert solved.point is None
        assert np.isinf(solved.lower_bound)

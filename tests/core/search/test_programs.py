"""Programs of boxes against all points, one by one."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.search.boxes import BoxSums
from sklearn_interpret._core.search.programs import cheapest_point, within_reach

N_COLUMNS, N_CELLS = 3, 4
POINTS = np.array(list(product(range(N_CELLS), repeat=N_COLUMNS)))


def leaves(low, high, depth, rng):
    """Boxes of a random tree, which asks for one column after the other."""
    j = rng.integers(N_COLUMNS)
    if depth == 0 or low[j] == high[j]:
        return [(low, high)]
    cut = rng.integers(low[j], high[j])
    below, above = high.copy(), low.copy()
    below[j], above[j] = cut, cut + 1
    return leaves(low, below, depth - 1, rng) + leaves(above, high, depth - 1, rng)


def forest(seed, n_trees=3, n_sums=1, **limits):
    """Sums over the boxes of random trees; cells cost more the farther they are."""
    rng = np.random.default_rng(seed)
    ends = np.zeros(N_COLUMNS, dtype=np.intp), np.full(N_COLUMNS, N_CELLS - 1)
    trees = [leaves(*ends, 4, rng) for _ in range(n_trees)]
    boxes = [box for tree in trees for box in tree]
    own = rng.integers(N_CELLS, size=N_COLUMNS)
    rates = rng.uniform(0.5, 2, (N_COLUMNS, N_CELLS))
    sums = BoxSums(
        costs=list(rates * np.abs(np.arange(N_CELLS) - own[:, None])),
        origin=own,
        tree=np.repeat(np.arange(n_trees), [len(tree) for tree in trees]),
        low=np.array([low for low, _ in boxes]),
        high=np.array([high for _, high in boxes]),
        gains=rng.normal(size=(len(boxes), n_sums)),
        needs=np.zeros(n_sums),
        change_weights=np.zeros((0, N_COLUMNS)),
        change_limits=np.zeros(0),
    )
    # Few points satisfy the target.
    needs = np.quantile(sums.sums(POINTS), 0.8, axis=0)
    return replace(sums, needs=needs, **limits)


CASES = {
    "one sum": {},
    "two sums": {"n_sums": 2},
    "one tree": {"n_trees": 1},
    "few changes": {
        "change_weights": np.ones((1, N_COLUMNS)),
        "change_limits": np.array([2.0]),
    },
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_point(case, seed):
    boxes = forest(seed, **CASES[case])
    holds = boxes.holds(POINTS)
    costs = np.where(holds, boxes.cost(POINTS), np.inf)
    best = costs.min()
    starts = [None, POINTS[costs.argmin()], POINTS[np.where(holds, costs, -1).argmax()]]
    for start in starts if holds.any() else starts[:1]:
        found = cheapest_point(boxes, start, time_limit=60.0)
        if not holds.any():
            assert found.point is None
            assert found.lower_bound == np.inf
            continue
        assert boxes.holds(found.point[None]).all()
        assert_allclose(boxes.total_cost(found.point), best)
        assert found.lower_bound <= best
        assert_allclose(found.lower_bound, best, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_what_no_cheaper_point_needs_is_left_out(seed):
    boxes = forest(seed, change_weights=np.ones((1, 3)), change_limits=np.array([2.0]))
    costs = boxes.cost(POINTS)
    for most in np.quantile(costs, [0.1, 0.4, 0.9]):
        wanted = boxes.holds(POINTS) & (costs <= most)
        kept = within_reach(boxes, most)
        if kept is None:
            assert not wanted.any()
            continue
        assert np.isfinite(kept.cost(POINTS[wanted])).all()
        assert_allclose(kept.sums(POINTS[wanted]), boxes.sums(POINTS[wanted]))
        assert not np.isfinite(kept.cost(POINTS[costs > most * N_COLUMNS])).any()


def test_costs_that_are_whole_numbers_need_no_closer_bound():
    boxes = forest(0)
    boxes = replace(boxes, costs=[np.ceil(cost) for cost in boxes.costs])
    best = boxes.cost(POINTS[boxes.holds(POINTS)]).min()
    found = cheapest_point(boxes, None, time_limit=60.0, step=1.0)
    assert (boxes.cost(found.point[None])[0], found.lower_bound) == (best, best)


def test_a_search_without_time_has_a_bound_that_holds():
    boxes = forest(1, n_trees=6)
    best = boxes.cost(POINTS[boxes.holds(POINTS)]).min()
    found = cheapest_point(boxes, None, time_limit=0.0)
    assert 0 <= found.lower_bound <= best * (1 + 1e-9)

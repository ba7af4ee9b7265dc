"""The cheapest moves, against linear programs over all sets of columns."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from sklearn_interpret._core.search.linear_program import Moves


def moves_both_ways(rng, n_columns=4):
    """Moves up and down of columns of very different units, that three sums need."""
    units = 10.0 ** rng.integers(-3, 3, n_columns)
    slopes = rng.normal(size=(n_columns, 3)) * units[:, None]
    room = np.where(rng.random(2 * n_columns) < 0.5, np.inf, 3 / np.tile(units, 2))
    return Moves(
        np.concatenate([slopes, -slopes]),
        np.tile(rng.uniform(0.5, 2, n_columns) * units, 2),
        room,
        np.zeros(2 * n_columns, dtype=bool),
        np.tile(np.arange(n_columns), 2),
        np.zeros(2 * n_columns, dtype=bool),
    ), rng.normal(size=3) ** [2, 1, 1]


@pytest.mark.parametrize("seed", range(12))
def test_few_columns_moved(seed):
    moves, needs = moves_both_ways(np.random.default_rng(seed))
    least = [np.inf]
    for size in range(1, 5):
        costs = []
        for some in combinations(range(4), size):
            most = np.where(np.isin(moves.column, some), moves.most, 0)
            bounds = np.stack([np.zeros(8), most], axis=1)
            program = linprog(moves.costs, -moves.gains.T, -needs, bounds=bounds)
            costs.append(program.fun if program.success else np.inf)
        least.append(min(costs))
    for size in range(1, 5):
        units = moves.cheapest(needs, np.ones((1, 4)), np.array([size]))
        cost = np.inf if units is None else units @ moves.costs
        assert_allclose(cost, least[size], rtol=1e-6)
        if units is not None:
            assert len(np.unique(moves.column[units > 0])) <= size
            assert (moves.gains.T @ units >= needs - 1e-6).all()
    fewest = np.isfinite(least).argmax() if np.isfinite(least).any() else None
    assert moves.fewest(needs, np.ones((0, 4)), np.zeros(0)) == fewest

"""The cheapest moves, against linear programs over all sets of columns."""

from itertools import combinations, product

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
        np.full(2 * n_columns, -1),
    ), rng.normal(size=3) ** [2, 1, 1]


@pytest.mark.thorough(after=6)
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
        units = moves.cheapest_units(needs, np.ones((1, 4)), np.array([size]))
        cost = np.inf if units is None else units @ moves.costs
        assert_allclose(cost, least[size], rtol=1e-6)
        if units is not None:
            assert len(np.unique(moves.column[units > 0])) <= size
            assert (moves.gains.T @ units >= needs - 1e-6).all()
    fewest = np.isfinite(least).argmax() if np.isfinite(least).any() else None
    assert moves.fewest_columns(needs, np.ones((0, 4)), np.zeros(0)) == fewest


def test_a_single_column_above_its_limit():
    """The best column alone would be enough, but weighs more than may be moved."""
    gains, costs = np.array([[3.0], [1.0], [1.0]]), np.ones(3)
    still = np.zeros(3, dtype=bool)
    column, after = np.arange(3), np.full(3, -1)
    moves = Moves(gains, costs, np.array([1.0, 1.0, 1.0]), still, column, still, after)
    weights, limits = np.array([[5.0, 1.0, 1.0]]), np.array([2.0])
    assert moves.fewest_columns(np.array([2.0]), weights[:0], limits[:0]) == 1
    assert moves.fewest_columns(np.array([2.0]), weights, limits) == 2
    assert_allclose(moves.cheapest_units(np.array([2.0]), weights, limits), [0, 1, 1])
    assert moves.fewest_columns(np.array([2.5]), weights, limits) is None


def moves_with_entries(rng):
    """Moves of columns that enter at a price, up or down, and go on from there."""
    parts = []
    for j in range(3):
        slope = rng.normal(size=2)
        for way in (1, -1):
            entry = len(parts)
            jump = rng.normal(size=2) + way * slope
            parts.append((jump, rng.uniform(0.5, 2), 1.0, True, j, True, -1))
            whole = rng.random() < 0.5
            parts.append(
                (way * slope, rng.choice([0.0, 1.0]), 2.0, whole, j, False, entry)
            )
    kinds = float, float, float, bool, np.intp, bool, np.intp
    columns = zip(*parts, strict=True)
    return Moves(*(np.array(c, kind) for c, kind in zip(columns, kinds, strict=True)))


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("seed", range(12))
def test_moves_after_others(seed):
    """Against a program for each set of entries and of whole units."""
    rng = np.random.default_rng(seed)
    moves, needs = moves_with_entries(rng), rng.normal(size=2) * 3
    later, most = np.arange(1, 12, 2), int(rng.integers(1, 4))
    least = np.inf
    for entered in product(*[[(0, 0), (1, 0), (0, 1)]] * 3):
        opened = np.repeat(np.ravel(entered), 2)
        wholes = [
            range(3)
            if opened[k] and moves.is_integer[k]
            else [None if opened[k] else 0]
            for k in later
        ]
        for units in product(*wholes):
            low, high = opened.astype(float), opened.astype(float)
            low[later] = [unit or 0 for unit in units]
            high[later] = [2.0 if unit is None else unit for unit in units]
            if np.any(entered, axis=1).sum() > most:
                continue
            bounds = np.stack([low, high], axis=1)
            program = linprog(moves.costs, -moves.gains.T, -needs, bounds=bounds)
            least = min(least, program.fun if program.success else np.inf)
    units = moves.cheapest_units(needs, np.ones((1, 3)), np.array([most]))
    assert_allclose(np.inf if units is None else units @ moves.costs, least, atol=1e-6)
    if units is not None:
        assert (moves.gains.T @ units >= needs - 1e-6).all()
        assert (units[later] <= 2 * units[later - 1]).all()

"""The order of a nominal feature's levels, by how alike their rows are."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_interpret._core.statistics import seriation


def order_levels(codes, n_levels, numeric, categorical, weights):
    """The order of levels, from the values of rows."""
    tables = []
    for values in numeric:
        known = np.isfinite(values)
        ends = seriation.percentiles(values[known], weights[known])
        given = codes[known], np.searchsorted(ends, values[known])
        shape = n_levels, len(ends)
        tables.append(seriation.cell_weights(*given, shape, weights[known]))
    others = [
        seriation.cell_weights(codes, other, (n_levels, other.max() + 1), weights)
        for other in categorical
    ]
    return seriation.order_levels(n_levels, tables, others)


def sample(n=400, n_levels=5, seed=0):
    """Levels with numeric and categorical companions that depend on them."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n)])
    places = rng.normal(size=n_levels)
    size = len(codes)
    numeric = [places[codes] + rng.normal(size=size), rng.normal(size=size).round(1)]
    categorical = [(codes + rng.integers(0, 3, size)) % 4, rng.integers(0, 2, size)]
    return codes, numeric, categorical, rng.integers(1, 4, size).astype(float)


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_levels_along_a_line_come_in_its_order(kind):
    """Level k sits around k: its neighbours are the levels next to it."""
    rng = np.random.default_rng(0)
    n_levels = 7
    places = rng.permutation(n_levels)
    codes = rng.integers(0, n_levels, 7000)
    companion = places[codes] + rng.integers(0, 4, len(codes))
    numeric = [companion.astype(float)] if kind == "numeric" else []
    categorical = [companion] if kind == "categorical" else []
    order = order_levels(codes, n_levels, numeric, categorical, np.ones(7000))
    steps = np.diff(places[order])
    assert np.abs(steps).max() == 1
    assert abs(steps.sum()) == n_levels - 1


def test_the_direction_is_settled_with_the_first_level_in_the_middle():
    """Then the next one is on the low side, however the eigenvector came out."""
    for places in permutations(range(5)):
        if places[0] != 2:
            continue
        codes = np.repeat(np.arange(5), 10)
        values = np.array(places)[codes] + np.tile(np.arange(10) / 4, 5)
        order = order_levels(codes, 5, [values], [], np.ones(50)).tolist()
        assert order.index(0) == 2
        assert order.index(1) < 2


def test_missing_numbers_are_left_out():
    codes, numeric, _, weights = sample()
    with_gaps = numeric[0].copy()
    with_gaps[::7] = np.nan
    known = np.isfinite(with_gaps)
    assert_array_equal(
        order_levels(codes, 5, [with_gaps], [], weights),
        order_levels(codes[known], 5, [numeric[0][known]], [], weights[known]),
    )


@pytest.mark.parametrize("n_levels", [1, 2, 4])
def test_without_anything_to_tell_levels_apart_the_given_order_stays(n_levels):
    codes = np.arange(12) % n_levels
    for numeric in ([], [np.ones(12)], [np.full(12, np.nan)]):
        assert_array_equal(
            order_levels(codes, n_levels, numeric, [], np.ones(12)), np.arange(n_levels)
        )


def test_a_level_without_rows_is_no_error():
    """Custom levels may go beyond the data."""
    codes = np.array([0, 0, 2, 2])
    order = order_levels(codes, 3, [np.arange(4.0)], [], np.ones(4))
    assert sorted(order) == [0, 1, 2]

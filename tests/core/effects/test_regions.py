"""Regions of alike curves: against the enumeration of all splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.effects.regions import RegionSearch, RowCurves
from sklearn_interpret._core.rules.coded_conditions import CodedTable


def loss(curves, rows):
    """Weighted squared deviations from the mean, point by point."""
    total = 0.0
    weights = np.broadcast_to(curves.weights, curves.values.shape)
    for values, weight in zip(curves.values[rows].T, weights[rows].T, strict=True):
        if weight.sum() > 0:
            mean = np.average(values, weights=weight)
            total += weight @ (values - mean) ** 2
    return total


def gain(curves, sides):
    """Reduction of the loss by a division, less twice what noise would give."""
    every = np.arange(len(curves.values))
    reduction = loss(curves, every) - sum(loss(curves, side) for side in sides)
    weights = np.broadcast_to(curves.weights, curves.values.shape)
    for values, weight in zip(curves.values.T, weights.T, strict=True):
        size, column = weight.sum(), RowCurves(values[:, None], weight[:, None])
        n_means = sum((weight[side] > 0).any() for side in sides)
        if size:
            noise = 2 * loss(column, every) / max(size - 1, size / 2)
            reduction -= (int(n_means) - 1) * noise
    return reduction


def all_divisions(codes, n_known, weights, min_rows):
    """Rows of the parts of each threshold of a column; missing ones apart."""
    missing = np.flatnonzero(codes == n_known)
    known = np.unique(codes[codes < n_known])
    for cut in known[:-1]:
        low = np.flatnonzero(codes <= cut)
        high = np.flatnonzero((codes > cut) & (codes < n_known))
        if min(weights[low].sum(), weights[high].sum()) >= min_rows:
            yield [low, high, missing] if len(missing) else [low, high]
    others = np.flatnonzero(codes < n_known)
    if len(known) and min(weights[missing].sum(), weights[others].sum()) >= min_rows:
        yield [others, missing]


def table(codes, n_known, nominal=None):
    nominal = np.zeros(len(codes), dtype=bool) if nominal is None else nominal
    return CodedTable(codes, np.asarray(n_known), np.asarray(nominal))


def search(own, *, weights=None, max_depth=1, min_rows=1, min_gain=0.0, **settings):
    n_columns, n_rows = own.codes.shape
    weights = np.ones(n_rows) if weights is None else weights
    given = own, weights, list(range(n_columns)), max_depth, min_rows, min_gain
    return RegionSearch(*given, **settings)


@given(
    n_rows=st.integers(1, 14),
    n_points=st.integers(1, 4),
    n_known=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    min_rows=st.integers(1, 3),
    shared=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_the_best_of_all_thresholds(n_rows, n_points, n_known, min_rows, shared, seed):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, n + 1, n_rows) for n in n_known])
    weights = rng.integers(1, 4, n_rows).astype(float)
    known = np.ones((n_rows, 1)) if shared else rng.integers(0, 2, (n_rows, n_points))
    curves = RowCurves(rng.normal(size=(n_rows, n_points)), weights[:, None] * known)
    settings = {"weights": weights, "min_rows": min_rows}
    root = search(table(codes, n_known), **settings).grow(curves, 0.0, 0.0)
    divisions = [
        (gain(curves, sides), column, sides)
        for column, n in enumerate(n_known)
        for sides in all_divisions(codes[column], n, weights, min_rows)
    ]
    best = max((found[0] for found in divisions), default=0.0)
    if not root.children:
        assert best <= 1e-9
        return
    found = [np.sort(part.rows) for part in root.children]
    assert_allclose(gain(curves, found), best, atol=1e-9)
    assert_array_equal(np.sort(np.concatenate(found)), np.arange(n_rows))
    for part in root.children:
        assert_array_equal(part.allowed[root.column][codes[root.column][part.rows]], 1)


def test_levels_are_split_in_the_order_of_their_curves():
    codes = np.repeat([[0, 1, 2, 3]], 5, axis=1).reshape(1, -1)
    shape = np.array([1.0, -1.0, 1.1, -1.2])[codes[0]]
    curves = RowCurves(np.outer(shape, [-1.0, 0.0, 1.0]), np.ones((20, 1)))
    root = search(table(codes, [4], [True])).grow(curves, 0.0, 0.0)
    assert {frozenset(codes[0][part.rows]) for part in root.children} == {
        frozenset({0, 2}),
        frozenset({1, 3}),
    }
    # Levels that the rows do not have go with the second part.
    allowed = [part.allowed[0] for part in root.children]
    assert_array_equal(allowed[0] ^ allowed[1], [True] * 4 + [False])


def test_thresholds_lie_between_the_values_of_a_region():
    codes = np.array([[0, 1, 8, 9]])
    curves = RowCurves(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.ones((4, 1)))
    low, high = search(table(codes, [10])).grow(curves, 0.0, 0.0).children
    assert_array_equal(np.flatnonzero(low.allowed[0]), np.arange(5))
    assert_array_equal(np.flatnonzero(high.allowed[0]), np.arange(5, 10))


def test_depth_and_spread():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (2, 200))
    size = np.where(codes[0] < 4, 4.0, 1.0) * np.where(codes[1] < 2, -1.0, 1.0)
    curves = RowCurves(np.outer(size, [-1.0, 1.0]), rng.uniform(1, 2, (200, 1)))
    root = search(table(codes, [8, 8]), max_depth=3).grow(curves, 0.0, 1e-9)
    spreads = [
        curves.spread([n.rows for n in root.nodes_at(level)]) for level in range(4)
    ]
    assert len(root.nodes_at(1)) == 2
    assert len(root.nodes_at(3)) == 4
    assert_allclose(
        spreads[0] ** 2, loss(curves, np.arange(200)) / curves.weights.sum() / 2
    )
    assert spreads[0] > spreads[1] > spreads[2]
    assert_allclose(spreads[2:], 0.0, atol=1e-9)


def test_small_gains_are_left():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 30, (3, 300))
    curves = RowCurves(rng.normal(size=(300, 10)), np.ones((300, 1)))
    assert (
        not search(table(codes, [30] * 3), min_gain=0.1).grow(curves, 0.0, 0.0).children
    )
    assert not search(table(codes, [30] * 3)).grow(curves, 0.0, rounding=10.0).children
    step = np.outer(codes[0] < 15, np.linspace(-1, 1, 10))
    step = RowCurves(curves.values + step, curves.weights)
    settings = {"min_gain": 1e-3}
    assert search(table(codes, [30] * 3), **settings).grow(step, 0.0, 0.0).children
    assert not search(table(codes, [30] * 3), **settings).grow(step, 99.0, 0.0).children


@pytest.mark.parametrize("min_rows", [1, 20])
def test_significance(min_rows):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 30, (3, 100))
    step = RowCurves(
        np.outer(codes[1] < 11, [-2.0, 2.0]) + rng.normal(size=(100, 2)),
        np.ones((100, 1)),
    )
    settings = {"min_rows": min_rows, "significance": 0.05}
    draws = np.random.RandomState(0)
    root = search(table(codes, [30] * 3), rng=draws, **settings).grow(step, 0.0, 0.0)
    assert root.column == 1
    noise = RowCurves(rng.normal(size=(100, 2)), np.ones((100, 1)))
    assert (
        not search(table(codes, [30] * 3), rng=draws, **settings)
        .grow(noise, 0.0, 0.0)
        .children
    )

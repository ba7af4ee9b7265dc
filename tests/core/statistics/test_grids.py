"""Grids and intervals over the values of a feature."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from sklearn_interpret._core.statistics.grids import (
    conditioning_edges,
    interval_edges,
    interval_index,
    nearest,
    numeric_grid,
    search_sorted,
)
from tests.references.effects import interval_of
from tests.references.weighted import quantile, repeated

VALUES = st.one_of(
    hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e9, 1e9)),
    hnp.arrays(np.float64, st.integers(1, 60), elements=st.integers(-9, 9).map(float)),
)


@given(VALUES, st.integers(2, 12), st.booleans())
def test_a_grid_increases_within_the_data(values, resolution, observed_only):
    grid = numeric_grid(
        values, None, resolution, (0.05, 0.95), observed_only=observed_only
    )
    assert 1 <= len(grid) <= resolution
    assert np.all(np.diff(grid) > 0)
    assert grid[0] >= values.min()
    assert grid[-1] <= values.max()
    if observed_only:
        assert np.isin(grid, values).all()


def test_few_values_are_taken_as_they_are():
    values = np.array([3.0, 1.0, 1.0, 7.0])
    assert_array_equal(numeric_grid(values, None, 3, (0.4, 0.6)), [1.0, 3.0, 7.0])


def test_many_values_are_covered_evenly_between_the_quantiles():
    values = np.random.default_rng(0).normal(size=1000)
    low, high = np.quantile(values, [0.1, 0.8], method="inverted_cdf")
    assert_array_equal(
        numeric_grid(values, None, 7, (0.1, 0.8)), np.linspace(low, high, 7)
    )


def test_observed_values_next_to_the_even_points():
    values = np.array([0.0, 1.0, 2.0, 40.0, 58.0, 99.0, 100.0])
    grid = numeric_grid(values, None, 3, (0, 1), observed_only=True)
    assert_array_equal(grid, [0.0, 58.0, 100.0])


def test_few_values_at_the_start_say_nothing_of_the_others():
    values = np.append(np.zeros(200), np.arange(1.0, 801))
    assert_array_equal(
        numeric_grid(values, None, 5, (0.25, 0.75)),
        numeric_grid(values[::-1], None, 5, (0.25, 0.75)),
    )
    few = np.repeat([2.0, 1.0, 3.0], 300)
    assert_array_equal(numeric_grid(few, None, 3, (0, 1)), [1.0, 2.0, 3.0])


def test_one_dominant_value_still_leaves_a_range():
    values = np.concatenate([np.zeros(1000), np.arange(1.0, 11.0)])
    grid = numeric_grid(values, None, 5, (0.05, 0.95))
    assert len(grid) == 5
    assert (grid[0], grid[-1]) == (0.0, 10.0)
    assert np.isin(grid, values).all()


@given(VALUES, st.data(), st.integers(2, 12), st.booleans())
def test_a_grid_of_weights_is_that_of_repeated_rows(
    values, data, resolution, observed_only
):
    weights = data.draw(
        hnp.arrays(np.float64, len(values), elements=st.integers(1, 6).map(float))
    )
    options = {"percentiles": (0.1, 0.9), "observed_only": observed_only}
    assert_array_equal(
        numeric_grid(values, weights, resolution, **options),
        numeric_grid(repeated(values, weights), None, resolution, **options),
    )
    assert_array_equal(
        interval_edges(values, weights, resolution),
        interval_edges(repeated(values, weights), None, resolution),
    )


@given(
    hnp.arrays(
        np.float64, st.integers(2, 30), elements=st.floats(-99, 99), unique=True
    ),
    hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-120, 120)),
)
def test_nearest_are_the_nearest(candidates, points):
    candidates, points = np.sort(candidates), np.sort(points)
    found = nearest(points, candidates)
    assert np.isin(found, candidates).all()
    assert np.all(np.diff(found) > 0)
    distances = np.abs(points[:, None] - candidates)
    assert_array_equal(
        np.abs(points[:, None] - found).min(axis=1), distances.min(axis=1)
    )


@given(VALUES, st.integers(1, 64))
def test_edges_follow_the_definition(values, n_intervals):
    ones = np.ones(len(values))
    expected = {values.min()} | {
        quantile(values, Fraction(k, n_intervals), ones)
        for k in range(1, n_intervals + 1)
    }
    assert_array_equal(interval_edges(values, None, n_intervals), sorted(expected))


@given(VALUES, st.integers(1, 40))
def test_edges_span_the_data_and_no_interval_is_empty(values, n_intervals):
    edges = interval_edges(values, None, n_intervals)
    assert (edges[0], edges[-1]) == (values.min(), values.max())
    if len(edges) > 1:
        counts = np.bincount(interval_index(values, edges), minlength=len(edges) - 1)
        assert counts.min() > 0
        assert counts.sum() == len(values)


def test_edges_of_distinct_values_share_the_rows_evenly():
    values = np.random.default_rng(0).permutation(1000) / 7
    edges = interval_edges(values, None, 40)
    counts = np.bincount(interval_index(values, edges))
    assert_array_equal(counts, np.full(40, 25))


@pytest.mark.parametrize("n_intervals", [40, 50, 300, 10**20, 10**400])
@pytest.mark.parametrize("light", [1.0, 0.01])
def test_more_intervals_than_rows_are_those_that_end_at_a_row(n_intervals, light):
    values = np.random.default_rng(0).permutation(50) / 7
    weights = np.where(values < 3, light, 1.0)
    expected = set(values)
    if n_intervals <= 300:
        k = range(n_intervals + 1)
        expected = {quantile(values, Fraction(i, n_intervals), weights) for i in k}
    found = interval_edges(values, weights, n_intervals)
    assert_array_equal(found, sorted(expected))


@given(
    hnp.arrays(
        np.float64,
        st.integers(2, 12),
        elements=st.integers(-20, 20).map(float),
        unique=True,
    ),
    hnp.arrays(
        np.float64,
        st.integers(0, 40),
        elements=st.one_of(
            st.integers(-22, 22).map(float), st.floats(-22, 22), st.just(np.nan)
        ),
    ),
)
def test_index_agrees_with_a_loop(edges, values):
    edges = np.sort(edges)
    expected = [interval_of(value, edges) for value in values]
    assert_array_equal(interval_index(values, edges), expected)


@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf, 0.9, 3.1])
def test_values_outside_have_no_interval(value):
    index = interval_index(np.array([value]), np.array([1.0, 2.0, 3.0]))
    assert_array_equal(index, [-1])


def test_without_edges_no_value_has_an_interval():
    index = interval_index(np.array([1.0, np.nan]), np.array([]))
    assert_array_equal(index, [-1, -1])


def test_the_first_two_edges_may_be_equal():
    """Then the first interval is that one value."""
    edges = np.array([1.0, 1.0, 2.0])
    values = np.array([0.5, 1.0, 1.5, 2.0])
    assert_array_equal(interval_index(values, edges), [-1, 0, 1, 1])


@given(VALUES, st.integers(1, 40))
def test_few_values_to_condition_on_stand_alone(values, n_intervals):
    edges = conditioning_edges(values, None, n_intervals)
    assert len(edges) <= n_intervals + 1
    assert np.all(np.diff(edges[1:]) > 0)
    cells = interval_index(values, edges)
    assert np.bincount(cells, minlength=len(edges) - 1).min() > 0
    if len(np.unique(values)) <= n_intervals:
        for cell in np.unique(cells):
            assert len(np.unique(values[cells == cell])) == 1


@given(VALUES, st.data(), st.integers(1, 12))
def test_conditioning_on_weights_is_that_on_repeated_rows(values, data, n_intervals):
    weights = data.draw(
        hnp.arrays(np.float64, len(values), elements=st.integers(1, 6).map(float))
    )
    assert_array_equal(
        conditioning_edges(values, weights, n_intervals),
        conditioning_edges(repeated(values, weights), None, n_intervals),
    )


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("n_nodes", [0, 1, 2, 50, 9000])
@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e300, np.inf])
def test_search_sorted_is_that_of_numpy(n_nodes, scale, side):
    rng = np.random.default_rng(n_nodes)
    nodes = np.unique(rng.normal(size=n_nodes)) * min(scale, 1e300)
    if n_nodes and scale == np.inf:
        nodes[-1] = np.inf
    values = rng.normal(size=20000) * min(scale, 1e300)
    if n_nodes:
        near = rng.choice(nodes, size=3000)
        values[:3000] = near
        values[3000:6000] = np.nextafter(near, -np.inf)
        values[6000:9000] = np.nextafter(near, np.inf)
    values[-4:] = np.nan, np.inf, -np.inf, -0.0
    found = search_sorted(nodes, values, side)
    assert found.dtype == np.intp
    assert_array_equal(found, np.searchsorted(nodes, values, side))

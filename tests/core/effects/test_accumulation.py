"""Accumulated effects: closed forms, empty cells, standard errors, nodes.

That they are those of the definition is tested with the estimator.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.effects.accumulation import (
    NodeAxis,
    StepMoments,
    accumulate,
    accumulated_standard_errors,
    centring_constant,
    first_order_effect,
    neighbour_covariances,
    second_order_effect,
)
from sklearn_interpret._core.statistics.grids import derivative, interpolate, look_up
from sklearn_interpret._core.statistics.weighted import Moments


@pytest.mark.parametrize("first", ["intervals", "levels"])
def test_the_product_of_independent_features_in_closed_form(first):
    """x1 x2 over a product of weights: (x1 - mean)(x2 - mean), means over rows."""
    nodes = np.array([0.0, 1.0, 3.0, 4.0]), np.array([-1.0, 0.0, 0.5])
    axes = NodeAxis(nodes[0], first == "levels"), NodeAxis(nodes[1], False)
    margins = [np.arange(1.0, axis.n_nodes + 1) for axis in axes]
    local = np.outer(*map(np.diff, nodes))[None]
    found = second_order_effect(
        local, np.ones(local.shape[1:]), np.outer(*margins), axes
    )[0]
    means = [
        np.average(axis.row_effects(x, 0), weights=w)
        for axis, x, w in zip(axes, nodes, margins, strict=True)
    ]
    expected = np.outer(nodes[0] - means[0], nodes[1] - means[1])
    assert_allclose(found, expected, atol=1e-13)


def test_empty_rectangles_take_their_nearest_neighbour():
    """Nearest on axes of length one: in raw units all would take the second's value."""
    axes = (
        NodeAxis(np.arange(3.0), by_level=False),
        NodeAxis(np.arange(4.0) * 5e3, by_level=False),
    )
    local = np.array([[[1.0, np.nan, np.nan], [np.nan, 7.0, np.nan]]])
    weights = np.array([[4.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    filled = np.array([[[1.0, 1.0, 7.0], [7.0, 7.0, 7.0]]])
    nodes = np.pad(weights, ((1, 0), (1, 0)))
    assert_array_equal(
        second_order_effect(local, weights, nodes, axes),
        second_order_effect(filled, np.ones((2, 3)), nodes, axes),
    )


def test_ties_of_nearest_neighbours_go_to_the_first():
    """In the order of rows and columns, whatever the search tree comes upon."""
    axes = NodeAxis(np.arange(4.0), by_level=False), NodeAxis(np.arange(4.0), False)
    local = np.full((1, 3, 3), np.nan)
    local[0, [0, 1, 1, 2], [1, 0, 2, 1]] = [1.0, 2.0, 3.0, 4.0]
    weights = np.isfinite(local[0]).astype(float)
    filled = np.array([[[1.0, 1.0, 1.0], [2.0, 1.0, 3.0], [2.0, 4.0, 3.0]]])
    nodes = np.ones((4, 4))
    assert_array_equal(
        second_order_effect(local, weights, nodes, axes),
        second_order_effect(filled, np.ones((3, 3)), nodes, axes),
    )


def test_without_any_rectangle_the_interaction_is_zero():
    axes = NodeAxis(np.arange(3.0), False), NodeAxis(np.arange(4.0), True)
    found = second_order_effect(
        np.full((2, 2, 3), np.nan), np.zeros((2, 3)), np.zeros((3, 4)), axes
    )
    assert_array_equal(found, np.zeros((2, 3, 4)))


@pytest.mark.parametrize("by_level", [True, False])
def test_an_axis_of_one_node_has_no_effect(by_level):
    axis = NodeAxis(np.array([2.0]), by_level)
    weights = np.full(axis.n_nodes, 3.0)
    found = first_order_effect(np.empty((2, 0)), weights, axis)
    assert_array_equal(found, np.zeros((2, 1)))


def test_outputs_do_not_mix():
    rng = np.random.default_rng(0)
    axes = NodeAxis(np.arange(4.0), False), NodeAxis(np.arange(3.0), True)
    local, weights = rng.normal(size=(3, 3, 2)), rng.integers(0, 3, (3, 2)) * 1.0
    nodes = rng.integers(1, 4, (4, 3)) * 1.0
    together = second_order_effect(local, weights, nodes, axes)
    for output in range(3):
        alone = second_order_effect(local[[output]], weights, nodes, axes)
        assert_allclose(together[[output]], alone, atol=1e-14)


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
        elements=st.floats(-1e3, 1e3),
    )
)
def test_accumulating_undoes_differences(values):
    for axis in (0, 1, -1):
        started = values - np.take(values, [0], axis)
        assert_allclose(
            accumulate(np.diff(values, axis=axis), axis), started, atol=1e-9
        )


@given(
    hnp.arrays(np.float64, (2, 5), elements=st.floats(-1e3, 1e3)),
    hnp.arrays(np.float64, 6, elements=st.floats(0.5, 10)),
    st.sampled_from(["levels", "edges", "between"]),
)
def test_a_centred_effect_has_mean_zero_over_the_rows(local, weights, where):
    axis = NodeAxis(np.arange(6.0), where == "levels", where == "edges")
    effects = first_order_effect(local, weights, axis)
    assert_allclose(centring_constant(effects, weights, [axis]), 0, atol=1e-9)
    if where != "between":
        assert_allclose(effects @ weights, 0, atol=1e-7)
    shifted = first_order_effect(local, weights, axis, centred=False)
    assert not shifted[:, 0].any()
    assert_allclose(effects - effects[:, :1], shifted - shifted[:, :1], atol=1e-9)


@pytest.mark.parametrize("rows_at_nodes", [False, True])
def test_standard_errors_follow_the_effect_as_a_linear_map(rows_at_nodes):
    """Variances of independent steps, through the effect's derivative by each step."""
    rng = np.random.default_rng(0)
    axis = NodeAxis(np.arange(6.0), False, rows_at_nodes)
    errors, weights = rng.random((2, 5)), rng.random(6)
    slopes = first_order_effect(np.eye(5), weights, axis)
    expected = [
        np.sqrt(sum((slopes[k] * errors[output, k]) ** 2 for k in range(5)))
        for output in range(2)
    ]
    assert_allclose(
        accumulated_standard_errors(errors, weights, axis), expected, rtol=1e-12
    )


def test_standard_error_of_one_interval_is_half_of_it_at_both_ends():
    axis = NodeAxis(np.array([0.0, 1.0]), by_level=False)
    found = accumulated_standard_errors(np.array([[0.6]]), np.array([2.0, 7.0]), axis)
    assert_allclose(found, [[0.3, 0.3]])


def test_no_rows_change_no_moments_before_or_after():
    """Partitions of levels may have no rows at all."""
    ones = np.ones((3, 1))
    moments = Moments(ones, ones, ones)
    some, none = (
        StepMoments(moments, shared=moments),
        StepMoments(Moments(*[0 * ones] * 3)),
    )
    for merged in (some.merge(none), none.merge(some)):
        assert_array_equal(merged.shared.mean, moments.mean)
        assert_array_equal(merged.moments.weight, moments.weight)


def test_standard_errors_over_levels_count_the_rows_that_two_steps_share():
    """The variance of each node's effect as a sum over rows, each with all it gives."""
    rng = np.random.default_rng(0)
    n_levels, n = 4, 30
    levels = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n)])
    weights = rng.integers(1, 4, len(levels)).astype(float)
    below, above = rng.normal(size=(2, len(levels))) + np.array([[0.0], [1.0]])
    axis = NodeAxis(np.arange(4.0), by_level=True)
    differences = np.concatenate([below, above])
    steps = np.concatenate([levels - 1, np.where(levels < 3, levels, -1)])
    taken = steps >= 0
    moments = Moments.of_groups(
        differences[taken, None], steps[taken], 3, np.tile(weights, 2)[taken]
    )
    shared = Moments.of_groups(
        np.stack([below, above, below + above], axis=1), levels, n_levels, weights
    )
    cell_weights = np.bincount(levels, weights)
    errors = moments.standard_error.T
    covariances = neighbour_covariances(moments, shared, errors)
    found = accumulated_standard_errors(errors, cell_weights, axis, covariances)
    # What a row of weight one adds to each step's mean, about that mean.
    given = np.zeros((len(levels), 3))
    scale = np.sqrt(moments.weight * (moments.weight - 1))[:, 0]
    for row, level in enumerate(levels):
        if level > 0:
            step = level - 1
            given[row, step] = (below[row] - moments.mean[step, 0]) / scale[step]
        if level < 3:
            given[row, level] = (above[row] - moments.mean[level, 0]) / scale[level]
    slopes = first_order_effect(np.eye(3), cell_weights, axis)
    expected = np.sqrt(weights @ (given @ slopes) ** 2)
    assert_allclose(found[0], expected, rtol=1e-12)


def test_visits_of_intervals_are_their_edges_and_of_levels_their_neighbours():
    nodes = np.array([0, 1, 2])
    assert_array_equal(
        NodeAxis(np.arange(3.0), False).visits(nodes), [[0, 1], [0, 1], [1, 2]]
    )
    assert_array_equal(
        NodeAxis(np.arange(3.0), True).visits(nodes), [[0, 0, 1], [0, 1, 2], [1, 2, 2]]
    )


def test_steps_of_levels_end_at_the_first_and_last():
    low, high = NodeAxis(np.arange(3.0), True).visit_pairs(np.array([0, 1, 2]))
    assert (low[:2], high[:2]) == ((0, 1), (1, 2))
    assert_array_equal(low[2], [-1, 0, 1])
    assert_array_equal(high[2], [0, 1, -1])


@given(
    hnp.arrays(np.float64, st.integers(1, 9), elements=st.floats(-50, 50), unique=True),
    hnp.arrays(np.float64, st.integers(0, 20), elements=st.floats(-60, 60)),
)
def test_interpolation_is_linear_between_nodes_and_flat_beyond(nodes, values):
    nodes = np.sort(nodes)
    curves = np.stack([2 * nodes + 1, nodes])
    inside = np.clip(values, nodes[0], nodes[-1])
    assert_allclose(
        interpolate(values, nodes, curves),
        np.stack([2 * inside + 1, inside], axis=1),
        atol=1e-9,
    )


def test_interpolation_keeps_missing_values_missing():
    found = interpolate(np.array([0.5, np.nan]), np.array([0.0, 1.0]), np.eye(2))
    assert_array_equal(found, [[0.5, 0.5], [np.nan, np.nan]])


def test_look_up_of_levels_and_of_unknown_ones():
    found = look_up(np.array([1, -1, 0]), np.array([[3, 4], [5, 6]]))
    assert_array_equal(found, [[4, 6], [np.nan, np.nan], [3, 5]])


def test_derivatives_of_a_line_and_of_a_parabola():
    nodes = np.array([0.0, 0.5, 2.0, 3.0])
    curves = np.stack([3 * nodes, nodes**2])
    found = derivative(curves, nodes)
    assert_allclose(found[0], 3.0)
    assert_allclose(found[1, 1:-1], 2 * nodes[1:-1])


def test_derivatives_of_short_curves():
    assert_array_equal(
        derivative(np.array([[1.0, 3.0]]), np.array([0.0, 4.0])), [[0.5, 0.5]]
    )
    assert_array_equal(derivative(np.ones((2, 1)), np.ones(1)), np.zeros((2, 1)))

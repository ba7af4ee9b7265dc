"""Layouts of swarms, waterfalls, forces and labels, as pure functions."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn_interpret._plotting.layouts import (
    force_edges,
    label_lines,
    waterfall_steps,
)

from sklearn_interpret._plotting.points import swarm_offsets

PLACES = arrays(float, st.integers(1, 80), elements=st.floats(-5, 5).map(round))
PUSHES = arrays(float, st.integers(1, 12), elements=st.integers(-9, 9).map(float))


def swarm(places, diameter=0.05, reach=0.4):
    return swarm_offsets(places, (-5, 5), n_bins=20, diameter=diameter, reach=reach)


@given(PLACES, st.floats(0.001, 2), st.floats(0.1, 1))
def test_swarms_stay_in_their_rows(places, diameter, reach):
    offsets = swarm(places, diameter, reach)
    assert np.abs(offsets).max() <= reach * (1 + 1e-12)


@given(PLACES)
def test_swarms_are_centred_in_each_bin(places):
    offsets = swarm(places)
    for place in np.unique(places):
        assert offsets[places == place].sum() == pytest.approx(0, abs=1e-12)


@given(PLACES)
def test_points_do_not_cover_each_other_where_there_is_room(places):
    offsets = swarm(places, diameter=0.009)
    for place in np.unique(places):
        gaps = np.diff(np.sort(offsets[places == place]))
        np.testing.assert_allclose(gaps, 0.009)


@given(PLACES)
def test_a_fuller_bin_is_no_narrower(places):
    offsets = swarm(places, diameter=0.3)
    levels, counts = np.unique(places, return_counts=True)
    extents = [np.ptp(offsets[places == place]) for place in levels]
    order = np.argsort(counts, kind="stable")
    for left, right in pairwise(order):
        assert extents[left] <= extents[right] + 1e-12
        if counts[left] < counts[right]:
            assert extents[left] < extents[right]


@given(PLACES, st.randoms(use_true_random=False))
def test_swarms_do_not_depend_on_the_order_of_rows(places, random):
    order = list(range(len(places)))
    random.shuffle(order)
    mixed = swarm(places[order])
    for place in np.unique(places):
        np.testing.assert_allclose(
            np.sort(mixed[places[order] == place]),
            np.sort(swarm(places)[places == place]),
        )


def test_swarm_of_one_place_and_of_huge_range():
    offsets = swarm_offsets(np.zeros(3), (0, 0), n_bins=5, diameter=0.1)
    np.testing.assert_allclose(np.sort(offsets), [-0.1, 0, 0.1])
    ends = np.array([-1e308, 1e308])
    offsets = swarm_offsets(ends, tuple(ends), n_bins=5, diameter=0.1)
    np.testing.assert_array_equal(offsets, 0)


@given(PUSHES, st.integers(-5, 5))
def test_waterfalls_lead_from_base_to_sum(pushes, base):
    starts, ends = waterfall_steps(float(base), pushes)
    np.testing.assert_allclose(ends - starts, pushes)
    assert starts[0] == base
    assert ends[-1] == base + pushes.sum()
    np.testing.assert_array_equal(starts[1:], ends[:-1])


@given(PUSHES)
def test_forces_meet_at_the_prediction_without_gaps(pushes):
    far, near = force_edges(2.0, pushes)
    np.testing.assert_allclose(near - far, pushes)
    up, down = pushes > 0, pushes < 0
    assert (near[up] <= 2).all()
    assert (near[down] >= 2).all()
    for mask, sign in ((up, 1), (down, -1)):
        if mask.any():
            assert near[mask][0] == 2
            np.testing.assert_allclose(near[mask][1:], far[mask][:-1])
            total = np.abs(pushes[mask]).sum()
            assert far[mask][-1] == pytest.approx(2 - sign * total)


@given(arrays(float, (4, 3), elements=st.floats(-5, 5)))
def test_forces_of_many_rows_are_those_of_each(pushes):
    predictions = np.arange(4.0)
    far, near = force_edges(predictions, pushes)
    for row in range(4):
        one = force_edges(predictions[row], pushes[row])
        np.testing.assert_array_equal(far[row], one[0])
        np.testing.assert_array_equal(near[row], one[1])


@given(
    arrays(float, st.integers(1, 12), elements=st.floats(0, 10)),
    st.floats(0.5, 6),
    st.integers(1, 4),
)
def test_labels_on_a_line_do_not_overlap(centres, width, n_lines):
    lines, places = label_lines(centres, np.full(len(centres), width), (0, 10), n_lines)
    assert lines.max() < n_lines
    assert lines[0] == 0
    assert (places - width / 2 >= -1e-9).all()
    assert (places + width / 2 <= 10 + 1e-9).all()
    for line in range(n_lines):
        there = np.sort(places[lines == line])
        assert (np.diff(there) >= width - 1e-9).all()

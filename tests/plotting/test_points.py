"""Swarms of points, and ranges of colours."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._plotting.points import (
    clipped_range,
    shares_of_range,
    swarm_offsets,
)

PLACES = arrays(float, st.integers(1, 80), elements=st.floats(-5, 5).map(round))
VALUES = arrays(float, st.integers(1, 60), elements=st.floats(-1e300, 1e300))


@given(VALUES)
def test_ranges_hold_most_values_and_more_than_one(values):
    low, high = clipped_range(values)
    assert low in values
    assert high in values
    assert (low < high) == (np.ptp(values / 2) > 0)
    assert ((values >= low) & (values <= high)).sum() >= 0.9 * len(values) - 2


def test_ranges_leave_missing_values_out():
    assert clipped_range(np.array([np.nan, 3.0, 5.0])) == (3.0, 5.0)
    assert clipped_range(np.full(3, np.nan)) == (0.0, 0.0)


@given(VALUES)
def test_shares_keep_the_order(values):
    shares = shares_of_range(values, *clipped_range(values))
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (np.diff(shares[np.argsort(values)]) >= 0).all()


def test_shares_of_missing_values_are_missing():
    shares = shares_of_range(np.array([np.nan, 1.0, 2.0]), 1.0, 3.0)
    assert_array_equal(shares, [np.nan, 0.0, 0.5])
    shares = shares_of_range(np.array([0.0, 5e-324]), 0.0, 5e-324)
    assert_array_equal(shares, [0.5, 0.5])
    shares = shares_of_range(np.array([np.nan, 1.0]), 1.0, 1.0)
    assert_array_equal(shares, [np.nan, 0.5])


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
        assert_allclose(gaps, 0.009)


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
        assert_allclose(
            np.sort(mixed[places[order] == place]),
            np.sort(swarm(places)[places == place]),
        )


def test_swarm_of_one_place_and_of_huge_range():
    offsets = swarm_offsets(np.zeros(3), (0, 0), n_bins=5, diameter=0.1)
    assert_allclose(np.sort(offsets), [-0.1, 0, 0.1])
    ends = np.array([-1e308, 1e308])
    offsets = swarm_offsets(ends, tuple(ends), n_bins=5, diameter=0.1)
    assert_array_equal(offsets, 0)

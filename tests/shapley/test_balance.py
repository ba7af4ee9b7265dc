"""Where forces stand, and labels on a few lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sklearn_interpret.shapley._plot._force import force_edges, label_lines

PUSHES = arrays(float, st.integers(1, 12), elements=st.integers(-9, 9).map(float))


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

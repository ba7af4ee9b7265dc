"""What is checked of rows and weights, and which rows an inspection averages over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.validation import check_rows, check_weights, draw_rows


@pytest.mark.parametrize("subsample", [None, 10, 11, 1.0, np.int64(500)])
def test_all_rows_are_kept_unless_fewer_are_asked(subsample):
    np.testing.assert_array_equal(draw_rows(10, subsample), np.arange(10))


@pytest.mark.parametrize(
    "subsample, size", [(3, 3), (1, 1), (0.25, 25), (0.001, 1), (np.float32(0.5), 50)]
)
def test_a_draw_has_its_size_and_no_row_twice(subsample, size):
    drawn = draw_rows(100, subsample, random_state=0)
    assert len(drawn) == size
    assert np.all(np.diff(drawn) > 0)
    assert 0 <= drawn.min() <= drawn.max() < 100


def test_the_draw_follows_the_random_state():
    first, again = (draw_rows(1000, 20, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, draw_rows(1000, 20, random_state=4))
    shared = np.random.RandomState(3)
    np.testing.assert_array_equal(draw_rows(1000, 20, random_state=shared), first)
    assert not np.array_equal(draw_rows(1000, 20, random_state=shared), first)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"]])
def test_classes_keep_their_shares(labels):
    classes = np.repeat(labels, [600, 300, 100])
    drawn = draw_rows(1000, 50, stratify=classes, random_state=0)
    counts = [(classes[drawn] == label).sum() for label in labels]
    assert counts == [30, 15, 5]


def test_rare_classes_are_not_required():
    """One row of a class, or more classes than rows to draw: no error."""
    classes = np.array([0] * 99 + [1])
    assert len(draw_rows(100, 10, stratify=classes, random_state=0)) == 10
    assert len(draw_rows(100, 5, stratify=np.arange(100), random_state=0)) == 5


@pytest.mark.parametrize("extreme", [1e300, 1e-300])
def test_weights_whose_products_leave_the_numbers_are_refused(extreme):
    rows = as_rows(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="sample_weight holds weights up to"):
        check_weights(np.array([0, 1, 2]) * extreme, rows)


@given(scale=st.floats(1e-90, 1e90))
def test_weights_of_other_scales_are_taken(scale):
    weights = np.array([0.0, 1.0, 2.0]) * scale
    np.testing.assert_array_equal(
        check_weights(weights, as_rows(np.ones((3, 1)))), weights
    )


def test_names_that_are_no_text_are_refused():
    pandas = pytest.importorskip("pandas")
    names = pandas.Index(["a", "b\ud800"], dtype=object)
    X = pandas.DataFrame(np.zeros((3, 2)), columns=names)
    with pytest.raises(
        ValueError, match=r"column name 'b\\ud800', which is no Unicode"
    ):
        check_rows(LinearRegression(), X, reset=True)

"""Names of rows, and arrows."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from sklearn_interpret._plotting.labels import JOIN
from sklearn_interpret._plotting.ranked_bars import (
    append_combined,
    draw_arrows,
    draw_bars,
    name_rows,
)


@pytest.mark.parametrize("notched", [False, True])
@given(
    arrays(float, 4, elements=st.floats(-5, 5)),
    arrays(float, 4, elements=st.floats(-5, 5)),
)
def test_arrows_reach_from_end_to_point(notched, far, near):
    _, ax = plt.subplots()
    arrows = draw_arrows(
        ax, far, near, np.arange(4), 0.5, 0.3, "red", None, notched=notched
    )
    plt.close()
    for path, start, point, place in zip(
        arrows.get_paths(), far, near, range(4), strict=True
    ):
        x, y = path.vertices[:, 0], path.vertices[:, 1]
        assert x.min() == pytest.approx(min(start, point), abs=1e-12)
        assert x.max() == pytest.approx(max(start, point), abs=1e-12)
        assert_allclose([y.min(), y.max()], [place - 0.25, place + 0.25])
        assert y[x == point][0] == place or abs(start - point) < 0.31


@pytest.mark.parametrize("n_rows", [1, 4, 60])
@pytest.mark.parametrize("size", [(2.0, 1.5), (7.0, 3.0), (7.0, 30.0)])
def test_names_do_not_overlap_where_there_is_room(n_rows, size):
    figure, ax = plt.subplots(figsize=size)
    names = [
        f"_feature_${row}$_with_a_name_that_is_long_{row}" for row in range(n_rows)
    ]
    name_rows(ax, names)
    figure.canvas.draw()
    labels = ax.get_yticklabels()
    assert [round(label.get_position()[1]) for label in labels] == list(
        range(n_rows - 1, -1, -1)
    )
    if size[1] / n_rows < 0.3:
        return
    boxes = [label.get_window_extent() for label in labels]
    for upper, lower in pairwise(boxes):
        assert lower.y1 <= upper.y0 + 1


@pytest.mark.parametrize("name", ["color", "facecolor", "fc"])
def test_bars_have_the_colours_that_are_asked_for(name):
    _, ax = plt.subplots()
    bars = draw_bars(
        ax, [0, 1], [1, 2], "blue", {name: "red"}, height=0.5, starts=[1, 0]
    )
    assert [to_hex(bar.get_facecolor()) for bar in bars] == ["#ff0000", "#ff0000"]
    assert [bar.get_x() for bar in bars] == [1, 0]


def test_rows_without_a_name_have_no_tick():
    _, ax = plt.subplots()
    name_rows(ax, ["first", "", "third"])
    assert ax.get_yticks().tolist() == [2, 0]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["first", "third"]
    name_rows(ax, [])
    assert not len(ax.get_yticks())


@pytest.mark.parametrize(("height", "lines"), [(4.0, 2), (0.6, 1)])
def test_both_names_of_a_pair_are_seen(height, lines):
    _, ax = plt.subplots(figsize=(4.0, height))
    pair = "time since the first visit", "age"
    name_rows(ax, [JOIN.join(pair), "b", "c"])
    text = ax.get_yticklabels()[0].get_text()
    assert len(text.split("\n")) == lines
    assert (text[:4], text[-3:]) == ("time", "age")
    assert JOIN.strip() in text


def test_the_others_come_last():
    values, shown = np.array([[1.0, 2.0], [5.0, 6.0], [3.0, 4.0]]), np.array([1])
    rows = append_combined(values, shown, np.array([0, 2]))
    assert rows.tolist() == [[5.0, 6.0], [2.0, 3.0]]
    rows = append_combined(values[:, 0], shown, np.array([0, 2]), np.sum)
    assert rows.tolist() == [5.0, 4.0]
    assert append_combined(values, shown, shown[:0]).tolist() == [[5.0, 6.0]]

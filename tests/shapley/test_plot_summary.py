"""Swarms of Shapley values."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleySummaryDisplay
from tests.figures import row_names
from tests.shapley.data import grouped, mixed, numbers, three_outputs


def drawn(display, line):
    """All points of a line, from the left."""
    parts = [display.points_[line], display.grey_points_[line]]
    places = [np.asarray(p.get_offsets()) for p in parts if p is not None]
    places = np.concatenate(places)
    return places[np.argsort(places[:, 0], kind="stable")]


def test_points_lie_at_the_values():
    explanation = numbers()
    display = ShapleySummaryDisplay.from_explanation(explanation)
    order = np.argsort(-np.abs(explanation.values).mean(axis=0))
    assert row_names(display) == [explanation.feature_names[j] for j in order]
    for line, feature in enumerate(order):
        places = drawn(display, line)
        assert_allclose(places[:, 0], np.sort(explanation.values[:, feature]))
        assert np.abs(places[:, 1] - (4 - line)).max() <= 0.4 + 1e-12
    assert display.ax_.get_xlabel() == "Response\n(Shapley value)"
    assert display.other_points_ is None


def test_colours_are_places_between_low_and_high():
    explanation = numbers(200)
    display = ShapleySummaryDisplay.from_explanation(explanation)
    order = np.argsort(-np.abs(explanation.values).mean(axis=0))
    for line, feature in enumerate(order):
        along = explanation.data[:, feature]
        low, high = np.quantile(along, [0.05, 0.95], method="inverted_cdf")
        expected = np.clip((along - low) / (high - low), 0, 1)
        points = display.points_[line]
        assert_allclose(points.get_array(), expected)
        assert points.get_clim() == (0, 1)
        assert display.grey_points_[line] is None
    assert display.colorbar_ is not None
    assert display.plot(colorbar=False).colorbar_ is None


def test_rare_values_are_seen_when_the_tails_would_hide_them():
    full = numbers(1000, 1)
    flag = np.zeros((1000, 1))
    flag[:20] = 1.0
    explanation = Explanation(full.values, full.base_values, data=flag)
    (points,) = ShapleySummaryDisplay.from_explanation(explanation).points_
    assert_array_equal(points.get_array(), flag[:, 0])
    flag[2:] = 0.0
    (points,) = ShapleySummaryDisplay.from_explanation(explanation).points_
    assert_array_equal(points.get_array(), flag[:, 0])


def test_constant_values_have_the_middle_colour():
    explanation = Explanation(np.ones((9, 1)), np.zeros(9), data=np.full((9, 1), 7.0))
    (points,) = ShapleySummaryDisplay.from_explanation(explanation).points_
    assert_array_equal(points.get_array(), 0.5)


def test_missing_and_categorical_values():
    explanation = mixed()
    display = ShapleySummaryDisplay.from_explanation(explanation)
    line = {name: place for place, name in enumerate(row_names(display))}
    age = explanation.data["age"].isna().sum()
    assert len(display.grey_points_[line["age"]].get_offsets()) == age
    assert len(display.points_[line["age"]].get_offsets()) == 80 - age
    assert display.points_[line["$town_<b>$"]] is None
    assert len(display.grey_points_[line["$town_<b>$"]].get_offsets()) == 80
    shades = display.points_[line["size"]].get_array()
    assert_allclose(shades, explanation.data["size"].cat.codes / 3)
    shades = display.points_[line["new"]].get_array()
    assert_allclose(shades, explanation.data["new"])
    note = "(grey: missing values, categories without order)"
    assert set(note[7:-1].split(", ")) == set(
        display.ax_.get_xlabel().splitlines()[-1][7:-1].split(", ")
    )
    frame = display.to_frame()
    town = frame[frame["feature"] == "$town_<b>$"].sort_values("row")["value"]
    assert town.isna().sum() == explanation.data["$town_<b>$"].isna().sum()
    assert set(town.dropna()) == {"Ulm", "Wien", "$Aalen_<i>$"}


def test_numbers_that_are_said_to_be_categories():
    explanation = numbers()
    display = ShapleySummaryDisplay.from_explanation(
        explanation, categorical_features=[0, 1, 2, 3]
    )
    assert sum(points is not None for points in display.points_) == 1
    display = ShapleySummaryDisplay.from_explanation(
        explanation, categorical_features=range(5)
    )
    assert display.colorbar_ is None


def test_groups_are_grey():
    display = ShapleySummaryDisplay.from_explanation(grouped())
    by_name = dict(zip(row_names(display), display.points_, strict=True))
    assert by_name["place"] is by_name["category"] is None
    assert by_name["price"] is not None
    assert "(grey: groups of columns)" in display.ax_.get_xlabel()


def test_without_data_there_is_one_colour_and_no_bar():
    full = numbers()
    bare = Explanation(full.values, full.base_values)
    display = ShapleySummaryDisplay.from_explanation(bare)
    assert display.colorbar_ is None
    assert {tuple(points.get_array()) for points in display.points_} == {(0.0,) * 60}
    assert "value" not in display.to_frame()


def test_others_share_the_last_line():
    explanation = numbers(n_features=30)
    display = ShapleySummaryDisplay.from_explanation(explanation, max_entries=4)
    order = np.argsort(-np.abs(explanation.values).mean(axis=0))
    assert row_names(display)[-1] == "sum of 27 other features"
    assert len(display.points_) == 3
    places = np.asarray(display.other_points_.get_offsets())
    assert_allclose(places[:, 0], explanation.values[:, order[3:]].sum(axis=1))
    assert display.plot(max_entries=None).other_points_ is None
    assert len(display.points_) == 30


def test_one_output_of_several():
    explanation = three_outputs()
    display = ShapleySummaryDisplay.from_explanation(explanation, target="low")
    values = explanation.values[:, :, 0]
    strongest = np.argmax(np.abs(values).mean(axis=0))
    assert_allclose(drawn(display, 0)[:, 0], np.sort(values[:, strongest]))


@pytest.mark.parametrize("style", [{"c": "red"}, {"color": "red"}, {"fc": "red"}])
def test_style(style):
    display = ShapleySummaryDisplay.from_explanation(
        numbers(), point_kw={**style, "s": 3, "alpha": 1}
    )
    for points in display.points_:
        assert to_hex(points.get_facecolor()[0]) == "#ff0000"
        assert points.get_sizes().tolist() == [3]


def test_sums_of_hundreds_do_not_squeeze_the_features():
    explanation = numbers(80, 300)
    display = ShapleySummaryDisplay.from_explanation(explanation)
    own = np.concatenate([drawn(display, line)[:, 0] for line in range(19)])
    left, right = display.ax_.get_xlim()
    assert right - left < 2.2 * np.ptp(own)
    assert left < own.min() < own.max() < right
    sums = display.other_points_.get_offsets()[:, 0]
    beyond = ((sums < left) | (sums > right)).sum()
    note = f"(sums of other features beyond the axis: {beyond})"
    assert beyond
    assert note in display.ax_.get_xlabel()

"""Shapley values of a feature along its values."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleyDependenceDisplay
from tests.shapley.data import grouped, mixed, numbers, three_outputs

draw = ShapleyDependenceDisplay.from_explanation


def drawn(display):
    """All points."""
    parts = [*display.points_, display.grey_points_]
    return np.concatenate([np.asarray(p.get_offsets()) for p in parts if p is not None])


def sorted_rows(array):
    return array[np.lexsort(array.T)]


def test_points_lie_at_value_and_attribution():
    explanation = numbers()
    display = draw(explanation, feature="feature 3", color_by=None)
    expected = np.column_stack([explanation.data[:, 3], explanation.values[:, 3]])
    assert_allclose(drawn(display), expected)
    frame = display.to_frame()
    assert frame.columns.tolist() == ["x", "shapley_value"]
    assert_array_equal(frame, expected)
    assert display.ax_.get_xlabel() == "feature 3\n(bars: number of rows)"
    assert display.ax_.get_ylabel() == "Response\n(Shapley value)"
    assert display.colorbar_ is display.legend_ is display.color_feature_ is None


def test_the_partner_is_found_by_what_is_left():
    explanation = numbers(500)
    assert draw(explanation, feature=0).color_feature_ == "feature 2"
    assert draw(explanation, feature=2).color_feature_ == "feature 0"
    assert draw(explanation, feature=1).color_feature_ is None


def test_the_partner_is_searched_among_some_of_many_rows():
    explanation = numbers(6000)
    assert draw(explanation, feature=0).color_feature_ == "feature 2"


def test_interaction_values_say_who_the_partner_is():
    explanation = numbers(500)
    interactions = np.zeros((500, 5, 5))
    interactions[:, 0, 4] = interactions[:, 4, 0] = np.linspace(-1, 1, 500)
    interactions[:, 0, 0] = 9.0
    display = draw(explanation, feature=0, interaction_values=interactions)
    assert display.color_feature_ == "feature 4"
    nothing = np.zeros((500, 5, 5, 1))
    display = draw(explanation, feature=0, interaction_values=nothing)
    assert display.color_feature_ is None
    with pytest.raises(
        ValueError, match=r"shape \(500, 5\); .* \(500, 5, 5\) is needed"
    ):
        draw(explanation, feature=0, interaction_values=np.zeros((500, 5)))


def test_interaction_values_of_several_outputs():
    explanation = three_outputs()
    interactions = np.zeros((40, 5, 5, 3))
    interactions[:, 1, 2, 0], interactions[:, 1, 3, 1] = 1.0, 1.0
    for target, partner in (("low", 2), ("_mid", 3), ("$top$", None)):
        display = draw(
            explanation, feature=1, target=target, interaction_values=interactions
        )
        name = None if partner is None else explanation.feature_names[partner]
        assert display.color_feature_ == name
    with pytest.raises(ValueError, match=r"\(40, 5, 5, 3\) is needed"):
        draw(explanation, feature=1, target=0, interaction_values=np.zeros((40, 5, 5)))


def test_colours_of_numbers():
    explanation = numbers(100)
    display = draw(explanation, feature=0, color_by="feature 1")
    (points,) = display.points_
    along = explanation.data[:, 1]
    assert_array_equal(points.get_array(), along)
    limits = np.quantile(along, [0.05, 0.95], method="inverted_cdf")
    assert_allclose(points.get_clim(), limits)
    assert display.colorbar_.extend == "both"
    assert display.colorbar_.ax.get_ylabel() == "feature 1"
    assert_array_equal(display.to_frame()["color"], along)
    assert display.plot(colorbar=False).colorbar_ is None


def test_a_constant_colour():
    explanation = Explanation(
        np.ones((5, 2)), np.zeros(5), data=np.column_stack([np.arange(5), np.ones(5)])
    )
    display = draw(explanation, feature=0, color_by=1)
    assert display.points_[0].get_clim() == (0.5, 1.5)
    assert display.colorbar_.extend == "neither"


def test_colours_of_levels():
    explanation = mixed()
    display = draw(explanation, feature="age", color_by="$town_<b>$")
    texts = [
        text.get_text().replace(r"\$", "$") for text in display.legend_.get_texts()
    ]
    assert texts == ["$Aalen_<i>$", "Ulm", "Wien", "missing"]
    towns = explanation.data["$town_<b>$"]
    sizes = [len(points.get_offsets()) for points in display.points_]
    assert sizes == [(towns == level).sum() for level in texts[:3]]
    assert len(display.grey_points_.get_offsets()) == towns.isna().sum()
    colours = {to_hex(points.get_facecolor()[0]) for points in display.points_}
    assert len(colours) == 3
    assert len(drawn(display)) == 80
    assert display.plot(colorbar=False).legend_ is None


def test_many_levels_share_a_grey():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, 300)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": [f"level {c}" for c in codes]})
    explanation = Explanation(
        rng.normal(size=(300, 2)), np.zeros(300), data=X, feature_names=["a", "b"]
    )
    display = draw(explanation, feature="a", color_by="b")
    texts = [text.get_text() for text in display.legend_.get_texts()]
    counts = X["b"].value_counts()
    assert texts[-1] == "15 others"
    assert counts[texts[:-1]].min() >= counts.drop(texts[:-1]).max()
    assert len(drawn(display)) == 300


def test_missing_values_stand_apart():
    explanation = mixed()
    display = draw(explanation, feature="age", color_by=None)
    age = explanation.data["age"]
    places = drawn(display)
    known = age.notna()
    assert_allclose(places[known, 0], age[known])
    assert places[~known, 0].min() > age.max()
    strip = display.missing_area_.get_extents().transformed(
        display.ax_.transData.inverted()
    )
    assert (places[~known, 0] >= strip.x0).all()
    assert (places[~known, 0] <= strip.x1).all()
    assert_allclose(places[:, 1], explanation.values[:, 0])
    assert max(display.ax_.get_xticks()) < strip.x0
    assert "missing" in [text.get_text() for text in display.ax_.texts]
    assert display.to_frame()["x"].isna().sum() == (~known).sum()


def test_all_values_missing():
    explanation = Explanation(
        np.ones((4, 1)), np.zeros(4), data=np.full((4, 1), np.nan)
    )
    display = draw(explanation, feature=0)
    assert len(drawn(display)) == 4
    assert display.histogram_ is None
    display.figure_.canvas.draw()


def test_infinite_values_stand_with_the_missing_ones():
    data = np.array([[1.0], [np.inf], [2.0]])
    display = draw(Explanation(np.ones((3, 1)), np.zeros(3), data=data), feature=0)
    assert display.missing_area_ is not None
    assert np.isfinite(drawn(display)).all()


@pytest.mark.parametrize("feature", ["$town_<b>$", "size", "new"])
def test_levels_have_names_and_places(feature):
    explanation = mixed()
    display = draw(explanation, feature=feature, color_by=None)
    column = explanation.data[feature]
    texts = [
        text.get_text().replace(r"\$", "$") for text in display.ax_.get_xticklabels()
    ]
    shown = [str(level) for level in column.where(column.notna(), "missing")]
    expected = np.array([texts.index(level) for level in shown])
    places = drawn(display)
    assert np.abs(places[:, 0] - expected).max() <= 0.3
    assert len(np.unique(places[:, 0])) == 80
    j = explanation.feature_names.index(feature)
    assert_allclose(places[:, 1], explanation.values[:, j])
    assert (display.missing_area_ is None) == column.notna().all()
    heights = [segment[1, 1] for segment in display.histogram_.get_segments()]
    counts = np.bincount(expected)
    assert_allclose(np.array(heights) / max(heights), counts / counts.max())


def test_the_histogram_counts_the_rows():
    explanation = numbers(300)
    display = draw(explanation, feature=0)
    boxes = [path.vertices for path in display.histogram_.get_paths()]
    heights = np.array([box[:, 1].max() for box in boxes])
    lefts = np.array([box[:, 0].min() for box in boxes])
    rights = np.array([box[:, 0].max() for box in boxes])
    counts = [
        ((explanation.data[:, 0] >= left) & (explanation.data[:, 0] < right)).sum()
        for left, right in zip(lefts, rights, strict=True)
    ]
    counts[-1] += 1  # the largest value closes the last bar
    assert_allclose(heights / heights.max(), counts / np.max(counts))
    assert display.ax_.get_ylim()[0] < explanation.values[:, 0].min()
    assert display.plot(histogram=False).histogram_ is None


def test_few_distinct_numbers_have_a_bar_each():
    data = np.repeat([0.0, 1.0, 5.0], [5, 2, 1])[:, None]
    explanation = Explanation(data * 2, np.zeros(8), data=data)
    display = draw(explanation, feature=0)
    boxes = [path.vertices[:, 0] for path in display.histogram_.get_paths()]
    middles = [(box.min() + box.max()) / 2 for box in boxes]
    assert_allclose(middles, [0, 1, 5], atol=1e-12)


def test_groups_have_joint_levels_or_one_column():
    explanation = grouped()
    display = draw(explanation, feature="category")
    texts = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert texts == ["a, x", "a, y", "b, x", "b, y"]
    explanation = grouped(100)
    with pytest.raises(ValueError, match=r"100 joint values.*along=.*'lat', 'lon'"):
        draw(explanation, feature="place")
    display = draw(explanation, feature="place", along="lon", color_by="price")
    assert_array_equal(drawn(display)[:, 0], explanation.data["lon"])
    assert display.ax_.get_xlabel() == "lon\n(bars: number of rows)"
    assert display.ax_.get_ylabel() == "Response\n(Shapley value of place)"
    with pytest.raises(ValueError, match="along has the unknown feature 'price'"):
        draw(explanation, feature="place", along="price")
    display = draw(explanation, feature="price", color_by="category")
    assert len(display.legend_.get_texts()) == 4


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"feature": "featur 1"}, ValueError, "did you mean 'feature 1'"),
        ({"feature": 9}, ValueError, "feature has the position 9, but X has 5"),
        ({"feature": 1.5}, TypeError, "feature takes positions"),
        ({"feature": 0, "color_by": "none"}, ValueError, "color_by has the unknown"),
        ({"feature": 0, "categorical_features": ["x9"]}, ValueError, "categorical"),
        ({}, TypeError, "feature"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        draw(numbers(), **settings)


def test_categorical_numbers():
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.integers(0, 3, 50), rng.normal(size=50)])
    explanation = Explanation(rng.normal(size=(50, 2)), np.zeros(50), data=data)
    display = draw(explanation, feature=0, categorical_features=[0], color_by=None)
    texts = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert texts == ["0", "1", "2"]


def test_dates_are_numbers():
    days = pd.date_range("2024-01-01", periods=6)
    X = pd.DataFrame({"day": days[[3, 1, 5, 0, 2, 4]]})
    explanation = Explanation(
        np.arange(6.0)[:, None], np.zeros(6), data=X, feature_names=["day"]
    )
    display = draw(explanation, feature="day")
    places = drawn(display)
    assert_array_equal(places[:, 0], 19723 + np.array([3, 1, 5, 0, 2, 4]))


def test_style():
    display = draw(numbers(), feature=0, point_kw={"fc": "red"}, color_by=1)
    assert to_hex(display.points_[0].get_facecolor()[0]) == "#ff0000"
    assert display.colorbar_ is None
    display = draw(numbers(), feature=0, histogram_kw={"fc": "red"})
    assert to_hex(display.histogram_.get_facecolor()[0]) == "#ff0000"


def test_jitter_is_named():
    note = "(points are spread sideways within a level)"
    assert note in draw(mixed(), feature="size").ax_.get_xlabel()
    assert note not in draw(mixed(), feature="age").ax_.get_xlabel()

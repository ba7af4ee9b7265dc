"""The display of effects within regions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.effects import RegionalEffectDisplay, RegionalEffects
from tests.effects.data import encoded, mixed_frame
from tests.figures import all_texts, draw

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-1, 1, size=(300, 3)), columns=["a", "b", "c"])
Y = np.where(X["b"] > 0, 1, -1) * X["a"] * np.where(X["c"] > 0.3, 2, 1)
MODEL = DecisionTreeRegressor(random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def fitted():
    return RegionalEffects(FrozenEstimator(MODEL), features=["a", "c"]).fit(X)


def ordinates(artists):
    return [line.get_ydata() for line in artists]


def segments(curves):
    return np.stack([segment[:, 1] for segment in curves.get_segments()])


def test_one_panel_for_each_region(fitted):
    display = RegionalEffectDisplay.from_estimator(fitted, X, n_curves=None)
    regions = fitted.regions_[0]
    assert len(regions) == 3
    assert len([ax for ax in display.axes_.flat if ax is not None]) == 4
    own = fitted.individual_[0]
    centred = own - own.mean(axis=1, keepdims=True)
    for place, region in enumerate(regions):
        (line,), (average,) = display.lines_[place], display.average_lines_[place]
        assert_allclose(line.get_ydata(), centred[region.rows].mean(axis=0))
        assert_allclose(average.get_ydata(), centred.mean(axis=0))
        assert_allclose(segments(display.curves_[place]), centred[region.rows])
        title = line.axes.get_title()
        assert title.startswith(f"Region {place} ({len(region.rows)} rows)\n")
        words = title.split("\n", 1)[1].replace("\n", " ").replace("≤", "<=")
        assert words == str(region)
        places = [segment[0, 0] for segment in display.rug_[place].get_segments()]
        low, high = display.grid_values[[0, -1]]
        values = np.sort(X["a"].iloc[region.rows])
        assert_allclose(places, values[(values >= low) & (values <= high)])
    assert len({line.axes.get_ylim() for (line,) in display.lines_}) == 1
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == [
        "single rows",
        "effect in the region",
        "effect over all rows",
        "values in the data",
    ]


def test_tests_lead_to_the_regions(fitted):
    display = RegionalEffectDisplay.from_estimator(fitted, X)
    texts = [text.get_text() for text in display.axes_[0, 0].texts]
    assert texts[-3:] == [f"region\n{place}" for place in range(3)]
    assert texts.count("yes") == texts.count("no") == 2
    for place, conditions in enumerate(display.conditions):
        assert path_to(display.tree, place) == conditions


def path_to(tree, place):
    """Conditions on the path to a leaf of tests of the form "name ≤ number"."""
    paths, leaves = [(0, [])], []
    while paths:
        node, path = paths.pop()
        if tree["left"][node] < 0:
            leaves.append(path)
            continue
        test = tree["tests"][node]
        paths.append((tree["right"][node], [*path, test.replace("≤", ">")]))
        paths.append((tree["left"][node], [*path, test]))
    return leaves[place]


def test_no_split_is_one_panel():
    linear = LinearRegression().fit(X, X["a"] + X["b"])
    display = RegionalEffectDisplay.from_estimator(linear, X, "a")
    (ax,) = display.axes_.flat
    assert ax.get_title() == "All rows (300 rows)"
    assert display.conditions == [[]]
    assert display.average_lines_ == [[]]


def test_the_feature_that_the_splits_help_most(fitted):
    lowered = fitted.heterogeneity_[:, 0] - fitted.heterogeneity_[:, -1]
    display = RegionalEffectDisplay.from_estimator(fitted, X)
    assert display.feature_name == ["a", "c"][lowered.argmax()]
    other = RegionalEffectDisplay.from_estimator(fitted, X, feature="c")
    assert other.feature_name == "c"
    with pytest.raises(ValueError, match="no entry 'b'"):
        RegionalEffectDisplay.from_estimator(fitted, X, "b")


def test_a_predictor_is_inspected_on_that_feature_alone(fitted, monkeypatch):
    asked, fit = [], RegionalEffects.fit

    def spy(self, *args, **params):
        asked.append(self.features)
        return fit(self, *args, **params)

    monkeypatch.setattr(RegionalEffects, "fit", spy)
    display = RegionalEffectDisplay.from_estimator(MODEL, X, "a")
    RegionalEffectDisplay.from_estimator(MODEL, X, "a", joint=True)
    assert asked == [["a"], None]
    other = RegionalEffectDisplay.from_estimator(fitted, X, "a")
    pd.testing.assert_frame_equal(display.to_frame(), other.to_frame())
    assert len(asked) == 2
    with pytest.raises(TypeError, match="no parameter 'features'"):
        RegionalEffectDisplay.from_estimator(MODEL, X, features=["a"])
    with pytest.raises(ValueError, match="max_depth can only be set before"):
        RegionalEffectDisplay.from_estimator(fitted, X, max_depth=1)


def test_joint_regions_for_any_feature():
    joint = RegionalEffects(FrozenEstimator(MODEL), joint=True).fit(X)
    for feature in X.columns:
        display = RegionalEffectDisplay.from_estimator(joint, X, feature)
        assert display.lines_[0][0].axes.get_xlabel() == feature
        assert len(display.lines_) == len(joint.regions_)


def test_accumulated_effects_have_no_curves_of_rows():
    display = RegionalEffectDisplay.from_estimator(MODEL, X, "a", effect="ale")
    assert display.individual is None
    assert set(display.curves_) == {None}
    ale = RegionalEffects(FrozenEstimator(MODEL), features=["a"], effect="ale").fit(X)
    for (line,), expected in zip(display.lines_, ale.curves_[0], strict=True):
        assert_allclose(line.get_ydata(), expected)
    label = display.lines_[0][0].axes.get_ylabel()
    assert label == "Prediction\n(ALE, mean 0)"


def test_a_line_for_each_of_several_outputs():
    labels = np.array(["low", "mid", "top"])[np.digitize(Y, [-0.3, 0.3])]
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X, labels)
    display = RegionalEffectDisplay.from_estimator(tree, X, "a")
    for lines, averages in zip(display.lines_, display.average_lines_, strict=True):
        colours = [line.get_color() for line in lines]
        assert len(set(colours)) == 3
        assert colours == [line.get_color() for line in averages]
    assert {"low", "mid", "top"} <= set(all_texts(display.figure_))
    assert set(display.curves_) == {None}
    one = RegionalEffectDisplay.from_estimator(tree, X, "a", target="mid")
    assert one.lines_[0][0].axes.get_ylabel() == "Probability of mid\n(centred ICE)"
    assert one.curves_[0] is not None


def test_missing_values_are_a_third_part():
    holed = X.assign(b=X["b"].where(np.arange(300) % 4 > 0))
    y = np.where(holed["b"].isna(), 0, np.where(holed["b"] > 0, 1, -1)) * X["a"]
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(holed, y)
    display = RegionalEffectDisplay.from_estimator(model, holed, "a", max_depth=1)
    assert display.conditions[2] == ["b is missing"]
    tests = ["b is not missing", *display.conditions[0], "", "", ""]
    assert display.tree["tests"] == tests
    assert display.tree["left"] == [1, 2, -1, -1, -1]
    assert display.tree["right"] == [4, 3, -1, -1, -1]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("feature", ["colour", "town", "size"])
@pytest.mark.parametrize("effect", ["ice", "ale"])
def test_levels(feature, effect):
    frame, y = mixed_frame(200)
    model = encoded(DecisionTreeRegressor(random_state=0)).fit(frame, y)
    display = RegionalEffectDisplay.from_estimator(
        model, frame, feature, effect=effect, min_gain=0.0
    )
    draw(display.figure_)
    for (line,), (average,) in zip(display.lines_, display.average_lines_, strict=True):
        assert_allclose(line.get_xdata(), average.get_xdata(), atol=0.15)
        assert average.get_linestyle() == ("--" if feature == "size" else "None")
    assert display.lines_[0][0].axes.get_xlabel().split("\n")[0] == feature


def test_table_has_the_numbers_drawn(fitted):
    display = RegionalEffectDisplay.from_estimator(fitted, X, n_curves=None)
    frame = display.to_frame()
    assert frame.columns.tolist() == [
        "feature",
        "region",
        "output",
        "x",
        "value",
        "row",
    ]
    means = frame[frame["row"].isna()]
    drawn = [y for lines in display.lines_ for y in ordinates(lines)]
    drawn += ordinates(display.average_lines_[0])
    assert_allclose(means["value"], np.concatenate(drawn))
    assert means["region"].isna().sum() == len(display.grid_values)
    curves = frame[frame["row"].notna()]
    for place, region in enumerate(fitted.regions_[0]):
        own = curves[curves["region"] == place]
        assert_array_equal(own["row"].unique(), region.rows)
        assert_allclose(own["value"], segments(display.curves_[place]).ravel())


def test_few_curves_are_spread_over_the_rows(fitted):
    every = RegionalEffectDisplay.from_estimator(fitted, X, n_curves=None)
    few = RegionalEffectDisplay.from_estimator(fitted, X, n_curves=5)
    for one, other in zip(few.curves_, every.curves_, strict=True):
        drawn, rows = segments(one), segments(other)
        assert 3 <= len(drawn) <= 5
        assert_array_equal(drawn, rows[:: -(-len(rows) // 5)])


def test_styles_and_given_axes(fitted):
    _, axes = plt.subplots(1, 4)
    styles = {"line_kw": {"lw": 7, "label": "mine"}, "curve_kw": {"linewidths": 3}}
    display = RegionalEffectDisplay.from_estimator(
        fitted, X, ax=axes, rug=False, **styles
    )
    assert list(display.axes_.flat) == list(axes)
    assert all(line.get_linewidth() == 7 for (line,) in display.lines_)
    assert display.curves_[0].get_linewidths().tolist() == [3]
    assert set(display.rug_) == {None}
    assert "mine" in [text.get_text() for text in display.legend_.get_texts()]


def test_other_rows_are_refused(fitted):
    with pytest.raises(ValueError, match="rows that were inspected are needed"):
        RegionalEffectDisplay.from_estimator(fitted, X[:10])
    with pytest.raises(ValueError, match="shows rows: pass X"):
        RegionalEffectDisplay.from_estimator(fitted)


def test_rows_without_weight_are_not_counted():
    weights = np.r_[np.ones(200), np.zeros(100)]
    params = {"feature": "a", "custom_values": {"a": [-0.5, 0, 0.5]}}
    display = RegionalEffectDisplay.from_estimator(
        MODEL, X, sample_weight=weights, **params
    )
    other = RegionalEffectDisplay.from_estimator(MODEL, X[:200], **params)
    pd.testing.assert_frame_equal(display.to_frame(), other.to_frame())

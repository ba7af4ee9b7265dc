"""Bars and waterfalls of features in groups."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_validate

from sklearn_interpret._inspectors.nested_groups import group_entries
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import (
    BreakDownExplanation,
    ShapleyDecisionDisplay,
    ShapleyForceDisplay,
    ShapleyHeatmapDisplay,
    ShapleyImportanceDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
)
from sklearn_interpret.shapley._plot._base import ShapleyDisplay
from sklearn_interpret.shapley._plot._groups import INDENT, grouped_lines
from tests.figures import draw, row_names, text_faults
from tests.shapley.data import numbers, three_outputs
from tests.shapley.inspectors import LinearShares

GROUPS = {"first": ["feature 0", "feature 2"], "second": ["feature 4"]}
NESTED = {"outer": {"inner": ["feature 0", "feature 1"], "feature 3": ["feature 3"]}}
DEEP = {
    "a": {
        "b": {
            "c": {"d": ["feature 0", "feature 2"], "feature 1": ["feature 1"]},
            "feature 4": ["feature 4"],
        },
        "feature 3": ["feature 3"],
    }
}


def in_groups(groups=GROUPS, **choices):
    return replace(numbers(**choices), groups=groups)


def lengths(bars):
    return np.array([patch.get_width() for patch in bars.patches])


def indents(display):
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    return [len(text) - len(text.lstrip(INDENT)) for text in texts]


def tree_of(display):
    """Points of the tree on the left, or None."""
    lines = [line for line in display.ax_.lines if len(line.get_xdata()) > 2]
    return lines[0].get_xydata() if lines else None


@pytest.mark.parametrize("groups, levels", [(GROUPS, 1), (NESTED, 2)])
def test_bars_of_groups_have_their_members_below_them(groups, levels):
    explanation = in_groups(groups)
    display = ShapleyImportanceDisplay.from_explanation(explanation)
    outermost = explanation.by_group()
    strengths = np.abs(outermost.values).mean(axis=0)
    order = np.argsort(-strengths)
    depths = np.array(indents(display))
    names = [name.strip(INDENT) for name in row_names(display)]
    assert max(depths) == levels
    (bars,) = display.bars_
    assert [name for name, depth in zip(names, depths, strict=True) if not depth] == [
        outermost.feature_names[j] for j in order
    ]
    assert_allclose(lengths(bars)[depths == 0], strengths[order])
    frame = display.to_frame()
    assert_allclose(lengths(bars), frame["importance"])
    means = np.abs(explanation.values).mean(axis=0)
    features = frame.dropna(subset="feature").set_index("feature")
    expected = means[[explanation.feature_names.index(name) for name in features.index]]
    assert_allclose(features["importance"], expected)
    heights = np.array([patch.get_height() for patch in bars.patches])
    assert (np.diff(heights[np.argsort(depths)]) <= 1e-9).all()
    bold = [label.get_fontweight() == "bold" for label in display.ax_.get_yticklabels()]
    assert bold == frame["feature"].isna().tolist()
    assert tree_of(display) is None


def test_tables_name_groups():
    frame = ShapleyImportanceDisplay.from_explanation(in_groups(NESTED)).to_frame()
    assert frame.columns.tolist() == ["group", "feature", "importance"]
    groups = dict(zip(frame["feature"], frame["group"], strict=True))
    assert groups["feature 0"] == "outer / inner"
    # A group of the one feature of its name is the feature.
    assert groups["feature 3"] == "outer"
    assert pd.isna(groups["feature 2"])
    assert len(frame) == 5 + 2


@pytest.mark.parametrize("max_entries", range(1, 13))
def test_groups_are_whole_and_the_others_share_lines(max_entries):
    groups = {
        "large": [f"feature {j}" for j in range(5)],
        "small": ["feature 5", "feature 6"],
    }
    explanation = in_groups(groups, n_features=10)
    display = ShapleyImportanceDisplay.from_explanation(
        explanation, max_entries=max_entries
    )
    depths = np.array(indents(display))
    assert len(depths) <= max_entries
    if max_entries == 12:
        assert len(depths) == 12
    widths = lengths(display.bars_[0])
    total = np.abs(explanation.by_group().values).mean(axis=0).sum()
    assert_allclose(widths[depths == 0].sum(), total)
    colours = [to_hex(patch.get_facecolor()) for patch in display.bars_[0].patches]
    combined = [" other " in name for name in row_names(display)]
    assert [colour == to_hex(NEUTRAL_COLOUR) for colour in colours] == combined


def test_names_of_what_shares_a_line():
    groups = {"a": list("pq"), "b": list("rs")}
    strengths = np.array([1.0, 1, 1, 1, 0.5, 3, 4])
    entries = group_entries(groups, [*"pqrst"])
    lines = grouped_lines(entries, strengths, 4)
    names = [line.name("sum of ") for line in lines.lines]
    assert names == ["b", "r", "s", "sum of 2 other groups and features"]
    lines = grouped_lines(entries, strengths, 2)
    assert [line.name() for line in lines.lines] == ["3 other groups and features"]


@pytest.mark.parametrize("arrangement", ["stacked", "grouped"])
def test_several_outputs(arrangement):
    explanation = replace(three_outputs(), groups=GROUPS)
    display = ShapleyImportanceDisplay.from_explanation(
        explanation, arrangement=arrangement
    )
    frame = display.to_frame()
    assert frame.columns.tolist() == ["group", "feature", "output", "importance"]
    widths = np.array([lengths(bars) for bars in display.bars_])
    assert_allclose(widths.T.ravel(), frame["importance"])
    first = frame[(frame["group"] == "first") & frame["feature"].isna()]
    sums = np.abs(explanation.values[:, [0, 2]].sum(axis=1)).mean(axis=0)
    assert_allclose(first["importance"], sums)


def test_deep_groups_are_a_tree():
    explanation = in_groups(DEEP)
    display = ShapleyImportanceDisplay.from_explanation(explanation)
    names = row_names(display)
    assert sorted(names) == sorted(explanation.feature_names)
    assert abs(names.index("feature 0") - names.index("feature 2")) == 1
    means = np.abs(explanation.values).mean(axis=0)
    order = [explanation.feature_names.index(name) for name in names]
    assert_allclose(lengths(display.bars_[0]), means[order])
    points = tree_of(display)
    assert (points[np.isfinite(points[:, 0]), 0] < 0).all()
    # Each feature has a line at its height; there are four joins.
    assert set(range(5)) <= set(points[:, 1])
    inner = display.to_frame().query("feature.isna()")
    assert len(inner) == 4
    few = ShapleyImportanceDisplay.from_explanation(explanation, max_entries=3)
    assert row_names(few)[-1] == "sum of 3 other features"
    strongest = {explanation.feature_names[j] for j in np.argsort(-means)[:2]}
    assert set(row_names(few)[:2]) == strongest
    one = ShapleyImportanceDisplay.from_explanation(explanation, max_entries=1)
    assert tree_of(one) is None


def test_folds(monkeypatch):
    def explain(self, X):
        return replace(LinearShares.explain(self, X), groups={"g": ["a", "b"]})

    inspector = type("Grouped", (LinearShares,), {"explain": explain})
    monkeypatch.setattr(ShapleyDisplay, "_kinds", (inspector, "explain"))
    X = pd.DataFrame(numbers(n_features=4).data, columns=list("abcd"))
    y = X["a"] - 2 * X["b"] + X["c"] * X["d"]
    results = cross_validate(LinearRegression(), X, y, cv=3, return_estimator=True)
    display = ShapleyImportanceDisplay.from_cv_results(results, X)
    frame = display.to_frame()
    groups = frame[frame["feature"].isna()]
    assert len(groups) == 1 + 3
    assert_allclose(groups["importance"].iloc[0], groups["importance"].iloc[1:].mean())
    assert all(len(points.get_offsets()) == 5 for points in display.fold_points_)


def test_arrays_by_hand():
    arrays = {"feature_names": ["a", "b"], "groups": {"g": ["a", "b"]}}
    display = ShapleyImportanceDisplay([1.0, 2.0, 2.5], **arrays).plot()
    assert row_names(display) == ["g", INDENT + "b", INDENT + "a"]
    with pytest.raises(ValueError, match=r"shape \(2,\).*2 feature names and 1 groups"):
        ShapleyImportanceDisplay([1.0, 2.0], **arrays).plot()
    arrays["groups"] = {"g": ("a", "a")}
    with pytest.raises(ValueError, match="'a' in 'g' and again"):
        ShapleyImportanceDisplay([1.0, 2.0], **arrays).plot()


@pytest.mark.parametrize("max_entries", [None, 20, 5, 4, 3, 2, 1])
@pytest.mark.parametrize("groups", [GROUPS, NESTED, DEEP])
@pytest.mark.parametrize("row", [0, 3])
def test_steps_of_groups_span_those_of_their_members(groups, row, max_entries):
    explanation = in_groups(groups)
    display = ShapleyWaterfallDisplay.from_explanation(
        explanation, row=row, max_entries=max_entries
    )
    steps = display._make_steps(explanation[row], max_entries)
    assert len(steps.names) <= (max_entries or 99)
    assert_allclose(steps.ends - steps.starts, steps.sizes, atol=1e-12)
    depths = steps.lines.depths
    outer = depths == 0
    base, prediction = explanation.base_values[row], explanation.predictions[row]
    assert_allclose([steps.starts[outer][-1], steps.ends[outer][0]], [base, prediction])
    assert_allclose(steps.starts[outer][:-1], steps.ends[outer][1:])
    for k in np.flatnonzero(np.diff(depths) > 0):
        stop = next(
            (i for i in range(k + 1, len(depths)) if depths[i] <= depths[k]), 99
        )
        inner = [i for i in range(k + 1, len(depths)) if i < stop]
        inner = [i for i in inner if depths[i] == depths[k] + 1]
        assert_allclose(sum(steps.sizes[inner]), steps.sizes[k])
        span = [steps.starts[inner[-1]], steps.ends[inner[0]]]
        assert_allclose(span, [steps.starts[k], steps.ends[k]])


def test_table_of_a_waterfall():
    explanation = replace(in_groups(), standard_errors=np.full((60, 5), 0.1))
    display = ShapleyWaterfallDisplay.from_explanation(explanation, row=2)
    frame = display.to_frame()
    assert frame.columns.tolist() == [
        *("group", "feature", "value", "shapley_value", "start", "end"),
        "standard_error",
    ]
    group = frame[(frame["group"] == "first") & frame["feature"].isna()].iloc[0]
    assert_allclose(group["shapley_value"], explanation.values[2, [0, 2]].sum())
    assert pd.isna(group["value"])
    assert pd.isna(group["standard_error"])
    member = frame[frame["feature"] == "feature 2"].iloc[0]
    assert member["group"] == "first"
    assert_allclose(member["value"], explanation.data[2, 2])


@given(st.lists(st.floats(-5, 5), min_size=5, max_size=5))
def test_any_values_sum(values):
    explanation = Explanation(
        [values], [1.0], feature_names=[f"feature {j}" for j in range(5)], groups=GROUPS
    )
    steps = ShapleyWaterfallDisplay(explanation)._make_steps(explanation, None)
    assert_allclose(steps.ends[0], 1 + sum(values), atol=1e-9)


def test_a_break_down_keeps_its_steps():
    steps = BreakDownExplanation(
        [[1.0, 2.0]], [0.0], feature_names=["a", "b"], groups={"g": ["a", "b"]}
    )
    display = ShapleyWaterfallDisplay.from_explanation(steps)
    assert row_names(display) == ["1. a", "2. b"]
    assert display.to_frame()["group"].tolist() == [None, None]


@pytest.mark.parametrize(
    "kind, choices",
    [
        (ShapleyForceDisplay, {"row": 0}),
        (ShapleyDecisionDisplay, {}),
        (ShapleyHeatmapDisplay, {}),
        (ShapleySummaryDisplay, {}),
    ],
)
def test_other_displays_draw_features(kind, choices):
    explanation = in_groups()
    one, other = (
        kind.from_explanation(each, **choices).to_frame()
        for each in (explanation, replace(explanation, groups=None))
    )
    pd.testing.assert_frame_equal(one, other)


def test_summary_by_group():
    display = ShapleySummaryDisplay.from_explanation(in_groups().by_group())
    assert "groups of columns" in display.ax_.get_xlabel()
    assert set(row_names(display)) == {"first", "second", "feature 1", "feature 3"}


@pytest.mark.parametrize("groups", [GROUPS, NESTED, DEEP])
@pytest.mark.parametrize("kind", [ShapleyImportanceDisplay, ShapleyWaterfallDisplay])
def test_texts_have_room(kind, groups):
    explanation = in_groups(groups)
    choices = {"row": 0} if kind is ShapleyWaterfallDisplay else {}
    display = kind.from_explanation(explanation, **choices)
    assert text_faults(display.figure_) == []
    points = tree_of(display)
    if points is not None:
        draw(display.figure_)
        line = next(line for line in display.ax_.lines if len(line.get_xdata()) > 2)
        tree, figure = line.get_window_extent(), display.figure_.bbox
        assert tree.x0 >= figure.x0
        names = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
        assert tree.x1 < min(name.x0 for name in names)

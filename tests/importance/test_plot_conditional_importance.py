"""The display of conditional tests: what it draws is what the test found."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret.importance import (
    ConditionalImportanceDisplay,
    ConditionalImportanceTest,
)
from tests.figures import all_texts, row_names
from tests.importance.quick import linear_table

NAMES = ["first", "second", "third", "fourth"]
PVALUES = [0.2, 0.01, 0.05, 1e-7]
SCORES = np.array([[0.5, 0.9], [0.25, -0.1], [0.125, 0.001], [-12.0, 0.0]])
LABELS = {
    "gcm": "Share of the target's residual variance\ndue to the feature's residuals",
    "pcm": "Share of the target's residual variance\ndue to its effect's residuals",
    "hrt": "Increase of the squared error\nwith redrawn values of the feature",
    "loco": "Increase of the squared error\nwithout the feature",
}


def shown(importances, pvalues=PVALUES, names=NAMES, looks=None, **arguments):
    """A display of arrays, drawn."""
    display = ConditionalImportanceDisplay(
        importances, feature_names=names, pvalues=pvalues, **arguments
    )
    return display.plot(**(looks or {}))


def fitted(test, classify=False, **settings):
    """A test of four features, with models that are quick to fit."""
    X, y = linear_table()
    X, y = pd.DataFrame(X, columns=NAMES), y > 0 if classify else y
    model = LogisticRegression() if classify else LinearRegression()
    settings = {"nuisance": LinearRegression(), "n_samples": 99, **settings}
    return ConditionalImportanceTest(model, test=test, random_state=0, **settings).fit(
        X, y
    )


def lengths(display):
    return np.array([patch.get_width() for patch in display.bars_.patches])


def texts(artists):
    return [text.get_text().replace("\N{MINUS SIGN}", "-") for text in artists]


def marked_rows(display):
    """Positions of the marks from the top, with the places along the axis."""
    places = np.asarray(display.marks_.get_offsets())
    return len(lengths(display)) - 1 - places[:, 1], places[:, 0]


def test_bars_marks_and_pvalues():
    display = shown([0.5, 2.0, 1.0, -0.25])
    assert row_names(display) == ["second", "third", "first", "fourth"]
    assert_allclose(lengths(display), [2, 1, 0.5, -0.25])
    rows, places = marked_rows(display)
    # The p-value of the third is alpha, which is not below it.
    assert_array_equal(rows, [0, 3])
    assert_allclose(places, [2, -0.25])
    pale = [patch.get_alpha() is not None for patch in display.bars_.patches]
    assert pale == [False, True, True, False]
    assert texts(display.labels_) == ["p = 0.01", "p = 0.05", "p = 0.2", "p < 0.0001"]
    assert [label.xy[0] for label in display.labels_] == [2, 1, 0.5, 0]
    legend = texts(display.legend_.get_texts())
    assert legend == ["adjusted p < 0.05", "adjusted p ≥ 0.05"]
    assert display.intervals_ is None
    assert display.scores_ == []
    low, high = display.ax_.get_xlim()
    assert low < -0.25
    assert high > 2


def test_legend_explains_what_is_drawn():
    none = shown([1.0, 2.0], [0.5, 0.6], list("ab"), alpha=0.1, pvalue_name="p")
    assert texts(none.legend_.get_texts()) == ["p ≥ 0.1"]
    every = shown([1.0, 2.0], [0.01, 0.02], list("ab"))
    assert texts(every.legend_.get_texts()) == ["adjusted p < 0.05"]


def test_intervals():
    low, high = np.array([[-1.0, 1, 0.5, -2], [2.0, 3, 1.5, 1]])
    arguments = {"intervals_low": low, "intervals_high": high, "alpha": 0.1}
    display = shown([0.5, 2.0, 1.0, -0.5], **arguments)
    order = [1, 2, 0, 3]
    ends = np.array([s[:, 0] for s in display.intervals_.get_segments()])
    assert_allclose(ends, np.column_stack([low, high])[order])
    # P-values are beyond the intervals.
    assert_allclose([label.xy[0] for label in display.labels_], high[order])
    assert texts(display.legend_.get_texts())[-1] == "90 % interval"
    frame = display.to_frame()
    assert_allclose(frame[["low", "high"]], np.column_stack([low, high])[order])


def test_scores_are_columns_on_the_right():
    display = shown([4.0, 3.0, 2.0, 1.0], nuisance_scores=SCORES)
    columns = ["0.50", "0.25", "0.12", "-12.00", "0.90", "-0.10", "0.00", "0.00"]
    assert texts(display.scores_) == columns
    display.figure_.draw_without_rendering()
    right = display.ax_.get_window_extent().x1
    boxes = [text.get_window_extent() for text in display.scores_]
    assert all(box.x0 > right for box in boxes)
    assert all(box.x1 <= display.figure_.bbox.x1 for box in boxes)
    heights = [box.y0 for box in boxes]
    assert_allclose(heights[:4], heights[4:])
    assert boxes[0].x1 < boxes[4].x0
    assert {"targetR²", "featureR²"} <= set(all_texts(display.figure_))
    assert "from the other features" in display.legend_.get_title().get_text()


def test_unknown_scores_are_left_out():
    scores = np.where([False, True], SCORES, np.nan)
    display = shown([4.0, 3.0, 2.0, 1.0], nuisance_scores=scores)
    assert texts(display.scores_) == ["0.90", "-0.10", "0.00", "0.00"]
    assert "targetR²" not in all_texts(display.figure_)
    assert display.to_frame().columns[-2:].tolist() == ["selected", "feature R²"]
    none = shown([4.0, 3.0, 2.0, 1.0], nuisance_scores=np.full((4, 2), np.nan))
    assert none.scores_ == []
    assert not any("R²" in text for text in all_texts(none.figure_))
    assert none.to_frame().columns[-1] == "selected"


def test_scores_need_room_on_the_right():
    _, (left, _) = plt.subplots(1, 2)
    arguments = {"nuisance_scores": SCORES, "looks": {"ax": left}}
    assert shown([4.0, 3.0, 2.0, 1.0], **arguments).scores_ == []
    _, (left, _) = plt.subplots(1, 2, figsize=(14, 4), layout="constrained")
    arguments["looks"] = {"ax": left}
    assert len(shown([4.0, 3.0, 2.0, 1.0], **arguments).scores_) == 8


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("test", LABELS)
def test_what_is_drawn_is_what_was_found(test):
    inspector = fitted(test)
    display = ConditionalImportanceDisplay.from_estimator(inspector)
    order = np.argsort(-inspector.importances_, kind="stable")
    assert row_names(display) == [NAMES[j] for j in order]
    assert_allclose(lengths(display), inspector.importances_[order])
    rows, _ = marked_rows(display)
    selected = inspector.get_support()[order]
    assert selected.any()
    assert_array_equal(rows, np.flatnonzero(selected))
    assert display.ax_.get_xlabel() == LABELS[test]
    known = ~np.isnan(inspector.nuisance_scores_).all(axis=0)
    assert len(display.scores_) == 4 * known.sum()
    assert (display.intervals_ is not None) == (test == "loco")
    frame = display.to_frame()
    assert frame["feature"].tolist() == [NAMES[j] for j in order]
    assert_allclose(frame["importance"], inspector.importances_[order])
    assert_allclose(frame["adjusted_pvalue"], inspector.adjusted_pvalues_[order])
    assert_array_equal(frame["selected"], selected)
    if test == "loco":
        assert_allclose(frame["low"], inspector.intervals_low_[order])
        assert_allclose(frame["high"], inspector.intervals_high_[order])


def test_settings_of_the_test_are_in_the_words():
    display = ConditionalImportanceDisplay.from_estimator(
        fitted("loco", classify=True, correction=None, alpha=0.2)
    )
    assert (
        display.ax_.get_xlabel() == "Increase of the Brier score\nwithout the feature"
    )
    legend = texts(display.legend_.get_texts())
    assert legend[-1] == "80 % interval"
    assert set(legend[:-1]) <= {"p < 0.2", "p ≥ 0.2"}


def test_groups_have_one_bar():
    inspector = fitted("gcm", feature_groups={"both": ["second", "fourth"]})
    display = ConditionalImportanceDisplay.from_estimator(inspector)
    assert sorted(row_names(display)) == ["both", "first", "third"]


def test_a_fitted_model_is_tested():
    X, y = linear_table()
    model = LinearRegression().fit(X, y)
    settings = {"test": "loco", "cv": 2, "random_state": 0}
    display = ConditionalImportanceDisplay.from_estimator(model, X, y, **settings)
    inspector = ConditionalImportanceTest(FrozenEstimator(model), **settings)
    other = ConditionalImportanceDisplay.from_estimator(inspector.fit(X, y))
    pd.testing.assert_frame_equal(display.to_frame(), other.to_frame())


def test_one_feature():
    display = shown([0.0], [1.0], ["only"], nuisance_scores=[[0.5, 0.1]])
    display.figure_.canvas.draw()
    assert row_names(display) == ["only"]
    low, high = display.ax_.get_xlim()
    assert low < high


@pytest.mark.thorough
def test_many_features():
    n = 120
    importances, names = np.arange(n) / n, [f"x{j}" for j in range(n)]
    arguments = {"pvalues": np.linspace(1, 0, n), "names": names}
    display = shown(importances, nuisance_scores=np.ones((n, 2)), **arguments)
    assert row_names(display) == names[:-21:-1]
    assert display.ax_.get_xlabel().endswith("\n(features not drawn: 100)")
    assert len(display.to_frame()) == n
    display.plot(max_entries=None)
    assert len(lengths(display)) == n
    display.figure_.canvas.draw()
    assert display.figure_.get_size_inches()[1] > 40


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_all_magnitudes(scale):
    values = scale * np.array([0.5, 2.0, 1.0, -0.25])
    display = shown(values, intervals_low=values, intervals_high=values)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert np.isfinite([low, high]).all()
    assert low < high


def test_names_are_drawn_literally():
    odd = [r"$\frac{broken$", "_under_", "<b>&^x$", "a_feature_that_goes_on_" * 9]
    words = {"importance_name": "$ of\n_score_", "pvalue_name": "$p_"}
    display = shown([0.5, 2.0, 1.0, -0.25], names=odd, **words)
    display.figure_.canvas.draw()
    drawn = all_texts(display.figure_)
    for name in [*odd[:3], "$ of_score_", "$p_ < 0.05"]:
        assert any(name in text for text in drawn), name
    assert all(len(text) < 80 for text in drawn)


def test_style_of_bars():
    display = shown([0.5, 2.0, 1.0, -0.25], looks={"bar_kw": {"facecolor": "red"}})
    colours = {to_hex(patch.get_facecolor()) for patch in display.bars_.patches}
    assert colours == {"#ff0000"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pvalues": [0.1]}, r"pvalues has the shape \(1,\); \(4,\) is needed, for 4"),
        ({"nuisance_scores": [0.1] * 4}, r"nuisance_scores has the shape \(4,\)"),
        ({"intervals_low": [0.1, np.nan, 0, 0]}, "intervals_low is not finite"),
        ({"looks": {"max_entries": 0}}, "max_entries"),
    ],
)
def test_wrong_arrays(arguments, message):
    with pytest.raises(ValueError, match=message):
        shown([0.5, 2.0, 1.0, -0.25], **arguments)

"""Bars of mean absolute Shapley values."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate

from sklearn_interpret._core.statistics.refits import Splits, learner_half_width
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleyImportanceDisplay
from sklearn_interpret.shapley._plot._base import ShapleyDisplay
from tests.figures import row_names
from tests.shapley.data import numbers, three_outputs
from tests.shapley.inspectors import LinearShares


def lengths(bars):
    return np.array([patch.get_width() for patch in bars.patches])


def test_bars_are_the_means_from_the_largest_down():
    explanation = numbers()
    display = ShapleyImportanceDisplay.from_explanation(explanation)
    means = np.abs(explanation.values).mean(axis=0)
    order = np.argsort(-means)
    (bars,) = display.bars_
    assert_allclose(lengths(bars), means[order])
    assert row_names(display) == [explanation.feature_names[j] for j in order]
    heights = [patch.get_y() + patch.get_height() / 2 for patch in bars.patches]
    assert_allclose(heights, [4, 3, 2, 1, 0])
    written = [text.get_text() for text in display.labels_]
    assert written == [f"{mean:.2f}" for mean in means[order]]
    assert display.legend_ is None
    assert display.ax_.get_xlabel() == "Response\n(mean |Shapley value|)"


def test_others_share_the_last_bar():
    explanation = numbers(n_features=30)
    display = ShapleyImportanceDisplay.from_explanation(explanation, max_entries=6)
    means = np.sort(np.abs(explanation.values).mean(axis=0))[::-1]
    (bars,) = display.bars_
    assert_allclose(lengths(bars), [*means[:5], means[5:].sum()])
    assert row_names(display)[-1] == "sum of 25 other features"
    colours = {to_hex(patch.get_facecolor()) for patch in bars.patches[:-1]}
    assert len(colours) == 1
    assert to_hex(bars.patches[-1].get_facecolor()) not in colours
    assert len(display.to_frame()) == 30
    display.plot(max_entries=None)
    assert len(row_names(display)) == 30


def test_a_sum_far_longer_than_the_bars_is_cut_and_says_so():
    explanation = numbers(n_features=300)
    display = ShapleyImportanceDisplay.from_explanation(explanation)
    ends = lengths(display.bars_[0])
    right = display.ax_.get_xlim()[1]
    assert ends[0] < right < 2 * ends[0] < ends[-1]
    text = display.labels_[-1].get_text()
    assert text == f"{ends[-1]:.3g}, beyond the axis \N{RIGHTWARDS ARROW}"
    assert len(display.ax_.texts) == 20
    few = ShapleyImportanceDisplay.from_explanation(explanation, max_entries=1)
    assert row_names(few) == ["sum of 300 other features"]
    assert few.ax_.get_xlim()[1] > lengths(few.bars_[0])[0]


@pytest.mark.parametrize("arrangement", ["stacked", "grouped"])
def test_several_outputs(arrangement):
    explanation = three_outputs()
    display = ShapleyImportanceDisplay.from_explanation(
        explanation, arrangement=arrangement, max_entries=3
    )
    means = np.abs(explanation.values).mean(axis=0)
    order = np.argsort(-means.sum(axis=1))
    expected = np.vstack([means[order[:2]], means[order[2:]].sum(axis=0)])
    for output, bars in enumerate(display.bars_):
        assert_allclose(lengths(bars), expected[:, output])
        starts = [patch.get_x() for patch in bars.patches]
        before = expected[:, :output].sum(axis=1) * (arrangement == "stacked")
        assert_allclose(starts, before, atol=1e-12)
    spans = [
        (patch.get_y(), patch.get_y() + patch.get_height())
        for bars in display.bars_
        for patch in bars.patches
    ]
    assert len(set(spans)) == (3 if arrangement == "stacked" else 9)
    texts = [
        text.get_text().replace(r"\$", "$") for text in display.legend_.get_texts()
    ]
    assert texts == ["low", "_mid", "$top$"]
    assert display.labels_ == []
    frame = display.to_frame()
    assert frame.columns.tolist() == ["feature", "output", "importance"]
    assert_allclose(frame["importance"], means[order].ravel())


def test_arrays_by_hand():
    display = ShapleyImportanceDisplay(
        [[1.0, 2.0], [3.0, 4.0]], feature_names=["a", "b"], response_name="odds"
    ).plot()
    assert row_names(display) == ["b", "a"]
    assert [text.get_text() for text in display.legend_.get_texts()] == ["0", "1"]
    with pytest.raises(ValueError, match=r"importances has the shape \(2, 2\).*for 3"):
        ShapleyImportanceDisplay(np.ones((2, 2)), feature_names=list("abc")).plot()


@pytest.mark.parametrize("count", [0, -3, 2.5, True, "all"])
def test_numbers_of_bars(count):
    with pytest.raises(ValueError, match=r"max_entries=.*positive whole number"):
        ShapleyImportanceDisplay.from_explanation(numbers(), max_entries=count)


def test_unknown_arrangement():
    with pytest.raises(ValueError, match="'beside' must be one of stacked, grouped"):
        ShapleyImportanceDisplay.from_explanation(numbers(), arrangement="beside")


def test_style():
    display = ShapleyImportanceDisplay.from_explanation(numbers(), bar_kw={"fc": "red"})
    assert to_hex(display.bars_[0].patches[0].get_facecolor()) == "#ff0000"


@pytest.fixture
def folds(monkeypatch):
    monkeypatch.setattr(ShapleyDisplay, "_kinds", (LinearShares, "explain"))
    X = pd.DataFrame(numbers(n_features=4).data, columns=list("abcd"))
    y = X["a"] - 2 * X["b"] + X["c"] * X["d"]
    return cross_validate(LinearRegression(), X, y, cv=3, return_estimator=True), X


def test_folds_are_averaged(folds):
    results, X = folds
    display = ShapleyImportanceDisplay.from_cv_results(results, X)
    alone = [
        ShapleyImportanceDisplay.from_estimator(model, X).importances
        for model in results["estimator"]
    ]
    order = np.argsort(-np.mean(alone, axis=0))
    (bars,) = display.bars_
    assert_allclose(lengths(bars), np.mean(alone, axis=0)[order])
    for points, one in zip(display.fold_points_, alone, strict=True):
        offsets = np.asarray(points.get_offsets())
        assert_allclose(offsets[:, 0], one[order])
        assert_allclose(offsets[:, 1], [3, 2, 1, 0])
        assert display.ax_.get_xlim()[1] >= offsets[:, 0].max()
    frame = display.to_frame()
    assert frame["fold"].isna().sum() == 4
    for fold, one in enumerate(alone):
        rows = frame[frame["fold"] == fold]
        assert_allclose(rows["importance"], one[order])
    mean = frame[frame["fold"].isna()]
    reach = learner_half_width(alone, Splits(1 / 2))[order]
    assert_allclose(mean["high"] - mean["importance"], reach)
    assert_allclose(mean["importance"] - mean["low"], reach)
    drawn = np.array(display.spreads_.get_segments())[:, :, 0]
    assert_allclose(drawn, mean[["low", "high"]])
    (text,) = display.legend_.get_texts()
    assert text.get_text() == "95 %, assuming K folds"


@pytest.mark.parametrize("arrangement", ["stacked", "grouped"])
def test_folds_of_several_outputs(folds, arrangement):
    _, X = folds
    labels = np.digitize(X["a"], [-0.5, 0.5])
    results = cross_validate(
        LogisticRegression(), X, labels, cv=2, return_estimator=True
    )
    display = ShapleyImportanceDisplay.from_cv_results(
        results, X, arrangement=arrangement, max_entries=3
    )
    ends = [lengths(bars) for bars in display.bars_]
    ends = np.sum(ends, axis=0) if arrangement == "stacked" else np.ravel(ends)
    drawn = [points.get_offsets()[:, 0] for points in display.fold_points_]
    assert_allclose(np.mean(drawn, axis=0), ends)


def test_numbers_of_features_are_exact_beside_the_sum_of_hundreds():
    display = ShapleyImportanceDisplay.from_explanation(numbers(80, 300))
    ends = lengths(display.bars_[0])
    texts = [text.get_text() for text in display.labels_]
    assert texts[:-1] == [f"{end:.2f}" for end in ends[:-1]]


@pytest.mark.parametrize("arrangement", ["stacked", "grouped"])
def test_of_many_outputs_the_weakest_share_a_grey(arrangement):
    values = np.random.default_rng(0).normal(size=(5, 3, 15)) * np.arange(1, 16)
    display = ShapleyImportanceDisplay.from_explanation(
        Explanation(values, np.zeros((5, 15))), arrangement=arrangement
    )
    means = np.abs(values).mean(axis=0)
    means = means[np.argsort(-means.sum(axis=1))]
    alone = np.sort(np.argsort(-means.sum(axis=0))[:11])
    rest = np.setdiff1d(np.arange(15), alone)
    for bars, output in zip(display.bars_, alone, strict=False):
        assert_allclose(lengths(bars), means[:, output])
    assert_allclose(lengths(display.bars_[-1]), means[:, rest].sum(axis=1))
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == [*map(str, alone), "sum of 4 others"]
    colours = [to_hex(bars.patches[0].get_facecolor()) for bars in display.bars_]
    assert len(set(colours)) == 12
    assert colours[-1] == to_hex(NEUTRAL_COLOUR)
    assert len(display.to_frame()) == 45

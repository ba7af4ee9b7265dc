"""What the display of a lasso path draws, and what it refuses."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LassoLars
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.linear import (
    SparseLinearClassifier,
    SparseLinearRegressor,
    SparsePathDisplay,
)
from tests.figures import all_texts, draw

DIABETES = load_diabetes(return_X_y=True, as_frame=True)
MODEL = SparseLinearRegressor(n_features_to_select=4).fit(*DIABETES)
CANCER = SparseLinearClassifier(n_features_to_select=20).fit(
    *load_breast_cancer(return_X_y=True, as_frame=True)
)
WINE = SparseLinearClassifier(n_features_to_select=6).fit(
    *load_wine(return_X_y=True, as_frame=True)
)


def test_lines_are_the_path_from_where_features_enter():
    display = SparsePathDisplay.from_estimator(MODEL)
    named = [text.get_text() for text in display.texts_[0]]
    standard = np.abs(MODEL.coef_ * MODEL.scale_)
    order = np.argsort(-standard)[:4]
    assert named == DIABETES[0].columns[order].tolist()
    for line, j in zip(display.lines_[0], order, strict=True):
        x, y = line.get_data()
        rank = MODEL.entry_order_.tolist().index(j)
        assert_allclose(x[~np.isnan(y)][0], MODEL.alphas_[rank])
        found = np.interp(-MODEL.alphas_[rank:], -x, np.nan_to_num(y))
        expected = MODEL.coef_path_[j, rank:] * MODEL.scale_[j]
        assert_allclose(found, expected, atol=1e-9)
    (ax,) = display.axes_
    assert ax.get_xscale() == "log"
    assert ax.get_xlim() == pytest.approx((MODEL.alphas_[0], MODEL.alpha_))
    assert {"Penalty (alpha)", "Features in use from here on"} <= set(
        all_texts(display.figure_)
    )


@pytest.mark.parametrize(
    "ends", [(45.0, 31.0), (50.0, 7.0), (40.0, 1e-3), (1e-5, 1e-9)]
)
def test_penalties_are_plain_numbers(ends):
    display = SparsePathDisplay(np.geomspace(*ends, 9), np.ones((2, 9))).plot()
    (ax,) = display.axes_
    draw(display.figure_)
    high, low = ax.get_xlim()
    labels = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    shown = [label.get_text() for tick, label in labels if low <= tick <= high]
    assert 2 <= len(shown) <= 8
    assert not any(label.get_text() for label in ax.get_xticklabels(minor=True))
    for text in shown:
        assert low <= float(text.replace("\N{MINUS SIGN}", "-")) <= high


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 2)])
def test_numbers_along_the_axes_do_not_touch(shape):
    figure, axes = plt.subplots(*shape, layout="constrained", squeeze=False)
    display = SparsePathDisplay.from_estimator(CANCER, ax=axes[0, 0], max_names=2)
    figure.draw_without_rendering()
    (ax,) = display.axes_
    for axis in (ax.xaxis, ax.child_axes[0].xaxis):
        labels = axis.get_ticklabels()
        boxes = [each.get_window_extent() for each in labels if each.get_text()]
        boxes = sorted((box.x0, box.x1) for box in boxes)
        assert len(boxes) >= 2
        assert all(a[1] < b[0] for a, b in itertools.pairwise(boxes))


def test_the_model_is_marked():
    path = MODEL.coef_path_
    display = SparsePathDisplay(MODEL.alphas_, path, alpha=MODEL.alphas_[2]).plot()
    assert list(display.model_lines_[0].get_xdata()) == [MODEL.alphas_[2]] * 2
    points = display.model_points_[0].get_offsets()
    assert_allclose(points[:, 0], MODEL.alphas_[2])
    last = np.argsort(-np.abs(path[:, -1]), kind="stable")[:4]
    assert_allclose(points[:, 1], path[last, 2])
    assert [text.get_text() for text in display.texts_[0]] == [f"x{j}" for j in last]


def test_names_do_not_overlap_and_others_are_thin():
    display = SparsePathDisplay.from_estimator(CANCER, max_names=None)
    draw(display.figure_)
    # Without the lines that lead to them.
    boxes = [Text.get_window_extent(text) for text in display.texts_[0]]
    middles = np.sort([(box.y0 + box.y1) / 2 for box in boxes])
    assert len(boxes) == 20
    assert np.diff(middles).min() > 0.9 * boxes[0].height
    few = SparsePathDisplay.from_estimator(CANCER, max_names=3)
    assert len(few.texts_[0]) == len(few.lines_[0]) == 3
    used = np.count_nonzero(CANCER.coef_path_[0].any(axis=1))
    assert len(few.other_lines_[0]) == used - 3


def test_a_panel_for_each_of_several_classes():
    display = SparsePathDisplay.from_estimator(WINE)
    assert [ax.get_title() for ax in display.axes_] == [f"Class {k}" for k in range(3)]
    colours = {}
    for texts, lines in zip(display.texts_, display.lines_, strict=True):
        for text, line in zip(texts, lines, strict=True):
            colours.setdefault(text.get_text(), set()).add(line.get_color())
    assert all(len(each) == 1 for each in colours.values())
    _, axes = plt.subplots(1, 3)
    given = SparsePathDisplay.from_estimator(WINE, ax=axes)
    assert list(given.axes_) == list(axes)


def test_the_end_without_a_penalty_and_a_path_without_features():
    whole = SparsePathDisplay.from_estimator(SparseLinearRegressor().fit(*DIABETES))
    (ax,) = whole.axes_
    assert ax.get_xlabel() == "Penalty (alpha); none at the right end"
    end = whole.lines_[0][0].get_xdata()[-1]
    assert 0 < end == ax.get_xlim()[1]
    nothing = SparsePathDisplay([0.0], np.zeros((3, 1))).plot()
    assert nothing.lines_ == [[]]
    assert "no feature" in all_texts(nothing.figure_)
    single = SparsePathDisplay([5.0], np.ones((2, 1))).plot()
    assert single.axes_[0].get_xlim()[0] == 5
    assert list(single.model_lines_[0].get_xdata()) == [5, 5]


def test_frame():
    frame = SparsePathDisplay.from_estimator(MODEL).to_frame()
    assert frame.columns.tolist() == ["feature", "alpha", "coef_per_std"]
    bmi = frame[frame["feature"] == "bmi"]
    expected = MODEL.coef_path_[2] * MODEL.scale_[2]
    assert_allclose(bmi["coef_per_std"], expected)
    classes = SparsePathDisplay.from_estimator(WINE).to_frame()
    assert classes["class"].unique().tolist() == [0, 1, 2]


def test_pipelines_and_searches():
    """The model at the end is shown, with the names of the columns that it gets."""
    steps = make_pipeline(StandardScaler(), SparseLinearClassifier())
    search = GridSearchCV(
        steps, {"sparselinearclassifier__n_features_to_select": [2]}, cv=2
    )
    search.fit(*load_breast_cancer(return_X_y=True, as_frame=True))
    for model in (search, FrozenEstimator(search.best_estimator_)):
        display = SparsePathDisplay.from_estimator(model)
        names = [text.get_text() for text in display.texts_[0]]
        assert sorted(names) == ["worst concave points", "worst perimeter"]
        assert display.axes_[0].get_ylabel().endswith("(log-odds of class 1)")
        assert display.to_frame()["class"].unique().tolist() == [1]
    with pytest.raises(TypeError, match="pipelines that end with one; got LassoLars"):
        SparsePathDisplay.from_estimator(
            make_pipeline(StandardScaler(), LassoLars()).fit(*DIABETES)
        )


def test_what_it_refuses():
    with pytest.raises(NotFittedError):
        SparsePathDisplay.from_estimator(SparseLinearRegressor())
    with pytest.raises(TypeError, match="LassoLars"):
        SparsePathDisplay.from_estimator(LassoLars().fit(*DIABETES))
    alphas, path = MODEL.alphas_, MODEL.coef_path_
    with pytest.raises(ValueError, match="a coefficient is needed for each alpha"):
        SparsePathDisplay(alphas[1:], path).plot()
    with pytest.raises(ValueError, match="alphas must fall"):
        SparsePathDisplay(alphas[::-1], path).plot()
    for name in ("feature_names", "scale", "classes"):
        with pytest.raises(ValueError, match=f"{name} has 2 entries"):
            SparsePathDisplay(alphas, path, **{name: [1, 2]}).plot()
    with pytest.raises(ValueError, match="max_names=0"):
        SparsePathDisplay(alphas, path).plot(max_names=0)

"""RegressionInfluenceDisplay: contours, names, and what is drawn of each row."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret.influence import RegressionInfluence, RegressionInfluenceDisplay
from tests.figures import all_texts, draw

RNG = np.random.default_rng(0)
INDEX = [f"$town_{i}" for i in range(25)]
X = pd.DataFrame(RNG.normal(size=(25, 2)) * [1, 5], columns=["a", "b"], index=INDEX)
X.iloc[7] = [4, 20]
Y = X["a"] + RNG.normal(size=25)
Y.iloc[7] -= 6


@pytest.fixture(scope="module")
def inspector():
    return RegressionInfluence(LinearRegression()).fit(X, Y)


@pytest.fixture
def display(inspector):
    return RegressionInfluenceDisplay.from_estimator(inspector)


def test_points_and_names(display, inspector):
    table = display.to_frame()
    assert table["cooks_distance"].is_monotonic_decreasing
    assert table["row"][0] == "$town_7"
    points = np.concatenate(
        [display.named_points_.get_offsets(), display.points_.get_offsets()]
    )
    assert_allclose(points[:5], table.iloc[:5, 1:3])
    assert_allclose(np.sort(points[:, 0]), np.sort(inspector.leverages_))
    texts = [text.get_text().replace(r"\$", "$") for text in display.texts_]
    assert texts == table["row"][:5].tolist()
    assert "$town_7" in [
        text.replace(r"\$", "$") for text in all_texts(display.figure_)
    ]


@pytest.mark.parametrize("model", [LinearRegression(), LogisticRegression(C=1e12)])
def test_contours_pass_through_the_points(model):
    """A row of a distance lies on its contour, exactly for least squares."""
    y = Y if isinstance(model, LinearRegression) else Y > 0
    inspector = RegressionInfluence(model).fit(X, y)
    display = RegressionInfluenceDisplay.from_estimator(inspector)
    leverages = [
        display._leverages_at(distance, residual)
        for distance, residual in zip(
            inspector.cooks_distances_, inspector.residuals_studentized_, strict=True
        )
    ]
    rtol = 1e-9 if isinstance(model, LinearRegression) else 0.3
    # Residuals of a distance are as large as these roots.
    pair = (np.sqrt(1 / h - 1) for h in (inspector.leverages_, np.array(leverages)))
    assert_allclose(*pair, rtol=rtol)
    (above, below), *_ = display.contours_
    assert_allclose(above.get_ydata(), -below.get_ydata())


def test_predictors_are_inspected_as_they_are(display):
    model = LinearRegression().fit(X, Y)
    other = RegressionInfluenceDisplay.from_estimator(model, X, Y)
    pd.testing.assert_frame_equal(display.to_frame(), other.to_frame())
    weighted = RegressionInfluenceDisplay.from_estimator(
        model, X, Y, sample_weight=np.full(25, 2), approximation="refit"
    )
    assert_allclose(sum(weighted.leverages), 3)


def test_looks(inspector):
    _, ax = plt.subplots()
    display = RegressionInfluenceDisplay.from_estimator(
        inspector,
        ax=ax,
        levels=[0.1],
        max_names=0,
        point_kw={"color": "red", "s": 50},
        line_kw={"lw": 3},
    )
    assert display.ax_ is ax
    assert display.texts_ == []
    assert len(display.contours_) == 1
    assert display.contours_[0][0].get_linewidth() == 3
    assert display.points_.get_sizes().tolist() == [50]
    assert len(display.points_.get_offsets()) == 25
    assert "largest" not in display.ax_.get_xlabel()
    assert display.plot(levels=[1e6]).legend_ is None
    assert "largest Cook's distances" in display.ax_.get_xlabel()
    assert display.plot(levels=[]).contours_ == []


def test_rows_without_a_residual():
    alone = np.c_[X, np.arange(25) == 3]
    model = LinearRegression().fit(alone, Y)
    display = RegressionInfluenceDisplay.from_estimator(model, alone, Y)
    drawn = len(display.points_.get_offsets()) + len(display.texts_)
    assert drawn == 24
    assert "not drawn: 1" in display.ax_.get_xlabel()
    assert len(display.to_frame()) == 25
    assert display.to_frame()["row"].iloc[-1] == 3


def test_one_row_and_many_names():
    display = RegressionInfluenceDisplay([0.0], [0.0], [0.0], effective_dof=1).plot()
    draw(display.figure_)
    rows = np.full(40, 0.5)
    display = RegressionInfluenceDisplay(rows, rows, rows, effective_dof=2)
    draw(display.plot(max_names=40).figure_)
    heights = [text.xyann[1] for text in display.texts_]
    assert len(set(heights)) == 40


def test_names_do_not_cover_each_other():
    """Nor do one that begins at its point and one that ends there."""
    x, y = [0.5, 1.0, 0.3], [1.0, 1.05, -3.0]
    names = [f"a row of a long name {i}" for i in range(3)]
    display = RegressionInfluenceDisplay(x, y, [3, 2, 1], effective_dof=1)
    display.row_names = names
    draw(display.plot().figure_)
    one, two, _ = (text.get_window_extent() for text in display.texts_)
    assert not one.overlaps(two)


def test_contours_reach_as_far_as_the_points():
    """Also where they are steep; their names stand apart."""
    arrays, names = ([0.2, 0.7], [1.0, -29.0], [0.1, 7.0]), ["a", "b"]
    dof = {"effective_dof": 2, "residual_dof": 5}
    display = RegressionInfluenceDisplay(*arrays, **dof, row_names=names).plot()
    bottom = display.ax_.get_ylim()[0]
    assert all(below.get_ydata().min() <= bottom for _, below in display.contours_)
    draw(display.figure_)
    named = [t for t in display.ax_.texts if t.get_text() in ("0.5", "1")]
    boxes = [text.get_window_extent() for text in named]
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for a in boxes for b in boxes if a is not b)


def test_bad_input(inspector):
    of = RegressionInfluenceDisplay.from_estimator
    with pytest.raises(ValueError, match=r"levels=\[0.5, 0.0\] must be positive"):
        of(inspector, levels=[0.5, 0])
    with pytest.raises(ValueError, match=r"max_names=-1"):
        of(inspector, max_names=-1)
    with pytest.raises(ValueError, match="shapes"):
        RegressionInfluenceDisplay([0.5], [1, 2], [1, 2], effective_dof=1).plot()
    with pytest.raises(ValueError, match="holds no finite number"):
        RegressionInfluenceDisplay([1], [np.nan], [1], effective_dof=1).plot()

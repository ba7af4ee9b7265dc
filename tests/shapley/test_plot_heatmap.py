"""Shapley values as a heat map."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.statistics.seriation import order_rows
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleyHeatmapDisplay
from tests.figures import row_names
from tests.shapley.data import mixed, numbers

draw = ShapleyHeatmapDisplay.from_explanation


def cells(display):
    """Numbers of the cells (n_lines, n_rows), the first line on top."""
    return np.asarray(display.heatmap_.get_array())[::-1]


def test_cells_are_the_values_of_similar_rows_side_by_side():
    explanation = numbers()
    display = draw(explanation)
    order = order_rows(explanation.values)
    features = np.argsort(-np.abs(explanation.values).mean(axis=0))
    assert_array_equal(display.row_order_, order)
    assert_array_equal(cells(display), explanation.values[order][:, features].T)
    assert row_names(display) == [explanation.feature_names[j] for j in features]
    low, high = display.heatmap_.get_clim()
    assert low == -high
    sizes = np.sort(np.abs(explanation.values).ravel())
    assert high == sizes[int(np.ceil(0.99 * sizes.size)) - 1]
    assert display.colorbar_.extend == "both"
    assert display.plot(colorbar=False).colorbar_ is None


def test_lines_stand_beside_their_names_below_the_curve():
    display = draw(numbers())
    box = display.heatmap_.get_datalim(display.ax_.transData)
    assert (box.y0, box.y1) == (-0.5, 4.5)
    assert (box.x0, box.x1) == display.ax_.get_xlim() == (-0.5, 59.5)
    display.figure_.draw_without_rendering()
    curve = display.curve_ax_.get_window_extent()
    top = display.ax_.transData.transform((0, 4.5))[1]
    assert curve.y0 > top
    assert curve.y1 <= display.ax_.get_window_extent().y1 + 1


def test_the_curve_is_that_of_the_predictions():
    explanation = numbers()
    display = draw(explanation, order="prediction")
    assert_array_equal(
        display.prediction_line_.get_ydata()[:-1], np.sort(explanation.predictions)
    )
    assert set(display.base_line_.get_ydata()) == {3.0}
    assert display.curve_ax_.get_xlim() == display.ax_.get_xlim()
    assert "Response: f(x)" in display.curve_ax_.get_title(loc="left")


def test_others_are_one_line_that_says_how_many():
    explanation = numbers(n_features=300)
    display = draw(explanation)
    assert len(row_names(display)) == 20
    assert row_names(display)[-1] == "sum of 281 other features"
    order = np.argsort(-np.abs(explanation.values).mean(axis=0))
    rest = explanation.values[:, order[19:]].sum(axis=1)
    assert_allclose(cells(display)[-1], rest[display.row_order_])
    # The sum of hundreds does not bleach the single features.
    assert display.heatmap_.get_clim()[1] < np.abs(rest).max()


def test_an_order_by_a_feature_has_its_values_along_the_axis():
    explanation = mixed()
    display = draw(explanation, order="age")
    age = explanation.data["age"].to_numpy()[display.row_order_]
    assert (np.diff(age[np.isfinite(age)]) >= 0).all()
    texts = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert texts[-1] == "missing"
    assert len({len(text.partition(".")[2]) for text in texts[:-1]}) == 1


def test_no_effects_and_style():
    display = draw(Explanation(np.zeros((3, 2)), np.zeros(3)))
    assert display.heatmap_.get_clim() == (-1.0, 1.0)
    assert display.colorbar_.extend == "neither"
    display = draw(numbers(), heatmap_kw={"cmap": "PuOr"})
    assert display.heatmap_.get_cmap().name == "PuOr"


@pytest.mark.parametrize("count", [0, 2.5, True])
def test_numbers_of_lines(count):
    with pytest.raises(ValueError, match=r"max_entries=.*positive whole number"):
        draw(numbers(), max_entries=count)

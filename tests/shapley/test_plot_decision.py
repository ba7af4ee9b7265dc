"""Paths from the base value to predictions."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleyDecisionDisplay
from tests.figures import row_names
from tests.shapley.data import mixed, numbers, three_outputs

draw = ShapleyDecisionDisplay.from_explanation


def paths(lines):
    """Places of each line along the axis (n_lines, n_steps + 1), from the bottom."""
    return np.array([segment[:, 0] for segment in lines.get_segments()])


def fifteen_outputs():
    one = numbers(5)
    weights = np.random.default_rng(0).normal(size=15)
    return Explanation(
        one.values[:, :, None] * weights,
        np.tile(np.arange(15.0), (5, 1)),
        data=one.data,
        output_names=list("abcdefghijklmno"),
        response_name="probability",
    )


def test_lines_add_up_the_values_from_the_weakest_to_the_strongest():
    explanation = numbers()
    display = draw(explanation)
    order = np.argsort(-np.abs(explanation.values).mean(axis=0))
    assert row_names(display) == [explanation.feature_names[j] for j in order]
    found = paths(display.lines_)
    assert found.shape == (60, 6)
    assert_allclose(np.diff(found), explanation.values[:, order[::-1]], atol=1e-12)
    assert_array_equal(found[:, 0], explanation.base_values)
    assert_allclose(found[:, -1], explanation.predictions)
    heights = display.lines_.get_segments()[0][:, 1]
    assert_array_equal(heights, [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5])
    assert display.ax_.get_ylim() == (-0.5, 4.5)
    assert_array_equal(display.lines_.get_array(), explanation.predictions)
    assert display.base_line_.get_xdata()[0] == 3.0
    assert display.named_lines_ is display.legend_ is None
    left, right = display.ax_.get_xlim()
    assert left < found.min() < found.max() < right


def test_others_are_the_first_step():
    explanation = numbers(n_features=300)
    display = draw(explanation)
    assert len(row_names(display)) == 20
    assert row_names(display)[-1] == "sum of 281 other features"
    order = np.argsort(-np.abs(explanation.values).mean(axis=0))
    rest = explanation.values[:, order[19:]].sum(axis=1)
    found = paths(display.lines_)
    assert_allclose(found[:, 1] - found[:, 0], rest)
    assert_allclose(found[:, -1], explanation.predictions)
    assert len(display.to_frame()) == 300 * 60


def test_one_row_has_its_values_beside_the_names():
    explanation = mixed()
    display = draw(explanation, row=1)
    assert set(row_names(display)) >= {f"size = {explanation.data['size'][1]}"}
    assert len(paths(display.lines_)) == 1
    frame = display.to_frame()
    assert frame["row"].unique().tolist() == [1]
    assert_allclose(frame["end"] - frame["start"], frame["shapley_value"])
    assert frame["start"].iloc[-1] == explanation.base_values[1]


@pytest.mark.parametrize("highlight", [[2, -1], np.arange(60) % 57 == 2])
def test_highlighted_rows_stand_out_and_are_named(highlight):
    explanation = numbers()
    display = draw(explanation, highlight=highlight)
    found = paths(display.named_lines_)
    assert_allclose(found[:, -1], explanation.predictions[[2, 59]])
    assert [text.get_text() for text in display.legend_.get_texts()] == ["2", "59"]
    assert len(paths(display.lines_)) == 60
    assert display.lines_.get_alpha() < 0.5
    assert "unnamed lines are coloured by f(x)" in display.ax_.get_xlabel()
    assert draw(explanation, highlight=2).legend_ is not None


@pytest.mark.parametrize(
    "highlight, error", [([60], ValueError), ([1.5], TypeError), (["a"], TypeError)]
)
def test_highlighted_rows_must_be_there(highlight, error):
    with pytest.raises(error, match="row="):
        draw(numbers(), highlight=highlight)


def test_outputs_of_one_row():
    explanation = three_outputs()
    display = draw(explanation, row=4)
    order = np.argsort(-np.abs(explanation.values[4]).mean(axis=1))
    found = paths(display.named_lines_)
    assert_allclose(np.diff(found), explanation.values[4][order[::-1]].T, atol=1e-12)
    texts = [text.get_text().replace("\\", "") for text in display.legend_.get_texts()]
    assert texts == ["low", "_mid", "$top$"]
    assert len({to_hex(c) for c in display.named_lines_.get_color()}) == 3
    frame = display.to_frame()
    assert frame.columns[0] == "output"
    one = frame[frame["output"] == "_mid"].set_index("feature")
    assert_allclose(
        one["shapley_value"][list(explanation.feature_names)],
        explanation.values[4, :, 1],
    )
    assert_allclose(
        one["value"][list(explanation.feature_names)].astype(float), explanation.data[4]
    )
    with pytest.raises(ValueError, match="highlight is for rows"):
        display.plot(highlight=[0])


def test_of_many_outputs_those_that_depart_the_most_have_a_colour():
    explanation = fifteen_outputs()
    display = draw(explanation, row=2)
    far = np.abs(explanation.values[2].sum(axis=0))
    expected = sorted(np.array(explanation.output_names)[np.argsort(-far)[:11]])
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == [*expected, "4 others"]
    assert len(paths(display.lines_)) == 15
    assert display.base_line_ is None
    assert display.ax_.get_xlabel().startswith("Probability, row 2\n")


def test_style():
    display = draw(numbers(), line_kw={"color": "red", "lw": 3})
    assert to_hex(display.lines_.get_color()[0]) == "#ff0000"
    assert display.lines_.get_linewidth() == [3]


def test_an_axis_of_one_output_is_no_choice():
    one = numbers(4)
    explanation = Explanation(one.values[:, :, None], one.base_values[:, None])
    assert draw(explanation, row=0).named_lines_ is None


def test_the_legend_of_many_highlighted_rows_ends():
    display = draw(numbers(), highlight=range(50))
    assert len(paths(display.named_lines_)) == 50
    assert len(display.legend_.get_texts()) == 20

"""One prediction, step by step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleyWaterfallDisplay
from tests.figures import row_names
from tests.shapley.data import grouped, mixed, numbers
from tests.speeds import examples

draw = ShapleyWaterfallDisplay.from_explanation


def steps(display):
    """Start and end of each arrow, by its place from the top."""
    found = {}
    for arrows, sign in ((display.ups_, 1), (display.downs_, -1)):
        for path in arrows.get_paths():
            x, y = path.vertices[:, 0], path.vertices[:, 1]
            ends = (x.min(), x.max())[::sign]
            found[round((y.min() + y.max()) / 2)] = ends
    return np.array([found[place] for place in sorted(found, reverse=True)])


@examples(15)
@given(
    arrays(
        float, st.integers(1, 8), elements=st.floats(-9, 9).map(lambda v: round(v, 3))
    ),
    st.floats(-5, 5),
)
def test_steps_lead_from_base_to_prediction(values, base):
    display = draw(Explanation(values[None], [base]))
    found = steps(display)
    order = np.argsort(-np.abs(values), kind="stable")
    assert_allclose(found[:, 1] - found[:, 0], values[order], atol=1e-9)
    assert found[-1, 0] == pytest.approx(base)
    assert found[0, 1] == pytest.approx(base + values.sum())
    assert_allclose(found[:-1, 0], found[1:, 1])
    assert display.base_line_.get_xdata()[0] == pytest.approx(base)
    frame = display.to_frame()
    assert_allclose(frame[["start", "end"]], found, atol=1e-9)
    left, right = display.ax_.get_xlim()
    assert left < found.min()
    assert right > found.max()


def test_others_are_the_first_step():
    explanation = numbers(n_features=30)
    display = draw(explanation, row=4, max_entries=6)
    values = explanation.values[4]
    order = np.argsort(-np.abs(values))
    found = steps(display)
    assert row_names(display)[-1] == "25 other features"
    assert found[-1, 1] - found[-1, 0] == pytest.approx(values[order[5:]].sum())
    assert found[0, 1] == pytest.approx(explanation.predictions[4])
    assert len(display.to_frame()) == 30
    texts = [text.get_text().replace("\N{MINUS SIGN}", "-") for text in display.labels_]
    assert_allclose(
        [float(text) for text in texts], found[:, 1] - found[:, 0], rtol=6e-3
    )


def test_names_have_values():
    explanation = mixed()
    row = int(np.flatnonzero(explanation.data["age"].isna())[1])
    display = draw(explanation, row=row)
    data = explanation.data.iloc[row]
    town = data["$town_<b>$"]
    town = town if isinstance(town, str) else "missing"
    assert set(row_names(display)) == {
        "age = missing",
        f"$town_<b>$ = {town}",
        f"new = {data['new']}",
        f"size = {data['size']}",
    }
    assert "category = " in " ".join(row_names(draw(grouped(), row=0)))


def test_ends_are_named():
    explanation = numbers()
    display = draw(explanation, row=1)
    texts = " ".join(text.get_text() for text in display.ax_.texts)
    base, prediction = explanation.base_values[1], explanation.predictions[1]
    # It need not be a mean: naive Bayes starts from the log-odds of the prior.
    assert f"base value\n{base:.2f}" in texts
    assert f"prediction f(x)\n{prediction:.1f}"[:18] in texts.replace(
        "\N{MINUS SIGN}", "-"
    )
    assert display.prediction_line_.get_xdata()[0] == prediction


def test_a_prediction_that_the_values_do_not_sum_to():
    explanation = Explanation([[1.0, 2.0]], [0.0], predictions=[5.0])
    display = draw(explanation)
    assert steps(display)[0, 1] == 3.0
    assert display.prediction_line_.get_xdata()[0] == 5.0


def test_standard_errors():
    explanation = Explanation(
        [[1.0, -2.0, 0.1]], [0.0], standard_errors=[[0.1, 0.2, 0.3]]
    )
    display = draw(explanation)
    segments = np.array(display.errors_.get_segments())
    ends = steps(display)[:, 1]
    assert_allclose(segments[:, 0, 0], ends - [0.4, 0.2, 0.6])
    assert_allclose(segments[:, 1, 0], ends + [0.4, 0.2, 0.6])
    assert display.to_frame()["standard_error"].tolist() == [0.2, 0.1, 0.3]
    assert "standard errors" in display.ax_.get_xlabel()
    assert len(draw(explanation, max_entries=2).errors_.get_segments()) == 1
    assert draw(Explanation([[1.0]], [0.0])).errors_ is None


@pytest.mark.parametrize(
    "row, error, message",
    [
        (None, ValueError, "60 rows: choose one by row="),
        (60, ValueError, "row=60 is not one of the 60 rows"),
        (-61, ValueError, "row=-61 is not one of the 60 rows"),
        (1.5, TypeError, "row=1.5 must be the position"),
        (True, TypeError, "row=True must be the position"),
    ],
)
def test_rows(row, error, message):
    with pytest.raises(error, match=message):
        draw(numbers(), row=row)


def test_rows_from_the_end():
    explanation = numbers()
    last = draw(explanation, row=-1).to_frame()
    assert last.equals(draw(explanation, row=np.int64(59)).to_frame())


def test_labels_stand_clear_of_each_other_and_within_the_axes():
    display = draw(numbers(n_features=30, scale=1e-9), row=2)
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.labels_]
    axes = display.ax_.get_window_extent()
    for place, box in enumerate(boxes):
        assert axes.x0 - 1 <= box.x0
        assert box.x1 <= axes.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def test_style():
    display = draw(numbers(), row=0, step_kw={"fc": "red"})
    assert to_hex(display.ups_.get_facecolor()[0]) == "#ff0000"


def test_no_line_runs_through_a_number():
    display = draw(numbers(80, 300), row=2)
    display.figure_.draw_without_rendering()
    lines = [display.base_line_, display.prediction_line_]
    places = [
        display.ax_.transData.transform((line.get_xdata()[0], 0))[0] for line in lines
    ]
    for label in display.labels_:
        box = label.get_window_extent()
        assert not any(box.x0 < place < box.x1 for place in places), label
        assert label.get_bbox_patch() is None


def test_values_of_features_are_as_exact_as_their_columns():
    data = np.array(
        [
            [1e-17, 0.5, 1987.0, 3.0, 0.123456, 0.0012],
            [2.25, 100.25, 2020.0, -2.0, 0.9, 5000.5],
        ]
    )
    explanation = Explanation(np.ones((2, 6)), np.zeros(2), data=data)
    assert row_names(draw(explanation, row=0)) == [
        "x0 = 0",
        "x1 = 0.5",
        "x2 = 1987",
        "x3 = 3",
        "x4 = 0.123",
        "x5 = 0.0012",
    ]


def test_rules_are_named_whole():
    rule = "worst concave points <= 0.161 and 12.5 < worst area <= 868.5 and size > 3.5"
    explanation = Explanation(
        [[3.0, -2.0, 0.5]],
        [0.0],
        data=[[0.2, 900.0, 3.0]],
        feature_names=[rule, "worst area <= 868", "size, linear from 1 to 3"],
        columns=[(0, 1, 2), (1,), (2,)],
    )
    labels = draw(explanation).ax_.get_yticklabels()
    first, *others = [label.get_text() for label in labels]
    assert first.split("\n") == [
        "worst concave points <= 0.161 and",
        "12.5 < worst area <= 868.5 and",
        "size > 3.5",
    ]
    assert [name.replace("\n", " ") for name in others] == [
        "worst area <= 868 (900)",
        "size, linear from 1 to 3 (3)",
    ]

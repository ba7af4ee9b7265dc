"""Predictions between what pushes them up and down."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.statistics.seriation import order_rows
from sklearn_interpret._plotting.colours import contrast, paper
from sklearn_interpret._plotting.colours import mix as mixture
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleyForceDisplay
from tests.shapley.data import grouped, mixed, numbers, three_outputs

draw = ShapleyForceDisplay.from_explanation


def spans(arrows):
    """Both ends of each arrow along the axis."""
    return np.array(
        [
            (path.vertices[:, 0].min(), path.vertices[:, 0].max())
            for path in arrows.get_paths()
        ]
    )


def heights(area, n_rows):
    """Signed extents of an area at each row, the end towards the prediction last."""
    vertices = area.get_paths()[0].vertices
    far, near = vertices[: 2 * n_rows], vertices[2 * n_rows : 4 * n_rows][::-1]
    return near[::2, 1] - far[::2, 1], near[::2, 1], far[::2, 1]


def test_arrows_of_one_row_meet_at_the_prediction():
    explanation = numbers()
    display = draw(explanation, row=7, max_entries=None)
    values, prediction = explanation.values[7], explanation.predictions[7]
    ups, downs = spans(display.ups_), spans(display.downs_)
    strongest = np.argsort(-np.abs(values))
    up = [values[j] for j in strongest if values[j] > 0]
    down = [-values[j] for j in strongest if values[j] < 0]
    assert_allclose(np.diff(ups)[:, 0], up)
    assert_allclose(np.diff(downs)[:, 0], down)
    assert ups[0, 1] == pytest.approx(prediction)
    assert downs[0, 0] == pytest.approx(prediction)
    assert_allclose(ups[1:, 1], ups[:-1, 0])
    assert_allclose(downs[1:, 0], downs[:-1, 1])
    assert display.prediction_line_.get_xdata()[0] == pytest.approx(prediction)
    assert display.base_line_.get_xdata()[0] == explanation.base_values[7]
    assert display.row_order_.tolist() == [0]
    assert display.areas_ == []


def test_labels_name_features_values_and_pushes():
    explanation = Explanation(
        [[2.0, -1.0, 0.5]],
        [0.0],
        data=[[3.0, 4.25, -7.0]],
        feature_names=["a", "$b_", "c"],
    )
    display = draw(explanation)
    texts = [text.get_text().replace(r"\$", "$") for text in display.labels_]
    minus = "\N{MINUS SIGN}"
    assert texts == ["a = 3 (+2.0)", f"$b_ = 4.25 ({minus}1.0)", f"c = {minus}7 (+0.5)"]
    shown = {text.get_text() for text in display.legend_.get_texts()}
    assert shown == {"raises the prediction", "lowers the prediction"}


@pytest.mark.parametrize("n_features", [5, 300])
def test_labels_do_not_overlap(n_features):
    display = draw(numbers(n_features=n_features), row=2, max_entries=12)
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.labels_]
    axes = display.ax_.get_window_extent()
    assert len(boxes) >= 5
    for place, box in enumerate(boxes):
        assert axes.x0 - 1 <= box.x0
        assert box.x1 <= axes.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def test_others_push_by_their_sum():
    explanation = numbers(n_features=30)
    display = draw(explanation, row=3, max_entries=4)
    values = explanation.values[3]
    rest = np.sort(np.abs(values))[::-1]
    total = values[np.abs(values) < rest[2]].sum()
    arrows = display.ups_ if total > 0 else display.downs_
    lengths = np.diff(spans(arrows))[:, 0]
    assert np.isclose(lengths, abs(total)).any()
    assert len(spans(display.ups_)) + len(spans(display.downs_)) == 4
    texts = " ".join(label.get_text() for label in display.labels_)
    assert "27 other features, net" in texts


def test_rows_side_by_side():
    explanation = numbers(20)
    display = draw(explanation, order="input")
    order = np.argsort(-np.abs(explanation.values).mean(axis=0))
    assert len(display.areas_) == 5
    inner = {1: explanation.predictions.copy(), -1: explanation.predictions.copy()}
    for area, feature in zip(display.areas_, order, strict=True):
        values = explanation.values[:, feature]
        extents, near, far = heights(area, 20)
        assert_allclose(extents, values, atol=1e-12)
        for row, value in enumerate(values):
            sign = 1 if value > 0 else -1
            assert near[row] == pytest.approx(inner[sign][row])
            inner[sign][row] = far[row]
    drawn = display.prediction_line_.get_ydata()
    assert_array_equal(drawn[:-1], explanation.predictions)
    assert_array_equal(display.base_line_.get_ydata()[:-1], explanation.base_values)
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == [
        "prediction f(x)",
        "base value",
        *(explanation.feature_names[j] for j in order),
    ]
    assert display.ups_ is display.downs_ is None


def test_orders():
    explanation = mixed()
    similar = draw(explanation)
    assert_array_equal(similar.row_order_, order_rows(explanation.values))
    by_prediction = draw(explanation, order="prediction")
    assert (np.diff(by_prediction.prediction_line_.get_ydata()) >= 0).all()
    assert draw(explanation, order="input").row_order_.tolist() == list(range(80))
    by_age = draw(explanation, order="age")
    age = explanation.data["age"].to_numpy()[by_age.row_order_]
    known = np.isfinite(age)
    assert (np.diff(age[known]) >= 0).all()
    assert not known[known.sum() :].any()
    assert by_age.ax_.get_xlabel() == "Rows by age"
    by_size = draw(explanation, order="size")
    codes = explanation.data["size"].cat.codes.to_numpy()[by_size.row_order_]
    assert (np.diff(codes) >= 0).all()
    texts = {text.get_text() for text in by_size.ax_.get_xticklabels()}
    assert texts <= {"S", "M", "L", "XL"}
    assert draw(grouped(), order="category").row_order_.shape == (60,)


@pytest.mark.parametrize(
    "order, message",
    [
        ("agge", "order has the unknown feature 'agge'; did you mean 'age'"),
        (17, "order has the position 17"),
    ],
)
def test_unknown_orders(order, message):
    with pytest.raises(ValueError, match=message):
        draw(mixed(), order=order)


def test_an_order_by_a_feature_needs_data():
    full = numbers()
    bare = Explanation(full.values, full.base_values)
    with pytest.raises(ValueError, match="order='x1' asks for the values"):
        draw(bare, order="x1")


def test_tables_have_the_rows_as_drawn():
    explanation = numbers(12)
    display = draw(explanation, order="prediction")
    frame = display.to_frame()
    first = frame.drop_duplicates("place")
    assert first["row"].tolist() == display.row_order_.tolist()
    assert_allclose(first["prediction"], np.sort(explanation.predictions))
    one = frame[frame["row"] == 4].set_index("feature")["shapley_value"]
    assert_allclose(one[list(explanation.feature_names)], explanation.values[4])
    assert set(draw(explanation, row=-2).to_frame()["row"]) == {10}


def test_colours_tell_features_apart_and_others_are_grey():
    display = draw(numbers(20, 40))
    colours = [to_hex(area.get_facecolor()[0]) for area in display.areas_]
    assert len(set(colours)) == 7
    assert len({colours[-1][i : i + 2] for i in (1, 3, 5)}) == 1
    assert "#000000" not in colours
    display.plot(max_entries=None)
    assert len(display.areas_) == 40
    assert len(display.legend_.get_texts()) < 20


def test_one_output_of_several():
    explanation = three_outputs()
    display = draw(explanation, target="_mid", order="input")
    assert_allclose(
        display.prediction_line_.get_ydata()[:-1],
        1 / 3 + explanation.values[:, :, 1].sum(axis=1),
    )


@pytest.mark.parametrize("row", [None, 0])
def test_style(row):
    display = draw(numbers(), row=row, force_kw={"fc": "red"})
    artists = display.areas_ or [display.ups_]
    assert {to_hex(artist.get_facecolor()[0]) for artist in artists} == {"#ff0000"}


def test_the_base_value_is_dashed():
    for row in (None, 3):
        display = draw(numbers(), row=row)
        assert display.base_line_.get_linestyle() == "--"
        assert display.prediction_line_.get_linestyle() == "-"


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_lines_to_the_names_are_seen(style):
    with plt.style.context(style):
        display = draw(Explanation([[1.0, -3.0, 0.01]], [2.0]))
        ends = display.prediction_line_, display.base_line_
        leaders = [line for line in display.ax_.lines if line not in ends]
        assert len(leaders) == 3
        for line in leaders:
            behind = paper(display.ax_)
            colour = mixture(behind, line.get_color(), line.get_alpha())
            assert contrast(colour, behind) > (2 if style == "default" else 4)
            assert line.get_linewidth() >= 0.8

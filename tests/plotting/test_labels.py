"""Names, ticks and colours."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex, to_rgb
from scipy.spatial.distance import pdist

from sklearn_interpret._model.rows.number_format import (
    MINUS,
    column_texts,
    number_beside,
    number_text,
)
from sklearn_interpret._plotting.colours import PALETTE, colours, stand_out
from sklearn_interpret._plotting.labels import (
    drawn_output_name,
    label_levels,
    literal,
    plain_number_ticks,
    response_label,
    shorten,
    shorten_all,
    tick_positions,
    wrap_name,
)
from sklearn_interpret.decomposition import DecisionPathDisplay
from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import ShapleyDecisionDisplay, ShapleyImportanceDisplay

# Letters of all kinds, that need no table of all of them.
TEXTS = st.text(alphabet="ab é\n\t,.-…_$0123喜\u0301İß\ud800😀")


@given(TEXTS, st.integers(3, 40))
def test_short_names_fit(name, most):
    short = shorten(name, most)
    assert len(short) <= most
    if len(" ".join(name.split())) <= most:
        assert short == " ".join(name.split())


@given(TEXTS)
def test_wrapped_names_fit_two_lines(name):
    lines = wrap_name(name, 20).split("\n")
    assert len(lines) <= 2
    assert max(map(len, lines)) <= 20


def test_wrapped_breaks_where_words_end():
    assert wrap_name("one_two_three_four", 10) == "one_two_\nthree_four"
    assert wrap_name("x" * 15, 10) == "x" * 10 + "\n" + "x" * 5


def test_wrapped_breaks_where_lines_end():
    assert wrap_name("one\ntwo", 10) == "one two"
    assert wrap_name("row 3:\na=1, b=2", 10) == "row 3:\na=1, b=2"
    assert wrap_name("a long name of a row:\na=1, b=2", 10) == "a lon…row:\na=1, b=2"
    # Nothing has to be left out here.
    assert wrap_name("r:\na=1, b=2, c=3", 10) == "r: a=1,\nb=2, c=3"


@pytest.mark.parametrize(
    "text", ["$a$", r"\$", "a_b^c", "$", "$$", r"$\frac$", "100 %"]
)
def test_literal_text_is_not_mathematics(text):
    figure = plt.figure()
    drawn = figure.text(0.5, 0.5, literal(text))
    shown, is_mathematics = drawn._preprocess_math(drawn.get_text())
    assert not is_mathematics
    assert shown == text


def test_colours_differ():
    for n in (1, 3, len(PALETTE), 20):
        assert len({tuple(np.ravel(colour)) for colour in colours(n)}) == n


# Linear red, green and blue as dichromats see them (Machado, Oliveira and Fernandes,
# 2009, at full severity).
SIGHT = {
    "normal": np.eye(3),
    "deuteranope": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanope": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(palette, sight):
    """Coordinates of CIELAB (n, 3) of colours as somebody sees them."""
    rgb = np.array(list(map(to_rgb, palette)))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.transpose(SIGHT[sight]), 0, 1)
    shares = linear @ np.transpose(TO_XYZ) / np.sum(TO_XYZ, axis=1)
    x, y, z = np.where(
        shares > 216 / 24389, np.cbrt(shares), (24389 / 27 * shares + 16) / 116
    ).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize(
    ("sight", "least"), [("normal", 26), ("deuteranope", 17), ("protanope", 18)]
)
def test_colours_differ_to_all_readers(sight, least, style):
    with plt.style.context(style):
        _, ax = plt.subplots()
        palette = [stand_out(colour, ax) for colour in colours(12)]
    assert palette[:6] == list(PALETTE[:6])
    assert pdist(lab(palette, sight)).min() > least


def test_a_class_has_one_colour_in_all_figures():
    names, grid = list("abcdefghij"), np.linspace(0, 1, 20)
    values = np.random.default_rng(0).normal(size=(4, 3, 10))
    curves = PartialDependenceDisplay(
        [grid], [np.outer(np.arange(10), grid)], feature_names=["x"], output_names=names
    ).plot()
    explanation = Explanation(values, np.zeros((4, 10)), output_names=names)
    paths = ShapleyDecisionDisplay.from_explanation(explanation, row=0)
    bars = ShapleyImportanceDisplay.from_explanation(explanation)
    shares = DecisionPathDisplay(
        ["all rows"], np.full((1, 10), 0.1), [4], output_names=names
    ).plot()
    drawn = [
        [line.get_color() for line in curves.lines_[0]],
        paths.named_lines_.get_colors(),
        [container.patches[0].get_facecolor() for container in bars.bars_],
        [container.patches[0].get_facecolor() for container in shares.bars_],
    ]
    for palette in drawn:
        assert list(map(to_hex, palette)) == list(map(str.lower, PALETTE[:10]))


@given(st.integers(1, 500), st.integers(1, 60))
def test_ticks_are_thinned_evenly(n, most):
    ticks = tick_positions(n, most)
    assert 0 < len(ticks) <= most
    assert ticks[0] == 0
    assert len(set(np.diff(ticks))) <= 1
    if n <= most:
        assert len(ticks) == n


@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("n_levels", [1, 5, 15, 200])
def test_levels_do_not_overlap(which, n_levels):
    figure, ax = plt.subplots(layout="constrained")
    ax.set(xlim=(-0.5, n_levels - 0.5), ylim=(-0.5, n_levels - 0.5))
    label_levels(ax, [f"a level named {i}" for i in range(n_levels)], axis_name=which)
    figure.canvas.draw()
    labels = ax.get_xticklabels() if which == "x" else ax.get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    if which == "y" or (labels and labels[0].get_rotation() in (0, 90)):
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :])


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (12345.0, "12345"),
        (1234.56, "1235"),
        (0.012345, "0.0123"),
        (-2.5, f"{MINUS}2.5"),
        (999.9999, "1000"),
        (999999.9, "1e6"),
        (1.5e-7, f"1.5e{MINUS}7"),
        (-3e300, f"{MINUS}3e300"),
    ],
)
def test_texts(value, text):
    assert number_text(value) == text


def test_signs():
    texts = [number_text(value, signed=True) for value in (2.0, 0.0, -2.0)]
    assert texts == ["+2", "0", f"{MINUS}2"]


@given(st.floats(-1e307, 1e307, allow_subnormal=False))
def test_texts_are_short_and_near(value):
    text = number_text(value)
    assert len(text) <= 10
    assert float(text.replace(MINUS, "-")) == pytest.approx(value, rel=6e-3)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_enough_decimals_for_a_span(value, span):
    text = number_beside(value, span).replace(MINUS, "-")
    assert abs(float(text) - value) <= max(0.005 * span, 1e-9)


@pytest.mark.parametrize("which", ["x", "y"])
def test_ticks_have_no_offset_to_add(which):
    figure, ax = plt.subplots()
    ax.set(xlim=(123456.0, 123456.03), ylim=(123456.0, 123456.03))
    plain_number_ticks(ax, which)
    figure.canvas.draw()
    axis = ax.xaxis if which == "x" else ax.yaxis
    assert axis.get_offset_text().get_text() == ""
    assert axis.get_ticklabels()[1].get_text().startswith("123456.0")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (("prediction",), "Prediction"),
        (("prediction", None, "cnt"), "Prediction of cnt"),
        (("prediction", None, "cnt", "bikes"), "Prediction of cnt (bikes)"),
        (("prediction", 1), "Prediction of output 1"),
        (("probability", "Healthy", "state"), "Probability of Healthy"),
        (("probability", 1), "Probability of class 1"),
        (("probability", True, "bought"), "Probability of bought = True"),
        (("probability", None, "species"), "Probability"),
        (("log-odds", "spam"), "Log-odds of spam"),
        (("decision function", "spam"), "Decision function of spam"),
        (("log", None, "cnt"), "Log of cnt"),
        (("log",), "Log of the prediction"),
        (("price", None, "cnt"), "price"),
        (("price", None, None, "EUR"), "price (EUR)"),
        ((None,), "Response"),
    ],
)
def test_responses_in_words(said, text):
    assert response_label(*said) == text


def test_outputs_that_need_no_name():
    assert drawn_output_name("prediction", [0], 0) is None
    assert drawn_output_name("prediction", None, 0) is None
    assert drawn_output_name("price", ["yes"], 0) is None
    assert drawn_output_name("probability", [0], 0) == 0
    assert drawn_output_name("probability", ["no", "yes"], None) is None
    assert drawn_output_name("price", ["no", "yes"], 1) == "yes"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([12.3456, 0.5, -1.23e-17], ["12.3", "0.5", "0.0"]),
        ([0.45, -0.031, 1e-9], ["0.450", f"{MINUS}0.031", "0.000"]),
        ([1234.4, 5.0], ["1234", "5"]),
        ([12345.0, 3.0], ["12345", "3"]),
        ([2.5e9, 1e7, 0.0], ["2.50e9", "0.01e9", "0.00"]),
        ([3e-8, -1e-8], [f"3e{MINUS}8", f"{MINUS}1e{MINUS}8"]),
        ([0.0, 0.0], ["0", "0"]),
        ([1.0, np.nan, np.inf], ["1", "", "inf"]),
        ([], []),
    ],
)
def test_columns_share_their_decimals(values, texts):
    assert column_texts(values) == texts


@given(st.lists(st.floats(-1e300, 1e300), max_size=5))
def test_columns_are_near(values):
    largest = max(map(abs, values), default=0.0)
    texts = column_texts(values)
    for value, text in zip(values, texts, strict=True):
        found = float(text.replace(MINUS, "-"))
        assert abs(found - value) <= max(0.0051 * largest, 1e-300)


def test_columns_have_signs_but_not_of_nothing():
    assert column_texts([2.0, -0.5, 1e-9], signed=True) == [
        "+2.0",
        f"{MINUS}0.5",
        "0.0",
    ]


@given(
    st.lists(
        st.text(alphabet="ab :1.", min_size=1, max_size=60).map(
            lambda text: " ".join(("STDs: Time since " + text).split())
        ),
        min_size=2,
        max_size=6,
        unique=True,
    ),
    st.integers(8, 40),
)
def test_names_that_differ_are_shortened_to_texts_that_differ(names, most):
    for fit in (shorten, wrap_name):
        texts = shorten_all(names, most, fit)
        assert len(set(texts)) == len(names)


def test_names_are_told_apart_where_they_differ():
    names = [
        "STDs: Time since first diagnosis",
        "STDs: Time since last diagnosis",
        "age",
    ]
    *texts, again = shorten_all([*names, names[0]], 26)
    assert texts == ["STDs: Ti…first diagnosis", "STDs: Ti…last diagnosis", "age"]
    assert again == texts[0]
    assert shorten_all(names, 36) == names

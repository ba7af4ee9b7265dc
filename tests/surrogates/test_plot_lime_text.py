"""The display of texts: what is drawn, where, and from what."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret._plotting.colours import DOWN_COLOUR, UP_COLOUR
from sklearn_interpret._plotting.text_layout import (
    BOX,
    families_for,
    replace_undrawable,
    wrap_passage,
)
from sklearn_interpret.surrogates import (
    LimeText,
    LimeTextDisplay,
    LocalExplanation,
    TextExplanation,
)
from sklearn_interpret.surrogates._lime_text import DOWN_RGB, UP_RGB
from tests.figures import all_texts

TEXTS = ["win a free phone", "free money", "what a song", "a fine song", "my song"]
LABELS = ["spam", "spam", "fine", "fine", "mine"]


@pytest.fixture(scope="module")
def model():
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    return model.fit(TEXTS, LABELS)


def explanation(**changes):
    """Of one text with two words of some weight."""
    parts = {
        "values": [[0.5, 0.0, -0.25]],
        "base_values": [0.3],
        "predictions": [0.55],
        "fidelity": [0.9],
        "feature_names": ["free", "of", "charge"],
        "tokens": [["free", " ", "of", " ", "charge", ", ", "free"]],
        "token_features": [[0, -1, 1, -1, 2, -1, 0]],
        "standard_errors": [[0.1, 0.0, 0.05]],
        **changes,
    }
    return TextExplanation(**parts)


def behind(text):
    """Colour and opacity of what is behind a part of a text, or None."""
    patch = text.get_bbox_patch()
    return None if patch is None else patch.get_facecolor()


def test_words_are_highlighted_by_sign_and_size():
    display = LimeTextDisplay.from_explanation(explanation(), response_name="odds")
    (parts,) = display.texts_
    shown = [(part.get_text(), behind(part)) for part in parts]
    assert [text for text, _ in shown] == ["free", "of", "charge", ",", "free"]
    assert [colour is None for _, colour in shown] == [False, True, False, True, False]
    assert shown[0][1][:3] == pytest.approx(to_rgba(UP_COLOUR)[:3])
    assert shown[2][1][:3] == pytest.approx(to_rgba(DOWN_COLOUR)[:3])
    assert shown[0][1] == shown[4][1]
    assert shown[0][1][3] > shown[2][1][3] > 0
    texts = all_texts(display.figure_)
    assert any("odds: 0.55local R² = 0.9" in text for text in texts)
    assert any("odds (what a word adds)" in text for text in texts)
    assert "surrogate =" not in " ".join(texts)
    # HTML has the same colours.
    for rgb, colour in ((UP_RGB, UP_COLOUR), (DOWN_RGB, DOWN_COLOUR)):
        assert_allclose(np.array(rgb) / 255, to_rgba(colour)[:3])


def test_bars_and_table_have_the_weights():
    display = LimeTextDisplay.from_explanation(explanation())
    frame = display.to_frame()
    assert frame["word"].tolist() == ["free", "charge"]
    assert frame["weight"].tolist() == [0.5, -0.25]
    assert frame["standard_error"].tolist() == [0.1, 0.05]
    assert frame["n_occurrences"].tolist() == [2, 1]
    (bars,) = display.bars_
    assert [bar.get_width() for bar in bars] == frame["weight"].tolist()
    ends = [segment[:, 0].tolist() for segment in display.errors_[0].get_segments()]
    assert_allclose(ends, [[0.3, 0.7], [-0.35, -0.15]])
    names = [label.get_text() for label in display.axes_[1, 0].get_yticklabels()]
    assert names == ["free", "charge"]
    assert {"+0.50", "\N{MINUS SIGN}0.25"} <= set(all_texts(display.figure_))
    few = display.plot(max_entries=1)
    assert len(few.bars_[0]) == 1
    assert any("1 weaker words have no bar" in t for t in all_texts(few.figure_))
    assert len(few.to_frame()) == 2
    exact = LimeTextDisplay.from_explanation(explanation(standard_errors=None))
    assert exact.errors_ == [None]


def test_rounding_is_neither_highlighted_nor_drawn():
    display = LimeTextDisplay.from_explanation(explanation(values=[[1, 1e-17, 1e-12]]))
    assert [bar.get_width() for bar in display.bars_[0]] == [1, 0, 0]
    assert sum(behind(part) is not None for part in display.texts_[0]) == 2


def test_several_outputs_side_by_side(model):
    inspector = LimeText(FrozenEstimator(model), random_state=0).fit(TEXTS)
    found = inspector.explain(TEXTS)
    display = LimeTextDisplay.from_explanation(found, row=-1)
    assert display.axes_.shape == (2, 3)
    assert display.to_frame()["output"].unique().tolist() == ["fine", "mine", "spam"]
    one = LimeTextDisplay.from_explanation(found, row=4, target="mine")
    assert one.axes_.shape == (2, 1)
    assert any(
        "Probability of mine, text 4: " in text for text in all_texts(one.figure_)
    )
    with pytest.raises(ValueError, match="5 texts: choose one by row="):
        LimeTextDisplay.from_explanation(found)
    with pytest.raises(ValueError, match="row=5 is not one of the 5 texts"):
        LimeTextDisplay.from_explanation(found, row=5)
    with pytest.raises(TypeError, match="row='a'"):
        LimeTextDisplay.from_explanation(found, row="a")
    with pytest.raises(ValueError, match="target='other' is not an output"):
        LimeTextDisplay.from_explanation(found, row=0, target="other")
    many = explanation(
        values=np.ones((1, 3, 7)),
        base_values=np.zeros((1, 7)),
        predictions=None,
        fidelity=None,
        standard_errors=None,
    )
    display = LimeTextDisplay.from_explanation(many)
    assert display.axes_.shape == (2, 3)
    label = "(4 outputs of smaller responses are not shown)"
    assert [label in below.get_xlabel() for below in display.axes_[1]] == [1, 0, 0]


def test_predictor_and_inspector_draw_the_same(model, monkeypatch):
    inspector = LimeText(FrozenEstimator(model), target="spam", random_state=0)
    inspector.fit(TEXTS)
    monkeypatch.setattr(type(model), "fit", None)
    one = LimeTextDisplay.from_estimator(
        model, pd.Series(TEXTS), row=1, target="spam", random_state=0
    )
    monkeypatch.setattr(LimeText, "fit", None)
    other = LimeTextDisplay.from_estimator(inspector, TEXTS[1:2])
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
    assert any(
        "Probability of spam, text 1: " in text for text in all_texts(one.figure_)
    )
    with pytest.raises(ValueError, match="target='other' is not an output"):
        LimeTextDisplay.from_estimator(inspector, TEXTS[:1], target="other")
    with pytest.raises(ValueError, match="n_samples can only be set before"):
        LimeTextDisplay.from_estimator(inspector, TEXTS[:1], n_samples=10)


def test_what_cannot_be_drawn(model):
    with pytest.raises(TypeError, match="did you mean max_lines"):
        LimeTextDisplay.from_estimator(model, TEXTS[:1], max_line=3)
    with pytest.raises(TypeError, match="single str"):
        LimeTextDisplay.from_estimator(model, "free")
    local = LocalExplanation([[1.0]], [0.0])
    with pytest.raises(TypeError, match="TextExplanation; got LocalExpl"):
        LimeTextDisplay.from_explanation(local)
    with pytest.raises(ValueError, match="max_lines=0"):
        LimeTextDisplay.from_explanation(explanation(), max_lines=0)


@pytest.mark.thorough
def test_own_figure_and_lines_within_it(model):
    text = " ".join(TEXTS * 12)
    display = LimeTextDisplay.from_estimator(
        model, [text], target="spam", random_state=0, n_samples=100, max_lines=4
    )
    display.figure_.canvas.draw()
    (parts,) = display.texts_
    assert parts[-1].get_text().endswith("…")
    assert len({part.xyann[1] for part in parts}) == 4
    upper = display.axes_[0, 0].get_window_extent()
    for part in parts:
        box = part.get_window_extent()
        assert box.x1 <= upper.x1 + 4
        assert box.y0 >= upper.y0 - 4
    # Parts do not run into each other.
    boxes = [part.get_window_extent() for part in parts]
    lines = [part.xyann[1] for part in parts]
    for (one, line), (two, next_line) in zip(
        zip(boxes, lines, strict=True),
        zip(boxes[1:], lines[1:], strict=True),
        strict=False,
    ):
        assert line != next_line or one.x1 <= two.x0 + 3


def test_nothing_to_draw(model):
    display = LimeTextDisplay.from_estimator(
        model, [" ... "], target="spam", min_fidelity=None
    )
    assert display.to_frame().empty
    assert "no words" in all_texts(display.figure_)


def test_what_is_written_is_drawn_literally():
    names = ["$a_1$ <b>", r"$\frac{broken$", "_under_"]
    pieces = [names[0], " $", names[1], "\n", names[2]]
    found = explanation(
        values=[[0.5, 0.2, -0.25]],
        feature_names=names,
        tokens=[pieces],
        token_features=[[0, -1, 1, -1, 2]],
        output_names=["$x$"],
    )
    display = LimeTextDisplay.from_explanation(found)
    texts = all_texts(display.figure_)
    for wanted in (*names, "$"):
        assert wanted in texts
    assert any("Response of $x$" in text for text in texts)


def test_letters_without_a_font_are_boxes():
    """Without warnings, which are errors here; with a font for them, as they are."""
    families, missing = families_for("aö\U00012000")
    assert missing == {"\U00012000"}
    assert families[: len(matplotlib.rcParams["font.family"])] == list(
        matplotlib.rcParams["font.family"]
    )
    assert replace_undrawable("a\U00012000\tb", missing) == f"a{BOX} b"
    found = explanation(
        feature_names=["無料", "\U00012000", "ö"],
        tokens=[["無料", "\U00012000", "の", "ö"]],
        token_features=[[0, 1, -1, 2]],
    )
    display = LimeTextDisplay.from_explanation(found)
    assert "ö" in all_texts(display.figure_)
    display.to_frame()


# Lines


def wrapped(*pieces, width=10, most_lines=9):
    """Lines of letters of width one, marked words in brackets."""
    marks = {}
    given = [
        (piece.strip("[]"), marks.setdefault(place, [place]) if "[" in piece else None)
        for place, piece in enumerate(pieces)
    ]
    runs, n_lines, cut = wrap_passage(given, width, len, most_lines)
    lines = [[run for run in runs if run.line == line] for line in range(n_lines)]
    for line in lines:
        assert all(run.left + len(run.text) <= width for run in line)
    shown = [
        [f"[{run.text}]" if run.mark else run.text for run in line] for line in lines
    ]
    return shown, cut


@pytest.mark.parametrize(
    "pieces, lines",
    [
        (["one two three"], [["one two"], ["three"]]),
        (["one ", "[two]", " three"], [["one", "[two]"], ["three"]]),
        (["a\nb\n\nc"], [["a"], ["b"], ["c"]]),
        (["now ", "[phone]", "!! ok"], [["now"], ["[phone]", "!! ok"]]),
        (
            ["[ab]", "[cd]", "[efghij]", "[kl]"],
            [["[ab]", "[cd]", "[efghij]"], ["[kl]"]],
        ),
        (["abcdefghijklm"], [["abcdefghij"], ["klm"]]),
        (["[abcdefghijklm]"], [["[abcdefghij]"], ["[klm]"]]),
        ([], [[]]),
    ],
)
def test_lines(pieces, lines):
    assert wrapped(*pieces) == (lines, False)


def test_what_is_too_long_ends_in_an_ellipsis():
    lines, cut = wrapped("one two three four five", most_lines=2)
    assert cut
    assert lines == [["one two"], ["three …"]]

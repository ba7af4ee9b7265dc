"""The display of text counterfactuals: what is drawn, where, and from what."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret.counterfactuals import (
    TextCounterfactual,
    TextCounterfactualDisplay,
)
from sklearn_interpret.explanations import RemovalExplanation, RuleExplanation
from tests.figures import all_texts

TEXTS = ["win a free phone", "free money", "what a song", "a fine song", "my song"]
LABELS = ["spam", "spam", "fine", "fine", "fine"]


@pytest.fixture(scope="module")
def model():
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    return model.fit(TEXTS, LABELS)


def explanation(**changes):
    parts = {
        "pieces": [["free", " ", "of", " ", "charge", ", ", "free"]],
        "removed": [[True, False, False, False, False, False, True]],
        "words": [["free"]],
        "texts": [" of charge, "],
        "answers": ["fine"],
        "original_answers": ["spam"],
        "status": ["found"],
        "optimal": [True],
        "predictions": [-0.25],
        "original_predictions": [1.5],
        "response_name": "log-odds",
        "output_names": ["spam"],
        **changes,
    }
    return RemovalExplanation(**parts)


@pytest.mark.parametrize("style", ["default", "dark_background", "ggplot"])
def test_removed_words_are_struck_out(style):
    with plt.style.context(style):
        display = TextCounterfactualDisplay.from_explanation(explanation())
        shown = [(t.get_text(), t.get_bbox_patch() is not None) for t in display.texts_]
        assert shown == [("free", True), ("of charge,", False), ("free", True)]
        figure = display.figure_
        figure.canvas.draw()
        segments = display.strikes_.get_segments()
        assert len(segments) == 2
        struck = [text for text in display.texts_ if text.get_bbox_patch() is not None]
        for segment, text in zip(segments, struck, strict=True):
            (x0, y0), (x1, y1) = display.strikes_.get_transform().transform(segment)
            letters = text.get_window_extent()  # with what is behind them
            assert y0 == y1
            assert letters.y0 < y0 < letters.y1
            assert letters.x0 - 3 < x0 < x1 < letters.x1 + 3
            assert x1 - x0 > 0.6 * letters.width
        title = display.ax_.get_title(loc="left")
    assert title == (
        "Prediction: spam → fine\nLog-odds of spam: 1.5 → \N{MINUS SIGN}0.25\n"
        "1 word struck out: no fewer will do"
    )
    frame = display.to_frame()
    assert frame["word"].tolist() == ["free", "free"]
    assert frame[["start", "end"]].to_numpy().tolist() == [[0, 4], [16, 20]]


def test_titles():
    def title(**changes):
        display = TextCounterfactualDisplay.from_explanation(explanation(**changes))
        return display.ax_.get_title(loc="left").split("\n")

    lines = title(optimal=[False], predictions=None, target_name="kind")
    assert lines == ["Prediction of kind: spam → fine", "1 word struck out"]
    gone = {"removed": [[False] * 7], "words": [[]], "texts": [None]}
    lines = title(
        **gone, status=["impossible"], predictions=[np.nan], reasons=["no set " * 9]
    )
    assert lines[:2] == ["Prediction: spam", "Log-odds of spam: 1.5"]
    assert lines[2].startswith("impossible: no set")
    three = {"predictions": [[1, 2, 3]], "original_predictions": [[4, 5, 6]]}
    three |= {"output_names": ["fine", "mine", "spam"], "response_name": "score"}
    assert title(**three)[1] == "score of spam: 6 → 3"
    found = explanation(**three)
    one = TextCounterfactualDisplay.from_explanation(found, target="mine")
    assert "score of mine: 5 → 2" in one.ax_.get_title(loc="left")
    with pytest.raises(ValueError, match="target='other' is not an output"):
        TextCounterfactualDisplay.from_explanation(found, target="other")


def test_predictor_inspector_and_explanation_draw_the_same(model, monkeypatch):
    inspector = TextCounterfactual(FrozenEstimator(model)).fit(TEXTS)
    found = inspector.explain(TEXTS[:2])
    other = TextCounterfactualDisplay.from_explanation(found, row=0)
    monkeypatch.setattr(type(model), "fit", None)
    one = TextCounterfactualDisplay.from_estimator(model, pd.Series(TEXTS), row=0)
    monkeypatch.setattr(TextCounterfactual, "fit", None)
    two = TextCounterfactualDisplay.from_estimator(inspector, TEXTS[:1])
    for display in (one, two):
        pd.testing.assert_frame_equal(display.to_frame(), other.to_frame())
        assert all_texts(display.figure_) == all_texts(other.figure_)
    with pytest.raises(ValueError, match="There are 2 texts: choose one by row="):
        TextCounterfactualDisplay.from_explanation(found)
    with pytest.raises(ValueError, match="row=2 is not one of the 2 texts"):
        TextCounterfactualDisplay.from_explanation(found, row=2)
    with pytest.raises(ValueError, match="max_removed can only be set before"):
        TextCounterfactualDisplay.from_estimator(inspector, TEXTS[:1], max_removed=1)


def test_wrong_input(model):
    display = TextCounterfactualDisplay
    with pytest.raises(TypeError, match="did you mean max_lines"):
        display.from_estimator(model, TEXTS[:1], max_line=3)
    with pytest.raises(TypeError, match="single str"):
        display.from_estimator(model, "free")
    with pytest.raises(TypeError, match="RemovalExplanation; got RuleExpl"):
        display.from_explanation(
            RuleExplanation([()], [1], [1], [1], [1], answers=[1], status=["found"])
        )
    with pytest.raises(ValueError, match="max_lines=0"):
        display.from_explanation(explanation(), max_lines=0)
    with pytest.raises(TypeError, match="ax must be None, a matplotlib Axes"):
        display.from_explanation(explanation(), ax=3)


@pytest.mark.parametrize("layout", ["constrained", "none"])
def test_given_axes(layout):
    figure, (left, _) = plt.subplots(1, 2, layout=layout, figsize=(6, 3))
    long = {"pieces": [["free"] + [" of"] * 200], "removed": [[True] + [False] * 200]}
    display = TextCounterfactualDisplay.from_explanation(explanation(**long), ax=left)
    assert display.texts_[-1].get_text().endswith("…")
    figure.canvas.draw()
    for text in display.texts_:
        box, room = text.get_window_extent(), left.get_window_extent()
        assert box.x1 <= room.x1 + 4
        assert box.y0 >= room.y0 - 4


def test_what_is_written_is_drawn_literally():
    names = ["$a_1$ <b>", r"$\frac{broken$", "_under_", "無", "\U00012000"]
    found = explanation(
        pieces=[names],
        removed=[[True, False, True, False, False]],
        answers=["$x$"],
        words=[names[:3:2]],
    )
    display = TextCounterfactualDisplay.from_explanation(found, strike_kw={"lw": 3})
    texts = all_texts(display.figure_)
    assert {"$a_1$ <b>", "_under_"} <= set(texts)
    assert "spam → $x$" in texts[0] or any("spam → $x$" in text for text in texts)
    assert display.strikes_.get_linewidth() == [3]


def test_texts_of_nothing():
    found = explanation(
        pieces=[[]], removed=[[]], words=[[]], status=["impossible"], reasons=["none"]
    )
    display = TextCounterfactualDisplay.from_explanation(found)
    assert display.texts_ == []
    assert display.to_frame().empty

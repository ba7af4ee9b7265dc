"""Rules: conditions in words, for whom they hold, and how explanations are shown."""

import pickle

import numpy as np
import pandas as pd
import pytest

from sklearn_interpret._core.local.tokens import Splitter
from sklearn_interpret.explanations import Condition, RuleExplanation, WordCondition

PARTS = {
    "rules": [(Condition(0, "age", high=37.0), Condition(1, "<b>", levels=("a",))), ()],
    "precision": [0.98, 0.5],
    "precision_low": [0.95, 0.25],
    "precision_high": [1.0, 0.75],
    "coverage": [0.25, 1.0],
    "answers": ["<i>yes</i>", "no"],
    "status": ["found", "failed"],
}


def explanation(**parts):
    return RuleExplanation(**{**PARTS, **parts})


@pytest.mark.parametrize(
    ("condition", "text", "holds"),
    [
        (Condition(0, "age", high=37), "age <= 37", [1, 1, 0, 0]),
        (Condition(0, "age", low=30), "age > 30", [0, 1, 1, 0]),
        (Condition(0, "age", low=30, high=37), "30 < age <= 37", [0, 1, 0, 0]),
        (Condition(0, "age", levels=(np.nan,)), "age is missing", [0, 0, 0, 1]),
        (Condition(0, "age", levels=(37.0,)), "age = 37", [0, 1, 0, 0]),
        (Condition(1, "job", levels=("a",)), "job = a", [1, 0, 0, 1]),
        (Condition(1, "job", levels=("a", "b")), "job in {a, b}", [1, 1, 0, 1]),
        (Condition(1, "job", levels=(None,)), "job is missing", [0, 0, 1, 0]),
    ],
)
def test_conditions(condition, text, holds):
    frame = pd.DataFrame({"age": [30, 37, 38, np.nan], "job": ["a", "b", None, "a"]})
    assert str(condition) == text
    assert condition.holds(frame).tolist() == list(map(bool, holds))


@pytest.mark.parametrize(
    ("number", "text", "holds"),
    [(0, "'so'", [1, 1, 0]), (1, "'so'", [1, 1, 0]), (2, "'so (2)'", [0, 1, 0])],
)
def test_words(number, text, holds):
    condition = WordCondition("so", number, Splitter(r"\W+", None, number == 0))
    assert str(condition) == text
    texts = ["so it is", "so, so", "also"]
    assert condition.holds(texts).tolist() == list(map(bool, holds))


def test_bounds_are_rounded_outward():
    """No more is said than is proved."""
    html = explanation(precision_low=[0.9497, 0], precision_high=[0.9892, 1])
    assert "0.98 (0.949 to 0.99)" in html._repr_html_()


def test_rows_of_an_explanation():
    found = explanation(data=np.zeros((2, 2)), feature_names=["age", "<b>"])
    assert len(found) == 2
    assert found[1].rules[0] == ()
    assert found[[True, False]].answers.tolist() == ["<i>yes</i>"]
    assert [one.text(0) for one in found] == ["age <= 37 and <b> = a", "always"]
    assert found[:0].holds(np.zeros((3, 2))).shape == (0, 3)
    assert len(found[:0].to_frame()) == 0
    assert pickle.loads(pickle.dumps(found)).rules[0] == found.rules[0]


def test_holds():
    X = np.array([[30, "a"], [40, "a"], [30, "b"]], dtype=object)
    expected = [[True, False, False], [True, True, True]]
    assert explanation().holds(X).tolist() == expected


def test_frame():
    data = pd.DataFrame({"age": [1, 2], "<b>": ["a", "b"]}, index=["p", "q"])
    frame = explanation(data=data, feature_names=list(data)).to_frame()
    assert frame.index.tolist() == ["p", "q"]
    assert frame["rule"].tolist() == ["age <= 37 and <b> = a", "always"]
    assert frame["answer"].tolist() == ["<i>yes</i>", "no"]
    assert frame["precision"].tolist() == [0.98, 0.5]


def test_text_and_html():
    text = repr(explanation())
    assert text.startswith("RuleExplanation(n_rows=2)\nage <= 37 and <b> = a: <i>yes")
    html = explanation(reasons=["", "a < b"])._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt; = a" in html
    assert "failed: a &lt; b" in html


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"precision": [1.0]}, "precision has the shape"),
        ({"coverage": ["x", "y"]}, "coverage must be an array of numbers"),
        ({"answers": ["yes"]}, "answers has 1 entries; 2 rows"),
        ({"reasons": []}, "reasons has 0 entries"),
        ({"data": np.zeros((3, 2))}, "data has 3 rows"),
        ({"feature_names": "ab"}, "feature_names must be a sequence"),
    ],
)
def test_parts_that_do_not_fit(parts, message):
    with pytest.raises(ValueError, match=message):
        explanation(**parts)

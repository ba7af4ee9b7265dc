"""Displays of rules."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from sklearn_interpret._plotting.labels import lines_of
from sklearn_interpret.explanations import Condition
from sklearn_interpret.rules import (
    OneRClassifier,
    RIPPERClassifier,
    Rule,
    RulesDisplay,
    SkopeRulesClassifier,
)
from tests.figures import all_texts

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
MODELS = [
    OneRClassifier(),
    RIPPERClassifier(random_state=0),
    SkopeRulesClassifier(n_estimators=5, random_state=0),
]


@dataclass(frozen=True)
class Adding(Rule):
    """A rule that adds a number."""

    coef: float = 0.0


def bmi(k, prediction, **fields):
    """Return a rule on one number."""
    return Adding((Condition(0, "bmi", low=k / 4),), prediction, 0.125 * k, **fields)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_shares_are_stacked(model):
    rules = model.fit(X, NAMES).rules_
    display = RulesDisplay.from_estimator(model, max_rules=None)
    drawn = np.array([[bar.get_width() for bar in bars] for bars in display.bars_]).T
    assert_allclose(drawn, [rule.shares for rule in rules])
    assert_allclose([bar.get_x() for bar in display.bars_[0]], 0)
    texts = all_texts(display.figure_)
    for rule in rules[:-1]:
        assert any(str(rule.conditions[0]) in text for text in texts)
    assert {"otherwise", "predicts", "of 150 rows", "precision"} <= set(texts)
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == ["setosa", "versicolor", "virginica"]
    pd.testing.assert_frame_equal(display.to_frame(), model.to_frame())


def test_the_first_rules_and_the_default_are_drawn():
    model = SkopeRulesClassifier(n_estimators=5, random_state=0).fit(X, NAMES)
    display = RulesDisplay.from_estimator(model, max_rules=4)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert len(labels) == 4
    assert labels[-1] == "otherwise"
    left_out = len(model.rules_) - 4
    assert f"{left_out} more rules not shown" in all_texts(display.figure_)
    assert len(display.to_frame()) == len(model.rules_)
    one = RulesDisplay(model.rules_, classes=model.classes_).plot(max_rules=1)
    assert one.ax_.get_yticklabels()[0].get_text() == str(model.rules_[0])


def test_long_rules_are_wrapped():
    conditions = [
        Condition(j, f"a long name, {j}", levels=tuple(f"level ${k}" for k in range(9)))
        for j in range(5)
    ]
    rule = Rule(tuple(conditions), "a class with a long name", 0.5, 1.0, shares=(1, 0))
    display = RulesDisplay([rule], classes=["a class with a long name", "b"]).plot()
    lines = display.ax_.get_yticklabels()[0].get_text().split("\n")
    assert len(lines) == 4
    assert max(map(len, lines)) < 60
    small = RulesDisplay([rule] * 5).plot(plt.figure(figsize=(4, 2)).add_subplot())
    assert "\n" not in small.ax_.get_yticklabels()[0].get_text()
    assert small.legend_ is None


def test_conditions_stay_whole():
    conditions = [Condition(j, f"feature number {j}", low=j + 0.5) for j in range(5)]
    display = RulesDisplay([Rule(tuple(conditions), 1.0, 0.5)]).plot()
    lines = display.ax_.get_yticklabels()[0].get_text().split("\n")
    assert lines[0] == "feature number 0 > 0.5 and"
    assert lines[4:] == []
    assert all(line.startswith("feature number") for line in lines)


@pytest.mark.thorough
def test_many_classes_are_named_in_the_bars():
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    y = np.repeat(letters, 12)
    values = np.repeat(np.arange(26.0), 12)[:, None]
    model = OneRClassifier().fit(values, y)
    display = RulesDisplay.from_estimator(model, max_rules=None)
    assert display.legend_ is None
    assert len(display.bars_) == 26
    texts = [text.get_text() for text in display.texts_]
    assert min(texts.count(letter) for letter in letters) >= 2


@pytest.mark.parametrize("what", ["coef", "prediction"])
def test_numbers_are_bars(what):
    numbers = [-13.5, 0.0, 26.0]
    rules = [bmi(k, None, coef=x) for k, x in enumerate(numbers)]
    if what == "prediction":
        rules = [Rule((), x, 0.5) for x in numbers]
    display = RulesDisplay(rules).plot()
    (bars,) = display.bars_
    assert [bar.get_width() for bar in bars] == numbers
    assert display.ax_.get_xlabel() == what
    texts = all_texts(display.figure_)
    assert "precision" not in texts
    assert not {"predicts", "class"} & set(texts)
    assert display.to_frame().columns[-1] == ("coverage", what)[what[0] == "c"]


def test_classes_that_coefficients_are_for():
    display = RulesDisplay([bmi(1, "yes", coef=2.0), bmi(2, "no")]).plot()
    assert {"class", "yes", "no"} <= set(all_texts(display.figure_))


def test_columns_stay_within_given_axes():
    model = RIPPERClassifier(random_state=0).fit(X, NAMES)
    figure, axes = plt.subplots(1, 2, figsize=(12, 3))
    display = RulesDisplay.from_estimator(model, ax=axes[0])
    assert display.ax_ is axes[0]
    all_texts(figure)
    right = axes[0].get_window_extent().x1
    assert max(text.get_window_extent().x1 for text in display.texts_) <= right


def test_style_of_bars():
    model = OneRClassifier().fit(X, NAMES)
    display = RulesDisplay.from_estimator(model, bar_kw={"alpha": 0.5})
    assert display.bars_[0].patches[0].get_alpha() == 0.5


def test_bad_input():
    with pytest.raises(NotFittedError):
        RulesDisplay.from_estimator(OneRClassifier())
    with pytest.raises(TypeError, match=r"rules_, .* got GaussianNB"):
        RulesDisplay.from_estimator(GaussianNB().fit(X, Y))
    with pytest.raises(ValueError, match="empty"):
        RulesDisplay([]).plot()
    with pytest.raises(ValueError, match="max_rules=0"):
        RulesDisplay([bmi(1, 2.0)]).plot(max_rules=0)
    rules = [bmi(1, 2.0), bmi(2, 1.0, shares=(0.5, 0.5))]
    with pytest.raises(ValueError, match="shares of 2 classes; they have 2 or None"):
        RulesDisplay(rules).plot()


def test_words_break_between_conditions():
    """A number is not parted, nor a bound from its sign, however long a name is."""
    long = "length of the petal in centimetres <= 4.95"
    assert lines_of([long, "width > 1.75"], 34, 3) == [
        "length of the petal in",
        "centimetres <= 4.95 and",
        "width > 1.75",
    ]
    assert lines_of([long] * 9, 34, 2)[-1].startswith("centimetres")
    assert len(lines_of([long] * 9, 34, 2)[-1]) <= 34

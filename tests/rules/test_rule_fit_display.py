"""The display of RuleFit draws its importances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

pytest.importorskip("matplotlib")

from sklearn_interpret.rules import OneRClassifier, RuleFitDisplay, RuleFitRegressor


def test_bars_are_the_importances():
    X, y = make_friedman1(n_samples=200, n_features=6, random_state=0)
    model = RuleFitRegressor(max_rules=60, n_folds=2, random_state=0).fit(X, y)
    display = RuleFitDisplay.from_estimator(model, max_entries=None)
    rules, features = ([b.get_width() for b in bars] for bars in display.bars_)
    sizes = [entry.importance for entry in [*model.rules_, *model.linear_terms_]]
    assert_allclose(rules, sorted(sizes, reverse=True))
    sizes = model.feature_importances_[model.feature_importances_ > 0]
    assert_allclose(features, np.sort(sizes)[::-1])
    few = RuleFitDisplay.from_estimator(model, max_entries=4)
    assert [len(bars) for bars in few.bars_] == [4, 4]
    assert few.axes_[0].get_yticklabels()[-1].get_text().startswith("mean of")


def test_long_rules_break_next_to_numbers():
    rule = "versicolor: petal length (cm) <= 5.25 and 0.8 < petal width (cm) <= 1.75"
    display = RuleFitDisplay([rule], [1.0], [1.0], [1.0, 0.5]).plot()
    words = display.axes_[0].get_yticklabels()[0].get_text()
    assert words.replace("\n", " ") == rule
    assert "(cm) <= 5.25" in words
    assert "0.8 < petal width (cm) <= 1.75" in words


def test_bars_of_both_panels_are_side_by_side():
    display = RuleFitDisplay(["a"], [1.0], [1.0], [3.0, 2.0, 1.0]).plot()
    bars = [bars.patches[0].get_window_extent() for bars in display.bars_]
    assert_allclose(bars[0].y0, bars[1].y0)
    assert_allclose(bars[0].height, bars[1].height)


def test_nothing_to_draw_but_a_feature():
    display = RuleFitDisplay([], [], [], [0.0]).plot()
    assert [len(bars) for bars in display.bars_] == [0, 0]
    assert "(1 without any" in display.axes_[1].get_xlabel()


def test_bad_input():
    with pytest.raises(TypeError, match="OneRClassifier"):
        RuleFitDisplay.from_estimator(OneRClassifier().fit([[0], [1]] * 9, [0, 1] * 9))
    with pytest.raises(ValueError, match="2 rules, 1 coefficients"):
        RuleFitDisplay(["a", "b"], [1.0], [1.0, 2.0], [1.0]).plot()


def test_table():
    frame = RuleFitDisplay(["a", "b"], [1.0, -2.0], [0.1, 0.5], [1.0]).to_frame()
    assert frame["rule"].tolist() == ["b", "a"]


def test_words_are_broken_between_words():
    rule = "virginica: petal length (cm) <= 4.95 and petal width (cm) <= 1.65"
    display = RuleFitDisplay([rule], [1.0], [1.0], [1.0]).plot()
    (label,) = display.axes_[0].get_yticklabels()
    assert label.get_text().replace("\n", " ") == rule


def test_few_rules_leave_room_for_the_features():
    few, many = (
        RuleFitDisplay(["a"], [1.0], [1.0], np.ones(n)).plot(max_entries=None)
        for n in (1, 20)
    )
    assert many.figure_.get_figheight() > 2 * few.figure_.get_figheight()

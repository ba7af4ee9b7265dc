"""LimeDisplay: bars of the effects in use, panel by panel."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret.surrogates import LimeDisplay, LimeTabular, LocalExplanation


@pytest.fixture(scope="module")
def classified():
    """A fitted inspector with three outputs, and its rows."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=1000).fit(X, np.array(["a", "b", "c"])[y])
    inspector = LimeTabular(
        FrozenEstimator(model),
        n_samples=64,
        n_features_to_select=3,
        min_fidelity=None,
        random_state=0,
    )
    return inspector.fit(X), X


def test_bars_are_the_effects_in_use(classified):
    inspector, X = classified
    display = LimeDisplay.from_estimator(inspector, X, row=7)
    explanation = inspector.explain(X[7:8])
    assert len(display.axes_) == len(display.bars_) == 3
    for output, bars in enumerate(display.bars_):
        effects = explanation.effects[0, :, output]
        order = np.argsort(-np.abs(effects))[:3]
        widths = [bar.get_width() for bar in bars]
        assert_allclose(widths, effects[order])
        labels = [text.get_text() for text in display.axes_[output].get_yticklabels()]
        expected = [explanation.texts(0)[j] for j in order]
        assert [text.replace("\n", " ") for text in labels] == expected
        fidelity = f"{explanation.fidelity[0, output]:.3g}"
        assert f"local R² = {fidelity}" in display.axes_[output].get_title()


def test_one_output_on_a_given_axes(classified):
    inspector, X = classified
    _, (left, right) = plt.subplots(1, 2)
    explanation = inspector.explain(X[:2])
    display = LimeDisplay.from_explanation(
        explanation, row=1, target="b", ax=left, max_entries=2, bar_kw={"height": 0.5}
    )
    assert display.axes_.tolist() == [left]
    assert not right.has_data()
    assert [bar.get_height() for bar in display.bars_[0]] == [0.5, 0.5]
    assert "1 weaker features" in left.get_xlabel()


def test_numbers_without_bins_stand_with_their_values():
    frame = pd.DataFrame({"age": [20.0, 31.5, 40, 7], "$t$": [1.0, 2, 3, 5]})
    model = LinearRegression().fit(frame, frame["age"] * 2)
    display = LimeDisplay.from_estimator(
        model, frame, row=1, discretize=False, n_features_to_select=1, random_state=0
    )
    (label,) = display.axes_[0].get_yticklabels()
    assert label.get_text() == "age (31.5)"
    table = display.to_frame()
    assert table["feature"].tolist() == ["age"]
    assert_allclose(table["weight"], 2)
    assert_allclose(table["effect"], 2 * frame["age"].std(ddof=0))


def test_table_has_every_output(classified):
    inspector, X = classified
    table = LimeDisplay(inspector.explain(X[:1])).to_frame()
    assert table["output"].tolist() == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert table["condition"].str.contains("sepal|petal").all()


def test_nothing_selected():
    explanation = LocalExplanation([[0.0, 0.0]], [1.0])
    display = LimeDisplay.from_explanation(explanation)
    assert len(display.bars_[0]) == 0
    assert len(display.to_frame()) == 0


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({}, ValueError, "150 rows: choose one"),
        ({"row": 150}, ValueError, "not one of the 150 rows"),
        ({"row": "first"}, TypeError, "position"),
        ({"row": 0, "target": "d"}, ValueError, "not an output"),
        ({"row": 0, "n_samples": 9}, ValueError, "n_samples"),
        ({"row": 0, "colour": "red"}, TypeError, "colour"),
        ({"row": 0, "max_entries": 0}, ValueError, "max_entries"),
    ],
)
def test_bad_input(classified, params, error, message):
    inspector, X = classified
    with pytest.raises(error, match=message):
        LimeDisplay.from_estimator(inspector, X, **params)


def test_other_explanations():
    with pytest.raises(TypeError, match="LocalExplanation; got ndarray"):
        LimeDisplay.from_explanation(np.zeros((1, 2)))


def test_of_many_classes_the_most_probable_are_drawn():
    shares = np.array([0.05, 0.2, 0.01, 0.3, 0.04, 0.15, 0.25])
    names = [f"a_class_whose_name_is_long_{place}" for place in range(7)]
    explanation = LocalExplanation(
        values=np.arange(14.0).reshape(1, 2, 7) - 6,
        base_values=np.zeros((1, 7)),
        predictions=shares[None],
        output_names=names,
    )
    display = LimeDisplay.from_explanation(explanation)
    assert len(display.axes_) == 3
    assert list(dict.fromkeys(display.to_frame()["output"])) == [
        names[place] for place in (3, 6, 1)
    ]
    note = "(4 outputs of smaller responses are not shown)"
    assert [note in ax.get_xlabel() for ax in display.axes_] == [True, False, False]
    one = LimeDisplay.from_explanation(explanation, target=names[0])
    assert len(one.axes_) == 1
    assert note not in one.axes_[0].get_xlabel()


def test_rows_are_needed_to_explain(classified):
    inspector, _ = classified
    with pytest.raises(ValueError, match="LimeDisplay shows rows: pass X"):
        LimeDisplay.from_estimator(inspector)


def test_weights_are_those_of_the_rows_inspected():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    model = LinearRegression().fit(frame, frame["a"] * 2)
    weights = np.r_[np.ones(20), np.zeros(20)]
    asked = {"row": 1, "n_samples": 200, "random_state": 0}
    one = LimeDisplay.from_estimator(model, frame, sample_weight=weights, **asked)
    other = LimeDisplay.from_estimator(model, frame[:20], **asked)
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


def test_numbers_stand_clear_of_names():
    names = ["a condition of many words = yes", "b"]
    explanation = LocalExplanation([[-2000.0, 1.0]], [0.0], feature_names=names)
    display = LimeDisplay.from_explanation(explanation)
    display.figure_.draw_without_rendering()
    number = display.axes_[0].texts[0].get_window_extent()
    name = display.axes_[0].get_yticklabels()[1].get_window_extent()
    assert number.x0 > name.x1

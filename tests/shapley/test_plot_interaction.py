"""Interaction values as a table of pairs, and of one pair row by row."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.shapley import (
    ExactShapley,
    KernelSHAP,
    LinearSHAP,
    ShapleyDependenceDisplay,
    ShapleyInteractionDisplay,
    TreeSHAP,
)
from tests.figures import row_names
from tests.shapley.data import mixed


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    y = X["a"] * (X["b"] > 0) + X["c"]
    return RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y), X


def table(display):
    return np.asarray(display.heatmap_.get_array())


@pytest.mark.parametrize("kind", [TreeSHAP, ExactShapley, KernelSHAP])
def test_cells_are_mean_sizes(kind, forest):
    model, X = forest
    inspector = kind(FrozenEstimator(model), subsample=10, random_state=0).fit(X)
    display = ShapleyInteractionDisplay.from_estimator(inspector, X)
    expected = np.abs(inspector.interaction_values(X)).mean(axis=0)
    order = np.argsort(-expected.sum(axis=1))
    assert row_names(display) == [list("abcd")[j] for j in order]
    assert_allclose(table(display), expected[np.ix_(order, order)])
    frame = display.to_frame()
    assert len(frame) == 10
    assert (np.diff(frame["interaction_value"]) <= 0).all()
    for row in frame.itertuples():
        places = "abcd".index(row.feature), "abcd".index(row.feature2)
        assert row.interaction_value == pytest.approx(expected[places])


def test_parts_of_the_rows_are_added_up(forest):
    model, X = forest
    whole = ShapleyInteractionDisplay.from_estimator(model, X)
    with config_context(working_memory=0.01):
        parts = ShapleyInteractionDisplay.from_estimator(model, X)
    assert_allclose(parts.interactions, whole.interactions)


def test_classes(forest):
    _, X = forest
    model = RandomForestClassifier(3, max_depth=3, random_state=0)
    model.fit(X, np.digitize(X["a"], [-0.5, 0.5]))
    inspector = TreeSHAP(FrozenEstimator(model)).fit(X)
    display = ShapleyInteractionDisplay.from_estimator(inspector, X, target=2)
    expected = np.abs(inspector.interaction_values(X)[..., 2]).mean(axis=0)
    assert_allclose(display.interactions, expected)
    assert "Probability of class 2" in display.colorbar_.ax.get_ylabel()
    again = ShapleyInteractionDisplay.from_estimator(model, X, target=2)
    assert_allclose(again.interactions, expected)
    with pytest.raises(ValueError, match="3 outputs: choose one by target="):
        ShapleyInteractionDisplay.from_estimator(inspector, X)


def test_the_strongest_features_and_how_many_are_left_out():
    strengths = np.random.default_rng(0).random((30, 30))
    strengths += strengths.T
    feature_names = [f"f{j}" for j in range(30)]
    display = ShapleyInteractionDisplay(strengths, feature_names=feature_names).plot()
    order = np.argsort(-strengths.sum(axis=1))[:10]
    assert row_names(display) == [feature_names[j] for j in order]
    assert "not shown: 20 weaker features" in display.ax_.get_title()
    assert len(display.labels_) == 100
    display.plot(max_entries=None)
    assert table(display).shape == (30, 30)
    assert display.labels_ == []
    assert "not shown" not in display.ax_.get_title()


def test_main_effects_do_not_bleach_the_pairs():
    strengths = np.array([[50.0, 0.31], [0.31, 0.2]])
    display = ShapleyInteractionDisplay(strengths, feature_names=["a", "b"]).plot()
    assert display.heatmap_.get_clim() == (0.0, 0.31)
    assert display.colorbar_.extend == "max"
    texts = [text.get_text() for text in display.labels_]
    assert texts == ["50.00", "0.31", "0.31", "0.20"]
    additive = ShapleyInteractionDisplay(np.eye(2), feature_names=["a", "b"]).plot()
    assert additive.heatmap_.get_clim() == (0.0, 1.0)


def test_what_cannot_be_drawn(forest):
    model, X = forest
    draw = ShapleyInteractionDisplay.from_estimator
    with pytest.raises(ValueError, match="shows rows: pass X"):
        draw(TreeSHAP(FrozenEstimator(model)).fit(X))
    linear = LinearRegression().fit(X, X["a"])
    with pytest.raises(TypeError, match=r"without interaction values: choose algor"):
        draw(linear, X)
    with pytest.raises(TypeError, match="interaction_values; got LinearSHAP"):
        draw(LinearSHAP(FrozenEstimator(linear)).fit(X), X)
    with pytest.raises(ValueError, match=r"X has one row.*pass background="):
        draw(model, X[:1])
    for wrong, message in [
        (np.ones((3, 2)), "the shape"),
        ([[1.0, 2.0], [0.0, 1.0]], "not symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], "missing values"),
        (-np.eye(2), "negative"),
    ]:
        with pytest.raises(ValueError, match=message):
            ShapleyInteractionDisplay(wrong, feature_names=["a", "b"]).plot()
    with pytest.raises(ValueError, match="max_entries=0 must be"):
        ShapleyInteractionDisplay(np.eye(2), feature_names=["a", "b"]).plot(
            max_entries=0
        )


def points(display):
    parts = [*display.points_, display.grey_points_]
    return np.concatenate([p.get_offsets() for p in parts if p is not None])


def test_a_pair_row_by_row(forest):
    model, X = forest
    draw = ShapleyDependenceDisplay.from_estimator
    inspector = TreeSHAP(FrozenEstimator(model)).fit(X)
    values = inspector.interaction_values(X)
    for display in (
        draw(inspector, X, feature=("a", "b")),
        draw(model, X, feature=["a", 1]),
        ShapleyDependenceDisplay.from_explanation(
            inspector.explain(X), feature=("a", "b"), interaction_values=values
        ),
    ):
        expected = np.column_stack([X["a"], values[:, 0, 1]])
        assert_allclose(points(display), expected, atol=1e-12)
        assert display.color_feature_ == "b"
        assert display.ax_.get_ylabel() == (
            "Prediction\n(half the interaction value of\na and b)"
        )
        frame = display.to_frame()
        assert frame.columns.tolist() == ["x", "interaction_value", "color"]
        assert_allclose(frame["interaction_value"], values[:, 0, 1])
        assert_array_equal(frame["color"], X["b"])
    main = draw(inspector, X, feature=("c", "c"))
    assert_allclose(points(main)[:, 1], values[:, 2, 2])
    assert main.color_feature_ is None
    assert "main effect of c" in main.ax_.get_ylabel()
    other = draw(inspector, X, feature=("a", "b"), color_by="c")
    assert other.color_feature_ == "c"


def test_a_pair_needs_interaction_values():
    explanation = mixed()
    with pytest.raises(ValueError, match="is a pair: pass interaction_values"):
        ShapleyDependenceDisplay.from_explanation(explanation, feature=("age", "new"))
    with pytest.raises(ValueError, match="'nw'; did you mean 'new'"):
        ShapleyDependenceDisplay.from_explanation(
            explanation, feature=("age", "nw"), interaction_values=np.zeros((80, 4, 4))
        )


def test_names_are_drawn_literally():
    feature_names = [r"$\frac{broken$", "a_name_" * 30]
    display = ShapleyInteractionDisplay(np.eye(2), feature_names=feature_names).plot()
    display.figure_.draw_without_rendering()
    assert row_names(display)[0].replace(r"\$", "$") == feature_names[0]
    assert len(row_names(display)[1]) <= 18

"""What is special about the comparison of effects."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from sklearn_interpret.effects import AccumulatedLocalEffects as ALE
from sklearn_interpret.effects import AccumulatedLocalEffectsDisplay as ALEDisplay
from sklearn_interpret.effects import (
    ConditionalDependence,
    EffectComparisonDisplay,
    PartialDependence,
)
from tests.effects.data import classes, encoded, mixed_frame, numeric_table

X, Y = numeric_table(80)
LINEAR = LinearRegression().fit(X, Y)

METHODS = ["partial_dependence", "conditional_dependence", "accumulated_local_effects"]


def test_linear_model():
    """Partial dependence and ALE have the coefficient as slope, the M-plot does not."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=400)
    X = np.column_stack([first, first + 0.3 * rng.normal(size=400)])
    model = LinearRegression().fit(X, X @ [1.0, 2.0])
    display = EffectComparisonDisplay.from_estimator(model, X, feature=0)
    slopes = [
        np.polyfit(line.get_xdata(), line.get_ydata(), 1)[0]
        for line in display.lines_[0]
    ]
    assert_allclose([slopes[0], slopes[2]], 1.0)
    assert slopes[1] == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize("weighted", [False, True])
def test_centred_at_the_mean_over_the_rows(weighted):
    weights = np.random.default_rng(0).integers(0, 4, 80) if weighted else None
    display = EffectComparisonDisplay.from_estimator(
        LINEAR, X, feature=1, sample_weight=weights
    )
    kinds = (PartialDependence, ConditionalDependence, ALE)
    for kind, line in zip(kinds, display.lines_[0], strict=True):
        inspector = kind(_frozen(LINEAR), features=[1]).fit(X, sample_weight=weights)
        mean = np.average(inspector.transform(X)[:, 0], weights=weights)
        values = getattr(inspector, "effects_", getattr(inspector, "average_", None))
        assert_allclose(line.get_ydata(), values[0] - mean, atol=1e-12)


def _frozen(model):
    from sklearn.frozen import FrozenEstimator

    return FrozenEstimator(model)


def test_legend_and_table_name_the_methods():
    display = EffectComparisonDisplay.from_estimator(LINEAR, X, feature=0)
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == [
        "partial dependence",
        "M-plot (conditional mean)",
        "accumulated local effects",
        "values in the data",
    ]
    assert list(dict.fromkeys(display.to_frame()["method"])) == METHODS
    colours = {line.get_color() for line in display.lines_[0]}
    assert len(colours) == 3


def test_chosen_methods():
    chosen = ("accumulated_local_effects", "partial_dependence")
    display = EffectComparisonDisplay.from_estimator(
        LINEAR, X, feature=0, methods=chosen
    )
    assert display.methods == list(chosen)
    for wrong in ((), ("ale",), (chosen[0], chosen[0])):
        with pytest.raises(ValueError, match="must be distinct names out of"):
            EffectComparisonDisplay.from_estimator(LINEAR, X, feature=0, methods=wrong)


def test_parameters_go_where_they_belong():
    display = EffectComparisonDisplay.from_estimator(
        LINEAR, X, feature=0, n_intervals=5, grid_resolution=9
    )
    assert [len(line.get_xdata()) for line in display.lines_[0]] == [9, 5, 6]


def test_a_given_order_of_levels_is_that_of_all_methods():
    X, y = mixed_frame()
    model = encoded(LinearRegression()).fit(X, y)
    display = EffectComparisonDisplay.from_estimator(
        model,
        X,
        feature="colour",
        categorical_order={"colour": ["amber", "red", "blue", "green"]},
    )
    frame = display.to_frame()
    ale = frame[frame["method"] == "accumulated_local_effects"]
    assert ale["x"].tolist() == ["amber", "red", "blue", "green"]
    (ax,) = display.axes_.flat
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert names == ale["x"].tolist()
    assert ax.get_xlabel() == "colour"
    natural = frame[frame["method"] == "partial_dependence"]
    line = display.lines_[0][0]
    placed = [names[round(x)] for x in line.get_xdata()]
    assert placed == natural["x"].tolist() == ["red", "green", "blue", "amber"]
    assert_array_equal(line.get_ydata(), natural["value"])


def test_one_panel_per_output():
    model = LogisticRegression().fit(X, classes(Y, 3))
    display = EffectComparisonDisplay.from_estimator(model, X, feature=0)
    assert display.axes_.shape == (1, 3)
    assert [ax.get_title() for ax in display.axes_.flat] == ["low", "mid", "top"]
    assert [len(lines) for lines in display.lines_] == [3, 3, 3]


def test_a_single_inspector_and_pairs_are_refused():
    inspector = PartialDependence(_frozen(LINEAR)).fit(X)
    with pytest.raises(TypeError, match="compares several effects"):
        EffectComparisonDisplay.from_estimator(inspector, X, feature=0)
    with pytest.raises(TypeError, match="must be one feature"):
        EffectComparisonDisplay.from_estimator(LINEAR, X, feature=(0, 1))


def test_any_container_out_of_transform():
    X, y = numeric_table(80)
    X = pd.DataFrame(X, columns=list("abc"))
    model = LinearRegression().fit(X, y)
    bare = PartialDependence(_frozen(model)).fit(X)
    framed = PartialDependence(_frozen(model)).set_output(transform="pandas").fit(X)
    one = EffectComparisonDisplay.from_estimator([bare], X, feature="b")
    other = EffectComparisonDisplay.from_estimator([framed], X, feature="b")
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


def test_from_arrays():
    display = EffectComparisonDisplay(
        [np.array([0.0, 1.0]), np.array([0.0, 0.5, 1.0])],
        [np.array([-1.0, 1.0]), np.array([-2.0, 0.0, 2.0])],
        methods=["mine", "partial_dependence"],
        feature_name="height",
    ).plot()
    assert [len(line.get_xdata()) for line in display.lines_[0]] == [2, 3]
    assert display.legend_.get_texts()[0].get_text() == "mine"
    assert display.rug_ == [None]
    assert display.axes_[0, 0].get_ylabel() == "Response\n(centred effect)"


def test_a_method_keeps_its_colour():
    """Alone, or with others in any order: two figures can be read together."""
    whole = EffectComparisonDisplay.from_estimator(
        LINEAR, X, feature=0, methods=METHODS
    )
    expected = {
        method: line.get_color()
        for method, line in zip(METHODS, whole.lines_[0], strict=True)
    }
    assert len(set(expected.values())) == len(METHODS)
    for methods in (METHODS[::-1], METHODS[1:2]):
        display = EffectComparisonDisplay.from_estimator(
            LINEAR, X, feature=0, methods=methods
        )
        for method, line in zip(methods, display.lines_[0], strict=True):
            assert line.get_color() == expected[method]


@pytest.mark.parametrize("methods", [["partial_dependence"], []])
@pytest.mark.parametrize("ordered", [False, True])
def test_methods_share_one_order_of_levels(methods, ordered):
    """That of the dtype; else that along which local effects are accumulated."""
    X, y = mixed_frame(80)
    X["colour"] = X["colour"].cat.as_ordered() if ordered else X["colour"].astype(str)
    model = encoded(LinearRegression()).fit(X, y)
    found = ALEDisplay.from_estimator(model, X, features=["colour", ("size", "colour")])
    levels = found.edges[0].tolist()
    natural = ["red", "green", "blue", "amber"] if ordered else sorted(set(X["colour"]))
    assert (levels == natural) == ordered
    display = EffectComparisonDisplay.from_estimator(
        model, X, feature="colour", methods=[*methods, "accumulated_local_effects"]
    )
    frame = display.to_frame()
    (ax,) = display.axes_.flat
    assert [text.get_text() for text in ax.get_xticklabels()] == levels
    for line, (_, rows) in zip(
        display.lines_[0], frame.groupby("method", sort=False), strict=True
    ):
        shown = np.array(levels)[line.get_xdata().round().astype(int)]
        assert dict(zip(shown, line.get_ydata(), strict=True)) == dict(
            zip(rows["x"], rows["value"], strict=True)
        )
    note = "" if ordered else "\n(ordered by similarity)"
    assert ax.get_xlabel() == found.axes_.flat[0].get_xlabel() == "colour" + note
    assert found.axes_.flat[1].get_ylabel() == "colour" + note
    plain = ALEDisplay.from_estimator(
        model, X, features=["colour"], categorical_order="sorted"
    )
    assert plain.axes_[0, 0].get_xlabel() == "colour"


def test_levels_in_the_order_of_the_first_methods_effect():
    X, y = mixed_frame()
    model = encoded(LinearRegression()).fit(X, y)
    display = EffectComparisonDisplay.from_estimator(
        model, X, feature="colour", order="effect"
    )
    (ax,) = display.axes_.flat
    frame = display.to_frame()
    first = frame[frame["method"] == "partial_dependence"].set_index("x")["value"]
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert names == first.sort_values(ascending=False).index.tolist()
    assert ax.get_xlabel() == "colour"
    with pytest.raises(ValueError, match="order=None must be"):
        display.plot(order=None)


@pytest.mark.parametrize("effect", METHODS)
def test_models_by_one_method(effect):
    ridge = Ridge(100.0).fit(X, Y)
    models = {"least squares": LINEAR, "ridge": ridge}
    display = EffectComparisonDisplay.from_estimators(models, X, 1, effect=effect)
    assert display.methods == [effect] * 2
    frame = display.to_frame()
    for name, line in zip(models, display.lines_[0], strict=True):
        alone = EffectComparisonDisplay.from_estimator(
            models[name], X, 1, methods=effect
        ).to_frame()
        own = frame[frame["model"] == name].drop(columns="model")
        pd.testing.assert_frame_equal(own.reset_index(drop=True), alone)
        assert_allclose(line.get_ydata(), alone["value"])
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["least squares", "ridge", "values in the data"]
    label = display.axes_[0, 0].get_ylabel()
    assert label.startswith("Prediction\n(centred ")


def test_models_are_inspected_on_the_same_subsample():
    display = EffectComparisonDisplay.from_estimators(
        [LINEAR, LINEAR], X, 1, subsample=20
    )
    first, second = display.lines_[0]
    assert_array_equal(first.get_xydata(), second.get_xydata())


def test_unknown_effect_of_models():
    with pytest.raises(ValueError, match="effect='ale' must be one of partial_dep"):
        EffectComparisonDisplay.from_estimators([LINEAR], X, 1, effect="ale")

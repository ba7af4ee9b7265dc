"""The contract of all displays of Shapley values, over the table of displays."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret import shapley
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import (
    ShapleyDependenceDisplay,
    ShapleyHeatmapDisplay,
    ShapleyImportanceDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
)
from sklearn_interpret.shapley._plot._base import ShapleyDisplay
from tests.figures import all_texts, draw
from tests.plotting.drawings import DISPLAYS, classes_of
from tests.shapley.data import grouped, mixed, numbers, three_outputs
from tests.shapley.inspectors import LinearShares

# What each display has to be told beside the explanation.
ASKED = {kind: DISPLAYS[kind.__name__].asked for kind in classes_of(shapley)}
OF_ONE_OUTPUT = [kind for kind in ASKED if kind is not ShapleyImportanceDisplay]
NUMBER = {ShapleyImportanceDisplay: "importance"}


@pytest.fixture(params=ASKED, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


# For what their base class does: of all outputs, of one feature, of one row.
of_the_base = pytest.mark.parametrize(
    "kind",
    [ShapleyImportanceDisplay, ShapleyDependenceDisplay, ShapleyWaterfallDisplay],
    ids=lambda kind: kind.__name__,
)


@pytest.fixture
def linear_by_default(monkeypatch):
    """Let displays explain predictors by the small inspector."""
    monkeypatch.setattr(ShapleyDisplay, "_kinds", (LinearShares, "explain"))


@pytest.fixture
def regression():
    X = pd.DataFrame(numbers().data, columns=list("abcde"))
    return LinearRegression().fit(X, X["a"] - 2 * X["b"] + 0.5 * X["d"]), X


def test_tables_of_numbers(kind):
    explanation = numbers()
    frame = kind.from_explanation(explanation, **ASKED[kind]).to_frame()
    assert isinstance(frame, pd.DataFrame)
    total = frame[NUMBER.get(kind, "shapley_value")].abs().sum()
    expected = {
        ShapleyImportanceDisplay: np.abs(explanation.values).sum() / 60,
        ShapleyDependenceDisplay: np.abs(explanation.values[:, 0]).sum(),
        ShapleyWaterfallDisplay: np.abs(explanation.values[0]).sum(),
    }
    assert total == pytest.approx(expected.get(kind, np.abs(explanation.values).sum()))


@of_the_base
def test_numbers_have_the_name_of_the_explanation(kind):
    explanation = replace(numbers(), value_name="fair share")
    display = kind.from_explanation(explanation, **ASKED[kind])
    texts = " ".join(all_texts(display.figure_))
    assert "Shapley" not in texts
    if kind in (
        ShapleyImportanceDisplay,
        ShapleySummaryDisplay,
        ShapleyDependenceDisplay,
        ShapleyHeatmapDisplay,
    ):
        assert "fair share" in texts
    assert NUMBER.get(kind, "fair_share") in display.to_frame()


@pytest.mark.parametrize("n_rows, n_features", [(1, 1), (60, 300)])
def test_all_sizes(kind, n_rows, n_features):
    explanation = numbers(n_rows, n_features)
    display = kind.from_explanation(explanation, **ASKED[kind])
    display.figure_.canvas.draw()
    width, height = display.figure_.get_size_inches()
    assert 4 < width < 12
    assert 2 < height < 12
    frame = display.to_frame()
    assert len(frame) >= (n_rows if kind is ShapleyDependenceDisplay else n_features)


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_all_magnitudes(kind, scale):
    display = kind.from_explanation(numbers(30, scale=scale), **ASKED[kind])
    display.figure_.canvas.draw()
    assert np.isfinite(display.ax_.get_xlim()).all()
    assert np.isfinite(display.ax_.get_ylim()).all()


@pytest.mark.parametrize("make", [mixed, grouped])
def test_values_of_all_kinds(kind, make):
    explanation = make()
    asked = ASKED[kind]
    if kind is ShapleyDependenceDisplay:
        asked = {"feature": 1}
    draw(kind.from_explanation(explanation, **asked).figure_)


@of_the_base
def test_polars_is_drawn_like_pandas(kind):
    one = mixed()
    columns = {
        name: [None if pd.isna(value) else value for value in column]
        for name, column in one.data.items()
    }
    sizes = pl.Enum(["S", "M", "L", "XL"])
    data = pl.DataFrame(columns, schema_overrides={"size": sizes})
    other = Explanation(
        one.values, one.base_values, data=data, feature_names=one.feature_names
    )
    displays = [kind.from_explanation(e, **ASKED[kind]) for e in (one, other)]
    pd.testing.assert_frame_equal(*[display.to_frame() for display in displays])
    first, second = (all_texts(display.figure_) for display in displays)
    assert first == second


def test_without_data(kind):
    full = numbers()
    bare = Explanation(full.values, full.base_values)
    if kind is ShapleyDependenceDisplay:
        with pytest.raises(ValueError, match="The explanation has no data"):
            kind.from_explanation(bare, feature=0)
        return
    display = kind.from_explanation(bare, **ASKED[kind])
    draw(display.figure_)
    assert "value" not in display.to_frame()


def test_names_are_drawn_literally(kind):
    names = [r"$\frac{broken$", "_under_", "<b>&^x$"]
    labels = ["_none", "$few$", r"\$many"]
    values = numbers(20, 3).values
    explanation = Explanation(
        np.stack([values, -values, values], axis=2),
        np.zeros((20, 3)),
        data=pd.DataFrame(numbers(20, 3).data, columns=names),
        feature_names=names,
        output_names=labels,
    )
    asked = {} if kind is ShapleyImportanceDisplay else {"target": "$few$"}
    display = kind.from_explanation(explanation, **ASKED[kind], **asked)
    texts = all_texts(display.figure_)
    wanted = names[:1] if kind is ShapleyDependenceDisplay else names
    for name in [*wanted, "$few$"]:
        assert any(name in text for text in texts), name


def test_long_names_are_cut_in_the_middle(kind):
    name = "a_feature_whose_name_goes_on_" * 8 + "and_ends"
    full = numbers(20, 2)
    explanation = Explanation(
        full.values, full.base_values, data=full.data, feature_names=[name, "b"]
    )
    display = kind.from_explanation(explanation, **ASKED[kind])
    shown = [text for text in all_texts(display.figure_) if "a_fea" in text]
    assert shown
    assert all(len(text) < 100 for text in shown)


@pytest.mark.parametrize("kind", OF_ONE_OUTPUT)
def test_an_output_must_be_chosen(kind):
    explanation = three_outputs()
    with pytest.raises(ValueError, match=r"3 outputs.*target=, out of 'low', '_mid'"):
        kind.from_explanation(explanation, **ASKED[kind])
    with pytest.raises(ValueError, match=r"target='lw' is not an output.*'low'"):
        kind.from_explanation(explanation, target="lw", **ASKED[kind])


@of_the_base
@pytest.mark.parametrize("wrong", [3, -1, True, np.zeros(2), 1.5])
def test_what_is_no_output(kind, wrong):
    with pytest.raises(ValueError, match="is not an output; there are"):
        kind.from_explanation(three_outputs(), target=wrong, **ASKED[kind])


@of_the_base
def test_an_output_by_name_or_position(kind):
    explanation = three_outputs()
    by_name = kind.from_explanation(explanation, target="_mid", **ASKED[kind])
    by_place = kind.from_explanation(explanation, target=1, **ASKED[kind])
    pd.testing.assert_frame_equal(by_name.to_frame(), by_place.to_frame())
    alone = Explanation(
        explanation.values[:, :, 1],
        explanation.base_values[:, 1],
        data=explanation.data,
        feature_names=explanation.feature_names,
        output_names=["_mid"],
    )
    one = kind.from_explanation(alone, **ASKED[kind])
    pd.testing.assert_frame_equal(by_name.to_frame(), one.to_frame())
    for display in (by_name, by_place, one):
        assert any("Response of _mid" in text for text in all_texts(display.figure_))
    named = kind.from_explanation(
        explanation, target=1, response_name="odds", **ASKED[kind]
    )
    assert any("odds of _mid" in text for text in all_texts(named.figure_))


@of_the_base
def test_integer_labels_are_no_positions(kind):
    full = three_outputs()
    explanation = Explanation(
        full.values, full.base_values, data=full.data, output_names=[2, 5, 1]
    )
    frame = kind.from_explanation(explanation, target=1, **ASKED[kind]).to_frame()
    number = NUMBER.get(kind, "shapley_value")
    named = kind.from_explanation(full, target=2, **ASKED[kind]).to_frame()
    assert_allclose(frame[number], named[number])
    with pytest.raises(ValueError, match="target=0 is not an output"):
        kind.from_explanation(explanation, target=0, **ASKED[kind])


@of_the_base
@pytest.mark.parametrize(
    "values, message",
    [
        (np.zeros((0, 3)), "The explanation has no rows"),
        (np.zeros((2, 0)), "The explanation has no features"),
        ([[0.0, 1.0], [np.nan, 0.0]], r"values are not finite in row 1 \(1 such rows"),
        ([[0.0, np.inf], [np.nan, 0.0]], r"not finite in row 0 \(2 such rows"),
    ],
)
def test_nothing_to_draw(kind, values, message):
    values = np.asarray(values)
    explanation = Explanation(values, np.zeros(len(values)))
    with pytest.raises(ValueError, match=message):
        kind.from_explanation(explanation, **ASKED[kind])


@of_the_base
def test_what_is_no_explanation(kind):
    with pytest.raises(TypeError, match="An Explanation is needed; got ndarray"):
        kind.from_explanation(np.zeros((3, 2)), **ASKED[kind])


@of_the_base
def test_predictor_and_inspector_draw_the_same(kind, regression, linear_by_default):
    model, X = regression
    coef = model.coef_.copy()
    before = X.copy()
    one = kind.from_estimator(model, X, **ASKED[kind])
    inspector = LinearShares(FrozenEstimator(model)).fit(X)
    other = kind.from_estimator(inspector, X, **ASKED[kind])
    by_hand = kind.from_explanation(inspector.explain(X), **ASKED[kind])
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
    pd.testing.assert_frame_equal(
        one.to_frame().drop(columns="row", errors="ignore"),
        by_hand.to_frame().drop(columns="row", errors="ignore"),
    )
    pd.testing.assert_frame_equal(X, before)
    assert_array_equal(model.coef_, coef)
    assert any("Prediction" in text for text in all_texts(one.figure_))


@of_the_base
def test_inspectors_are_not_fitted_again_and_explain_once(
    kind, regression, monkeypatch
):
    model, X = regression
    inspector = LinearShares(FrozenEstimator(model)).fit(X)
    monkeypatch.setattr(LinearShares, "fit", None)
    display = kind.from_estimator(inspector, X, **ASKED[kind])
    display.plot().to_frame()
    alone = kind is ShapleyWaterfallDisplay
    assert inspector.n_explained_ == (1 if alone else len(X))


@of_the_base
def test_weights_are_those_of_the_background(kind, regression, linear_by_default):
    model, X = regression
    weights = np.r_[np.ones(20), np.zeros(40)]
    display = kind.from_estimator(model, X, sample_weight=weights, **ASKED[kind])
    other = kind.from_estimator(model, X, background=X[:20], **ASKED[kind])
    number = NUMBER.get(kind, "shapley_value")
    assert_allclose(display.to_frame()[number], other.to_frame()[number])


@of_the_base
def test_classes(kind, regression, linear_by_default):
    _, X = regression
    labels = np.array(["low", "mid", "top"])[np.digitize(X["a"] + X["b"], [-0.5, 0.5])]
    model = LogisticRegression().fit(X, labels)
    asked = {**ASKED[kind], "response_method": "decision_function"}
    display = kind.from_estimator(model, X, target="mid", **asked)
    texts = all_texts(display.figure_)
    assert any("Decision function of mid" in text for text in texts)
    assert not any("[mid][mid]" in text for text in texts)
    if kind is ShapleyImportanceDisplay:
        display = kind.from_estimator(model, X, **asked)
        assert {"low", "mid", "top"} <= set(all_texts(display.figure_))
    else:
        with pytest.raises(ValueError, match=r"3 outputs.*'low', 'mid', 'top'"):
            kind.from_estimator(model, X, **asked)
    binary = LogisticRegression().fit(X, labels == "mid")
    display = kind.from_estimator(binary, X, **asked)
    texts = all_texts(display.figure_)
    assert any("Log-odds of True" in text for text in texts)


@of_the_base
def test_explain_must_return_an_explanation(kind, regression, monkeypatch):
    model, X = regression
    inspector = LinearShares(FrozenEstimator(model)).fit(X)
    monkeypatch.setattr(LinearShares, "explain", lambda self, X: np.zeros((60, 5)))
    with pytest.raises(TypeError, match=r"LinearShares.explain returned ndarray"):
        kind.from_estimator(inspector, X, **ASKED[kind])


@of_the_base
def test_one_row_is_no_background_for_itself(kind, regression, linear_by_default):
    model, X = regression
    with pytest.raises(ValueError, match=r"X has one row.*pass background="):
        kind.from_estimator(model, X[:1], **ASKED[kind])
    display = kind.from_estimator(model, X[:1], background=X, **ASKED[kind])
    full = kind.from_estimator(model, X, **ASKED[kind])
    if kind is ShapleyWaterfallDisplay:
        pd.testing.assert_frame_equal(display.to_frame(), full.to_frame())
    assert len(display.to_frame()) <= len(full.to_frame())


@of_the_base
def test_an_inspector_may_say_what_it_explains(kind, regression):
    model, X = regression
    inspector = LinearShares(FrozenEstimator(model)).fit(X)
    explanation = replace(inspector.explain(X), response_name="margin")
    display = kind.from_explanation(explanation, **ASKED[kind])
    assert any("Margin" in shown for shown in all_texts(display.figure_))
    display = kind.from_estimator(inspector, X, response_name="odds", **ASKED[kind])
    assert any("odds" in shown for shown in all_texts(display.figure_))


@of_the_base
def test_foreign_predictors_and_inspectors(kind, regression, linear_by_default):
    _, X = regression

    class Foreign:
        """A predictor of no scikit-learn class."""

        coef_, intercept_ = np.arange(5.0), 1.0

        def fit(self, X, y):
            raise AssertionError("fitted already")

        def predict(self, X):
            return np.asarray(X) @ self.coef_ + self.intercept_

    class Explains:
        """An inspector of no class of ours."""

        def fit(self, X):
            raise AssertionError("fitted already")

        def explain(self, X):
            values = np.asarray(X) * np.arange(5.0)
            return Explanation(values, np.ones(len(X)), data=X, feature_names=X.columns)

        def __sklearn_is_fitted__(self):
            return True

    one = kind.from_estimator(Foreign(), X, background=np.zeros((1, 5)), **ASKED[kind])
    other = kind.from_estimator(Explains(), X, **ASKED[kind])
    number = NUMBER.get(kind, "shapley_value")
    assert_allclose(one.to_frame()[number], other.to_frame()[number])

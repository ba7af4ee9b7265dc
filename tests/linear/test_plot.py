"""Displays of linear models show what the inspector found."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.linear import (
    CoefficientDisplay,
    CoefficientInference,
    LinearEffectDisplay,
)

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["age", "$dose_", "size"])
X.index = [f"row {i}" for i in range(40)]
COUNTS = RNG.poisson(np.exp(0.5 + 0.8 * X["age"]))
LABELS = np.where(X["age"] + RNG.logistic(size=40) > 0, "yes", "no")
MODEL = PoissonRegressor(alpha=0, tol=1e-9).fit(X, COUNTS)


def inspector():
    return CoefficientInference(FrozenEstimator(MODEL)).fit(X, COUNTS)


def names_drawn(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_weights_and_intervals():
    display = CoefficientDisplay.from_estimator(MODEL, X, COUNTS, interval="profile")
    expected = inspector().set_params(interval="profile").fit(X, COUNTS).to_frame()
    frame = display.to_frame().set_index("term")
    assert_allclose(frame, expected[frame.columns][:3])
    assert frame.index.tolist() == list(X.columns)
    assert names_drawn(display) == ["age", r"\$dose_", "size"]
    assert_allclose(display.points_.get_offsets()[:, 0], frame["coef"])
    ends = [path.vertices[:, 0] for path in display.intervals_.get_paths()]
    assert_allclose(ends, frame[["low", "high"]])
    assert "95 %" in display.ax_.get_xlabel()
    assert display.zero_.get_xdata() == [0, 0]


def test_fitted_inspectors_are_shown_as_they_are():
    fitted = inspector()
    display = CoefficientDisplay.from_estimator(fitted)
    expected = CoefficientDisplay.from_estimator(MODEL, X, COUNTS)
    pd.testing.assert_frame_equal(display.to_frame(), expected.to_frame())


def test_the_clearest_weights_are_drawn():
    display = CoefficientDisplay.from_estimator(MODEL, X, COUNTS, max_entries=1)
    (name,) = names_drawn(display)
    assert name == "age"
    assert "terms not drawn: 2" in display.ax_.get_xlabel()


def test_ratios_of_odds_and_means():
    """On a logarithmic axis around one, of the class that is asked for."""
    model = LogisticRegression(C=np.inf).fit(X, LABELS)
    display = CoefficientDisplay.from_estimator(
        model, X, LABELS, exponentiate=True, target="no"
    )
    frame = display.to_frame()
    assert frame["class"].tolist() == ["no"] * 3
    expected = np.exp(frame[["coef", "low", "high"]].to_numpy().T)
    assert_allclose(display.points_.get_offsets()[:, 0], expected[0])
    ends = [path.vertices[:, 0] for path in display.intervals_.get_paths()]
    assert_allclose(np.transpose(ends), expected[1:])
    assert (display.ax_.get_xscale(), display.zero_.get_xdata()) == ("log", [1, 1])
    label = "Odds ratio, with its 95 % interval\n(odds of no)"
    assert display.ax_.get_xlabel() == label
    plain = CoefficientDisplay.from_estimator(model, X, LABELS)
    assert plain.ax_.get_xlabel().endswith("(log-odds of yes)")
    means = CoefficientDisplay.from_estimator(inspector(), exponentiate=True)
    assert means.ax_.get_xlabel().startswith("Ratio of means")
    with pytest.raises(ValueError, match="these are of the prediction"):
        CoefficientDisplay([1.0], [0], [2], term_names="a").plot(exponentiate=True)


def test_columns_of_a_feature_are_one_entry():
    """Named with its value where one row is marked."""
    frame = X.assign(kind=pd.Categorical(np.resize(["u", "v", "w"], 40)))
    levels = OneHotEncoder(sparse_output=False, drop="first")
    encoder = make_column_transformer((levels, ["kind"]), remainder="passthrough")
    model = make_pipeline(encoder, PoissonRegressor(alpha=0)).fit(frame, COUNTS)
    display = LinearEffectDisplay.from_estimator(
        model, frame, COUNTS, rows=[1], max_entries=None
    )
    assert len(display.boxes_) == 4
    assert "kind = v" in names_drawn(display)
    assert f"age = {X['age'].iloc[1]:.4g}" in names_drawn(display)
    assert sorted(display.to_frame()["term"]) == sorted(frame.columns)
    two = LinearEffectDisplay.from_estimator(model, frame, COUNTS, rows=[1, 2])
    assert "kind" in names_drawn(two)


def test_effects():
    display = LinearEffectDisplay.from_estimator(MODEL, X, COUNTS, rows=[3, -1])
    effects = X * MODEL.coef_
    order = effects.std().sort_values(ascending=False).index
    frame = display.to_frame().set_index("term")
    assert frame.index.tolist() == order.tolist()
    quantiles = effects[order].quantile([0, 0.25, 0.5, 0.75, 1]).T
    assert_allclose(frame, quantiles)
    lefts = [box.get_x() for box in display.boxes_]
    assert_allclose(lefts, frame["first_quartile"])
    for points, row in zip(display.points_, (3, -1), strict=True):
        assert_allclose(points.get_offsets()[:, 0], effects[order].iloc[row])
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["row 3", "row 39"]
    assert display.ax_.get_xlabel().splitlines()[1:] == [
        "(log of the prediction)",
        "(boxes: middle half; whiskers: all rows)",
    ]
    shown = LinearEffectDisplay.from_estimator(inspector(), X[:5], max_entries=2)
    assert names_drawn(shown)[1] == "sum of 2 other terms"
    ends = [path.vertices[:, 0] for path in shown.whiskers_.get_paths()]
    sums = effects[order[1:]][:5].sum(axis=1)
    assert_allclose(ends[1], [sums.min(), sums.max()])
    with pytest.raises(ValueError, match=r"LinearEffectDisplay shows rows: pass X\."):
        LinearEffectDisplay.from_estimator(inspector())


def test_effects_of_classes_and_lists():
    model = LogisticRegression(C=np.inf).fit(X, LABELS)
    display = LinearEffectDisplay.from_estimator(model, X, LABELS)
    assert "\n(log-odds of yes)\n" in display.ax_.get_xlabel()
    assert display.legend_ is None
    rows, y = X.to_numpy().tolist(), COUNTS.tolist()
    model = LinearRegression().fit(rows, y)
    display = LinearEffectDisplay.from_estimator(model, rows, y, rows=[0])
    assert display.legend_.get_texts()[0].get_text() == "0"


def test_bad_input():
    arrays = [1.0, 2.0], [0, 1], [2, 3]
    with pytest.raises(ValueError, match=r"\(3,\) is needed, for 3 term names"):
        CoefficientDisplay(*arrays, term_names="abc").plot()
    with pytest.raises(ValueError, match="not finite"):
        CoefficientDisplay([np.nan, 1], *arrays[1:], term_names="ab").plot()
    with pytest.raises(ValueError, match="max_entries=0"):
        CoefficientDisplay(*arrays, term_names="ab").plot(max_entries=0)
    effects = LinearEffectDisplay(X.to_numpy(), term_names="abc")
    with pytest.raises(ValueError, match="row=40 is not one of the 40 rows"):
        effects.plot(rows=[40])
    with pytest.raises(ValueError, match="11 rows to mark; at most 10"):
        effects.plot(rows=range(11))
    with pytest.raises(ValueError, match=r"\(40, 3\); \(n, 2\) is needed"):
        LinearEffectDisplay(X.to_numpy(), term_names="ab").plot()
    with pytest.raises(ValueError, match="not finite"):
        LinearEffectDisplay([[np.inf]], term_names="a").plot()

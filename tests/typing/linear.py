"""Types of linear models, as users see them."""

from typing import assert_type

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.linear_model import LinearRegression

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.linear import (
    CoefficientDisplay,
    CoefficientInference,
    LinearEffectDisplay,
    SparseLinearClassifier,
    SparseLinearRegressor,
    SparsePathDisplay,
)

Floats = NDArray[np.float64]


def coefficient_inference(X: Floats, y: Floats) -> None:
    inference = CoefficientInference(LinearRegression(), covariance="HC3").fit(X, y)
    assert_type(inference, CoefficientInference)
    assert_type(inference.term_names_, list[str])
    assert_type(inference.coef_, Floats)
    assert_type(inference.standard_errors_, Floats)
    assert_type(inference.pvalues_, Floats)
    assert_type(inference.intervals_low_, Floats)
    assert_type(inference.exponentiated_, Floats)
    assert_type(inference.dispersion_, float)
    assert_type(inference.adjusted_r2_, float)
    assert_type(inference.intercept_, float)
    assert_type(inference.to_frame(), DataFrame)
    assert_type(inference.transform(X), Floats)
    assert_type(inference.explain(X), Explanation)
    display = CoefficientDisplay.from_estimator(inference, max_entries=10)
    assert_type(display, CoefficientDisplay)
    assert_type(display.intervals_, LineCollection)
    assert_type(display.plot(exponentiate=True), CoefficientDisplay)
    assert_type(display.to_frame(), DataFrame)
    effects = LinearEffectDisplay.from_estimator(inference, X, y, rows=[0])
    assert_type(effects, LinearEffectDisplay)
    assert_type(effects.boxes_, BarContainer)
    assert_type(effects.plot(), LinearEffectDisplay)
    assert_type(effects.to_frame(), DataFrame)


def sparse_linear(X: Floats, y: Floats) -> None:
    model = SparseLinearRegressor(n_features_to_select=3).fit(X, y)
    assert_type(model, SparseLinearRegressor)
    assert_type(model.coef_, Floats)
    assert_type(model.intercept_, float)
    assert_type(model.entry_order_, NDArray[np.intp])
    assert_type(model.alpha_, float)
    assert_type(model.coef_path_, Floats)
    assert_type(model.predict(X), Floats)
    assert_type(model.score(X, y), float)
    assert_type(model.transform(X), Floats)
    display = SparsePathDisplay.from_estimator(model, max_names=5)
    assert_type(display, SparsePathDisplay)
    assert_type(display.model_lines_, list[Line2D])
    assert_type(display.plot(n_cols=1), SparsePathDisplay)
    assert_type(display.to_frame(), DataFrame)
    classifier = SparseLinearClassifier(n_features_to_select=2).fit(X, y)
    assert_type(classifier, SparseLinearClassifier)
    assert_type(classifier.intercept_, Floats)
    assert_type(classifier.decision_function(X), Floats)
    assert_type(classifier.predict_proba(X), Floats)

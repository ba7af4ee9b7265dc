"""Types of additive models, as users see them."""

from typing import assert_type

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from pandas import DataFrame

from sklearn_interpret.additive import (
    BasisCheck,
    GAMClassifier,
    GAMRegressor,
    SmoothTermDisplay,
)
from sklearn_interpret.explanations import Explanation

Floats = NDArray[np.float64]


def numbers(X: Floats, y: Floats) -> None:
    gam = GAMRegressor(terms={"age": "spline", ("age", "bmi"): "tensor"}).fit(X, y)
    assert_type(gam, GAMRegressor)
    assert_type(gam.term_names_, NDArray[np.object_])
    assert_type(gam.intercept_, float)
    assert_type(gam.coef_, Floats)
    assert_type(gam.covariance_, Floats)
    assert_type(gam.scale_, float)
    assert_type(gam.theta_, float | None)
    assert_type(gam.effective_dof_, Floats)
    assert_type(gam.pvalues_, Floats)
    assert_type(gam.n_iter_, int)
    assert_type(gam.predict(X), Floats)
    assert_type(gam.predict(X, return_std=True), tuple[Floats, Floats])
    assert_type(gam.predict_interval(X), tuple[Floats, Floats])
    assert_type(gam.transform(X), Floats)
    assert_type(gam.partial_residuals(X, y), Floats)
    assert_type(gam.concurvity_, Floats)
    check = gam.check(X, y)
    assert_type(check, BasisCheck)
    assert_type(check.pvalue, Floats)
    assert_type(check.to_frame(), DataFrame)
    assert_type(gam.sample_effects(X, n_draws=5, random_state=0), Floats)
    assert_type(gam.summary(), str)
    assert_type(gam.to_frame(), DataFrame)
    assert_type(gam.explain(X), Explanation)
    assert_type(gam.score(X, y), float)
    display = SmoothTermDisplay.from_estimator(gam, X, y, terms=["age"], rug=False)
    assert_type(display, SmoothTermDisplay)
    assert_type(display.plot(band=False), SmoothTermDisplay)
    assert_type(display.lines_, list[list[Line2D]])
    assert_type(display.to_frame(), DataFrame)


def classes(X: Floats, y: list[str]) -> None:
    gam = GAMClassifier(n_splines=10).fit(X, y)
    assert_type(gam, GAMClassifier)
    assert_type(gam.intercept_, float | Floats)
    assert_type(gam.coef_, Floats)
    assert_type(gam.decision_function(X), Floats)
    assert_type(gam.predict_proba(X), Floats)
    assert_type(gam.explain(X), Explanation)
    assert_type(SmoothTermDisplay.from_estimator(gam), SmoothTermDisplay)

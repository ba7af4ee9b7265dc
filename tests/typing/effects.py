"""Types of effects, as users see them."""

from typing import Any, assert_type

import numpy as np
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    CeterisParibusDisplay,
    ConditionalDependence,
    ConditionalDependenceDisplay,
    EffectComparisonDisplay,
    IndividualConditionalExpectation,
    IndividualConditionalExpectationDisplay,
    PartialDependence,
    PartialDependenceDisplay,
    Region,
    RegionalEffectDisplay,
    RegionalEffects,
)

Floats = NDArray[np.float64]
MODEL = LinearRegression()


def partial_dependence(X: Floats, y: Floats) -> None:
    effect = PartialDependence(MODEL, features=[0], max_rows=10**6).fit(X, y)
    assert_type(effect, PartialDependence)
    assert_type(effect.average_, list[Floats])
    assert_type(effect.standard_errors_, list[Floats] | None)
    assert_type(effect.shape_standard_errors_, list[Floats | None] | None)
    assert_type(effect.missing_average_, list[float | Floats | None])
    assert_type(effect.feature_importances_, Floats)
    assert_type(effect.features_, list[tuple[int, ...]])
    assert_type(effect.effect_names_, list[str | tuple[str, str]])
    assert_type(effect.categorical_features_, NDArray[np.bool_])
    assert_type(effect.n_features_in_, int)
    assert_type(effect.transform(X), Floats)
    assert_type(effect.get_feature_names_out(), NDArray[np.object_])
    display = PartialDependenceDisplay.from_estimator(effect, band=False)
    assert_type(display, PartialDependenceDisplay)
    assert_type(display.figure_, Figure)
    assert_type(display.plot(), PartialDependenceDisplay)
    assert_type(display.to_frame(), DataFrame)


def individual_conditional_expectation(X: Floats, y: Floats) -> None:
    effect = IndividualConditionalExpectation(MODEL, center="start").fit(X, y)
    assert_type(effect, IndividualConditionalExpectation)
    assert_type(effect.curves_, list[Floats])
    assert_type(effect.average_, list[Floats])
    assert_type(effect.derivatives_, list[Floats | None])
    assert_type(effect.derivative_std_, list[Floats | None])
    assert_type(effect.heterogeneity_, Floats)
    assert_type(effect.sample_indices_, NDArray[np.intp])
    assert_type(effect.transform(X), Floats)
    display = IndividualConditionalExpectationDisplay.from_estimator(effect, n_cols=1)
    assert_type(display, IndividualConditionalExpectationDisplay)
    assert_type(display.lines_, list[list[Line2D]])
    assert_type(display.plot(), IndividualConditionalExpectationDisplay)
    assert_type(display.to_frame(), DataFrame)


def accumulated_local_effects(X: Floats, y: Floats) -> None:
    effect = AccumulatedLocalEffects(MODEL, confidence_level=0.95).fit(X, y)
    assert_type(effect, AccumulatedLocalEffects)
    assert_type(effect.by_similarity_, list[bool | tuple[bool, bool]])
    assert_type(effect.effects_, list[Floats])
    assert_type(effect.local_effects_, list[Floats])
    assert_type(effect.local_effects_std_, list[Floats])
    assert_type(effect.interval_counts_, list[Floats])
    assert_type(effect.intervals_low_, list[Floats | None])
    assert_type(effect.intervals_high_, list[Floats | None])
    assert_type(effect.n_missing_, Floats)
    assert_type(effect.transform(X), Floats)
    display = AccumulatedLocalEffectsDisplay.from_estimator(effect, n_cols=2)
    assert_type(display, AccumulatedLocalEffectsDisplay)
    assert_type(display.legend_, Legend | None)
    assert_type(display.plot(), AccumulatedLocalEffectsDisplay)
    assert_type(display.to_frame(), DataFrame)


def conditional_dependence(X: Floats, y: Floats) -> None:
    effect = ConditionalDependence(MODEL, n_intervals=10).fit(X, y)
    assert_type(effect, ConditionalDependence)
    assert_type(effect.average_, list[Floats])
    assert_type(effect.standard_errors_, list[Floats])
    assert_type(effect.interval_counts_, list[Floats])
    assert_type(effect.n_missing_, Floats)
    assert_type(effect.transform(X), Floats)
    display = ConditionalDependenceDisplay.from_estimator(MODEL, X, features=[0])
    assert_type(display, ConditionalDependenceDisplay)
    assert_type(display.figure_, Figure)
    assert_type(display.plot(), ConditionalDependenceDisplay)
    assert_type(display.to_frame(), DataFrame)


def regional_effects(X: Floats, y: Floats) -> None:
    effect = RegionalEffects(MODEL, features=[0], min_gain=0.2).fit(X, y)
    assert_type(effect, RegionalEffects)
    assert_type(effect.heterogeneity_, Floats)
    assert_type(effect.curves_, list[Floats])
    assert_type(effect.transform(X), Floats)
    assert_type(effect.to_text(), str)
    assert_type(effect.to_frame(), DataFrame)
    region: Region = effect.regions_[0][0]
    assert_type(region.holds(X), NDArray[np.bool_])
    display = RegionalEffectDisplay.from_estimator(effect, X, 0, n_curves=None)
    assert_type(display, RegionalEffectDisplay)
    assert_type(display.lines_, list[list[Line2D]])
    assert_type(display.plot(), RegionalEffectDisplay)
    assert_type(display.to_frame(), DataFrame)


def comparison(X: Floats, cv_results: dict[str, Any]) -> None:
    display = EffectComparisonDisplay.from_estimator(MODEL, X, 0)
    assert_type(display, EffectComparisonDisplay)
    assert_type(display.legend_, Legend)
    assert_type(display.plot(share_y=False), EffectComparisonDisplay)
    assert_type(display.to_frame(), DataFrame)
    of_folds = EffectComparisonDisplay.from_cv_results(cv_results, X, 0)
    assert_type(of_folds, EffectComparisonDisplay)
    models = EffectComparisonDisplay.from_estimators([MODEL], X, 0)
    assert_type(models.models, list[str] | None)


def ceteris_paribus(X: Floats) -> None:
    display = CeterisParibusDisplay.from_estimator(MODEL, X, [0], row=3)
    assert_type(display, CeterisParibusDisplay)
    assert_type(display.marks_, list[list[Line2D]])
    models = CeterisParibusDisplay.from_estimators({"linear": MODEL}, X, row=3)
    assert_type(models, CeterisParibusDisplay)
    assert_type(models.to_frame(), DataFrame)

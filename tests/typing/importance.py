"""Types of importance, as users see them."""

from typing import Any, assert_type

import numpy as np
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.container import BarContainer
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.ensemble import RandomForestRegressor

from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.importance import (
    SAGE,
    ConditionalImportanceDisplay,
    ConditionalImportanceTest,
    DropColumnImportance,
    PartialDependenceImportance,
    PermutationImportance,
    PermutationImportanceDisplay,
    PermutationTest,
)

Floats = NDArray[np.float64]
MODEL = RandomForestRegressor()


def permutation_importance(X: Floats, y: Floats, cv_results: dict[str, Any]) -> None:
    inspector = PermutationImportance(MODEL, scoring=["r2"], n_repeats=5).fit(X, y)
    assert_type(inspector, PermutationImportance)
    assert_type(inspector.importances_, Floats)
    assert_type(inspector.importances_mean_, Floats)
    assert_type(inspector.importances_std_, Floats)
    assert_type(inspector.feature_importances_, Floats)
    assert_type(inspector.baseline_score_, float)
    assert_type(inspector.features_, list[tuple[int, ...]])
    assert_type(inspector.player_names_, list[str])
    assert_type(inspector.score(X, y), float)
    display = PermutationImportanceDisplay.from_estimator(
        inspector, X_test=X, y_test=y, score_name="r2"
    )
    assert_type(display, PermutationImportanceDisplay)
    assert_type(display.bars_, list[BarContainer])
    assert_type(display.plot(kind="box"), PermutationImportanceDisplay)
    assert_type(display.to_frame(), DataFrame)
    of_folds = PermutationImportanceDisplay.from_cv_results(cv_results, X, y)
    assert_type(of_folds, PermutationImportanceDisplay)


def drop_column_importance(X: Floats, y: Floats) -> None:
    inspector = DropColumnImportance(MODEL, cv=3).fit(X, y)
    assert_type(inspector, DropColumnImportance)
    assert_type(inspector.importances_mean_, Floats)
    assert_type(inspector.baseline_scores_, Floats)


def partial_dependence_importance(X: Floats, y: Floats) -> None:
    inspector = PartialDependenceImportance(MODEL, grid_resolution=20).fit(X, y)
    assert_type(inspector, PartialDependenceImportance)
    assert_type(inspector.effect_, PartialDependence)
    assert_type(inspector.effect_.average_, list[Floats])
    assert_type(inspector.feature_importances_, Floats)


def permutation_test(X: Floats, y: Floats) -> None:
    inspector = PermutationTest(MODEL, n_permutations=20).fit(X, y)
    assert_type(inspector, PermutationTest)
    assert_type(inspector.pvalues_, Floats)
    assert_type(inspector.null_importances_, Floats)
    assert_type(
        PermutationImportanceDisplay.from_estimator(inspector),
        PermutationImportanceDisplay,
    )


def conditional_importance_test(X: Floats, y: Floats) -> None:
    inspector = ConditionalImportanceTest(test="loco", nuisance=MODEL).fit(X, y)
    assert_type(inspector, ConditionalImportanceTest)
    assert_type(inspector.adjusted_pvalues_, Floats)
    assert_type(inspector.intervals_low_, Floats)
    assert_type(inspector.nuisance_scores_, Floats)
    display = ConditionalImportanceDisplay.from_estimator(MODEL, X, y, test="gcm")
    assert_type(display, ConditionalImportanceDisplay)
    assert_type(display.bars_, BarContainer)
    assert_type(display.marks_, PathCollection)
    assert_type(display.intervals_, LineCollection | None)
    assert_type(display.to_frame(), DataFrame)


def sage(X: Floats, y: Floats) -> None:
    inspector = SAGE(MODEL, loss="squared_error", n_permutations=10).fit(X, y)
    assert_type(inspector, SAGE)
    assert_type(inspector.standard_errors_, Floats)
    assert_type(inspector.loss_reduction_, float)
    assert_type(inspector.method_, str)

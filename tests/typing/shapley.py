"""Types of Shapley values, as users see them."""

from typing import Literal, assert_type

import numpy as np
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import (
    BreakDown,
    BreakDownExplanation,
    ExactShapley,
    KernelSHAP,
    LinearSHAP,
    ShapleyDecisionDisplay,
    ShapleyDependenceDisplay,
    ShapleyForceDisplay,
    ShapleyHeatmapDisplay,
    ShapleyImportanceDisplay,
    ShapleyInteractionDisplay,
    ShapleySampling,
    ShapleySummaryDisplay,
    ShapleyValues,
    ShapleyWaterfallDisplay,
    TreeSHAP,
)

Floats = NDArray[np.float64]
MODEL = RandomForestRegressor()


def shapley_values(X: Floats, y: Floats) -> None:
    inspector = ShapleyValues(MODEL, budget=500).fit(X, y)
    assert_type(inspector, ShapleyValues)
    assert_type(
        inspector.algorithm_,
        Literal["tree", "linear", "exact", "kernel", "permutation"],
    )
    assert_type(inspector.inspector_.explain(X), Explanation)
    assert_type(inspector.explain(X), Explanation)
    assert_type(inspector.interaction_values(X), Floats)


def tree_shap(X: Floats, y: Floats) -> None:
    inspector = TreeSHAP(MODEL, perturbation="tree_path_dependent").fit(X, y)
    assert_type(inspector, TreeSHAP)
    assert_type(inspector.base_values_, float | Floats)
    assert_type(inspector.feature_importances_, Floats)
    assert_type(inspector.features_, list[tuple[int, ...]])
    assert_type(inspector.player_names_, list[str])
    assert_type(inspector.response_method_, str)
    assert_type(inspector.transform(X), Floats)
    assert_type(inspector.get_feature_names_out(), NDArray[np.object_])
    assert_type(inspector.interaction_values(X), Floats)
    explanation = inspector.explain(X)
    assert_type(explanation, Explanation)
    assert_type(explanation.values, Floats)
    assert_type(explanation.to_frame(), DataFrame)


def linear_shap(X: Floats, y: Floats) -> None:
    inspector = LinearSHAP(LinearRegression(), target=None).fit(X, y)
    assert_type(inspector, LinearSHAP)
    assert_type(inspector.explain(X), Explanation)


def exact_shapley(X: Floats, y: Floats) -> None:
    inspector = ExactShapley(MODEL, link="identity").fit(X, y)
    assert_type(inspector, ExactShapley)
    assert_type(inspector.explain(X), Explanation)
    assert_type(inspector.interaction_values(X), Floats)


def kernel_shap(X: Floats, y: Floats) -> None:
    inspector = KernelSHAP(MODEL, n_coalitions=100, random_state=0).fit(X, y)
    assert_type(inspector, KernelSHAP)
    assert_type(inspector.explain(X), Explanation)


def shapley_sampling(X: Floats, y: Floats) -> None:
    inspector = ShapleySampling(MODEL, n_permutations=10).fit(X, y)
    assert_type(inspector, ShapleySampling)
    assert_type(inspector.explain(X).standard_errors, Floats | None)


def break_down(X: Floats, y: Floats) -> None:
    inspector = BreakDown(MODEL, interactions=True).fit(X, y)
    assert_type(inspector, BreakDown)
    explanation = inspector.explain(X)
    assert_type(explanation, BreakDownExplanation)
    assert_type(explanation.step_numbers, NDArray[np.intp])
    assert_type(explanation.steps(0), list[tuple[int, ...]])
    assert_type(explanation.step_names(0), list[str])
    assert_type(explanation[0], BreakDownExplanation)


def displays_of_one_row(X: Floats, explanation: Explanation) -> None:
    waterfall = ShapleyWaterfallDisplay.from_estimator(MODEL, X, row=1)
    assert_type(waterfall, ShapleyWaterfallDisplay)
    assert_type(waterfall.prediction_line_, Line2D)
    assert_type(waterfall.errors_, LineCollection | None)
    assert_type(waterfall.plot(max_entries=5), ShapleyWaterfallDisplay)
    assert_type(waterfall.to_frame(), DataFrame)
    force = ShapleyForceDisplay.from_explanation(explanation)
    assert_type(force, ShapleyForceDisplay)
    assert_type(force.labels_, list[Text])
    assert_type(force.row_order_, NDArray[np.intp])
    assert_type(force.plot(), ShapleyForceDisplay)
    decision = ShapleyDecisionDisplay.from_explanation(explanation, highlight=[0])
    assert_type(decision, ShapleyDecisionDisplay)
    assert_type(decision.lines_, LineCollection)
    assert_type(decision.to_frame(), DataFrame)


def displays_of_all_rows(X: Floats, explanation: Explanation) -> None:
    summary = ShapleySummaryDisplay.from_estimator(MODEL, X, max_entries=10)
    assert_type(summary, ShapleySummaryDisplay)
    assert_type(summary.points_, list[PathCollection] | None)
    assert_type(summary.plot(), ShapleySummaryDisplay)
    assert_type(summary.to_frame(), DataFrame)
    heatmap = ShapleyHeatmapDisplay.from_explanation(explanation)
    assert_type(heatmap, ShapleyHeatmapDisplay)
    assert_type(heatmap.heatmap_, QuadMesh)
    assert_type(heatmap.row_order_, NDArray[np.intp])
    importance = ShapleyImportanceDisplay.from_estimator(MODEL, X)
    assert_type(importance, ShapleyImportanceDisplay)
    assert_type(importance.bars_, list[BarContainer])
    assert_type(importance.to_frame(), DataFrame)
    interaction = ShapleyInteractionDisplay.from_estimator(TreeSHAP(MODEL), X)
    assert_type(interaction, ShapleyInteractionDisplay)
    assert_type(interaction.heatmap_, QuadMesh)
    dependence = ShapleyDependenceDisplay.from_explanation(explanation, "age")
    assert_type(dependence, ShapleyDependenceDisplay)
    assert_type(dependence.points_, list[PathCollection])
    assert_type(dependence.plot(histogram=False), ShapleyDependenceDisplay)

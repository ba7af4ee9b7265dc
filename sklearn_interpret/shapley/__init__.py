"""Shapley values of features."""

from sklearn_interpret.shapley._break_down import BreakDown, BreakDownExplanation
from sklearn_interpret.shapley._exact import ExactShapley
from sklearn_interpret.shapley._kernel import KernelSHAP
from sklearn_interpret.shapley._linear import LinearSHAP
from sklearn_interpret.shapley._plot._decision import ShapleyDecisionDisplay
from sklearn_interpret.shapley._plot._dependence import ShapleyDependenceDisplay
from sklearn_interpret.shapley._plot._force import ShapleyForceDisplay
from sklearn_interpret.shapley._plot._heatmap import ShapleyHeatmapDisplay
from sklearn_interpret.shapley._plot._importance import ShapleyImportanceDisplay
from sklearn_interpret.shapley._plot._interaction import ShapleyInteractionDisplay
from sklearn_interpret.shapley._plot._summary import ShapleySummaryDisplay
from sklearn_interpret.shapley._plot._waterfall import ShapleyWaterfallDisplay
from sklearn_interpret.shapley._sampling import ShapleySampling
from sklearn_interpret.shapley._tree import TreeSHAP
from sklearn_interpret.shapley._values import ShapleyValues

__all__ = [
    "BreakDown",
    "BreakDownExplanation",
    "ExactShapley",
    "KernelSHAP",
    "LinearSHAP",
    "ShapleyDecisionDisplay",
    "ShapleyDependenceDisplay",
    "ShapleyForceDisplay",
    "ShapleyHeatmapDisplay",
    "ShapleyImportanceDisplay",
    "ShapleyInteractionDisplay",
    "ShapleySampling",
    "ShapleySummaryDisplay",
    "ShapleyValues",
    "ShapleyWaterfallDisplay",
    "TreeSHAP",
]

"""Shapley values of features."""

from sklearn_interpret.shapley._break_down import BreakDown, BreakDownExplanation
from sklearn_interpret.shapley._exact import ExactShapley
from sklearn_interpret.shapley._kernel import KernelSHAP
from sklearn_interpret.shapley._linear import LinearSHAP
from sklearn_interpret.shapley._plot import (
    ShapleyDecisionDisplay,
    ShapleyDependenceDisplay,
    ShapleyForceDisplay,
    ShapleyHeatmapDisplay,
    ShapleyImportanceDisplay,
    ShapleyInteractionDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
)
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

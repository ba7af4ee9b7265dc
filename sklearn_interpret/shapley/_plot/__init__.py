"""Displays of Shapley values."""

from sklearn_interpret.shapley._plot._decision import ShapleyDecisionDisplay
from sklearn_interpret.shapley._plot._dependence import ShapleyDependenceDisplay
from sklearn_interpret.shapley._plot._force import ShapleyForceDisplay
from sklearn_interpret.shapley._plot._heatmap import ShapleyHeatmapDisplay
from sklearn_interpret.shapley._plot._importance import ShapleyImportanceDisplay
from sklearn_interpret.shapley._plot._interaction import ShapleyInteractionDisplay
from sklearn_interpret.shapley._plot._summary import ShapleySummaryDisplay
from sklearn_interpret.shapley._plot._waterfall import ShapleyWaterfallDisplay

__all__ = [
    "ShapleyDecisionDisplay",
    "ShapleyDependenceDisplay",
    "ShapleyForceDisplay",
    "ShapleyHeatmapDisplay",
    "ShapleyImportanceDisplay",
    "ShapleyInteractionDisplay",
    "ShapleySummaryDisplay",
    "ShapleyWaterfallDisplay",
]

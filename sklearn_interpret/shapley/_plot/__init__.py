"""Displays of Shapley values."""

from sklearn_interpret.shapley._plot._dependence import ShapleyDependenceDisplay
from sklearn_interpret.shapley._plot._force import ShapleyForceDisplay
from sklearn_interpret.shapley._plot._importance import ShapleyImportanceDisplay
from sklearn_interpret.shapley._plot._summary import ShapleySummaryDisplay
from sklearn_interpret.shapley._plot._waterfall import ShapleyWaterfallDisplay

__all__ = [
    "ShapleyDependenceDisplay",
    "ShapleyForceDisplay",
    "ShapleyImportanceDisplay",
    "ShapleySummaryDisplay",
    "ShapleyWaterfallDisplay",
]

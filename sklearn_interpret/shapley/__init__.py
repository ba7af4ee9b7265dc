"""Fair shares of features in a prediction."""

from sklearn_interpret.shapley._plot import (
    ShapleyDependenceDisplay,
    ShapleyForceDisplay,
    ShapleyImportanceDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
)
from sklearn_interpret.shapley._tree import TreeSHAP

__all__ = [
    "ShapleyDependenceDisplay",
    "ShapleyForceDisplay",
    "ShapleyImportanceDisplay",
    "ShapleySummaryDisplay",
    "ShapleyWaterfallDisplay",
    "TreeSHAP",
]

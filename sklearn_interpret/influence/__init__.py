"""Which training rows made the model what it is."""

from sklearn_interpret.influence._data_values import DataValues
from sklearn_interpret.influence._deletion_diagnostics import DeletionDiagnostics
from sklearn_interpret.influence._influence_functions import InfluenceFunctions
from sklearn_interpret.influence._plot._influence import InfluenceDisplay
from sklearn_interpret.influence._plot._influence_tree import InfluenceTreeDisplay
from sklearn_interpret.influence._plot._regression_influence import (
    RegressionInfluenceDisplay,
)
from sklearn_interpret.influence._prediction_weights import PredictionWeights
from sklearn_interpret.influence._regression_influence import RegressionInfluence

__all__ = [
    "DataValues",
    "DeletionDiagnostics",
    "InfluenceDisplay",
    "InfluenceFunctions",
    "InfluenceTreeDisplay",
    "PredictionWeights",
    "RegressionInfluence",
    "RegressionInfluenceDisplay",
]

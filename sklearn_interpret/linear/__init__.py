"""Linear models, whose weights are the explanation."""

from sklearn_interpret.linear._coefficient_inference import CoefficientInference
from sklearn_interpret.linear._plot._coefficient import CoefficientDisplay
from sklearn_interpret.linear._plot._linear_effect import LinearEffectDisplay
from sklearn_interpret.linear._plot._sparse_path import SparsePathDisplay
from sklearn_interpret.linear._sparse_linear import (
    SparseLinearClassifier,
    SparseLinearRegressor,
)

__all__ = [
    "CoefficientDisplay",
    "CoefficientInference",
    "LinearEffectDisplay",
    "SparseLinearClassifier",
    "SparseLinearRegressor",
    "SparsePathDisplay",
]

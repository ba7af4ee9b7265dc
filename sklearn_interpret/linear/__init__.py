"""Linear models, whose weights are the explanation."""

from sklearn_interpret.linear._coefficient_inference import CoefficientInference
from sklearn_interpret.linear._plot import (
    CoefficientDisplay,
    LinearEffectDisplay,
    SparsePathDisplay,
)
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

"""Linear models that explain themselves."""

from sklearn_interpret.linear._plot import SparsePathDisplay
from sklearn_interpret.linear._sparse_linear_classifier import SparseLinearClassifier
from sklearn_interpret.linear._sparse_linear_regressor import SparseLinearRegressor

__all__ = ["SparseLinearClassifier", "SparseLinearRegressor", "SparsePathDisplay"]

"""Displays of linear models."""

from sklearn_interpret.linear._plot._coefficient import CoefficientDisplay
from sklearn_interpret.linear._plot._linear_effect import LinearEffectDisplay
from sklearn_interpret.linear._plot._sparse_path import SparsePathDisplay

__all__ = ["CoefficientDisplay", "LinearEffectDisplay", "SparsePathDisplay"]

"""Displays of linear models."""

from sklearn_interpret.linear._plot._coefficient import CoefficientDisplay
from sklearn_interpret.linear._plot._linear_effect import LinearEffectDisplay

__all__ = ["CoefficientDisplay", "LinearEffectDisplay"]

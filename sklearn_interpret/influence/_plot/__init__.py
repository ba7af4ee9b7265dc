"""Displays of influence."""

from sklearn_interpret.influence._plot._regression_influence import (
    RegressionInfluenceDisplay,
)

__all__ = ["RegressionInfluenceDisplay"]

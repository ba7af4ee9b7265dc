"""Displays of influence."""

from sklearn_interpret.influence._plot._influence import InfluenceDisplay
from sklearn_interpret.influence._plot._influence_tree import InfluenceTreeDisplay
from sklearn_interpret.influence._plot._regression_influence import (
    RegressionInfluenceDisplay,
)

__all__ = ["InfluenceDisplay", "InfluenceTreeDisplay", "RegressionInfluenceDisplay"]

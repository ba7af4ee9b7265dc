"""Displays of interactions."""

from sklearn_interpret.interactions._plot._h_statistic import HStatisticDisplay
from sklearn_interpret.interactions._plot._variable_interaction_network import (
    VariableInteractionNetworkDisplay,
)

__all__ = ["HStatisticDisplay", "VariableInteractionNetworkDisplay"]

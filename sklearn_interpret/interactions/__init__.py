"""Interactions between features."""

from sklearn_interpret.interactions._functional_decomposition import (
    FunctionalDecomposition,
)
from sklearn_interpret.interactions._h_statistic import HStatistic
from sklearn_interpret.interactions._partial_dependence_interaction import (
    PartialDependenceInteraction,
)
from sklearn_interpret.interactions._plot._functional_decomposition import (
    FunctionalDecompositionDisplay,
)
from sklearn_interpret.interactions._plot._h_statistic import HStatisticDisplay
from sklearn_interpret.interactions._plot._interaction_network import (
    InteractionNetworkDisplay,
)
from sklearn_interpret.interactions._plot._variable_interaction_network import (
    VariableInteractionNetworkDisplay,
)
from sklearn_interpret.interactions._variable_interaction_network import (
    VariableInteractionNetwork,
)

__all__ = [
    "FunctionalDecomposition",
    "FunctionalDecompositionDisplay",
    "HStatistic",
    "HStatisticDisplay",
    "InteractionNetworkDisplay",
    "PartialDependenceInteraction",
    "VariableInteractionNetwork",
    "VariableInteractionNetworkDisplay",
]

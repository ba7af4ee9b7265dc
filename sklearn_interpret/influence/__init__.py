"""Which training rows made the model what it is."""

from sklearn_interpret.influence._plot import RegressionInfluenceDisplay
from sklearn_interpret.influence._regression_influence import RegressionInfluence

__all__ = ["RegressionInfluence", "RegressionInfluenceDisplay"]

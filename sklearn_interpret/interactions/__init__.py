"""Which features act together."""

from sklearn_interpret.interactions._h_statistic import HStatistic
from sklearn_interpret.interactions._partial_dependence_interaction import (
    PartialDependenceInteraction,
)

__all__ = ["HStatistic", "PartialDependenceInteraction"]

"""How a prediction moves with a feature."""

from sklearn_interpret.effects._accumulated_local_effects import (
    AccumulatedLocalEffects,
)
from sklearn_interpret.effects._conditional_dependence import ConditionalDependence
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)
from sklearn_interpret.effects._partial_dependence import PartialDependence

__all__ = [
    "AccumulatedLocalEffects",
    "ConditionalDependence",
    "IndividualConditionalExpectation",
    "PartialDependence",
]

"""Effects of features on predictions."""

from sklearn_interpret.effects._accumulated_local_effects import AccumulatedLocalEffects
from sklearn_interpret.effects._conditional_dependence import ConditionalDependence
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)
from sklearn_interpret.effects._partial_dependence import PartialDependence
from sklearn_interpret.effects._plot import (
    AccumulatedLocalEffectsDisplay,
    ConditionalDependenceDisplay,
    EffectComparisonDisplay,
    IndividualConditionalExpectationDisplay,
    PartialDependenceDisplay,
)

__all__ = [
    "AccumulatedLocalEffects",
    "AccumulatedLocalEffectsDisplay",
    "ConditionalDependence",
    "ConditionalDependenceDisplay",
    "EffectComparisonDisplay",
    "IndividualConditionalExpectation",
    "IndividualConditionalExpectationDisplay",
    "PartialDependence",
    "PartialDependenceDisplay",
]

"""Effects of features on predictions."""

from sklearn_interpret.effects._accumulated_local_effects import AccumulatedLocalEffects
from sklearn_interpret.effects._conditional_dependence import ConditionalDependence
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)
from sklearn_interpret.effects._partial_dependence import PartialDependence
from sklearn_interpret.effects._plot._accumulated_local_effects import (
    AccumulatedLocalEffectsDisplay,
)
from sklearn_interpret.effects._plot._comparison import EffectComparisonDisplay
from sklearn_interpret.effects._plot._conditional_dependence import (
    ConditionalDependenceDisplay,
)
from sklearn_interpret.effects._plot._individual_conditional_expectation import (
    IndividualConditionalExpectationDisplay,
)
from sklearn_interpret.effects._plot._partial_dependence import PartialDependenceDisplay
from sklearn_interpret.effects._regional_effects import Region, RegionalEffects

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
    "Region",
    "RegionalEffects",
]

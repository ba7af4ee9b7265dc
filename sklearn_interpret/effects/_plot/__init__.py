"""Displays of effects."""

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

__all__ = [
    "AccumulatedLocalEffectsDisplay",
    "ConditionalDependenceDisplay",
    "EffectComparisonDisplay",
    "IndividualConditionalExpectationDisplay",
    "PartialDependenceDisplay",
]

"""Explanations of local methods, and the transformer mixin of attributions."""

from sklearn_interpret.explanations._attributions import (
    AttributionTransformerMixin,
    Explanation,
)
from sklearn_interpret.explanations._base import BaseExplanation
from sklearn_interpret.explanations._interactions import InteractionExplanation
from sklearn_interpret.explanations._removals import RemovalExplanation
from sklearn_interpret.explanations._rows import RowExplanation
from sklearn_interpret.explanations._rules import (
    Condition,
    RuleExplanation,
    WordCondition,
)
from sklearn_interpret.explanations._training import (
    NeighborExplanation,
    TrainingExplanation,
    WeightExplanation,
)

__all__ = [
    "AttributionTransformerMixin",
    "BaseExplanation",
    "Condition",
    "Explanation",
    "InteractionExplanation",
    "NeighborExplanation",
    "RemovalExplanation",
    "RowExplanation",
    "RuleExplanation",
    "TrainingExplanation",
    "WeightExplanation",
    "WordCondition",
]

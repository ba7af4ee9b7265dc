"""Results of local methods, and the transformer that is made of them."""

from sklearn_interpret.explanations._attributions import (
    AttributionTransformerMixin,
    Explanation,
)
from sklearn_interpret.explanations._base import BaseExplanation
from sklearn_interpret.explanations._neighbors import NeighborExplanation
from sklearn_interpret.explanations._removals import RemovalExplanation
from sklearn_interpret.explanations._rows import RowExplanation
from sklearn_interpret.explanations._rules import (
    Condition,
    RuleExplanation,
    WordCondition,
)
from sklearn_interpret.explanations._training import TrainingExplanation

__all__ = [
    "AttributionTransformerMixin",
    "BaseExplanation",
    "Condition",
    "Explanation",
    "NeighborExplanation",
    "RemovalExplanation",
    "RowExplanation",
    "RuleExplanation",
    "TrainingExplanation",
    "WordCondition",
]

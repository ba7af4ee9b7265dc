"""Displays of influence from predictors, inspectors and explanations."""

from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret.explanations import TrainingExplanation
from sklearn_interpret.influence._deletion_diagnostics import DeletionDiagnostics
from sklearn_interpret.influence._influence_functions import InfluenceFunctions


class InfluenceSources(ExplanationDisplay):
    """Constructors of the displays of a `TrainingExplanation`."""

    _kinds = (DeletionDiagnostics, InfluenceFunctions)
    _explanation_kind = TrainingExplanation
    _without = frozenset()
    # Of a predictor, X are the training rows, and the display shows their influence.
    _shows_rows = False

    @classmethod
    def _from_inspector(cls, inspector, X, sample_weight, *, y, **choices):
        explanation = inspector._overall() if X is None else inspector.explain(X, y)
        return cls(explanation, **choices)

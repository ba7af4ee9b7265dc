"""Which training rows made the model, and its predictions, what they are."""

from sklearn_interpret.influence._influence_functions import InfluenceFunctions

__all__ = ["InfluenceFunctions"]

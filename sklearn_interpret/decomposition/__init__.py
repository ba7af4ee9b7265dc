"""How a model's own structure makes a prediction."""

from sklearn_interpret.decomposition._naive_bayes import NaiveBayesContributions
from sklearn_interpret.decomposition._neighbor import NeighborContributions
from sklearn_interpret.decomposition._plot._decision_path import DecisionPathDisplay
from sklearn_interpret.decomposition._tree_path import TreePathContributions

__all__ = [
    "DecisionPathDisplay",
    "NaiveBayesContributions",
    "NeighborContributions",
    "TreePathContributions",
]

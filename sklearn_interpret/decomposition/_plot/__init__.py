"""Displays of decompositions."""

from sklearn_interpret.decomposition._plot._decision_path import DecisionPathDisplay

__all__ = ["DecisionPathDisplay"]

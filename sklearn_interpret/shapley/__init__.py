"""Fair shares of features in a prediction."""

from sklearn_interpret.shapley._tree import TreeSHAP

__all__ = ["TreeSHAP"]

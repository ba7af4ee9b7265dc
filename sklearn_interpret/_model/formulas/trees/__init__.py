"""Readers of tree models, by library, and responses that are sums of trees."""

from sklearn_interpret._model.formulas.trees.tree_response import read_trees

__all__ = ["read_trees"]

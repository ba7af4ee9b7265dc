"""Models of trees: a reader per library, and which response is a sum of trees."""

from sklearn_interpret._model.trees.tree_response import read_trees

__all__ = ["read_trees"]

"""Displays of linear models."""

from sklearn_interpret.linear._plot._sparse_path import SparsePathDisplay

__all__ = ["SparsePathDisplay"]

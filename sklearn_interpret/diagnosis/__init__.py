"""Where a model fails, and what changed between tables or models."""

from sklearn_interpret.diagnosis._error_slices import ErrorSlice, ErrorSlices

__all__ = ["ErrorSlice", "ErrorSlices"]

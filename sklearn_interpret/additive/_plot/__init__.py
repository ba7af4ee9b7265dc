"""Displays of additive models."""

from sklearn_interpret.additive._plot._smooth_term import SmoothTermDisplay

__all__ = ["SmoothTermDisplay"]

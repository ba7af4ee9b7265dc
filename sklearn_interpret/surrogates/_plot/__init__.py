"""Displays of surrogates."""

from sklearn_interpret.surrogates._plot._lime_text import LimeTextDisplay

__all__ = ["LimeTextDisplay"]

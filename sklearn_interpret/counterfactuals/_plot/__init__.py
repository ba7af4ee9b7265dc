"""Displays of counterfactuals and anchors."""

from sklearn_interpret.counterfactuals._plot._text import TextCounterfactualDisplay

__all__ = ["TextCounterfactualDisplay"]

"""Displays of counterfactuals and anchors."""

from sklearn_interpret.counterfactuals._plot._anchors import AnchorsDisplay
from sklearn_interpret.counterfactuals._plot._counterfactual import (
    CounterfactualDisplay,
)
from sklearn_interpret.counterfactuals._plot._text import TextCounterfactualDisplay

__all__ = ["AnchorsDisplay", "CounterfactualDisplay", "TextCounterfactualDisplay"]

"""Surrogates: small models that follow a large one, everywhere or around a point."""

from sklearn_interpret.surrogates._base_explanation import LocalExplanation
from sklearn_interpret.surrogates._lime_tabular import LimeTabular

__all__ = ["LimeTabular", "LocalExplanation"]

"""Surrogates: small models that follow a large one, everywhere or around a point."""

from sklearn_interpret.surrogates._base_explanation import LocalExplanation

__all__ = ["LocalExplanation"]

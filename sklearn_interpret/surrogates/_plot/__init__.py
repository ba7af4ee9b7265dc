"""Displays of surrogates."""

from sklearn_interpret.surrogates._plot._global import GlobalSurrogateDisplay

__all__ = ["GlobalSurrogateDisplay"]

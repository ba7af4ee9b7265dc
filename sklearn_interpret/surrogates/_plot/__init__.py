"""Displays of surrogates."""

from sklearn_interpret.surrogates._plot._global import GlobalSurrogateDisplay
from sklearn_interpret.surrogates._plot._lime_image import LimeImageDisplay

__all__ = ["GlobalSurrogateDisplay", "LimeImageDisplay"]

"""Displays of surrogates."""

from sklearn_interpret.surrogates._plot._global import GlobalSurrogateDisplay
from sklearn_interpret.surrogates._plot._lime import LimeDisplay
from sklearn_interpret.surrogates._plot._lime_image import LimeImageDisplay
from sklearn_interpret.surrogates._plot._lime_text import LimeTextDisplay

__all__ = [
    "GlobalSurrogateDisplay",
    "LimeDisplay",
    "LimeImageDisplay",
    "LimeTextDisplay",
]

"""Surrogates: simple models that approximate a complex one, globally or locally."""

from sklearn_interpret.surrogates._global import GlobalSurrogate
from sklearn_interpret.surrogates._lime_image import ImageExplanation, LimeImage
from sklearn_interpret.surrogates._lime_tabular import LimeTabular
from sklearn_interpret.surrogates._lime_text import LimeText, TextExplanation
from sklearn_interpret.surrogates._local_explanation import LocalExplanation
from sklearn_interpret.surrogates._plot._global import GlobalSurrogateDisplay
from sklearn_interpret.surrogates._plot._lime import LimeDisplay
from sklearn_interpret.surrogates._plot._lime_image import LimeImageDisplay
from sklearn_interpret.surrogates._plot._lime_text import LimeTextDisplay

__all__ = [
    "GlobalSurrogate",
    "GlobalSurrogateDisplay",
    "ImageExplanation",
    "LimeDisplay",
    "LimeImage",
    "LimeImageDisplay",
    "LimeTabular",
    "LimeText",
    "LimeTextDisplay",
    "LocalExplanation",
    "TextExplanation",
]

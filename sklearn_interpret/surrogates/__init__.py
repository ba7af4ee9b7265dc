"""Surrogates: small models that follow a large one, everywhere or around a point."""

from sklearn_interpret.surrogates._base_explanation import LocalExplanation
from sklearn_interpret.surrogates._base_text_explanation import TextExplanation
from sklearn_interpret.surrogates._global import GlobalSurrogate
from sklearn_interpret.surrogates._lime_tabular import LimeTabular
from sklearn_interpret.surrogates._lime_text import LimeText
from sklearn_interpret.surrogates._plot import (
    GlobalSurrogateDisplay,
    LimeDisplay,
    LimeTextDisplay,
)

__all__ = [
    "GlobalSurrogate",
    "GlobalSurrogateDisplay",
    "LimeDisplay",
    "LimeTabular",
    "LimeText",
    "LimeTextDisplay",
    "LocalExplanation",
    "TextExplanation",
]

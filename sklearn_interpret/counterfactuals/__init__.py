"""Counterfactuals: changes for another answer. Anchors: rules that keep the answer."""

from sklearn_interpret.counterfactuals._anchors import Anchors
from sklearn_interpret.counterfactuals._anchors_text import AnchorsText
from sklearn_interpret.counterfactuals._exact import ExactCounterfactual
from sklearn_interpret.counterfactuals._growing_spheres import GrowingSpheres
from sklearn_interpret.counterfactuals._plot._anchors import AnchorsDisplay
from sklearn_interpret.counterfactuals._plot._counterfactual import (
    CounterfactualDisplay,
)
from sklearn_interpret.counterfactuals._plot._text import TextCounterfactualDisplay
from sklearn_interpret.counterfactuals._text import TextCounterfactual
from sklearn_interpret.counterfactuals._wachter import WachterCounterfactual

__all__ = [
    "Anchors",
    "AnchorsDisplay",
    "AnchorsText",
    "CounterfactualDisplay",
    "ExactCounterfactual",
    "GrowingSpheres",
    "TextCounterfactual",
    "TextCounterfactualDisplay",
    "WachterCounterfactual",
]

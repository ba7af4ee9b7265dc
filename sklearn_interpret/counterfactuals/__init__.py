"""Counterfactuals: what would have to change for the model to answer as wished."""

from sklearn_interpret.counterfactuals._growing_spheres import GrowingSpheres
from sklearn_interpret.counterfactuals._wachter import WachterCounterfactual

__all__ = ["GrowingSpheres", "WachterCounterfactual"]

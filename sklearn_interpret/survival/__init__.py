"""Survival models: their functions of time as outputs, and effects over time."""

from sklearn_interpret.survival._plot._effect_over_time import EffectOverTimeDisplay
from sklearn_interpret.survival._survival_model import SurvivalModel

__all__ = ["EffectOverTimeDisplay", "SurvivalModel"]

"""Survival models: outputs for each of some times, and effects over time."""

from sklearn_interpret.survival._plot._effect_over_time import EffectOverTimeDisplay
from sklearn_interpret.survival._survival_model import SurvivalModel

__all__ = ["EffectOverTimeDisplay", "SurvivalModel"]

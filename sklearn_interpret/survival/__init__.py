"""Survival models: their functions of time as outputs, and effects over time."""

from sklearn_interpret.survival._survival_model import SurvivalModel

__all__ = ["SurvivalModel"]

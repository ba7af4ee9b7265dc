"""Displays of rules."""

from sklearn_interpret.rules._plot._rule_fit import RuleFitDisplay

__all__ = ["RuleFitDisplay"]

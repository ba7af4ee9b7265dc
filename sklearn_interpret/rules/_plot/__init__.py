"""Displays of rules."""

from sklearn_interpret.rules._plot._rule_fit import RuleFitDisplay
from sklearn_interpret.rules._plot._rules import RulesDisplay

__all__ = ["RuleFitDisplay", "RulesDisplay"]

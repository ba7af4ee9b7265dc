"""Display of rules."""

from sklearn_interpret.rules._plot._rules import RulesDisplay

__all__ = ["RulesDisplay"]

"""Rules: models that are read aloud."""

from sklearn_interpret.rules._bayesian_rule_list import (
    BayesianRule,
    BayesianRuleListClassifier,
)
from sklearn_interpret.rules._one_r import OneRClassifier
from sklearn_interpret.rules._plot._rule_fit import RuleFitDisplay
from sklearn_interpret.rules._plot._rules import RulesDisplay
from sklearn_interpret.rules._ripper import RIPPERClassifier
from sklearn_interpret.rules._rule_fit import RuleFitClassifier, RuleFitRegressor
from sklearn_interpret.rules._rules import Rule
from sklearn_interpret.rules._skope_rules import SkopeRule, SkopeRulesClassifier
from sklearn_interpret.rules._weighted_rules import LinearTerm, WeightedRule

__all__ = [
    "BayesianRule",
    "BayesianRuleListClassifier",
    "LinearTerm",
    "OneRClassifier",
    "RIPPERClassifier",
    "Rule",
    "RuleFitClassifier",
    "RuleFitDisplay",
    "RuleFitRegressor",
    "RulesDisplay",
    "SkopeRule",
    "SkopeRulesClassifier",
    "WeightedRule",
]

"""Rules: models that are read aloud."""

from sklearn_interpret.rules._bayesian_rule_list import (
    BayesianRule,
    BayesianRuleListClassifier,
)
from sklearn_interpret.rules._one_r import OneRClassifier
from sklearn_interpret.rules._plot import RulesDisplay
from sklearn_interpret.rules._ripper import RIPPERClassifier
from sklearn_interpret.rules._rules import Rule
from sklearn_interpret.rules._skope_rules import SkopeRule, SkopeRulesClassifier

__all__ = [
    "BayesianRule",
    "BayesianRuleListClassifier",
    "OneRClassifier",
    "RIPPERClassifier",
    "Rule",
    "RulesDisplay",
    "SkopeRule",
    "SkopeRulesClassifier",
]

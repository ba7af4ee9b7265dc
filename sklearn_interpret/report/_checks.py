"""Checks of a model and its explanations: when not to believe them."""

from sklearn_interpret.report._results import Check

CHECKS = {}

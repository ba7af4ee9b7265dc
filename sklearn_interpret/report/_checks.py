"""Checks of a model and its explanations: when not to believe them."""

CHECKS = {}

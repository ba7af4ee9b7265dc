"""Displays of counterfactuals and anchors."""

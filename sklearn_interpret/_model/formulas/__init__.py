"""Formulas of models: which one computes the responses of a model, or why none."""

"""Surrogates of a model: their predictions, parts and rules."""

"""Flat arrays of an ensemble: nodes, codes of values, paths, joining."""

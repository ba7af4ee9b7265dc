"""Penalised regression on terms of one or two columns: generalised additive models."""

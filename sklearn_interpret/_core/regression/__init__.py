"""Errors, intervals and tests of the weights of regressions."""

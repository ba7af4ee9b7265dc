"""Generalised additive models: sums of smooth functions of one feature or two."""

from sklearn_interpret.additive._diagnostics import BasisCheck
from sklearn_interpret.additive._gam_classifier import GAMClassifier
from sklearn_interpret.additive._gam_regressor import GAMRegressor
from sklearn_interpret.additive._plot._smooth_term import SmoothTermDisplay

__all__ = ["BasisCheck", "GAMClassifier", "GAMRegressor", "SmoothTermDisplay"]

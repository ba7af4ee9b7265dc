"""Displays of attacks."""

from sklearn_interpret.adversarial._plot._adversarial import AdversarialDisplay
from sklearn_interpret.adversarial._plot._robustness_curve import RobustnessCurveDisplay

__all__ = ["AdversarialDisplay", "RobustnessCurveDisplay"]

"""Attacks: small changes of rows that change the model's answer."""

from sklearn_interpret.adversarial._adversarial_patch import AdversarialPatch
from sklearn_interpret.adversarial._fast_gradient_sign import FastGradientSign
from sklearn_interpret.adversarial._hop_skip_jump import HopSkipJump
from sklearn_interpret.adversarial._minimal_perturbation import MinimalPerturbation
from sklearn_interpret.adversarial._one_pixel import OnePixelAttack
from sklearn_interpret.adversarial._plot._adversarial import AdversarialDisplay
from sklearn_interpret.adversarial._plot._robustness_curve import RobustnessCurveDisplay
from sklearn_interpret.adversarial._projected_gradient import ProjectedGradient
from sklearn_interpret.adversarial._substitute import SubstituteAttack

__all__ = [
    "AdversarialDisplay",
    "AdversarialPatch",
    "FastGradientSign",
    "HopSkipJump",
    "MinimalPerturbation",
    "OnePixelAttack",
    "ProjectedGradient",
    "RobustnessCurveDisplay",
    "SubstituteAttack",
]

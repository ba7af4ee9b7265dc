"""How small a change makes the model answer otherwise."""

from sklearn_interpret.adversarial._fast_gradient_sign import FastGradientSign
from sklearn_interpret.adversarial._minimal_perturbation import MinimalPerturbation
from sklearn_interpret.adversarial._projected_gradient import ProjectedGradient

__all__ = ["FastGradientSign", "MinimalPerturbation", "ProjectedGradient"]

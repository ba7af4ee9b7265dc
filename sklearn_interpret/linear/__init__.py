"""Linear models, whose weights are the explanation."""

from sklearn_interpret.linear._coefficient_inference import CoefficientInference
from sklearn_interpret.linear._plot import CoefficientDisplay, LinearEffectDisplay

__all__ = ["CoefficientDisplay", "CoefficientInference", "LinearEffectDisplay"]

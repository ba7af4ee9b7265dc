"""Models whose weights are the explanation."""

from sklearn_interpret.linear._coefficient_inference import CoefficientInference

__all__ = ["CoefficientInference"]

"""What would have to change for another answer."""

from sklearn_interpret.counterfactuals._exact import ExactCounterfactual

__all__ = ["ExactCounterfactual"]

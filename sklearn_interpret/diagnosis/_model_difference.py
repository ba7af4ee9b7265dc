"""The weighted sum of fitted models; its class stands where readers of formulas are."""

from sklearn_interpret._model.responses.model_difference import ModelDifference

__all__ = ["ModelDifference"]

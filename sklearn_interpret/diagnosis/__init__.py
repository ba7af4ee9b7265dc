"""Where a model errs, and where models differ."""

from sklearn_interpret._model.responses.model_difference import ModelDifference

__all__ = ["ModelDifference"]

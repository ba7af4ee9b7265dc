"""Where a model errs, and where two models differ."""

from sklearn_interpret.diagnosis._model_difference import ModelDifference

__all__ = ["ModelDifference"]

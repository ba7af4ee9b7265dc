"""Where a model fails, and what changed between tables or models."""

from sklearn_interpret._model.responses.model_difference import ModelDifference
from sklearn_interpret.diagnosis._change import Change, Changes
from sklearn_interpret.diagnosis._change_attribution import ChangeAttribution
from sklearn_interpret.diagnosis._error_slices import ErrorSlice, ErrorSlices
from sklearn_interpret.diagnosis._plot._change import ChangeDisplay
from sklearn_interpret.diagnosis._plot._error_slices import (
    ErrorSlicesDisplay,
    SliceLossDisplay,
)

__all__ = [
    "Change",
    "ChangeAttribution",
    "ChangeDisplay",
    "Changes",
    "ErrorSlice",
    "ErrorSlices",
    "ErrorSlicesDisplay",
    "ModelDifference",
    "SliceLossDisplay",
]

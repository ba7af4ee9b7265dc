"""Losses of single rows, from the parameter `loss`: the response that they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics import losses
from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    is_classifier,
    unfrozen,
)
from sklearn_interpret._model.responses.response import Response, make_response
from sklearn_interpret._model.responses.scoring import class_indicators
from sklearn_interpret._model.rows.validation import call_parameter, target_numbers

# The method of the model that a loss takes, and the function of targets and responses.
_BY_NAME: dict[str, tuple[str, Callable[..., NDArray[np.float64]]]] = {
    "squared_error": ("predict", losses.squared),
    "absolute_error": ("predict", losses.absolute),
    "log_loss": ("predict_proba", losses.log_loss),
    "brier": ("predict_proba", losses.brier),
    "zero_one": ("predict", losses.zero_one),
}
ROW_LOSS_NAMES = tuple(_BY_NAME)
_OF_REGRESSORS = "squared_error", "absolute_error"


@dataclass(frozen=True)
class RowLoss:
    """The loss of each row, a function of targets and responses.

    Parameters
    ----------
    loss : str or callable
        A name in `ROW_LOSS_NAMES`, or ``loss(y, prediction)``.
    response : Response
        The predictions that it takes.
    """

    loss: str | Callable[..., Any]
    response: Response

    @classmethod
    def of_model(cls, loss: str | Callable[..., Any], model: Any) -> Self:
        """The loss of a fitted model; "auto" is the squared error or the log loss."""
        classifies, name = is_classifier(model), type(unfrozen(model)).__name__
        if loss == "auto":
            loss = "log_loss" if classifies else "squared_error"
        if not isinstance(loss, str):
            return cls(loss, make_response(model))
        if classifies == (loss in _OF_REGRESSORS):
            kind = "regressors" if classifies else "classifiers"
            raise ValueError(f"loss={loss!r} is one of {kind}; {name} is not.")
        method, _ = _BY_NAME[loss]
        if not hasattr(model, method):
            raise ValueError(
                f"loss={loss!r} takes probabilities, and {name} has no {method}: "
                "pass a loss(y, prediction) of its decision function."
            )
        if classifies:
            check_has_classes(model)
        return cls(loss, make_response(model, method))

    def targets(self, y: NDArray[Any], n_outputs: int) -> NDArray[Any]:
        """Targets as the loss takes them, checked against the number of outputs."""
        loss, classes = self.loss, self.response.classes
        if not isinstance(loss, str):
            return y
        if loss in _OF_REGRESSORS:
            targets = target_numbers(y)
            targets = targets.reshape(len(targets), -1)
        elif isinstance(classes, np.ndarray) and y.size == len(y):
            targets = class_indicators(y.ravel(), classes)
            if len(classes) == 1:
                targets = np.hstack([1 - targets, targets])
        else:
            raise ValueError(
                f"y has several targets; loss={loss!r} takes classifiers with one."
            )
        expected = targets.shape[1]
        if loss not in _OF_REGRESSORS and expected == 2:
            expected = 1  # that of the second class
        if n_outputs != expected:
            raise ValueError(
                f"loss={loss!r}: y asks for predictions with {expected} columns; the "
                f"model's have {n_outputs}."
            )
        return targets

    def __call__(
        self, targets: NDArray[Any], responses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Losses (m, c) of responses (m, c, k) to variants of rows."""
        if isinstance(self.loss, str):
            return _BY_NAME[self.loss][1](targets, responses)
        n_rows, n_variants, n_outputs = responses.shape
        n_losses = n_rows * n_variants
        predictions = responses.reshape(n_losses, n_outputs)
        predictions = predictions[:, 0] if n_outputs == 1 else predictions
        y = np.repeat(targets, n_variants, axis=0)
        losses_of_rows = np.asarray(call_parameter("loss", self.loss, y, predictions))
        if losses_of_rows.shape != (n_losses,):
            raise ValueError(
                f"loss must return one number for each row; for {n_losses} rows it "
                f"returned the shape {losses_of_rows.shape}."
            )
        return losses_of_rows.reshape(n_rows, n_variants)

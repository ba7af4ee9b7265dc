"""Whether a model was fitted on the rows that it is said to be: its own predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret.exceptions import UnreadableModelError

# Training rows that are compared.
_CHECKED_ROWS = 50
# Largest differences: in standard deviations of the predictions, which iterative
# solvers leave, and relative to the numbers summed, whose targets and gradients other
# libraries keep in single precision.
_OF_DEVIATION, _OF_SIZE, _OF_SINGLE_SIZE = 1e-3, 1e-9, 1e-6
_IN_DOUBLE = "sklearn", "sklearn_interpret"


def rows_to_check(rows: Rows) -> Rows:
    """Some of the training rows, evenly spaced."""
    n_checked = min(_CHECKED_ROWS, rows.n_rows)
    return rows.take(np.linspace(0, rows.n_rows - 1, n_checked).astype(np.intp))


def are_missed(
    model: Any,
    computed: NDArray[np.float64],
    predictions: NDArray[np.float64],
    size: NDArray[np.float64],
    deviations: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Rows (m,) whose predictions (m, k) are not what follows from training rows.

    Parameters
    ----------
    model : fitted predictor
        The last step of a pipeline.
    computed, predictions, size : ndarray of shape (m, k)
        Predictions that follow from the rows, those of the model, and the size of the
        numbers summed.
    deviations : ndarray of shape (k,)
        Standard deviations of the targets or scores.
    """
    in_double = type(model).__module__.partition(".")[0] in _IN_DOUBLE
    rounding = _OF_SIZE if in_double else _OF_SINGLE_SIZE
    allowed = _OF_DEVIATION * deviations + rounding * size
    return ~np.all(np.abs(computed - predictions) <= allowed, axis=1)


def refuse_other_rows(model: Any, what: str) -> None:
    """Raise: the rows are not those that a frozen model was fitted on."""
    raise UnreadableModelError(
        f"{what} do not give the predictions of the {type(model).__name__}: a frozen "
        "model needs the rows, in their order, the targets and the weights that it was "
        "fitted on."
    )

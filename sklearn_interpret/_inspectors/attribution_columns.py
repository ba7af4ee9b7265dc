"""Attributions of an inspector as columns: its `transform`, and their names."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.validation import empty_for_no_rows


@empty_for_no_rows
def attributions_as_columns(self: Any, X: Any) -> NDArray[np.float64]:
    """Attributions as columns.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_samples, n_attributed x n_outputs)
        The values of `explain`, the outputs of the first feature or group first.
    """
    explanation = self.explain(X)
    if getattr(explanation, "partial", False):  # there is a line for each row, or none
        raise KeyboardInterrupt
    values = explanation.values
    return values.reshape(len(values), prod(values.shape[1:]))


def attribution_names(self: Any, input_features: ArrayLike | None) -> list[str]:
    """Names of features or groups, followed by the output's if there are several."""
    names, outputs = self._names_out(input_features, self._attributed())
    return [f"{name}{output}" for name in names for output in outputs]

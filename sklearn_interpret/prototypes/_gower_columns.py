"""Rows of numbers and categories, encoded for Gower's distance."""

import numpy as np

from sklearn_interpret._model.actions.actionability import Actionability


class GowerColumns:
    """Numbers in units of their range, categories as positions of their levels.

    Parameters
    ----------
    rows : Rows
        The rows of `fit`.
    weights : ndarray of shape (n_rows,)
        Their weights; those of weight zero do not count for the range.
    categorical : ndarray of shape (n_columns,), bool
        Which columns are categories.
    """

    def __init__(self, rows, weights, categorical):
        self._known = Actionability(
            rows,
            weights,
            categorical=categorical,
            vary=np.ones(rows.n_columns, dtype=bool),
            ranges={},
            directions={},
            distance="gower",
        )
        scales = self._known.costs * rows.n_columns
        self._scales = np.where(categorical, 1.0, scales)

    def encode(self, rows):
        """Rows as floats, NaN where they are missing, -1 for unknown levels."""
        return self._known.encode(rows) * self._scales

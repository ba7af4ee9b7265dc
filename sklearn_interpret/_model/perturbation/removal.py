"""Rows without some of their features, for models to be fitted on."""

import numpy as np
from sklearn.compose import ColumnTransformer

from sklearn_interpret._model.rows.base import gather

# Parameters by which estimators speak of columns.
_SPEAKING = (
    "categorical_features",
    "cat_features",
    "monotonic_cst",
    "monotone_constraints",
    "interaction_cst",
    "interaction_constraints",
)
_NOTHING_SAID = ("warn", "from_dtype", "auto")


def names_columns(estimator):
    """Whether an estimator, or a part of it, speaks of columns by name or position.

    Such an estimator can't be fitted on fewer columns, or takes others for those that
    were meant.
    """
    for name, value in {"": estimator, **estimator.get_params(deep=True)}.items():
        if isinstance(value, ColumnTransformer):
            return True
        silent = value is None or (isinstance(value, str) and value in _NOTHING_SAID)
        if name.rpartition("__")[2] in _SPEAKING and not silent:
            return True
    return False


def remover(estimator, removal):
    """How features are taken from a model.

    Parameters
    ----------
    estimator : estimator
        To be fitted.
    removal : {"auto", "drop", "constant"}
        Whether columns are dropped, or hold one value in all rows; "auto" drops them
        unless the estimator speaks of columns.

    Returns
    -------
    callable
        ``remove(rows, columns)``, which gives `Rows`.
    """
    if removal == "auto":
        speaks = hasattr(estimator, "get_params") and names_columns(estimator)
        removal = "constant" if speaks else "drop"
    return held_constant if removal == "constant" else dropped


def dropped(rows, columns):
    """Rows without the columns; where none would be left, with constant ones."""
    kept = np.setdiff1d(np.arange(rows.n_columns), columns)
    return rows.keep_columns(kept) if len(kept) else held_constant(rows, columns)


def held_constant(rows, columns):
    """Rows whose columns have the first row's values in all rows."""
    levels = [gather(rows.column(j), np.zeros(1, dtype=np.intp)) for j in columns]
    codes = [np.zeros((1, 1), dtype=np.intp)] * len(columns)
    tiles = rows.tiles(0, rows.n_rows, 1)
    return type(rows)(tiles.replaced(columns, levels, codes))

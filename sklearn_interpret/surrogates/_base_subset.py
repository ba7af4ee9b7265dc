"""The rows that a surrogate of a region is for."""

import numpy as np


def is_inside(subset, rows):
    """Which rows are in a subset.

    Parameters
    ----------
    subset : callable or None
        ``f(X)`` returns a boolean for each row; None takes all.
    rows : Rows
        The rows.

    Returns
    -------
    ndarray of shape (n_rows,), bool

    Raises
    ------
    ValueError
        It returned something else.
    """
    if subset is None:
        return np.ones(rows.n_rows, dtype=bool)
    inside = np.asarray(subset(rows.native))
    if inside.dtype.kind != "b" or inside.shape != (rows.n_rows,):
        raise ValueError(
            f"subset must return a boolean for each of the {rows.n_rows} rows; got "
            f"an array of {inside.dtype} of shape {inside.shape}."
        )
    return inside


def weights_inside(subset, rows, weights):
    """Weights, zero for rows outside of a subset.

    Raises
    ------
    ValueError
        No row has one.
    """
    weights = np.where(is_inside(subset, rows), weights, 0.0)
    if not weights.any():
        raise ValueError("subset holds for no row of positive weight.")
    return weights


def taken_inside(subset, rows, weights):
    """The rows of positive weight in a subset, and their weights."""
    weights = weights_inside(subset, rows, weights)
    kept = np.flatnonzero(weights)
    if len(kept) < rows.n_rows:
        rows, weights = rows.take(kept), weights[kept]
    return rows, weights

"""Means over a sample by their definitions, one row at a time."""

import numpy as np
import pandas as pd


def mean_given(ask, X, weights, columns):
    """Mean response with some columns as each row has them, all else from the sample.

    Parameters
    ----------
    ask : callable
        Rows to responses (n_rows, k).
    X : ndarray or DataFrame of shape (n_rows, n_columns)
        The sample.
    weights : ndarray of shape (n_rows,)
        Its weights.
    columns : list of int
        The columns.

    Returns
    -------
    ndarray of shape (n_rows, k)
    """
    rows = range(len(X))
    tables = [mixed(X, row, columns) for row in rows]
    stacked = pd.concat(tables) if hasattr(X, "iloc") else np.concatenate(tables)
    answers = ask(stacked).reshape(len(X), len(X), -1)
    return np.array([np.average(answers[row], axis=0, weights=weights) for row in rows])


def mixed(X, row, columns):
    """The sample with some columns as one of its rows has them."""
    at = np.full(len(X), row)
    if not hasattr(X, "iloc"):
        taken = X.copy()
        taken[:, columns] = X[at][:, columns]
        return taken
    taken = X.iloc[at].reset_index(drop=True)
    kept = X.reset_index(drop=True)
    names = [X.columns[column] for column in columns]
    return kept.assign(**{name: taken[name] for name in names})


def outcomes(ask, X, row, columns):
    """Responses to a row with some columns as each row of the sample has them."""
    others = [column for column in range(X.shape[1]) if column not in columns]
    return ask(mixed(X, row, others))

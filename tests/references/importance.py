"""Importance over all pairs of rows, written out as defined.

Rows of whole weights are written out, each as often as it weighs.
"""

import numpy as np


def all_pairs(X, y, answer, loss, columns, weights=None):
    """Mean losses of the rows as they are, and of all ordered pairs of rows.

    Fisher, Rudin & Dominici (2019): each row takes `columns` of each other row.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    y : ndarray of shape (n,)
        Targets.
    answer : callable
        Rows to answers.
    loss : callable
        A target and an answer to a number.
    columns : list of int
        What is exchanged.
    weights : ndarray of shape (n,), optional
        Whole numbers.

    Returns
    -------
    before, after : float
    """
    if weights is not None:
        X, y = np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0)
    before = np.mean([loss(t, a) for t, a in zip(y, answer(X), strict=True)])
    pairs = [(i, k) for i in range(len(X)) for k in range(len(X)) if i != k]
    rows, donors = np.array(pairs).T
    altered = X[rows]
    altered[:, columns] = X[donors][:, columns]
    losses = [loss(t, a) for t, a in zip(y[rows], answer(altered), strict=True)]
    return before, np.mean(losses)

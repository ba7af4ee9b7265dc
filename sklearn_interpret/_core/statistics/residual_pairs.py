"""Pairs of features that interact in what an additive model leaves."""

import numpy as np
from scipy.stats import chi2

# Orthogonal polynomials of the ranks of a feature: straight and bent.
_N_SHAPES = 2


def interacting_pairs(columns, residuals, weights, *, most, level):
    """Pairs of columns on whose products residuals depend, the clearest first.

    The residuals' correlations with the products of two polynomials of ranks are normal
    and independent without an interaction, so their squares sum to a chi-squared
    statistic. Its p-values are corrected for the number of pairs.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Numbers.
    residuals, weights : ndarray of shape (n_rows,)
        Residuals of an additive model, and weights of the rows.
    most : int
        Largest number of pairs.
    level : float
        Largest corrected p-value.

    Returns
    -------
    list of tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._core.statistics.residual_pairs import interacting_pairs
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> interacting_pairs(X, X[:, 1] * X[:, 3], np.ones(300), most=3, level=0.01)
    [(1, 3)]
    """
    n_columns, total = columns.shape[1], weights.sum()
    first, second = np.triu_indices(n_columns, 1)
    spread = np.sqrt(weights @ residuals**2 / total)
    if not len(first) or not spread > 0:
        return []
    shapes = np.stack([_shapes(column, weights) for column in columns.T], axis=1)
    shapes = shapes.reshape(len(columns), -1)
    products = shapes.T @ (shapes * (weights * residuals / spread)[:, None])
    squares = (products**2 / total).reshape(n_columns, _N_SHAPES, n_columns, _N_SHAPES)
    statistics = squares.sum(axis=(1, 3))[first, second]
    pvalues = len(first) * chi2.sf(statistics, _N_SHAPES**2)
    found = np.argsort(-statistics, kind="stable")[:most]
    found = found[pvalues[found] <= level]
    return list(zip(first[found].tolist(), second[found].tolist(), strict=True))


def _shapes(column, weights):
    """Orthogonal polynomials of a column's ranks, of mean 0 and variance 1: (n, 2)."""
    total, found = weights.sum(), []
    place = np.unique(column, return_inverse=True)[1]
    sizes = np.bincount(place, weights)
    ranks = ((2 * np.cumsum(sizes) - sizes) / total - 1)[place]
    for shape in (ranks, ranks**2):
        for known in (np.ones(len(ranks)), *found):
            shape = shape - known * (weights @ (known * shape) / total)
        spread = np.sqrt(weights @ shape**2 / total)
        found.append(shape / spread if spread > 1e-9 else np.zeros(len(ranks)))
    return np.stack(found, axis=1)

"""An order for the levels of a nominal feature."""

import numpy as np

from sklearn_interpret._core.statistics.weighted import weighted_quantile

_N_QUANTILES = 100


def similarity_order(codes, n_levels, numeric, categorical, weights):
    """Order levels so that neighbours have similar companions (Apley & Zhu 2020).

    The distance of two levels is summed over the other features: the
    Kolmogorov-Smirnov distance for numeric ones (at the feature's percentiles), the
    total variation distance for categorical ones. One-dimensional classical scaling
    of the distances gives the order.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Level of each row, 0..n_levels-1.
    n_levels : int
        Number of levels.
    numeric : list of ndarray of shape (n,)
        Numeric companions; NaN is left out.
    categorical : list of ndarray of shape (n,)
        Codes of categorical companions.
    weights : ndarray of shape (n,)
        Positive weights.

    Returns
    -------
    ndarray of shape (n_levels,)
        The levels in order; of the two directions the one that puts the first level,
        or else the first one off the middle, on the low side.
    """
    if n_levels < 3:
        return np.arange(n_levels)
    distances = np.zeros((n_levels, n_levels))
    for values in numeric:
        distances += _kolmogorov_smirnov(codes, n_levels, values, weights)
    for companion in categorical:
        distances += _total_variation(codes, n_levels, companion, weights)
    # Rounded, for equal distances and ties must not hang on the last bits of sums.
    scores = _classical_scaling(distances.round(12)).round(12)
    # The sign of an eigenvector is arbitrary: settle it by the first level that is not
    # in the very middle.
    sides = np.flatnonzero(scores)
    if len(sides) and scores[sides[0]] > 0:
        scores = -scores
    return np.argsort(scores, kind="stable")


def _kolmogorov_smirnov(codes, n_levels, values, weights):
    """Largest distance of the levels' distribution functions, all pairs of levels."""
    known = np.isfinite(values)
    values, codes, weights = values[known], codes[known], weights[known]
    if not len(values):
        return np.zeros((n_levels, n_levels))
    probabilities = np.arange(1, _N_QUANTILES + 1) / _N_QUANTILES
    points = np.unique(weighted_quantile(values, probabilities, weights))
    cells = np.searchsorted(points, values, side="left")
    table = np.bincount(
        codes * len(points) + cells, weights, n_levels * len(points)
    ).reshape(n_levels, -1)
    functions = np.cumsum(_shares(table), axis=1)
    return np.stack([np.abs(functions - row).max(axis=1) for row in functions])


def _total_variation(codes, n_levels, companion, weights):
    """Half the summed difference of the levels' shares, all pairs of levels."""
    width = int(companion.max()) + 1
    table = np.bincount(codes * width + companion, weights, n_levels * width)
    shares = _shares(table.reshape(n_levels, width))
    return np.stack([np.abs(shares - row).sum(axis=1) / 2 for row in shares])


def _shares(table):
    """Rows scaled to sum to one; rows of zeros stay."""
    total = table.sum(axis=1, keepdims=True)
    return np.divide(table, total, out=np.zeros_like(table), where=total > 0)


def _classical_scaling(distances):
    """First coordinate of classical multidimensional scaling (Torgerson 1952)."""
    squared = distances**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True)
    gram = -0.5 * (centred + squared.mean())
    values, vectors = np.linalg.eigh(gram)
    return vectors[:, -1] * np.sqrt(max(values[-1], 0.0))

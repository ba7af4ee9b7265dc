"""Orders in which similar rows, or similar levels of a feature, stand side by side."""

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist

from sklearn_interpret._core.statistics.weighted import weighted_quantile

# Largest number of rows whose pairwise distances are held in memory (16 MB).
MAX_CLUSTERED = 2000
# Largest number of rows for optimal leaf ordering, which takes cubic time.
MAX_OPTIMAL = 400
# Rows whose distances to all centres are computed together.
BLOCK = 1000

_N_QUANTILES = 100


def order_rows(values):
    """Order of rows (n, p) by hierarchical clustering (average linkage, Euclidean).

    Up to `MAX_OPTIMAL` rows, the branches are turned so that neighbours are as close
    as they can be (Bar-Joseph, Gifford and Jaakkola, 2001). Beyond `MAX_CLUSTERED`
    rows, evenly spaced ones of them are clustered, and each other row joins the one
    that it is closest to.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._core.statistics.seriation import order_rows
    >>> order = order_rows(np.array([[0.0], [9.0], [1.0], [8.0]]))
    >>> sorted([order[:2].tolist(), order[2:].tolist()][order[0] in (1, 3)])
    [0, 2]
    """
    n_rows = len(values)
    if n_rows <= 2:
        return np.arange(n_rows)
    scale = np.abs(values).max()
    if scale > 0:  # squares of huge or tiny numbers overflow
        values = values / scale
    if n_rows <= MAX_CLUSTERED:
        return _order_by_clustering(values)
    some = np.linspace(0, n_rows - 1, MAX_CLUSTERED).round().astype(np.intp)
    rank = np.empty(len(some), dtype=np.intp)
    rank[_order_by_clustering(values[some])] = np.arange(len(some))
    squares, closest = _closest(values, values[some])
    return np.lexsort((squares, rank[closest]))


def _closest(values, centres):
    """Squared distance of each row to its closest centre, and which one that is."""
    squares, closest = np.empty(len(values)), np.empty(len(values), dtype=np.intp)
    lengths = (centres**2).sum(axis=1)
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        # Without the row's own square, which is the same for all centres.
        apart = lengths - 2 * values[block] @ centres.T
        closest[block] = apart.argmin(axis=1)
        squares[block] = apart.min(axis=1) + (values[block] ** 2).sum(axis=1)
    return squares, closest


def _order_by_clustering(values):
    distances = pdist(values)
    tree = linkage(distances, method="average")
    if len(values) <= MAX_OPTIMAL:
        tree = optimal_leaf_ordering(tree, distances)
    return leaves_list(tree).astype(np.intp)


def order_levels(codes, n_levels, numeric, categorical, weights):
    """Order levels so that neighbours have similar values of the other features.

    The distance of two levels is summed over the other features: the Kolmogorov-Smirnov
    distance for numeric ones (at the feature's percentiles), the total variation
    distance for categorical ones. One-dimensional classical scaling of the distances
    gives the order (Apley & Zhu 2020); of its two directions the one that puts the
    first level, or else the first one off the middle, on the low side.

    `codes` (n,) are the rows' levels; `numeric` and `categorical` are lists of values
    (n,), NaN left out, and of codes (n,) of the other features; `weights` (n,) are
    positive.
    """
    if n_levels < 3:
        return np.arange(n_levels)
    distances = np.zeros((n_levels, n_levels))
    for values in numeric:
        distances += _kolmogorov_smirnov(codes, n_levels, values, weights)
    for other_codes in categorical:
        distances += _total_variation(codes, n_levels, other_codes, weights)
    # Rounded, so that ties do not depend on the last bits of sums.
    scores = _classical_scaling(distances.round(12)).round(12)
    # The sign of an eigenvector is arbitrary: choose it by the first level that is not
    # in the very middle.
    sides = np.flatnonzero(scores)
    if len(sides) and scores[sides[0]] > 0:
        scores = -scores
    return np.argsort(scores, kind="stable")


def _kolmogorov_smirnov(codes, n_levels, values, weights):
    """Largest distance of distribution functions, for all pairs of levels."""
    known = np.isfinite(values)
    values, codes, weights = values[known], codes[known], weights[known]
    if not len(values):
        return np.zeros((n_levels, n_levels))
    probabilities = np.arange(1, _N_QUANTILES + 1) / _N_QUANTILES
    points = np.unique(weighted_quantile(values, probabilities, weights))
    cells = np.searchsorted(points, values, side="left")
    shares = _shares_by_level(codes, n_levels, cells, len(points), weights)
    functions = np.cumsum(shares, axis=1)
    return np.stack([np.abs(functions - row).max(axis=1) for row in functions])


def _total_variation(codes, n_levels, other_codes, weights):
    """Half the summed difference of shares, for all pairs of levels."""
    n_others = int(other_codes.max()) + 1
    shares = _shares_by_level(codes, n_levels, other_codes, n_others, weights)
    return np.stack([np.abs(shares - row).sum(axis=1) / 2 for row in shares])


def _shares_by_level(codes, n_levels, cells, n_cells, weights):
    """Shares of each level's weight in the cells: (n_levels, n_cells)."""
    flat = np.bincount(codes * n_cells + cells, weights, n_levels * n_cells)
    table = flat.reshape(n_levels, n_cells)
    total = table.sum(axis=1, keepdims=True)
    return table / np.where(total > 0, total, 1.0)


def _classical_scaling(distances):
    """First coordinate of classical multidimensional scaling (Torgerson 1952)."""
    squared = distances**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True)
    gram = -0.5 * (centred + squared.mean())
    values, vectors = np.linalg.eigh(gram)
    return vectors[:, -1] * np.sqrt(max(values[-1], 0.0))

"""Orders in which similar rows, or similar levels of a feature, stand side by side."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from sklearn_interpret._core.statistics.weighted import weighted_quantile

# Largest number of rows whose pairwise distances are held in memory (16 MB).
MAX_CLUSTERED = 2000
# Largest number of rows for optimal leaf ordering, which takes cubic time.
MAX_OPTIMAL = 400
# Rows whose distances to all centres are computed together (16 MB).
BLOCK = 1000

# Quantiles of a numeric feature at which levels are compared.
PERCENTILES = np.arange(1, 101) / 100


def order_rows(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order of rows (n, p) by hierarchical clustering (average linkage, Euclidean).

    Up to `MAX_OPTIMAL` rows, the branches are turned so that neighbours are as close
    as they can be (Bar-Joseph, Gifford and Jaakkola, 2001). Of more than
    `MAX_CLUSTERED` rows, centres at even steps are clustered, and each other row joins
    its closest centre.

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
    centres = np.linspace(0, n_rows - 1, MAX_CLUSTERED).round().astype(np.intp)
    # Rows are ordered by the rank of their centre, then by their distance from it.
    rank = np.empty(len(centres), dtype=np.intp)
    rank[_order_by_clustering(values[centres])] = np.arange(len(centres))
    squares, closest = _closest_centres(values, values[centres])
    return np.lexsort((squares, rank[closest]))


def _closest_centres(
    values: NDArray[np.float64], centres: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Squared distance of each row to its closest centre, and that centre's index."""
    squares, closest = np.empty(len(values)), np.empty(len(values), dtype=np.intp)
    lengths = (centres**2).sum(axis=1)
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        # Without the row's own square, which is the same for all centres.
        distances = lengths - 2 * values[block] @ centres.T
        closest[block] = distances.argmin(axis=1)
        squares[block] = distances.min(axis=1) + (values[block] ** 2).sum(axis=1)
    return squares, closest


def _order_by_clustering(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order of the leaves of a hierarchical clustering of rows (n, p)."""
    from scipy.cluster import hierarchy  # slow to import, and rarely needed

    distances = pdist(values)
    tree = hierarchy.linkage(distances, method="average")
    if len(values) <= MAX_OPTIMAL:
        tree = hierarchy.optimal_leaf_ordering(tree, distances)
    return hierarchy.leaves_list(tree).astype(np.intp)


def order_levels(
    n_levels: int,
    numeric: Sequence[NDArray[np.float64]],
    categorical: Sequence[NDArray[np.float64]],
) -> NDArray[np.intp]:
    """Order levels so that neighbours have similar values of the other features.

    The distance of two levels is summed over the other features: the Kolmogorov-Smirnov
    distance for numeric ones (at the feature's percentiles), the total variation
    distance for categorical ones. One-dimensional classical scaling of the distances
    gives the order (Apley & Zhu 2020), in the direction that puts the first level, or
    else the first level off the middle, on the low side.

    `numeric` and `categorical` have a table (n_levels, n_cells) for each other feature:
    weights of the rows by level and by the other feature's cell. The cells of a numeric
    feature lie between its percentiles, the cells of a categorical one are its levels.
    """
    distances = np.zeros((n_levels, n_levels))
    for table in numeric:
        functions = np.cumsum(_shares_by_level(table), axis=1)
        distances += np.stack(
            [np.abs(functions - row).max(axis=1, initial=0) for row in functions]
        )
    for table in categorical:
        shares = _shares_by_level(table)
        distances += np.stack([np.abs(shares - row).sum(axis=1) / 2 for row in shares])
    # Rounded, so that ties do not depend on the last bits of sums.
    scores = _classical_scaling(distances.round(12)).round(12)
    # The sign of an eigenvector is arbitrary: choose it by the first level that is not
    # in the very middle.
    sides = np.flatnonzero(scores)
    if len(sides) and scores[sides[0]] > 0:
        scores = -scores
    return np.argsort(scores, kind="stable")


def percentiles(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Distinct percentiles of known values (n,)."""
    if not len(values):
        return values
    return np.unique(weighted_quantile(values, PERCENTILES, weights))


def cell_weights(
    codes: NDArray[np.intp],
    cells: NDArray[np.intp],
    shape: tuple[int, int],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weights of the rows with each code and cell, as a table of a shape."""
    flat = np.ravel_multi_index((codes, cells), shape)
    sums = np.bincount(flat, weights, shape[0] * shape[1])
    return sums.astype(np.float64, copy=False).reshape(shape)


def _shares_by_level(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each level's shares in the cells."""
    total = table.sum(axis=1, keepdims=True)
    return table / np.where(total > 0, total, 1.0)


def _classical_scaling(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """First coordinate of classical multidimensional scaling (Torgerson 1952)."""
    squared = distances**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True)
    gram = -0.5 * (centred + squared.mean())
    values, vectors = np.linalg.eigh(gram)
    return vectors[:, -1] * np.sqrt(max(values[-1], 0.0))

"""An order of rows in which similar ones stand side by side."""

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist

# Distances between all pairs of this many rows are held in memory (16 MB).
MAX_CLUSTERED = 2000
# Turning branches so that neighbours are close takes cubic time.
MAX_OPTIMAL = 400
BLOCK = 1000


def similarity_order(values):
    """Order of rows by hierarchical clustering (average linkage, Euclidean).

    Up to `MAX_OPTIMAL` rows, the branches are turned so that neighbours are as close
    as they can be (Bar-Joseph, Gifford and Jaakkola, 2001). Beyond `MAX_CLUSTERED`
    rows, evenly spaced ones of them are clustered, and each other row joins the one
    that it is closest to.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features)
        Finite numbers.

    Returns
    -------
    ndarray of shape (n_rows,), dtype intp
        Positions of the rows, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._core.statistics.seriation import similarity_order
    >>> order = similarity_order(np.array([[0.0], [9.0], [1.0], [8.0]]))
    >>> sorted([order[:2].tolist(), order[2:].tolist()][order[0] in (1, 3)])
    [0, 2]
    """
    n_rows = len(values)
    if n_rows <= 2:
        return np.arange(n_rows)
    scale = np.abs(values).max()
    if scale > 0:  # squares of huge or tiny numbers would not be numbers
        values = values / scale
    if n_rows <= MAX_CLUSTERED:
        return _leaves(values)
    some = np.linspace(0, n_rows - 1, MAX_CLUSTERED).round().astype(np.intp)
    places = np.empty(len(some), dtype=np.intp)
    places[_leaves(values[some])] = np.arange(len(some))
    squares, closest = _closest(values, values[some])
    return np.lexsort((squares, places[closest]))


def _closest(values, centres):
    """Squared distance of each row to its closest centre, and which one that is."""
    squares, closest = np.empty(len(values)), np.empty(len(values), dtype=np.intp)
    lengths = (centres**2).sum(axis=1)
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        # Less the row's own square, which all centres have in common.
        apart = lengths - 2 * values[block] @ centres.T
        closest[block] = apart.argmin(axis=1)
        squares[block] = apart.min(axis=1) + (values[block] ** 2).sum(axis=1)
    return squares, closest


def _leaves(values):
    distances = pdist(values)
    tree = linkage(distances, method="average")
    if len(values) <= MAX_OPTIMAL:
        tree = optimal_leaf_ordering(tree, distances)
    return leaves_list(tree).astype(np.intp)

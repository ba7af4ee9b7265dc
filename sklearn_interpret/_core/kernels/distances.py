"""Distances between all rows of one table and all of another."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

# Up to this number of rows a product of matrices is no faster than scipy. Chosen by
# hand.
FEW_ROWS = 8


def squared_distances(
    A: NDArray[np.float64], B: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Squared Euclidean distances of rows (m, d) and (n, d): (m, n).

    Exactly zero between copies where one table has few rows; else to rounding.
    """
    if min(len(A), len(B)) <= FEW_ROWS:
        return cdist(A, B, "sqeuclidean")
    # |a|^2 - 2 ab + |b|^2
    distances = A @ B.T
    distances *= -2
    distances += np.einsum("ij,ij->i", A, A)[:, None]
    distances += np.einsum("ij,ij->i", B, B)
    return np.maximum(distances, 0, out=distances)


def gower_distances(
    A: NDArray[np.float64], B: NDArray[np.float64], categorical: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Gower's distances of encoded rows (m, d) and (n, d): (m, n).

    Means over the columns of the differences: of numbers, which come in units of their
    range; of categories 0 or 1. NaN is one away from all but NaN.
    """
    gaps = np.any(np.isnan(A), axis=0) | np.any(np.isnan(B), axis=0)
    is_plain = ~categorical & ~gaps  # numbers without missing values
    total = cdist(A[:, is_plain], B[:, is_plain], "cityblock")
    for j in np.flatnonzero(~is_plain):
        a, b = A[:, j, None], B[:, j]
        differences = a != b if categorical[j] else np.abs(a - b)
        if gaps[j]:
            missing = np.isnan(a), np.isnan(b)
            differences = np.where(
                np.logical_or(*missing), np.not_equal(*missing), differences
            )
        total += differences
    total /= len(categorical)
    return total

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
    A: NDArray[np.float64],
    B: NDArray[np.float64],
    categorical: NDArray[np.bool_],
    *,
    squared: bool = False,
) -> NDArray[np.float64]:
    """Gower's distances of encoded rows (m, d) and (n, d): (m, n).

    The distance is the mean over the columns of the differences, or of their squares.
    Numbers come in units of their range; categories differ by 0 or 1. NaN differs by
    one from all but NaN.
    """
    has_missing = np.any(np.isnan(A), axis=0) | np.any(np.isnan(B), axis=0)
    is_plain = ~categorical & ~has_missing  # numbers without missing values
    metric = "sqeuclidean" if squared else "cityblock"
    total = cdist(A[:, is_plain], B[:, is_plain], metric)
    for j in np.flatnonzero(~is_plain):
        a, b = A[:, j, None], B[:, j]
        differences = a != b if categorical[j] else np.abs(a - b) ** (1 + squared)
        if has_missing[j]:
            a_missing, b_missing = np.isnan(a), np.isnan(b)
            differences = np.where(
                a_missing | b_missing, a_missing != b_missing, differences
            )
        total += differences
    total /= len(categorical)
    return total

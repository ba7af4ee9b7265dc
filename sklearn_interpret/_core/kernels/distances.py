"""Distances between all rows of one table and all of another."""

import numpy as np
from scipy.spatial.distance import cdist


def gower_distances(A, B, categorical):
    """Gower's distances of encoded rows (m, d) and (n, d): (m, n).

    Means over the columns of the differences: of numbers, which come in units of their
    range, NaN being one unit away from all but NaN; of categories 0 or 1.
    """
    gaps = np.isnan(A).any(axis=0) | np.isnan(B).any(axis=0)
    plain = ~categorical & ~gaps
    total = cdist(A[:, plain], B[:, plain], "cityblock")
    for j in np.flatnonzero(~plain):
        a, b = A[:, j, None], B[:, j]
        if categorical[j]:
            total += a != b
        else:
            absent = np.isnan(a), np.isnan(b)
            total += np.where(
                np.logical_or(*absent), absent[0] != absent[1], abs(a - b)
            )
    total /= len(categorical)
    return total

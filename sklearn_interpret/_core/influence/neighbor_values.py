"""Shapley values of rows in predictions of nearest neighbours (Jia et al. 2019).

The prediction of a set of training rows is the mean over its k nearest ones, where
missing ones count as zero; values of its rows follow from each other in the order of
their distances, from the farthest on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


def agreement_values(agrees: _Floats, k: int) -> _Floats:
    """Values (m, n) of rows for the share of k neighbours that agree.

    Takes whether training rows agree, (m, n), for each predicted row the nearest first.
    """
    n = agrees.shape[1]
    ranks = np.arange(1, n)
    steps = (agrees[:, :-1] - agrees[:, 1:]) * np.minimum(k, ranks) / (k * ranks)
    return _cumulate(steps, agrees[:, -1] / n)


def squared_error_values(neighbors: _Floats, targets: _Floats, k: int) -> _Floats:
    """Values (m, n) of rows for less squared error of the mean of k neighbours.

    Takes targets of training rows (m, n), for each predicted row the nearest first, and
    of the predicted rows (m,). There are k training rows or more.
    """
    n, y = neighbors.shape[1], targets[:, None]
    farthest = neighbors[:, -1:]
    others = neighbors[:, :-1].sum(axis=1, keepdims=True) / max(n - 1, 1)
    last = (1 - k) / k * farthest * (farthest / k - 2 * y + others)
    last += y**2 - (farthest / k - y) ** 2
    # Of a pair of subsequent rows, by rank: weights of all targets in the mean.
    ranks = np.arange(1, n)
    near = (np.minimum(k, ranks) - 1) / np.maximum(ranks - 1, 1)
    sums = np.cumsum(neighbors[:, :-1], axis=1) - neighbors[:, :-1]
    far = np.minimum(k, ranks) * np.minimum(k - 1, ranks - 1) / ranks
    far = np.append(0.0, far / np.maximum(ranks - 1, 1)) * neighbors
    far_sums = _cumulate(far[:, :-1], far[:, -1])[:, 1:] - far[:, 1:]
    means = near * sums + neighbors[:, :-1] + neighbors[:, 1:]
    means += ranks / np.minimum(k, ranks) * far_sums
    steps = np.diff(neighbors, axis=1) * np.minimum(k, ranks) / (k * ranks)
    return _cumulate(steps * (means / k - 2 * y), last[:, 0] / n)


def _cumulate(steps: _Floats, last: _Floats) -> _Floats:
    """Sums (m, n) of steps (m, n - 1) from each on, and the last value (m,)."""
    joined = np.concatenate([steps, last[:, None]], axis=1)
    return np.cumsum(joined[:, ::-1], axis=1)[:, ::-1]

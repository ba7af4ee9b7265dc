"""Bins of a number: by classes (Holte 1993; Fayyad & Irani 1993), width or weight.

A bin is a pair: the positions of its first and its last value.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy


def majority_bins(
    class_sums: NDArray[np.float64], min_size: NDArray[np.float64] | Sequence[float]
) -> list[tuple[int, int]]:
    """Bins with a large enough majority class each, as first and last value.

    A bin is closed before a value at which another class is the largest, once the bin's
    majority class has its `min_size`. Neighbours of one majority class are joined.

    Parameters
    ----------
    class_sums : ndarray of shape (n_values, n_classes)
        Weights of the classes at each value, in the order of the values.
    min_size : ndarray of shape (n_classes,)
        Least weight of a bin's majority class; the last bin may have less.

    Returns
    -------
    list of (first, last)
        Positions of values.
    """
    largest_class = class_sums.argmax(axis=1)
    sums_upto = class_sums.cumsum(axis=0)
    bins: list[tuple[int, int]] = []
    majority = -1  # of the last bin
    first, sums_before = 0, np.zeros(class_sums.shape[1])
    for last in range(len(class_sums)):
        sums = sums_upto[last] - sums_before
        label = int(sums.argmax())
        is_small = sums[label] < min_size[label]
        at_end = last + 1 == len(class_sums)
        if not at_end and (is_small or largest_class[last + 1] == label):
            continue
        if bins and sums[majority] == sums[label]:
            bins[-1] = bins[-1][0], last
        else:
            bins.append((first, last))
            majority = label
        first, sums_before = last + 1, sums_upto[last]
    return bins


def uniform_bins(values: NDArray[np.float64], n_bins: int) -> list[tuple[int, int]]:
    """Bins of equal width that hold values, as first and last value."""
    edges = np.linspace(values[0], values[-1], n_bins + 1)[1:-1]
    starts = np.searchsorted(values, edges, side="right")
    bounds = np.unique(np.concatenate([[0], starts, [len(values)]]))
    return list(zip(bounds[:-1].tolist(), (bounds[1:] - 1).tolist(), strict=True))


def quantile_bins(weights: NDArray[np.float64], n_bins: int) -> list[tuple[int, int]]:
    """Bins of about the same weight, as first and last value; fewer of few values."""
    weights_upto = weights.cumsum()
    inner_edges = weights_upto[-1] * np.arange(1, n_bins)[:, None] / n_bins
    lasts = []
    if len(weights) > 1:
        lasts = np.abs(weights_upto[:-1] - inner_edges).argmin(axis=1).tolist()
    lasts = np.unique([*lasts, len(weights) - 1]).tolist()
    return list(zip([0, *(last + 1 for last in lasts[:-1])], lasts, strict=True))


def entropy_bins(class_sums: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Bins that separate classes, as first and last value (Fayyad & Irani 1993).

    A bin is cut where the entropy of the classes drops most, as long as the cut saves
    more bits than are needed to send it.

    Parameters
    ----------
    class_sums : ndarray of shape (n_values, n_classes)
        Weights of the classes at each value, in the order of the values.

    Returns
    -------
    list of (first, last)
        Positions of values.
    """
    last = len(class_sums) - 1
    if last == 0:
        return [(0, 0)]
    sums_upto = class_sums.cumsum(axis=0)
    total = sums_upto[-1]
    sides = np.stack([sums_upto[:-1], total - sums_upto[:-1]])
    bits_by_cut = _entropy_bits(sides).sum(axis=0)
    cut = int(bits_by_cut.argmin())
    sides = sides[:, cut]
    # The bits that it takes to send the cut: (9) and (10) of the paper, times the
    # number of rows.
    n_classes, n_classes_of_sides = np.sum(total > 0), np.sum(sides > 0, axis=1)
    bits_of_cut = np.log2(max(total.sum() - 1, 1)) + np.log2(3.0**n_classes - 2)
    bits_of_cut -= _entropy_bits(total) / total.sum() * n_classes
    bits_of_cut += np.sum(_entropy_bits(sides) / sides.sum(axis=1) * n_classes_of_sides)
    if _entropy_bits(total) - bits_by_cut[cut] <= bits_of_cut:
        return [(0, last)]
    below = entropy_bins(class_sums[: cut + 1])
    above = entropy_bins(class_sums[cut + 1 :])
    return below + [(first + cut + 1, last + cut + 1) for first, last in above]


def _entropy_bits(class_sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy of classes, times their weight, along the last axis."""
    total = class_sums.sum(axis=-1)
    within_classes = xlogy(class_sums, class_sums).sum(axis=-1)
    return (xlogy(total, total) - within_classes) / np.log(2)

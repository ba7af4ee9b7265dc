"""Bins of a number that are about classes (Holte 1993), or of equal width."""

import numpy as np


def majority_bins(class_sums, min_size):
    """Bins, each of whose majority class is large enough, as first and last value.

    A bin is closed before a value at which another class is the largest, once its own
    majority class has the least weight. Neighbours of one majority class are joined.

    Parameters
    ----------
    class_sums : ndarray of shape (n_values, n_classes)
        Weights of the classes at each value, in the order of the values.
    min_size : float
        Least weight of a bin's majority class; the last bin may have less.

    Returns
    -------
    list of (first, last)
        Positions of values.
    """
    largest = class_sums.argmax(axis=1)
    upto = class_sums.cumsum(axis=0)
    bins, majority, first, before = [], None, 0, 0.0
    for last in range(len(class_sums)):
        sums = upto[last] - before
        label = sums.argmax()
        at_end = last + 1 == len(class_sums)
        if not at_end and (sums[label] < min_size or largest[last + 1] == label):
            continue
        if bins and sums[majority] == sums[label]:
            bins[-1] = bins[-1][0], last
        else:
            bins.append((first, last))
            majority = label
        first, before = last + 1, upto[last]
    return bins


def uniform_bins(values, n_bins):
    """Bins of equal width that hold values, as first and last value."""
    edges = np.linspace(values[0], values[-1], n_bins + 1)[1:-1]
    starts = np.searchsorted(values, edges, side="right")
    bounds = np.unique(np.concatenate([[0], starts, [len(values)]]))
    return list(zip(bounds[:-1].tolist(), (bounds[1:] - 1).tolist(), strict=True))

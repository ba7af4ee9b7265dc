"""Partial dependence, individual curves and conditional means, row by row as defined.

A row of weight w counts as w rows.
"""

import numpy as np

from tests.references.effects import at, interval_of


def individual_curve(f, row, columns, points):
    """Response to one row with `columns` set to each of the points."""
    rows = [at(list, row, dict(zip(columns, point, strict=True))) for point in points]
    return np.array(f.of_all(rows) if hasattr(f, "of_all") else list(map(f, rows)))


def partial_dependence(f, X, columns, points, weights):
    """Weighted mean of the individual curves (Friedman 2001)."""
    total, weight = np.zeros(len(points)), 0.0
    for row, w in zip(X, weights, strict=True):
        total += w * individual_curve(f, row, columns, points)
        weight += w
    return total / weight


def standard_error(values, weights):
    """Standard error of a mean over repeated rows."""
    sample = np.repeat(values, weights, axis=0)
    return sample.std(axis=0, ddof=1) / np.sqrt(len(sample))


def conditional_means(f, X, j, edges, weights):
    """Mean response of the rows in each interval, and the weight of these rows."""
    n_intervals = len(edges) - 1
    total, weight = np.zeros(n_intervals), np.zeros(n_intervals)
    for row, w in zip(X, weights, strict=True):
        cell = interval_of(row[j], edges)
        if cell >= 0:
            total[cell] += w * f(list(row))
            weight[cell] += w
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1), np.nan), weight

"""Grids and intervals over the values of one feature."""

import numpy as np

from sklearn_interpret._core.weighted import weighted_quantile

# Values that are placed at once stay in the processor's cache.
_AT_ONCE = 2**13


def numeric_grid(values, weights, resolution, percentiles, *, observed_only=False):
    """Points at which an effect is evaluated.

    Few distinct values (at most `resolution`) are taken as they are. Otherwise the
    points are equally spaced between the two quantiles, or, with `observed_only`, the
    observed values nearest to those points.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite values.
    weights : ndarray of shape (n,) or None
        Positive weights.
    resolution : int
        Largest number of points.
    percentiles : tuple of two floats in [0, 1]
        The quantiles between which the points lie.
    observed_only : bool, default=False
        Use observed values alone, as integers need.

    Returns
    -------
    ndarray of shape (G,), G <= resolution
        Increasing, distinct.
    """
    distinct = np.unique(values)
    if len(distinct) <= resolution:
        return distinct
    low, high = weighted_quantile(values, percentiles, weights)
    if low == high:
        # Most of the weight sits on one value: spread the points over the distinct
        # values instead, so that the curve still has a range.
        ranks = np.linspace(0, len(distinct) - 1, resolution).round().astype(np.intp)
        return distinct[ranks]
    points = np.linspace(low, high, resolution)
    return nearest(points, distinct) if observed_only else points


def nearest(points, candidates):
    """Those of the increasing `candidates` that lie nearest to `points`, distinct."""
    right = np.searchsorted(candidates, points).clip(1, len(candidates) - 1)
    left = right - 1
    take_left = points - candidates[left] <= candidates[right] - points
    return candidates[np.unique(np.where(take_left, left, right))]


def interval_edges(values, weights, n_intervals):
    """Edges of intervals of nearly equal weight.

    The distinct inverted-CDF quantiles at k / K, k = 1..K, after the smallest value
    (Apley & Zhu 2020, section 3).

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite values.
    weights : ndarray of shape (n,) or None
        Positive weights.
    n_intervals : int
        K, the largest number of intervals.

    Returns
    -------
    ndarray of shape (at most K + 1,)
        Increasing; a single edge where the feature is constant.
    """
    probabilities = np.arange(1, n_intervals + 1) / n_intervals
    quantiles = weighted_quantile(values, probabilities, weights)
    return np.unique(np.concatenate([[values.min()], quantiles]))


def conditioning_edges(values, weights, n_intervals):
    """Edges of intervals to condition on: few distinct values stand alone.

    As :func:`interval_edges`, but at most `n_intervals` distinct values each get an
    interval, and a smallest value that carries a whole share of the weight gets one
    from itself to itself.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite values.
    weights : ndarray of shape (n,) or None
        Positive weights.
    n_intervals : int
        Largest number of intervals.

    Returns
    -------
    ndarray of shape (at most n_intervals + 1,)
        Non-decreasing; only the first two may be equal.
    """
    ends = np.unique(values)
    if len(ends) > n_intervals:
        probabilities = np.arange(1, n_intervals + 1) / n_intervals
        ends = np.unique(weighted_quantile(values, probabilities, weights))
    return np.concatenate([[values.min()], ends])


def interval_index(values, edges):
    """Index of the interval (z_{k-1}, z_k] of each value, the first one closed.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN allowed.
    edges : ndarray of shape (K + 1,)
        Increasing; the first two may be equal.

    Returns
    -------
    ndarray of shape (n,), dtype intp
        In 0..K-1; -1 for NaN and for values outside the edges (where there is no
        edge, for all).
    """
    if not len(edges):
        return np.full(len(values), -1, dtype=np.intp)
    index = search_sorted(edges, values) - 1
    index[values == edges[0]] = 0
    inside = (values >= edges[0]) & (values <= edges[-1])
    index[~inside] = -1
    return index


def search_sorted(nodes, values, side="left"):
    """What :func:`numpy.searchsorted` finds, several times faster for many values.

    The span of the nodes is cut into many equal cells. The cell of a number never
    decreases with it, rounding included, so that all nodes in lower cells are smaller
    and all in higher cells are larger; only values that share a cell with a node are
    searched for.

    Parameters
    ----------
    nodes : ndarray of shape (m,)
        Increasing.
    values : ndarray of shape (n,)
        NaN allowed; it comes last.
    side : {"left", "right"}, default="left"
        As in numpy.

    Returns
    -------
    ndarray of shape (n,), dtype intp
    """
    if len(nodes) < 2 or len(values) < _AT_ONCE:
        return np.searchsorted(nodes, values, side=side)
    n_cells = 2 ** min(max((8 * len(nodes)).bit_length(), 11), 16)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = (n_cells - 4) / (nodes[-1] - nodes[0])
        if not 0 < scale < np.inf:
            return np.searchsorted(nodes, values, side=side)
        held = np.bincount(_cells(nodes, nodes[0], scale, n_cells), minlength=n_cells)
        below = np.cumsum(held) - held
        below[held > 0] = -1
        below[0] = -1  # where a cast of NaN ends up
        found = np.empty(len(values), dtype=np.intp)
        for start in range(0, len(values), _AT_ONCE):
            chunk = slice(start, start + _AT_ONCE)
            cells = _cells(values[chunk], nodes[0], scale, n_cells)
            found[chunk] = below.take(cells, mode="clip")
    shared = np.flatnonzero(found < 0)
    found[shared] = np.searchsorted(nodes, values[shared], side=side)
    return found


def _cells(values, first, scale, n_cells):
    places = np.subtract(values, first, dtype=np.float64)
    places *= scale
    places += 2
    np.clip(places, 1, n_cells - 1, out=places)
    return places.astype(np.intp)

"""Curves over a grid: interpolation, look-up, weight on the grid, slopes."""

from itertools import product

import numpy as np

from sklearn_interpret._core.statistics.grids import AT_ONCE, NodeSearch


def grid_position(values, nodes):
    """Left neighbour (m,) of values among increasing nodes, share of the way onwards.

    Values beyond the nodes count as the nearest one; the share is NaN where they are.
    """
    low, share = np.empty(len(values), dtype=np.intp), np.empty(len(values))
    for rows, *position in _grid_positions(values, nodes):
        low[rows], share[rows] = position
    return low, share


def _grid_positions(values, nodes):
    """Slices of the values with what `grid_position` finds for them."""
    with np.errstate(over="ignore"):
        gaps = np.diff(nodes)
    if np.isinf(gaps).any():
        values, nodes = values / 2, nodes / 2
        gaps = np.diff(nodes)
    search = NodeSearch(nodes[1:-1], side="right")
    for start in range(0, len(values), AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        if len(nodes) == 1:
            yield rows, np.zeros(len(values[rows]), dtype=np.intp), values[rows] * 0.0
            continue
        some = np.clip(values[rows], nodes[0], nodes[-1])
        low = search(some)
        yield rows, low, (some - nodes.take(low)) / gaps.take(low)


def grid_masses(lows, shares, shape, weights):
    """Weight that rows put on each point of a grid over which they interpolate.

    The weighted mean over the rows of a (bi)linear function of the grid is its values
    times these masses. `lows` and `shares` are, for each axis, those of
    :func:`grid_position`, `weights` (m,) those of the rows.
    """
    masses = np.zeros(int(np.prod(shape)))
    for corner in product((0, 1), repeat=len(shape)):
        part, places = weights, []
        for step, low, share, size in zip(corner, lows, shares, shape, strict=True):
            part = part * (share if step else 1 - share)
            places.append(np.minimum(low + step, size - 1))
        index = np.ravel_multi_index(places, shape)
        masses += np.bincount(index, part, len(masses))
    return masses.reshape(shape)


def grid_sums(low, share, n_points, weights):
    """Summed weights of rows, those times the share, and times its square: (3, n).

    By the left neighbour of each row, whose `low` and `share` are those of
    :func:`grid_position`; `weights` (m,) are the rows'.
    """
    first = weights * share
    parts = weights, first, first * share
    return np.stack([np.bincount(low, part, n_points) for part in parts])


def masses_of_sums(sums):
    """Shares of the rows' weight on each point of the grid, from :func:`grid_sums`."""
    masses = sums[0] - sums[1]
    masses[1:] += sums[1, :-1]
    return masses / (sums[0].sum() or 1.0)


def variance_of_sums(curves, sums):
    """Variance over the rows of the interpolated `curves` (k, n): (k,)."""
    rises = np.diff(curves, append=curves[:, -1:])
    curves = curves - (curves @ masses_of_sums(sums))[:, None]
    squares = curves**2 @ sums[0] + (2 * curves * rises) @ sums[1] + rises**2 @ sums[2]
    return np.maximum(squares / (sums[0].sum() or 1.0), 0.0)


def interpolate(values, nodes, curves):
    """Curves (k, G) at `values` (m,): (m, k); NaN gives NaN.

    Linear between the increasing nodes (G,), constant beyond them.
    """
    # Shares of the interval and not slopes, which overflow between tiny numbers.
    rises = np.diff(curves, append=curves[:, -1:])
    values_at = np.empty((len(values), len(curves)))
    for rows, low, shares in _grid_positions(values, nodes):
        for output, (curve, rise) in enumerate(zip(curves, rises, strict=True)):
            values_at[rows, output] = curve.take(low) + rise.take(low) * shares
    return values_at


def look_up(codes, curves):
    """Curves (k, L) at integer `codes` (m,): (m, k); -1 gives NaN."""
    if not curves.shape[1]:
        return np.full((len(codes), len(curves)), np.nan)
    values_at = curves.T[np.maximum(codes, 0)].astype(np.float64)
    values_at[codes < 0] = np.nan
    return values_at


def derivative(curves, nodes):
    """Slope of `curves` (..., G) along the increasing `nodes` (G,)."""
    if len(nodes) < 2:
        return np.zeros_like(curves)
    return np.gradient(curves, nodes, axis=-1)

"""Grids and intervals over the values of one feature, and curves over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import weighted_quantile

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]
_Side = Literal["left", "right"]

# Values searched for in one block: 96 KB, which fit the second cache of a core.
AT_ONCE = 3 * 2**12
# With fewer values, the table of cells of `NodeSearch` costs more than it saves. Chosen
# by hand.
_MANY_VALUES = 2**10
# Largest number of intervals, unless there are more rows: limits the memory where the
# number of intervals is too large by mistake.
_MAX_INTERVALS = 2**20


def numeric_grid(
    values: _Array,
    weights: _Array | None,
    resolution: int,
    percentiles: tuple[float, float],
    *,
    observed_only: bool = False,
) -> _Array:
    """At most `resolution` increasing points at which an effect is evaluated.

    Up to `resolution` distinct values (n,) are the points. Otherwise the points
    are equally spaced between the two quantiles `percentiles`, or, with `observed_only`
    (which integers need), the observed values nearest to those points.
    """
    # Some of the values often show that there are many, without sorting them all.
    if len(np.unique(values[: 4 * resolution])) <= resolution:
        distinct = np.unique(values)
        if len(distinct) <= resolution:
            return distinct
    low, high = weighted_quantile(values, percentiles, weights)
    points = _evenly_spaced(low, high, resolution)
    if low < high and not observed_only:
        return points
    distinct = np.unique(values)
    if low == high:
        # Most of the weight sits on one value: spread the points over the distinct
        # values instead, so that the curve still has a range.
        ranks = np.linspace(0, len(distinct) - 1, resolution).round().astype(np.intp)
        return distinct[ranks]
    return nearest(points, distinct)


def _evenly_spaced(low: float, high: float, n_points: int) -> _Array:
    """As :func:`numpy.linspace`, over ranges of any size."""
    with np.errstate(over="ignore"):
        scale = 1 if np.isfinite(high - low) else 2
    return scale * np.linspace(low / scale, high / scale, n_points)


def nearest(points: _Array, candidates: _Array) -> _Array:
    """Distinct members of the increasing `candidates` that are nearest to `points`."""
    right = np.searchsorted(candidates, points).clip(1, len(candidates) - 1)
    left = right - 1
    take_left = points - candidates[left] <= candidates[right] - points
    return candidates[np.unique(np.where(take_left, left, right))]


def interval_edges(values: _Array, weights: _Array | None, n_intervals: int) -> _Array:
    """Edges of at most `n_intervals` intervals of nearly equal weight, increasing.

    The distinct inverted-CDF quantiles of the values (n,) at k / K, k = 1..K, after the
    smallest value (Apley & Zhu 2020, section 3). A constant feature has a single edge.
    """
    ends = _interval_ends(values, weights, n_intervals)
    return np.unique(np.append(values.min(), ends))


def conditioning_edges(
    values: _Array, weights: _Array | None, n_intervals: int
) -> _Array:
    """Edges of intervals to condition on: few distinct values get one each.

    As :func:`interval_edges`, but the first interval may hold the smallest value
    alone: then, and only then, the first two edges are equal.
    """
    ends = np.unique(values)
    if len(ends) > n_intervals:
        ends = np.unique(_interval_ends(values, weights, n_intervals))
    return np.append(values.min(), ends)


def _interval_ends(values: _Array, weights: _Array | None, n_intervals: int) -> _Array:
    """Values at the shares k / K of the weight, k = 1..K."""
    # More intervals than rows end at each row, unless its weight is very small.
    n_intervals = min(n_intervals, max(len(values), _MAX_INTERVALS))
    probabilities = np.arange(1, n_intervals + 1) / n_intervals
    return weighted_quantile(values, probabilities, weights)


def interval_index(values: _Array, edges: _Array) -> NDArray[np.intp]:
    """Index of the interval (z_{k-1}, z_k] of each value (n,), the first one closed.

    -1 for NaN and for values outside the edges (K + 1,). The first two edges may be
    equal; without edges all values are outside.
    """
    if not len(edges):
        return np.full(len(values), -1, dtype=np.intp)
    index = search_sorted(edges, values) - 1
    index[values == edges[0]] = 0
    inside = (values >= edges[0]) & (values <= edges[-1])
    index[~inside] = -1
    return index


def search_sorted(
    nodes: _Array, values: _Array, side: _Side = "left"
) -> NDArray[np.intp]:
    """:func:`numpy.searchsorted`, several times faster for many values."""
    search = search_among(nodes, len(values), side)
    positions = np.empty(len(values), dtype=np.intp)
    for start in range(0, len(values), AT_ONCE):
        block = slice(start, start + AT_ONCE)
        positions[block] = search(values[block])
    return positions


def search_among(
    nodes: _Array, n_values: int, side: _Side = "left"
) -> Callable[[_Array], NDArray[np.intp]]:
    """The quickest search function for blocks of values, `n_values` in all."""
    if n_values < _MANY_VALUES + len(nodes):
        return lambda values: nodes.searchsorted(values, side)
    return NodeSearch(nodes, side)


class NodeSearch:
    """:func:`numpy.searchsorted` by a table of equal cells over increasing nodes.

    The cell of a number never decreases with it, rounding included. So where a cell
    holds at most one node, the number of nodes in lower cells and one comparison give
    the position; values in cells with several nodes are searched for.
    """

    def __init__(self, nodes: _Array, side: _Side = "left") -> None:
        m = len(nodes)
        self._nodes, self._side = nodes, side
        self._is_passed = np.less if side == "left" else np.less_equal
        # About eight cells for each node, at least 2^11 and at most 2^16 in all.
        self._n_cells = 2 ** min(max((8 * m).bit_length(), 11), 16)
        with np.errstate(all="ignore"):
            span = nodes[-1] - nodes[0] if m else 0.0
            self._scale = (self._n_cells - 4) / np.float64(span)
            self._shift = 2 - nodes[0] * self._scale if m else np.nan
        self._has_cells = bool(0 < self._scale < np.inf and np.isfinite(self._shift))
        if self._has_cells:
            counts = np.bincount(self._cells(nodes), minlength=self._n_cells)
            # Number of nodes below each cell; m + 1 where it holds several.
            self._n_below = np.cumsum(counts) - counts
            self._n_below[0] = m  # where a cast of NaN ends up
            self._n_below[counts > 1] = m + 1
            self._next_node = np.append(nodes, [np.nan, np.nan])

    def __call__(self, values: _Array) -> NDArray[np.intp]:
        """Positions (n,), intp, of values (n,) among the nodes."""
        if not self._has_cells:
            return np.searchsorted(self._nodes, values, side=self._side)
        with np.errstate(over="ignore", invalid="ignore"):
            positions = self._n_below.take(self._cells(values), mode="clip")
            positions += self._is_passed(self._next_node.take(positions), values)
        in_shared_cell = positions > len(self._nodes)
        if in_shared_cell.any():
            searched = values[in_shared_cell]
            positions[in_shared_cell] = self._nodes.searchsorted(searched, self._side)
        return positions

    def _cells(self, values: _Array) -> NDArray[np.intp]:
        """The cell of each value; nodes have the cells from 2 on."""
        cells = np.multiply(values, self._scale, dtype=np.float64)
        cells += self._shift
        return cells.clip(1, self._n_cells - 1, out=cells).astype(np.intp)


def grid_position(values: _Array, nodes: _Array) -> tuple[NDArray[np.intp], _Array]:
    """Left neighbours (m,) of values among increasing nodes, and shares (m,).

    The share says how far the value lies on the way from its left neighbour to the next
    node; NaN for NaN. Values beyond the nodes count as the nearest node.
    """
    low, share = np.empty(len(values), dtype=np.intp), np.empty(len(values))
    for rows, *position in _grid_positions(values, nodes):
        low[rows], share[rows] = position
    return low, share


def _grid_positions(
    values: _Array, nodes: _Array
) -> Iterator[tuple[slice, NDArray[np.intp], _Array]]:
    """Slices of the values with the result of `grid_position` for them."""
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
        clipped = np.clip(values[rows], nodes[0], nodes[-1])
        low = search(clipped)
        yield rows, low, (clipped - nodes.take(low)) / gaps.take(low)


def grid_masses(
    lows: Sequence[NDArray[np.intp]],
    shares: Sequence[_Array],
    shape: tuple[int, ...],
    weights: _Array,
) -> _Array:
    """Weight that rows put on each point of a grid over which they interpolate.

    The weighted mean over the rows of a (bi)linear function of the grid is its values
    times these masses. `lows` and `shares` are, for each axis, the results of
    :func:`grid_position`, and `weights` (m,) are the weights of the rows.
    """
    masses = np.zeros(int(np.prod(shape)))
    for corner in product((0, 1), repeat=len(shape)):
        corner_weights, indices = weights, []
        for step, low, share, size in zip(corner, lows, shares, shape, strict=True):
            corner_weights = corner_weights * (share if step else 1 - share)
            indices.append(np.minimum(low + step, size - 1))
        index = np.ravel_multi_index(indices, shape)
        masses += np.bincount(index, corner_weights, len(masses))
    return masses.reshape(shape)


def grid_sums(
    low: NDArray[np.intp], share: _Array, n_points: int, weights: _Array
) -> _Array:
    """Sums of weights, times the share to the power 0, 1 and 2: (3, n_points).

    The sums are over the rows with each left neighbour. `low` and `share` (m,) are the
    results of :func:`grid_position`, `weights` (m,) are the weights of the rows. Means
    and variances of curves over the rows follow from these sums.
    """
    times_share = weights * share
    products = weights, times_share, times_share * share
    return np.stack([np.bincount(low, values, n_points) for values in products])


def masses_of_sums(sums: _Array) -> _Array:
    """Shares of the rows' weight on each point of the grid, from :func:`grid_sums`."""
    masses = sums[0] - sums[1]
    masses[1:] += sums[1, :-1]
    return masses / (sums[0].sum() or 1.0)


def variance_of_sums(curves: _Array, sums: _Array) -> _Array:
    """Variance over the rows of the interpolated `curves` (k, n): (k,)."""
    rises = np.diff(curves, append=curves[:, -1:])
    curves = curves - (curves @ masses_of_sums(sums))[:, None]
    squares = curves**2 @ sums[0] + (2 * curves * rises) @ sums[1] + rises**2 @ sums[2]
    return np.maximum(squares / (sums[0].sum() or 1.0), 0.0)


def interpolate(values: _Array, nodes: _Array, curves: _Array) -> _Array:
    """Curves (k, G) at `values` (m,): (m, k); NaN gives NaN.

    Linear between the increasing nodes (G,), constant beyond them.
    """
    # Shares of the interval, since slopes overflow between tiny numbers.
    rises = np.diff(curves, append=curves[:, -1:])
    values_at = np.empty((len(values), len(curves)))
    for rows, low, shares in _grid_positions(values, nodes):
        for output, (curve, rise) in enumerate(zip(curves, rises, strict=True)):
            values_at[rows, output] = curve.take(low) + rise.take(low) * shares
    return values_at


def look_up(codes: NDArray[np.intp], curves: _Array) -> _Array:
    """Curves (k, L) at integer `codes` (m,): (m, k); -1 gives NaN."""
    if not curves.shape[1]:
        return np.full((len(codes), len(curves)), np.nan)
    values_at = curves.T[np.maximum(codes, 0)].astype(np.float64)
    values_at[codes < 0] = np.nan
    return values_at


def derivative(curves: _Array, nodes: _Array) -> _Array:
    """Slope of `curves` (..., G) along the increasing `nodes` (G,)."""
    if len(nodes) < 2:
        return np.zeros_like(curves)
    return np.gradient(curves, nodes, axis=-1)

"""Intervals of an accumulated effect, chosen by its estimated error.

Few wide intervals hide the shape of the curve between their edges; many narrow ones
have few rows each. Like RHALE (Gkolemis et al. 2023), dynamic programming finds the
best of all unions of narrow intervals. The criterion here is an estimate of the mean
squared error of the centred curve over the rows, as Mallows' C_p is for regressions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Factor of the noise that is subtracted from squared distances: the best of many unions
# fits the noise too, and 1 would leave narrow intervals of noise. Chosen by hand;
# benchmarks/bench_regions.py compares the errors of effects with other intervals.
_NOISE = 2.0
# Distances below this share of the curve's range are rounding errors.
_ROUNDING = 1e-9


class _Edges(NamedTuple):
    """Edges of narrow intervals, and what is cumulated from the first edge to each.

    The last axis of all arrays runs over the edges.
    """

    positions: NDArray[np.float64]  # (n,)
    shares: NDArray[np.float64]  # (n,): of the rows, half of the intervals on each side
    n_rows: NDArray[np.float64]  # (n,): weight of the rows before
    curve: NDArray[np.float64]  # (k, n): the accumulated effect
    variance: NDArray[np.float64]  # (k, n): of the curve
    deviation: NDArray[np.float64]  # (k, n): standard deviation of the curve of a row


def least_error_edges(
    edges: NDArray[np.float64],
    weights: NDArray[np.float64],
    steps: NDArray[np.float64],
    step_errors: NDArray[np.float64],
) -> NDArray[np.intp]:
    """Positions of the edges to keep, in order.

    Parameters
    ----------
    edges : ndarray of shape (n_steps + 1,)
        Edges of narrow intervals.
    weights : ndarray of shape (n_steps,)
        Weight of the rows in each interval.
    steps, step_errors : ndarray of shape (k, n_steps)
        Mean differences over the intervals, and their standard errors.

    Returns
    -------
    ndarray of shape (n_selected,), int
    """
    last = len(weights)
    shares = np.append(weights, 0.0) + np.append(0.0, weights)
    narrow = _Edges(
        positions=edges,
        shares=shares / shares.sum(),
        n_rows=_sums_up_to_edges(weights),
        curve=_sums_up_to_edges(steps),
        variance=_sums_up_to_edges(step_errors**2),
        deviation=_sums_up_to_edges(step_errors * np.sqrt(weights)),
    )
    tie = (_ROUNDING * np.ptp(narrow.curve)) ** 2
    least_errors, previous = np.full(last + 1, np.inf), np.zeros(last + 1, np.intp)
    least_errors[0] = 0.0
    for start in range(last):
        ends = slice(start + 1, None)
        following = _Edges(*(array[..., start:] for array in narrow))
        errors = least_errors[start] + _interval_errors(following)
        better = errors + tie < least_errors[ends]
        least_errors[ends] = np.where(better, errors, least_errors[ends])
        previous[ends] = np.where(better, start, previous[ends])
    positions = [last]
    while positions[-1] > 0:
        positions.append(previous[positions[-1]])
    return np.array(positions[::-1])


def _sums_up_to_edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums along the last axis up to each edge, zero at the first one."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def _interval_errors(edges: _Edges) -> NDArray[np.float64]:
    """Squared errors due to one interval from the first edge to each later edge.

    An interval replaces the curve by a chord. The squared bias is estimated by the
    squared distance between curve and chord, less the noise of this distance. The
    variance of the centred curve is added: an error of the chord's end moves the chord
    and all rows beyond it, like a *ramp* from 0 at the first edge to 1 at the end. So
    it is the variance of the end times the variance of the ramp over the rows. Returns
    (n - 1,).
    """
    positions = edges.positions - edges.positions[0]
    ramps = np.minimum(positions / positions[1:, None], 1.0)  # by end and edge
    curve = edges.curve - edges.curve[:, :1]
    distances = (curve[:, None] - ramps * curve[:, 1:, None]) ** 2
    variance = edges.variance - edges.variance[:, :1]
    noise = variance[:, None] * (1 - 2 * ramps) + ramps**2 * variance[:, 1:, None]
    inside = np.arange(len(positions)) < np.arange(1, len(positions))[:, None]
    bias = ((distances - _NOISE * noise) * inside) @ edges.shares
    # Differences of one row over neighbouring intervals correlate at most fully.
    deviation = edges.deviation - edges.deviation[:, :1]
    end_variance = deviation[:, 1:] ** 2 / (edges.n_rows[1:] - edges.n_rows[0])
    ramp_variance = ramps**2 @ edges.shares - (ramps @ edges.shares) ** 2
    return (bias + end_variance * ramp_variance).sum(axis=0)

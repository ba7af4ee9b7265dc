"""Intervals of an accumulated effect, chosen by its estimated error.

Few wide intervals hide the shape of the curve between their edges; many narrow ones
have few rows each. Like RHALE (Gkolemis et al. 2023), dynamic programming finds the
best of all unions of narrow intervals. The criterion here is an estimate of the mean
squared error of the centred curve over the rows, as Mallows' C_p is for regressions.
"""

import numpy as np
from numpy.typing import NDArray

# Factor of the noise that is taken off squared distances: the best of many unions fits
# the noise too, and 1 would leave narrow intervals of noise. `bench_regions` compares
# errors of the effects.
_NOISE = 2.0
# Distances below this share of the curve's range are rounding errors.
_ROUNDING = 1e-9


def least_error_edges(
    edges: NDArray[np.float64],
    weights: NDArray[np.float64],
    steps: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> NDArray[np.intp]:
    """Positions of the edges to keep, in order.

    Parameters
    ----------
    edges : ndarray of shape (n_steps + 1,)
        Edges of narrow intervals.
    weights : ndarray of shape (n_steps,)
        Weight of the rows in each.
    steps, errors : ndarray of shape (k, n_steps)
        Mean differences over the intervals, and their standard errors.

    Returns
    -------
    ndarray of shape (n_selected,), int
    """
    last = len(weights)
    shares = np.append(weights, 0.0) + np.append(0.0, weights)
    shares /= shares.sum()
    # The curve, its variance and the standard deviation of rows, at the edges.
    sums = np.stack([steps, errors**2, errors * np.sqrt(weights)])
    sums = np.pad(sums, ((0, 0), (0, 0), (1, 0))).cumsum(axis=2)
    n_rows = np.append(0.0, np.cumsum(weights))
    tie = (_ROUNDING * np.ptp(sums[0])) ** 2
    least, previous = np.full(last + 1, np.inf), np.zeros(last + 1, dtype=np.intp)
    least[0] = 0.0
    for start in range(last):
        ends = slice(start + 1, None)
        errors_to_ends = least[start] + _errors(
            edges[start:], shares[start:], sums[..., start:], n_rows[start:]
        )
        better = errors_to_ends + tie < least[ends]
        least[ends] = np.where(better, errors_to_ends, least[ends])
        previous[ends] = np.where(better, start, previous[ends])
    positions = [last]
    while positions[-1] > 0:
        positions.append(previous[positions[-1]])
    return np.array(positions[::-1])


def _errors(
    edges: NDArray[np.float64],
    shares: NDArray[np.float64],
    sums: NDArray[np.float64],
    n_rows: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Estimated squared errors due to the intervals from the first edge to each other.

    Between its edges the curve is a chord. Its squared distance from the narrow
    intervals' curve, less what noise adds to this, estimates the squared bias. An error
    of the chord's end lifts all rows behind it, so the centred curve has the variance
    of this end times the variance over the rows of a ramp from zero to one.
    """
    curve, noise, deviation = sums - sums[..., :1]
    ramps = np.minimum((edges - edges[0]) / (edges[1:, None] - edges[0]), 1.0)
    distances = (curve[:, None] - ramps * curve[:, 1:, None]) ** 2
    by_noise = noise[:, None] * (1 - 2 * ramps) + ramps**2 * noise[:, 1:, None]
    inside = np.arange(len(edges)) < np.arange(1, len(edges))[:, None]
    bias = ((distances - _NOISE * by_noise) * inside) @ shares
    # Differences of one row over neighbouring intervals correlate at most fully.
    of_end = deviation[:, 1:] ** 2 / (n_rows[1:] - n_rows[0])
    ramp_variance = ramps**2 @ shares - (ramps @ shares) ** 2
    return (bias + of_end * ramp_variance).sum(axis=0)

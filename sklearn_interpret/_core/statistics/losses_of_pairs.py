"""Losses of sums over all pairs of rows, computed without the pairs.

The prediction of a row i with its partner i' is ``fixed_i + permuted_i'``. Each
function takes targets, `fixed` and `permuted`, all (n, k), and returns for each row the
sum of ``weights_i' L(targets_i, fixed_i + permuted_i')`` over the partners in its
stratum: (n,). Weights and `strata`, whole numbers from zero, are (n,). The losses L are
those of the same names in `losses`.
"""

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics import losses
from sklearn_interpret._core.statistics.weighted import Moments


def squared(
    targets: NDArray[np.float64],
    fixed: NDArray[np.float64],
    permuted: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Sums of squared errors, mean over outputs."""
    return _squares(fixed - targets, permuted, weights, strata).mean(axis=1)


def weighted_squared(
    targets: NDArray[np.float64],
    fixed: NDArray[np.float64],
    permuted: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sums of squared errors, summed over outputs with shares (k,)."""
    return _squares(fixed - targets, permuted, weights, strata) @ shares


def absolute(
    targets: NDArray[np.float64],
    fixed: NDArray[np.float64],
    permuted: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Sums of absolute errors, mean over outputs."""
    return _sizes(fixed - targets, permuted, weights, strata).mean(axis=1)


def relative(
    targets: NDArray[np.float64],
    fixed: NDArray[np.float64],
    permuted: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Sums of absolute errors over the size of the target, mean over outputs."""
    sizes = _sizes(fixed - targets, permuted, weights, strata)
    return (sizes / losses.sizes_of(targets)).mean(axis=1)


def zero_one(
    targets: NDArray[np.float64],
    fixed: NDArray[np.float64],
    permuted: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Weight of the partners with which a sum says the wrong one of two classes.

    It says the second class where it is positive. `targets` have a column for each
    class, the sums are (n, 1).
    """
    below, _ = _up_to(-fixed[:, 0], permuted[:, 0], weights, strata)
    above = np.bincount(strata, weights)[strata] - below
    return np.where(targets[:, 1] > 0, below, above)


def _squares(
    errors: NDArray[np.float64],
    permuted: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Sums of the squares of errors plus permuted values: (n, k)."""
    # sum_i' w_i' (e + p_i')^2 = W (e + mean p)^2 + sum_i' w_i' (p_i' - mean p)^2
    moments = Moments.of_groups(permuted, strata, strata.max() + 1, weights)
    squares = (errors + moments.mean[strata]) ** 2
    return moments.weight[strata] * squares + moments.m2[strata]


def _sizes(
    errors: NDArray[np.float64],
    permuted: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Sums of the sizes of errors plus permuted values: (n, k)."""
    # With W and S the sums of w_i' and w_i' p_i' where p_i' <= t, W* and S* of all:
    # sum_i' w_i' |p_i' - t| = t (2 W - W*) - (2 S - S*), and S* = 0 about the mean.
    moments = Moments.of_groups(permuted, strata, strata.max() + 1, weights)
    mean = moments.mean[strata]
    limits, permuted = -errors - mean, permuted - mean
    sums = np.empty_like(limits)
    for total, limit, column in zip(sums.T, limits.T, permuted.T, strict=True):
        below, moment = _up_to(limit, column, weights, strata)
        total[:] = 2 * (limit * below - moment)
    return sums - limits * moments.weight[strata]


def _up_to(
    limits: NDArray[np.float64],
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> list[NDArray[np.float64]]:
    """Sums of weights and of weighted values, where values are up to a row's limit."""
    n = len(values)
    # Stable: of equal numbers, values come before limits.
    order = np.argsort(np.concatenate([values, limits]), kind="stable")
    if strata.any():
        order = order[np.argsort(np.tile(strata, 2)[order], kind="stable")]
    sums = []
    for masses in (weights, weights * values):
        cumulated = np.empty(2 * n)
        cumulated[order] = np.cumsum(np.append(masses, np.zeros(n))[order])
        totals = np.bincount(strata, masses)
        sums.append(cumulated[n:] - (np.cumsum(totals) - totals)[strata])
    return sums

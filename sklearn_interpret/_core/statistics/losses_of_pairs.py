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

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]
_Strata = NDArray[np.intp]


def squared(
    targets: _Array, fixed: _Array, permuted: _Array, weights: _Array, strata: _Strata
) -> _Array:
    """Sums of squared errors, mean over outputs."""
    return _squares(fixed - targets, permuted, weights, strata).mean(axis=1)


def weighted_squared(
    targets: _Array,
    fixed: _Array,
    permuted: _Array,
    weights: _Array,
    strata: _Strata,
    shares: _Array,
) -> _Array:
    """Sums of squared errors, summed over outputs with shares (k,)."""
    return _squares(fixed - targets, permuted, weights, strata) @ shares


def absolute(
    targets: _Array, fixed: _Array, permuted: _Array, weights: _Array, strata: _Strata
) -> _Array:
    """Sums of absolute errors, mean over outputs."""
    return _sizes(fixed - targets, permuted, weights, strata).mean(axis=1)


def relative(
    targets: _Array, fixed: _Array, permuted: _Array, weights: _Array, strata: _Strata
) -> _Array:
    """Sums of absolute errors over the size of the target, mean over outputs."""
    sizes = _sizes(fixed - targets, permuted, weights, strata)
    return (sizes / losses.sizes_of(targets)).mean(axis=1)


def zero_one(
    targets: _Array, fixed: _Array, permuted: _Array, weights: _Array, strata: _Strata
) -> _Array:
    """Weight of the partners with which a sum says the wrong one of two classes.

    It says the second class where it is positive. `targets` have a column for each
    class, the sums are (n, 1).
    """
    # The weight of partners with which the sum is not positive, and of the others.
    says_first, _ = _sums_up_to(-fixed[:, 0], permuted[:, 0], weights, strata)
    says_second = np.bincount(strata, weights)[strata] - says_first
    return np.where(targets[:, 1] > 0, says_first, says_second)


def _squares(
    errors: _Array, permuted: _Array, weights: _Array, strata: _Strata
) -> _Array:
    """Sums of the squares of errors plus permuted values: (n, k)."""
    # sum_i' w_i' (e + p_i')^2 = W (e + mean p)^2 + sum_i' w_i' (p_i' - mean p)^2
    moments = Moments.of_groups(permuted, strata, strata.max() + 1, weights)
    squares = (errors + moments.mean[strata]) ** 2
    return moments.weight[strata] * squares + moments.m2[strata]


def _sizes(
    errors: _Array, permuted: _Array, weights: _Array, strata: _Strata
) -> _Array:
    """Sums of the sizes of errors plus permuted values: (n, k)."""
    # With W and S the sums of w_i' and w_i' p_i' where p_i' <= t, W* and S* of all:
    # sum_i' w_i' |p_i' - t| = t (2 W - W*) - (2 S - S*), and S* = 0 about the mean.
    moments = Moments.of_groups(permuted, strata, strata.max() + 1, weights)
    mean = moments.mean[strata]
    limits, permuted = -errors - mean, permuted - mean
    sums = np.empty_like(limits)
    for output, (limit, column) in enumerate(zip(limits.T, permuted.T, strict=True)):
        weight, moment = _sums_up_to(limit, column, weights, strata)
        sums[:, output] = 2 * (limit * weight - moment)
    return sums - limits * moments.weight[strata]


def _sums_up_to(
    limits: _Array, values: _Array, weights: _Array, strata: _Strata
) -> list[_Array]:
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

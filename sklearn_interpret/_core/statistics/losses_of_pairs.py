"""Losses of sums over all pairs of rows, computed without the pairs.

The prediction of a row i with its partner i' is ``fixed_i + permuted_i'``. Each
function takes targets (n, k) and the `Pairs`, and returns for each row the sum of
``weights_i' L(targets_i, fixed_i + permuted_i')`` over the partners in its stratum:
(n,). The losses L are the functions of the same names in `losses`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics import losses
from sklearn_interpret._core.statistics.weighted import Moments


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows, each of which is paired with all rows of its stratum."""

    fixed: NDArray[np.float64]  # what a row adds to predictions itself, (n, k)
    permuted: NDArray[np.float64]  # what a row adds as a partner, (n, k)
    weights: NDArray[np.float64]  # weight of each row as a partner, (n,)
    strata: NDArray[np.intp]  # whole numbers from zero, (n,)

    @property
    def moments(self) -> Moments:
        """Moments (n_strata, k) of `permuted` in the strata."""
        n_strata = self.strata.max() + 1
        return Moments.of_groups(self.permuted, self.strata, n_strata, self.weights)


def squared(targets: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    """Sums of squared errors, mean over outputs."""
    return _squared_errors(targets, pairs).mean(axis=1)


def weighted_squared(
    targets: NDArray[np.float64], pairs: Pairs, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of squared errors, summed over outputs with shares (k,)."""
    return _squared_errors(targets, pairs) @ shares


def absolute(targets: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    """Sums of absolute errors, mean over outputs."""
    return _absolute_errors(targets, pairs).mean(axis=1)


def relative(targets: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    """Sums of absolute errors over the size of the target, mean over outputs."""
    errors = _absolute_errors(targets, pairs)
    return (errors / losses.target_sizes(targets)).mean(axis=1)


def zero_one(targets: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    """Weight of the partners with which the wrong one of two classes is predicted.

    The second class is predicted where the sum is positive. `targets` have a column for
    each class, the sums are (n, 1).
    """
    strata, weights = pairs.strata, pairs.weights
    below, _ = _sums_up_to(-pairs.fixed[:, 0], pairs.permuted[:, 0], weights, strata)
    above = np.bincount(strata, weights)[strata] - below
    return np.where(targets[:, 1] > 0, below, above)


def _squared_errors(targets: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    """Sums of squared errors: (n, k)."""
    # With e = f - y of fixed values and targets, W the sum of w_i' and m the mean p:
    # sum_i' w_i' (e + p_i')^2 = W (e + m)^2 + sum_i' w_i' (p_i' - m)^2
    moments, strata = pairs.moments, pairs.strata
    squares = (pairs.fixed - targets + moments.mean[strata]) ** 2
    return moments.weight[strata] * squares + moments.m2[strata]


def _absolute_errors(targets: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    """Sums of absolute errors: (n, k)."""
    # With limits t = y - f, W and S the sums of w_i' and w_i' p_i' over the partners
    # with p_i' <= t, and W* and S* the sums over all partners:
    # sum_i' w_i' |p_i' - t| = t (2 W - W*) - (2 S - S*), and S* = 0 about the mean.
    moments, weights, strata = pairs.moments, pairs.weights, pairs.strata
    mean = moments.mean[strata]
    limits, permuted = -(pairs.fixed - targets) - mean, pairs.permuted - mean
    sums = np.empty_like(limits)
    for output in range(sums.shape[1]):
        limit = limits[:, output]
        weight, moment = _sums_up_to(limit, permuted[:, output], weights, strata)
        sums[:, output] = 2 * (limit * weight - moment)
    return sums - limits * moments.weight[strata]


def _sums_up_to(
    limits: NDArray[np.float64],
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    strata: NDArray[np.intp],
) -> list[NDArray[np.float64]]:
    """Sums of weights and of weighted values, over values up to each limit, (n,)."""
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

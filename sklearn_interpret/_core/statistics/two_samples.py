"""Intervals and tests of differences that are averages over two samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import binom
from scipy.stats import t

from sklearn_interpret._core.statistics.weighted import Moments

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


class Intervals(NamedTuple):
    """Standard errors, confidence intervals and p-values of numbers of any shape."""

    standard_errors: _Array
    low: _Array
    high: _Array
    pvalues: _Array


def welch_dof(squared_errors: _Array, sizes: _Array) -> _Array:
    """Welch's degrees of freedom, from errors (n_samples, ...) and sizes of samples."""
    total = squared_errors.sum(axis=0)
    shares = squared_errors / np.where(total > 0, total, 1.0)
    inverse = np.tensordot(1 / np.maximum(sizes - 1, 1), shares**2, axes=1)
    return 1 / np.where(inverse > 0, inverse, 1e-12)


def two_sample_intervals(
    values: _Array, samples: list[Moments], alpha: float, negligible: _Array
) -> Intervals:
    """Intervals of the level 1 - `alpha`, and tests against zero, by Welch.

    Parameters
    ----------
    values : ndarray
        Numbers with an error from each of two samples.
    samples : list of Moments
        Of the terms of which the numbers are means, in each of the two samples; further
        ones add errors.
    alpha : float
        Share of the intervals that do not hold.
    negligible : ndarray, broadcastable to `values`
        Smaller values are rounding errors of zero.
    """
    sizes = np.array([float(sample.weight) for sample in samples])
    squares = np.stack([sample.standard_error for sample in samples]) ** 2
    errors, dof = np.sqrt(squares.sum(axis=0)), welch_dof(squares, sizes)
    if sizes.min() < 2:  # the variance of one row is unknown
        errors = np.full(values.shape, np.nan)
    statistics = np.full(values.shape, np.inf)
    np.divide(np.abs(values), errors, out=statistics, where=errors != 0)
    # As of a permutation test: one of all divisions of the rows into two samples.
    least = min(1.0, 2 / binom(sizes[:2].sum(), sizes[0]))
    pvalues = np.fmax(2 * t.sf(statistics, dof), least)
    pvalues = np.where(np.isnan(errors) | (np.abs(values) <= negligible), 1.0, pvalues)
    reach = t.isf(alpha / 2, dof) * errors
    return Intervals(errors, values - reach, values + reach, pvalues)

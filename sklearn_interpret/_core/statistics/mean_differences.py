"""Difference of the means of two groups of rows, with its error and p-value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from sklearn_interpret._core.statistics.two_samples import welch_dof
from sklearn_interpret._core.statistics.weighted import Moments

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# A group of fewer rows gets a permutation test: its own variance is too uncertain for
# Student's t, as a rule of thumb. 1999 random groups take some hundredths of a second.
_FEW_ROWS = 30
_N_PERMUTATIONS = 1999


class MeanDifference(NamedTuple):
    """Mean inside a group less the mean outside."""

    inside: float
    outside: float
    standard_error: float
    dof: float
    pvalue: float  # of no larger mean inside

    @property
    def difference(self) -> float:
        """The difference of the means."""
        return self.inside - self.outside


def mean_difference(
    values: _Array,
    weights: _Array,
    is_inside: NDArray[np.bool_],
    rng: np.random.Generator,
) -> MeanDifference:
    """Welch's test of whether the mean of some rows is larger than that of the others.

    The p-value of few rows comes from random groups of the same size. Their variance
    is at least that of all rows: few values may be equal by chance.

    Parameters
    ----------
    values, weights : ndarray of shape (n_rows,)
        Values, and weights that count as repeated rows.
    is_inside : ndarray of shape (n_rows,), bool
        The rows of the group.
    rng : Generator
        Draws random groups.
    """
    n_inside = np.count_nonzero(is_inside)
    if not 0 < n_inside < len(values):
        return MeanDifference(np.nan, np.nan, np.nan, np.nan, 1.0)
    inside, outside = (
        Moments.of_rows(values[mask], weights[mask]) for mask in (is_inside, ~is_inside)
    )
    squared_errors = np.array([inside.standard_error, outside.standard_error]) ** 2
    if n_inside < _FEW_ROWS:
        everything = Moments.of_rows(values, weights)
        least = everything.variance / inside.weight
        squared_errors[0] = max(squared_errors[0], least)
    sizes = np.array([inside.weight, outside.weight])
    error = np.sqrt(squared_errors.sum())
    difference = float(inside.mean - outside.mean)
    dof = float(welch_dof(squared_errors, sizes))
    if n_inside < _FEW_ROWS or error == 0:
        pvalue = _permutation_pvalue(
            values, weights[is_inside], float(inside.mean), rng
        )
    else:
        pvalue = t.sf(difference / error, dof)
    return MeanDifference(
        float(inside.mean), float(outside.mean), float(error), dof, float(pvalue)
    )


def _permutation_pvalue(
    values: _Array, weights: _Array, mean: float, rng: np.random.Generator
) -> float:
    """Share of random groups, and the group itself, with at least its mean."""
    shares = weights / weights.sum()
    means = [
        shares @ rng.choice(values, len(shares), replace=False)
        for _ in range(_N_PERMUTATIONS)
    ]
    least = mean - np.spacing(np.abs(values).max()) * len(shares)
    return (1 + np.count_nonzero(np.array(means) >= least)) / (1 + _N_PERMUTATIONS)

"""Random permutations of values among rows, and p-values against a null distribution.

Each row has a donor: the row from which it takes values. Rows lie on a line in random
order, each over a stretch as long as its weight, and in another order on a second line
of the same length. The donor of a row is the row under it on the second line. Where all
weights are equal, every row is the donor of one row: the donors are a permutation.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# Position within its stretch at which a row takes its donor. It is irrational: with
# integer weights, no position falls on a border between two stretches.
_DONOR_POSITION = (np.sqrt(5) - 1) / 4

DISTRIBUTIONS = ("empirical", "normal", "lognormal", "gamma")
POSITIVE_DISTRIBUTIONS = ("lognormal", "gamma")


def random_donors(
    weights: _Array,
    rng: np.random.RandomState | np.random.Generator,
    strata: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """A donor for each row, independent of the row, with chances as the weights.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Positive weights.
    rng : RandomState
        Source of the draw.
    strata : ndarray of shape (n,), intp, optional
        Rows have donors in their own stratum only: whole numbers from zero.

    Returns
    -------
    ndarray of shape (n,), intp
        Positions of the donors.
    """
    if strata is None:
        if (weights == weights[0]).all():
            return rng.permutation(len(weights))
        strata = np.zeros(len(weights), dtype=np.intp)
    first, second = _random_order(strata, rng), _random_order(strata, rng)
    totals = np.bincount(strata, weights)
    shift = rng.uniform(size=len(totals)) * totals
    return _rows_below(weights, first, second, strata, shift)


def swapped_halves(
    weights: _Array,
    rng: np.random.RandomState | np.random.Generator,
    strata: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Donors where two random halves of the rows swap their values.

    Parameters as in :func:`random_donors`. Of an even number of rows of equal weight,
    each is the donor of its donor. Halves are halves of the total weight; of an odd
    number, the row in the middle gives to the second half and takes from the first.
    """
    if strata is None:
        strata = np.zeros(len(weights), dtype=np.intp)
    order = _random_order(strata, rng)
    half = np.bincount(strata, weights) / 2
    return _rows_below(weights, order, order, strata, half)


def _random_order(
    strata: NDArray[np.intp], rng: np.random.RandomState | np.random.Generator
) -> NDArray[np.intp]:
    """Random order of the rows within strata, one stratum after the other."""
    order = rng.permutation(len(strata))
    return order[np.argsort(strata[order], kind="stable")]


def _rows_below(
    weights: _Array,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    strata: NDArray[np.intp],
    shift: _Array,
) -> NDArray[np.intp]:
    """The row under each row when the second line of each stratum is shifted.

    `first` and `second` are the orders of the rows on the two lines.
    """
    n_rows, totals = np.bincount(strata), np.bincount(strata, weights)
    stratum = strata[first]  # in both orders, which are sorted by stratum
    # Where each row takes its donor: on the first line, then on the second.
    line_starts = (np.cumsum(totals) - totals)[stratum]
    row_ends = np.cumsum(weights[first])
    position = row_ends - weights[first] * (1 - _DONOR_POSITION) - line_starts
    position = np.mod(position + shift[stratum], totals[stratum]) + line_starts
    below = np.searchsorted(np.cumsum(weights[second]), position, side="right")
    # Rounding does not lead into the next stratum.
    stratum_ends = np.cumsum(n_rows)
    below = np.clip(below, (stratum_ends - n_rows)[stratum], stratum_ends[stratum] - 1)
    donors = np.empty(len(weights), dtype=np.intp)
    donors[first] = second[below]
    return donors


def mean_to_root_mean_square(values: _Array, weights: _Array) -> _Array:
    """Weighted means over rows of values (p, n) over their root mean squares: (p,).

    The ratio grows with Student's t and, like t, depends on no scale. It lies between
    -1 and 1, and is 0 where all values are 0.
    """
    largest = np.abs(values).max(axis=1, initial=0.0)
    scaled = values / np.where(largest > 0, largest, 1.0)[:, None]
    shares = weights / weights.sum()
    size = np.sqrt(scaled**2 @ shares)
    return scaled @ shares / np.where(size > 0, size, 1.0)


def upper_tail(observed: _Array, null: _Array, distribution: str) -> _Array:
    """P-value of each observed number (p,) given draws (n, p) under the null.

    "empirical" is (1 + number of draws at least as large) / (1 + n), never zero.
    "normal" is Student's prediction of one more draw from n normal ones, "lognormal"
    the same for logarithms. "gamma" is fitted by maximum likelihood, without regard to
    the error of the fit. Where all draws are equal, no distribution fits,
    and the empirical p-value is returned.
    """
    counted = (1 + (null >= observed).sum(axis=0)) / (1 + len(null))
    if distribution == "empirical":
        return counted
    varying = np.ptp(null, axis=0) > 0
    fitted_tail = {
        "normal": _normal_tail,
        "lognormal": _lognormal_tail,
        "gamma": _gamma_tail,
    }[distribution]
    return np.where(varying, fitted_tail(observed, null, varying), counted)


def _normal_tail(observed: _Array, null: _Array, varying: NDArray[np.bool_]) -> _Array:
    """Student's tail, for estimated moments; any number where draws do not vary."""
    n_draws = len(null)
    if n_draws < 2:  # no column varies
        return np.ones(len(observed))
    error = null.std(axis=0, ddof=1) * np.sqrt(1 + 1 / n_draws)
    scores = (observed - null.mean(axis=0)) / np.where(varying, error, 1.0)
    return stats.t.sf(scores, n_draws - 1)


def _lognormal_tail(
    observed: _Array, null: _Array, varying: NDArray[np.bool_]
) -> _Array:
    """P-values (p,) of a lognormal distribution; one for nonpositive numbers."""
    tail = np.ones(len(observed))
    has_logs = varying & (observed > 0)
    logs = np.log(null[:, has_logs])
    varying = np.ptp(logs, axis=0) > 0
    tail[has_logs] = _normal_tail(np.log(observed[has_logs]), logs, varying)
    return tail


def _gamma_tail(observed: _Array, null: _Array, varying: NDArray[np.bool_]) -> _Array:
    """P-values (p,) of a gamma distribution; one for nonpositive numbers."""
    tail = np.ones(len(observed))
    for j in np.flatnonzero(varying & (observed > 0)):
        shape, _, scale = stats.gamma.fit(null[:, j], floc=0)
        tail[j] = stats.gamma.sf(observed[j], shape, scale=scale)
    return tail

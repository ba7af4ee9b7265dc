"""Weighted moments and quantiles; a weight of two counts as the row given twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

_EPS = np.finfo(np.float64).eps
# Shares of a variance, and of a mean, below this are rounding errors.
_ROUNDING = 1e-12
# Limits the entries in a block of rows, to 4 MB.
_BLOCK = 2**19


def shares_of(weights: _Array) -> _Array:
    """Weights (n,) over their sum; read-only where all are equal."""
    first = weights[:1]
    if (weights == first).all():
        return np.broadcast_to(first / weights.sum(), weights.shape)
    return weights / weights.sum()


def shares_of_variance(
    variances: _Array, sums: _Array, total: _Array, mean: _Array
) -> _Array:
    """Covariances of summands with their total, relative to its variance: (n, k).

    They follow from three variances: of the summands (n, k), of the sum of each with
    the total (n, k), and of the total (k,). They are zero where only rounding moves the
    total from its mean (k,).
    """
    covariances = (sums - variances - total) / 2
    zeros = np.zeros_like(covariances)
    varies = total > (_ROUNDING * mean) ** 2
    shares = np.divide(covariances, total, out=zeros, where=varies)
    return np.where(np.abs(shares) > _ROUNDING, shares, 0.0)


def student_factor(degrees: _Array | float) -> _Array:
    """Factor of a standard error of few degrees of freedom.

    With it, 1.96 standard errors to each side are Student's interval of 95 %.
    """
    return stdtrit(degrees, 0.975) / stdtrit(np.inf, 0.975)


def ratio_or_zero(numerator: _Array, denominator: _Array) -> _Array:
    """A quotient of the numerator's shape, zero where the divisor is not positive."""
    zeros = np.zeros(np.shape(numerator))
    return np.divide(numerator, denominator, out=zeros, where=denominator > 0)


@dataclass(frozen=True)
class Moments:
    """Total weight, mean and sum of squared deviations of one or many samples.

    Parameters
    ----------
    weight : ndarray, broadcastable to `mean`
        Sum of the weights.
    mean : ndarray
        Weighted mean; zero where the weight is zero.
    m2 : ndarray of the shape of `mean`
        Weighted sum of squared deviations from the mean.
    """

    weight: _Array
    mean: _Array
    m2: _Array

    @classmethod
    def of_rows(cls, values: _Array, weights: _Array) -> Moments:
        """Moments over the first axis of `values` (n, ...) with `weights` (n,)."""
        total = weights.sum()
        mean = np.tensordot(weights, values, axes=1) / total
        deviations = values - mean
        np.square(deviations, out=deviations)
        return cls(np.asarray(total), mean, np.tensordot(weights, deviations, axes=1))

    @classmethod
    def of_groups(
        cls, values: _Array, groups: NDArray[np.integer], n_groups: int, weights: _Array
    ) -> Moments:
        """Moments of `values` (n, k) within each of `n_groups` groups of rows."""
        groups = groups.astype(np.intp, copy=False)  # as bincount takes them
        weight = np.bincount(groups, weights, n_groups)
        divisor = np.where(weight > 0, weight, 1.0)
        mean = np.empty((n_groups, values.shape[1]))
        m2 = np.empty_like(mean)
        for output in range(values.shape[1]):
            column = values[:, output]
            mean[:, output] = np.bincount(groups, weights * column, n_groups) / divisor
            squares = weights * (column - mean[:, output].take(groups)) ** 2
            m2[:, output] = np.bincount(groups, squares, n_groups)
        return cls(weight.astype(np.float64, copy=False)[:, None], mean, m2)

    def merge(self, other: Moments) -> Moments:
        """Moments of the two samples together (Chan, Golub & LeVeque 1983)."""
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1.0)
        shift = other.mean - self.mean
        return Moments(
            weight,
            self.mean + shift * share,
            self.m2 + other.m2 + shift**2 * self.weight * share,
        )

    @property
    def variance(self) -> _Array:
        """Population variance; zero where the weight is zero."""
        return self.m2 / np.where(self.weight > 0, self.weight, 1.0)

    @property
    def standard_error(self) -> _Array:
        """Standard error of the mean, with the total weight as sample size.

        ``m2 / (W (W - 1))`` under the root; below a total weight W of two, where that
        has no meaning (weights scaled to sum to one, say), ``2 m2 / W^2`` continues it
        and errs on the large side.
        """
        # Not m2 over the product: tiny weights would underflow, huge ones overflow.
        size = np.maximum(self.weight - 1, self.weight / 2)
        return np.sqrt(self.variance / np.where(size > 0, size, 1.0))


@dataclass(frozen=True)
class CrossProducts:
    """Total weight, means, and products of the deviations of columns.

    Parameters
    ----------
    weight : float
        Sum of the weights.
    means : ndarray of shape (d,)
        Weighted means; zero where they are not subtracted, or the weight is zero.
    products : ndarray of shape (d, d)
        Weighted sums of products of two columns' deviations from their means.
    """

    weight: float
    means: _Array
    products: _Array

    @classmethod
    def of_rows(
        cls, columns: _Array, weights: _Array, *, centred: bool = True
    ) -> CrossProducts:
        """Products of `columns` (n, d) with `weights` (n,)."""
        total, means = weights.sum(), np.zeros(columns.shape[1])
        if centred and total > 0:
            means = weights @ columns / total
        columns = columns - means
        columns *= np.sqrt(weights)[:, None]
        # A matrix by its own transpose takes half the time of two matrices.
        return cls(total, means, columns.T @ columns)

    def merge(self, other: CrossProducts) -> CrossProducts:
        """Products of both sets of rows together, as of `Moments`."""
        weight, shift = self.weight + other.weight, other.means - self.means
        share = other.weight / weight if weight > 0 else 0.0
        products = self.products + other.products
        products += self.weight * share * np.outer(shift, shift)
        return CrossProducts(weight, self.means + shift * share, products)


def row_blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of rows with about `_BLOCK` entries each."""
    step = max(1, _BLOCK // max(1, n_columns))
    return [slice(start, start + step) for start in range(0, n_rows, step)]


@dataclass(frozen=True)
class Averages:
    """Means over rows of k values at each point of several grids, and their errors.

    Parameters
    ----------
    moments : list of Moments of shape (n_points, k) or (n_points, 2 k)
        Moments at the points of each grid. With masses, the moments of the values less
        their mean by the masses come second.
    n_outputs : int
        The number k.
    with_errors : bool, default=True
        Whether the moments have squares.
    """

    moments: list[Moments]
    n_outputs: int
    with_errors: bool = True

    @classmethod
    def of_blocks(
        cls, blocks: Iterable[Sequence[Moments]], k: int, weight: float
    ) -> Averages:
        """Averages from each grid's `Moments` by `RowMoments`, block by block."""
        no_points, moments = np.empty((0, k)), []
        for grid_blocks in blocks:
            mean = np.concatenate([b.mean for b in grid_blocks] or [no_points])
            m2 = np.concatenate([b.m2 for b in grid_blocks] or [no_points])
            moments.append(Moments(np.asarray(weight), mean, m2))
        return cls(moments, k)

    @classmethod
    def of_means(cls, means: Sequence[_Array], weight: float) -> Averages:
        """Averages without errors, from means (n_points, k)."""
        total = np.asarray(weight)
        moments = [Moments(total, mean, np.zeros_like(mean)) for mean in means]
        return cls(moments, means[0].shape[1] if means else 0, with_errors=False)

    @property
    def means(self) -> list[_Array]:
        """Means at the points of each grid, (n_points, k)."""
        return [moments.mean[:, : self.n_outputs] for moments in self.moments]

    @property
    def standard_errors(self) -> list[_Array]:
        """Standard errors at the points of each grid, (n_points, k or 2 k)."""
        return [moments.standard_error for moments in self.moments]

    def merge(self, other: Averages) -> Averages:
        """Averages over both sets of rows."""
        moments = map(Moments.merge, self.moments, other.moments)
        return replace(self, moments=list(moments))


class RowMoments:
    """Reduction of values (n_rows, n_points, k) to moments over the rows.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Weights of all rows.
    masses : list of ndarray of shape (n_points,) or None, optional
        For each grid, weights of its points that sum to one. Then the values less each
        row's mean by these weights follow the values: (n_rows, n_points, 2 k).
    """

    def __init__(
        self, weights: _Array, masses: Sequence[_Array | None] | None = None
    ) -> None:
        self.weights, self.masses = weights, masses

    def __call__(
        self,
        grid: int,
        index: NDArray[np.intp],
        points: NDArray[np.intp],
        values: _Array,
    ) -> Moments:
        """Moments of values (m, n_points, k) of the rows `index`, at a grid."""
        masses = None if self.masses is None else self.masses[grid]
        if masses is not None:
            means = np.tensordot(values, masses, (1, 0))
            values = np.concatenate([values, values - means[:, None, :]], axis=2)
        return Moments.of_rows(values, self.weights[index])


def weighted_quantile(
    values: _Array,
    probabilities: _Array | Sequence[float],
    weights: _Array | None = None,
) -> _Array:
    """Inverse of the weighted empirical distribution function.

    Values (n,) are finite, weights positive, None for equal ones. A probability k / K
    of n rows is counted in whole numbers: it gives the ceil(n k / K)-th value.
    """
    return _quantile_ends(values, probabilities, weights)[0]


def averaged_quantile(
    values: _Array,
    probabilities: _Array | Sequence[float],
    weights: _Array | None = None,
) -> _Array:
    """Quantiles, the mean of two values where the distribution function is flat.

    The quantile of 1/2 is the usual median. Values and weights are those of
    `weighted_quantile`.
    """
    low, high = _quantile_ends(values, probabilities, weights)
    return low / 2 + high / 2  # the sum of both might overflow


def _quantile_ends(
    values: _Array, probabilities: _Array | Sequence[float], weights: _Array | None
) -> tuple[_Array, _Array]:
    """Lowest and highest value at which the distribution function has probabilities."""
    # As a float, n (k / K) may differ from the exact number by a few last bits.
    slack, n_rows = 4 * _EPS, len(values)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if weights is None or (weights == weights[0]).all():
        # Sorting values alone is several times faster than sorting positions.
        values = np.sort(values)
        low = np.ceil(n_rows * (probabilities * (1 - slack))).astype(np.intp) - 1
        high = np.floor(n_rows * (probabilities * (1 + slack))).astype(np.intp)
    else:
        order = np.argsort(values, kind="stable")
        values, cumulated = values[order], np.cumsum(weights[order])
        total = cumulated[-1]
        if total >= 1 / _EPS or (weights != np.floor(weights)).any():
            slack += n_rows * _EPS  # these sums are rounded n times
        low = np.searchsorted(cumulated, probabilities * (1 - slack) * total)
        high = np.searchsorted(cumulated, probabilities * (1 + slack) * total, "right")
    return values[np.maximum(low, 0)], values[np.minimum(high, n_rows - 1)]


def known_moments(values: _Array, weights: _Array) -> Moments:
    """Moments over the first axis of `values` (n, ...), NaN left out."""
    observed = np.isfinite(values)
    if observed.all():
        return Moments.of_rows(values, weights)
    masses = weights.reshape((-1,) + (1,) * (values.ndim - 1))
    values, masses = np.where(observed, values, 0.0), observed * masses
    total = masses.sum(axis=0)
    mean = (masses * values).sum(axis=0) / np.where(total > 0, total, 1.0)
    deviations = values - mean
    deviations *= deviations
    deviations *= masses
    return Moments(total, mean, deviations.sum(axis=0))

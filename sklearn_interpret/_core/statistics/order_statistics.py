"""Order statistics of a column in partitions, exact, without all values in memory.

A first pass adds up weights in bins between values of a sample. A second one collects
the distinct values of the bins that hold the quantiles; in each other bin, its upper
edge stands for all values. These values have the weighted quantiles of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.grids import search_sorted
from sklearn_interpret._core.statistics.weighted import weighted_quantile

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Relative rounding of cumulated weights, with a margin.
_ROUNDING = 1e-9
# Values that a partition adds to the sample: enough for bins of a tenth of a percent.
_SAMPLE_OF_PARTITION = 2**10
# Limits the values of the sample, and so the bins: 64 KB of each column.
_MAX_SAMPLE = 2**13
# With a larger share of the weight in the bins to collect, the sample was a bad one:
# the collected values would take this share of the column's memory.
_MAX_COLLECTED = 1 / 8


@dataclass(frozen=True)
class DistinctValues:
    """Distinct values in increasing order, with the summed weights of each."""

    values: _Array
    weights: _Array

    @classmethod
    def of_rows(cls, values: _Array, weights: _Array) -> DistinctValues:
        """The distinct values of `values` (n,), which have no NaN."""
        distinct, codes = np.unique(values, return_inverse=True)
        sums = np.bincount(codes, weights, len(distinct))
        return cls(distinct, sums.astype(np.float64, copy=False))

    def quantiles(self, probabilities: _Array | Sequence[float]) -> _Array:
        """Weighted quantiles."""
        return weighted_quantile(self.values, probabilities, self.weights)

    def merge(self, other: DistinctValues) -> DistinctValues:
        """The distinct values of both sets of rows."""
        values = np.concatenate([self.values, other.values])
        return self.of_rows(values, np.concatenate([self.weights, other.weights]))


@dataclass(frozen=True)
class BinnedColumn:
    """Weights of a column's values in the bins up to each edge, and beyond the last.

    Parameters
    ----------
    edges : ndarray of shape (m,)
        Increasing values of the column.
    weights : ndarray of shape (m + 1,)
        Weight of the values in (edges[i - 1], edges[i]].
    distinct : DistinctValues or None
        All distinct values; None where they are more than `max_distinct`.
    sample : ndarray
        Some of the values.
    max_distinct : int
        Largest number of distinct values that are kept.
    """

    edges: _Array
    weights: _Array
    distinct: DistinctValues | None
    sample: _Array
    max_distinct: int

    @classmethod
    def of_rows(
        cls, values: _Array, weights: _Array, edges: _Array, max_distinct: int
    ) -> BinnedColumn:
        """The binned column of some rows, whose `values` (n,) have no NaN."""
        distinct = None
        if len(np.unique(values[: 4 * max_distinct])) <= max_distinct:
            distinct = _limit_distinct(
                DistinctValues.of_rows(values, weights), max_distinct
            )
        bins = search_sorted(edges, values)
        sums = np.bincount(bins, weights, len(edges) + 1)
        step = max(1, len(values) // _SAMPLE_OF_PARTITION)
        sizes = sums.astype(np.float64, copy=False)
        return cls(edges, sizes, distinct, values[::step], max_distinct)

    def merge(self, other: BinnedColumn) -> BinnedColumn:
        """The binned column of both sets of rows."""
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            distinct = _limit_distinct(
                self.distinct.merge(other.distinct), self.max_distinct
            )
        sample = np.concatenate([self.sample, other.sample])
        step = -(-len(sample) // _MAX_SAMPLE)
        weights, sample = self.weights + other.weights, sample[:: max(step, 1)]
        return replace(self, weights=weights, distinct=distinct, sample=sample)

    def bins_of(
        self, probabilities: _Array | Sequence[float] | None
    ) -> NDArray[np.bool_]:
        """Mask of the bins that hold the quantiles, the smallest and largest value.

        The mask holds all filled bins if `probabilities` is None, or if there are so
        few bins that there may be as few distinct values.
        """
        if probabilities is None or len(self.edges) <= self.max_distinct:
            return self.weights > 0
        # Cumulated weights at the ends and starts of bins, and at the quantiles.
        ends = np.cumsum(self.weights)
        starts, targets = ends - self.weights, np.multiply(probabilities, ends[-1])
        margin = _ROUNDING * ends[-1]
        # Each quantile is in a bin from the first up to, but without, the last.
        first = np.searchsorted(ends, targets - margin)
        last = np.searchsorted(starts, targets + margin, side="right")
        n_entered = np.bincount(first, minlength=len(ends) + 1)
        n_left = np.bincount(last, minlength=len(ends) + 1)
        holds = np.cumsum(n_entered - n_left)[:-1] > 0
        filled = np.flatnonzero(self.weights)
        holds[filled[[0, -1]]] = holds[-1] = True
        return holds & (self.weights > 0)

    def is_uneven(self, bins: NDArray[np.bool_]) -> bool:
        """Whether other edges, from the sample, would leave less to collect."""
        return self.weights[bins].sum() > _MAX_COLLECTED * self.weights.sum()

    def merge_collected(
        self, bins: NDArray[np.bool_], collected: DistinctValues
    ) -> DistinctValues:
        """Distinct values of some bins, and an edge in the place of each other bin."""
        other_bins = np.flatnonzero((self.weights > 0) & ~bins)
        edges = DistinctValues(self.edges[other_bins], self.weights[other_bins])
        return edges.merge(collected)


def values_in_bins(
    values: _Array, weights: _Array, edges: _Array, bins: NDArray[np.bool_]
) -> DistinctValues:
    """Distinct values (n,) in the bins of a mask."""
    inside = bins[search_sorted(edges, values)]
    return DistinctValues.of_rows(values[inside], weights[inside])


def _limit_distinct(distinct: DistinctValues, limit: int) -> DistinctValues | None:
    """The distinct values, or None where they are more than a limit."""
    return distinct if len(distinct.values) <= limit else None

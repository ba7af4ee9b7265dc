"""Subgroups of rows with a large mean: all boxes of a few binned columns.

The sums of a box are those of its cells. A table of cells (one `bincount`) times the
intervals of bins along each of its columns gives the sums of all boxes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain, combinations
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.rules.coded_conditions import Condition, rule_mask

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# Scores below this, and deviations below this share of the values, are rounding errors.
_ROUNDING = 1e-12
# Boxes that share more of the rows of both together are the same subgroup.
MOST_SHARED = 0.5


class Box(NamedTuple):
    """A box of bins: conditions on columns, and its score."""

    conditions: tuple[Condition, ...]
    score: float


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """Rows of binned columns, with the values whose means are compared.

    Parameters
    ----------
    bins : ndarray of shape (n_columns, n_rows), int
        Bins of known values are 0, 1, ...; missing values have the next number.
    n_known : ndarray of shape (n_columns,), int
        Number of bins of known values.
    values : ndarray of shape (n_rows,)
        Values, for instance losses.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    """

    bins: NDArray[np.intp]
    n_known: NDArray[np.intp]
    values: _Array
    weights: _Array

    def best_boxes(
        self, n_boxes: int, max_conditions: int, min_weight: float
    ) -> list[Box]:
        """The boxes with the largest scores, no two of them nearly the same.

        The score of a box of weight w is (mean - mean of all) sqrt(w) / deviation of
        all. Each next box has the largest score among those that share at most half of
        their rows with every earlier box: rows in both, over rows in any of the two.

        Parameters
        ----------
        n_boxes : int
            Largest number of boxes.
        max_conditions : int
            Largest number of columns of a box.
        min_weight : float
            Least weight of a box.
        """
        mean, deviation = self._overall
        if deviation <= _ROUNDING * max(abs(mean), np.abs(self.values).max()):
            return []
        columns = range(len(self.bins))
        subsets = chain.from_iterable(
            combinations(columns, size) for size in range(1, max_conditions + 1)
        )
        # Entries are sorted by score, then by the number of columns. The best score of
        # a set of columns only falls while boxes are chosen: one that was computed for
        # fewer chosen boxes is an upper bound.
        masks: list[NDArray[np.bool_]] = []
        queue = []
        for subset in subsets:
            box = self._best_box(subset, min_weight, masks)
            queue.append((-box.score, len(subset), subset, len(masks), box))
        heapify(queue)
        chosen: list[Box] = []
        while queue and len(chosen) < n_boxes:
            negative_score, size, subset, n_masks, box = heappop(queue)
            if negative_score >= -_ROUNDING:
                break
            if n_masks == len(masks):
                chosen.append(box)
                masks.append(rule_mask(self.bins, box.conditions))
            box = self._best_box(subset, min_weight, masks)
            heappush(queue, (-box.score, size, subset, len(masks), box))
        return chosen

    @cached_property
    def _overall(self) -> tuple[float, float]:
        """Mean and standard deviation of the values of all rows."""
        mean = np.average(self.values, weights=self.weights)
        variance = np.average((self.values - mean) ** 2, weights=self.weights)
        return float(mean), float(np.sqrt(variance))

    @cached_property
    def _excess(self) -> _Array:
        """Weighted deviations of the values from their mean, (n_rows,)."""
        return self.weights * (self.values - self._overall[0])

    @cached_property
    def _intervals(self) -> list[_Intervals]:
        """All conditions on each column."""
        has_missing = (self.bins == self.n_known[:, None]).any(axis=1)
        return [
            _Intervals.of_column(n_known, missing)
            for n_known, missing in zip(
                self.n_known.tolist(), has_missing.tolist(), strict=True
            )
        ]

    def _best_box(
        self,
        columns: tuple[int, ...],
        min_weight: float,
        masks: Sequence[NDArray[np.bool_]],
    ) -> Box:
        """The best box with a condition on each of the columns, apart from `masks`."""
        intervals = [self._intervals[j] for j in columns]
        shape = tuple(column.holds.shape[1] for column in intervals)
        cells = np.ravel_multi_index(tuple(self.bins[j] for j in columns), shape)

        def sums_of_boxes(values: _Array) -> _Array:
            sums = np.bincount(cells, values, np.prod(shape)).reshape(shape)
            for column in intervals:  # the first axis becomes the last
                sums = np.tensordot(sums, column.holds, axes=(0, 1))
            return sums

        _, deviation = self._overall
        weight = sums_of_boxes(self.weights)
        excess = sums_of_boxes(self._excess)
        scores = np.full(weight.shape, -np.inf)
        is_large = weight >= min_weight
        scores[is_large] = excess[is_large] / np.sqrt(weight[is_large]) / deviation
        for mask in masks:
            shared = sums_of_boxes(self.weights * mask)
            either = weight + self.weights @ mask - shared
            scores[shared > MOST_SHARED * (1 + _ROUNDING) * either] = -np.inf
        if not scores.size:  # a column without conditions
            return Box((), -np.inf)
        best = np.unravel_index(scores.argmax(), scores.shape)
        conditions = tuple(
            Condition(j, int(column.first[i]), int(column.last[i]))
            for j, column, i in zip(columns, intervals, best, strict=True)
        )
        return Box(conditions, float(scores[best]))


class _Intervals(NamedTuple):
    """Intervals of the bins of a column; a missing value is one of its own."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]
    holds: _Array  # 1.0 where a bin is in an interval, (n_intervals, n_bins)

    @classmethod
    def of_column(cls, n_known: int, has_missing: bool) -> Self:
        """All intervals but that of all rows."""
        first, last = np.triu_indices(n_known)
        if has_missing:
            first, last = np.append(first, n_known), np.append(last, n_known)
        else:
            is_part = (first > 0) | (last < n_known - 1)
            first, last = first[is_part], last[is_part]
        bins = np.arange(n_known + has_missing)
        holds = (first[:, None] <= bins) & (bins <= last[:, None])
        return cls(first, last, holds.astype(np.float64))

"""Columns as levels of latent normal variables, by their ranks.

The values of a column, in increasing order, cut a normal distribution at their shares
of the weight. Missing numbers are a level below all.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sklearn_interpret._core.games.latent_normals import level_scores
from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.plain import PlainState

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Levels of at most this share of the weight are points: their intervals are narrow.
_NARROW = 0.1


class ColumnScores(PlainState):
    """Levels of a column as intervals of a normal variable.

    Parameters
    ----------
    rows : Rows
        Rows with the distribution.
    j : int
        The column.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    order : list of label, default=None
        Levels of a column without numbers, in order; None for numbers.

    Attributes
    ----------
    is_level : bool
        Whether the column has levels that are no numbers.
    scores : ndarray of shape (n_rows,)
        Mean of the normal variable in the level of each row.
    coefficients : ndarray of shape (n_terms,)
        Hermite coefficients of the scores.
    """

    def __init__(
        self,
        rows: Rows,
        j: int,
        weights: NDArray[np.float64],
        order: list[Hashable] | None,
    ) -> None:
        self._column, self.is_level = j, order is not None
        self._ranks = None if order is None else {v: k for k, v in enumerate(order)}
        self._values, self._first, level = np.unique(
            self._numbers(rows), return_index=True, return_inverse=True
        )
        shares = shares_of(np.bincount(level, weights).astype(np.float64))
        cumulated = np.cumsum(shares)[:-1]
        self._below = np.concatenate([[0.0], cumulated, [1.0]])
        self._cuts = ndtri(cumulated)
        scores, self.coefficients = level_scores(self._cuts, shares)
        self.scores = scores[level]

    def _numbers(self, rows: Rows) -> NDArray[np.float64]:
        """Numbers in the order of the levels; missing ones are below all."""
        if self._ranks is None:
            numbers = rows.numbers(self._column)
            return np.where(np.isnan(numbers), -np.inf, numbers)
        codes, labels = rows.encode_column(self._column)
        ranks = [self._ranks.get(label_key(label), np.nan) for label in labels]
        return np.array(ranks, dtype=np.float64)[codes]

    def donors(self, points: NDArray[np.float64]) -> NDArray[np.intp]:
        """Rows with the levels in which points of the normal variable are."""
        return self._first[np.searchsorted(self._cuts, points)]

    def _shares_below(
        self, numbers: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Shares of the weight below numbers, and up to them; points at the middle."""
        low = self._below[np.searchsorted(self._values, numbers, side="left")]
        high = self._below[np.searchsorted(self._values, numbers, side="right")]
        # Numbers beyond all others are in the middle of the outermost levels.
        extremes = self._below[1] / 2, (1 + self._below[-2]) / 2
        return low, high, ndtri(np.clip((low + high) / 2, *extremes))

    def coordinates(self, rows: Rows) -> NDArray[np.float64]:
        """Points of numbers, codes of levels; NaN where missing.

        The mean squared difference of two random numbers is one, as of two levels.
        """
        numbers = self._numbers(rows)
        if self.is_level:
            return numbers
        _, _, points = self._shares_below(numbers)
        return np.where(np.isneginf(numbers), np.nan, points / np.sqrt(2))

    def intervals(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends (n_rows,) of the intervals of any rows; equal ones for points.

        Narrow levels are points, and so are numbers between those that were seen; the
        interval of a level that was not seen is the whole line.
        """
        numbers = self._numbers(rows)
        low, high, points = self._shares_below(numbers)
        is_new = np.isnan(numbers) | (
            np.isneginf(numbers) & (self._values[0] > -np.inf)
        )
        is_point = (high - low <= _NARROW) & ~is_new
        low, high = np.where(is_new, 0.0, low), np.where(is_new, 1.0, high)
        low, high = np.where(is_point, points, ndtri([low, high]))
        return low, high


def score_columns(rows: Rows, weights: NDArray[np.float64]) -> list[ColumnScores]:
    """The `ColumnScores` of all columns.

    Levels have the order of their dtype, or of their labels. Three or more levels
    without an order are ordered by their mean scores in the other columns.
    """
    orders: list[list[Hashable] | None] = []
    for j, is_number in enumerate(rows.are_numbers):
        labels = [] if is_number else rows.encode([j])[1]
        orders.append(None if is_number else list(map(label_key, labels)))
    columns = [ColumnScores(rows, j, weights, order) for j, order in enumerate(orders)]
    nominal = [
        order is not None and len(order) > 2 and not rows.is_ordered(j)
        for j, order in enumerate(orders)
    ]
    scores = [c.scores for c, n in zip(columns, nominal, strict=True) if not n]
    for j in np.flatnonzero(nominal).tolist() if scores else ():
        order = orders[j] or []
        ranks = _order_by_means(rows.encode([j])[0], np.stack(scores, axis=1), weights)
        columns[j] = ColumnScores(rows, j, weights, [order[k] for k in ranks])
    return columns


def _order_by_means(
    codes: NDArray[np.intp], scores: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Levels in the order of their mean scores, on the axis along which these vary."""
    sums = np.stack([np.bincount(codes, weights * column) for column in scores.T])
    totals = np.bincount(codes, weights)
    axes, _, _ = np.linalg.svd(sums / np.sqrt(totals), full_matrices=False)
    points = axes[:, 0] @ (sums / totals)
    # The sign of the axis is arbitrary: the first level is on the low side.
    return np.argsort(points if points[0] <= 0 else -points, kind="stable")

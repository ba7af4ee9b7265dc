"""Marginal distributions of columns: their distinct values, shares and bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.local.masks import gaussian_kernel
from sklearn_interpret._core.statistics.weighted import Moments, weighted_quantile
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret._model.rows.dates import as_dates
from sklearn_interpret._model.rows.number_format import (
    decimal_text,
    entry_text,
    only_number,
    short_threshold,
)
from sklearn_interpret._model.rows.plain import PlainState

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


@dataclass(frozen=True, eq=False)
class Location:
    """Standardised values, bins and categories of rows.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        Standardised values of numeric columns; zero for missing values and for other
        columns.
    codes : ndarray of shape (n_rows, n_columns), int
        Bin or category; -1 for unseen categories. For numeric columns without bins, 1
        if the value is missing, else 0.
    """

    scores: NDArray[np.float64]
    codes: NDArray[np.intp]

    def take(self, index: NDArray[np.intp] | list[int] | slice) -> Location:
        """The location of some rows."""
        return Location(self.scores[index], self.codes[index])

    def squared_distances(self, other: Location) -> NDArray[np.float64]:
        """Squared distances along columns, in standard deviations.

        They are one between different bins or categories, and between a missing value
        and a number.
        """
        squares = (self.scores - other.scores) ** 2
        np.copyto(squares, 1.0, where=self.codes != other.codes)
        return squares


def draw_positions(
    probabilities: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Positions drawn with these probabilities, from uniform points in (0, 1)."""
    position = np.searchsorted(np.cumsum(probabilities), points, side="left")
    return np.minimum(position, len(probabilities) - 1)


class Marginals:
    """Marginal distributions of the columns of some rows.

    Parameters
    ----------
    rows : Rows
        Rows with the distribution.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    categorical : ndarray of shape (n_columns,), bool
        Mask of the categorical columns.
    n_bins : int or None
        Number of bins of about equal weight for numeric columns; None for no bins.

    Attributes
    ----------
    columns : list of _Marginal
        One for each column.
    nominal, discrete : ndarray of shape (n_columns,), bool
        Masks of the columns of categories or dates, and of the columns with codes.
    means, spreads : ndarray of shape (n_columns,)
        Mean and standard deviation of numeric columns, 0 for others.
    centers, scales : ndarray of shape (n_columns,)
        Origin and unit of scores: mean and standard deviation of numeric columns
        without bins (a scale of 1 if constant), 0 and 1 for others.
    """

    def __init__(
        self,
        rows: Rows,
        weights: NDArray[np.float64],
        categorical: NDArray[np.bool_],
        n_bins: int | None,
    ) -> None:
        self.rows = rows
        self.nominal = nominal = categorical | ~rows.are_numbers
        self.columns = [
            _Nominal(rows, weights, j)
            if nominal[j]
            else _Numeric(rows, weights, j, n_bins)
            for j in range(rows.n_columns)
        ]
        self.discrete = np.array([column.discrete for column in self.columns], bool)
        self.means = np.array([column.mean for column in self.columns])
        self.spreads = np.array([column.spread for column in self.columns])
        self.centers = np.where(self.discrete, 0.0, self.means)
        varies = ~self.discrete & (self.spreads > 0)
        self.scales = np.where(varies, self.spreads, 1.0)

    def draw(self, points: NDArray[np.float64]) -> tuple[Any, Location]:
        """Draw the columns independently, from uniform points (n, n_columns) in (0, 1).

        Returns a native container of n rows, and their `Location`.
        """
        levels = [c.level_at(p) for c, p in zip(self.columns, points.T, strict=True)]
        draws = list(zip(self.columns, levels, strict=True))
        donors = {j: column.first[level] for j, (column, level) in enumerate(draws)}
        native = self.rows.mix(np.zeros(len(points), dtype=np.intp), donors)
        scores = [column.scores[level] for column, level in draws]
        codes = [column.codes[level] for column, level in draws]
        return native, Location(np.stack(scores, axis=1), np.stack(codes, axis=1))

    def locate(self, rows: Rows) -> Location:
        """The `Location` of any rows with the same columns."""
        located = [column.locate(rows, j) for j, column in enumerate(self.columns)]
        scores, codes = zip(*located, strict=True)
        return Location(np.stack(scores, axis=1), np.stack(codes, axis=1))

    def levels(self) -> Rows:
        """The distinct values of all columns, in one table of `Rows`.

        Column j has its values in the order of its marginal; the last one is repeated
        to the length of the longest column.
        """
        height = max(len(column.first) for column in self.columns)
        positions = np.arange(height)
        donors = {
            j: column.first[np.minimum(positions, len(column.first) - 1)]
            for j, column in enumerate(self.columns)
        }
        return as_rows(self.rows.mix(np.zeros(height, dtype=np.intp), donors))

    def local_probabilities(
        self, locations: Location, width: float
    ) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        r"""Marginal probabilities of each column, weighted by a kernel at rows.

        For the `Location` of rows x, the share of a value v is multiplied by
        :math:`\exp(-d(v, x)^2 / (2 \sigma^2))`, with the distance d of
        :meth:`Location.squared_distances` and the kernel's width sigma.

        Returns
        -------
        probabilities : list of ndarray of shape (n_rows, n_levels)
            For each column; each row sums to 1.
        statistics : list of ndarray of shape (n_rows, n_levels) or (n_levels,)
            For each column, the feature of a surrogate at its values: scores, or
            indicators of the row's own code.
        """
        probabilities, statistics = [], []
        for j, column in enumerate(self.columns):
            values = Location(column.scores, column.codes)
            location = Location(locations.scores[:, [j]], locations.codes[:, [j]])
            squares = values.squared_distances(location)
            squares -= squares.min(axis=1, keepdims=True)
            weighted = column.shares * gaussian_kernel(squares, width)
            probabilities.append(weighted / weighted.sum(axis=1, keepdims=True))
            has_code = (column.codes == location.codes).astype(np.float64)
            statistics.append(has_code if column.discrete else column.scores)
        return probabilities, statistics

    def conditions(self, location: Location) -> NDArray[Any]:
        """Texts like ``"1 < age <= 3"``, (n_rows, n_columns); names if not binned."""
        texts = np.empty(location.codes.shape, dtype=object)
        for j, column in enumerate(self.columns):
            codes, name = location.codes[:, j].tolist(), str(self.rows.names[j])
            text_of = {code: column.text(code, name) for code in set(codes)}
            texts[:, j] = [text_of[code] for code in codes]
        return texts


class _Marginal(PlainState):
    """Distinct values of a column.

    For each value, `first` is the first row with it, `shares` its share of the weight;
    `scores` and `codes` are those of `Location`.
    """

    mean, spread = 0.0, 0.0

    def __init__(self, rows: Rows, weights: NDArray[np.float64], j: int) -> None:
        codes, self.labels, self.first = rows.encode([j])
        self.shares = np.bincount(codes, weights, len(self.labels)) / weights.sum()

    def level_at(self, points: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions of values drawn from uniform points in (0, 1)."""
        return draw_positions(self.shares, points)


class _Nominal(_Marginal):
    """Marginal of a column of categories."""

    discrete = True

    def __init__(self, rows: Rows, weights: NDArray[np.float64], j: int) -> None:
        super().__init__(rows, weights, j)
        self.codes = np.arange(len(self.labels))
        self.scores = np.zeros(len(self.labels))
        self._code_of = {label_key(v): code for code, v in enumerate(self.labels)}

    def locate(
        self, rows: Rows, j: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Scores and codes of the column of rows."""
        codes, labels, _ = rows.encode([j])
        codes_of_labels = [self._code_of.get(label_key(label), -1) for label in labels]
        return np.zeros(len(codes)), np.array(codes_of_labels, dtype=np.intp)[codes]

    def condition(self, code: int) -> dict[str, Any]:
        """Keyword arguments of the `Condition` of a category."""
        return {"levels": (self.labels[code],)}

    def text(self, code: int, name: str) -> str:
        """Text of a code: the condition that a value of the column meets."""
        if code < 0:
            return f"{name} is new"
        label = self.labels[code]
        return f"{name} is missing" if is_missing(label) else f"{name} = {label}"


class _Numeric(_Marginal):
    """Marginal of a numeric column, with or without bins."""

    def __init__(
        self, rows: Rows, weights: NDArray[np.float64], j: int, n_bins: int | None
    ) -> None:
        super().__init__(rows, weights, j)
        numbers = rows.numbers(j)
        present = ~np.isnan(numbers)
        values, weights = numbers[present], weights[present]
        self.discrete = n_bins is not None
        self._edges = np.empty(0)
        if len(values):
            with np.errstate(over="ignore", invalid="ignore"):
                moments = Moments.of_rows(values, weights)
            if not np.isfinite(moments.variance):
                raise ValueError(
                    f"The feature {rows.names[j]!r} has values as large as "
                    f"{np.abs(values).max():g}, whose variance is no finite float64: "
                    "divide them by a number."
                )
            self.mean, spread = float(moments.mean), np.sqrt(moments.variance)
            # A standard deviation below the rounding error of a mean is zero.
            varies = spread > 1e-12 * np.abs(values).max()
            self.spread = float(spread) if varies else 0.0
        if len(values) and n_bins is not None:
            probabilities = np.arange(1, n_bins) / n_bins
            edges = np.unique(weighted_quantile(values, probabilities, weights))
            distinct, has_dates = np.unique(values), rows.date_dtype(j) is not None
            edges = edges[edges < distinct[-1]]
            next_values = distinct[np.searchsorted(distinct, edges, side="right")]
            if not has_dates:
                # As few digits as leave these values on their sides.
                edges = np.array(list(map(short_threshold, edges, next_values)))
            self._edges = edges
        self._date_dtype = rows.date_dtype(j)
        self._some_values = np.unique(values)[:3]  # shows whether there are just two
        self.scores, self.codes = self._locate(numbers[self.first])

    def _locate(
        self, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Scores and codes of numbers."""
        missing = np.isnan(values)
        if not self.discrete:
            scores = (values - self.mean) / (self.spread or 1.0)
            return np.where(missing, 0.0, scores), missing.astype(np.intp)
        codes = np.searchsorted(self._edges, values, side="left")
        return np.zeros(len(values)), np.where(missing, len(self._edges) + 1, codes)

    def locate(
        self, rows: Rows, j: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Scores and codes of the column of rows."""
        return self._locate(rows.numbers(j))

    def condition(self, code: int) -> dict[str, Any]:
        """Keyword arguments of the `Condition` of a bin."""
        if code > len(self._edges):
            return {"levels": (np.nan,)}
        edges = self._edges.tolist()
        if self._date_dtype is not None:
            edges = list(as_dates(self._edges, self._date_dtype))
        low, high = [None, *edges, None][code : code + 2]
        only = None
        if self._date_dtype is None:
            only = only_number(self._some_values, low, high)
        return {"low": low, "high": high, "only": only}

    def text(self, code: int, name: str) -> str:
        """Text of a code: the condition that a value of the column meets."""
        edges = as_dates(self._edges, self._date_dtype)
        if not self.discrete or not len(edges):
            return name
        only = self.condition(code).get("only")
        if only is not None:
            return f"{name} = {entry_text(only)}"
        if code > len(edges):
            return f"{name} is missing"
        texts = [decimal_text(edge) or entry_text(edge, None) for edge in edges]
        if code == 0:
            return f"{name} <= {texts[0]}"
        if code == len(edges):
            return f"{name} > {texts[-1]}"
        return f"{texts[code - 1]} < {name} <= {texts[code]}"

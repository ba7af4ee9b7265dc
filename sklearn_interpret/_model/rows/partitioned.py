"""A sample whose rows are in partitions: passes over them, and what columns hold.

A `PartitionedSample` has the methods of a `Sample`. `with_values_and_levels` reads the
values and levels of columns: it makes a `_Summary` of each partition and merges the
summaries. In any pass a `_Reader` makes the `Sample` of a partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from sklearn_interpret._core.statistics.order_statistics import (
    BinnedColumn,
    values_in_bins,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.sample import Sample, observed_levels
from sklearn_interpret._model.rows.validation import check_not_missing, check_weights

if TYPE_CHECKING:
    from sklearn_interpret._core.statistics.order_statistics import DistinctValues

    # Quantiles by column, as `Sample.with_values_and_levels` takes them.
    _Quantiles = Mapping[int, NDArray[np.float64] | None]


@dataclass(frozen=True, eq=False)
class PartitionedSample:
    """Rows in partitions, with the passes over them of a `Sample`.

    Parameters
    ----------
    partitions : Partitions
        The rows, with their targets and weights.
    rows : Rows
        The first rows: names, dtypes, and number of columns.
    check : callable, default=None
        Checks ``(rows, y)`` of each partition, and returns `y`.
    values : dict of int to tuple of ndarray
        For some columns, what `values_of` returns.
    levels : dict of tuple to Rows
        For some sets of columns, rows with each of their joint values.
    dtypes : dict
        For some columns, the dtypes that hold the values of all partitions.
    """

    partitions: Any
    rows: Rows
    check: Callable[..., Any] | None = None
    values: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(
        default_factory=dict
    )
    levels: dict[tuple[int, ...], Rows] = field(default_factory=dict)
    dtypes: dict[int, Any] = field(default_factory=dict)

    def map_reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[..., Any],
        columns: Iterable[int] | None = None,
    ) -> Any:
        """Merged results of ``function(sample)`` for the partitions, in their order.

        Partitions without rows of positive weight are left out.

        Parameters
        ----------
        function : callable
            Picklable; gets the `Sample` of a partition, with its number.
        merge : callable
            Merges the results of two neighbours.
        columns : sequence of int, default=None
            The only columns that the function reads, so that others need not be loaded;
            None for all.
        """
        names = None
        if columns is not None:
            columns = sorted(columns)
            names = [self.rows.names[j] for j in columns]
        first_row = self.rows.take(np.arange(1))
        reader = _Reader(first_row, self.dtypes, self.check, columns)
        task = partial(reader.apply, function)
        result = self.partitions.map_reduce(task, partial(merge_optional, merge), names)
        if result is None:
            raise ValueError("X has no rows of positive weight in any partition.")
        return result

    def with_values_and_levels(
        self,
        quantiles: _Quantiles,
        level_sets: Sequence[tuple[int, ...]],
        most_distinct: int,
    ) -> PartitionedSample:
        """The sample with `values_of` and `levels_of` columns, see `Sample`.

        If all quantiles of a column are one value, all of its values are kept, too.
        """
        columns = sorted({*quantiles, *chain.from_iterable(level_sets)})
        if not columns:
            return self
        summary = self._summarise(quantiles, level_sets, most_distinct, columns)
        values = self._distinct_values(summary, quantiles)
        dtypes = {j: summary.first.dtype(k) for k, j in enumerate(columns)}
        return replace(
            self,
            rows=self.rows.cast_columns(dtypes),
            values=self.values
            | {
                j: summary.values_and_counts(distinct) for j, distinct in values.items()
            },
            levels=self.levels | summary.levels,
            dtypes=self.dtypes | dtypes,
        )

    def _summarise(
        self,
        quantiles: _Quantiles,
        level_sets: Sequence[tuple[int, ...]],
        most_distinct: int,
        columns: list[int],
    ) -> _Summary:
        """The summary of all partitions: a pass, and another if bins are uneven."""
        head = Sample(self.rows, None, np.ones(self.rows.n_rows))
        edges = {j: np.unique(head.values_of(j)[0]) for j in quantiles}
        summarise = partial(_Summary.of_sample, tuple(level_sets), most_distinct)
        task = partial(summarise, edges)
        summary = self.map_reduce(task, _Summary.merge, columns)
        better_edges = summary.better_edges(quantiles)
        if not better_edges:
            return summary
        # The head is not like the other rows.
        task = partial(summarise, edges | better_edges)
        return self.map_reduce(task, _Summary.merge, columns)

    def _distinct_values(
        self, summary: _Summary, quantiles: _Quantiles
    ) -> dict[int, DistinctValues]:
        """Distinct values of columns near their quantiles: up to two more passes."""
        bins = summary.quantile_bins(quantiles)
        values: dict[int, Any] = {
            j: column.distinct for j, column in summary.columns.items()
        }
        values |= self._collect_values(summary.columns, bins)
        bins_of_constant_quantiles = {
            j: summary.columns[j].weights > 0
            for j in bins
            if quantiles[j] is not None
            and len(np.unique(values[j].quantiles(quantiles[j]))) == 1
        }
        return values | self._collect_values(
            summary.columns, bins_of_constant_quantiles
        )

    def _collect_values(
        self, columns: dict[int, BinnedColumn], bins: dict[int, NDArray[np.bool_]]
    ) -> dict[int, DistinctValues]:
        """Distinct values in bins of columns; each other bin is one value, its edge."""
        if not bins:
            return {}
        task = partial(_values_in_bins, {j: (columns[j].edges, bins[j]) for j in bins})
        distinct = self.map_reduce(task, merge_states, list(bins))
        return {j: columns[j].merge_collected(bins[j], distinct[j]) for j in bins}

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return self.map_reduce(_total_weight, add, [0])

    def n_distinct(self, columns: Sequence[int], limit: int) -> int:
        """Number of distinct joint values of columns, or `limit` if there are more."""
        task = partial(_first_row_of_levels, columns, limit)
        return self.map_reduce(task, partial(_join_levels, limit), columns).n_rows

    def values_of(self, j: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Distinct values of a column, NaN left out, and their weights.

        Between exact quantiles one value may stand for several.
        """
        return self.values[j]

    def levels_of(self, columns: tuple[int, ...]) -> tuple[list[Any], tuple[Any, ...]]:
        """Labels of the joint values of columns, and native vectors, one a column."""
        return observed_levels(self.levels[columns], range(len(columns)))


def read_head(estimator: Any, partitions: Any) -> Any:
    """First rows of partitions, if the estimator's `fit` accepts partitions."""
    _check_takes_partitions(estimator)
    head = partitions.head()
    if head is None:
        raise ValueError(f"X has no rows, and {type(estimator).__name__} needs one.")
    return head


def _check_takes_partitions(estimator: Any) -> None:
    """Refuse partitions for an estimator that needs all rows in memory."""
    subsample = getattr(estimator, "subsample", None)
    if not estimator._takes_partitions or subsample is not None:
        purpose = f" to draw subsample={subsample!r}" if subsample else ""
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in memory{purpose}, and those "
            "of X are in partitions: pass a sample of them that fits in memory; "
            "transform and explain take each partition in turn."
        )


class _SomeColumns:
    """Rows of which only some columns are read, asked by their positions among all."""

    def __init__(self, rows: Rows, names: list[str], columns: Iterable[int]) -> None:
        self._rows, self.names = rows, names
        self._positions = {j: position for position, j in enumerate(columns)}
        self.n_rows, self.row_bytes = rows.n_rows, rows.row_bytes
        self.take = rows.take

    def sliced(self, rows: slice) -> _SomeColumns:
        """Rows of a slice."""
        return _SomeColumns(self._rows.sliced(rows), self.names, self._positions)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A method of `Rows` that takes a column, or columns."""
        method = getattr(self._rows, name)

        def of_columns(columns: int | Iterable[int]) -> Any:
            if isinstance(columns, Iterable):
                return method([self._positions[j] for j in columns])
            return method(self._positions[columns])

        return of_columns


@dataclass(frozen=True)
class _Summary:
    """Values of some columns: a state of rows that can be merged."""

    first: Rows  # the first row, for the dtypes
    columns: dict[int, BinnedColumn]
    levels: dict[tuple[int, ...], Rows]  # a row for each joint value
    smallest_weight: float
    largest_weight: float

    @classmethod
    def of_sample(
        cls,
        level_sets: Sequence[tuple[int, ...]],
        most_distinct: int,
        edges: Mapping[int, NDArray[np.float64]],
        sample: Sample,
    ) -> _Summary:
        """The summary of a partition."""
        columns = {}
        for j in edges:
            values, weights = sample.values_of(j)
            columns[j] = BinnedColumn.of_rows(values, weights, edges[j], most_distinct)
        levels = {key: _first_row_of_levels(key, None, sample) for key in level_sets}
        weights = sample.weights
        first_row = sample.rows.take(np.arange(1))
        return cls(first_row, columns, levels, weights.min(), weights.max())

    def values_and_counts(
        self, distinct: DistinctValues
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Distinct values and their weights; equal weights count rows, to be exact."""
        if self.smallest_weight == self.largest_weight:
            return distinct.values, np.rint(distinct.weights / self.smallest_weight)
        return distinct.values, distinct.weights

    def quantile_bins(self, quantiles: _Quantiles) -> dict[int, NDArray[np.bool_]]:
        """Masks of the bins that hold quantiles, for columns of many values."""
        return {
            j: column.bins_of(quantiles[j])
            for j, column in self.columns.items()
            if column.distinct is None
        }

    def better_edges(self, quantiles: _Quantiles) -> dict[int, NDArray[np.float64]]:
        """Edges from a sample of all rows, for columns whose bins are uneven."""
        return {
            j: np.unique(self.columns[j].sample)
            for j, bins in self.quantile_bins(quantiles).items()
            if quantiles[j] is not None and self.columns[j].is_uneven(bins)
        }

    def merge(self, other: _Summary) -> _Summary:
        """The summary of the rows of both summaries."""
        levels = {
            key: _join_levels(None, rows, other.levels[key])
            for key, rows in self.levels.items()
        }
        return _Summary(
            self.first.joined(other.first).take(np.arange(1)),
            merge_states(self.columns, other.columns),
            levels,
            min(self.smallest_weight, other.smallest_weight),
            max(self.largest_weight, other.largest_weight),
        )


def _total_weight(sample: Sample) -> float:
    return sample.weights.sum()


def _first_row_of_levels(
    columns: Sequence[int], limit: int | None, sample: Sample
) -> Rows:
    """The columns, at the first row of each of their first `limit` joint values."""
    _, _, first_rows = sample.rows.encode(columns)
    return sample.rows.keep_columns(columns).take(first_rows[:limit])


def _join_levels(limit: int | None, rows: Rows, more_rows: Rows) -> Rows:
    """The distinct rows of two tables of joint values, at most `limit`."""
    stacked = rows.joined(more_rows)
    _, _, first_rows = stacked.encode(range(stacked.n_columns))
    return stacked.take(first_rows[:limit])


def _values_in_bins(
    bins_of_columns: dict[int, tuple[NDArray[np.float64], NDArray[np.bool_]]],
    sample: Sample,
) -> dict[int, DistinctValues]:
    """Distinct values of columns in their bins."""
    distinct = {}
    for j, (edges, bins) in bins_of_columns.items():
        values, weights = sample.values_of(j)
        distinct[j] = values_in_bins(values, weights, edges, bins)
    return distinct


def merge_states(first: Any, second: Any) -> Any:
    """Merge states, or add numbers; dicts, lists and tuples member by member."""
    if isinstance(first, dict):
        return {key: merge_states(state, second[key]) for key, state in first.items()}
    if isinstance(first, list | tuple):
        return [merge_states(*pair) for pair in zip(first, second, strict=True)]
    return first.merge(second) if hasattr(first, "merge") else first + second


def merge_optional(merge: Callable[..., Any], first: Any, second: Any) -> Any:
    """Merge states of two partitions, where None is a partition without rows."""
    if first is None or second is None:
        return second if first is None else first
    return merge(first, second)


@dataclass(frozen=True)
class _Reader:
    """Makes the `Sample` of a partition.

    Parameters
    ----------
    first : Rows
        The first row, for the kind of rows and the names of all columns.
    dtypes, check : object
        As in `PartitionedSample`.
    columns : list of int or None
        The only columns to read.
    """

    first: Rows
    dtypes: dict[int, Any]
    check: Callable[..., Any] | None
    columns: list[int] | None

    def apply(
        self,
        function: Callable[..., Any],
        index: int,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Result of a function for a partition's `Sample`; None without rows."""
        try:
            rows = as_rows(X)
            sample = self.read_sample(rows, y, sample_weight) if rows.n_rows else None
            if sample is None:
                return None
            return function(replace(sample, partition=index))
        except (TypeError, ValueError) as error:
            error.add_note(f"This is partition {index}, counted from 0.")
            raise

    def read_sample(self, rows: Rows, y: Any, sample_weight: Any) -> Sample | None:
        """The rows of positive weight; None if there are none."""
        if type(rows) is not type(self.first):
            kinds = [type(table.native).__name__ for table in (rows, self.first)]
            raise TypeError(
                f"A partition is of type {kinds[0]}, and the first one is of type "
                f"{kinds[1]}: pass all of them in one kind of container."
            )
        all_names = self.first.names
        columns = range(len(all_names)) if self.columns is None else self.columns
        all_columns, names = rows.names, [all_names[j] for j in columns]
        if rows.n_columns == len(all_names):
            rows = rows if self.columns is None else rows.keep_columns(columns)
        if rows.n_columns != len(names) or (rows.named and rows.names != names):
            raise ValueError(
                f"A partition has the columns {all_columns[:5]!r}, {len(all_columns)} "
                f"in all; the first one has {all_names[:5]!r}, {len(all_names)} in all."
            )
        dtypes = {k: self.dtypes[j] for k, j in enumerate(columns) if j in self.dtypes}
        rows = rows.cast_columns(dtypes)
        if y is not None:
            check_not_missing(y)
            y = np.asarray(y)
            check_consistent_length(rows.native, y)
        if self.check is not None:
            y = self.check(rows, y)
        numbers = np.asarray(sample_weight)
        if numbers.dtype.kind in "biuf" and not numbers.any():
            return None
        weights = check_weights(sample_weight, rows)
        sample = Sample.of_positive_weight(rows, y, weights)
        if self.columns is None:
            return sample
        some_columns: Any = _SomeColumns(sample.rows, all_names, columns)
        return replace(sample, rows=some_columns)

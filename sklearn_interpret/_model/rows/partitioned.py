"""A sample whose rows are in partitions: passes over them, and what columns hold."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from operator import add
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from sklearn_interpret._core.statistics.order_statistics import (
    BinnedColumn,
    values_in_bins,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.sample import Sample, observed_levels
from sklearn_interpret._model.rows.validation import check_known, check_weights


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
        Of some columns, what `values_of` returns.
    levels : dict of tuple to Rows
        Of some sets of columns, rows with each of their joint values.
    dtypes : dict
        Of some columns, the dtypes that hold the values of all partitions.
    """

    partitions: Any
    rows: Rows
    check: Callable | None = None
    values: dict = field(default_factory=dict)
    levels: dict = field(default_factory=dict)
    dtypes: dict = field(default_factory=dict)

    def map_reduce(self, function, merge, columns=None):
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
        first = self.rows.take(np.arange(1))
        reader = _Reader(first, self.dtypes, self.check, columns)
        task = partial(reader.result, function)
        found = self.partitions.map_reduce(task, partial(merge_known, merge), names)
        if found is None:
            raise ValueError("X has no rows of positive weight in any partition.")
        return found

    def summarised(self, quantiles, level_sets, most_distinct):
        """The sample with `values_of` and `levels_of` columns, see `Sample`.

        If all quantiles of a column are one value, all of its values are kept, too.
        """
        columns = sorted({*quantiles, *(j for some in level_sets for j in some)})
        if not columns:
            return self
        head = Sample(self.rows, None, np.ones(self.rows.n_rows))
        edges = {j: np.unique(head.values_of(j)[0]) for j in quantiles}
        for last in (False, True):
            task = partial(_Summary.of_sample, edges, tuple(level_sets), most_distinct)
            summary = self.map_reduce(task, _Summary.merge, columns)
            bins = {
                j: column.bins_of(quantiles[j])
                for j, column in summary.columns.items()
                if column.few is None
            }
            uneven = {
                j: np.unique(summary.columns[j].sample)
                for j, mask in bins.items()
                if quantiles[j] is not None and summary.columns[j].is_uneven(mask)
            }
            if last or not uneven:
                break
            edges |= uneven  # the first rows are not like the others
        values = {j: column.few for j, column in summary.columns.items()}
        values |= self._collected(summary.columns, bins)
        repeated = {
            j: summary.columns[j].weights > 0
            for j in bins
            if quantiles[j] is not None
            and len(np.unique(values[j].quantiles(quantiles[j]))) == 1
        }
        values |= self._collected(summary.columns, repeated)
        dtypes = {j: summary.first.dtype(place) for place, j in enumerate(columns)}
        return replace(
            self,
            rows=self.rows.conformed(dtypes),
            values=self.values
            | {j: summary.with_counts(own) for j, own in values.items()},
            levels=self.levels | summary.levels,
            dtypes=self.dtypes | dtypes,
        )

    def _collected(self, columns, bins):
        """Distinct values of columns, those of other bins lumped together."""
        if not bins:
            return {}
        task = partial(_values_in_bins, {j: (columns[j].edges, bins[j]) for j in bins})
        found = self.map_reduce(task, merged, list(bins))
        return {j: columns[j].completed(bins[j], found[j]) for j in bins}

    @property
    def total_weight(self):
        """Sum of the weights."""
        return self.map_reduce(_total_weight, add, [0])

    def n_distinct(self, columns, most):
        """Number of distinct joint values of columns, or `most` if there are more."""
        task = partial(_first_of_levels, columns, most)
        return self.map_reduce(task, partial(_joined_levels, most), columns).n_rows

    def values_of(self, j):
        """Distinct values of a column, NaN left out, and their weights.

        Between exact quantiles one value may stand for several.
        """
        return self.values[j]

    def levels_of(self, columns):
        """Labels of the joint values of columns, and native vectors of these."""
        return observed_levels(self.levels[columns], range(len(columns)))


def first_rows(estimator, partitions):
    """First rows of partitions, if the estimator's `fit` takes them."""
    name, subsample = type(estimator).__name__, getattr(estimator, "subsample", None)
    if not estimator._takes_partitions or subsample is not None:
        drawn = f" to draw subsample={subsample!r}" if subsample else ""
        raise TypeError(
            f"{name} needs all rows in memory{drawn}, and those of X are in "
            "partitions: pass a sample of them that fits in memory; transform and "
            "explain take each partition in turn."
        )
    head = partitions.head()
    if head is None:
        raise ValueError(f"X has no rows, and {name} needs one.")
    return head


class _SomeColumns:
    """Some columns of rows, at their places in the whole table."""

    def __init__(self, rows, names, columns):
        self._rows, self.names = rows, names
        self._places = {j: place for place, j in enumerate(columns)}
        self.n_rows, self.row_bytes = rows.n_rows, rows.row_bytes
        self.take = rows.take

    def part(self, rows):
        """Rows of a slice."""
        return _SomeColumns(self._rows.part(rows), self.names, self._places)

    def __getattr__(self, name):
        """A method of `Rows` that takes a column, or columns."""
        method = getattr(self._rows, name)

        def of_columns(columns):
            of_one = np.ndim(columns) == 0
            places = self._places
            return method(places[columns] if of_one else [places[j] for j in columns])

        return of_columns


@dataclass(frozen=True)
class _Summary:
    """Values of some columns: a state of rows that can be merged."""

    first: Rows
    columns: dict
    levels: dict
    least: float
    largest: float

    @classmethod
    def of_sample(cls, edges, level_sets, most_distinct, sample):
        """The summary of a partition."""
        columns = {}
        for j, own in edges.items():
            values, weights = sample.values_of(j)
            columns[j] = BinnedColumn.of_rows(values, weights, own, most_distinct)
        levels = {some: _first_of_levels(some, None, sample) for some in level_sets}
        weights = sample.weights
        first = sample.rows.take(np.arange(1))
        return cls(first, columns, levels, weights.min(), weights.max())

    def with_counts(self, distinct):
        """Distinct values and their weights: numbers of rows if all weights are equal,
        for these are exact."""
        if self.least == self.largest:
            return distinct.values, np.rint(distinct.weights / self.least)
        return distinct.values, distinct.weights

    def merge(self, other):
        """The summary of both."""
        levels = {
            some: _joined_levels(None, own, other.levels[some])
            for some, own in self.levels.items()
        }
        return _Summary(
            self.first.joined(other.first).take(np.arange(1)),
            merged(self.columns, other.columns),
            levels,
            min(self.least, other.least),
            max(self.largest, other.largest),
        )


def _total_weight(sample):
    return sample.weights.sum()


def _first_of_levels(columns, most, sample):
    """The first row of each joint value of columns, `most` of them: these columns."""
    _, _, first = sample.rows.encode(columns)
    return sample.rows.keep_columns(columns).take(first[:most])


def _joined_levels(most, rows, others):
    """One row of each value in both, `most` of them."""
    both = rows.joined(others)
    _, _, first = both.encode(range(both.n_columns))
    return both.take(first[:most])


def _values_in_bins(wanted, sample):
    """Distinct values of columns in their bins."""
    found = {}
    for j, (edges, bins) in wanted.items():
        values, weights = sample.values_of(j)
        found[j] = values_in_bins(values, weights, edges, bins)
    return found


def merged(first, second):
    """Merged states, or their sum; of dicts, lists and tuples member by member."""
    if isinstance(first, dict):
        return {key: merged(own, second[key]) for key, own in first.items()}
    if isinstance(first, list | tuple):
        return [merged(*pair) for pair in zip(first, second, strict=True)]
    return first.merge(second) if hasattr(first, "merge") else first + second


def merge_known(merge, first, second):
    """Merged states of two partitions, None for one without rows."""
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
    dtypes: dict
    check: Callable | None
    columns: list | None

    def result(self, function, index, X, y=None, sample_weight=None):
        """The function of a partition's `Sample`; None without rows."""
        try:
            rows = as_rows(X)
            sample = self.sample(rows, y, sample_weight) if rows.n_rows else None
            if sample is None:
                return None
            return function(replace(sample, partition=index))
        except (TypeError, ValueError) as error:
            error.add_note(f"This is partition {index}, counted from 0.")
            raise

    def sample(self, rows, y, sample_weight):
        """The rows of positive weight; None if there are none."""
        if type(rows) is not type(self.first):
            kinds = [type(part.native).__name__ for part in (rows, self.first)]
            raise TypeError(
                f"A partition is of type {kinds[0]}, and the first one is of type "
                f"{kinds[1]}: pass all of them in one kind of container."
            )
        all_names = self.first.names
        columns = range(len(all_names)) if self.columns is None else self.columns
        given, names = rows.names, [all_names[j] for j in columns]
        if rows.n_columns == len(all_names):
            rows = rows if self.columns is None else rows.keep_columns(columns)
        if rows.n_columns != len(names) or (rows.named and rows.names != names):
            raise ValueError(
                f"A partition has the columns {given[:5]!r}, {len(given)} in all; the "
                f"first one has {all_names[:5]!r}, {len(all_names)} in all."
            )
        places = {k: self.dtypes[j] for k, j in enumerate(columns) if j in self.dtypes}
        rows = rows.conformed(places)
        if y is not None:
            check_known(y)
            y = np.asarray(y)
            check_consistent_length(rows.native, y)
        if self.check is not None:
            y = self.check(rows, y)
        given = np.asarray(sample_weight)
        if given.dtype.kind in "biuf" and not given.any():
            return None
        weights = check_weights(sample_weight, rows)
        sample = Sample.of_positive_weight(rows, y, weights)
        if self.columns is None:
            return sample
        rows = _SomeColumns(sample.rows, all_names, columns)
        return replace(sample, rows=rows)

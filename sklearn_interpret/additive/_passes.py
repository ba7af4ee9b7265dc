"""Passes over the rows of an additive model, in memory or in partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from sklearn_interpret._core.additive.fitting import TargetRows
from sklearn_interpret._core.additive.gram import CodedTerm, RoundedRows
from sklearn_interpret._model.rows.partitioned import PartitionedSample
from sklearn_interpret._model.validation import Sample
from sklearn_interpret.additive._terms import Summary


@dataclass(frozen=True)
class Observed:
    """Summaries of rows: the first pass.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    labels : ndarray
        Distinct labels of a classifier.
    summaries : dict
        The `Summary` of each column and kind of term.
    """

    n_rows: int
    labels: np.ndarray
    summaries: dict

    @classmethod
    def of(cls, check, read_labels, columns, needed, sample):
        """Those of a sample, after checks of some columns and the targets."""
        rows, weights = sample.rows, sample.weights
        check(rows, columns)
        labels = read_labels(sample.y)
        summaries = {key: Summary.of(rows, weights, *key) for key in needed}
        return cls(rows.n_rows, labels, summaries)

    def __add__(self, other):
        """Those of both."""
        labels = np.union1d(self.labels, other.labels)
        summaries = {k: s + other.summaries[k] for k, s in self.summaries.items()}
        return Observed(self.n_rows + other.n_rows, labels, summaries)


@dataclass(frozen=True)
class Totals:
    """Sums over rows that a design is made of: the second pass.

    Parameters
    ----------
    sums : list
        Number of rows, sums of the weights, of the targets and of the offset.
    histograms : list of tuple
        Of each term, as `CodedTerm.histogram` has them.
    extents : list of tuple
        Of each term, extents of its columns.
    """

    sums: list
    histograms: list
    extents: list

    @classmethod
    def of(cls, terms, rows):
        """Those of `TargetRows` that are coded only."""
        weights = rows.weights
        sums = [len(weights), weights.sum(), rows.targets @ weights]
        histograms = [coded.histogram(weights) for coded in rows.design]
        pairs = zip(terms, rows.design, strict=True)
        extents = [term.extents(coded.columns) for term, coded in pairs]
        return cls([*sums, rows.offset @ weights], histograms, extents)

    def __add__(self, other):
        """Those of both."""
        pairs = zip(self.histograms, other.histograms, strict=True)
        histograms = [_each(np.add, first, second) for first, second in pairs]
        pairs = zip(self.extents, other.extents, strict=True)
        extents = [_each(np.minimum, first, second) for first, second in pairs]
        return Totals(_each(np.add, self.sums, other.sums), histograms, extents)


def _each(function, first, second):
    return tuple(map(function, first, second))


def coded_rows(terms, bins, offset, labels, sample):
    """`TargetRows` with a `CodedTerm` for each term in place of the design.

    Parameters
    ----------
    terms : list of FittedTerm
        The terms, not centred.
    bins : list of list of Bins
        Of each, as `CodedTerm` has them.
    offset : int or None
        Column that is added to the linear predictor.
    labels : ndarray or None
        Labels that each have a model; None if targets are numbers.
    sample : Sample
        The rows.
    """
    # A column of several terms is read once.
    columns = {_key(column): column for t in terms for column in t.columns}
    values = {k: c.read(sample.rows, "zero", "linear") for k, c in columns.items()}
    coded = [
        CodedTerm(own, [values[_key(column)] for column in term.columns])
        for term, own in zip(terms, bins, strict=True)
    ]
    offset = offsets_of(offset, sample.rows)
    return TargetRows(coded, targets_of(labels, sample.y), sample.weights, offset)


def _key(column):
    return column.position, column.labels is None


def with_design(design, rows):
    """Coded rows with the functions of a design."""
    coded = rows.design[: len(design.terms)]
    return replace(rows, design=RoundedRows(design, coded, len(rows.weights)))


def targets_of(labels, y):
    """Numbers of each model: (n_models, n_rows)."""
    return y[None] if labels is None else (y == labels[:, None]).astype(np.float64)


def offsets_of(column, rows):
    """Known parts of the linear predictor."""
    if column is None:
        return np.zeros(rows.n_rows)
    offsets = rows.values(column)
    if offsets.dtype.kind not in "iuf" or not np.isfinite(offsets).all():
        name = rows.names[column]
        raise ValueError(f"offset takes a column of finite numbers, not {name!r}.")
    return offsets.astype(np.float64)


def rows_of(sample, columns):
    """The rows of a sample for passes that read some columns."""
    if isinstance(sample, Sample):
        return _Whole(sample)
    return _Parts(sample, columns, ())


@dataclass(frozen=True)
class _Whole:
    """Rows in memory, and what is made of them."""

    rows: Any

    def sum(self, function):
        """The function of the rows."""
        return function(self.rows)

    def made(self, make):
        """The result of a function of the rows, kept in their place."""
        return _Whole(make(self.rows))


@dataclass(frozen=True)
class _Parts:
    """Rows in partitions, and functions that make something of each in each pass."""

    sample: PartitionedSample
    columns: list
    makes: tuple

    def sum(self, function):
        """Sum of the results of a function of each partition."""
        function = partial(_chained, (*self.makes, function))
        return self.sample.map_reduce(function, add, self.columns)

    def made(self, make):
        """A function of each partition, applied in each pass."""
        return replace(self, makes=(*self.makes, make))


def _chained(functions, part):
    return reduce(lambda made, function: function(made), functions, part)

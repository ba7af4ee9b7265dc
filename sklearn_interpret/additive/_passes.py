"""Passes over the rows of an additive model, in memory or in partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sklearn_interpret._core.additive.fitting import TargetRows
from sklearn_interpret._core.additive.gram import CodedTerm, RoundedRows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.validation import Sample
from sklearn_interpret.additive._terms import Summary, merged_extents


@dataclass(frozen=True)
class Observed:
    """What rows hold: the first pass.

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

    def merge(self, other):
        """Those of both."""
        labels = np.union1d(self.labels, other.labels)
        summaries = {k: s.merge(other.summaries[k]) for k, s in self.summaries.items()}
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
        extents = [
            tuple(c.extents(x) for c, x in zip(t.columns, coded.columns, strict=True))
            for t, coded in zip(terms, rows.design, strict=True)
        ]
        return cls([*sums, rows.offset @ weights], histograms, extents)

    def merge(self, other):
        """Those of both."""
        pairs = zip(self.histograms, other.histograms, strict=True)
        histograms = [_each(np.add, first, second) for first, second in pairs]
        pairs = zip(self.extents, other.extents, strict=True)
        extents = [_each(merged_extents, first, second) for first, second in pairs]
        return Totals(_each(np.add, self.sums, other.sums), histograms, extents)


def _each(function, first, second):
    return tuple(map(function, first, second))


@dataclass(frozen=True)
class Coder:
    """Makes coded rows of a sample.

    Parameters
    ----------
    terms : list of FittedTerm
        The terms, not centred.
    bins : list of list of Bins or None
        Bins of the columns of each.
    offset : int or None
        Column that is added to the linear predictor.
    labels : ndarray or None
        Labels that each have a model; None if targets are numbers.
    """

    terms: list
    bins: list
    offset: int | None
    labels: np.ndarray | None

    def __call__(self, sample):
        """`TargetRows` with a `CodedTerm` for each term in place of the design."""
        # A column of several terms is read once.
        columns = {_key(column): column for t in self.terms for column in t.columns}
        values = {
            key: column.read(sample.rows, "zero", "linear")
            for key, column in columns.items()
        }
        coded = [
            CodedTerm(t.term, bins, [values[_key(column)] for column in t.columns])
            for t, bins in zip(self.terms, self.bins, strict=True)
        ]
        targets = targets_of(self.labels, sample.y)
        offset = offsets_of(self.offset, sample.rows)
        return TargetRows(coded, targets, sample.weights, offset)


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


@dataclass(frozen=True)
class _SomeColumns:
    """Some columns of rows, at their places in the whole table."""

    rows: Rows
    names: list
    places: dict

    @property
    def n_rows(self):
        return self.rows.n_rows

    def values(self, j):
        return self.rows.values(self.places[j])

    def categories(self, j):
        return self.rows.categories(self.places[j])

    def encode_column(self, j):
        return self.rows.encode_column(self.places[j])


def _with_columns(names, columns, sample):
    places = {j: place for place, j in enumerate(columns)}
    rows = _SomeColumns(sample.rows.keep_columns(columns), names, places)
    return replace(sample, rows=rows)


def with_columns(sample, columns):
    """The sample for passes that read some columns only."""
    if isinstance(sample, Sample):
        return sample
    make = partial(_with_columns, sample.rows.names, columns)
    return _Made(sample, make, [columns])


def made_of(parts, make):
    """What a function makes of parts of the rows: kept of a sample in memory.

    Of rows in partitions, each pass calls it for each partition.
    """
    if isinstance(parts, Sample | _Whole):
        return _Whole(parts.map_reduce(make, None))
    return _Made(parts, make)


@dataclass(frozen=True)
class _Whole:
    """All rows, as one part."""

    part: Any

    def map_reduce(self, function, merge):
        return function(self.part)


@dataclass(frozen=True)
class _Made:
    """Parts that are made of others in each pass."""

    parts: Any
    make: Callable
    options: list = ()

    def map_reduce(self, function, merge):
        function = partial(_chained, self.make, function)
        return self.parts.map_reduce(function, merge, *self.options)


def _chained(make, function, part):
    return function(make(part))

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
from sklearn_interpret._model.rows.validation import offsets_of
from sklearn_interpret.additive._terms import Column, Summary


def observed(check, read_labels, needed, sample):
    """What the first pass finds: number of rows, distinct labels, and summaries.

    These are the `Summary` of each column and kind of term, after checks of values and
    targets.
    """
    rows, weights = sample.rows, sample.weights
    check(rows)
    labels = read_labels(sample.y)
    return (
        rows.n_rows,
        labels,
        {k: Summary.of_column(rows, weights, *k) for k in needed},
    )


def both_observed(first, second):
    """What two parts of the rows hold."""
    n_rows, labels, summaries = zip(first, second, strict=True)
    both = {key: summary + summaries[1][key] for key, summary in summaries[0].items()}
    return sum(n_rows), np.union1d(*labels), both


def totals(terms, rows):
    """Sums of the second pass, of `TargetRows` that are coded only.

    Number of rows, and sums of weights, targets and offset; of each term what
    `CodedTerm.histogram` has; of each term the extents of its columns.
    """
    weights, design = rows.weights, rows.design
    sums = len(weights), weights.sum(), rows.targets @ weights, rows.offset @ weights
    histograms = [coded.histogram(weights) for coded in design]
    pairs = zip(terms, design, strict=True)
    extents = [_each(Column.extents, t.columns, c.columns) for t, c in pairs]
    return sums, histograms, extents


def both_totals(first, second):
    """Those of two parts of the rows."""
    sums, histograms, extents = zip(first, second, strict=True)
    return (
        _each(add, *sums),
        _each(partial(_each, add), *histograms),
        _each(partial(_each, np.minimum), *extents),
    )


def _each(function, first, second):
    return list(map(function, first, second))


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


@dataclass(frozen=True)
class Passes:
    """Rows in memory or in partitions, and functions that make something of them.

    Parameters
    ----------
    sample : Sample, PartitionedSample or Made
        The rows.
    columns : sequence of int
        The only columns that are read.
    makes : tuple of callable
        Applied to each partition, one after the other, in each pass.
    """

    sample: Any
    columns: Any
    makes: tuple = ()

    def sum(self, function, merge=add):
        """Merged results of a function of what is made of each part of the rows."""
        function = partial(_chained, (*self.makes, function))
        return self.sample.map_reduce(function, merge, self.columns)

    def made(self, make):
        """The same of what a function makes: once of rows in memory, which are kept."""
        if isinstance(self.sample, PartitionedSample):
            return replace(self, makes=(*self.makes, make))
        return replace(self, sample=Made(self.sum(make)))


@dataclass(frozen=True)
class Made:
    """What is made of rows in memory."""

    rows: Any

    def map_reduce(self, function, merge, columns):
        """The function of it."""
        return function(self.rows)


def _chained(functions, part):
    return reduce(lambda made, function: function(made), functions, part)

"""Passes over the rows of an additive model, in memory or in partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.additive.fitting import TargetRows
from sklearn_interpret._core.additive.gram import CodedTerm, RoundedRows
from sklearn_interpret._model.rows.partitioned import PartitionedSample
from sklearn_interpret._model.rows.validation import offsets_of
from sklearn_interpret.additive._terms import Column, Summary

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.gram import Bins, RoundedDesign
    from sklearn_interpret.additive._terms import FittedTerm


def observed(
    check: Callable[..., Any],
    read_labels: Callable[..., Any],
    needed: set[tuple[int, str]],
    sample: Any,
) -> tuple[int, NDArray[Any], dict[tuple[int, str], Summary]]:
    """Results of the first pass: number of rows, distinct labels, and summaries.

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


def both_observed(
    first: tuple[int, NDArray[Any], dict[tuple[int, str], Summary]],
    second: tuple[int, NDArray[Any], dict[tuple[int, str], Summary]],
) -> tuple[int, NDArray[np.float64], dict[tuple[int, str], Summary]]:
    """Results of the first pass over two sets of rows together."""
    n_rows, labels, summaries = first
    more_rows, more_labels, more = second
    summaries = {key: summary + more[key] for key, summary in summaries.items()}
    return n_rows + more_rows, np.union1d(labels, more_labels), summaries


def totals(terms: list[FittedTerm], rows: TargetRows) -> tuple[Any, ...]:
    """Sums of the second pass, of `TargetRows` that are coded only.

    Number of rows, and sums of weights, targets and offset; of each term what
    `CodedTerm.histogram` has; of each term the extents of its columns.
    """
    weights, design = rows.weights, _coded(rows)
    sums = len(weights), weights.sum(), rows.targets @ weights, rows.offset @ weights
    histograms = [coded.histogram(weights) for coded in design]
    pairs = zip(terms, design, strict=True)
    extents = [_each(Column.extents, t.columns, c.columns) for t, c in pairs]
    return sums, histograms, extents


def both_totals(
    first: tuple[Any, list[Any], list[list[NDArray[np.float64]]]],
    second: tuple[Any, list[Any], list[list[NDArray[np.float64]]]],
) -> Any:
    """Those of two parts of the rows."""
    sums, histograms, extents = zip(first, second, strict=True)
    return (
        _each(add, *sums),
        _each(add, *histograms),
        _each(partial(_each, np.minimum), *extents),
    )


def _each(
    function: Callable[..., Any],
    first: Any,
    second: list[Any] | tuple[NDArray[np.float64] | float, ...],
) -> list[NDArray[np.float64]]:
    return list(map(function, first, second))


def coded_rows(
    terms: list[FittedTerm],
    bins: list[list[Bins]],
    offset: int | None,
    labels: NDArray[Any] | None,
    sample: Any,
) -> TargetRows:
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
    coded: Any = [  # the design, until `with_design`
        CodedTerm(of_term, [values[_key(column)] for column in term.columns])
        for term, of_term in zip(terms, bins, strict=True)
    ]
    offsets = offsets_of(offset, sample.rows)
    return TargetRows(coded, targets_of(labels, sample.y), sample.weights, offsets)


def _key(column: Column) -> tuple[int, bool]:
    return column.position, column.labels is None


def with_design(design: RoundedDesign, rows: TargetRows) -> TargetRows:
    """Coded rows with the functions of a design."""
    coded = _coded(rows)[: len(design.terms)]
    return replace(rows, design=RoundedRows(design, coded, len(rows.weights)))


def _coded(rows: Any) -> list[CodedTerm]:
    """The columns of the terms of `coded_rows`."""
    return rows.design


def targets_of(labels: NDArray[Any] | None, y: NDArray[Any]) -> NDArray[np.float64]:
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

    def sum(self, function: Callable[..., Any], merge: Callable[..., Any] = add) -> Any:
        """Merged results of a function that gets each partition, after `makes`."""
        function = partial(_chained, (*self.makes, function))
        return self.sample.map_reduce(function, merge, self.columns)

    def made(self, make: Callable[..., Any]) -> Passes:
        """The same passes, after another function; rows in memory pass it only once."""
        if isinstance(self.sample, PartitionedSample):
            return replace(self, makes=(*self.makes, make))
        return replace(self, sample=Made(self.sum(make)))


@dataclass(frozen=True)
class Made:
    """Rows in memory after functions were applied to them."""

    rows: Any

    def map_reduce(
        self, function: Callable[..., Any], merge: Callable[..., Any], columns: range
    ) -> Any:
        """The function of it."""
        return function(self.rows)


def _chained(functions: tuple[Callable[..., Any], ...], rows: Any) -> Any:
    return reduce(lambda made, function: function(made), functions, rows)

"""Passes over the rows of an additive model, in memory or in partitions.

The first pass (`ObservedRows`) summarises columns, from which terms are made. Rows are
then coded (`code_rows`). The second pass (`Totals`) adds up what the design needs, and
the passes of the fit see rows with this design (`CodedRows.with_design`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from sklearn_interpret.additive._terms import Column, ColumnKind, Summary

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.gram import Bins, Histogram, RoundedDesign
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.additive._terms import FittedTerm


@dataclass(frozen=True)
class ObservedRows:
    """Results of the first pass, after checks of values and targets."""

    n_rows: int
    labels: NDArray[Any]  # distinct labels of the targets, increasing
    summaries: dict[ColumnKind, Summary]

    @classmethod
    def of_sample(
        cls,
        check: Callable[[Rows], None],
        read_labels: Callable[[NDArray[Any]], NDArray[Any]],
        needed_columns: set[ColumnKind],
        sample: Sample,
    ) -> ObservedRows:
        """The results for some rows, with summaries of the needed columns."""
        rows, weights = sample.rows, sample.weights
        check(rows)
        labels = read_labels(sample.y)
        summaries = {
            key: Summary.of_column(rows, weights, *key) for key in needed_columns
        }
        return cls(rows.n_rows, labels, summaries)

    def __add__(self, other: ObservedRows) -> ObservedRows:
        """The results for the rows of both."""
        return ObservedRows(
            self.n_rows + other.n_rows,
            np.union1d(self.labels, other.labels),
            {
                key: summary + other.summaries[key]
                for key, summary in self.summaries.items()
            },
        )


@dataclass(frozen=True)
class Totals:
    """Sums of the second pass, over coded rows."""

    n_rows: int
    weight: float
    targets: NDArray[np.float64]  # weighted sum of each model's, (n_models,)
    offset: float  # weighted sum
    histograms: list[Histogram]  # of the terms
    extents: list[list[NDArray[np.float64]]]  # `Column.extents` of each term's columns

    @classmethod
    def of_rows(cls, terms: list[FittedTerm], rows: CodedRows) -> Totals:
        """The sums over some rows."""
        weights = rows.weights
        return cls(
            len(weights),
            weights.sum(),
            rows.targets @ weights,
            float(rows.offset @ weights),
            [coded.histogram(weights) for coded in rows.terms],
            [
                list(map(Column.extents, term.columns, coded.columns))
                for term, coded in zip(terms, rows.terms, strict=True)
            ],
        )

    def __add__(self, other: Totals) -> Totals:
        """The sums over the rows of both."""
        extents = zip(self.extents, other.extents, strict=True)
        return Totals(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.targets + other.targets,
            self.offset + other.offset,
            list(map(add, self.histograms, other.histograms)),
            [list(map(np.minimum, *pair)) for pair in extents],
        )


@dataclass(frozen=True)
class CodedRows:
    """Some rows before there is a design: like `TargetRows`, with codes of terms."""

    terms: list[CodedTerm]
    targets: NDArray[np.float64]  # (n_models, n_rows)
    weights: NDArray[np.float64]
    offset: NDArray[np.float64]

    def with_design(self, design: RoundedDesign) -> TargetRows:
        """The rows with the functions of a design, which has all terms or none."""
        coded = self.terms[: len(design.terms)]
        functions = RoundedRows(design, coded, len(self.weights))
        return TargetRows(functions, self.targets, self.weights, self.offset)


def code_rows(
    terms: list[FittedTerm],
    bins: list[list[Bins]],
    offset: int | None,
    labels: NDArray[Any] | None,
    sample: Sample,
) -> CodedRows:
    """Rows with a `CodedTerm` for each term.

    Parameters
    ----------
    terms : list of FittedTerm
        The terms, not centred.
    bins : list of list of Bins
        Bins of each term's columns, as `CodedTerm` has them.
    offset : int or None
        Column that is added to the linear predictor.
    labels : ndarray or None
        Labels that each have a model; None if targets are numbers.
    sample : Sample
        The rows.
    """
    # A column of several terms is read once.
    columns = {_column_key(column): column for term in terms for column in term.columns}
    values = {
        key: column.read(sample.rows, "zero", "linear")
        for key, column in columns.items()
    }
    coded = [
        CodedTerm(term_bins, [values[_column_key(column)] for column in term.columns])
        for term, term_bins in zip(terms, bins, strict=True)
    ]
    offsets = offsets_of(offset, sample.rows)
    return CodedRows(coded, targets_of(labels, sample.y), sample.weights, offsets)


def _column_key(column: Column) -> tuple[int, bool]:
    """Position of a column, and whether it is read as numbers."""
    return column.position, column.labels is None


def targets_of(labels: NDArray[Any] | None, y: NDArray[Any]) -> NDArray[np.float64]:
    """Targets of each model (n_models, n_rows): numbers, or 1 for its own label."""
    return y[None] if labels is None else (y == labels[:, None]).astype(np.float64)


@dataclass(frozen=True)
class Passes:
    """Passes over rows in memory or in partitions, mapped by functions.

    Parameters
    ----------
    sample : Sample, PartitionedSample or MappedRows
        The rows.
    columns : sequence of int
        The only columns that are read.
    functions : tuple of callable
        Applied to each partition, one after the other, in each pass.
    """

    sample: Sample | PartitionedSample | MappedRows
    columns: Sequence[int]
    functions: tuple[Callable[..., Any], ...] = ()

    def sum(self, function: Callable[..., Any]) -> Any:
        """Sum of a function's results for the mapped partitions."""
        function = partial(_apply_in_turn, (*self.functions, function))
        return self.sample.map_reduce(function, add, self.columns)

    def map_rows(self, function: Callable[..., Any]) -> Passes:
        """The rows after another function; those in memory are mapped only once."""
        if isinstance(self.sample, PartitionedSample):
            return replace(self, functions=(*self.functions, function))
        return replace(self, sample=MappedRows(self.sum(function)))


@dataclass(frozen=True)
class MappedRows:
    """Rows in memory after functions were applied to them."""

    rows: Any

    def map_reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[..., Any],
        columns: Sequence[int],
    ) -> Any:
        """The function of the rows; `Sample` has the same method."""
        return function(self.rows)


def _apply_in_turn(functions: tuple[Callable[..., Any], ...], rows: Any) -> Any:
    """Result of functions that are applied to rows one after the other."""
    return reduce(lambda result, function: function(result), functions, rows)

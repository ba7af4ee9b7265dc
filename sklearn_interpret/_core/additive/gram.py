"""Products of the design of an additive model with itself, without the design.

Columns are rounded to some hundreds of values. A product of two terms is a sum over
pairs of values, weighted by their joint histogram (Wood, Li, Shaddick & Augustin 2017):
memory and time per coefficient do not grow with the number of rows. Histograms of
partitions add up to that of all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from sklearn_interpret._core.additive.bases import LevelBasis, LineBasis, SplineBasis
from sklearn_interpret._core.statistics.grids import search_sorted

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.terms import Term

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Largest number of distinct values of a column: the error of a curve by rounding to
# means of bins falls with its square. `bench_gam` compares errors with those of pygam,
# which does not round.
MOST_VALUES = 256
# Up to this number of rows one product of the full design is quicker than histograms
# of pairs of columns. Chosen by hand.
_FEW_ROWS = 1000


@dataclass(frozen=True)
class Bins:
    """Bins of a column, each of which is rounded to one value.

    Parameters
    ----------
    basis : SplineBasis or LevelBasis
        Functions of the column.
    values : ndarray or None
        Its distinct values, NaN last, where they are few.
    """

    basis: SplineBasis | LevelBasis
    values: _Array | None = None

    @cached_property
    def _starts(self) -> _Array:
        """Least number of each bin but the first."""
        if self.values is not None:
            return self.values[~np.isnan(self.values)][1:]
        # Each interval between breaks has as many bins of equal width.
        assert isinstance(self.basis, SplineBasis)  # bins of levels have values
        breaks = self.basis.breaks
        n_intervals = len(breaks) - 1
        n_edges = -(-MOST_VALUES // n_intervals) * n_intervals
        edges = np.linspace(0, n_intervals, n_edges + 1)[1:-1]
        return np.interp(edges, np.arange(len(breaks)), breaks)

    @property
    def n_bins(self) -> int:
        """Number of bins, the last of which is for NaN where the basis allows it."""
        return len(self._starts) + 1 + getattr(self.basis, "missing", False)

    def codes(self, x: _Array) -> NDArray[np.intp]:
        """The bin of each value."""
        if isinstance(self.basis, LevelBasis):
            return x.astype(np.intp)
        if self.values is None:
            x = self.basis.moved_to_first_period(x)
        codes = search_sorted(self._starts, x, "right")
        if self.basis.missing:
            codes[np.isnan(x)] = self.n_bins - 1
        return codes

    def sums(self, x: _Array, codes: NDArray[np.intp], weights: _Array) -> _Array:
        """Weighted sum of the values in each bin; a zero where bins have one value."""
        if isinstance(self.basis, LevelBasis) or self.values is not None:
            return np.zeros(1)
        x = self.basis.moved_to_first_period(x)
        sums = np.bincount(codes, weights * x, self.n_bins)
        return sums.astype(np.float64, copy=False)

    def table(self, sizes: _Array, sums: _Array) -> _Array:
        """The functions at the value of each bin, from weights and sums of values."""
        values = self.values
        if values is None:
            # Empty bins, which no row has, get any value.
            values = np.full(self.n_bins, self._starts[0])
            np.divide(sums, sizes, out=values, where=sizes > 0)
        return self.basis.evaluate(values)


@dataclass(frozen=True)
class Histogram:
    """Rows of a term by bin; histograms of two sets of rows add up."""

    counts: _Array  # (n_bins,) or (n_bins, n_bins_2): weights of the rows
    sums: list[_Array]  # for each column, `Bins.sums`

    def __add__(self, histogram: Histogram) -> Histogram:
        sums = list(map(add, self.sums, histogram.sums))
        return Histogram(self.counts + histogram.counts, sums)


@dataclass(frozen=True)
class CodedTerm:
    """The columns of a term at some rows.

    Parameters
    ----------
    bins : list of Bins
        Bins of each column, except that of a straight line, which comes first.
    columns : list of ndarray of shape (n_rows,)
        Values of all columns.
    """

    bins: list[Bins]
    columns: list[_Array]

    @property
    def _binned_columns(self) -> list[_Array]:
        """Columns with bins."""
        return self.columns[len(self.columns) - len(self.bins) :]

    @cached_property
    def codes(self) -> list[NDArray[np.intp]]:
        """Bin of each value, by column with bins; of a straight line, a single bin."""
        if not self.bins:
            return [np.zeros(len(self.columns[0]), dtype=np.intp)]
        return list(map(Bins.codes, self.bins, self._binned_columns))

    def histogram(self, weights: _Array) -> Histogram:
        """The histogram of the rows with these weights."""
        sizes = [bins.n_bins for bins in self.bins] or [1]
        joint = np.zeros_like(self.codes[0])
        for size, codes in zip(sizes, self.codes, strict=True):
            joint = joint * size + codes
        counts = np.bincount(joint, weights, np.prod(sizes)).astype(np.float64)
        sums = map(
            Bins.sums, self.bins, self._binned_columns, self.codes, repeat(weights)
        )
        return Histogram(counts.reshape(sizes), list(sums))


@dataclass(frozen=True)
class _Piece:
    """Functions of one column at the rows, times one function of another column."""

    multiply: Callable[[_Array], _Array]
    codes: NDArray[np.intp]
    table: _Array

    def sums(self, weights: _Array) -> _Array:
        """Weighted sums of the functions over the rows."""
        counts = np.bincount(self.codes, self.multiply(weights), len(self.table))
        return counts @ self.table

    def values(self) -> _Array:
        """The functions at the rows, (n_rows, n_functions)."""
        return self.multiply(np.ones(len(self.codes)))[:, None] * self.table[self.codes]

    def products(self, weights: _Array, other: _Piece) -> _Array | float:
        """Weighted sums of products with another piece's functions."""
        weights = other.multiply(self.multiply(weights))
        if not weights.any():  # no row has both functions
            return 0.0
        n, m = len(self.table), len(other.table)
        if self.codes is other.codes:
            counts = np.bincount(self.codes, weights, n)
            return self.table.T @ (counts[:, None] * other.table)
        counts = np.bincount(self.codes * m + other.codes, weights, n * m)
        return self.table.T @ (counts.reshape(n, m) @ other.table)


def _times_column(values: _Array, codes: NDArray[np.intp], weights: _Array) -> _Array:
    """Weights times the value of each row's bin."""
    return weights * values[codes]


class _RoundedTerm:
    """The products of a term's functions at the rows."""

    def __init__(self, term: Term, tables: list[_Array], coded: CodedTerm) -> None:
        self._tables, self._codes = tables, coded.codes
        self._line: _Array | None = None
        if isinstance(term.bases[0], LineBasis):
            self._line = term.bases[0].evaluate(coded.columns[0])[:, 0]

    def pieces(self) -> Iterator[_Piece]:
        """The pieces of the term."""
        *outer, codes = self._codes
        *outer_tables, table = self._tables
        if outer:
            for column in outer_tables[0].T:
                yield _Piece(partial(_times_column, column, outer[0]), codes, table)
        elif self._line is not None:
            yield _Piece(partial(np.multiply, self._line), codes, table)
        else:
            yield _Piece(lambda w: w, codes, table)

    def values(self, coefficients: _Array) -> _Array:
        """The term at the rows, from the coefficients of its products."""
        *outer, codes = self._codes
        *outer_tables, table = self._tables
        if not outer:
            values = (table @ coefficients)[codes]
            return values if self._line is None else values * self._line
        coefficients = coefficients.reshape(-1, table.shape[1])
        return (outer_tables[0] @ coefficients @ table.T)[outer[0], codes]


class RoundedDesign:
    """The terms, of columns rounded to a few values, and an intercept.

    Parameters
    ----------
    terms : list of Term
        Terms, not centred.
    bins : list of list of Bins
        Of each term, as `CodedTerm` has them.
    histograms : list of Histogram
        Of each term, over all rows.

    Attributes
    ----------
    terms : list of Term
        The terms, centred.
    tables : list of list of ndarray of shape (n_bins, n_functions)
        Functions of each column at the values of its bins.
    coordinates : ndarray of shape (n_products, n_coefficients)
        Coordinates of all terms and the intercept, as columns.
    penalties : ndarray of shape (n_penalties, n_coefficients)
        Diagonals of the penalties of all terms; none is on the intercept.
    """

    def __init__(
        self,
        terms: list[Term] | tuple[Term, ...],
        bins: list[list[Bins]],
        histograms: list[Histogram],
    ) -> None:
        rounded = list(map(_centre_term, terms, bins, histograms))
        self.terms = [term for term, _ in rounded]
        self.tables = [tables for _, tables in rounded]
        self.coordinates = block_diag(1.0, *(t.coordinates for t in self.terms))
        penalties = [np.empty((0, 1)), *(term.penalties for term in self.terms)]
        self.penalties = block_diag(*penalties)


def _centre_term(
    term: Term, bins: list[Bins], histogram: Histogram
) -> tuple[Term, list[_Array]]:
    """The centred term, and a table of functions for the bins of each column."""
    counts = histogram.counts
    sizes = [counts] if counts.ndim < 2 else [counts.sum(axis=1), counts.sum(axis=0)]
    tables = list(map(Bins.table, bins, sizes, histogram.sums)) or [np.ones((1, 1))]
    means = counts / counts.sum()
    for table in tables:
        means = np.tensordot(means, table, (0, 0))
    return term.centred(means), tables


class RoundedRows:
    """The functions of a design at some rows.

    Parameters
    ----------
    design : RoundedDesign
        The design.
    coded : list of CodedTerm
        The columns of each term.
    n_rows : int
        Number of rows.
    """

    def __init__(
        self, design: RoundedDesign, coded: list[CodedTerm], n_rows: int
    ) -> None:
        self.design = design
        self._rounded_terms = list(
            map(_RoundedTerm, design.terms, design.tables, coded)
        )
        constant, codes = np.ones((1, 1)), np.zeros(n_rows, dtype=np.intp)
        self._pieces = [_Piece(lambda w: w, codes, constant)]
        for term in self._rounded_terms:
            self._pieces += term.pieces()
        self._ends = np.cumsum([0, *(piece.table.shape[1] for piece in self._pieces)])

    def sums(self, weights: _Array) -> _Array:
        """Weighted sums of the coordinates over the rows, (n_coefficients,)."""
        sums = np.concatenate([piece.sums(weights) for piece in self._pieces])
        return sums @ self.design.coordinates

    def products(self, weights: _Array) -> _Array:
        """Weighted sums of products of two coordinates, a square matrix."""
        if len(self._pieces[0].codes) <= _FEW_ROWS:
            return (weights * self.coordinates.T) @ self.coordinates
        n, ends = len(self._pieces), self._ends
        sums = np.zeros((ends[-1], ends[-1]))
        for i in range(n):
            for j in range(i, n):
                block = self._pieces[i].products(weights, self._pieces[j])
                sums[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = block
        sums = np.triu(sums) + np.triu(sums, 1).T
        coordinates = self.design.coordinates
        return coordinates.T @ sums @ coordinates

    @cached_property
    def coordinates(self) -> _Array:
        """The design, (n_rows, n_coefficients), which few rows need only."""
        values = np.hstack([piece.values() for piece in self._pieces])
        return values @ self.design.coordinates

    def predictor(self, coefficients: _Array) -> _Array:
        """The linear predictor at the rows."""
        values = np.full(len(self._pieces[0].codes), coefficients[0])
        for effect in self._effects(coefficients):
            values += effect
        return values

    def effects(self, coefficients: _Array) -> _Array:
        """The terms at the rows, (n_rows, n_terms)."""
        return np.stack(list(self._effects(coefficients)), axis=1)

    def _effects(self, coefficients: _Array) -> Iterator[_Array]:
        """Yield each term at the rows, (n_rows,)."""
        start = 1
        for rounded, term in zip(self._rounded_terms, self.design.terms, strict=True):
            stop = start + term.coordinates.shape[1]
            yield rounded.values(term.coordinates @ coefficients[start:stop])
            start = stop

"""Products of the design of an additive model with itself, without the design.

Columns are rounded to some hundreds of values. A product of two terms is a sum over
pairs of values, weighted by their joint histogram (Wood, Li, Shaddick & Augustin 2017):
memory and time per coefficient do not grow with the number of rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from sklearn_interpret._core.additive.bases import LineBasis, SplineBasis

# Largest number of distinct values of a column: the error of a curve by rounding to
# means of bins falls with its square.
_MOST_VALUES = 256
# Up to this number of rows one product of the whole design is quicker than histograms
# of pairs of columns.
_FEW_ROWS = 1000


def _rounded(basis, x, weights):
    """A few values of a column, and the position of each row's among them."""
    # Some rows often show that there are many values: no need to sort all.
    most = _MOST_VALUES if isinstance(basis, SplineBasis) else np.inf
    if len(np.unique(x[:2000])) <= most:
        values, codes = np.unique(x, return_inverse=True)
        if len(values) <= most:
            return values, codes
    breaks = basis.breaks
    x = basis.inside(x)
    # Equal parts of each interval between breaks; NaN comes after all.
    n_intervals = len(breaks) - 1
    n_edges = -(-_MOST_VALUES // n_intervals) * n_intervals
    edges = np.linspace(0, n_intervals, n_edges + 1)[1:-1]
    edges = np.interp(edges, np.arange(len(breaks)), breaks)
    codes = np.searchsorted(np.append(edges, np.inf), x, "right")
    sizes = np.bincount(codes, weights)
    used = sizes > 0
    means = np.bincount(codes, weights * x)[used] / sizes[used]
    return means, (np.cumsum(used) - 1)[codes]


@dataclass(frozen=True)
class _Piece:
    """Functions of one column at the rows, times one function of another column."""

    multiply: Callable
    codes: np.ndarray
    table: np.ndarray

    def sums(self, weights):
        """Weighted sums of the functions over the rows."""
        counts = np.bincount(self.codes, self.multiply(weights), len(self.table))
        return counts @ self.table

    def values(self):
        """The functions at the rows, (n_rows, n_functions)."""
        return self.multiply(np.ones(len(self.codes)))[:, None] * self.table[self.codes]

    def products(self, weights, other):
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


class _RoundedTerm:
    """The products of a term's functions at the rows."""

    def __init__(self, term, columns, weights):
        bases = term.bases
        self._line = None
        if isinstance(bases[0], LineBasis):
            self._line, bases = bases[0].evaluate(columns[0])[:, 0], bases[1:]
            columns = columns[1:]
        rounded = [_rounded(b, x, weights) for b, x in zip(bases, columns, strict=True)]
        self._codes = [codes for _, codes in rounded]
        self._tables = [b.evaluate(x) for b, (x, _) in zip(bases, rounded, strict=True)]
        if not bases:
            self._codes, self._tables = [np.zeros(len(weights), int)], [np.ones((1, 1))]

    def pieces(self):
        """The pieces of the term."""
        *outer, codes = self._codes
        *outer_tables, table = self._tables
        if outer:
            for column in outer_tables[0].T:
                yield _Piece(lambda w, c=column: w * c[outer[0]], codes, table)
        elif self._line is not None:
            yield _Piece(lambda w: w * self._line, codes, table)
        else:
            yield _Piece(lambda w: w, codes, table)

    def values(self, coefficients):
        """The term at the rows, from the coefficients of its products."""
        *outer, codes = self._codes
        *outer_tables, table = self._tables
        if not outer:
            values = (table @ coefficients)[codes]
            return values if self._line is None else values * self._line
        coefficients = coefficients.reshape(-1, table.shape[1])
        return (outer_tables[0] @ coefficients @ table.T)[outer[0], codes]


class RoundedDesign:
    """The terms at the rows, of columns rounded to a few values, and an intercept.

    Parameters
    ----------
    terms : list of Term
        Terms, not centred.
    columns : list of tuple of ndarray of shape (n_rows,)
        The columns of each term.
    weights : ndarray of shape (n_rows,)
        Weights of rows, over which terms are centred.

    Attributes
    ----------
    terms : list of Term
        The terms, centred.
    penalties : ndarray of shape (n_penalties, n_coefficients)
        Diagonals of the penalties of all terms; none is on the intercept.
    """

    def __init__(self, terms, columns, weights):
        self._parts = [
            _RoundedTerm(term, xs, weights)
            for term, xs in zip(terms, columns, strict=True)
        ]
        ones, zeros = np.ones((1, 1)), np.zeros(len(weights), dtype=np.intp)
        self._pieces = [_Piece(lambda w: w, zeros, ones)]
        for part in self._parts:
            self._pieces += part.pieces()
        widths = [piece.table.shape[1] for piece in self._pieces]
        self._ends = np.cumsum([0, *widths])
        means = self._sums(weights) / weights.sum()
        ends = np.cumsum([1, *(len(term.coordinates) for term in terms)])
        self.terms = [
            term.centred(means[start:end])
            for term, start, end in zip(terms, ends, ends[1:], strict=False)
        ]
        self._coordinates = block_diag(1.0, *(t.coordinates for t in self.terms))
        penalties = [np.empty((0, 1)), *(term.penalties for term in self.terms)]
        self.penalties = block_diag(*penalties)

    def _sums(self, weights):
        return np.concatenate([piece.sums(weights) for piece in self._pieces])

    def sums(self, weights):
        """Weighted sums of the coordinates over the rows, (n_coefficients,)."""
        return self._sums(weights) @ self._coordinates

    def products(self, weights):
        """Weighted sums of products of two coordinates, a square matrix."""
        if len(self._pieces[0].codes) <= _FEW_ROWS:
            return (weights * self._coordinates_of_rows.T) @ self._coordinates_of_rows
        n, ends = len(self._pieces), self._ends
        sums = np.zeros((ends[-1], ends[-1]))
        for i in range(n):
            for j in range(i, n):
                block = self._pieces[i].products(weights, self._pieces[j])
                sums[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = block
        sums = np.triu(sums) + np.triu(sums, 1).T
        return self._coordinates.T @ sums @ self._coordinates

    @cached_property
    def _coordinates_of_rows(self):
        """The design, (n_rows, n_coefficients), where it is small."""
        return np.hstack([p.values() for p in self._pieces]) @ self._coordinates

    def predictor(self, coefficients):
        """The linear predictor at the rows."""
        values = np.full(len(self._pieces[0].codes), coefficients[0])
        for effect in self._effects(coefficients):
            values += effect
        return values

    def effects(self, coefficients):
        """The terms at the rows, (n_rows, n_terms)."""
        return np.stack(list(self._effects(coefficients)), axis=1)

    def _effects(self, coefficients):
        start = 1
        for part, term in zip(self._parts, self.terms, strict=True):
            stop = start + term.coordinates.shape[1]
            yield part.values(term.coordinates @ coefficients[start:stop])
            start = stop

"""Pairs of features that interact in what an additive model leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from sklearn_interpret._core.statistics.residual_interactions import MAX_LEVELS

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Numbers of groups of a column, each of which divides the next: few show wide surfaces
# in few rows, many narrow ones.
_N_GROUPS = 3, 6, 12
# Fewest rows of a cell, on average, of residuals up to this kurtosis (normal ones have
# 3), and proportionally more of others: with fewer, outliers that are alone in their
# cell make F statistics too large.
_ROWS_PER_CELL, _KURTOSIS = 4, 6
# Eigenvalues below this share of the largest are zero.
_NEGLIGIBLE = 1e-9


class Groups(NamedTuple):
    """Groups of a column's values.

    Parameters
    ----------
    of_values : ndarray of shape (n_values,)
        Group of each distinct value, or bin of values, in their order.
    starts : list of ndarray
        First groups of unions of neighbours, for each number of groups.
    """

    of_values: NDArray[np.intp]
    starts: list[NDArray[np.intp]]

    @classmethod
    def of_counts(cls, counts: _Array, is_level: bool, is_missing: bool) -> Groups:
        """Groups of about equal weight, from the weight of each value.

        Each of few values, and each level, is a group. If `is_missing`, the last value
        is NaN, which is a group of its own.
        """
        weights = counts[: len(counts) - is_missing]
        middles = np.cumsum(weights) - weights / 2
        shares = middles / (weights.sum() or 1.0)
        groups = np.append((_N_GROUPS[-1] * shares).astype(int), [_N_GROUPS[-1]])
        groups, n_groupings = groups[: len(counts)], list(_N_GROUPS)
        if is_level or np.count_nonzero(weights) <= MAX_LEVELS:
            groups, n_groupings = np.arange(len(counts)), [_N_GROUPS[-1]]
        distinct = np.unique(groups[counts > 0])
        starts = [
            np.unique(distinct * n // _N_GROUPS[-1], return_index=True)[1]
            for n in n_groupings
        ]
        groups = np.searchsorted(distinct, groups)  # of no rows, perhaps too large
        return cls(np.minimum(groups, len(distinct) - 1), starts)


@dataclass(frozen=True)
class PairSums:
    """Sums of residuals in the cells of pairs of columns; those of two tables add up.

    Parameters
    ----------
    counts, sums : list of ndarray of shape (n_groups, n_groups_2)
        Weights, and weighted residuals, of the rows in each cell of each pair.
    square, fourth_power : float
        Sums over the rows of squared and of fourth powers of standardised residuals.
    n_rows : float
        Number of rows.
    dispersion : float
        Variance of standardised residuals where it is known, else zero: they vary less
        about a fit that penalties keep from separating classes.
    """

    counts: list[_Array]
    sums: list[_Array]
    square: float
    fourth_power: float
    n_rows: float
    dispersion: float

    @classmethod
    def of_rows(
        cls,
        codes: Mapping[int, NDArray[np.intp]],
        groups: Mapping[int, Groups],
        pairs: Sequence[tuple[int, int]],
        residuals: _Array,
        weights: _Array,
        copies: _Array,
        dispersion: float = 0.0,
    ) -> PairSums:
        """The sums of rows, from the group of each row in each column.

        `copies` (n_rows,) is how many rows each stands for; `weights` are products with
        the weights of single rows.
        """
        weighted = weights * residuals
        counts: list[_Array] = []
        sums: list[_Array] = []
        for i, j in pairs:
            shape = len(groups[i].starts[-1]), len(groups[j].starts[-1])
            cells = codes[i] * shape[1] + codes[j]
            for values, tables in ((weights, counts), (weighted, sums)):
                table = np.bincount(cells, values, shape[0] * shape[1])
                tables.append(table.reshape(shape).astype(np.float64, copy=False))
        squares = weighted * residuals
        fourth_power = float((squares**2 / copies).sum())
        square, n_rows = float(squares.sum()), float(copies.sum())
        return cls(counts, sums, square, fourth_power, n_rows, dispersion)

    def __add__(self, second: PairSums) -> PairSums:
        return PairSums(
            list(map(add, self.counts, second.counts)),
            list(map(add, self.sums, second.sums)),
            self.square + second.square,
            self.fourth_power + second.fourth_power,
            self.n_rows + second.n_rows,
            self.dispersion,
        )

    def pvalue(
        self, position: int, first: Groups, second: Groups, level: float = 1.0
    ) -> float:
        """P-value of the interaction of a pair, the smallest over numbers of groups.

        It is corrected for how many these are. Values above `level` may be 1.
        """
        n_groupings = max(len(first.starts), len(second.starts))
        pvalues = []
        for k in range(n_groupings):
            starts = [group.starts[k % len(group.starts)] for group in (first, second)]
            counts, sums = (
                np.add.reduceat(np.add.reduceat(cells, starts[0]), starts[1], axis=1)
                for cells in (self.counts[position], self.sums[position])
            )
            pvalues.append(self._cells_pvalue(counts, sums, level))
        return n_groupings * min(pvalues)

    def _cells_pvalue(self, counts: _Array, sums: _Array, level: float) -> float:
        """P-value of the interaction in the cells of two columns, up to `level`.

        If a lower bound of it is above `level`, or rows are too few, the result is 1.
        """
        filled = counts > 0
        n_cells = np.count_nonzero(filled)
        kurtosis = self.n_rows * self.fourth_power / (self.square**2 or 1.0)
        if self.n_rows < _ROWS_PER_CELL * max(kurtosis / _KURTOSIS, 1.0) * n_cells:
            return 1.0
        residual_dof = self.n_rows - n_cells
        squares = (sums[filled] ** 2 / counts[filled]).sum()
        within = max(self.square - squares, np.finfo(float).eps * self.square)
        scale = max(within / residual_dof, self.dispersion)
        # Without the effects of rows and columns the squares are at least as large, and
        # the interaction has at least these degrees of freedom: a lower bound of the
        # p-value, which spares most pairs the least squares problem.
        dof = max(n_cells - sum(counts.shape) + 1, 1)
        if not scale > 0 or fdtrc(dof, residual_dof, squares / dof / scale) > level:
            return 1.0
        between, dof = _interaction_squares(counts, sums)
        if dof < 1 or not between > 0:
            return 1.0
        return float(fdtrc(dof, residual_dof, between / dof / scale))


def interacting_pairs(
    columns: _Array,
    are_levels: NDArray[np.bool_],
    residuals: _Array,
    weights: _Array,
    *,
    most: int,
    level: float,
    skip: Collection[tuple[int, int]] = (),
) -> list[tuple[int, int]]:
    """Pairs of columns on whose joint values residuals depend, the clearest first.

    The residuals of a pair are averaged in the cells of both columns' groups, and what
    effects of rows and columns explain is taken off. What is left of the sum of squares
    is compared with that within the cells: an F test of the interaction in an
    unbalanced two-way table. The smallest p-value over the numbers of groups is
    corrected for these and for the number of pairs.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Numbers, NaN where they are missing, or codes of levels.
    are_levels : ndarray of shape (n_columns,)
        Whether each value of a column is a group of its own.
    residuals, weights : ndarray of shape (n_rows,)
        Residuals of an additive model, and weights of the rows, which count as repeated
        rows.
    most : int
        Largest number of pairs.
    level : float
        Largest corrected p-value.
    skip : collection of tuple of int, default=()
        Pairs that are not looked at.

    Returns
    -------
    list of tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._core.additive.pairs import interacting_pairs
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> residuals, numbers = X[:, 1] * X[:, 3], np.zeros(4, dtype=bool)
    >>> interacting_pairs(X, numbers, residuals, np.ones(300), most=3, level=0.01)
    [(1, 3)]
    """
    groups, codes = {}, {}
    for j, (values, is_level) in enumerate(zip(columns.T, are_levels, strict=True)):
        distinct, positions = np.unique(values, return_inverse=True)
        counts = np.bincount(positions, weights, len(distinct)).astype(np.float64)
        groups[j] = Groups.of_counts(counts, is_level, bool(np.isnan(distinct[-1])))
        codes[j] = groups[j].of_values[positions]
    all_pairs = list(combinations(groups, 2))
    pairs = [pair for pair in all_pairs if pair not in skip]
    sums = PairSums.of_rows(codes, groups, pairs, residuals, weights, weights)
    found = clearest_pairs(sums, groups, pairs, level / max(len(all_pairs), 1))
    return [pair for pair, _ in found[:most]]


def clearest_pairs(
    sums: PairSums,
    groups: Mapping[int, Groups],
    pairs: Sequence[tuple[int, int]],
    level: float,
) -> list[tuple[tuple[int, int], float]]:
    """Pairs of columns with p-values up to a level, the smallest first."""
    pvalues = [
        (pair, sums.pvalue(k, groups[pair[0]], groups[pair[1]], level))
        for k, pair in enumerate(pairs)
    ]
    clear = [(pair, pvalue) for pair, pvalue in pvalues if pvalue <= level]
    return sorted(clear, key=lambda found: found[1])


def _interaction_squares(counts: _Array, sums: _Array) -> tuple[float, int]:
    """Sum of squares between cells without effects of rows and columns, and its dof."""
    filled = counts > 0
    if counts.shape[0] < counts.shape[1]:
        counts, sums, filled = counts.T, sums.T, filled.T
    # Least squares effects of rows and columns; the effects of rows are eliminated.
    row_counts, shares = counts.sum(axis=1), counts / counts.sum(axis=1, keepdims=True)
    matrix = np.diag(counts.sum(axis=0)) - counts.T @ shares
    column_sums = sums.sum(axis=0) - shares.T @ sums.sum(axis=1)
    values, vectors = np.linalg.eigh(matrix)
    used = values > _NEGLIGIBLE * counts.sum()
    vectors = vectors[:, used]
    column_effects = vectors @ (vectors.T @ column_sums / values[used])
    row_effects = (sums - counts * column_effects).sum(axis=1) / row_counts
    interactions = sums - counts * (row_effects[:, None] + column_effects)
    between = (interactions[filled] ** 2 / counts[filled]).sum()
    return between, filled.sum() - len(counts) - used.sum()

"""Pairs of features that interact in what an additive model leaves."""

from collections.abc import Collection
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from sklearn_interpret._core.statistics.residual_interactions import (
    MAX_LEVELS,
    quantile_codes,
)

# Numbers of bins of a feature: few show wide surfaces in few rows, many narrow ones.
_N_BINS = 3, 6, 12
# Fewest rows of a cell, on average: with fewer, outliers that are alone in their cell
# make F statistics too large.
_ROWS_PER_CELL = 4
# Eigenvalues below this share of the largest are zero.
_NEGLIGIBLE = 1e-9


def interacting_pairs(
    columns: NDArray[np.float64],
    are_levels: NDArray[np.bool_],
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    most: int,
    level: float,
    skip: Collection[tuple[int, int]] = (),
) -> list[tuple[int, int]]:
    """Pairs of columns on whose joint values residuals depend, the clearest first.

    The residuals of a pair are averaged in the cells of both columns' bins, and what
    effects of rows and columns explain is taken off. What is left of the sum of squares
    is compared with that within the cells: an F test of the interaction in an
    unbalanced two-way table. The smallest p-value over the numbers of bins is corrected
    for these and for the number of pairs.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Numbers, NaN where they are missing, or codes of levels.
    are_levels : ndarray of shape (n_columns,)
        Whether each value of a column is a bin of its own.
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
    bins = [
        _codings(values, is_level, weights)
        for values, is_level in zip(columns.T, are_levels, strict=True)
    ]
    pairs = list(combinations(range(len(bins)), 2))
    pvalues = {
        (i, j): interaction_pvalue(bins[i], bins[j], residuals, weights, level)
        for i, j in pairs
        if (i, j) not in skip
    }
    ordered = sorted(pvalues, key=pvalues.__getitem__)
    return [pair for pair in ordered[:most] if pvalues[pair] * len(pairs) <= level]


def _codings(
    values: NDArray[np.float64], is_level: bool, weights: NDArray[np.float64]
) -> list[NDArray[np.intp]]:
    """Codes (n_rows,) by number of bins; a single one where each value is a bin."""
    distinct, codes = np.unique(values, return_inverse=True)
    if is_level or len(distinct) <= MAX_LEVELS:
        return [codes]
    return [quantile_codes(values, n_bins, weights) for n_bins in _N_BINS]


def interaction_pvalue(
    first: list[NDArray[np.intp]],
    second: list[NDArray[np.intp]],
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
    level: float = 1.0,
) -> float:
    """Smallest p-value over bins of two columns, corrected for their number.

    `first` and `second` are lists of codes (n_rows,), by number of bins; a single entry
    goes with each entry of the other. P-values above `level` may be returned as 1.
    """
    n_bins = max(len(first), len(second))
    first, second = (bins * (n_bins // len(bins)) for bins in (first, second))
    return n_bins * min(
        _cells_pvalue(*codes, residuals, weights, level)
        for codes in zip(first, second, strict=True)
    )


def _cells_pvalue(
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
    level: float,
) -> float:
    """P-value of the interaction in the cells of two columns of codes, up to `level`.

    If a lower bound of it is above `level`, the result is 1.
    """
    shape = first.max() + 1, second.max() + 1
    cells = first * shape[1] + second
    counts, sums = (
        np.bincount(cells, values, np.prod(shape)).reshape(shape)
        for values in (weights, weights * residuals)
    )
    filled = counts > 0
    residual_dof = weights.sum() - filled.sum()
    if residual_dof < (_ROWS_PER_CELL - 1) * filled.sum():
        return 1.0
    total = weights @ residuals**2
    squares = (sums[filled] ** 2 / counts[filled]).sum()
    within = max(total - squares, np.finfo(float).eps * total)
    # Without the effects of rows and columns the squares are at least as large, and the
    # interaction has at least these degrees of freedom: a lower bound of the p-value,
    # which spares most pairs the least squares problem.
    dof = max(filled.sum() - sum(shape) + 1, 1)
    scale = within / residual_dof
    if not scale > 0 or fdtrc(dof, residual_dof, squares / dof / scale) > level:
        return 1.0
    if shape[0] < shape[1]:
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
    dof = filled.sum() - len(counts) - used.sum()
    if dof < 1 or not between > 0:
        return 1.0
    return float(fdtrc(dof, residual_dof, between / dof / scale))

"""Prototypes and criticisms by the maximum mean discrepancy (Kim et al. 2016).

A kernel comes as a function of two slices of rows, which gives that block of its
matrix K; the whole matrix is never in memory. Rows have shares w that sum to one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Scores that differ by less, relative to the diagonal of K, are ties; rows whose
# squared distance in feature space is less are copies.
_ROUNDING = 1e-12


class PrototypeSearch(NamedTuple):
    """Prototypes, in the order in which they are chosen."""

    prototypes: NDArray[np.intp]  # (m,): positions
    objectives: NDArray[np.float64]  # (m,): J after each choice
    similarity: NDArray[np.float64]  # (n,): sum of K over the prototypes
    free: NDArray[np.bool_]  # (n,): rows that are not copies of a prototype


def strip_of_means(
    block: Callable[[slice, slice], NDArray[np.float64]],
    shares: NDArray[np.float64],
    rows: slice,
    step: int,
) -> NDArray[np.float64]:
    """Part of the means K @ shares from a strip of K, from its diagonal to the right.

    Parameters
    ----------
    block : callable
        The kernel, symmetric.
    shares : ndarray of shape (n,)
        Shares of the rows.
    rows : slice
        Rows of the strip.
    step : int
        Columns of a block.

    Returns
    -------
    ndarray of shape (n - rows.start,)
        For the rows from ``rows.start`` on.
    """
    n_rows = len(shares)
    strip_means, later_means = block(rows, rows) @ shares[rows], [np.empty(0)]
    for start in range(rows.stop, n_rows, step):
        columns = slice(start, min(start + step, n_rows))
        values = block(rows, columns)
        strip_means = strip_means + values @ shares[columns]
        later_means.append(shares[rows] @ values)
    return np.concatenate([strip_means, *later_means])


def select_prototypes(
    column: Callable[[int], NDArray[np.float64]],
    means: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    n_prototypes: int,
) -> PrototypeSearch:
    """Rows whose mean in feature space is nearest to the mean of all rows, greedily.

    Each next row maximises, over sets S with one row more than before,

        J(S) = 2/|S| sum_(j in S) mean_j - 1/|S|^2 sum_(i, j in S) K_ij,

    which is MMD^2 of no prototype less MMD^2 of S (Kim et al., equation 3); the first
    of tied rows is taken. A copy of a prototype is never taken.

    Parameters
    ----------
    column : callable
        Gives the column of K of a row.
    means : ndarray of shape (n,)
        Mean of K over the rows, K @ shares.
    diagonal : ndarray of shape (n,)
        Diagonal of K.
    n_prototypes : int
        How many rows to take; fewer where no other rows are left.

    Returns
    -------
    PrototypeSearch
    """
    chosen: list[int] = []
    objectives: list[float] = []
    similarity = np.zeros(len(means))
    free = np.ones(len(means), dtype=bool)
    linear = quadratic = 0.0  # the two sums in J
    while len(chosen) < n_prototypes and free.any():
        size = len(chosen) + 1
        linears = linear + means
        quadratics = quadratic + 2 * similarity + diagonal
        scores = 2 / size * linears - quadratics / size**2
        best = _first_best_row(scores, free, diagonal)
        chosen.append(best)
        objectives.append(scores[best])
        linear, quadratic = linears[best], quadratics[best]
        similarities = column(best)
        similarity += similarities
        free &= _are_no_copies(similarities, diagonal, best)
    return PrototypeSearch(
        np.array(chosen, np.intp), np.array(objectives), similarity, free
    )


def select_criticisms(
    column: Callable[[int], NDArray[np.float64]],
    witness: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    free: NDArray[np.bool_],
    n_criticisms: int,
    *,
    spread: bool,
) -> NDArray[np.intp]:
    """Rows that the prototypes represent worst, greedily.

    Each next row maximises, over sets C with one row more than before,

        L(C) = sum_(l in C) |witness_l| + log det K_CC,

    (Kim et al., section 3.2), the second term with `spread` alone; the first of tied
    rows is taken. A copy of a criticism is never taken. The Cholesky factor of K_CC
    grows by a row in each step; what it leaves of the diagonal of K is the ratio of the
    determinants after and before the step.

    Parameters
    ----------
    column : callable
        Gives the column of K of a row.
    witness : ndarray of shape (n,)
        Mean of K over the rows less its mean over the prototypes.
    diagonal : ndarray of shape (n,)
        Diagonal of K.
    free : ndarray of shape (n,), bool
        Rows to choose from.
    n_criticisms : int
        How many to take; fewer where no other rows are left.
    spread : bool
        Whether the determinant counts, which keeps criticisms apart.

    Returns
    -------
    ndarray of int
        The criticisms in the order in which they are chosen.
    """
    chosen: list[int] = []
    # `ratios` are of determinants.
    witness_sizes, ratios = np.abs(witness), diagonal.astype(np.float64)
    free = free & (ratios > 0) if spread else free.copy()
    factor = np.empty((min(n_criticisms, free.sum()) if spread else 0, len(witness)))
    while len(chosen) < n_criticisms and free.any():
        scores = witness_sizes
        if spread:
            logs = np.log(ratios, out=np.zeros_like(ratios), where=free)
            scores = witness_sizes + logs
        best = _first_best_row(scores, free, diagonal)
        similarities = column(best)
        free &= _are_no_copies(similarities, diagonal, best)
        if spread:
            rows = factor[: len(chosen)]
            row = (similarities - rows[:, best] @ rows) / np.sqrt(ratios[best])
            factor[len(chosen)] = row
            ratios -= row**2
            free &= ratios > _ROUNDING * diagonal
        chosen.append(best)
    return np.array(chosen, np.intp)


def _first_best_row(
    scores: NDArray[np.float64], free: NDArray[np.bool_], diagonal: NDArray[np.float64]
) -> int:
    """The first of the free rows with the largest score, to rounding."""
    rows = np.flatnonzero(free)
    threshold = scores[rows].max() - _ROUNDING * np.abs(diagonal).max()
    return int(rows[np.argmax(scores[rows] >= threshold)])


def _are_no_copies(
    similarities: NDArray[np.float64], diagonal: NDArray[np.float64], row: int
) -> NDArray[np.bool_]:
    """The mask of rows that are not copies of a row, given its column of K."""
    sizes = diagonal + diagonal[row]
    is_apart = sizes - 2 * similarities > _ROUNDING * np.abs(sizes)
    is_apart[row] = False
    return is_apart

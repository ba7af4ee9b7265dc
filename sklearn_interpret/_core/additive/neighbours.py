"""Whether residuals of rows that are neighbours along a term's features agree.

Residuals agree where the term has too few functions to follow the targets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import pearson3

from sklearn_interpret._core.additive.smoothing import residual_dof

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]


class Neighbours:
    """Weights W of pairs of rows, (n_rows, n_rows), in the order of a column.

    A row has the weight 1 with the row before it, and with the row after it. Equal
    values have no order: W is the mean over all their orders.

    Parameters
    ----------
    series : ndarray of shape (n_rows,)
        Rows of different series are no neighbours.
    values : ndarray of shape (n_rows,)
        The column.
    """

    def __init__(self, series: _Array, values: _Array) -> None:
        # Complex numbers are sorted by the real part, then by the imaginary part.
        keys, groups, counts = np.unique(
            series + 1j * values, return_inverse=True, return_counts=True
        )
        self._sizes = sizes = counts.astype(np.float64)
        # In a random order, a group of m rows has m - 1 of its m (m - 1) / 2 pairs side
        # by side, and one of the pairs with each group next to it.
        within = np.where(sizes > 1, 2 / sizes, 0.0)
        between = (np.diff(keys.real) == 0) / (sizes[1:] * sizes[:-1])
        bands = [between, within, between]
        self._weights = sparse.diags_array(bands, offsets=[-1, 0, 1], format="csr")
        positions = groups, np.arange(len(values))
        self._indicators = sparse.csr_array((np.ones(len(values)), positions))

    @property
    def traces(self) -> tuple[float, float]:
        """Traces of W^2 and W^3."""
        # W maps values that are equal in each group to such values, and multiplies
        # deviations from the mean of a group by a number.
        multiples, n_deviations = -self._weights.diagonal(), self._sizes - 1
        first = self._weights @ sparse.diags_array(self._sizes)
        first += sparse.diags_array(multiples)
        second = first @ first
        square = second.trace() + n_deviations @ multiples**2
        return square, (second @ first).trace() + n_deviations @ multiples**3

    def sums(self, values: _Array, power: int = 1) -> _Array:
        """W values, of one or more columns of values; or with powers of weights."""
        weights, indicators = self._weights.power(power), self._indicators
        with_itself = indicators.T @ weights.diagonal()
        sums = indicators.T @ (weights @ (indicators @ values))
        return sums - (with_itself * values.T).T


def neighbour_test(
    residuals: _Array,
    design: _Array,
    inverse: _Array,
    dof: float,
    neighbours: Neighbours,
) -> tuple[float, float]:
    """Test of the products of neighbours' residuals e, whose sum is e'We.

    Without a pattern, residuals have the covariance phi (I - H) in the Bayesian view of
    penalties, where H is the hat matrix. The functions Z of a term have Z V Z' in the
    place of H: all other terms reduce e'We and e'e by about the same share, if they do
    not depend on the term's features. The expectation of e'We is then -phi tr(V Z'WZ).
    The variance is that of independent residuals, 2 sum_ij (W_ij e_i e_j)^2, less the
    share that the functions take. Residuals may have heavy tails, and variances that
    differ. Where many rows share few values, the distribution is about that of a chi
    square: its skewness is that of normal residuals.

    Parameters
    ----------
    residuals : ndarray of shape (n_rows,)
        Pearson residuals.
    design : ndarray of shape (n_rows, n)
        The functions, in units of the residuals.
    inverse : ndarray of shape (n, n)
        Block V of the inverse of X'WX + S.
    dof : float
        Effective degrees of freedom of the term and the intercept.
    neighbours : Neighbours
        The neighbours.

    Returns
    -------
    index : float
        Variance that the differences of neighbours show, over that of all residuals.
    pvalue : float
        Of a smaller index by chance.
    """
    sums, squares = neighbours.sums(design), residuals**2
    # V Z'WZ, V Z'W^2 Z and V Z'W^3 Z.
    first = inverse @ (design.T @ sums)
    second = inverse @ (sums.T @ sums)
    third = inverse @ (sums.T @ neighbours.sums(sums))
    square_trace, cube_trace = neighbours.traces
    # Of (W (I - H))^2 and (W (I - H))^3.
    square = square_trace - np.trace(2 * second - first @ first)
    cube = cube_trace - np.trace(3 * third - (3 * second - first @ first) @ first)
    variance = 2 * square * (squares @ neighbours.sums(squares, power=2))
    if not variance > 0:  # no residuals, or no neighbours
        return 1.0, 1.0
    dispersion = squares.sum() / residual_dof(len(residuals), dof)
    excess = residuals @ neighbours.sums(residuals) + dispersion * np.trace(first)
    skewness = 8 * max(cube, 0.0) / (2 * square) ** 1.5
    pvalue = pearson3.sf(excess / np.sqrt(variance / square_trace), skewness)
    total = neighbours.sums(np.ones(len(residuals))).sum()
    return float(1 - excess / (dispersion * total)), float(pvalue)

"""Standard errors of the means in the cells of an axis, some of which hold few rows.

The variance within a cell of few rows is hardly known, that of a single row not at
all. It is pooled over as many neighbouring cells as give ten degrees of freedom. Where
the rows of a cell do not show their variance, its mean is compared with the means of
neighbouring cells, as in estimators of the noise around a curve (Gasser, Sroka &
Jennen-Steinmetz 1986): where the curve bends, the variance is overestimated.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import Moments, student_factor

# With fewer degrees of freedom too few intervals of 95 % hold the mean, with more the
# variance comes from cells farther away. Chosen by hand; benchmarks/bench_coverage.py
# counts the intervals.
_LEAST_DEGREES = 10.0
# Cells with fewer rows borrow the variance of their neighbours.
FEW_ROWS = 1 + _LEAST_DEGREES
# The mean of a cell is compared with the means of this many cells on each side.
_N_NEIGHBOURS = 2
# Degrees of freedom of a comparison: neighbouring comparisons share means, so this is 1
# over the sum of their squared correlations, 1 + 2 (.3^2 + .35^2 + .1^2 + .05^2).
_COMPARISON_DEGREES = 0.69
# Deviations below this share of the mean are rounding errors.
_ROUNDING = 1e-12
# Smallest scale relative to the largest, whose square is a number.
_SMALLEST = 1e-100


def cell_errors(
    moments: Moments, scales: NDArray[np.float64] | float = 1.0, *, ordered: bool = True
) -> NDArray[np.float64]:
    """Standard errors of the means of cells, (n_cells, k); zero in cells without rows.

    Errors from pooled variances include Student's factor: 1.96 errors to each side are
    an interval of 95 %. If there is one row in total, its error is NaN.

    Parameters
    ----------
    moments : Moments of shape (n_cells, k)
        Moments of the values in each cell, in the order of the axis.
    scales : float or ndarray of shape (n_cells,), default=1.0
        Numbers that the standard deviations of values are proportional to.
    ordered : bool, default=True
        Whether means of neighbouring cells are alike. If not, they are compared only
        where all cells together have less than ten degrees of freedom.
    """
    errors = moments.standard_error
    cells = np.flatnonzero(moments.weight)
    weight = moments.weight[cells]
    has_few_rows = weight[:, 0] < FEW_ROWS
    if has_few_rows.any():
        relative_scales = np.broadcast_to(scales, len(errors))[cells, None]
        relative_scales = np.maximum(relative_scales / relative_scales.max(), _SMALLEST)
        filled_cells = Moments(weight, moments.mean[cells], moments.m2[cells])
        deviations = _pooled_deviations(filled_cells, relative_scales, ordered)
        errors[cells[has_few_rows]] = (deviations / np.sqrt(weight))[has_few_rows]
    return errors


def _pooled_deviations(
    cells: Moments, scales: NDArray[np.float64], ordered: bool
) -> NDArray[np.float64]:
    """Standard deviations (n_cells, k) over neighbouring cells, for Student's t."""
    degrees, squares = _squares_within_cells(cells)
    is_unknown = degrees == 0
    if not ordered:
        is_unknown &= degrees.sum(axis=0) < _LEAST_DEGREES
    comparison_degrees, comparison_variances = _compare_with_neighbours(cells, scales)
    degrees = np.where(is_unknown, comparison_degrees, degrees)
    squares = np.where(is_unknown, comparison_degrees * comparison_variances, squares)
    sums = np.stack([degrees, squares, degrees * scales**2])
    degrees, squares, scaled_degrees = _pool_neighbours(sums)
    variances = np.divide(
        squares,
        scaled_degrees,
        out=np.full_like(scaled_degrees, np.nan),
        where=scaled_degrees > 0,
    )
    # Differences of cumulative sums may be below zero by rounding.
    deviations = np.sqrt(np.maximum(variances, 0.0)) * scales
    return student_factor(np.maximum(degrees, 1.0)) * deviations


def _squares_within_cells(
    cells: Moments,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Degrees of freedom within cells, zero where unknown, and sums of squares."""
    weight, mean, squares = cells.weight, cells.mean, cells.m2
    is_varying = squares > weight * (_ROUNDING * mean) ** 2
    # Differences of zero show that nothing changes in the cell, as between two
    # thresholds of a tree. Other equal values may come from one row of large weight.
    is_constant = (squares == 0) & (mean == 0)
    degrees = np.where(is_varying, np.maximum(weight - 1, weight / 2), 0.0)
    degrees = np.where(is_constant, np.maximum(weight - 1, 0.0), degrees)
    return degrees, np.where(is_varying, squares, 0.0)


def _compare_with_neighbours(
    cells: Moments, scales: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | float, NDArray[np.float64]]:
    """Degrees of freedom of comparing means with neighbouring means, and variances.

    The squared difference is not reduced by the noise of the neighbouring means, as the
    jackknife does not reduce it (HC3): few degrees of freedom need variances as large.
    """
    if len(scales) == 1:  # nothing to compare with: the rows are equal
        return np.maximum(cells.weight - 1, 0.0), np.zeros_like(cells.mean)
    ratio = scales / _neighbour_sums(scales)
    differences = cells.mean - ratio * _neighbour_sums(cells.mean)
    return _COMPARISON_DEGREES, cells.weight * differences**2


def _neighbour_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over the two cells on each side, zero beyond the ends."""
    padded = np.pad(values, ((_N_NEIGHBOURS, _N_NEIGHBOURS), (0, 0)))
    windows = sliding_window_view(padded, 2 * _N_NEIGHBOURS + 1, axis=0)
    return np.delete(windows, _N_NEIGHBOURS, axis=2).sum(axis=2)


def _pool_neighbours(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums (3, n_cells, k) over neighbours with enough degrees of freedom together.

    The first of the three are degrees of freedom.
    """
    n_cells, radius = sums.shape[1], 1
    cumulative_sums = np.pad(sums.cumsum(axis=1), ((0, 0), (1, 0), (0, 0)))
    cells = np.arange(n_cells)
    has_few = sums[0] < _LEAST_DEGREES
    while radius < 2 * n_cells and has_few.any():
        low = np.maximum(cells - radius, 0)
        high = np.minimum(cells + radius + 1, n_cells)
        sums = np.where(
            has_few, cumulative_sums[:, high] - cumulative_sums[:, low], sums
        )
        has_few = sums[0] < _LEAST_DEGREES
        radius *= 2
    return sums

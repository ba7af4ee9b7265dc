"""Bases of functions of one column, and coordinates in which penalties are diagonal.

The functions of a basis sum to one everywhere. The coordinates are eigenvectors of the
penalty, so that it is a diagonal matrix; the first is the constant function.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.linalg import block_diag, eigh, qr

# Rows are extrapolated in gaps, and beyond the ends, wider than this share of the range
# of a column. Chosen by hand: held-out rows are often a little beyond the ends. Longer
# straight lines are far off where few rows determine the slope of the end.
WIDE_GAP = 0.1


class Coordinates(NamedTuple):
    """Coordinates of a basis."""

    vectors: NDArray[np.float64]  # (n_functions, n_coordinates): they are the columns
    penalties: NDArray[np.float64]  # (n_coordinates,)
    # A mask for each function without a penalty, except the constant: the straight
    # line, and the indicator of a missing value. `shrinkage` adds a penalty for each.
    unpenalised_masks: NDArray[np.bool_]  # (n_unpenalised, n_coordinates)


@dataclass(frozen=True)
class SplineBasis:
    """B-splines, penalised by their second differences (Eilers & Marx 1996).

    Parameters
    ----------
    breaks : ndarray of shape (n_breaks,)
        Increasing points where the polynomials meet, from end to end of the range.
    cyclic : bool, default=False
        Whether the last break is the first one again; then the pieces are cubic.
    extrapolation : {"linear", "constant"}, default="linear"
        How a curve continues outside of the range: as a straight line up to a distance
        of `WIDE_GAP` of the range, or not at all; it is constant farther away.
    missing : bool, default=False
        Whether NaN has a function of its own, the last one.
    degree : int, default=3
        Of the polynomials.
    """

    breaks: NDArray[np.float64]
    cyclic: bool = False
    extrapolation: str = "linear"
    missing: bool = False
    degree: int = 3

    @cached_property
    def _knots(self) -> NDArray[np.float64]:
        """Breaks, with as many more on either side as the degree says."""
        breaks, steps = self.breaks, np.arange(1, self.degree + 1)
        if self.cyclic:
            period = breaks[-1] - breaks[0]
            before, after = breaks[-4:-1] - period, breaks[1:4] + period
        else:
            before = breaks[0] - (breaks[1] - breaks[0]) * steps[::-1]
            after = breaks[-1] + (breaks[-1] - breaks[-2]) * steps
        return np.concatenate([before, breaks, after])

    @cached_property
    def _greville_abscissae(self) -> NDArray[np.float64]:
        """Averages of neighbouring knots, one of each B-spline (Greville).

        The range of the breaks is scaled to [0, 1], so that penalties do not overflow.
        """
        breaks = self.breaks
        knots = (self._knots[1:-1] - breaks[0]) / (breaks[-1] - breaks[0])
        return np.lib.stride_tricks.sliding_window_view(knots, self.degree).mean(axis=1)

    def moved_to_first_period(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of a cyclic column modulo its period, else the values unchanged."""
        first, last = self.breaks[0], self.breaks[-1]
        return first + (x - first) % (last - first) if self.cyclic else x

    def evaluate(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the functions, (n_rows, n_functions)."""
        first, last = self.breaks[0], self.breaks[-1]
        is_missing = np.isnan(x)
        numbers = self.moved_to_first_period(np.where(is_missing, first, x))
        clipped = numbers.clip(first, last)
        values = BSpline.design_matrix(clipped, self._knots, self.degree).toarray()
        beyond = np.flatnonzero(numbers != clipped)
        if self.extrapolation == "linear" and len(beyond):
            margin = WIDE_GAP * (last - first)
            numbers = numbers.clip(first - margin, last + margin)
            splines = BSpline(self._knots, np.eye(values.shape[1]), self.degree)
            slopes = splines(clipped[beyond], nu=1)
            values[beyond] += (numbers - clipped)[beyond, None] * slopes
        if self.cyclic:
            values = _wrap_columns(values)
        values[is_missing] = 0
        if self.missing:
            values = np.column_stack([values, is_missing])
        return values

    @cached_property
    def coordinates(self) -> Coordinates:
        """The constant, the straight line, curves by roughness, and a missing value."""
        abscissae = self._greville_abscissae
        n = len(abscissae)
        # Divided differences: for equidistant knots the differences of Eilers and Marx.
        slopes = np.diff(np.eye(n), axis=0) / np.diff(abscissae)[:, None]
        curvatures = np.diff(slopes, axis=0) / (abscissae[2:] - abscissae[:-2])[:, None]
        # Coefficients of the constant and of the straight line.
        null_space = np.stack([np.ones(n), abscissae - abscissae.mean()], axis=1)
        if self.cyclic:
            # The curvatures of one period; a cyclic curve has no straight line.
            curvatures = _wrap_columns(curvatures)[: len(self.breaks) - 1]
            null_space = null_space[: curvatures.shape[1], :1]
        eigenvalues, vectors = eigh(curvatures.T @ curvatures)
        n_free = null_space.shape[1]
        vectors[:, :n_free] = null_space / np.linalg.norm(null_space, axis=0)
        penalties = np.append(np.zeros(n_free), eigenvalues[n_free:] / eigenvalues[-1])
        masks = np.arange(len(penalties)) == np.arange(1, n_free)[:, None]
        if self.missing:
            vectors = block_diag(vectors, 1.0)
            # The first coordinate is constant for missing values too.
            vectors[-1, 0] = vectors[0, 0]
            penalties = np.append(penalties, 0.0)
            masks = block_diag(masks, True).astype(bool)
        return Coordinates(vectors, penalties, masks)


def _wrap_columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns of cyclic cubic splines: the last three are added to the first three."""
    wrapped = values.copy()
    wrapped[:, :3] += values[:, -3:]
    return wrapped[:, :-3]


@dataclass(frozen=True)
class LevelBasis:
    """Indicators of levels, of which all but their mean is penalised.

    Parameters
    ----------
    n_levels : int
        Number of levels; the codes of rows are their positions, -1 is none of them.
    """

    n_levels: int

    def evaluate(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Indicators, (n_rows, n_levels)."""
        return np.eye(self.n_levels + 1, self.n_levels)[x.astype(np.intp)]

    @cached_property
    def coordinates(self) -> Coordinates:
        """The constant, and contrasts of levels, all of which are penalised."""
        n = self.n_levels
        vectors, _ = qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))
        vectors = vectors * np.sign(vectors[0, 0])
        penalties = np.append(0.0, np.ones(n - 1))
        return Coordinates(vectors, penalties, np.empty((0, n), dtype=bool))


@dataclass(frozen=True)
class LineBasis:
    """A straight line without a constant; a missing value counts as the center.

    Parameters
    ----------
    center, scale : float
        The value at which the line is zero, and the distance to that where it is one.
    """

    center: float
    scale: float

    def moved_to_first_period(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values unchanged: no line is cyclic."""
        return x

    def evaluate(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The line, (n_rows, 1)."""
        return np.nan_to_num((x[:, None] - self.center) / self.scale)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The only coordinate, which is not penalised."""
        return Coordinates(np.ones((1, 1)), np.zeros(1), np.ones((1, 1), dtype=bool))

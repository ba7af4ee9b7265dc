"""Kernels of rows of any container, in blocks.

A kernel holds the known rows. All kinds have the methods `take` (the kernel of some of
the known rows), `diagonal`, `block` (between known rows), `cross` (between new and
known rows) and `nearest` (the nearest known row).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from sklearn_interpret._core.kernels.distances import (
    FEW_ROWS,
    gower_distances,
    squared_distances,
)
from sklearn_interpret._core.statistics.weighted import averaged_quantile
from sklearn_interpret._model.actions.actionability import Actionability
from sklearn_interpret._model.parallel import slices
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.validation import call_parameter

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.sample import Sample


# Rows of a matrix, or of a block on its diagonal, that are computed together. Chosen by
# hand: so few rows take little memory.
_STRIP_ROWS = 64


def gaussian_kernel(
    rows: Rows, weights: NDArray[np.float64], *, standardize: bool
) -> DistanceKernel:
    """Gaussian kernel of rows of numbers, which may be standardised."""
    values = numbers_of(rows)
    # Always centred: distances come from products, in which large means lose digits.
    scaler = StandardScaler(with_std=standardize)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scaler.fit(values, sample_weight=weights).transform(values)
        squares = np.linalg.norm(scaled) ** 2
    if not np.isfinite(squares):
        raise ValueError(
            f"X has numbers as large as {np.abs(values).max():g}, whose squared "
            "distances are not finite: rescale its columns."
        )
    return DistanceKernel(partial(_scale_rows, scaler), squared_distances, scaled)


def _scale_rows(scaler: StandardScaler, rows: Rows) -> NDArray[np.float64]:
    return scaler.transform(numbers_of(rows))


def gower_kernel(
    rows: Rows, weights: NDArray[np.float64], categorical: NDArray[np.bool_]
) -> DistanceKernel:
    """Kernel of Gower's distances between rows of numbers and categories."""
    columns = GowerColumns(rows, weights, categorical)
    distances = partial(gower_distances, categorical=categorical)
    return DistanceKernel(columns.encode, distances, columns.encode(rows))


def precomputed_kernel(sample: Sample, n_rows: int) -> PrecomputedKernel:
    """The kernel that X is, of the rows in use among the `n_rows` of `fit`."""
    n_columns = sample.rows.n_columns
    if n_columns == n_rows:
        matrix = numbers_of(sample.rows)
        if sample.positions is not None:
            matrix = matrix[:, sample.index]
        strips = slices(len(matrix), _STRIP_ROWS)
        if all(np.allclose(matrix[strip], matrix[:, strip].T) for strip in strips):
            return PrecomputedKernel(matrix, sample.index)
    raise ValueError(
        'kernel="precomputed" takes for X a symmetric matrix, the kernel between all '
        f"rows; got one of shape {(n_rows, n_columns)} that is not."
    )


def numbers_of(rows: Rows) -> NDArray[np.float64]:
    """Rows as a float64 array, with scikit-learn's errors for other input."""
    return check_array(rows.native, dtype=np.float64, input_name="X")


@dataclass(frozen=True)
class DistanceKernel:
    """exp(-gamma d) of the distance d between encoded rows.

    Parameters
    ----------
    encode : callable
        Gives the numbers of `Rows`, (n, d).
    distances : callable
        Gives all distances between two arrays of encoded rows.
    training : ndarray of shape (n, d)
        The known rows, encoded.
    gamma : float, default=1.0
        Inverse of the distance at which the kernel is 1/e.
    """

    encode: Callable
    distances: Callable
    training: np.ndarray
    gamma: float = 1.0

    def median_gamma(self, weights: NDArray[np.float64]) -> float:
        """1/2 over the median of the positive distances; 1 where all are zero.

        A pair of rows has the product of their weights.
        """
        # Distances of few rows are not computed by products: copies have a distance of
        # exactly zero.
        strips = (
            self.distances(self.training[block], self.training)
            for block in slices(len(self.training), FEW_ROWS)
        )
        pairs = np.triu_indices(len(self.training), 1)
        distances = np.concatenate(list(strips))[pairs]
        is_positive = distances > 0
        if not is_positive.any():
            return 1.0
        pair_weights = np.outer(weights, weights)[pairs][is_positive]
        return 0.5 / averaged_quantile(distances[is_positive], [0.5], pair_weights)[0]

    def take(self, index: NDArray[np.intp]) -> DistanceKernel:
        """The kernel of some of the known rows."""
        return replace(self, training=self.training[index])

    def diagonal(self) -> NDArray[np.float64]:
        """Kernel of each known row and itself."""
        return np.ones(len(self.training))

    def block(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """Kernel between two slices of the known rows."""
        return self._kernel(self.training[rows], self.training[columns])

    def cross(self, rows: Rows) -> Callable[[slice], NDArray[np.float64]]:
        """A function that gives the kernel of `rows` and a slice of the known rows."""
        encoded = self.encode(rows)
        return lambda columns: self._kernel(encoded, self.training[columns])

    def nearest(self, rows: Rows) -> NDArray[np.intp]:
        """Which known row is nearest to each of `rows`, also where kernels are zero."""
        return self.distances(self.encode(rows), self.training).argmin(axis=1)

    def _kernel(
        self, A: NDArray[np.float64], B: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        values = self.distances(A, B)
        values *= -self.gamma
        return np.exp(values, out=values)


class NearestMixin(ABC):
    """Adds the nearest known row, by the distance k(x, x) + k(y, y) - 2 k(x, y)."""

    @abstractmethod
    def diagonal(self) -> NDArray[np.float64]:
        """Kernel of each known row and itself."""

    @abstractmethod
    def cross(self, rows: Rows) -> Callable[[slice], NDArray[np.float64]]:
        """A function that gives the kernel of `rows` and a slice of the known rows."""

    def nearest(self, rows: Rows) -> NDArray[np.intp]:
        """Which known row is nearest to each of `rows`."""
        similarities = self.cross(rows)(slice(None))
        # k(x, x) of the new row is the same for all known rows.
        return (similarities - self.diagonal() / 2).argmax(axis=1)


@dataclass(frozen=True)
class PrecomputedKernel(NearestMixin):
    """A matrix of kernel values; new rows have a value for each row of `fit`.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        The kernel between the known rows.
    columns : ndarray of int of shape (n,)
        Positions of the known rows among the rows of `fit`.
    """

    matrix: np.ndarray
    columns: np.ndarray

    def take(self, index: NDArray[np.intp]) -> PrecomputedKernel:
        """The kernel of some of the known rows."""
        return PrecomputedKernel(self.matrix[index][:, index], self.columns[index])

    def diagonal(self) -> NDArray[np.float64]:
        """Kernel of each known row and itself."""
        return np.diagonal(self.matrix)

    def block(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """Kernel between two slices of the known rows."""
        return self.matrix[rows, columns]

    def cross(self, rows: Rows) -> Callable[[slice], NDArray[np.float64]]:
        """A function that gives the kernel of `rows` and a slice of the known rows."""
        values = numbers_of(rows)
        return lambda columns: values[:, self.columns[columns]]


@dataclass(frozen=True)
class CallableKernel(NearestMixin):
    """A function of two containers of rows.

    Parameters
    ----------
    function : callable
        Gives the kernel of m rows and n rows, (m, n).
    training : Rows
        The known rows.
    """

    function: Callable
    training: Rows

    def take(self, index: NDArray[np.intp]) -> CallableKernel:
        """The kernel of some of the known rows."""
        return replace(self, training=self.training.take(index))

    def diagonal(self) -> NDArray[np.float64]:
        """Kernel of each known row and itself."""
        strips = slices(self.training.n_rows, _STRIP_ROWS)
        return np.concatenate(
            [np.diagonal(self.block(strip, strip)) for strip in strips]
        )

    def block(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """Kernel between two slices of the known rows."""
        return self.cross(self.training.sliced(rows))(columns)

    def cross(self, rows: Rows) -> Callable[[slice], NDArray[np.float64]]:
        """A function that gives the kernel of `rows` and a slice of the known rows."""
        return lambda columns: self._kernel(rows, self.training.sliced(columns))

    def _call_function(self, A: Rows, B: Rows) -> NDArray[np.float64]:
        return np.asarray(self.function(A.native, B.native), dtype=np.float64)

    def _kernel(self, A: Rows, B: Rows) -> NDArray[np.float64]:
        values = call_parameter(f"kernel={self.function!r}", self._call_function, A, B)
        if values.shape != (A.n_rows, B.n_rows) or not np.isfinite(values).all():
            raise ValueError(
                f"kernel={self.function!r} must give finite numbers for {A.n_rows} and "
                f"{B.n_rows} rows, of shape {(A.n_rows, B.n_rows)}; got "
                f"shape {values.shape}."
            )
        return values


Kernel = DistanceKernel | PrecomputedKernel | CallableKernel


class GowerColumns:
    """Numbers in units of their range, categories as positions of their levels.

    Parameters
    ----------
    rows : Rows
        The rows of `fit`.
    weights : ndarray of shape (n_rows,)
        Their weights; those of weight zero do not count for the range.
    categorical : ndarray of shape (n_columns,), bool
        Which columns are categories.
    """

    def __init__(
        self, rows: Rows, weights: NDArray[np.float64], categorical: NDArray[np.bool_]
    ) -> None:
        self._actionability = Actionability(
            rows,
            weights,
            categorical=categorical,
            vary=np.ones(rows.n_columns, dtype=bool),
            ranges={},
            directions={},
            distance="gower",
        )
        scales = self._actionability.costs * rows.n_columns
        self._scales = np.where(categorical, 1.0, scales)

    def encode(self, rows: Rows) -> NDArray[np.float64]:
        """Rows as floats, NaN where they are missing, -1 for unknown levels."""
        return self._actionability.encode(rows) * self._scales

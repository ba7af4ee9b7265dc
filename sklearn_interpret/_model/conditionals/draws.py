"""Draws of absent columns given the present ones, and mean responses to them.

Each class draws in its own way. A table of hybrid rows, which have the present columns
of the explained rows and absent columns as drawn, goes to the model.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.games.latent_normals import (
    LatentNormals,
    batch_operator,
    groups_of_rows,
    latent_correlation,
)
from sklearn_interpret._core.kernels.distances import gower_distances
from sklearn_interpret._core.statistics.weighted import CrossProducts, shares_of
from sklearn_interpret._model.conditionals.scores import score_columns
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import round_to_dtype
from sklearn_interpret._model.rows.validation import call_parameter

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Batches of draws, whose spread is the error of the draws: more make the error more
# certain, and less exact, as the draws of a small batch are less even.
_MOST_BATCHES = 10
# Fewest draws: two batches of two.
FEWEST_DRAWS = 4
# Least share of the largest value that a standard deviation has: less is rounding.
_CONSTANT = 1e-12
# Differences of distances that are ties.
_TIE = 1e-12
# Widths of the kernel, in distances of the farthest neighbour. Wider ones are for rows
# whose neighbours count for less than an effective number.
_WIDTHS = 1.1, 1.5, 4.0
_LEAST_EFFECTIVE = 10


def number_of_batches(n_draws: int) -> int:
    """Number of batches of draws, each with at least two."""
    return min(_MOST_BATCHES, n_draws // 2)


class ConditionalDraws(ABC):
    """Mean responses to draws of absent columns.

    Parameters
    ----------
    response : Response
        The model.
    n_draws : int
        Number of draws for each row and coalition.
    n_batches : int
        Number of batches of draws that have means of their own.
    """

    def __init__(self, response: Response, n_draws: int, n_batches: int) -> None:
        self.response, self.n_draws, self.n_batches = response, n_draws, n_batches
        self._operator = batch_operator(n_draws, n_batches)
        # Memory for each draw of a row, besides its hybrid row.
        self.draw_bytes = 8

    @abstractmethod
    def locate(self, rows: Rows) -> Any:
        """What `hybrid_rows` has to know about rows that are explained."""

    @abstractmethod
    def hybrid_rows(
        self, located: Any, index: NDArray[np.intp], present: NDArray[np.bool_]
    ) -> tuple[Any, NDArray[np.float64]]:
        """Native hybrid rows of m rows at `index` with columns `present`.

        The n draws of a row follow each other; they have weights (m, n).
        """

    def means(
        self,
        rows: Rows,
        located: Any,
        index: NDArray[np.intp],
        present: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Mean responses (m, k (1 + n_batches)): of all draws, then of each batch."""
        step = max(1, batch_rows(rows.row_bytes + self.draw_bytes) // self.n_draws)
        means = []
        for batch in with_progress(list(self.batches(present, step))):
            X, weights = self.hybrid_rows(located, index[batch], present[batch])
            responses = self.response(X).reshape(*weights.shape, -1)
            means.append(self._means_of_draws(responses, weights))
        return np.concatenate(means)

    def base_means(self, row: Rows) -> NDArray[np.float64]:
        """Mean responses (k (1 + n_batches),) of draws of all columns; any row does."""
        nothing = np.zeros((1, row.n_columns), dtype=bool)
        return self.means(row, self.locate(row), np.zeros(1, dtype=np.intp), nothing)[0]

    def batches(self, present: NDArray[np.bool_], step: int) -> Iterator[slice]:
        """Slices of rows that go to the model together, at most `step`."""
        return slices(len(present), step)

    def _means_of_draws(
        self, responses: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Means of responses (m, n, k) with weights (m, n), of all and by batch."""
        weights = weights / weights.sum(axis=1, keepdims=True)
        means = np.einsum("mn,mnk->mk", weights, responses)
        # Means of batches, linear in the weighted deviations from the mean.
        deviations = (responses - means[:, None]) * weights[..., None]
        batches = means[:, None] + self.n_draws * (self._operator @ deviations)
        # Means of responses are between these, such as probabilities.
        ends = responses.min(axis=1)[:, None], responses.max(axis=1)[:, None]
        batches = np.clip(batches, *ends)
        return np.concatenate([means[:, None], batches], axis=1).reshape(len(means), -1)


class GaussianDraws(ConditionalDraws):
    """Draws of jointly normal columns, by their mean and covariance."""

    def __init__(
        self, response: Response, sample: Sample, n_draws: int, rng: np.random.Generator
    ) -> None:
        super().__init__(response, n_draws, number_of_batches(n_draws))
        rows, self._first = sample.rows, sample.rows.take([0])
        columns = [_number_column(rows, j) for j in range(rows.n_columns)]
        # Whole numbers stay whole, and in the range that was seen.
        self._whole = {
            j: (column.dtype, column.min(), column.max())
            for j, column in enumerate(columns)
            if column.dtype.kind in "biu"
        }
        values = np.stack(columns, axis=1).astype(np.float64)
        moments = CrossProducts.of_rows(values, sample.weights)
        deviations = np.sqrt(np.diag(moments.products) / moments.weight)
        varies = deviations > _CONSTANT * np.abs(values).max(axis=0)
        self._means, self._scales = moments.means, np.where(varies, deviations, 0.0)
        units = np.where(varies, deviations, np.inf) * np.sqrt(moments.weight)
        correlation = moments.products / units / units[:, None]
        np.fill_diagonal(correlation, 1.0)
        latents = LatentNormals.draw(correlation, n_draws, self.n_batches, rng)
        self._latents, self._operator = latents, latents.operator
        self.draw_bytes += 32 * rows.n_columns

    def locate(self, rows: Rows) -> tuple[Rows, list[NDArray[Any]]]:
        """The rows, in dtypes that hold drawn values, and their columns."""
        joint = self._first.followed_by(rows)
        joint = joint.take(np.arange(1, joint.n_rows))
        return joint, [_number_column(joint, j) for j in range(joint.n_columns)]

    def hybrid_rows(
        self,
        located: tuple[Rows, list[NDArray[Any]]],
        index: NDArray[np.intp],
        present: NDArray[np.bool_],
    ) -> tuple[Any, NDArray[np.float64]]:
        """Hybrid rows with cells of any value, and equal weights."""
        rows, columns = located
        values = np.stack(columns, axis=1)[index].astype(np.float64)
        units = np.where(self._scales > 0, self._scales, 1.0)
        points = (values - self._means) / units
        draws, weights = self._latents.given(present, points, points)
        absent = np.flatnonzero(~present.all(axis=0)).tolist()
        cells = np.arange(weights.size).reshape(weights.shape)
        levels = []
        for j in absent:
            drawn = self._means[j] + self._scales[j] * draws[..., j]
            if j in self._whole:
                dtype, low, high = self._whole[j]
                drawn = round_to_dtype(drawn.clip(low, high), dtype)
            drawn = np.where(present[:, j, None], columns[j][index, None], drawn)
            levels.append(rows.cast(j, drawn.reshape(-1)))
        tiles = rows.take(index).tiles(0, len(index), self.n_draws)
        return tiles.replace(absent, levels, [cells] * len(absent)), weights


def _number_column(rows: Rows, j: int) -> NDArray[Any]:
    """A column of numbers or booleans; an error for others, and for missing values."""
    column, kind = rows.column_array(j), None
    if rows.dates(j) is not None:
        kind = "dates"
    elif column.dtype.kind not in "biuf":
        kind = f"values of dtype {rows.dtype(j)}"
    elif np.isnan(rows.numbers(j)).any():
        kind = "missing values"
    if kind is not None:
        raise ValueError(
            'dependence="gaussian" takes numbers, and the feature '
            f'{rows.names[j]!r} has {kind}: use dependence="copula".'
        )
    return column


class _Donors(ConditionalDraws):
    """Draws of cells of the rows of fit."""

    def __init__(
        self, response: Response, sample: Sample, n_draws: int, n_batches: int
    ) -> None:
        super().__init__(response, n_draws, n_batches)
        self._rows = sample.rows
        self._columns = score_columns(sample.rows, sample.weights)
        self.draw_bytes += 32 * sample.rows.n_columns

    def _mix(
        self,
        joint: Rows,
        index: NDArray[np.intp],
        present: NDArray[np.bool_],
        donors: dict[int, NDArray[np.intp]],
    ) -> Any:
        """Hybrid rows with cells of `donors` (m, n) in absent columns.

        The explained rows follow the rows of fit in `joint`.
        """
        recipients = self._rows.n_rows + index[:, None]
        sources = {
            j: np.where(present[:, j, None], recipients, rows).reshape(-1)
            for j, rows in donors.items()
        }
        return joint.mix(np.repeat(recipients, self.n_draws), sources)


class CopulaDraws(_Donors):
    """Draws by a Gaussian copula: cells of the rows of fit, by latent normals."""

    def __init__(
        self, response: Response, sample: Sample, n_draws: int, rng: np.random.Generator
    ) -> None:
        super().__init__(response, sample, n_draws, number_of_batches(n_draws))
        scores = np.stack([column.scores for column in self._columns], axis=1)
        products = CrossProducts.of_rows(scores, sample.weights, centred=False)
        correlation = latent_correlation(
            products.products / products.weight,
            np.stack([column.coefficients for column in self._columns]),
        )
        latents = LatentNormals.draw(correlation, n_draws, self.n_batches, rng)
        self._latents, self._operator = latents, latents.operator

    def locate(self, rows: Rows) -> tuple[Rows, NDArray[np.float64]]:
        """The rows behind those of fit, and ends (2, m, p) of their intervals."""
        ends = np.stack([column.intervals(rows) for column in self._columns], axis=2)
        return self._rows.followed_by(rows), ends

    def hybrid_rows(
        self,
        located: tuple[Rows, NDArray[np.float64]],
        index: NDArray[np.intp],
        present: NDArray[np.bool_],
    ) -> tuple[Any, NDArray[np.float64]]:
        """Hybrid rows with cells at the ranks of the latent draws, and weights."""
        joint, (low, high) = located
        draws, weights = self._latents.given(present, low[index], high[index])
        donors = {}
        for j in np.flatnonzero(~present.all(axis=0)).tolist():
            column = self._columns[j]
            donors[j] = column.first[np.searchsorted(column.cuts, draws[..., j])]
        return self._mix(joint, index, present, donors), weights


class NeighborDraws(_Donors):
    """The rows of fit that are nearest in the present columns, weighted by a kernel."""

    def __init__(
        self, response: Response, sample: Sample, n_draws: int, rng: np.random.Generator
    ) -> None:
        super().__init__(response, sample, min(n_draws, sample.rows.n_rows), 0)
        self._shares = shares_of(sample.weights)
        self._base_means = self._shares @ plain_responses(response, sample.rows)
        self._places = self._locate(sample.rows)
        self._is_level = np.array([column.is_level for column in self._columns])
        # Ties are broken by chance, and in the same way for all coalitions.
        self._priority = (1 + rng.permutation(sample.rows.n_rows)) * _TIE
        self.draw_bytes += 24 * sample.rows.n_rows // self.n_draws

    def base_means(self, row: Rows) -> NDArray[np.float64]:
        """Mean response (k,) to all rows of fit, none of which is nearer."""
        return self._base_means

    def _locate(self, rows: Rows) -> NDArray[np.float64]:
        """Coordinates (m, p): scores of numbers, codes of levels, NaN if missing."""
        return np.stack([column.coordinates(rows) for column in self._columns], axis=1)

    def locate(self, rows: Rows) -> tuple[Rows, NDArray[np.float64]]:
        """The rows behind those of fit, and their coordinates."""
        return self._rows.followed_by(rows), self._locate(rows)

    def hybrid_rows(
        self,
        located: tuple[Rows, NDArray[np.float64]],
        index: NDArray[np.intp],
        present: NDArray[np.bool_],
    ) -> tuple[Any, NDArray[np.float64]]:
        """Hybrid rows with the absent cells of a neighbour together, and weights."""
        joint, places = located
        nearest = np.empty((len(index), self.n_draws), dtype=np.intp)
        weights = np.empty(nearest.shape)
        for group in groups_of_rows(present):
            columns = present[group[0]]
            squares = gower_distances(
                places[index[group]][:, columns],
                self._places[:, columns],
                self._is_level[columns],
                squared=True,
            )
            squares += self._priority
            closest = np.argpartition(squares, self.n_draws - 1, axis=1)
            nearest[group] = closest[:, : self.n_draws]
            squares = np.take_along_axis(squares, nearest[group], axis=1)
            weights[group] = _kernel_weights(squares, self._shares[nearest[group]])
        absent = np.flatnonzero(~present.all(axis=0)).tolist()
        donors = dict.fromkeys(absent, nearest)
        return self._mix(joint, index, present, donors), weights


def _kernel_weights(
    squares: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights (m, n) of neighbours, from squared distances and shares of the weight."""
    distances, weights = np.sqrt(squares), shares.copy()
    is_few = np.ones(len(shares), dtype=bool)
    for width in _WIDTHS:
        scaled = distances[is_few] / (width * distances[is_few].max(axis=1)[:, None])
        weights[is_few] = shares[is_few] * (1 - scaled**3) ** 3
        effective = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)
        is_few = effective < _LEAST_EFFECTIVE
    return weights


class SamplerDraws(ConditionalDraws):
    """Draws by the user's function ``sampler(X, columns, n_draws)``."""

    def __init__(
        self,
        response: Response,
        sample: Sample,
        n_draws: int,
        sampler: Callable[..., Any],
    ) -> None:
        super().__init__(response, n_draws, number_of_batches(n_draws))
        self._sampler = sampler

    def batches(self, present: NDArray[np.bool_], step: int) -> Iterator[slice]:
        """Slices of rows with the same present columns."""
        changes = np.flatnonzero((present[1:] != present[:-1]).any(axis=1)) + 1
        ends = [0, *changes.tolist(), len(present)]
        for start, stop in itertools.pairwise(ends):
            for batch in slices(stop - start, step):
                yield slice(start + batch.start, start + batch.stop)

    def locate(self, rows: Rows) -> Rows:
        """The rows."""
        return rows

    def hybrid_rows(
        self, located: Rows, index: NDArray[np.intp], present: NDArray[np.bool_]
    ) -> tuple[Any, NDArray[np.float64]]:
        """Hybrid rows with absent cells of the function's table, and equal weights."""
        rows, columns = located.take(index), np.flatnonzero(present[0]).tolist()
        table = as_rows(
            call_parameter(
                "dependence", self._sampler, rows.native, columns, self.n_draws
            )
        )
        expected = rows.n_rows * self.n_draws, rows.n_columns
        if (table.n_rows, table.n_columns) != expected:
            raise ValueError(
                "dependence must return a table of n_draws rows for each row, of shape "
                f"{expected}; it returned one of shape "
                f"{(table.n_rows, table.n_columns)}."
            )
        recipients = np.repeat(np.arange(rows.n_rows), self.n_draws)
        drawn = rows.n_rows + np.arange(table.n_rows)
        donors = dict.fromkeys(np.flatnonzero(~present[0]).tolist(), drawn)
        X = rows.followed_by(table).mix(recipients, donors)
        return X, np.ones((rows.n_rows, self.n_draws))

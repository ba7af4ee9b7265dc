"""Mean responses given the present columns, from draws of the absent ones.

Each class draws in its own way. A table of hybrid rows, which have the present columns
of the explained rows and absent columns as drawn, goes to the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
from sklearn_interpret._model.rows.features import shortened
from sklearn_interpret._model.rows.plain import PlainState
from sklearn_interpret._model.rows.validation import call_parameter

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

_Floats = NDArray[np.float64]
_Index = NDArray[np.intp]
_Mask = NDArray[np.bool_]

# Most batches of draws, whose spread is the error of the draws: with ten, the factor of
# Student's distribution is near one. Batches have at least two draws.
_MOST_BATCHES = 10
# Two batches of two.
FEWEST_DRAWS = 4
# Standard deviations below this share of the largest value are rounding errors.
_CONSTANT = 1e-12
# Differences of squared distances that are ties.
_TIE = 1e-12
# Widths of the kernel, in distances of the farthest neighbour. The next one is taken if
# weights are those of fewer neighbours than the least effective number.
_WIDTHS = 1.1, 1.5, 4.0
_LEAST_EFFECTIVE = 10


class ConditionalMeans(PlainState, ABC):
    """Mean responses given some columns, estimated from the rows of fit.

    Parameters
    ----------
    response : Response
        The model.
    sample : Sample
        The rows of fit.
    n_draws : int
        Number of draws for each row and coalition.
    dependence : object
        The user's parameter.
    seed : int
        Seed of the draws.

    Attributes
    ----------
    targets : ndarray of shape (n_rows, k)
        Responses to the rows of fit.
    """

    # Whether draws are random, so that batches of them show the error.
    is_random = False

    def __init__(
        self,
        response: Response,
        sample: Sample,
        n_draws: int,
        dependence: Any,
        seed: int,
    ) -> None:
        self.response, self.n_draws, self._rows = response, n_draws, sample.rows
        self._weights, self._dependence = sample.weights, dependence
        self._shares = shares_of(sample.weights)
        self.n_batches = min(_MOST_BATCHES, n_draws // 2) if self.is_random else 0
        self._fit(np.random.default_rng(seed))
        self.targets = plain_responses(response, sample.rows)

    @abstractmethod
    def _fit(self, rng: np.random.Generator) -> None:
        """Estimate the joint distribution of the columns, and draw."""

    def locate(self, rows: Rows) -> Any:
        """The explained rows in the form that `means` takes."""
        return rows

    @abstractmethod
    def means(self, located: Any, index: _Index, present: _Mask) -> _Floats:
        """Mean responses (m, k (1 + n_batches)): of all draws, then of each batch.

        They are those of the explained rows at `index` (m,), given their columns in the
        mask `present` (m, n_columns).
        """


class _Draws(ConditionalMeans):
    """Mean responses to hybrid rows."""

    # Whether `_hybrids` takes rows of one coalition only.
    by_coalition = False

    @abstractmethod
    def _hybrids(
        self, located: Any, index: _Index, present: _Mask
    ) -> tuple[Any, _Floats]:
        """Native hybrid rows, n draws for each row, and their weights (m, n)."""

    def _fit(self, rng: np.random.Generator) -> None:
        self._operator = batch_operator(self.n_draws, self.n_batches)

    def _draw_bytes(self) -> int:
        """Bytes of a draw: its row and, for each column, up to four numbers."""
        return self._rows.row_bytes + 32 * self._rows.n_columns

    def means(self, located: Any, index: _Index, present: _Mask) -> _Floats:
        """Mean responses (m, k (1 + n_batches)): of all draws, then of each batch."""
        groups = list(groups_of_rows(present))
        if not self.by_coalition:  # drawn together, the same coalitions side by side
            groups = [np.concatenate(groups)]
        step = max(1, batch_rows(self._draw_bytes()) // self.n_draws)
        batches = [group[s] for group in groups for s in slices(len(group), step)]
        means = []
        for batch in with_progress(batches):
            X, weights = self._hybrids(located, index[batch], present[batch])
            responses = self.response(X).reshape(*weights.shape, -1)
            means.append(self._means_of_draws(responses, weights))
        return np.concatenate(means)[np.argsort(np.concatenate(groups))]

    def _means_of_draws(self, responses: _Floats, weights: _Floats) -> _Floats:
        """Means of responses (m, n, k) with weights (m, n), of all and by batch."""
        weights = weights / weights.sum(axis=1, keepdims=True)
        means = np.einsum("mn,mnk->mk", weights, responses)[:, None]
        # Means of batches are linear in the weighted deviations from the mean.
        deviations = (responses - means) * weights[..., None]
        batches = means + self.n_draws * (self._operator @ deviations)
        # Means are between the responses, so that probabilities stay probabilities.
        ends = responses.min(axis=1)[:, None], responses.max(axis=1)[:, None]
        batches = np.clip(batches, *ends)
        return np.concatenate([means, batches], axis=1).reshape(len(means), -1)


class GaussianDraws(_Draws):
    """Draws of jointly normal columns, by their mean and covariance."""

    is_random = True

    def _fit(self, rng: np.random.Generator) -> None:
        self._columns = _number_columns(self._rows)
        values = np.stack(self._columns, axis=1).astype(np.float64)
        moments = CrossProducts.of_rows(values, self._shares)
        deviations = np.sqrt(np.diag(moments.products))
        varies = deviations > _CONSTANT * np.abs(values).max(axis=0)
        self._means, self._scales = moments.means, np.where(varies, deviations, 0.0)
        units = np.where(varies, deviations, np.inf)
        correlation = moments.products / units / units[:, None]
        np.fill_diagonal(correlation, 1.0)
        self._latents = LatentNormals.draw(
            correlation, self.n_draws, self.n_batches, rng
        )
        self._operator = self._latents.operator

    def locate(self, rows: Rows) -> tuple[Rows, list[NDArray[Any]]]:
        """The rows, in dtypes that hold drawn values, and their columns."""
        joint = self._rows.take([0]).followed_by(rows)
        joint = joint.take(np.arange(1, joint.n_rows))
        return joint, _number_columns(joint)

    def _hybrids(
        self, located: Any, index: _Index, present: _Mask
    ) -> tuple[Any, _Floats]:
        rows, columns = located
        values = np.stack(columns, axis=1)[index].astype(np.float64)
        points = (values - self._means) / np.where(self._scales > 0, self._scales, 1.0)
        draws, weights = self._latents.given(present, points, points)
        draws = self._means + self._scales * draws
        absent, levels = np.flatnonzero(~present.all(axis=0)).tolist(), []
        for j in absent:
            drawn, observed = draws[..., j], self._columns[j]
            if observed.dtype.kind in "biu":  # whole, and in the range that was seen
                drawn = drawn.clip(observed.min(), observed.max())
                drawn = round_to_dtype(drawn, observed.dtype)
            drawn = np.where(present[:, j, None], columns[j][index, None], drawn)
            levels.append(rows.cast(j, drawn.reshape(-1)))
        tiles = rows.take(index).tiles(0, len(index), self.n_draws)
        cells = np.arange(weights.size).reshape(weights.shape)
        return tiles.replace(absent, levels, [cells] * len(absent)), weights


def _number_columns(rows: Rows) -> list[NDArray[Any]]:
    """Columns of numbers or booleans; an error for others and for missing values."""
    columns = [rows.column_array(j) for j in range(rows.n_columns)]
    for j, column in enumerate(columns):
        is_number = column.dtype.kind in "biuf" and rows.dates(j) is None
        if not is_number or np.isnan(rows.numbers(j)).any():
            kind = "missing values" if is_number else f"the dtype {rows.dtype(j)}"
            raise ValueError(
                'dependence="gaussian" takes numbers, and the feature '
                f'{rows.names[j]!r} has {kind}: use dependence="copula".'
            )
    return columns


class _Donors(_Draws):
    """Draws of cells of the rows of fit."""

    def _fit(self, rng: np.random.Generator) -> None:
        super()._fit(rng)
        self._columns = score_columns(self._rows, self._shares)

    def _mix(
        self, joint: Rows, index: _Index, present: _Mask, donors: dict[int, _Index]
    ) -> Any:
        """Hybrid rows with cells of `donors` (m, n), rows of fit, in absent columns.

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

    is_random = True

    def _fit(self, rng: np.random.Generator) -> None:
        super()._fit(rng)
        scores = np.stack([column.scores for column in self._columns], axis=1)
        correlation = latent_correlation(
            CrossProducts.of_rows(scores, self._shares, centred=False).products,
            np.stack([column.coefficients for column in self._columns]),
        )
        self._latents = LatentNormals.draw(
            correlation, self.n_draws, self.n_batches, rng
        )
        self._operator = self._latents.operator

    def locate(self, rows: Rows) -> tuple[Rows, _Floats]:
        """The rows behind those of fit, and ends (2, m, p) of their intervals."""
        ends = np.stack([column.intervals(rows) for column in self._columns], axis=2)
        return self._rows.followed_by(rows), ends

    def _hybrids(
        self, located: Any, index: _Index, present: _Mask
    ) -> tuple[Any, _Floats]:
        joint, (low, high) = located
        draws, weights = self._latents.given(present, low[index], high[index])
        donors = {
            j: self._columns[j].donors(draws[..., j])
            for j in np.flatnonzero(~present.all(axis=0)).tolist()
        }
        return self._mix(joint, index, present, donors), weights


class NeighborDraws(_Donors):
    """The rows of fit that are nearest in the present columns, weighted by a kernel."""

    def _fit(self, rng: np.random.Generator) -> None:
        self.n_draws = min(self.n_draws, self._rows.n_rows)
        super()._fit(rng)
        self._points = self._coordinates(self._rows)
        self._is_level = np.array([column.is_level for column in self._columns])
        # Breaks ties at random, and in the same way for all coalitions.
        self._priority = (1 + rng.permutation(self._rows.n_rows)) * _TIE

    def _draw_bytes(self) -> int:
        # A row has distances to all rows of fit, and their order; each draw its share.
        return super()._draw_bytes() + 24 * self._rows.n_rows // self.n_draws

    def _coordinates(self, rows: Rows) -> _Floats:
        """Coordinates (m, p): scores of numbers, codes of levels, NaN if missing."""
        return np.stack([column.coordinates(rows) for column in self._columns], axis=1)

    def locate(self, rows: Rows) -> tuple[Rows, _Floats]:
        """The rows behind those of fit, and their coordinates."""
        return self._rows.followed_by(rows), self._coordinates(rows)

    def _hybrids(
        self, located: Any, index: _Index, present: _Mask
    ) -> tuple[Any, _Floats]:
        joint, points = located
        nearest = np.empty((len(index), self.n_draws), dtype=np.intp)
        squares = np.empty(nearest.shape)
        for group in groups_of_rows(present):
            columns = present[group[0]]
            tables = points[index[group]][:, columns], self._points[:, columns]
            all_squares = gower_distances(
                *tables, self._is_level[columns], squared=True
            )
            all_squares += self._priority
            closest = np.argpartition(all_squares, self.n_draws - 1, axis=1)
            nearest[group] = closest[:, : self.n_draws]
            squares[group] = np.take_along_axis(all_squares, nearest[group], axis=1)
        absent = np.flatnonzero(~present.all(axis=0)).tolist()
        X = self._mix(joint, index, present, dict.fromkeys(absent, nearest))
        return X, _kernel_weights(np.sqrt(squares), self._shares[nearest])


def _kernel_weights(distances: _Floats, shares: _Floats) -> _Floats:
    """Weights (m, n) of neighbours, by a tricube kernel, times shares of the weight."""
    weights, is_few = shares.copy(), np.ones(len(shares), dtype=bool)
    for width in _WIDTHS:
        scaled = distances[is_few] / (width * distances[is_few].max(axis=1)[:, None])
        weights[is_few] = shares[is_few] * (1 - scaled**3) ** 3
        effective = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)
        is_few = effective < _LEAST_EFFECTIVE
    return weights


class SamplerDraws(_Draws):
    """Draws by the user's function ``sampler(X, columns, n_draws)``."""

    is_random = by_coalition = True

    def _fit(self, rng: np.random.Generator) -> None:
        super()._fit(rng)
        # The function's errors are raised in `fit`.
        first, nothing = np.zeros(1, np.intp), np.zeros((1, self._rows.n_columns), bool)
        self._hybrids(self._rows, first, nothing)

    def _hybrids(
        self, located: Rows, index: _Index, present: _Mask
    ) -> tuple[Any, _Floats]:
        rows, columns = located.take(index), np.flatnonzero(present[0]).tolist()
        arguments = rows.native, columns, self.n_draws
        table = as_rows(call_parameter("dependence", self._dependence, *arguments))
        shape = table.n_rows, table.n_columns
        if shape != (rows.n_rows * self.n_draws, rows.n_columns):
            raise ValueError(
                f"dependence must return {self.n_draws} rows for each of {rows.n_rows} "
                f"and {rows.n_columns} columns; it returned a table of shape {shape}."
            )
        if table.named and rows.named and table.names != rows.names:
            raise ValueError(
                "dependence must return the columns of its argument, in their order; "
                f"it returned {shortened(table.names)}."
            )
        recipients = np.repeat(np.arange(rows.n_rows), self.n_draws)
        drawn = rows.n_rows + np.arange(table.n_rows)
        donors = dict.fromkeys(np.flatnonzero(~present[0]).tolist(), drawn)
        X = rows.followed_by(table).mix(recipients, donors)
        return X, np.ones((rows.n_rows, self.n_draws))

"""Nearest neighbours: the weights of their votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from sklearn_interpret._model._sklearn_compat import rows_of_fit
from sklearn_interpret._model.formulas.neighbors import vote_weights
from sklearn_interpret._model.training_weights.base import TrainingWeights
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.training_weights.base import TrainingData

# Rows that are compared with those of the model's fit.
_COMPARED_ROWS = 50


@dataclass(frozen=True, eq=False)
class NeighborWeights(TrainingWeights):
    """Shares of the votes of nearest neighbours.

    Parameters
    ----------
    model : fitted model of k nearest neighbours, or of those within a radius
        The model.
    """

    model: Any

    @property
    def row_bytes(self) -> int:
        # Weights, and up to as many distances and positions.
        return 3 * 8 * self.model.n_samples_fit_

    def weights(self, rows: Rows) -> NDArray[np.float64]:
        shares = np.zeros((rows.n_rows, self.model.n_samples_fit_))
        if hasattr(self.model, "kneighbors"):
            distances, neighbors = self.model.kneighbors(rows.native)
            votes = vote_weights(self.model, distances)
            np.put_along_axis(shares, neighbors, votes, axis=1)
        else:
            for row, (neighbors, votes) in enumerate(self._votes_within(rows)):
                shares[row, neighbors] = votes
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def _votes_within(self, rows: Rows) -> Any:
        """Positions and votes of the neighbours of each row within the radius."""
        distances, neighbors = self.model.radius_neighbors(rows.native)
        alone = [row for row, near in enumerate(neighbors) if not len(near)]
        if alone:
            raise ValueError(
                f"{len(alone)} rows have no neighbour within radius="
                f"{self.model.radius!r}, and so no weights; the first is row "
                f"{alone[0]} of {rows.n_rows}."
            )
        if callable(self.model.weights):
            return zip(neighbors, self.model.weights(distances), strict=True)
        votes = (vote_weights(self.model, near[None])[0] for near in distances)
        return zip(neighbors, votes, strict=True)


def read_neighbors(model: BaseEstimator, data: TrainingData) -> TrainingWeights:
    """Weights of a model of nearest neighbours."""
    # Predictions do not tell whether the rows have the order of the targets.
    n_rows = len(data.weights)
    agree = model.n_samples_fit_ == n_rows
    if agree:
        index = np.linspace(0, n_rows - 1, min(n_rows, _COMPARED_ROWS)).astype(np.intp)
        given = check_array(
            data.rows.take(index).native, accept_sparse="csr", ensure_all_finite=False
        )
        fitted, given = _dense(rows_of_fit(model)[index]), _dense(given)
        agree = np.allclose(fitted, given, rtol=1e-6, equal_nan=True)
    if not agree:
        raise UnreadableModelError(
            f"it was not fitted on these {n_rows} rows, in this order."
        )
    return NeighborWeights(model)


def _dense(rows: Any) -> NDArray[Any]:
    return rows.toarray() if sparse.issparse(rows) else rows

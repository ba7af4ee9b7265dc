"""Models of nearest neighbours: weights of votes, and distances along each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# Metrics that sum a power of the differences over columns, or take a root of this sum:
# the power; None where it is a parameter of the metric.
_POWERS = {"euclidean": 2, "manhattan": 1, "sqeuclidean": 2, "minkowski": None}


def vote_weights(
    model: BaseEstimator, distances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of neighbours, by the model's `weights`."""
    if callable(model.weights):
        return model.weights(distances)
    if model.weights != "distance":
        return np.ones(distances.shape)
    with np.errstate(divide="ignore"):
        weights = 1 / distances
    infinite = np.isinf(weights)
    has_infinite = infinite.any(axis=1)
    weights[has_infinite] = infinite[has_infinite]
    return weights


def distance_terms(
    model: BaseEstimator, differences: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Terms of a sum that orders rows as the distance, from differences of columns.

    Both are (..., n_columns). None where the metric has no such sum.
    """
    metric, params = model.effective_metric_, model.effective_metric_params_
    if metric not in _POWERS:
        return None
    terms = np.abs(differences) ** (_POWERS[metric] or params.get("p", 2))
    return terms if params.get("w") is None else terms * params["w"]

"""Models of nearest neighbours without some training rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.formulas.neighbors import vote_weights
from sklearn_interpret._model.leave_out.training import Training, transform_by_steps
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.response import Response

_CLASSES = (KNeighborsClassifier, KNeighborsRegressor)


@dataclass(frozen=True, eq=False)
class NeighborsWithout:
    """A model of nearest neighbours without rows: the next neighbours replace them.

    Parameters
    ----------
    model : fitted KNeighborsClassifier or KNeighborsRegressor
        The model.
    steps : Pipeline or None
        The steps before the model.
    targets : ndarray of shape (n_rows, q)
        Targets, or indicators of classes, of the training rows.
    deleted : list of ndarray of int
        Positions of the rows that are left out together.
    """

    model: BaseEstimator
    steps: Pipeline | None
    targets: NDArray[np.float64]
    deleted: list[NDArray[np.intp]]
    method: Literal["neighbors"] = "neighbors"

    def baseline(self, response: Response, X: Any) -> NDArray[np.float64]:
        """Responses (m, k) of the model of all rows."""
        return self._responses_of_neighbors(response, *self._neighbors(X))

    def responses(self, response: Response, X: Any) -> Iterator[NDArray[np.float64]]:
        """Responses (m, k) without each of the lists of rows, one after the other."""
        distances, positions = self._neighbors(X)
        base = self._responses_of_neighbors(response, distances, positions)
        for rows in self.deleted:
            is_deleted = np.isin(positions, rows)
            changed = np.flatnonzero(
                is_deleted[:, : self.model.n_neighbors].any(axis=1)
            )
            # Stable sort: the remaining neighbours stay in order of distance.
            order = np.argsort(is_deleted[changed], axis=1, kind="stable")
            values = base.copy()
            if len(changed):
                values[changed] = self._responses_of_neighbors(
                    response,
                    np.take_along_axis(distances[changed], order, axis=1),
                    np.take_along_axis(positions[changed], order, axis=1),
                )
            yield values

    def parameters(self) -> None:
        """None: the model has no parameters."""

    def _neighbors(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Distances and positions of the model's neighbours and of further ones."""
        more = max(map(len, self.deleted))
        inputs = transform_by_steps(self.steps, X)
        return self.model.kneighbors(inputs, self.model.n_neighbors + more)

    def _responses_of_neighbors(
        self,
        response: Response,
        distances: NDArray[np.float64],
        positions: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Responses from the first of the neighbours."""
        model, nearest = self.model, slice(self.model.n_neighbors)
        weights = vote_weights(model, distances[:, nearest])[:, :, None]
        totals = weights.sum(axis=1)
        means = (weights * self.targets[positions[:, nearest]]).sum(axis=1) / totals
        if response.method == "predict" and is_classifier(model):
            return response.read(model.classes_[means.argmax(axis=1)])
        return response.read(means)


def neighbors_without(
    training: Training, response: Response, deleted: list[NDArray[np.intp]]
) -> NeighborsWithout | None:
    """`NeighborsWithout` of a model of neighbours; None for any other model."""
    steps, model = steps_and_model(training.fitted)
    if type(model) not in _CLASSES or model.metric == "precomputed":
        return None
    n_deleted, n_rows = max(map(len, deleted)), training.rows.n_rows
    is_supported = response.method in ("predict", "predict_proba", "centered_log_proba")
    # A frozen model may have seen other rows.
    has_all_rows = model.n_samples_fit_ == n_rows
    if not (is_supported and has_all_rows and model.n_neighbors + n_deleted <= n_rows):
        return None
    targets = training.y.reshape(n_rows, -1)
    if is_classifier(model):
        targets = targets == model.classes_
    return NeighborsWithout(model, steps, targets.astype(np.float64), deleted)

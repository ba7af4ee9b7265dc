"""Models of nearest neighbours without some training rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from sklearn_interpret._model.formulas.neighbors import vote_weights
from sklearn_interpret._model.leave_out.training import Training, transformed
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.response import Response

_OF_NEIGHBORS = (KNeighborsClassifier, KNeighborsRegressor)


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

    model: Any
    steps: Any
    targets: np.ndarray
    deleted: list
    method = "neighbors"

    def baseline(self, response: Response, X: Any) -> np.ndarray:
        """Responses (m, k) of the model of all rows."""
        return self._read(response, *self._found(X))

    def responses(self, response: Response, X: Any) -> Iterator[np.ndarray]:
        """Responses (m, k) without each of the lists of rows, one after the other."""
        distances, places = self._found(X)
        base = self._read(response, distances, places)
        for rows in self.deleted:
            gone = np.isin(places, rows)
            rest = np.flatnonzero(gone[:, : self.model.n_neighbors].any(axis=1))
            # Stable sort: the remaining neighbours stay in order of distance.
            order = np.argsort(gone[rest], axis=1, kind="stable")
            near = [
                np.take_along_axis(of[rest], order, axis=1)
                for of in (distances, places)
            ]
            values = base.copy()
            if len(rest):
                values[rest] = self._read(response, *near)
            yield values

    def parameters(self) -> None:
        """None: the model has no parameters."""

    def _found(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Distances and positions of the model's neighbours and of further ones."""
        more = max(map(len, self.deleted))
        inputs = transformed(self.steps, X)
        return self.model.kneighbors(inputs, self.model.n_neighbors + more)

    def _read(
        self, response: Response, distances: np.ndarray, places: np.ndarray
    ) -> np.ndarray:
        """Responses from the first of the neighbours."""
        model, first = self.model, slice(self.model.n_neighbors)
        weights = vote_weights(model, distances[:, first])[:, :, None]
        totals = weights.sum(axis=1)
        means = (weights * self.targets[places[:, first]]).sum(axis=1) / totals
        if response.method == "predict" and is_classifier(model):
            return response.read(model.classes_[means.argmax(axis=1)])
        return response.read(means)


def neighbors_without(
    training: Training,
    steps: Any,
    model: Any,
    response: Response,
    deleted: list[np.ndarray],
) -> NeighborsWithout | None:
    """`NeighborsWithout`, where the model is one of them; else None."""
    if type(model) not in _OF_NEIGHBORS or model.metric == "precomputed":
        return None
    most, n_rows = max(map(len, deleted)), training.rows.n_rows
    known = response.method in ("predict", "predict_proba", "centered_log_proba")
    # A frozen model may have seen other rows.
    whole = model.n_samples_fit_ == n_rows
    if not (known and whole and model.n_neighbors + most <= n_rows):
        return None
    targets = training.y.reshape(n_rows, -1)
    if is_classifier(model):
        targets = targets == model.classes_
    return NeighborsWithout(model, steps, targets.astype(np.float64), deleted)

"""Explanation of nearest-neighbour predictions: votes and distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sklearn_interpret.explanations._training import TrainingExplanation


@dataclass(frozen=True, eq=False, repr=False)
class NeighborExplanation(TrainingExplanation):
    """Shares of the training rows in the votes of nearest neighbours.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_training)
        Share of each training row in the vote for each explained one.
    training_data : {ndarray, sparse matrix, DataFrame} of n_training rows, default=None
        The training rows.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature; None takes those of the training rows.
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability", "log-odds"...
    target_name : str, default=None
        Name of the target.
    training_names : sequence of length n_training, default=None
        A name for each training row or group; None takes the index of a pandas table,
        or positions.
    training_targets : array-like of shape (n_training, ...), default=None
        Their targets.
    value_name : str, default="value"
        Name of the values.
    neighbors : array-like of shape (n_rows, k), int
        Positions of the training rows that vote, the nearest first.
    distances : array-like of shape (n_rows, k)
        Their distances.
    feature_distances : array-like of shape (n_rows, k, n_features), default=None
        Contribution of each feature to the power of the distance that is a sum over
        features, such as the square of a Euclidean distance. None if no power is.

    Examples
    --------
    >>> from sklearn_interpret.explanations import NeighborExplanation
    >>> explanation = NeighborExplanation(
    ...     values=[[0.5, 0.0, 0.5]],
    ...     training_data=[[1.0, 0.0], [9.0, 9.0], [0.0, 3.0]],
    ...     neighbors=[[0, 2]],
    ...     distances=[[1.0, 3.0]],
    ...     feature_distances=[[[1.0, 0.0], [0.0, 9.0]]],
    ... )
    >>> explanation.feature_distances.sum(axis=2) ** 0.5
    array([[1., 3.]])
    """

    neighbors: np.ndarray = field(kw_only=True)
    distances: np.ndarray = field(kw_only=True)
    feature_distances: np.ndarray | None = field(default=None, kw_only=True)

    _arrays_by_row: ClassVar[tuple] = (
        *TrainingExplanation._arrays_by_row,
        "neighbors",
        "distances",
        "feature_distances",
    )

    def __post_init__(self):
        super().__post_init__()
        shape = len(self), np.shape(self.neighbors)[-1]
        self._set_array("neighbors", shape, np.intp)
        self._set_array("distances", shape)
        if self.feature_distances is not None:
            n_features = len(self.feature_names)
            self._set_array("feature_distances", (*shape, n_features))

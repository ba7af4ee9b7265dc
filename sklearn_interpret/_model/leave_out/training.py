"""A fitted model with the rows that it was fitted on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.rows.base import Rows, copy_of


@dataclass(frozen=True, eq=False)
class Training:
    """A fitted model and its training data.

    Parameters
    ----------
    fitted : fitted predictor
        The model.
    unfitted : predictor
        An unfitted clone.
    rows : Rows
        All rows.
    y : ndarray
        Targets of the rows.
    params : dict
        Further parameters of `fit`.
    weights : ndarray of shape (n_rows,) or None
        Weights among the parameters; None where there are other parameters.
    """

    fitted: BaseEstimator
    unfitted: BaseEstimator
    rows: Rows
    y: NDArray[Any]
    params: dict[str, Any]
    weights: NDArray[np.float64] | None

    def keeps_classes(self, deleted: list[NDArray[np.intp]]) -> bool:
        """Whether rows of each class are left without each of some lists of rows.

        Not if weights are unknown.
        """
        if self.weights is None:
            return False
        labels = np.zeros(len(self.y), dtype=np.intp)
        if is_classifier(self.fitted):
            _, labels = np.unique(self.y, return_inverse=True)
        return leave_rows_of_each_label(labels, self.weights > 0, deleted)


def leave_rows_of_each_label(
    labels: NDArray[np.intp],
    included: NDArray[np.bool_],
    deleted: list[NDArray[np.intp]],
) -> bool:
    """Whether included rows of each label are left without each list of rows."""
    n_labels = labels.max() + 1
    counts = np.bincount(labels[included], minlength=n_labels)
    for rows in deleted:
        labels_deleted = labels[rows[included[rows]]]
        if (counts <= np.bincount(labels_deleted, minlength=n_labels)).any():
            return False
    return True


def transform_by_steps(steps: Pipeline | None, X: Any) -> Any:
    """The columns that the last step of a pipeline gets."""
    return X if steps is None else steps.transform(copy_of(X))

"""A fitted model with the rows that it was fitted on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

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
        Their targets.
    params : dict
        Further parameters of `fit`.
    weights : ndarray of shape (n_rows,) or None
        Weights among the parameters; None where there are other parameters.
    """

    fitted: Any
    unfitted: Any
    rows: Rows
    y: np.ndarray
    params: dict
    weights: Any

    def keeps_classes(self, deleted: list[np.ndarray]) -> bool:
        """Whether rows of each class are left without each of some lists of rows."""
        labels = np.zeros(len(self.y), dtype=np.intp)
        if is_classifier(self.fitted):
            _, labels = np.unique(self.y, return_inverse=True)
        return leave_some(labels, self.weights > 0, deleted)


def leave_some(
    labels: np.ndarray, counted: np.ndarray, deleted: list[np.ndarray]
) -> bool:
    """Whether rows of each label are left without each of some lists of rows."""
    n_labels = labels.max() + 1
    counts = np.bincount(labels[counted], minlength=n_labels)
    taken = [labels[rows[counted[rows]]] for rows in deleted]
    return all((counts > np.bincount(t, minlength=n_labels)).all() for t in taken)


def transformed(steps: Any, X: Any) -> Any:
    """The columns that the last step of a pipeline gets."""
    return X if steps is None else steps.transform(copy_of(X))

"""Groups of training rows that are left out together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.tables import as_objects

if TYPE_CHECKING:
    from sklearn_interpret.explanations import TrainingExplanation


def read_groups(
    groups: Any, n_rows: int, index: NDArray[np.intp] | slice = slice(None)
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Labels of the groups of some rows, sorted, and the position of each row's.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        A label for each row.
    n_rows : int
        Number of rows.
    index : index, default=slice(None)
        Which of these count.

    Returns
    -------
    labels : ndarray of shape (n_groups,)
    codes : ndarray of int
    """
    group_of_row = np.asarray(groups)
    if group_of_row.shape != (n_rows,):
        raise ValueError(
            f"groups has the shape {group_of_row.shape}; a label for each of the "
            f"{n_rows} training rows is needed."
        )
    try:
        labels, codes = np.unique(group_of_row[index], return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"groups has labels that cannot be sorted: {error}."
        ) from error
    if len(labels) < 2:
        raise ValueError(f"groups has the one label {labels[0]!r}: no row would stay.")
    return labels, codes


def influence_blocks(overall: TrainingExplanation) -> list[dict[str, Any]]:
    """Table of a value for each training row or group, the largest absolute first."""
    (values,) = overall.values
    order = np.argsort(-np.abs(values), kind="stable")
    names = as_objects(overall.training_names)[order]
    return [{"training_row": names, "value": values[order]}]


def removal_text(change: str, groups: Any) -> str:
    """Name of a change, with the row or group that is left out."""
    return f"{change} without the {'row' if groups is None else 'group'}"

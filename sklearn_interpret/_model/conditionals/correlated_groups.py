"""Groups of columns that are correlated, by hierarchical clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from sklearn_interpret._model.conditionals.similar_rows import as_targets
from sklearn_interpret._model.rows.features import columns_in

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Largest number of columns that are named in the name of a group.
_NAMED_COLUMNS = 2


def correlated_groups(rows: Rows, weights: NDArray[np.float64]) -> dict[str, Any]:
    """Columns by name of group, or of groups inside: a binary tree without its root.

    Average linkage of one less the correlations.
    """
    if rows.n_columns < 3:  # the groups below the root are single columns
        return {}
    # Unchecked: roots of sums of squares near zero are symmetric only to 1e-8.
    distances = squareform(1 - _correlations(rows, weights), checks=False)
    # Single columns, then the groups that merges make; the last one has all columns.
    clusters: list[Any] = [[j] for j in range(rows.n_columns)]
    members = [[j] for j in range(rows.n_columns)]
    for left, right in linkage(distances, "average")[:, :2].astype(int):
        names = [_group_name(rows.names, members[child]) for child in (left, right)]
        children = [clusters[left], clusters[right]]
        if len(members[left]) == len(members[right]) == 1:
            clusters.append(children[0] + children[1])
        else:
            clusters.append(dict(zip(names, children, strict=True)))
        members.append(members[left] + members[right])
    return {
        name: group
        for name, group in clusters[-1].items()
        if len([*columns_in(group)]) > 1
    }


def _group_name(names: list[str], columns: list[int]) -> str:
    """Name of a group, from its first columns."""
    text = " + ".join(names[column] for column in columns[:_NAMED_COLUMNS])
    n_others = len(columns) - _NAMED_COLUMNS
    return f"{text} + {n_others} more" if n_others > 0 else text


def _correlations(rows: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlations of the ranks of columns, in [0, 1].

    A column of levels is a set of indicators. Of sets of numbers, the correlation is
    the root of the RV coefficient (Robert & Escoufier 1976), which is the absolute
    correlation if each set has one.
    """
    targets = [as_targets(rows, j, weights) for j in range(rows.n_columns)]
    constant = np.zeros((rows.n_rows, 1))
    targets = [target if target.shape[1] else constant for target in targets]
    starts = np.cumsum([0, *(target.shape[1] for target in targets[:-1])])
    joined = np.hstack(targets) * np.sqrt(weights / weights.sum())[:, None]
    squares = np.square(joined.T @ joined)
    sums = np.add.reduceat(np.add.reduceat(squares, starts), starts, axis=1)
    norms = np.sqrt(np.diag(sums))
    scales = np.where(norms > 0, norms, 1.0)
    return np.sqrt(np.clip(sums / scales / scales[:, None], 0, 1))

"""Groups of rows within which values are permuted for conditional importance.

`similar_rows` finds them as leaves of a tree that is pruned (Molnar et al. 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Fewer rows are a poor sample of a distribution, more are less similar.
LEAST_ROWS = 10

# Only the largest categories are predicted, one by one: each is a target of the tree.
_MOST_LEVELS = 32

# Less than this share of the variance at the root is rounding.
_CONSTANT = 1e-12


def similar_rows(
    rows: Rows,
    columns: Sequence[int],
    weights: NDArray[np.float64],
    random_state: int = 0,
) -> NDArray[np.intp]:
    """Number of each row's group, within which `columns` hardly depend on the others.

    Groups are leaves of a regression tree that predicts the columns from all others,
    with at least ten rows. Branches that chance would grow too are cut, so that for
    columns which do not depend on the others all rows are nearly always one group.
    """
    predictors = [j for j in range(rows.n_columns) if j not in columns]
    one_group = np.zeros(rows.n_rows, dtype=np.intp)
    if not predictors or rows.n_rows < 2 * LEAST_ROWS:
        return one_group
    targets = np.hstack([as_targets(rows, j, weights) for j in columns])
    if not targets.shape[1]:
        return one_group
    features = np.column_stack([_ranks(rows, j) for j in predictors])
    tree = DecisionTreeRegressor(
        min_samples_leaf=LEAST_ROWS, random_state=random_state
    ).fit(features, targets, sample_weight=weights)
    leaf = _pruned_leaves(tree.tree_, len(predictors))[tree.apply(features)]
    return np.unique(leaf, return_inverse=True)[1].reshape(-1)


def _is_numeric(rows: Rows, j: int) -> bool:
    return rows.column_array(j).dtype.kind in "iuf" and not rows.is_categorical(j)


def _ranks(rows: Rows, j: int) -> NDArray[np.float64]:
    """A column as ranks of its values or categories, NaN where a number is missing."""
    if not _is_numeric(rows, j):
        return rows.encode([j])[0].astype(np.float64)
    values = rows.column_array(j).astype(np.float64)
    ranks = np.unique(values, return_inverse=True)[1]
    return np.where(np.isnan(values), np.nan, ranks.reshape(-1))


def as_targets(rows: Rows, j: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """A column as what the tree predicts: (n_rows, n_targets) of weighted mean zero.

    Numbers are their ranks, and whether they are missing, each of variance one;
    categories are indicators, together of variance one.
    """
    if _is_numeric(rows, j):
        ranks = _ranks(rows, j)
        missing = np.isnan(ranks)
        mean = 0.0
        if not missing.all():
            mean = np.average(ranks[~missing], weights=weights[~missing])
        targets = [np.where(missing, mean, ranks)[:, None], 1.0 * missing[:, None]]
    else:
        codes = rows.encode([j])[0]
        largest = np.argsort(-np.bincount(codes, weights), kind="stable")
        targets = [1.0 * (codes[:, None] == largest[:_MOST_LEVELS])]
    return np.hstack([_standardise(target, weights) for target in targets])


def _standardise(
    targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Columns centred and scaled to total variance one; no columns if constant."""
    centred = targets - np.average(targets, axis=0, weights=weights)
    scale = np.sqrt(np.average(centred**2, axis=0, weights=weights).sum())
    return centred / scale if scale > 0 else centred[:, :0]


def _pruned_leaves(tree: Any, n_features: int) -> NDArray[np.intp]:
    """For each node of a regression tree, the leaf that holds it after pruning.

    A branch is kept if it reduces the logarithm of the variance within its rows by more
    than the best of all splits of noise would: each of its splits counts as a choice
    among `n_features` times the number of rows thresholds.
    """
    n_rows = tree.n_node_samples
    children = np.stack([tree.children_left, tree.children_right], axis=1)
    # Sums of squares around the means of the leaves below each node, after pruning.
    squares = np.maximum(tree.impurity, tree.impurity[0] * _CONSTANT) * n_rows
    n_splits = np.zeros(tree.node_count)
    inner_nodes = np.flatnonzero(tree.children_left >= 0)
    # Children come after their parents: bottom up, then top down.
    for node in inner_nodes[::-1]:
        splits = n_splits[children[node]].sum() + 1
        squares_of_leaves = squares[children[node]].sum()
        gain = 0.0
        if squares_of_leaves > 0:
            gain = n_rows[node] * np.log(squares[node] / squares_of_leaves)
        if gain > 2 * splits * np.log(n_rows[node] * n_features):
            n_splits[node], squares[node] = splits, squares_of_leaves
    leaf = np.arange(tree.node_count)
    for node in inner_nodes:
        if not n_splits[node] or leaf[node] != node:
            leaf[children[node]] = leaf[node]
    return leaf

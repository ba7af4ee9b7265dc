"""Rows that are alike in all but some columns: leaves of a tree that predicts these."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.statistics.pruning import pruned_leaves

# Fewer rows can't stand for a distribution, more are less alike.
LEAST_ROWS = 10

# Categories beyond these are told apart by nothing but being others.
_MOST_LEVELS = 32


def alike(rows, columns, weights, random_state=0):
    """Groups of rows within which some columns say little about the others.

    Parameters
    ----------
    rows : Rows
        The data.
    columns : tuple of int
        Columns that a regression tree predicts from all others. Branches that chance
        would grow as well are cut, so that columns which do not depend on the others
        nearly always have all rows in one group.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    random_state : int, default=0
        Breaks ties between splits.

    Returns
    -------
    ndarray of shape (n_rows,), intp
        Number of each row's group, from zero. Groups have at least ten rows.
    """
    others = [j for j in range(rows.n_columns) if j not in columns]
    if not others or rows.n_rows < 2 * LEAST_ROWS:
        return np.zeros(rows.n_rows, dtype=np.intp)
    seen = np.column_stack([_ordinal(rows, j) for j in others])
    targets = np.hstack([_predicted(rows, j, weights) for j in columns])
    if not targets.shape[1]:
        return np.zeros(rows.n_rows, dtype=np.intp)
    tree = DecisionTreeRegressor(
        min_samples_leaf=LEAST_ROWS, random_state=random_state
    ).fit(seen, targets, sample_weight=weights)
    nodes = tree.tree_
    stays = pruned_leaves(
        np.column_stack([nodes.children_left, nodes.children_right]),
        nodes.impurity,
        nodes.n_node_samples,
        len(others),
    )
    return np.unique(stays[tree.apply(seen)], return_inverse=True)[1].reshape(-1)


def _is_numeric(rows, j):
    return rows.values(j).dtype.kind in "iuf" and not rows.is_categorical(j)


def _ordinal(rows, j):
    """A column as ranks of its values or categories, NaN where a number is missing."""
    if not _is_numeric(rows, j):
        return rows.encode([j])[0].astype(np.float64)
    values = rows.values(j).astype(np.float64)
    ranks = np.unique(values, return_inverse=True)[1]
    return np.where(np.isnan(values), np.nan, ranks.reshape(-1))


def _predicted(rows, j, weights):
    """What the tree predicts of a column, as columns of weighted mean zero.

    Ranks of numbers, and whether these are missing, each of variance one; or indicators
    of the categories, together of variance one.
    """
    if _is_numeric(rows, j):
        ranks = _ordinal(rows, j)
        missing = np.isnan(ranks)
        mean = 0.0
        if not missing.all():
            mean = np.average(ranks[~missing], weights=weights[~missing])
        parts = [np.where(missing, mean, ranks)[:, None], 1.0 * missing[:, None]]
    else:
        codes = rows.encode([j])[0]
        largest = np.argsort(-np.bincount(codes, weights), kind="stable")
        parts = [1.0 * (codes[:, None] == largest[:_MOST_LEVELS])]
    return np.hstack([_scaled(part, weights) for part in parts])


def _scaled(part, weights):
    """Columns with the mean taken off, and of total variance one; none if of none."""
    part = part - np.average(part, axis=0, weights=weights)
    spread = np.sqrt(np.average(part**2, axis=0, weights=weights).sum())
    return part / spread if spread > 0 else part[:, :0]

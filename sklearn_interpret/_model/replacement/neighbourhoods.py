"""Groups of rows that are similar in all but some columns."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

# Fewer rows are a poor sample of a distribution, more are less similar.
LEAST_ROWS = 10

# Only the largest categories are predicted, one by one.
_MOST_LEVELS = 32

# Less than this share of the variance at the root is rounding.
_ROUNDING = 1e-12


def similar_rows(rows, columns, weights, random_state=0):
    """Number of each row's group, within which columns say little about the others.

    Groups are leaves of a regression tree that predicts the columns from all others,
    with at least ten rows. Branches that chance would grow too are cut, so that for
    columns which do not depend on the others all rows are nearly always one group.
    """
    others = [j for j in range(rows.n_columns) if j not in columns]
    one_group = np.zeros(rows.n_rows, dtype=np.intp)
    if not others or rows.n_rows < 2 * LEAST_ROWS:
        return one_group
    targets = np.hstack([_targets(rows, j, weights) for j in columns])
    if not targets.shape[1]:
        return one_group
    features = np.column_stack([_ordinal(rows, j) for j in others])
    tree = DecisionTreeRegressor(
        min_samples_leaf=LEAST_ROWS, random_state=random_state
    ).fit(features, targets, sample_weight=weights)
    leaf = _pruned_leaves(tree.tree_, len(others))[tree.apply(features)]
    return np.unique(leaf, return_inverse=True)[1].reshape(-1)


def _is_numeric(rows, j):
    return rows.values(j).dtype.kind in "iuf" and not rows.is_categorical(j)


def _ordinal(rows, j):
    """A column as ranks of its values or categories, NaN where a number is missing."""
    if not _is_numeric(rows, j):
        return rows.encode([j])[0].astype(np.float64)
    values = rows.values(j).astype(np.float64)
    ranks = np.unique(values, return_inverse=True)[1]
    return np.where(np.isnan(values), np.nan, ranks.reshape(-1))


def _targets(rows, j, weights):
    """A column as what the tree predicts: (n_rows, n_targets) of weighted mean zero.

    Numbers are their ranks, and whether they are missing, each of variance one;
    categories are indicators, together of variance one.
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
    return np.hstack([_standardised(part, weights) for part in parts])


def _standardised(part, weights):
    """Columns centred, and scaled to total variance one; none if they are constant."""
    part = part - np.average(part, axis=0, weights=weights)
    scale = np.sqrt(np.average(part**2, axis=0, weights=weights).sum())
    return part / scale if scale > 0 else part[:, :0]


def _pruned_leaves(tree, n_features):
    """For each node of a regression tree, the leaf that holds it after pruning.

    A branch is kept if it reduces the logarithm of the variance within its rows by more
    than the best of all splits of noise would: each of its splits counts as a choice
    among `n_features` times the number of rows thresholds.
    """
    left, right, n_rows = tree.children_left, tree.children_right, tree.n_node_samples
    within = np.maximum(tree.impurity, tree.impurity[0] * _ROUNDING) * n_rows
    n_splits = np.zeros(tree.node_count)
    # Children come after their parents: bottom up, then top down.
    for node in np.flatnonzero(left >= 0)[::-1]:
        children = [left[node], right[node]]
        splits, rest = n_splits[children].sum() + 1, within[children].sum()
        gain = n_rows[node] * np.log(within[node] / rest) if rest > 0 else 0.0
        if gain > 2 * splits * np.log(n_rows[node] * n_features):
            n_splits[node], within[node] = splits, rest
    leaf = np.arange(tree.node_count)
    for node in np.flatnonzero(left >= 0):
        if not n_splits[node] or leaf[node] != node:
            leaf[[left[node], right[node]]] = leaf[node]
    return leaf

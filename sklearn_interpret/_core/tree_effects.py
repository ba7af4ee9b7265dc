"""Effects of single features on the raw output of trees, exact and without a grid.

As one feature moves, a row can only reach leaves whose conditions it meets, except
possibly the one on that feature. Such *arrivals* are few: a small multiple of the depth
for each row and tree. They say everything about partial dependence, at every threshold
at once.
"""

import numpy as np

# Pairs of a row and a tree that go down at once; arrivals are some twenty times more.
_PAIRS_AT_ONCE = 2**15


def arrivals(ensemble, codes):
    """Leaves that rows reach with at most one feature free to move.

    At a split a row goes to its own side, and to the other side with that split's
    feature as the free one, unless another feature is free already.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes.

    Yields
    ------
    row : ndarray of shape (m,), intp
        Rows.
    node : ndarray of shape (m,), intp
        Leaf reached, as a node of the ensemble.
    free : ndarray of shape (m,), intp
        The one feature whose condition the row violates; -1 where it violates none.
        Every pair of a row and a leaf with at most one violation comes up once.
    """
    step = max(1, _PAIRS_AT_ONCE // max(ensemble.n_trees, 1))
    for start in range(0, len(codes), step):
        rows = np.arange(start, min(start + step, len(codes)))
        node = np.tile(ensemble.roots, len(rows))
        row = np.repeat(rows, ensemble.n_trees)
        free = np.full(len(node), -1, dtype=np.intp)
        while len(node):
            arrived = ensemble.is_leaf[node]
            yield row[arrived], node[arrived], free[arrived]
            under_way = ~arrived
            row, node, free = _one_level_down(
                ensemble, codes, row[under_way], node[under_way], free[under_way]
            )


def _one_level_down(ensemble, codes, row, node, free):
    """Own sides of all, then other sides of those whose free feature allows it."""
    feature = ensemble.feature[node]
    goes_left = ensemble.goes_left(node, codes[row, feature])
    left, right = ensemble.left[node], ensemble.right[node]
    own = np.where(goes_left, left, right)
    both = np.flatnonzero((free < 0) | (free == feature))
    other = np.where(goes_left[both], right[both], left[both])
    return (
        np.concatenate([row, row[both]]),
        np.concatenate([own, other]),
        np.concatenate([free, feature[both]]),
    )


def arrival_weights(ensemble, boxes, codes, weights):
    """Weight of the rows that arrive at each leaf, by the condition they violate.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    boxes : LeafBoxes
        Their leaves' boxes.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes.
    weights : ndarray of shape (n_rows,)
        The rows' weights.

    Returns
    -------
    inside : ndarray of shape (n_leaves,)
        Of the rows that meet all conditions of the leaf.
    beside : ndarray of shape (n_conditions,)
        Of the rows that meet all conditions of the leaf but this one.
    """
    position = np.full(ensemble.n_nodes, -1, dtype=np.intp)
    position[boxes.leaves] = np.arange(len(boxes.leaves))
    inside = np.zeros(len(boxes.leaves))
    beside = np.zeros(boxes.n_conditions)
    for row, node, free in arrivals(ensemble, codes):
        leaf, weight, violates = position[node], weights[row], free >= 0
        inside += np.bincount(leaf[~violates], weight[~violates], len(inside))
        conditions = boxes.find(leaf[violates], free[violates])
        beside += np.bincount(conditions, weight[violates], len(beside))
    return inside, beside


def partial_dependence_by_code(ensemble, boxes, codes, weights):
    r"""Partial dependence of the raw output on every feature, at every code.

    With :math:`w_l` the value of leaf l, :math:`a_{lj}` its condition on feature j, and
    :math:`g_l[T]` the share of rows that meet the conditions T of its box
    :math:`F_l`,

    .. math:: PD_j(v) = \sum_{l: j \in F_l} w_l\, g_l[F_l \setminus j]\, a_{lj}(v)
        + \sum_{l: j \notin F_l} w_l\, g_l[F_l].

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    boxes : LeafBoxes
        Their leaves' boxes.
    codes : ndarray of shape (n_rows, n_features)
        Codes of the rows to average over.
    weights : ndarray of shape (n_rows,)
        Their weights.

    Returns
    -------
    list of ndarray of shape (n_codes, k)
        For each feature, the mean raw output with the feature at each of its codes; the
        last code stands for missing values.
    """
    total = weights.sum()
    inside, beside = arrival_weights(ensemble, boxes, codes, weights)
    values = ensemble.value[boxes.leaves]
    met = (inside / total)[:, None] * values
    everywhere = ensemble.base + met.sum(axis=0)
    order = np.argsort(boxes.feature, kind="stable")
    ends = np.searchsorted(boxes.feature[order], np.arange(ensemble.n_features + 1))
    curves = []
    for j, n_codes in enumerate(ensemble.split_codes.n_codes):
        conditions = order[ends[j] : ends[j + 1]]
        leaf = boxes.leaf[conditions]
        amounts = met[leaf] + (beside[conditions] / total)[:, None] * values[leaf]
        constant = everywhere - met[leaf].sum(axis=0)
        curves.append(constant + boxes.curve(conditions, amounts, n_codes))
    return curves

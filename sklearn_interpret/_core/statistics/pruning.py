"""Which branches of a regression tree say more than chance would."""

import numpy as np

# Of the variance at the root: what is less is rounding.
_ROUNDING = 1e-12


def pruned_leaves(children, impurity, n_rows, n_features):
    """The node at which each node's rows stay when branches of chance are cut.

    A branch is kept if it reduces the logarithm of the variance within its rows by more
    than the best of all splits of noise would: each of its splits counts as a choice
    among `n_features` times the number of rows thresholds.

    Parameters
    ----------
    children : ndarray of shape (n_nodes, 2), intp
        Children of each node, after their parent; -1 for leaves.
    impurity : ndarray of shape (n_nodes,)
        Variance within each node.
    n_rows : ndarray of shape (n_nodes,)
        Rows of each node, or their weight.
    n_features : int
        Features that a split was chosen from.

    Returns
    -------
    ndarray of shape (n_nodes,), intp
        Itself for what is left a node.
    """
    least = impurity[0] * _ROUNDING
    within = np.maximum(impurity, least) * n_rows
    n_splits = np.zeros(len(children))
    kept = np.zeros(len(children), dtype=bool)
    for node in range(len(children) - 1, -1, -1):
        left, right = children[node]
        if left < 0:
            continue
        splits, rest = n_splits[[left, right]].sum() + 1, within[[left, right]].sum()
        gain = n_rows[node] * np.log(within[node] / rest) if rest > 0 else 0.0
        if gain > 2 * splits * np.log(n_rows[node] * n_features):
            kept[node], n_splits[node], within[node] = True, splits, rest
    stays = np.arange(len(children))
    stays[0] = 0
    for node in range(len(children)):
        ended = not kept[node] or stays[node] != node
        for child in children[node]:
            if child >= 0 and ended:
                stays[child] = stays[node]
    return stays

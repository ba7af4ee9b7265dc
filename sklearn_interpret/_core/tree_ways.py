"""Ways of rows down large trees, some of them as if a part could be anywhere.

A row goes its own way from the root to a leaf. At each split on a part another way sets
out, on which that part is left open: at the part's splits it goes to both sides, at all
others to the row's. Of large trees a row meets so few nodes that this is quicker than
to look which rows meet each condition.
"""

import numpy as np

# The part of a row's own way.
OWN = -1


def ways_down(ensemble, player, codes, root):
    """Leaves of a tree that rows reach, themselves or with a part left open.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    player : ndarray of shape (n_nodes,), int
        The part that each node splits on; `OWN` - 1 where it splits on none.
    codes : ndarray of shape (n_rows, n_features), int
        The rows' codes.
    root : int
        Root of the tree.

    Returns
    -------
    row, leaf : ndarray of shape (n,), intp
        The rows, and leaves at which they arrive.
    part : ndarray of shape (n,), int
        What is left open, or `OWN`. Besides its own leaf a row reaches those that
        another part could lead it to.
    name : ndarray of shape (n,), intp
        The node that names the leaf's condition on that part; `root` for `OWN`.
    """
    row = np.arange(len(codes))
    node, name = np.full((2, len(codes)), root)
    part = np.full(len(codes), OWN, dtype=player.dtype)
    codes, n_features = codes.ravel(), codes.shape[1]
    arrived = []
    while len(row):
        at_leaf = ensemble.is_leaf[node]
        ends, under_way = np.flatnonzero(at_leaf), np.flatnonzero(~at_leaf)
        arrived.append([each[ends] for each in (row, node, part, name)])
        row, node, part, name = (each[under_way] for each in (row, node, part, name))
        code = codes[row * n_features + ensemble.feature[node]]
        left = ensemble.goes_left(node, code)
        first, second = ensemble.left[node], ensemble.right[node]
        taken, other = np.where(left, first, second), np.where(left, second, first)
        split_on = player[node]
        again = part == split_on
        name = np.where(again, taken, name)
        leaves = np.flatnonzero(again | ((part == OWN) & (split_on > OWN)))
        row = np.concatenate([row, row[leaves]])
        node = np.concatenate([taken, other[leaves]])
        part = np.concatenate([part, split_on[leaves]])
        name = np.concatenate([name, other[leaves]])
    return [np.concatenate(pieces) for pieces in zip(*arrived, strict=True)]

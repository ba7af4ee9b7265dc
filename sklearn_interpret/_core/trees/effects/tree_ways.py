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
    n_rows, n_features = codes.shape
    row = np.arange(n_rows)
    node, name = np.full((2, n_rows), root)
    part = np.full(n_rows, OWN, dtype=player.dtype)
    codes, arrived = codes.ravel(), []
    while len(row):
        at_leaf = ensemble.is_leaf.take(node)
        ends, under_way = np.flatnonzero(at_leaf), np.flatnonzero(~at_leaf)
        arrived.append([each.take(ends) for each in (row, node, part, name)])
        row, node, part, name = (
            each.take(under_way) for each in (row, node, part, name)
        )
        code = codes.take(row * n_features + ensemble.feature.take(node))
        left = ensemble.goes_left(node, code)
        first, second = ensemble.left.take(node), ensemble.right.take(node)
        taken, split_on = np.where(left, first, second), player.take(node)
        # Own ways stand first. They go on, and leave the part open; ways on which it
        # is open already go to both sides.
        n_own = np.searchsorted(under_way, n_rows)
        again = n_own + np.flatnonzero(part[n_own:] == split_on[n_own:])
        name[again] = taken.take(again)
        n_rows = n_own
        forks = np.append(np.flatnonzero(split_on[:n_own] > OWN), again)
        other = first.take(forks) + second.take(forks) - taken.take(forks)
        row = np.append(row, row.take(forks))
        node = np.append(taken, other)
        part = np.append(part, split_on.take(forks))
        name = np.append(name, other)
    return [np.concatenate(pieces) for pieces in zip(*arrived, strict=True)]

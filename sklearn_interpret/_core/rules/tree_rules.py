"""Nodes of trees on ranks, as rules."""

import numpy as np


def node_rules(left, right, column, cut, n_known):
    """The way to each node of a tree, as a rule.

    Parameters
    ----------
    left, right : ndarray of shape (n_nodes,), int
        Children of each node, behind it, or -1 at leaves; the first node is the root.
    column : ndarray of shape (n_nodes,), int
        Column that a node splits.
    cut : ndarray of shape (n_nodes,)
        Ranks up to it go to the left.
    n_known : ndarray of shape (n_columns,), int
        Known values of a column have ranks below, missing ones have twice this rank.

    Returns
    -------
    list of tuple of (column, first, last)
        One interval of ranks for each column on the way, in the order of the columns.
        Where it has known ranks and the missing one, of the known ones: a missing value
        meets no condition on these.
    """
    n_known = n_known.tolist()
    ways = [{} for _ in left]
    for node in np.flatnonzero(left >= 0):
        way, j, last = ways[node], int(column[node]), int(np.floor(cut[node]))
        low, high = way.get(j, (0, 2 * n_known[j]))
        ways[left[node]] = {**way, j: (low, last)}
        ways[right[node]] = {**way, j: (last + 1, high)}
    return [
        tuple(
            (j, first, last if first >= n_known[j] else min(last, n_known[j] - 1))
            for j, (first, last) in sorted(way.items())
        )
        for way in ways
    ]

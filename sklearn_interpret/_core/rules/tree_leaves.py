"""Leaves of trees on codes, as rules."""

from sys import maxsize

import numpy as np

from sklearn_interpret._core.rules.conditions import merged


def leaf_rules(left, right, column, cut):
    """The way to each leaf of a tree, as a rule.

    Parameters
    ----------
    left, right : ndarray of shape (n_nodes,), int
        Children of each node, -1 at leaves; the first node is the root.
    column : ndarray of shape (n_nodes,), int
        Column that a node splits.
    cut : ndarray of shape (n_nodes,)
        Codes up to it go to the left.

    Returns
    -------
    list of list of (column, first, last)
        Conditions of each leaf, one for each column, in their order. An interval
        without end is one up to `sys.maxsize`.
    """
    rules, ways = [], [(0, [])]
    while ways:
        node, way = ways.pop()
        if left[node] < 0:
            rules.append(sorted(merged(way)))
            continue
        j, last = int(column[node]), int(np.floor(cut[node]))
        ways.append((right[node], [*way, (j, last + 1, maxsize)]))
        ways.append((left[node], [*way, (j, 0, last)]))
    return rules

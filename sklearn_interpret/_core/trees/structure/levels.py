"""Nodes of trees in the order in which rows go down: level by level."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, eq=False)
class Levels:
    """Nodes of some trees level by level, on each all left children before all right.

    Arrays in this order are read and written in one stretch, level after level.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,), intp
        The nodes.
    split_places, leaf_places : ndarray of intp
        Where among these the splits stand, and the leaves; increasing.
    edges : ndarray of shape (n_levels,), intp
        Where the splits of each level but the last start, and where they end.
    n_roots : int
        Number of trees.
    """

    nodes: np.ndarray
    split_places: np.ndarray
    leaf_places: np.ndarray
    edges: np.ndarray
    n_roots: int

    @classmethod
    def below(cls, ensemble, roots):
        """Levels of the trees with these roots."""
        levels, edges, nodes = [], [0], roots
        while len(nodes):
            levels.append(nodes)
            splits = nodes[~ensemble.is_leaf[nodes]]
            edges.append(edges[-1] + len(splits))
            nodes = np.concatenate([ensemble.left[splits], ensemble.right[splits]])
        nodes = np.concatenate(levels)
        is_leaf = ensemble.is_leaf[nodes]
        places = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
        return cls(nodes, *places, np.array(edges[:-1]), len(roots))

    @property
    def splits(self):
        """Nodes of the splits."""
        return self.nodes[self.split_places]

    @property
    def leaves(self):
        """Nodes of the leaves."""
        return self.nodes[self.leaf_places]

    def steps(self):
        """Level by level where its splits, their left and right children stand.

        The first slice is one of splits, the others are of nodes.
        """
        for start, stop in pairwise(self.edges.tolist()):
            first, n = self.n_roots + 2 * start, stop - start
            left, right = slice(first, first + n), slice(first + n, first + 2 * n)
            yield slice(start, stop), left, right

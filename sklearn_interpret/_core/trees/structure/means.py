"""Mean outputs of the training rows that reached a node, by its cover."""

from itertools import pairwise

import numpy as np


def cover_shares(ensemble):
    """Share of each node in its parent's cover; halves where there is none."""
    above = ensemble.cover[ensemble.parents]
    halves = np.full(ensemble.n_nodes, 0.5)
    shares = np.divide(ensemble.cover, above, out=halves, where=above > 0)
    shares[ensemble.parents < 0] = 1
    return shares


def node_means(ensemble):
    """Mean value of the leaves below each node, by their cover: (n_nodes, k)."""
    means, shares = ensemble.value.copy(), cover_shares(ensemble)[:, None]
    levels = list(pairwise(ensemble.levels()))
    for above, level in reversed(levels):
        parts = shares[level] * means[level]
        splits = above[~ensemble.is_leaf[above]]
        means[splits] = parts[::2] + parts[1::2]  # siblings are side by side
    return means

"""Shapley values of games from the values of all coalitions.

Coalitions are numbered by their members: player j counts 2**j.
"""

from functools import lru_cache
from math import comb

import numpy as np


def all_coalitions(n_players):
    """All coalitions between nobody and everybody, by number: (m, n_players) bool."""
    numbers = np.arange(1, max(2**n_players - 1, 1))
    return ((numbers[:, None] >> np.arange(n_players)) & 1).astype(bool)


def values_of_all(values):
    r"""Shapley values (n_players, k) from values of all coalitions (2**n_players, k).

    The mean of :math:`v(S \cup j) - v(S)` over sizes of S, and for each size over all S
    without j.
    """
    n_players, k = _n_players(values), values.shape[1]
    shares = np.empty((n_players, k))
    for j in range(n_players):
        split = values.reshape(-1, 2, 2**j, k)  # by whether j is present
        gains = (split[:, 1] - split[:, 0]).reshape(-1, k)
        shares[j] = (gains * _weights(n_players, 1)).sum(axis=0)
    return shares


def interactions_of_all(values):
    r"""Shapley interaction values (n_players, n_players, k) of pairs.

    Half the mean of :math:`v(S \cup ij) - v(S \cup i) - v(S \cup j) + v(S)` over sizes
    of S, and for each size over all S without i and j; zero on the diagonal. `values`
    are those of all coalitions, (2**n_players, k).
    """
    n_players, k = _n_players(values), values.shape[1]
    pairs = np.zeros((n_players, n_players, k))
    for j in range(n_players):
        for i in range(j):
            # By whether j and i are present.
            split = values.reshape(-1, 2, 2 ** (j - i - 1), 2, 2**i, k)
            both = split[:, 1, :, 1] - split[:, 1, :, 0]
            gains = (both - (split[:, 0, :, 1] - split[:, 0, :, 0])).reshape(-1, k)
            pairs[i, j] = (gains * _weights(n_players, 2)).sum(axis=0) / 2
            pairs[j, i] = pairs[i, j]
    return pairs


def _n_players(values):
    return len(values).bit_length() - 1


@lru_cache(maxsize=32)
def _weights(n_players, order):
    """Weight of each coalition of all players but `order` of them, (n, 1)."""
    n_others = n_players - order
    sizes = np.bitwise_count(np.arange(2**n_others))
    of_size = [
        1 / ((n_others + 1) * comb(n_others, size)) for size in range(n_others + 1)
    ]
    return np.array(of_size)[sizes, None]

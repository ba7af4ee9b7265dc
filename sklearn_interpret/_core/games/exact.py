"""Shapley values of games whose coalitions have all been asked about.

Coalitions are numbered by their members: player j counts 2**j.
"""

from functools import lru_cache
from math import comb

import numpy as np


def all_coalitions(n_players):
    """All coalitions but the empty one and that of all players.

    Parameters
    ----------
    n_players : int
        Number of players.

    Returns
    -------
    ndarray of shape (2**n_players - 2, n_players), bool
        By number; none where there are no players.
    """
    numbers = np.arange(1, max(2**n_players - 1, 1))
    return ((numbers[:, None] >> np.arange(n_players)) & 1).astype(bool)


def values_of_all(values):
    r"""Shapley values.

    Parameters
    ----------
    values : ndarray of shape (2**n_players, k)
        Values of all coalitions, by number.

    Returns
    -------
    ndarray of shape (n_players, k)

    Notes
    -----
    Shapley's formula: the mean of :math:`v(S \cup j) - v(S)` over sizes of S, and for
    each size over all S without j.
    """
    n_players = _n_players(values)
    shares = np.empty((n_players, values.shape[1]))
    if n_players < 1:
        return shares
    weights = _weights(n_players, 1)[:, None]
    for j in range(n_players):
        without, joined = np.moveaxis(_by_membership(values, (j,)), 1, 0)
        gains = (joined - without).reshape(-1, values.shape[1])
        shares[j] = (gains * weights).sum(axis=0)
    return shares


def interactions_of_all(values):
    r"""Shapley interaction values of pairs.

    Parameters
    ----------
    values : ndarray of shape (2**n_players, k)
        Values of all coalitions, by number.

    Returns
    -------
    ndarray of shape (n_players, n_players, k)
        Half of what two players do together beyond what each does alone; zero on the
        diagonal.

    Notes
    -----
    The mean of :math:`v(S \cup ij) - v(S \cup i) - v(S \cup j) + v(S)` over sizes of S,
    and for each size over all S without i and j.
    """
    n_players, k = _n_players(values), values.shape[1]
    pairs = np.zeros((n_players, n_players, k))
    if n_players < 2:
        return pairs
    weights = _weights(n_players, 2)[:, None] / 2
    for j in range(n_players):
        for i in range(j):
            split = _by_membership(values, (i, j))
            both = split[:, 1, :, 1] - split[:, 1, :, 0]
            gains = (both - (split[:, 0, :, 1] - split[:, 0, :, 0])).reshape(-1, k)
            pairs[i, j] = pairs[j, i] = (gains * weights).sum(axis=0)
    return pairs


def _n_players(values):
    return len(values).bit_length() - 1


def _by_membership(values, players):
    """Values with an axis of absence and presence for each of one or two players."""
    if len(players) == 1:
        (j,) = players
        return values.reshape(-1, 2, 2**j, values.shape[1])
    i, j = players
    return values.reshape(-1, 2, 2 ** (j - i - 1), 2, 2**i, values.shape[1])


@lru_cache(maxsize=32)
def _weights(n_players, order):
    """Weight of each coalition of all players but `order` of them, by number."""
    n_others = n_players - order
    sizes = np.bitwise_count(np.arange(2**n_others))
    of_size = [
        1 / ((n_others + 1) * comb(n_others, size)) for size in range(n_others + 1)
    ]
    return np.array(of_size)[sizes]

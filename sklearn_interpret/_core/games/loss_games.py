r"""Shapley values of games whose value is the loss that players remove.

The value of a coalition S is the mean loss of the mean response f_0 less that of f_S,
the response to rows whose other players are averaged out (Covert, Lundberg & Lee 2020):
:math:`v(S) = E[L(y, f_\emptyset)] - E[L(y, f_S)]`.

With components g_U, :math:`f_S = \sum_{U \subseteq S} g_U`, the game of the squared
error is a sum of unanimity games, with r the residual of f_0:

.. math:: v(S) = \sum_{U \subseteq S} 2 E[r g_U] - \sum_{U \cup V \subseteq S}
    E[g_U g_V], \qquad \phi_j = \sum_{U \ni j} \frac{2 E[r g_U]}{|U|}
    - \sum_{U \cup V \ni j} \frac{E[g_U g_V]}{|U \cup V|}
"""

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.statistics.weighted import student_factor


def membership(sets: list[tuple[int, ...]], n_players: int) -> NDArray[np.float64]:
    """Members of sets of players as (n_sets, n_players) of zeros and ones."""
    members = np.zeros((len(sets), n_players))
    for row, players in enumerate(sets):
        members[row, list(players)] = 1.0
    return members


def squared_error_moments(
    components: NDArray[np.float64],
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted sums of r g_U (n_sets,) and of g_U g_V (n_sets, n_sets).

    Components (m, n_sets, k) and residuals (m, k) are summed over rows and outputs.
    """
    scales = np.sqrt(weights)[:, None]
    residuals = (scales * residuals).ravel()
    products = (scales[:, None] * components).transpose(0, 2, 1)
    products = products.reshape(len(residuals), -1)
    return residuals @ products, products.T @ products


def squared_error_values(
    members: NDArray[np.float64], linear: NDArray[np.float64], gram: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Shapley values (n_players,) from E[r g_U] and E[g_U g_V] of nonempty sets."""
    sizes = members.sum(axis=1)
    shares = gram / (sizes[:, None] + sizes - members @ members.T)
    # Of the pairs of sets with j in one of them, pairs with j in both count once.
    single = 2 * (linear / sizes - shares.sum(axis=1)) @ members
    return single + ((shares @ members) * members).sum(axis=0)


def nested_squared_error_values(
    members: NDArray[np.float64],
    linear: NDArray[np.float64],
    gram: NDArray[np.float64],
    hierarchy: Hierarchy,
) -> NDArray[np.float64]:
    """As `squared_error_values`, with players credited inside their groups.

    In a unanimity game, groups that have members of its set get equal parts, level by
    level.
    """
    values = np.empty(hierarchy.n_players)
    for player, is_member in enumerate(members.T > 0):
        share = is_member.astype(np.float64)
        share_of_union = np.logical_or.outer(is_member, is_member).astype(np.float64)
        for groups in hierarchy.sibling_groups(player):
            meets = (members @ groups.T > 0).astype(np.float64)
            n_groups = meets.sum(axis=1)
            share /= 1 + n_groups
            share_of_union /= 1 + n_groups[:, None] + n_groups - meets @ meets.T
        values[player] = 2 * linear @ share - (gram * share_of_union).sum()
    return values


def responses_of_coalitions(
    coalitions: NDArray[np.bool_],
    members: NDArray[np.float64],
    components: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sums of components (m, n_sets, k) within coalitions (m or 1, c, n_players)."""
    within = coalitions.astype(np.float64) @ members.T == members.sum(axis=1)
    return within.astype(np.float64) @ components


def paired_coalitions(orders: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Coalitions of the first players of orders (m, r, n_players) and their reverses.

    Returns (m, 2 r (n_players - 1), n_players), bool: neither empty nor complete.
    """
    n_players = orders.shape[-1]
    ranks = np.argsort(orders, axis=-1)
    joined = ranks[:, :, None] < np.arange(1, n_players)[:, None]
    pairs = np.stack([joined, ~joined[:, :, ::-1]], axis=2)
    return pairs.reshape(len(orders), -1, n_players)


def paired_gains(
    orders: NDArray[np.intp], losses: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Losses that players remove, mean of an order and its reverse: (m, r, n_players).

    `losses` (m, 2 r (n_players - 1) + 2) are the losses of the empty coalition, of
    `paired_coalitions`, and of the complete coalition.
    """
    m, r, n_players = orders.shape
    path = np.empty((m, r, 2, n_players + 1))
    path[..., 1:-1] = losses[:, 1:-1].reshape(m, r, 2, n_players - 1)
    path[..., 0] = losses[:, 0, None, None]
    path[..., -1] = losses[:, -1, None, None]
    removed = path[..., :-1] - path[..., 1:]
    gains = np.empty((m, r, n_players))
    means = (removed[:, :, 0] + removed[:, :, 1, ::-1]) / 2
    np.put_along_axis(gains, orders, means, axis=-1)
    return gains


def means_of_draws(
    gains: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted means over rows of gains (n, m, p) from m draws each, and their errors.

    Errors stem from the draws only; 1.96 errors to each side are an interval of 95 %,
    by Satterthwaite's degrees of freedom.
    """
    n_draws, shares = gains.shape[1], weights / weights.sum()
    variances = shares[:, None] ** 2 * gains.var(axis=1, ddof=1) / n_draws
    total = variances.sum(axis=0)
    errors, varies = np.zeros(len(total)), total > 0
    rows = variances[:, varies] / total[varies]
    degrees = (n_draws - 1) / np.square(rows).sum(axis=0)
    errors[varies] = student_factor(degrees) * np.sqrt(total[varies])
    return shares @ gains.mean(axis=1), errors

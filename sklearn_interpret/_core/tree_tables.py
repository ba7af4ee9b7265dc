r"""Shapley and interaction values of products of conditions.

A leaf is worth its value times the product of its d conditions, each 0 or 1. What that
says of a row depends on the row's *pattern* only: bit i says whether it meets condition
i. With :math:`f_k(t) = t a_k + (1 - t) z_k`, where a is the row's pattern and z what
stands for an absent player, the Shapley value of condition i is
:math:`\int_0^1 (a_i - z_i) \prod_{k \ne i} f_k(t) dt` (Owen 1972), and the interaction
value of conditions i and j, which each of the two gets, is half of
:math:`\int_0^1 (a_i - z_i)(a_j - z_j) \prod_{k \ne i, j} f_k(t) dt`.

*Terms* name what to compute: the tuples ``(i,)`` for values, the pairs ``(i, j)`` with
i < j for interactions.
"""

from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.special import beta, roots_legendre


def terms(d, order):
    """Terms of `order` conditions out of `d`."""
    return list(combinations(range(d), order))


@lru_cache(maxsize=128)
def quadrature(degree):
    """Gauss-Legendre points and weights on [0, 1], exact up to a degree."""
    points, weights = roots_legendre(max(degree, 0) // 2 + 1)
    return (points + 1) / 2, weights / 2


def product_gains(met, chances, order):
    """Values of all terms where absent conditions are met independently by chance.

    Parameters
    ----------
    met : list of d ndarray of shape (n_leaves, m), bool
        Which conditions are met in each of m situations.
    chances : list of d ndarray of shape (n_leaves, 1)
        Probability that the condition is met while its player is absent, z.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Yields
    ------
    ndarray of shape (n_leaves, m)
        Values, term after term. Each number depends on its own leaf and situation
        only, to the last bit.
    """
    d = len(met)
    points, weights = (part[:, None, None] for part in quadrature(d - order))
    factors = [(1 - points) * chances[k] + points * met[k] for k in range(d)]
    gains = [met[k] - chances[k] for k in range(d)]
    # Products of all factors behind each one.
    behind = [None] * d
    behind[-1:] = [np.ones((1, 1, 1))]
    for k in range(d - 1, 0, -1):
        behind[k - 1] = behind[k] * factors[k]
    before = weights / order
    for i in range(d):
        if order == 1:
            yield _total(before * behind[i]) * gains[i]
        else:
            between = before
            for j in range(i + 1, d):
                yield _total(between * behind[j]) * (gains[i] * gains[j])
                between = between * factors[j]
        before = before * factors[i]


def _total(parts):
    """Sum over the points, one after the other: the same for any number of rows."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


@lru_cache(maxsize=32)
def comparison_matrix(d, order):
    r"""Values of all terms, by the patterns of a row and of one that stands in for it.

    With u conditions that only the row meets and v that only the other meets, and none
    that neither meets, the integral is a beta function.

    Parameters
    ----------
    d : int
        Number of conditions.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (2**d, n_terms * 2**d)
        By the other's pattern; and by term and the row's pattern.
    """
    patterns = np.arange(2**d)
    bits = (patterns[:, None] >> np.arange(d)) & 1
    gains = bits[None, :, :] - bits[:, None, :]
    n_gained, n_lost = (gains > 0).sum(axis=2), (gains < 0).sum(axis=2)
    possible = (patterns[:, None] | patterns) == 2**d - 1
    matrix = np.zeros((len(patterns), len(terms(d, order)), len(patterns)))
    for column, term in enumerate(terms(d, order)):
        part = gains[:, :, list(term)]
        sign = np.where(possible, part.prod(axis=2), 0)
        other, row = np.nonzero(sign)
        n_here = (part[other, row] > 0).sum(axis=1)
        integral = beta(
            n_gained[other, row] - n_here + 1,
            n_lost[other, row] - (order - n_here) + 1,
        )
        matrix[other, column, row] = sign[other, row] * integral / order
    return matrix.reshape(len(patterns), -1)


def comparison_tables(shares, order):
    """Values of all terms for every pattern, in the mean over rows that stand in.

    Parameters
    ----------
    shares : ndarray of shape (n_leaves, 2**d)
        Share of those rows with each pattern.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_leaves, n_terms, 2**d)
        By term and the explained row's pattern.
    """
    n_leaves, n_patterns = shares.shape
    d = n_patterns.bit_length() - 1
    tables = shares @ comparison_matrix(d, order)
    return tables.reshape(n_leaves, -1, n_patterns)


def comparison_gains(patterns, others, shares, d, order):
    """Values of all terms at some patterns, in the mean over rows that stand in.

    Parameters
    ----------
    patterns : ndarray of shape (n,), integer
        Patterns of explained rows.
    others : ndarray of shape (m,), integer
        Patterns of the rows that stand in.
    shares : ndarray of shape (m,)
        Their shares.
    d : int
        Number of conditions.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_terms, n)
        The same as in `comparison_tables`, from the pairs of rows of which one meets
        what the other fails: for many conditions these are few.
    """
    everything = (1 << d) - 1
    lost = everything - patterns.astype(np.int64)
    gained = everything - others.astype(np.int64)
    row, other = np.nonzero((lost[:, None] & gained) == 0)
    lost, gained, shares = lost[row], gained[other], shares[other] / order
    n_lost, n_gained = _count(lost), _count(gained)
    weights = [  # by how many conditions of the term are lost
        shares * (-1) ** k * _beta(n_gained - order + k + 1, n_lost - k + 1)
        for k in range(order + 1)
    ]
    gains = np.empty((len(terms(d, order)), len(patterns)))
    for place, term in enumerate(terms(d, order)):
        lost_here = sum((lost >> k) & 1 for k in term)
        here = sum((gained >> k) & 1 for k in term) + lost_here == order
        weight = np.choose(lost_here[here], [part[here] for part in weights])
        gains[place] = np.bincount(row[here], weight, len(patterns))
    return gains


def _count(numbers):
    return np.bitwise_count(numbers).astype(np.intp)


def _beta(a, b):
    """Beta function of whole numbers, zero where it has no value."""
    return np.where((a > 0) & (b > 0), beta(np.maximum(a, 1), np.maximum(b, 1)), 0.0)

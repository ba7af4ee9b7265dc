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
from scipy.sparse import csr_array
from scipy.special import beta, roots_legendre


def terms(d, order):
    """Terms of `order` conditions out of `d`."""
    return list(combinations(range(d), order))


def term_place(term, d):
    """Position of a term among those of `d` conditions, an array of numbers."""
    if len(term) == 1:
        return np.full_like(d, term[0])
    i, j = term
    return i * (2 * d - i - 1) // 2 + j - i - 1


def column_table(d, order):
    """Position of each term of `d` conditions, whatever the order of its members."""
    table = np.zeros((d,) * order, dtype=np.intp)
    for column, term in enumerate(terms(d, order)):
        table[term] = table[term[::-1]] = column
    return table


@lru_cache(maxsize=128)
def quadrature(degree):
    """Gauss-Legendre points and weights on [0, 1], exact up to a degree."""
    points, weights = roots_legendre(max(degree, 0) // 2 + 1)
    return (points + 1) / 2, weights / 2


def product_gains(gains, chances, order):
    """Values of all terms where absent conditions are met independently by chance.

    Parameters
    ----------
    gains : list of d ndarray of shape (n_leaves, m)
        By condition: whether it is met (0 or 1) in each of m situations, minus its
        chance.
    chances : list of d ndarray of shape (n_leaves, 1)
        Probability that the condition is met while its player is absent, z.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Yields
    ------
    ndarray of shape (n_leaves, m)
        Values, term after term. Each number depends on its leaf and situation only, to
        the last bit.
    """
    d = len(gains)
    points, weights = (part[:, None, None] for part in quadrature(d - order))
    factors = [points * gain for gain in gains]
    for factor, chance in zip(factors, chances, strict=True):
        factor += chance
    # Products of all factors behind each one.
    behind = [np.ones((1, 1, 1))] * d
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
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


@lru_cache(maxsize=128)
def comparison_integrals(d, order):
    r"""Integrals by how many conditions only the row, and only the other, meets.

    With u and v of these, and k of the term's conditions among the latter, that is
    :math:`\int_0^1 t^{u - (order - k)} (1 - t)^{v - k} dt`, with the sign of the term,
    over `order`; 0 where there is no such pair of rows.

    Parameters
    ----------
    d : int
        Number of conditions.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (order + 1, d + 1, d + 1)
        By k, u and v.
    """
    k, u, v = np.ogrid[: order + 1, : d + 1, : d + 1]
    a, b = u - (order - k) + 1, v - k + 1
    integrals = beta(np.maximum(a, 1), np.maximum(b, 1))
    return np.where((a > 0) & (b > 0), (-1.0) ** k * integrals / order, 0.0)


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
    integrals = comparison_integrals(d, order)
    matrix = np.zeros((len(patterns), len(terms(d, order)), len(patterns)))
    for column, term in enumerate(terms(d, order)):
        part = gains[:, :, list(term)]
        other, row = np.nonzero(possible & part.all(axis=2))
        n_lost_here = (part[other, row] < 0).sum(axis=1)
        matrix[other, column, row] = integrals[
            n_lost_here, n_gained[other, row], n_lost[other, row]
        ]
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


def comparison_gains(lost, gained, shares, order):
    """Values of all terms for some rows, in the mean over rows that stand in.

    Parameters
    ----------
    lost : ndarray of shape (d, n), bool
        Conditions that the explained rows fail.
    gained : ndarray of shape (d, m), bool
        Conditions that the rows that stand in fail.
    shares : ndarray of shape (m,)
        Their shares.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_terms, n)
        The same as in `comparison_tables`, from the pairs of rows of which one meets
        what the other fails: for many conditions these are few. A row's numbers do not
        depend on the other rows, to the last bit.
    """
    clashes = lost.T.astype(np.float32) @ gained.astype(np.float32)
    row, other = np.nonzero(clashes == 0)
    integrals = comparison_integrals(len(lost), order)
    n_lost, n_gained = lost.sum(axis=0)[row], gained.sum(axis=0)[other]
    weights = integrals[:, n_gained, n_lost] * shares[other]
    shape = (lost.shape[1], gained.shape[1])
    if order == 1:
        won = csr_array((weights[0], (row, other)), shape=shape)
        minus = np.bincount(row, weights[1], shape[0])
        return (won @ gained.T.astype(np.float64)).T + lost * minus
    gains = np.empty((len(terms(len(lost), order)), shape[0]))
    for place, (i, j) in enumerate(terms(len(lost), order)):
        n_here = lost[i, row].astype(np.intp) + lost[j, row]
        here = np.flatnonzero(n_here + gained[i, other] + gained[j, other] == 2)
        weight = np.choose(n_here[here], [part[here] for part in weights])
        gains[place] = np.bincount(row[here], weight, shape[0])
    return gains


def pattern_bits(patterns, d):
    """Bits of patterns: bool of shape (d, n), bit 0 first."""
    patterns = patterns.astype(np.int64)
    return np.stack([(patterns >> k) & 1 for k in range(d)]) == 1

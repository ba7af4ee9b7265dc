r"""Potentials of leaves: few numbers for each pattern that say what all terms get.

With the factors and terms of `tables`, t times the
gain :math:`a_i - z_i` is the factor less its value where the player is absent. So a
term T of r conditions is a sum over its subsets S,

.. math:: \sum_{S \subseteq T} (-1)^{|S|} V_{|S|}(\text{pattern without } S), \quad
    V_s = \frac{1}{r} \int_0^1 \frac{\prod_k f_k(t)}{t^r (1 - t)^s} dt

and r + 1 of these *potentials* for each pattern say it all. The parts may be infinite;
but under one quadrature their sum is what that makes of the integral above.
"""

from functools import lru_cache

import numpy as np

from sklearn_interpret._core.trees.shapley.tables import (
    quadrature,
    terms,
    total_of_points,
)

# Numbers that are worked on at once, for each potential and point.
_NUMBERS_AT_ONCE = 2**13


@lru_cache(maxsize=128)
def absences(d, order):
    """All sets of at most `order` conditions out of `d`, those of the first ones first.

    Parameters
    ----------
    d : int
        Number of conditions.
    order : {1, 2}
        Largest number of members.

    Returns
    -------
    list of tuple of int
    """
    found = [()]
    for k in range(d):
        found += [(*absent, k) for absent in found if len(absent) < order]
    return found


def _potential_points(d, order):
    """Points, their weights, and what makes each of the potentials, points first."""
    points, weights = quadrature(d - order)
    levels = (1 - points) ** -np.arange(order + 1.0)[:, None]
    return points[:, None], (weights / (order * points**order))[:, None], levels


def _potentials(products, levels):
    """Potentials from products at all points: (n_leaves, order + 1, n_patterns)."""
    _, n_leaves, n_patterns = products.shape
    potentials = np.empty((n_leaves, len(levels), n_patterns))
    for level, ratios in enumerate(levels):
        potentials[:, level] = total_of_points(products, ratios)
    return potentials


def product_potentials(chances, order):
    """Potentials for all patterns of conditions that chance meets independently.

    Parameters
    ----------
    chances : ndarray of shape (d, n_leaves)
        Probability that each condition is met while its player is absent.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_leaves, order + 1, 2**d)
    """
    d, n_leaves = chances.shape
    t, weights, levels = _potential_points(d, order)
    products = np.empty((len(t), n_leaves, 1))
    products[:] = weights[..., None]
    for chance in chances:
        n = products.shape[2]
        doubled = np.empty((len(t), n_leaves, 2 * n))
        off = (1 - t) * chance
        np.multiply(products, off[..., None], out=doubled[..., :n])
        np.multiply(products, (t + off)[..., None], out=doubled[..., n:])
        products = doubled
    return _potentials(products, levels)


def comparison_potentials(shares, order):
    """Potentials for all patterns, in the mean over rows that stand in.

    Parameters
    ----------
    shares : ndarray of shape (n_leaves, 2**d)
        Share of those rows with each pattern.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_leaves, order + 1, 2**d)

    Notes
    -----
    Only those count that meet all that the explained row fails. A factor is t where
    they fail, 1 - t where the row does, and else 1. So that is a sum over subsets of
    what the row meets, which is made one condition after the other.
    """
    n_leaves, n_patterns = shares.shape
    d = n_patterns.bit_length() - 1
    t, weights, levels = _potential_points(d, order)
    n_met = np.bitwise_count(np.arange(n_patterns)).astype(np.intp)
    # By what the others fail; patterns come first: long stretches of memory.
    sums = np.empty((n_patterns, len(t), n_leaves))
    powers = t ** np.arange(d + 1)
    np.multiply(shares.T[::-1, None], powers.T[n_met][..., None], out=sums)
    for k in range(d):
        halves = sums.reshape(-1, 2, 2**k * len(t) * n_leaves)
        halves[:, 1] += halves[:, 0]
    sums = np.ascontiguousarray(sums.transpose(1, 2, 0))
    sums *= (((1 - t) ** np.arange(d, -1, -1)) * weights)[:, None, n_met]
    return _potentials(sums, levels)


def read_potentials(potentials, patterns, order):
    """What terms are made of, for some patterns at one leaf.

    Parameters
    ----------
    potentials : ndarray of shape (order + 1, 2**d)
        For all patterns.
    patterns : ndarray of shape (n,), intp
        Patterns.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_absences, n)
        One potential for each of the `absences`.
    """
    d = potentials.shape[1].bit_length() - 1
    tables, kept = _readings(d, order)
    return potentials.take(tables | (patterns & kept))


@lru_cache(maxsize=32)
def _readings(d, order):
    """Where potentials start, and the bits of a pattern to keep, by absent set."""
    sets = absences(d, order)
    tables = np.array([len(absent) << d for absent in sets])
    kept = np.array([2**d - 1 - sum(1 << k for k in absent) for absent in sets])
    return tables[:, None], kept[:, None]


def product_parts(chances, met, order):
    """As `read_potentials` of `product_potentials`, to the last bit, without tables.

    Parameters
    ----------
    chances : ndarray of shape (d, n)
        Probability that each condition is met while its player is absent.
    met : ndarray of shape (d, n), bool
        Which conditions are met.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_absences, n)
        One potential for each of the `absences`.
    """
    d, n = chances.shape
    t, weights, levels = _potential_points(d, order)
    sizes = np.array([len(absent) for absent in absences(d, order)])
    products = np.empty((len(t), len(sizes), n))
    products[:, 0] = weights
    n_made = 1
    for chance, held in zip(chances, met, strict=True):
        off = (1 - t) * chance
        smaller = np.flatnonzero(sizes[:n_made] < order)
        stop = n_made + len(smaller)
        products[:, n_made:stop] = products[:, smaller] * off[:, None]
        products[:, :n_made] *= np.where(held, t + off, off)[:, None]
        n_made = stop
    return total_of_points(products, levels.T[:, sizes, None])


def combined(parts, d, order):
    """Values of all terms.

    Parameters
    ----------
    parts : ndarray of shape (n_absences, ...)
        One potential for each of the `absences`.
    d : int
        Number of conditions.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_terms, ...)
    """
    if order == 1:
        return parts[0] - parts[1:]
    place = {absent: at for at, absent in enumerate(absences(d, 2))}
    pairs = [(place[i,], place[j,], place[i, j]) for i, j in terms(d, 2)]
    i, j, both = np.array(pairs, dtype=np.intp).reshape(-1, 3).T
    return (parts[0] + parts[both]) - (parts[i] + parts[j])


def gains_of_parts(chances, met, order):
    """Gains of leaves whose conditions chance meets independently, without tables.

    Parameters
    ----------
    chances : ndarray of shape (d, n_leaves)
        Probability that each condition is met while its player is absent.
    met : ndarray of shape (d, n_leaves or 1, m), bool
        Which conditions are met in each of m situations.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_terms, n_leaves, m)
        The same, to the last bit, as `gains_of_potentials` of `product_potentials`.
    """
    d, n_leaves, m = len(met), chances.shape[1], met.shape[2]
    gains = np.empty((len(terms(d, order)), n_leaves * m))
    step = max(1, _NUMBERS_AT_ONCE // len(absences(d, order)))
    leaf, situation = np.divmod(np.arange(n_leaves * m), m)
    for start in range(0, n_leaves * m, step):
        at = slice(start, start + step)
        held = met[:, leaf[at] if met.shape[1] > 1 else 0, situation[at]]
        parts = product_parts(chances[:, leaf[at]], held, order)
        gains[:, at] = combined(parts, d, order)
    return gains.reshape(-1, n_leaves, m)


def gains_of_potentials(make, owner, patterns, d, order):
    """Gains of leaves at patterns, from potentials made for a few leaves at a time.

    Parameters
    ----------
    make : callable
        A slice of the leaves to their potentials, (n, order + 1, 2 ** d).
    owner : ndarray of shape (n,), intp
        Which leaf each pattern is at; increasing, and none is left out.
    patterns : ndarray of shape (n,), integer
        Patterns.
    d : int
        Number of conditions.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_terms, n)
    """
    n_leaves = owner[-1] + 1
    ends = np.searchsorted(owner, np.arange(n_leaves + 1))
    patterns = patterns.astype(np.intp)
    gains = np.empty((len(terms(d, order)), len(patterns)))
    step = max(1, _NUMBERS_AT_ONCE >> d)
    for first in range(0, n_leaves, step):
        found = make(slice(first, min(first + step, n_leaves)))
        for leaf, potentials in enumerate(found, first):
            at = slice(ends[leaf], ends[leaf + 1])
            parts = read_potentials(potentials, patterns[at], order)
            gains[:, at] = combined(parts, d, order)
    return gains

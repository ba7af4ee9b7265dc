r"""Integrals of leaves' multilinear extension along its diagonal (Owen 1972).

The extension is the product of the factors :math:`f_k(t)` of `tables`; t times the
gain :math:`a_i - z_i` is the factor less its value where the player is absent. So a
term T of r conditions is a sum over its subsets S,

.. math:: \sum_{S \subseteq T} (-1)^{|S|} V_{|S|}(\text{pattern without } S), \quad
    V_s = \frac{1}{r} \int_0^1 \frac{\prod_k f_k(t)}{t^r (1 - t)^s} dt

and r + 1 of these *integrals* for each pattern are enough. Each may be infinite; but if
all are computed by one quadrature, their sum is the quadrature of the integral in
`tables`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.shapley.tables import (
    quadrature,
    terms,
    total_of_points,
)

# Numbers in a block, for each integral and point. Chosen by hand: smaller blocks call
# numpy more often, larger ones leave the cache.
_NUMBERS_AT_ONCE = 2**13


def comparison_integrals(
    shares: NDArray[np.float64], order: int
) -> NDArray[np.float64]:
    """Integrals at all patterns, in the mean over background rows.

    Takes the share of background rows with each pattern, (n_leaves, 2**d), and returns
    (n_leaves, order + 1, 2**d).

    Only background rows count that meet all conditions that the explained row fails.
    The factor of a condition is t where the background row fails it, 1 - t where the
    explained row fails it, and else 1. The integrand is thus a sum over subsets of the
    conditions that the row meets, computed one condition after the other.
    """
    n_leaves, n_patterns = shares.shape
    d = n_patterns.bit_length() - 1
    points, weights = quadrature(d - order)
    t = points[:, None]
    n_met = np.bitwise_count(np.arange(n_patterns)).astype(np.intp)
    # By the conditions that background rows fail; patterns first: contiguous memory.
    sums = np.empty((n_patterns, len(t), n_leaves))
    powers = t ** np.arange(d + 1)
    np.multiply(shares.T[::-1, None], powers.T[n_met][..., None], out=sums)
    for k in range(d):
        halves = sums.reshape(-1, 2, 2**k * len(t) * n_leaves)
        halves[:, 1] += halves[:, 0]
    sums = np.ascontiguousarray(sums.transpose(1, 2, 0))
    weights = (weights / (order * points**order))[:, None]
    sums *= ((1 - t) ** np.arange(d, -1, -1) * weights)[:, None, n_met]
    integrals = np.empty((n_leaves, order + 1, n_patterns))
    for level in range(order + 1):
        integrals[:, level] = total_of_points(sums, (1 - points) ** -float(level))
    return integrals


@lru_cache(maxsize=32)
def _integral_positions(
    d: int, order: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where integrals start, and the bits of a pattern to keep, by absent set.

    Absent sets have at most `order` conditions; smaller sets come first.
    """
    sets = [s for size in range(order + 1) for s in terms(d, size)]
    tables = np.array([len(absent) << d for absent in sets])
    masks = np.array([2**d - 1 - sum(1 << k for k in absent) for absent in sets])
    return tables[:, None], masks[:, None]


def gains_at_patterns(
    integrals: NDArray[np.float64], patterns: NDArray[np.integer], order: int
) -> NDArray[np.float64]:
    """Gains of one leaf at patterns (n,), from its integrals: (n_terms, n)."""
    d = integrals.shape[1].bit_length() - 1
    tables, masks = _integral_positions(d, order)
    readings = integrals.take(tables | (patterns & masks))
    if order == 1:
        return readings[0] - readings[1:]
    singles, pairs = readings[1 : d + 1], readings[d + 1 :]
    i, j = np.array(terms(d, 2), dtype=np.intp).reshape(-1, 2).T
    return (readings[0] + pairs) - (singles[i] + singles[j])


def leaf_integrals(
    patterns: NDArray[np.integer], shares: NDArray[np.float64], d: int, order: int
) -> Iterator[NDArray[np.float64]]:
    """Yield the integrals of each leaf at all patterns, (order + 1, 2**d).

    Takes the patterns of background rows (n_leaves, n_rows) at leaves of `d`
    conditions, and the shares of the rows.
    """
    step = max(1, _NUMBERS_AT_ONCE >> d)
    for first in range(0, len(patterns), step):
        positions = patterns[first : first + step].astype(np.intp)
        positions += np.arange(len(positions))[:, None] << d
        weights = np.tile(shares, len(positions))
        sums: Any = np.bincount(positions.ravel(), weights, len(positions) << d)
        yield from comparison_integrals(sums.reshape(-1, 2**d), order)


def gains_of_integrals(
    integrals: Iterable[NDArray[np.float64]],
    owner: NDArray[np.intp],
    patterns: NDArray[np.integer],
    d: int,
    order: int,
) -> NDArray[np.float64]:
    """Gains (n_terms, n) at patterns (n,), from the integrals of each leaf.

    `owner` is the leaf of each pattern, increasing; every leaf has a pattern.
    """
    ends = np.searchsorted(owner, np.arange(owner[-1] + 2))
    patterns = patterns.astype(np.intp)
    gains = np.empty((len(terms(d, order)), len(patterns)))
    for leaf, of_leaf in enumerate(integrals):
        block = slice(ends[leaf], ends[leaf + 1])
        gains[:, block] = gains_at_patterns(of_leaf, patterns[block], order)
    return gains

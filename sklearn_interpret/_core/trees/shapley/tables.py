r"""Shapley and interaction values of products of conditions.

A leaf contributes its value times the product of its d conditions, each 0 or 1. The
gain of a row depends on the row's *pattern* only: bit i is whether it meets condition
i. With :math:`f_k(t) = t a_k + (1 - t) z_k`, where a is the row's pattern and z the
replacement's pattern, the Shapley value of condition i is
:math:`\int_0^1 (a_i - z_i) \prod_{k \ne i} f_k(t) dt` (Owen 1972), and the interaction
value of conditions i and j, which each of the two gets, is half of
:math:`\int_0^1 (a_i - z_i)(a_j - z_j) \prod_{k \ne i, j} f_k(t) dt`.

*Terms* are the tuples ``(i,)`` for values, and the pairs ``(i, j)`` with i < j for
interactions. Their `order` is 1 or 2. *Gains* are the values of terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import beta, roots_legendre


def terms(d: int, order: int) -> list[tuple[int, ...]]:
    """Terms of `order` conditions out of `d`."""
    return list(combinations(range(d), order))


def term_position(term: tuple[int, ...], d: NDArray[np.intp]) -> NDArray[np.intp]:
    """Position of terms among the terms of `d` conditions; all may be arrays."""
    if len(term) == 1:
        return term[0] + np.zeros_like(d)
    i, j = term
    return i * (2 * d - i - 1) // 2 + j - i - 1


def column_table(d: int, order: int) -> NDArray[np.intp]:
    """Position of each term of `d` conditions, whatever the order of its members."""
    table = np.zeros((d,) * order, dtype=np.intp)
    for column, term in enumerate(terms(d, order)):
        table[term] = table[term[::-1]] = column
    return table


def pattern_bits(patterns: NDArray[np.intp], d: int) -> NDArray[np.bool_]:
    """Bits of integers: bool of shape (d, *patterns.shape), bit 0 first."""
    bits = np.array([1 << k for k in range(d)], dtype=patterns.dtype)
    return (patterns & bits.reshape(-1, *[1] * patterns.ndim)) > 0


@lru_cache(maxsize=128)
def quadrature(degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Legendre points and weights on [0, 1], exact up to a degree."""
    points, weights = roots_legendre(max(degree, 0) // 2 + 1)
    return (points + 1) / 2, weights / 2


def total_of_points(
    products: NDArray[np.float64], ratios: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum over the first axis of products times ratios, which broadcast."""
    total = products[0] * ratios[0]
    product_of_ratio = np.empty_like(total)
    for product, ratio in zip(products[1:], ratios[1:], strict=True):
        total += np.multiply(product, ratio, out=product_of_ratio)
    return total


@dataclass(frozen=True, eq=False)
class ProductRule:
    r"""Gains of leaves whose conditions chance meets independently.

    Parameters
    ----------
    factors_off, factors_on : ndarray of shape (n_points, d, n_leaves)
        Factor :math:`f_k(t)` of each condition where it is not met, and where it is.
    gain_ratios : ndarray of shape (n_points, d, n_leaves)
        Ratio of the gain 1 - z of a condition to its factor, where it is met.
    points, weights : ndarray of shape (n_points,)
        Points and weights of the quadrature; the weights are divided by `order`.
    order : {1, 2}
        Order of the terms.
    """

    factors_off: np.ndarray
    factors_on: np.ndarray
    gain_ratios: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    order: int

    @classmethod
    def of_chances(cls, chances: NDArray[np.float64], order: int) -> ProductRule:
        """Rule from the chance to meet each absent condition, z: (d, n_leaves)."""
        points, weights = quadrature(len(chances) - order)
        t = points[:, None, None]
        factors_off = (1 - t) * chances
        factors_on = t + factors_off
        gain_ratios = (1 - chances) / factors_on
        return cls(factors_off, factors_on, gain_ratios, points, weights / order, order)

    def gains_at(self, met: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Gains (n_terms, n_leaves, m) from which conditions are met (d, ...)."""
        factors = np.empty((len(self.weights), len(met) + 1, *met.shape[1:]))
        factors[:, 0] = self.weights[:, None, None]
        # Arithmetic is faster than `where` on random flags.
        points = self.points[:, None, None, None]
        np.multiply(points, met.astype(np.float64), out=factors[:, 1:])
        factors[:, 1:] += self.factors_off[..., None]
        return self._gains(np.multiply.reduce(factors, axis=1), met)

    def gains_everywhere(self) -> NDArray[np.float64]:
        """Gains at all patterns: (n_terms, n_leaves, 2 ** d)."""
        n_points, d, n_leaves = self.factors_on.shape
        products = np.empty((n_points, n_leaves, 2**d))
        products[:, :, :1] = self.weights[:, None, None]
        for k in range(d):
            n_patterns = 2**k
            # Patterns without condition k come first, then these patterns with it.
            without_k = products[:, :, :n_patterns]
            with_k = products[:, :, n_patterns : 2 * n_patterns]
            np.multiply(without_k, self.factors_on[:, k, :, None], out=with_k)
            without_k *= self.factors_off[:, k, :, None]
        return self._gains(products, pattern_bits(np.arange(2**d)[None, :], d))

    def _gains(
        self, products: NDArray[np.float64], met: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Gains from the weighted products of all factors: (n_points, n_leaves, m)."""
        gain_ratios = self.gain_ratios[..., None]
        # Ratio of the gain -z to the factor where the condition is not met.
        missed_ratios = -1 / (1 - self.points[:, None, None, None])
        products = products[:, None]
        if self.order == 1:
            return np.where(
                met,
                total_of_points(products, gain_ratios),
                total_of_points(products, missed_ratios),
            )
        pairs = np.array(terms(len(met), 2), dtype=np.intp)
        i, j = pairs.reshape(-1, 2).T
        pair_gain = total_of_points(products, gain_ratios[:, i] * gain_ratios[:, j])
        single_gain = total_of_points(products, gain_ratios * missed_ratios)
        no_gain = total_of_points(products, missed_ratios**2)
        first_met, second_met = met[i], met[j]
        gains = np.where(second_met, single_gain[j], no_gain)
        gains = np.where(first_met, single_gain[i], gains)
        return np.where(first_met & second_met, pair_gain, gains)


@lru_cache(maxsize=128)
def comparison_integrals(d: int, order: int) -> NDArray[np.float64]:
    r"""Integrals by how many conditions only the row, and only the other row, meets.

    Let the row alone meet u conditions, and the other row alone v conditions, k of
    which are in the term. The integral is
    :math:`\int_0^1 t^{u - (order - k)} (1 - t)^{v - k} dt`, with the sign of the term,
    over `order`; 0 where there is no such pair of rows. By k, u and v.
    """
    k, u, v = np.ogrid[: order + 1, : d + 1, : d + 1]
    a, b = u - (order - k) + 1, v - k + 1
    integrals = beta(np.maximum(a, 1), np.maximum(b, 1))
    return np.where((a > 0) & (b > 0), (-1.0) ** k * integrals / order, 0.0)


def component_integrals(d: int, order: int) -> NDArray[np.float64]:
    """Integrals in place of `comparison_integrals`, for components.

    A component of the functional decomposition takes the integrand at t = 0, where it
    is 0 or 1, and is not divided by `order`.
    """
    k, u, v = np.ogrid[: order + 1, : d + 1, : d + 1]
    return np.where((u == order - k) & (v >= k), (-1.0) ** k, 0.0)


@lru_cache(maxsize=32)
def comparison_matrix(d: int, order: int) -> NDArray[np.float64]:
    """Gains by the patterns of a row and of one background row.

    The first axis is the background row's pattern, the second one the term and the
    row's pattern. Gains are zero where neither row meets some condition.
    """
    patterns = np.arange(2**d)
    bits = (patterns[:, None] >> np.arange(d)) & 1
    gains = bits[None, :, :] - bits[:, None, :]
    n_gained, n_lost = (gains > 0).sum(axis=2), (gains < 0).sum(axis=2)
    is_comparable = (patterns[:, None] | patterns) == 2**d - 1
    integrals = comparison_integrals(d, order)
    matrix = np.zeros((len(patterns), len(terms(d, order)), len(patterns)))
    for column, term in enumerate(terms(d, order)):
        term_gains = gains[:, :, list(term)]
        background_row, row = np.nonzero(is_comparable & term_gains.all(axis=2))
        n_term_lost = (term_gains[background_row, row] < 0).sum(axis=1)
        matrix[background_row, column, row] = integrals[
            n_term_lost, n_gained[background_row, row], n_lost[background_row, row]
        ]
    return matrix.reshape(len(patterns), -1)


def comparison_tables(shares: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Gains at every pattern, in the mean over background rows.

    Takes the share of background rows with each pattern, (n_leaves, 2**d), and returns
    (n_leaves, n_terms, 2**d).
    """
    n_leaves, n_patterns = shares.shape
    d = n_patterns.bit_length() - 1
    tables = shares @ comparison_matrix(d, order)
    return tables.reshape(n_leaves, -1, n_patterns)


def comparison_gains(
    lost: NDArray[np.bool_],
    gained: NDArray[np.bool_],
    shares: NDArray[np.float64],
    order: int,
) -> NDArray[Any]:
    """Gains of some rows, in the mean over background rows: (n_terms, n).

    `lost` (d, n) holds the conditions that the rows fail, `gained` (d, m) the
    conditions that background rows fail, whose shares are (m,). With many conditions
    there are few pairs of rows of which one meets all that the other fails.
    """
    with np.errstate(invalid="ignore"):  # some BLAS kernels raise the flag for nothing
        n_clashes = lost.T.astype(np.float32) @ gained.astype(np.float32)
    row, background_row = np.nonzero(n_clashes == 0)
    integrals = comparison_integrals(len(lost), order)
    n_lost, n_gained = lost.sum(axis=0)[row], gained.sum(axis=0)[background_row]
    weights = integrals[:, n_gained, n_lost] * shares[background_row]
    n_rows = lost.shape[1]
    if order == 1:
        gains = weights[0] * gained[:, background_row]
        positions = np.arange(len(lost))[:, None] * n_rows + row
        totals = np.bincount(positions.ravel(), gains.ravel(), lost.size)
        losses = np.bincount(row, weights[1], n_rows)
        return totals.reshape(lost.shape) + lost * losses
    gains = np.empty((len(terms(len(lost), order)), n_rows))
    for k, (i, j) in enumerate(terms(len(lost), order)):
        n_term_lost = lost[i, row].astype(np.intp) + lost[j, row]
        n_term_gained = gained[i, background_row].astype(np.intp)
        n_term_gained += gained[j, background_row]
        pairs = np.flatnonzero(n_term_lost + n_term_gained == 2)
        pair_weights = np.choose(n_term_lost[pairs], [w[pairs] for w in weights])
        gains[k] = np.bincount(row[pairs], pair_weights, n_rows)
    return gains


# From positions of leaves with equally many conditions, d, to their gains at all
# patterns: (n_leaves, n_terms, 2 ** d).
TablesOfLeaves = Callable[[NDArray[np.intp]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class LeafTables:
    """Gains of leaves at all patterns, one table after the other.

    Parameters
    ----------
    numbers : ndarray
        Gains by term and pattern, leaf after leaf; the first number is zero.
    start : ndarray of shape (n_leaves,), intp
        Where the table of each leaf starts.
    """

    numbers: np.ndarray
    start: np.ndarray

    @classmethod
    def of_leaves(
        cls, n_conditions: NDArray[np.intp], order: int, make: TablesOfLeaves
    ) -> LeafTables:
        """Tables of leaves, made for equally many conditions at a time."""
        sizes = table_sizes(n_conditions, order)
        ends = 1 + np.cumsum(sizes)
        numbers = np.zeros(1 + sizes.sum())
        for d in np.unique(n_conditions[sizes > 0]):
            leaves = np.flatnonzero(n_conditions == d)
            positions = (ends - sizes)[leaves, None] + np.arange(sizes[leaves[0]])
            numbers[positions] = make(leaves).reshape(len(leaves), -1)
        return cls(numbers, ends - sizes)


def table_sizes(n_conditions: NDArray[np.intp], order: int) -> NDArray[np.intp]:
    """Numbers in the tables of leaves, from their numbers of conditions."""
    max_conditions = n_conditions.max(initial=0)
    sizes = [len(terms(d, order)) * 2**d for d in range(max_conditions + 1)]
    return np.array(sizes)[n_conditions]

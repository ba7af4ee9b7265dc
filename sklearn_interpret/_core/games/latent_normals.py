"""Standard normal variables given the values, or intervals, of some of them.

A Gaussian copula has a latent normal variable for each column. A number is a point of
its latent; a level of a column with few levels is an interval, cut at its share.
`latent_correlation` estimates correlations of the latents; `LatentNormals` draws them
given points (Matheron's rule) and intervals (GHK: Geweke, Hajivassiliou and Keane).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sklearn_interpret._core.games.coalitions import distinct_coalitions
from sklearn_interpret._core.local.masks import quasi_random_points

_Floats = NDArray[np.float64]

# Smaller eigenvalues and variances of standardised columns are rounding errors.
_SINGULAR = 1e-9
# Terms of Mehler's series: with 100, correlations of latents up to .95 are exact to
# 1e-3 where both columns have two levels, the slowest case.
_N_TERMS = 100
# Correlations at which the series is tabulated; they are denser near -1 and 1.
_GRID = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 129))
# Draws for each variable with which second moments are matched.
_DRAWS_PER_COLUMN = 4
# Least probability of an interval: smaller ones would underflow.
_TINY = 1e-300


def level_scores(cuts: _Floats, shares: _Floats) -> tuple[_Floats, _Floats]:
    """Means of a normal variable within levels, and their Hermite coefficients.

    Parameters
    ----------
    cuts : ndarray of shape (n_levels - 1,)
        Increasing points between the levels.
    shares : ndarray of shape (n_levels,)
        Probability of each level.

    Returns
    -------
    scores : ndarray of shape (n_levels,)
        Mean in each level.
    coefficients : ndarray of shape (n_terms,)
        Coefficients of the function of scores in normalised Hermite polynomials of
        degree 1, 2...
    """
    density = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    scores = -np.diff(density, prepend=0.0, append=0.0) / shares
    steps, coefficients = np.diff(scores), np.empty(_N_TERMS)
    # Polynomials of degrees k - 1 and k - 2, by their recurrence.
    polynomial, previous = np.ones_like(cuts), np.zeros_like(cuts)
    for k in range(1, _N_TERMS + 1):
        coefficients[k - 1] = steps @ (polynomial * density) / np.sqrt(k)
        following = (cuts * polynomial - np.sqrt(k - 1) * previous) / np.sqrt(k)
        polynomial, previous = following, polynomial
    return scores, coefficients


def latent_correlation(products: _Floats, coefficients: _Floats) -> _Floats:
    r"""Correlation matrix (p, p) of latents, from mean products (p, p) of scores.

    By Mehler's formula the mean product of two columns' scores is
    :math:`\sum_k \rho^k a_k b_k`, with their `coefficients` (p, n_terms); it increases
    with the correlation, for which it is solved. Negative eigenvalues become zero.
    """
    powers = _GRID ** np.arange(1, coefficients.shape[1] + 1)[:, None]
    correlation = np.zeros_like(products)
    varies = np.flatnonzero(np.diag(products) > _SINGULAR)
    for j in varies:
        curves = (coefficients[j] * coefficients[varies]) @ powers
        correlation[j, varies] = [
            np.interp(product, curve, _GRID)
            for product, curve in zip(products[j, varies], curves, strict=True)
        ]
    np.fill_diagonal(correlation, 1.0)
    return nearest_correlation((correlation + correlation.T) / 2)


def nearest_correlation(matrix: _Floats) -> _Floats:
    """A symmetric matrix (p, p) without negative eigenvalues, of unit diagonal."""
    values, axes = np.linalg.eigh(matrix)
    if values[0] < 0:
        matrix = (axes * values.clip(min=0.0)) @ axes.T
    scales = np.sqrt(np.diag(matrix))
    return matrix / scales / scales[:, None]


def groups_of_rows(flags: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """Positions of the rows (m, d) that have the same flags, group by group."""
    _, group = distinct_coalitions(flags)
    order = np.argsort(group, kind="stable")
    yield from np.split(order, np.cumsum(np.bincount(group))[:-1])


def batch_operator(n_draws: int, n_batches: int) -> _Floats:
    """Matrix (n_batches, n_draws) of the means in batches of subsequent draws."""
    batch = np.arange(n_draws) * n_batches // n_draws
    is_member = batch == np.arange(n_batches)[:, None]
    return is_member / is_member.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class LatentNormals:
    """Joint draws of standard normal variables, and the same draws given some of them.

    Parameters
    ----------
    correlation : ndarray of shape (p, p)
        Correlations; they may be singular.
    draws : ndarray of shape (n, p)
        Joint draws, common to all conditions.
    operator : ndarray of shape (n_batches, n)
        Maps deviations of a function of the draws from its mean to deviations of its
        means in batches of draws.
    """

    correlation: _Floats
    draws: _Floats
    operator: _Floats

    @classmethod
    def draw(
        cls,
        correlation: _Floats,
        n_draws: int,
        n_batches: int,
        rng: np.random.Generator,
    ) -> LatentNormals:
        """Draw quasi-random points, the first ones along the longest axes.

        Points are matched to the moments of the distribution, so that means of linear
        functions of the variables have no error.
        """
        n_columns = len(correlation)
        points = ndtri(quasi_random_points(n_draws, n_columns, rng))
        points -= points.mean(axis=0)
        points /= points.std(axis=0)
        operator = batch_operator(n_draws, n_batches)
        if n_draws >= _DRAWS_PER_COLUMN * n_columns:
            values, axes = np.linalg.eigh(points.T @ points / n_draws)
            points = points @ (axes / np.sqrt(values)) @ axes.T
            # Residuals of a regression on the points, which has no error.
            operator -= (operator @ points) @ points.T / n_draws
            operator *= np.sqrt(n_draws / (n_draws - n_columns - 1))
        values, axes = np.linalg.eigh(correlation)
        factor = axes[:, ::-1] * np.sqrt(values[::-1].clip(min=0.0))
        return cls(correlation, points @ factor.T, operator)

    def given(
        self, present: NDArray[np.bool_], low: _Floats, high: _Floats
    ) -> tuple[_Floats, _Floats]:
        """Draws given intervals of some variables; they are points where low == high.

        Parameters
        ----------
        present : ndarray of shape (m, p), bool
            Variables that are known, for each of m conditions.
        low, high : ndarray of shape (m, p)
            Ends of the intervals in which they are.

        Returns
        -------
        draws : ndarray of shape (m, n, p)
            Draws of the absent variables; zero for others.
        weights : ndarray of shape (m, n)
            Weights of the draws, at most one.
        """
        draws = np.zeros((len(present), *self.draws.shape))
        weights = np.ones(draws.shape[:2])
        is_point = present & (low == high)
        for group in groups_of_rows(np.hstack([present, is_point])):
            absent, points = ~present[group[0]], is_point[group[0]]
            conditional = _Conditional.on_points(self, points, low[group][:, points])
            for j in np.flatnonzero(~absent & ~points).tolist():
                ends = low[group, j, None], high[group, j, None]
                weights[group] *= conditional.truncate(j, *ends)
                weights[group] /= weights[group].max(axis=1, keepdims=True)
            values = conditional.means + conditional.residuals
            draws[group] = np.where(absent, values, 0.0)
        return draws, weights


@dataclass(eq=False)
class _Conditional:
    """Variables given those that are known so far: m means, and n common residuals."""

    means: _Floats  # (m, 1 or n, p)
    residuals: _Floats  # (n, p)
    covariance: _Floats  # (p, p), of the residuals

    @classmethod
    def on_points(
        cls, latents: LatentNormals, points: NDArray[np.bool_], values: _Floats
    ) -> _Conditional:
        """Given `values` (m, n_points) of the variables in the mask `points`."""
        correlation, draws = latents.correlation, latents.draws
        inverse = np.linalg.pinv(
            correlation[np.ix_(points, points)], rcond=_SINGULAR, hermitian=True
        )
        coefficients = correlation[:, points] @ inverse
        means = values @ coefficients.T
        residuals = draws - draws[:, points] @ coefficients.T
        covariance = correlation - coefficients @ correlation[points]
        return cls(means[:, None], residuals, covariance)

    def truncate(self, j: int, low: _Floats, high: _Floats) -> _Floats | float:
        """Draw variable j in intervals (m, 1); return the intervals' probabilities."""
        variance = self.covariance[j, j]
        if variance < _SINGULAR:  # determined by variables that are known
            return 1.0
        scale, means = np.sqrt(variance), self.means[..., j]
        values, probabilities = _truncated_normal(
            (low - means) / scale, (high - means) / scale, self.residuals[:, j] / scale
        )
        slopes = self.covariance[j] / variance
        self.means = self.means + scale * values[..., None] * slopes
        self.residuals = self.residuals - self.residuals[:, j, None] * slopes
        self.covariance = self.covariance - np.outer(slopes, self.covariance[j])
        return probabilities


def _truncated_normal(
    low: _Floats, high: _Floats, draws: _Floats
) -> tuple[_Floats, _Floats]:
    """Normal draws mapped into intervals, and the probabilities of the intervals."""
    # Intervals above zero are reflected: probabilities near one would lose digits.
    sign = np.where(low > 0, -1.0, 1.0)
    low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
    below = ndtr(low)
    probabilities = np.maximum(ndtr(high) - below, _TINY)
    values = ndtri(np.maximum(below + ndtr(sign * draws) * probabilities, _TINY))
    return sign * np.clip(values, low, high), probabilities

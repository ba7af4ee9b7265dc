"""H statistics of Friedman & Popescu (2008) from partial dependences at the rows.

Each statistic is the variance that a sum of lower-order terms leaves unexplained,
divided by the variance of the joint effect. Partial dependences are centred over the
rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.weighted import Moments, ratio_or_zero

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Interactions below these shares are rounding errors: a share of the standard deviation
# of the responses, and a share of their largest absolute value.
_RELATIVE_TO_SPREAD = 1e-10
_RELATIVE_TO_SIZE = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Strength:
    """Strength of an interaction: arrays of shape (..., k).

    Parameters
    ----------
    numerator : ndarray
        Variance that lower-order terms leave unexplained; zero where it is rounding.
    denominator : ndarray
        Variance of the joint effect; zero where it is rounding.
    """

    numerator: _Array
    denominator: _Array

    def __getitem__(self, index: int | slice | NDArray[np.intp] | None) -> Strength:
        return Strength(self.numerator[index], self.denominator[index])

    def __setitem__(
        self, index: int | slice | NDArray[np.intp], strength: Strength
    ) -> None:
        self.numerator[index] = strength.numerator
        self.denominator[index] = strength.denominator

    @classmethod
    def of_variances(
        cls, numerator: _Array, denominator: _Array, floor: _Array
    ) -> Strength:
        """Strength from variances; those up to `floor` are set to zero."""
        return cls(*(np.where(v > floor, v, 0.0) for v in (numerator, denominator)))

    @property
    def squared(self) -> _Array:
        """H^2, numerator over denominator; zero if the joint effect does not vary."""
        return ratio_or_zero(self.numerator, self.denominator)

    @property
    def is_undefined(self) -> NDArray[np.bool_]:
        """Mask of interactions that are positive with a constant joint effect."""
        return (self.numerator > 0) & (self.denominator == 0)

    @property
    def unnormalized(self) -> _Array:
        """Square root of the numerator, in the units of the response."""
        return np.sqrt(self.numerator)


def rounding_floor(responses: _Array, weights: _Array) -> _Array:
    """Variance (k,) below which an interaction is rounding; responses (n, k)."""
    size = np.abs(responses).max(axis=0)
    variance = _variance(responses, weights)
    return _RELATIVE_TO_SPREAD**2 * variance + (_RELATIVE_TO_SIZE * size) ** 2


def strength(total: _Array, terms: _Array, weights: _Array, floor: _Array) -> Strength:
    """Strength (k,) of an interaction, the joint effect minus lower-order terms.

    `total` and the sum of the `terms` are partial dependences at the rows (n_rows, k);
    `floor` (k,) comes from :func:`rounding_floor`.
    """
    variances = _variance(total - terms, weights), _variance(total, weights)
    return Strength.of_variances(*variances, floor)


def overall_strengths(
    moments: Moments, predictions: _Array, weights: _Array, floor: _Array
) -> Strength:
    """Interaction of players with all others, from their :func:`overall_moments`."""
    variance = np.broadcast_to(_variance(predictions, weights), moments.mean.shape)
    return Strength.of_variances(moments.variance, variance, floor)


def overall_moments(
    blocks: Iterable[tuple[slice, slice, _Array, _Array]],
    n_players: int,
    predictions: _Array,
    weights: _Array,
) -> Moments:
    """Moments (n_players, k) of the interaction of each player with all others.

    A block is a slice of rows, a slice of players, and two partial dependences at these
    rows, (rows, players, k): on each player alone, and on all players but this one.
    """
    shape = n_players, predictions.shape[1]
    weight, mean, m2 = np.zeros((n_players, 1)), np.zeros(shape), np.zeros(shape)
    for rows, players, effects, without_player in blocks:
        # The responses less the effects of the player and of all others.
        interactions = predictions[rows, None] - (effects + without_player)
        merged = Moments(weight[players], mean[players], m2[players])
        merged = merged.merge(Moments.of_rows(interactions, weights[rows]))
        weight[players], mean[players] = merged.weight, merged.mean
        m2[players] = merged.m2
    return Moments(weight, mean, m2)


def as_matrices(values: _Array, pairs: ArrayLike, n_players: int) -> _Array:
    """Values of pairs (n_pairs, k) as symmetric matrices (k, n_players, n_players).

    Zero on the diagonal, NaN for other pairs.
    """
    matrix = np.full((values.shape[1], n_players, n_players), np.nan)
    diagonal = np.arange(n_players)
    matrix[:, diagonal, diagonal] = 0.0
    first, second = np.reshape(pairs, (-1, 2)).astype(np.intp, copy=False).T
    matrix[:, first, second] = matrix[:, second, first] = values.T
    return matrix


def greenwell_strength(surface: _Array) -> _Array:
    """Interaction on a partial dependence surface (k, G, G'): (k,) (Greenwell 2018).

    The curve along one feature has a standard deviation at each point of the other
    feature. Without an interaction these standard deviations are all equal. The
    strength is the standard deviation of them, averaged over the two directions.
    """
    strengths = [_deviation(_deviation(surface, axis), -1) for axis in (1, 2)]
    return np.mean(strengths, axis=0)


def _deviation(values: _Array, axis: int) -> _Array:
    """Standard deviation of a sample along an axis; zero for a single value."""
    if values.shape[axis] < 2:
        return np.zeros(np.delete(values.shape, axis))
    return values.std(axis=axis, ddof=1)


def _variance(values: _Array, weights: _Array) -> _Array:
    """Weighted variance over the first axis."""
    shares = weights / weights.sum()
    mean = np.tensordot(shares, values, axes=1)
    return np.tensordot(shares, (values - mean) ** 2, axes=1)

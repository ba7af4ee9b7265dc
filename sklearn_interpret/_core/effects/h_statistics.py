"""H statistics of Friedman & Popescu (2008) from partial dependences at the rows.

Everything is centred over the rows: each statistic is the variance of what a sum of
lower-order terms leaves unexplained, divided by the variance of the whole.
"""

from dataclasses import dataclass

import numpy as np

# An interaction below these shares, of the standard deviation of the responses and of
# their size, is rounding error.
_OF_SPREAD = 1e-10
_OF_SIZE = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Strength:
    """Strength of an interaction: arrays of shape (..., k).

    Parameters
    ----------
    numerator : ndarray
        Variance that lower-order terms leave unexplained; zero where it is rounding.
    denominator : ndarray
        Variance of the whole; zero where it is rounding.
    """

    numerator: np.ndarray
    denominator: np.ndarray

    def __getitem__(self, which):
        return Strength(self.numerator[which], self.denominator[which])

    def __setitem__(self, which, strength):
        self.numerator[which] = strength.numerator
        self.denominator[which] = strength.denominator

    @property
    def squared(self):
        """H^2, the ratio of the two; zero where the whole does not vary."""
        nothing = np.zeros(np.shape(self.numerator))
        varies = self.denominator > 0
        return np.divide(self.numerator, self.denominator, out=nothing, where=varies)

    @property
    def is_undefined(self):
        """Where the whole does not vary and there is an interaction all the same."""
        return (self.numerator > 0) & (self.denominator == 0)

    @property
    def unnormalized(self):
        """Square root of the numerator, in the units of the response."""
        return np.sqrt(self.numerator)


def rounding_floor(responses, weights):
    """Variance (k,) below which an interaction is rounding; responses (n, k)."""
    size = np.abs(responses).max(axis=0)
    spread = _variance(responses, weights)
    return _OF_SPREAD**2 * spread + (_OF_SIZE * size) ** 2


def unexplained(whole, terms, weights, floor):
    """Strength (k,) of an interaction: of the whole minus lower-order terms.

    Both are partial dependences at the rows (n_rows, k); `floor` (k,) is that of
    :func:`rounding_floor`.
    """
    variances = _variance(whole - terms, weights), _variance(whole, weights)
    return Strength(*(np.where(one > floor, one, 0.0) for one in variances))


# Partial dependences at the rows are called: on each player, alone (n_rows, n_players,
# k); on all but that player, all_but (the same shape); on a set, joint (n_rows, k).


def overall_strength(predictions, alone, all_but, player, weights, floor):
    """Interaction of a player with all others: (k,)."""
    terms = alone[:, player] + all_but[:, player]
    return unexplained(predictions, terms, weights, floor)


def total_strength(predictions, alone, weights, floor):
    """All that is not additive: (k,)."""
    return unexplained(predictions, alone.sum(axis=1), weights, floor)


def pair_strength(joint, alone, pair, weights, floor):
    """Interaction of two players: (k,)."""
    return unexplained(joint, alone[:, list(pair)].sum(axis=1), weights, floor)


def three_way_strength(joint, pairs, alone, triple, weights, floor):
    """Interaction of three players beyond those of their three pairs: (k,)."""
    terms = sum(pairs) - alone[:, list(triple)].sum(axis=1)
    return unexplained(joint, terms, weights, floor)


def symmetric(values, pairs, n_players):
    """Values of pairs (n_pairs, k) as symmetric matrices (k, n_players, n_players).

    Zero on the diagonal, NaN for other pairs.
    """
    matrix = np.full((values.shape[1], n_players, n_players), np.nan)
    diagonal = np.arange(n_players)
    matrix[:, diagonal, diagonal] = 0.0
    first, second = np.reshape(pairs, (-1, 2)).astype(np.intp, copy=False).T
    matrix[:, first, second] = matrix[:, second, first] = values.T
    return matrix


def greenwell_strength(surface):
    """Interaction on a partial dependence surface (k, G, G'): (k,) (Greenwell 2018).

    The curve along one feature has a standard deviation at each point of the other one;
    these are all equal without an interaction. The strength is their own standard
    deviation, averaged over the two directions.
    """
    along = [_deviation(_deviation(surface, axis), -1) for axis in (1, 2)]
    return np.mean(along, axis=0)


def _deviation(values, axis):
    """Standard deviation of a sample along an axis; zero for a single value."""
    if values.shape[axis] < 2:
        return np.zeros(np.delete(values.shape, axis))
    return values.std(axis=axis, ddof=1)


def _variance(values, weights):
    """Weighted variance over the first axis."""
    shares = weights / weights.sum()
    mean = np.tensordot(shares, values, axes=1)
    return np.tensordot(shares, (values - mean) ** 2, axes=1)

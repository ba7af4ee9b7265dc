"""H statistics of Friedman & Popescu (2008) from partial dependences at the rows.

Everything is centred over the rows, so that each statistic is the variance of what a
sum of lower-order terms leaves over, in units of the variance of the whole.
"""

from dataclasses import dataclass

import numpy as np

# What an interaction has to exceed, squared, to be told from rounding: of the standard
# deviation of the responses, and of their size.
_OF_SPREAD = 1e-10
_OF_SIZE = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Strength:
    """How much a sum of terms leaves over.

    Parameters
    ----------
    numerator : ndarray of shape (..., k)
        Variance of what is left over; exactly zero where that is rounding.
    denominator : ndarray of the same shape
        Variance of the whole.
    """

    numerator: np.ndarray
    denominator: np.ndarray

    @property
    def squared(self):
        """Ratio of the two, H^2; nothing left over is zero, even of nothing."""
        ratio = np.divide(
            self.numerator,
            self.denominator,
            out=np.full(np.shape(self.numerator), np.inf),
            where=self.denominator > 0,
        )
        return np.where(self.numerator > 0, ratio, 0.0)

    @property
    def unnormalized(self):
        """Standard deviation of what is left over, in the units of the response."""
        return np.sqrt(self.numerator)

    @classmethod
    def stacked(cls, strengths, n_outputs):
        """Several strengths (k,) as one (len(strengths), k)."""
        parts = [
            np.array([getattr(one, name) for one in strengths]).reshape(-1, n_outputs)
            for name in ("numerator", "denominator")
        ]
        return cls(*parts)


def rounding_floor(predictions, weights):
    """Variance below which an interaction is rounding.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows, k)
        Responses to the rows.
    weights : ndarray of shape (n_rows,)
        Weights.

    Returns
    -------
    ndarray of shape (k,)
    """
    size = np.abs(predictions).max(axis=0)
    spread = _variance(predictions, weights)
    return _OF_SPREAD**2 * spread + (_OF_SIZE * size) ** 2


def left_over(whole, terms, weights, floor):
    """Strength of what the terms leave over of the whole.

    Parameters
    ----------
    whole, terms : ndarray of shape (n_rows, ..., k)
        A partial dependence, and the sum of the lower-order ones.
    weights : ndarray of shape (n_rows,)
        Weights.
    floor : ndarray of shape (k,)
        As :func:`rounding_floor` gives it.

    Returns
    -------
    Strength of shape (..., k)
    """
    numerator = _variance(whole - terms, weights)
    numerator = np.where(numerator > floor, numerator, 0.0)
    denominator = np.broadcast_to(_variance(whole, weights), numerator.shape)
    return Strength(numerator, denominator)


def overall_strength(predictions, alone, all_but, weights, floor):
    """Interaction of each player with all others: (n_players, k).

    Parameters
    ----------
    predictions : ndarray of shape (n_rows, k)
        Responses.
    alone, all_but : ndarray of shape (n_rows, n_players, k)
        Partial dependences on each player, and on all others.
    weights : ndarray of shape (n_rows,)
        Weights.
    floor : ndarray of shape (k,)
        As :func:`rounding_floor` gives it.

    Returns
    -------
    Strength
    """
    return left_over(predictions[:, None], alone + all_but, weights, floor)


def total_strength(predictions, alone, weights, floor):
    """All that is not additive: (k,)."""
    return left_over(predictions, alone.sum(axis=1), weights, floor)


def pair_strength(joint, alone, pair, weights, floor):
    """Interaction of two players: (k,).

    Parameters
    ----------
    joint : ndarray of shape (n_rows, k)
        Partial dependence on both.
    alone : ndarray of shape (n_rows, n_players, k)
        Partial dependences on each player.
    pair : tuple of two ints
        The players.
    weights, floor : ndarray
        As in :func:`left_over`.

    Returns
    -------
    Strength
    """
    first, second = pair
    return left_over(joint, alone[:, first] + alone[:, second], weights, floor)


def three_way_strength(joint, pairs, alone, triple, weights, floor):
    """Interaction of three players beyond those of their pairs: (k,).

    Parameters
    ----------
    joint : ndarray of shape (n_rows, k)
        Partial dependence on all three.
    pairs : sequence of three ndarray of shape (n_rows, k)
        Partial dependences on their pairs.
    alone, triple, weights, floor : object
        As in :func:`pair_strength`.

    Returns
    -------
    Strength
    """
    terms = sum(pairs) - alone[:, list(triple)].sum(axis=1)
    return left_over(joint, terms, weights, floor)


def symmetric(values, pairs, n_players):
    """Values of pairs as a symmetric matrix.

    Parameters
    ----------
    values : ndarray of shape (n_pairs, k)
        One for each pair.
    pairs : list of tuple of two ints
        The pairs.
    n_players : int
        Number of players.

    Returns
    -------
    ndarray of shape (k, n_players, n_players)
        Zero on the diagonal, NaN for pairs that are not among them.
    """
    matrix = np.full((values.shape[1], n_players, n_players), np.nan)
    diagonal = np.arange(n_players)
    matrix[:, diagonal, diagonal] = 0.0
    for (first, second), value in zip(pairs, values, strict=True):
        matrix[:, first, second] = matrix[:, second, first] = value
    return matrix


def greenwell_strength(surface):
    """How unevenly a feature's curve is spread along another: (k,) (Greenwell 2018).

    The curve along one feature has a standard deviation at each point of the other one;
    these would all be equal without an interaction.

    Parameters
    ----------
    surface : ndarray of shape (k, n_points, n_points_2)
        Partial dependence on a grid.

    Returns
    -------
    ndarray of shape (k,)
        Standard deviation of these deviations, mean over the two ways round.
    """
    along = [_deviation(_deviation(surface, axis)[..., None], 1) for axis in (1, 2)]
    return np.mean(along, axis=0)[..., 0]


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

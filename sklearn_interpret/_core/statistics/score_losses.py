"""Losses of linear scores, as models minimise them, and their slopes.

A loss takes targets and scores, (..., k) both, before any link.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp, xlogy


class HalfSquared:
    """Half the squared error, summed over outputs."""

    def means(self, scores):
        """Targets to be expected."""
        return scores

    def scores(self, means):
        """Scores of these targets to be expected."""
        return means

    def values(self, targets, scores):
        """Losses of rows, (...)."""
        return 0.5 * ((scores - targets) ** 2).sum(axis=-1)

    def slopes(self, targets, scores):
        """Slopes (..., k) along the scores."""
        return scores - targets

    def curvatures(self, targets, scores):
        """Second derivatives, (..., k, k)."""
        return _diagonal(np.ones(scores.shape))


class Logistic:
    """Minus the log-likelihood of classes 0 and 1, of log-odds; summed over columns."""

    def means(self, scores):
        """Targets to be expected."""
        return expit(scores)

    def scores(self, means):
        """Scores of these targets to be expected."""
        return logit(means)

    def values(self, targets, scores):
        """Losses of rows, (...)."""
        # The logarithm of 1 + exp(score), in half the time of logaddexp.
        losses = np.log1p(np.exp(-np.abs(scores)))
        losses += np.maximum(scores, 0)
        losses -= targets * scores
        return losses.sum(axis=-1)

    def slopes(self, targets, scores):
        """Slopes (..., k) along the scores."""
        # In a third of the time of expit.
        with np.errstate(over="ignore"):
            shares = 1 / (1 + np.exp(-scores))
        return shares - targets

    def curvatures(self, targets, scores):
        """Second derivatives, (..., k, k)."""
        return _diagonal(expit(scores) * expit(-scores))


class Softmax:
    """Minus the log-likelihood of classes, given by indicators, of their scores."""

    def values(self, targets, scores):
        """Losses of rows, (...)."""
        return logsumexp(scores, axis=-1) - (targets * scores).sum(axis=-1)

    def slopes(self, targets, scores):
        """Slopes (..., k) along the scores."""
        return _shares(scores) - targets

    def curvatures(self, targets, scores):
        """Second derivatives, (..., k, k)."""
        shares = _shares(scores)
        return _diagonal(shares) - shares[..., :, None] * shares[..., None, :]


class SquaredHinge:
    """What margins of classes -1 and 1 lack of one, squared; summed over columns."""

    def values(self, targets, scores):
        """Losses of rows, (...)."""
        return (np.maximum(1 - targets * scores, 0) ** 2).sum(axis=-1)

    def slopes(self, targets, scores):
        """Slopes (..., k) along the scores."""
        return -2 * targets * np.maximum(1 - targets * scores, 0)

    def curvatures(self, targets, scores):
        """Second derivatives, (..., k, k)."""
        return _diagonal(2.0 * (targets * scores < 1))


@dataclass(frozen=True)
class HalfTweedie:
    """Half the unit deviance of a Tweedie distribution, of logarithms of the mean.

    Parameters
    ----------
    power : float
        1 is Poisson's distribution, 2 the gamma distribution, 0 the normal one.
    """

    power: float

    def means(self, scores):
        """Targets to be expected."""
        return np.exp(scores)

    def scores(self, means):
        """Scores of these targets to be expected."""
        return np.log(means)

    def values(self, targets, scores):
        """Losses of rows, (...)."""
        power, mean = self.power, np.exp(scores)
        if power == 0:
            losses = (targets - mean) ** 2 / 2
        elif power == 1:
            losses = xlogy(targets, targets / mean) - targets + mean
        elif power == 2:
            losses = targets / mean + scores - np.log(targets) - 1
        else:
            # Jørgensen (1987), half of the unit deviance.
            losses = (
                np.maximum(targets, 0) ** (2 - power) / ((1 - power) * (2 - power))
                - targets * mean ** (1 - power) / (1 - power)
                + mean ** (2 - power) / (2 - power)
            )
        return losses.sum(axis=-1)

    def slopes(self, targets, scores):
        """Slopes (..., k) along the scores."""
        mean = np.exp(scores)
        return (mean - targets) * mean ** (1 - self.power)

    def curvatures(self, targets, scores):
        """Second derivatives, (..., k, k)."""
        power, mean = self.power, np.exp(scores)
        of_mean = (2 - power) * mean ** (2 - power)
        return _diagonal(of_mean - (1 - power) * targets * mean ** (1 - power))


def _diagonal(entries):
    """Diagonal matrices (..., k, k) of entries (..., k)."""
    return entries[..., None] * np.eye(entries.shape[-1])


def _shares(scores):
    """Softmax along the last axis."""
    # Class by class: sums along a short last axis take three times as long.
    shares = np.ascontiguousarray(np.moveaxis(scores, -1, 0))
    shares = np.exp(shares - shares.max(axis=0))
    shares /= shares.sum(axis=0)
    return np.moveaxis(shares, 0, -1)

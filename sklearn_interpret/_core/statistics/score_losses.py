"""Losses of linear scores, as models minimise them, and their slopes.

A loss takes targets and scores before any link, both of shape (..., k). Where scores
move by no more than the loss's `reach`, chosen by hand, slopes and curvatures give its
new value. `self_concordance` is the largest size of its third derivative, in units of
its curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit, softmax, xlogy

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# Newton's steps to a constant score: each doubles the number of its digits.
_N_STEPS = 20


class Loss(Protocol):
    """A loss of linear scores."""

    @property
    def reach(self) -> float:
        """How far scores may move with the slopes and curvatures of a point."""

    @property
    def self_concordance(self) -> float:
        """Largest size of the third derivative, in units of the curvature."""

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...)."""

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""


class HalfSquared:
    """Half the squared error, summed over outputs."""

    reach, self_concordance = np.inf, 0.0

    def means(self, scores: _Array) -> _Array:
        """Expected targets at the scores."""
        return scores

    def scores(self, means: _Array) -> _Array:
        """Scores at which targets of these means are expected."""
        return means

    def score_slopes(self, means: _Array) -> _Array:
        """Slopes (..., k) of `scores`."""
        return np.ones(means.shape)

    def variance_slopes(self, means: _Array) -> _Array:
        """Slopes (..., k) of the variance of targets, along their means."""
        return np.zeros(means.shape)

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...)."""
        return 0.5 * ((scores - targets) ** 2).sum(axis=-1)

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""
        return scores - targets

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""
        return _diagonal_matrices(np.ones(scores.shape))


class Logistic:
    """Minus the log-likelihood of classes 0 and 1, of log-odds; summed over columns."""

    reach, self_concordance = 0.05, 1.0

    def means(self, scores: _Array) -> _Array:
        """Expected targets at the scores."""
        return expit(scores)

    def scores(self, means: _Array) -> _Array:
        """Scores at which targets of these means are expected."""
        return logit(means)

    def score_slopes(self, means: _Array) -> _Array:
        """Slopes (..., k) of `scores`."""
        return 1 / (means * (1 - means))

    def variance_slopes(self, means: _Array) -> _Array:
        """Slopes (..., k) of the variance of targets, along their means."""
        return 1 - 2 * means

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...)."""
        # The logarithm of 1 + exp(score), in half the time of logaddexp. The difference
        # of scores is exact, and comes first: small losses keep their digits.
        losses = np.maximum(scores, 0) - targets * scores
        losses += np.log1p(np.exp(-np.abs(scores)))
        return losses.sum(axis=-1)

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""
        # In a third of the time of expit; signs leave small slopes their digits.
        signs = 2 * targets - 1
        slopes = signs * scores
        with np.errstate(over="ignore"):
            np.exp(slopes, out=slopes)
        slopes += 1
        np.reciprocal(slopes, out=slopes)
        slopes *= -signs
        return slopes

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""
        return _diagonal_matrices(expit(scores) * expit(-scores))


class Softmax:
    """Minus the log-likelihood of classes, given by indicators, of their scores."""

    reach, self_concordance = 0.03, np.inf

    def scores(self, means: _Array) -> _Array:
        """Scores at which targets of these means are expected."""
        return np.log(means)

    def score_slopes(self, means: _Array) -> _Array:
        """Slopes (..., k) of `scores`."""
        return 1 / means

    def variance_slopes(self, means: _Array) -> _Array:
        """Slopes (..., k) of the variance of targets, along their means."""
        return 1 - 2 * means

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...)."""
        gaps = scores - (targets * scores).sum(axis=-1, keepdims=True)
        top = gaps.argmax(axis=-1)[..., None]
        largest = np.take_along_axis(gaps, top, axis=-1)
        # Without the largest term, which is one, small losses keep their digits.
        exponentials = np.exp(gaps - largest)
        np.put_along_axis(exponentials, top, 0.0, axis=-1)
        return largest[..., 0] + np.log1p(exponentials.sum(axis=-1))

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""
        return _softmax(scores) - targets

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""
        shares = _softmax(scores)
        return _diagonal_matrices(shares) - shares[..., :, None] * shares[..., None, :]


class Brier:
    """Squared error of probabilities, summed over columns; scores are probabilities."""

    reach, self_concordance = np.inf, 0.0

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...)."""
        return ((scores - targets) ** 2).sum(axis=-1)

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""
        return 2 * (scores - targets)

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""
        return _diagonal_matrices(np.full(scores.shape, 2.0))


class SquaredHinge:
    """Squared hinge of margins of classes -1 and 1, summed over columns."""

    reach, self_concordance = 0.0, np.inf

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...)."""
        return (np.maximum(1 - targets * scores, 0) ** 2).sum(axis=-1)

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""
        return -2 * targets * np.maximum(1 - targets * scores, 0)

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""
        return _diagonal_matrices(2.0 * (targets * scores < 1))


@dataclass(frozen=True)
class HalfTweedie:
    """Half the unit deviance of a Tweedie distribution; scores are logarithms of means.

    Parameters
    ----------
    power : float
        1 is Poisson's distribution, 2 the gamma distribution, 0 the normal one.
    """

    power: float
    reach = 0.03

    @property
    def self_concordance(self) -> float:
        """Largest size of the third derivative, in units of the curvature."""
        return 1.0 if 1 <= self.power <= 2 else np.inf

    def means(self, scores: _Array) -> _Array:
        """Expected targets at the scores."""
        return np.exp(scores)

    def scores(self, means: _Array) -> _Array:
        """Scores at which targets of these means are expected."""
        return np.log(means)

    def values(self, targets: _Array, scores: _Array) -> _Array:
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

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""
        mean = np.exp(scores)
        return (mean - targets) * mean ** (1 - self.power)

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""
        power, mean = self.power, np.exp(scores)
        of_mean = (2 - power) * mean ** (2 - power)
        return _diagonal_matrices(of_mean - (1 - power) * targets * mean ** (1 - power))


@dataclass(frozen=True)
class HalfHuber:
    """Huber's loss: half the squared error, linear beyond a size.

    Parameters
    ----------
    threshold : float
        The size of a residual from which the loss is linear.
    """

    threshold: float
    reach, self_concordance = 0.0, np.inf

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...)."""
        sizes = np.abs(scores - targets)
        clipped = np.minimum(sizes, self.threshold)
        return (clipped * (sizes - clipped / 2)).sum(axis=-1)

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., k) along the scores."""
        return np.clip(scores - targets, -self.threshold, self.threshold)

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., k, k)."""
        return _diagonal_matrices(1.0 * (np.abs(scores - targets) < self.threshold))


@dataclass(frozen=True)
class HuberWithScale:
    """Huber's concomitant loss: scores are the mean and the scale of its residuals.

    Parameters
    ----------
    epsilon : float
        Number of scales from which the loss of a residual is linear.
    """

    epsilon: float
    reach, self_concordance = 0.0, np.inf

    def values(self, targets: _Array, scores: _Array) -> _Array:
        """Losses of rows, (...): Huber & Ronchetti (2009), page 172."""
        sizes = np.abs(scores[..., 0] - targets[..., 0])
        scale, epsilon = np.maximum(scores[..., 1], 0), self.epsilon
        is_near = sizes < epsilon * scale
        squares = sizes**2 / np.where(is_near, scale, 1)
        linear = 2 * epsilon * sizes - epsilon**2 * scale
        losses = scale + np.where(is_near, squares, linear)
        return np.where(scores[..., 1] < 0, np.inf, losses)

    def slopes(self, targets: _Array, scores: _Array) -> _Array:
        """Slopes (..., 2) along the scores."""
        errors, _ = self._errors_in_scales(targets, scores)
        return np.stack([2 * errors, 1 - errors**2], axis=-1)

    def curvatures(self, targets: _Array, scores: _Array) -> _Array:
        """Second derivatives, (..., 2, 2)."""
        errors, is_near = self._errors_in_scales(targets, scores)
        along = np.stack([np.ones_like(errors), -errors], axis=-1)
        curvature = 2 * is_near / scores[..., 1]
        return curvature[..., None, None] * along[..., :, None] * along[..., None, :]

    def _errors_in_scales(
        self, targets: _Array, scores: _Array
    ) -> tuple[_Array, NDArray[np.bool_]]:
        """Errors in units of the scale, up to epsilon, and whether they are near."""
        errors = (scores[..., 0] - targets[..., 0]) / scores[..., 1]
        is_near = np.abs(errors) < self.epsilon
        return np.clip(errors, -self.epsilon, self.epsilon), is_near


# Losses of regressions, each score of which is the link of a mean.
RegressionLoss = HalfSquared | Logistic | HalfTweedie
# Losses whose slopes are means minus targets: of canonical links.
CanonicalLoss = HalfSquared | Logistic | Softmax


def constant_score(loss: Loss, targets: _Array, weights: _Array) -> float:
    """The score of all rows whose mean loss is least, by Newton's method.

    Targets and weights are (n_rows,); of a single class the score is large.
    """
    score = np.zeros((len(targets), 1))
    for _ in range(_N_STEPS):
        slope = weights @ loss.slopes(targets[:, None], score)[:, 0]
        score -= slope / (weights @ loss.curvatures(targets[:, None], score)[:, 0, 0])
    return float(score[0, 0])


def one_vs_rest_shares(log_odds: _Array) -> _Array:
    """Probabilities of classes from their log-odds, each against all others.

    For two classes, `log_odds` holds the log-odds of the second class alone, (n_rows,).
    """
    if log_odds.ndim == 1:
        log_odds = np.stack([-log_odds, log_odds], axis=1)
    # By logarithms, since all probabilities may round to zero.
    return softmax(log_expit(log_odds), axis=1)


def _diagonal_matrices(entries: NDArray[np.floating]) -> _Array:
    """Diagonal matrices (..., k, k) of entries (..., k)."""
    return entries[..., None] * np.eye(entries.shape[-1])


def _softmax(scores: _Array) -> _Array:
    """Softmax along the last axis."""
    # Class by class: sums along a short last axis take three times as long.
    shares = np.ascontiguousarray(np.moveaxis(scores, -1, 0))
    shares = np.exp(shares - shares.max(axis=0))
    shares /= shares.sum(axis=0)
    return np.moveaxis(shares, 0, -1)

r"""Linear surrogates around a point: weighted least squares from moments.

Selection and coefficients need only weighted moments of the samples. With weights
:math:`\pi_i`, centred samples :math:`z_i` and centred responses :math:`y_i`,

.. math:: G = \frac{\sum_i \pi_i z_i z_i^T}{\sum_i \pi_i}, \qquad
    b = \frac{\sum_i \pi_i z_i y_i}{\sum_i \pi_i}.

:class:`LocalMoments` has these moments. :func:`select_by_weight` and
:func:`select_forward` select features as LIME does (Ribeiro, Singh and Guestrin 2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.linalg.lapack import dposv

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Differences below this, relative to the largest number, are ties: the first wins.
_TIE = 1e-9
# Numbers below this, relative to the largest, are zero: a column is collinear.
_ZERO = 1e-10


@dataclass(frozen=True, eq=False)
class LocalMoments:
    """Weighted moments of p features and k responses, of samples or of a distribution.

    Parameters
    ----------
    mean : ndarray of shape (p,)
        Means of the features.
    response : ndarray of shape (k,)
        Means of the responses.
    gram : ndarray of shape (p, p)
        Covariances of the features: G.
    cross : ndarray of shape (p, k)
        Covariances of features and responses: b.
    """

    mean: _Array
    response: _Array
    gram: _Array
    cross: _Array

    @classmethod
    def of_samples(
        cls, design: _Array, responses: _Array, weights: _Array
    ) -> LocalMoments:
        """Moments of samples (n, p), responses (n, k) and weights (n,)."""
        shares = weights / weights.sum()
        mean, response = shares @ design, shares @ responses
        design = design - mean
        weighted = (design * shares[:, None]).T
        return cls(mean, response, weighted @ design, weighted @ (responses - response))

    def coefficients(self, features: NDArray[np.intp], output: int) -> _Array:
        """Coefficients (size,) of some features; the least-norm ones if collinear."""
        gram = self.gram[np.ix_(features, features)]
        return least_norm(gram, self.cross[features, output])

    def intercept(
        self, features: NDArray[np.intp], coefficients: _Array, output: int
    ) -> float:
        """The regression's value where all features are zero."""
        return float(self.response[output] - self.mean[features] @ coefficients)

    def sampling_errors(
        self,
        features: NDArray[np.intp],
        design: _Array,
        residuals: _Array,
        weights: _Array,
    ) -> _Array:
        r"""Sampling standard errors (size,) of coefficients.

        The square roots of the diagonal of :math:`G^{-1} (\sum_i \pi_i^2 r_i^2 z_i
        z_i^T) G^{-1} / (\sum_i \pi_i)^2`, with :math:`r` the residuals of the samples
        (n, size); they hold whatever the model is (White, 1980,
        https://doi.org/10.2307/1912934).
        """
        gram = self.gram[np.ix_(features, features)]
        scores = (residuals * weights / weights.sum())[:, None]
        scores = (design - self.mean[features]) * scores
        scores = scores @ least_norm(gram, np.eye(len(gram)))
        return np.sqrt(np.einsum("ij,ij->j", scores, scores))


def least_norm(gram: _Array, cross: _Array) -> _Array:
    """Solution (p,) or (p, m) of normal equations; if not unique, of least norm."""
    if not len(gram):
        return cross.copy()
    # Called for each row, where scipy's checks would take most of the time.
    factor, solution, failed = dposv(gram, cross, lower=True)
    if not failed and (factor.diagonal() ** 2).min() > _ZERO * gram.diagonal().max():
        return solution
    return lstsq(gram, cross, cond=_ZERO)[0]


def largest_first(sizes: _Array) -> NDArray[np.intp]:
    """Positions of sizes from large to small; ties within rounding keep their order."""
    # Ranks of rounded sizes: stable sorting then keeps ties in order.
    ranks = np.round(sizes / (_TIE * (sizes.max(initial=0.0) or 1.0)))
    return np.argsort(-ranks, kind="stable")


def select_by_weight(moments: LocalMoments, output: int, size: int) -> NDArray[np.intp]:
    """The `size` features of the largest coefficients in a regression on all."""
    features = np.arange(len(moments.mean))
    sizes = np.abs(moments.coefficients(features, output))
    return largest_first(sizes)[:size]


def select_forward(moments: LocalMoments, output: int, size: int) -> NDArray[np.intp]:
    """The first `size` features of a forward selection.

    Each step adds the feature that explains most of the remaining variance.
    """
    gram, cross = moments.gram.copy(), moments.cross[:, output].copy()
    start = gram.diagonal().copy()
    selected, free = [], np.ones(len(start), dtype=bool)
    for _ in range(size):
        variances = gram.diagonal()
        usable = free & (variances > _ZERO * start) & (variances > 0)
        gains = np.where(usable, cross**2 / np.where(usable, variances, 1.0), -1.0)
        gains[~free] = -2.0  # after collinear features, which come last
        best = int(np.argmax(gains >= gains.max() * (1 - np.sign(gains.max()) * _TIE)))
        selected.append(best)
        free[best] = False
        if usable[best]:  # project this feature out of the others
            column = gram[:, best] / gram[best, best]
            cross = cross - column * cross[best]
            gram = gram - np.outer(column, gram[best])
    return np.array(selected, dtype=np.intp)

r"""Linear surrogates around a point: weighted least squares from moments.

All that selection and coefficients need of the samples are weighted means: with
:math:`\pi_i` the weights, :math:`z_i` the samples, :math:`y_i` the answers, centred,

.. math:: G = \frac{\sum_i \pi_i z_i z_i^T}{\sum_i \pi_i}, \qquad
    b = \frac{\sum_i \pi_i z_i y_i}{\sum_i \pi_i}.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, lstsq

# As a share of the largest: so small a difference is rounding, and the first is taken.
_TIE = 1e-9
# What is so small, next to the largest, counts as zero.
_ZERO = 1e-10
# Of answers: so far apart are those that are the same.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted moments of samples and answers.

    Build it with :meth:`of_samples`.

    Parameters
    ----------
    mean : ndarray of shape (p,)
        Means of the features.
    answer : ndarray of shape (k,)
        Means of the answers.
    gram : ndarray of shape (p, p)
        Covariances of the features: G.
    cross : ndarray of shape (p, k)
        Covariances of features and answers: b.
    """

    mean: np.ndarray
    answer: np.ndarray
    gram: np.ndarray
    cross: np.ndarray

    @classmethod
    def of_samples(cls, design, answers, weights):
        """Moments of samples.

        Parameters
        ----------
        design : ndarray of shape (n, p)
            Samples, feature by feature.
        answers : ndarray of shape (n, k)
            The model's answers.
        weights : ndarray of shape (n,)
            Not negative, not all zero.

        Returns
        -------
        Moments
        """
        shares = weights / weights.sum()
        mean, answer = shares @ design, shares @ answers
        design, answers = design - mean, answers - answer
        weighted = design * shares[:, None]
        return cls(
            mean=mean,
            answer=answer,
            gram=weighted.T @ design,
            cross=weighted.T @ answers,
        )

    def coefficients(self, chosen, output):
        """Coefficients of a regression on some features.

        Parameters
        ----------
        chosen : ndarray of shape (size,), intp
            The features.
        output : int
            The answer.

        Returns
        -------
        ndarray of shape (size,)
            Collinear features share what they explain.
        """
        gram = self.gram[np.ix_(chosen, chosen)]
        return least_norm(gram, self.cross[chosen, output])

    def intercept(self, chosen, coefficients, output):
        """What a surrogate answers where all features are zero."""
        return float(self.answer[output] - self.mean[chosen] @ coefficients)


def least_norm(gram, right):
    """Solution of normal equations; of many, the shortest.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Covariances.
    right : ndarray of shape (p,) or (p, m)
        Right-hand sides.

    Returns
    -------
    ndarray of the shape of `right`
    """
    if not len(gram):
        return right.copy()
    try:
        factor = cholesky(gram, lower=True)
        sizes = factor.diagonal() ** 2
        if sizes.min() > _ZERO * gram.diagonal().max():
            return cho_solve((factor, True), right)
    except LinAlgError:
        pass
    return lstsq(gram, right, cond=_ZERO)[0]


def largest_first(sizes):
    """Positions of numbers that are not negative, from the largest to the smallest.

    Parameters
    ----------
    sizes : ndarray of shape (p,)
        The numbers.

    Returns
    -------
    ndarray of shape (p,), intp
        Numbers that differ by rounding alone stand as they stood.
    """
    ranks = np.round(sizes / (_TIE * (sizes.max(initial=0.0) or 1.0)))
    return np.argsort(-ranks, kind="stable")


def by_weight(moments, output, size):
    """The features with the largest coefficients in a regression on all.

    Parameters
    ----------
    moments : Moments
        Moments of the samples.
    output : int
        The answer.
    size : int
        How many features.

    Returns
    -------
    ndarray of shape (size,), intp
    """
    every = np.arange(len(moments.mean))
    sizes = np.abs(moments.coefficients(every, output))
    return largest_first(sizes)[:size]


def forward(moments, output, size):
    """Features one after the other, each time the one that explains most of the rest.

    Parameters
    ----------
    moments, output, size : object
        As :func:`by_weight` takes them.

    Returns
    -------
    ndarray of shape (size,), intp
        In the order in which they came in.
    """
    gram, cross = moments.gram.copy(), moments.cross[:, output].copy()
    start = gram.diagonal().copy()
    chosen, free = [], np.ones(len(start), dtype=bool)
    for _ in range(size):
        left = gram.diagonal()
        usable = free & (left > _ZERO * start) & (left > 0)
        gains = np.where(usable, cross**2 / np.where(usable, left, 1.0), -1.0)
        gains[~free] = -2.0
        best = int(np.argmax(gains >= gains.max() * (1 - np.sign(gains.max()) * _TIE)))
        chosen.append(best)
        free[best] = False
        if usable[best]:  # sweep it out of the others
            column = gram[:, best] / gram[best, best]
            cross = cross - column * cross[best]
            gram = gram - np.outer(column, gram[best])
    return np.array(chosen, dtype=np.intp)


def sampling_errors(design, residuals, weights):
    r"""Standard errors of coefficients, for the choice of the samples.

    The square roots of the diagonal of :math:`G^{-1} (\sum_i \pi_i^2 r_i^2 z_i z_i^T)
    G^{-1} / (\sum_i \pi_i)^2`, with :math:`r` the residuals; it holds whatever the
    model is.

    Parameters
    ----------
    design : ndarray of shape (n, size)
        Samples of the features that were chosen.
    residuals : ndarray of shape (n,)
        What the surrogate misses.
    weights : ndarray of shape (n,)
        Weights.

    Returns
    -------
    ndarray of shape (size,)

    References
    ----------
    White, H. (1980). A heteroskedasticity-consistent covariance matrix estimator and a
    direct test for heteroskedasticity. Econometrica 48(4).
    https://doi.org/10.2307/1912934
    """
    shares = weights / weights.sum()
    centred = design - shares @ design
    gram = (centred * shares[:, None]).T @ centred
    inverse = least_norm(gram, np.eye(len(gram)))
    scores = (centred * (shares * residuals)[:, None]) @ inverse
    return np.sqrt((scores**2).sum(axis=0))

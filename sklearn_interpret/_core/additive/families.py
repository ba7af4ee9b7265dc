"""Distributions of targets, and links of their means with linear predictors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logit, xlog1py, xlogy

from sklearn_interpret._core.regression.overdispersion import (
    excess_of_counts,
    excess_of_shares,
)


@dataclass(frozen=True)
class Link:
    """A function of the mean that is the linear predictor.

    Parameters
    ----------
    of_mean, mean, slope : callable
        The link, its inverse, and the slope of the inverse.
    """

    of_mean: Callable[..., NDArray[np.float64]]
    mean: Callable[..., NDArray[np.float64]]
    slope: Callable[..., NDArray[np.float64]]


def _exp(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exponential, so far above zero that its square is a normal number."""
    return np.exp(np.maximum(scores, -300))


def _expit(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logistic function, clipped where 1 - p still has three digits."""
    return expit(np.clip(scores, -30, 30))


LINKS = {
    "identity": Link(lambda m: m, lambda s: s, np.ones_like),
    "log": Link(np.log, _exp, _exp),
    "logit": Link(logit, _expit, lambda s: _expit(s) * _expit(-s)),
    "inverse": Link(lambda m: 1 / m, lambda s: 1 / s, lambda s: -1 / s**2),
}


@dataclass(frozen=True)
class Family:
    """A distribution of targets of given means.

    Parameters
    ----------
    links : tuple of str
        Links that are accepted, the default first.
    domain : str
        The targets that are accepted, in words.
    holds : callable
        Whether targets are in the domain.
    variance : callable
        The variance at a mean, in units of the dispersion.
    deviance : callable
        Unit deviances of targets and means.
    log_likelihood : callable
        Logarithms of densities, of targets, means and the dispersion.
    dispersion : float or None
        The dispersion, None where it is estimated.
    excess : callable or None
        Squared residuals less what they are expected to be, and the variances, of
        targets, means and numbers of trials; of those tested for overdispersion.
    is_quasi : bool
        Whether there is no distribution: the deviance stands for its likelihood.
    shape : float or None
        Estimated shape parameter: theta of the negative binomial distribution.
    """

    links: tuple[str, ...]
    domain: str
    holds: Callable[..., NDArray[np.bool_]]
    variance: Callable[..., NDArray[np.float64]]
    deviance: Callable[..., NDArray[np.float64]]
    log_likelihood: Callable[..., NDArray[np.float64]]
    dispersion: float | None = None
    excess: Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]] | None = None
    is_quasi: bool = False
    shape: float | None = None


FAMILIES = {
    "normal": Family(
        links=("identity", "log"),
        domain="numbers",
        holds=lambda y: np.isfinite(y),
        variance=np.ones_like,
        deviance=lambda y, m: (y - m) ** 2,
        log_likelihood=lambda y, m, phi: (
            -((y - m) ** 2 / phi + np.log(2 * np.pi * phi)) / 2
        ),
    ),
    "binomial": Family(
        links=("logit",),
        domain="shares from 0 to 1",
        holds=lambda y: (y >= 0) & (y <= 1),
        variance=lambda m: m * (1 - m),
        deviance=lambda y, m: (
            2 * (xlogy(y, y) + xlog1py(1 - y, -y) - xlogy(y, m) - xlog1py(1 - y, -m))
        ),
        log_likelihood=lambda y, m, phi: xlogy(y, m) + xlog1py(1 - y, -m),
        dispersion=1.0,
        excess=excess_of_shares,
    ),
    "poisson": Family(
        links=("log",),
        domain="numbers from 0 on",
        holds=lambda y: y >= 0,
        variance=lambda m: m,
        deviance=lambda y, m: 2 * (xlogy(y, y / m) - y + m),
        log_likelihood=lambda y, m, phi: xlogy(y, m) - m - gammaln(y + 1),
        dispersion=1.0,
        excess=excess_of_counts,
    ),
    "gamma": Family(
        links=("log", "inverse"),
        domain="numbers above 0",
        holds=lambda y: y > 0,
        variance=lambda m: m**2,
        deviance=lambda y, m: 2 * (y / m - 1 - np.log(y / m)),
        log_likelihood=lambda y, m, phi: (
            xlogy(1 / phi, y / (m * phi)) - y / (m * phi) - np.log(y) - gammaln(1 / phi)
        ),
    ),
}


def negative_binomial(shape: float) -> Family:
    """Counts whose variance is m + m^2 / shape at the mean m."""
    return Family(
        links=("log",),
        domain="numbers from 0 on",
        holds=lambda y: y >= 0,
        variance=lambda m: m + m**2 / shape,
        deviance=lambda y, m: (
            2 * (xlogy(y, y / m) - (y + shape) * np.log((y + shape) / (m + shape)))
        ),
        log_likelihood=lambda y, m, phi: (
            gammaln(y + shape)
            - gammaln(shape)
            - gammaln(y + 1)
            - shape * np.log1p(m / shape)
            - xlogy(y, 1 + shape / m)
        ),
        dispersion=1.0,
        shape=shape,
    )


FAMILIES["negative_binomial"] = negative_binomial(1.0)
for _name in ("poisson", "binomial"):
    FAMILIES[f"quasi{_name}"] = replace(
        FAMILIES[_name], dispersion=None, excess=None, is_quasi=True
    )

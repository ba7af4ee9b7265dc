"""P-values of numbers against a sample of what they are where nothing is there."""

import numpy as np
from scipy import stats

DISTRIBUTIONS = ("empirical", "normal", "lognormal", "gamma")
OF_POSITIVE = ("lognormal", "gamma")  # which take positive draws only


def upper_tail(observed, null, distribution):
    """Probability of a number at least as large as the one observed.

    Parameters
    ----------
    observed : ndarray of shape (p,)
        Numbers.
    null : ndarray of shape (n, p)
        Draws of each under the null hypothesis.
    distribution : {"empirical", "normal", "lognormal", "gamma"}
        "empirical" is (1 + number of draws at least as large) / (1 + n), which is
        never zero. The others are fitted to the draws by maximum likelihood; draws
        that are all equal have no distribution to fit, and are taken as they are.

    Returns
    -------
    ndarray of shape (p,)
    """
    counted = (1 + (null >= observed).sum(axis=0)) / (1 + len(null))
    if distribution == "empirical":
        return counted
    varying = np.ptp(null, axis=0) > 0
    fitted_tail = {
        "normal": _normal_tail,
        "lognormal": _lognormal_tail,
        "gamma": _gamma_tail,
    }[distribution]
    return np.where(varying, fitted_tail(observed, null, varying), counted)


def _normal_tail(observed, null, varying):
    spread = np.where(varying, null.std(axis=0), 1.0)
    return stats.norm.sf((observed - null.mean(axis=0)) / spread)


def _lognormal_tail(observed, null, varying):
    tail = np.ones(len(observed))
    seen = varying & (observed > 0)
    logs = np.log(null[:, seen])
    tail[seen] = _normal_tail(np.log(observed[seen]), logs, np.ptp(logs, axis=0) > 0)
    return tail


def _gamma_tail(observed, null, varying):
    tail = np.ones(len(observed))
    for j in np.flatnonzero(varying & (observed > 0)):
        shape, _, scale = stats.gamma.fit(null[:, j], floc=0)
        tail[j] = stats.gamma.sf(observed[j], shape, scale=scale)
    return tail

"""Covariance of coefficients that allows for the choice of smoothing parameters."""

import numpy as np
from scipy.linalg import eigh
from scipy.special import softmax

from sklearn_interpret._core.additive.smoothing import bounds

# Steps of the log smoothing parameter, and the range of its posterior up from where
# penalties weigh as the rows do: beyond, terms have vanished.
_STEP, _RANGE = 1.0, 15.0


def smoothing_covariance(fit, dispersion):
    """What estimating the smoothing parameters adds to the covariance of coefficients.

    Each smoothing parameter has a posterior: its restricted likelihood, times a prior
    that is flat in the variance of the coefficients that it penalises (Morris, 1983).
    The coefficients then have a mixture of normal distributions; what is added is the
    growth of their second moment about the estimate. Wood, Pya & Saefken (2016, section
    4) expand the same moment at the best parameters, which leaves out terms that have
    vanished, for these do not change there.

    Parameters
    ----------
    fit : PenalisedFit
        The last least squares problem.
    dispersion : float
        Of the targets.
    """
    added = np.zeros_like(fit.inverse)
    balanced = fit.equations.balanced
    low, _ = bounds(balanced, fit.equations.n_rows)
    grids = [
        np.arange(*ends, _STEP) for ends in zip(low, balanced + _RANGE, strict=True)
    ]
    for scaled, rho, grid in zip(fit.scaled, fit.log_smoothing, grids, strict=True):
        used = np.flatnonzero(scaled)
        roots = np.sqrt(scaled[used])
        # Along a smoothing parameter the inverse is V - G diag(g) G'.
        sizes, vectors = eigh(roots[:, None] * fit.inverse[np.ix_(used, used)] * roots)
        sizes = sizes.clip(0, 1 - 1e-12)
        directions = fit.inverse[:, used] @ (roots[:, None] * vectors)
        pulls = vectors.T @ (roots * fit.coefficients[used])
        steps = grid - rho
        factors = np.expm1(steps)[:, None]
        grown = 1 + factors * sizes
        falls = factors / grown
        others = np.maximum(fit.sizes[used] - scaled[used], 0)
        penalties = others + np.exp(steps)[:, None] * scaled[used]
        ratio = np.log(grown).sum(axis=1) - np.log(penalties).sum(axis=1)
        least = np.maximum(fit.least + falls @ pulls**2, fit.floor)
        loss = fit.profiled(least) + ratio
        shares = softmax(-loss / 2 - steps)
        moved = falls * pulls
        spread = (shares * moved.T) @ moved
        spread += dispersion * np.diag(np.maximum(-shares @ falls, 0))
        added += directions @ spread @ directions.T
    return added

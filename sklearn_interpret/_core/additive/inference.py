"""Whether a term of an additive model is zero everywhere."""

import numpy as np
from scipy.stats import chi2, f

# How much less rough functions count, beside a penalty that weighs as the rows do.
_ROUGH = 10.0


def term_test(fit, part, dispersion, residual_dof):
    """Score test of the variance of a term's coefficients (Zhang & Lin 2003).

    The score u is what the targets leave, without the term, in the direction of each of
    its functions; the statistic is sum_i k_i u_i^2, in which smooth functions count
    most. Both are the same whatever the term's own smoothing parameters, which the
    targets have chosen: so p-values of a term of noise are uniform.

    Parameters
    ----------
    fit : PenalisedFit
        The last least squares problem.
    part : slice
        The term's coefficients.
    dispersion : float
        Of the targets.
    residual_dof : float
        Of the dispersion; infinite where it is known.

    Returns
    -------
    statistic, pvalue : float
        The statistic in units of its mean.
    """
    equations = fit.equations
    if part.start == part.stop:  # of a single level
        return 0.0, 1.0
    inverse = np.linalg.inv(fit.inverse[part, part])
    score = inverse @ fit.coefficients[part]
    covariance = dispersion * (inverse - np.diag(fit.sizes[part]))
    penalties = equations.penalties[:, part]
    # A penalty that is the same everywhere does not say what is rough.
    sizes = np.where(penalties > 0, penalties, np.inf).min(axis=1)
    graded = penalties.max(axis=1) > sizes
    rough = np.exp(equations.balanced[graded]) @ penalties[graded]
    products = np.diag(equations.products)
    weights = 1 / np.maximum(products[part] + _ROUGH * rough, 1e-9 * products.max())
    mean = weights @ np.diag(covariance)
    if mean <= 1e-9 * dispersion * len(weights):  # of a constant column
        return 0.0, 1.0
    statistic = weights @ score**2 / mean
    # A mixture of chi squares, with the mean and the variance of one.
    dof = mean**2 / (weights @ covariance**2 @ weights)
    if np.isinf(residual_dof):
        return statistic, chi2.sf(dof * statistic, dof)
    return statistic, f.sf(statistic, dof, residual_dof)

"""Whether a term of an additive model is zero everywhere."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, f

# Degrees of freedom for each direction that no penalty calls rough.
_DOF = 4


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
    # A penalty that is the same wherever it counts does not say what is rough.
    graded = np.array([len(np.unique(row[row > 0])) > 1 for row in penalties], bool)
    rough = penalties[graded].sum(axis=0)
    products = np.diag(equations.products)
    sizes = np.maximum(products[part], 1e-9 * products.max())
    weights = 1 / (sizes + _roughness(sizes, rough) * rough)
    mean = weights @ np.diag(covariance)
    if mean <= 1e-9 * dispersion * len(weights):  # of a constant column
        return 0.0, 1.0
    statistic = weights @ score**2 / mean
    # A mixture of chi squares, with the mean and the variance of one.
    dof = mean**2 / (weights @ covariance**2 @ weights)
    if np.isinf(residual_dof):
        return statistic, chi2.sf(dof * statistic, dof)
    return statistic, f.sf(statistic, dof, residual_dof)


def _roughness(sizes, rough):
    """The smoothing parameter of few degrees of freedom, however many functions."""
    dof = _DOF * max(1, (rough == 0).sum())
    if len(sizes) <= dof:
        return 0.0
    unit = sizes.max() / rough.max(initial=1e-300)

    def excess(rho):
        return (sizes / (sizes + unit * np.exp(rho) * rough)).sum() - dof

    return unit * np.exp(brentq(excess, -40, 60))

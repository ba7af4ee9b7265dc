"""Tests that products of residuals have the mean zero."""

import numpy as np
from scipy.stats import chi2, false_discovery_control, norm

# Variances below this share of the largest are rounding errors.
_NEGLIGIBLE = 1e-10


def product_test(products, weights):
    """Generalised covariance measure (Shah & Peters 2020, section 3) of some products.

    The statistic is that of Wald for all means together, chi-squared with as many
    degrees of freedom as the products have dimensions.

    Parameters
    ----------
    products : ndarray of shape (n_rows, q)
        Products of a residual of the target and one of the feature.
    weights : ndarray of shape (n_rows,)
        Weights of the rows, which count as repeated rows.

    Returns
    -------
    statistic, pvalue : float
        For one product, the statistic is the square of the normal one.
    """
    total = weights.sum()
    means = weights @ products / total
    deviations = products - means
    covariance = deviations.T @ (deviations * weights[:, None]) / total
    variances, directions = np.linalg.eigh(covariance)
    varying = variances > _NEGLIGIBLE * max(variances[-1], 0.0)
    if not varying.any():
        return 0.0, 1.0
    along = means @ directions[:, varying]
    statistic = float(total * (along**2 / variances[varying]).sum())
    return statistic, float(chi2.sf(statistic, varying.sum()))


def one_sided_test(products, weights):
    """Normal statistic of the mean of products (n_rows,), and its upper p-value."""
    total = weights.sum()
    mean = weights @ products / total
    deviation = np.sqrt(weights @ (products - mean) ** 2 / total)
    if not deviation > 0:
        return 0.0, 1.0
    statistic = float(np.sqrt(total) * mean / deviation)
    return statistic, float(norm.sf(statistic))


def adjusted_pvalues(pvalues, correction):
    """P-values adjusted for their number: by "holm" (Holm 1979), "bh", or None."""
    pvalues = np.asarray(pvalues, dtype=np.float64)
    if correction == "bh":
        return false_discovery_control(pvalues)
    if correction is None:
        return pvalues
    order, n = np.argsort(pvalues), len(pvalues)
    adjusted = np.empty(n)
    steps = np.maximum.accumulate(pvalues[order] * np.arange(n, 0, -1))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted

"""Tests that products of residuals have the mean zero."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f, false_discovery_control, t

# Variances below this share of the largest are rounding errors.
_NEGLIGIBLE = 1e-10


def generalised_covariance_test(
    products: NDArray[np.float64],
    held_out: NDArray[np.float64],
    weights: NDArray[np.float64],
    least_variances: NDArray[np.float64] | float = 0.0,
) -> tuple[float, float]:
    """Generalised covariance measure (Shah & Peters 2020, section 3) of some products.

    The statistic is Hotelling's T squared of all means together, with the p-value for
    normal products. In large samples it is chi-squared, with as many degrees of freedom
    as the products have dimensions.

    Parameters
    ----------
    products : ndarray of shape (n_rows, q)
        Products of a residual of the target and one of the feature.
    held_out : ndarray of shape (n_rows, q)
        Products of held-out residuals, whose variance does not shrink where a row
        determines its own prediction (as HC3 of MacKinnon & White 1985).
    weights : ndarray of shape (n_rows,)
        Weights of the rows, which count as repeated rows.
    least_variances : ndarray of shape (q,) or float, default=0.0
        Lower bounds of the products' variances: what they are if the residuals are
        independent. Products of a rare class and a rare flag may lack the few rows that
        have both, and with them nearly all of their variance.

    Returns
    -------
    statistic, pvalue : float
        For one product, the statistic is the square of Student's.
    """
    total = weights.sum()
    # Scaled to a largest size of one: the statistic does not depend on scales, but what
    # counts as a rounding error does.
    largest = np.abs(held_out).max(axis=0)
    scale = np.where(largest > 0, largest, 1.0)
    means = weights @ products / total / scale
    deviations = (held_out - weights @ held_out / total) / scale
    covariance = deviations.T @ (deviations * weights[:, None]) / max(total - 1, 1.0)
    sample_variances = np.diag(covariance)
    bounded = np.maximum(sample_variances, least_variances / scale**2)
    means *= np.sqrt(sample_variances / np.where(bounded > 0, bounded, 1.0))
    variances, directions = np.linalg.eigh(covariance)
    is_varying = variances > _NEGLIGIBLE * max(variances[-1], 0.0)
    n_varying = is_varying.sum()
    if not 0 < n_varying < total:
        return 0.0, 1.0
    projections = means @ directions[:, is_varying]
    statistic = float(total * (projections**2 / variances[is_varying]).sum())
    dof = n_varying, total - n_varying
    ratio = statistic * dof[1] / (dof[0] * (total - 1))
    return statistic, float(f.sf(ratio, *dof))


def one_sided_test(
    products: NDArray[np.float64],
    weights: NDArray[np.float64],
    held_out: NDArray[np.float64] | None = None,
    least_variance: float = 0.0,
) -> tuple[float, float]:
    """Student's statistic of the mean of products (n_rows,), and its upper p-value.

    The variance is that of the held-out products, or `least_variance` if that is
    larger, as in `generalised_covariance_test`.
    """
    total = weights.sum()
    mean = weights @ products / total
    held_out = products if held_out is None else held_out
    squares = weights @ (held_out - weights @ held_out / total) ** 2
    if not (squares > 0 and total > 1):
        return 0.0, 1.0
    variance = max(squares / (total - 1), least_variance)
    statistic = float(mean / np.sqrt(variance / total))
    return statistic, float(t.sf(statistic, total - 1))


def combine_splits(statistics: NDArray[np.float64], dof: float) -> tuple[float, float]:
    """Statistic and upper p-value of one-sided tests of several splits of the rows.

    Each split into halves has two tests, each with a direction that the other half
    gives. In the limit of many rows the mean of all tests has at most the variance
    (1 + 1 / n_splits) / 2: the tests of one split have a correlation of 2 / pi for a
    direction of one dimension that is noise, and are equal for one of many; tests of
    different splits have at most 1 / 2. For few dimensions the mean is not normal, and
    its upper tail is heavier. A normal distribution of the variance
    2 / pi + (1 - 2 / pi) / n_splits is wider: simulated tails are below its own at
    levels of 10 % and less.

    Parameters
    ----------
    statistics : ndarray of shape (n_splits, 2)
        Student's statistics.
    dof : float
        Their degrees of freedom.

    Returns
    -------
    statistic, pvalue : float
        The mean, divided by that deviation, and its p-value by Student's distribution;
        0 and 1 if all statistics are zero, as of products that do not vary.
    """
    if not statistics.any():
        return 0.0, 1.0
    correlation = 2 / np.pi
    variance = correlation + (1 - correlation) / len(statistics)
    statistic = float(statistics.mean() / np.sqrt(variance))
    return statistic, float(t.sf(statistic, dof))


def adjusted_pvalues(
    pvalues: NDArray[np.float64], correction: str | None
) -> NDArray[np.float64]:
    """P-values adjusted for their number: by "holm" (Holm 1979), "bh", or None."""
    if correction == "bh":
        return false_discovery_control(pvalues)
    if correction is None:
        return pvalues.copy()
    order, n = np.argsort(pvalues), len(pvalues)
    stepped_down = np.maximum.accumulate(pvalues[order] * np.arange(n, 0, -1))
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(stepped_down, 1.0)
    return adjusted

"""Tests of terms, and how far a curve may be from the fitted one."""

import numpy as np
from scipy.linalg import eigh
from scipy.stats import chi2, f


def term_pvalue(coefficients, covariance, products, rank, residual_dof):
    """Whether a term is zero everywhere, by Wood's (2013) rank-truncated test.

    Parameters
    ----------
    coefficients : ndarray of shape (q,)
        Of the term.
    covariance : ndarray of shape (q, q)
        Of its coefficients, in the Bayesian view of penalties.
    products : ndarray of shape (q, q)
        X'WX of the term.
    rank : float
        Effective degrees of freedom.
    residual_dof : float
        Of the dispersion; infinite where it is known.

    Returns
    -------
    statistic, pvalue : float
    """
    # A root of X'WX in the place of the R of X = QR.
    sizes, vectors = eigh(products)
    root = np.sqrt(np.maximum(sizes, 0))[:, None] * vectors.T
    values, vectors = eigh(root @ covariance @ root.T)
    known = (values > values.max(initial=0) * 1e-14) & (values > 0)
    if not known.any():
        return 0.0, 1.0
    values, vectors = values[known][::-1], vectors[:, known][:, ::-1]
    # Of variance one, under the null hypothesis.
    scores = vectors.T @ (root @ coefficients) / np.sqrt(values)
    rank = min(max(rank, 1.0), len(values))
    k = int(rank)
    part = rank - k
    statistics = [scores[:k] @ scores[:k]]
    if part > 0:
        # The fraction of a rank: the last two in a matrix of eigenvalues 1 and part
        # (equation 8), whose sign off the diagonal is as good as the other.
        whole, last = scores[k - 1 : k + 1]
        cross = 2 * np.sqrt(part * (1 - part) / 2) * whole * last
        statistics = [statistics[0] + part * last**2 + s * cross for s in (1, -1)]
    # A mixture of chi squares, with the mean and the variance of one of this rank.
    law = chi2(rank) if np.isinf(residual_dof) else f(rank, residual_dof)
    scale = 1 if np.isinf(residual_dof) else rank
    pvalues = law.sf(np.array(statistics) / scale)
    return float(np.mean(statistics)), float(np.mean(pvalues))

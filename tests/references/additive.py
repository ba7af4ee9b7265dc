"""Additive models of normal targets, written out: dense designs, dense covariances."""

import numpy as np
from scipy.linalg import null_space
from scipy.stats import multivariate_normal


def b_splines(x, n_splines):
    """Cubic B-splines over the range of x, by the recursion of Cox and de Boor."""
    low, high = x.min(), x.max()
    width = (high - low) / (n_splines - 3)
    knots = low + width * np.arange(-3, n_splines + 1)
    inside = np.minimum(x, high - 1e-12 * width)
    values = [(a <= inside) & (inside < a + width) for a in knots[:-1]]
    for degree in (1, 2, 3):
        span = degree * width
        values = [
            (x - knots[i]) / span * values[i]
            + (knots[i + degree + 1] - x) / span * values[i + 1]
            for i in range(len(values) - 1)
        ]
    return np.stack(values, axis=1)


def penalty_roots(n_splines, smoothing, shrinkage):
    """Matrix R with R'R the penalty matrix: of wiggles, and of the straight line."""
    differences = np.diff(np.eye(n_splines), 2, axis=0)
    largest = np.linalg.eigvalsh(differences.T @ differences).max()
    roots = np.sqrt(smoothing[0] / largest) * differences
    if not shrinkage:
        return roots
    line = np.arange(n_splines) - (n_splines - 1) / 2
    line /= np.linalg.norm(line)
    return np.vstack([roots, np.sqrt(smoothing[1]) * line])


def fitted_values(X, y, weights, n_splines, smoothing, shrinkage):
    """Fitted values of penalised least squares, of rows and penalties as more rows."""
    n, p = X.shape
    designs = [b_splines(x, n_splines) for x in X.T]
    design = np.hstack([np.ones((n, 1)), *designs])
    each = len(smoothing) // p
    below = np.zeros((0, design.shape[1]))
    for j in range(p):
        part = smoothing[j * each : (j + 1) * each]
        roots = penalty_roots(n_splines, part, shrinkage)
        block = np.zeros((len(roots), design.shape[1]))
        block[:, 1 + j * n_splines : 1 + (j + 1) * n_splines] = roots
        below = np.vstack([below, block])
    scale = np.sqrt(weights)
    rows = np.vstack([scale[:, None] * design, below])
    targets = np.append(scale * y, np.zeros(len(below)))
    return design @ np.linalg.lstsq(rows, targets, rcond=1e-12)[0]


def restricted_likelihood(X, y, n_splines, smoothing):
    """Logarithm of the likelihood of contrasts, terms being Gaussian processes.

    The dispersion is the best one; all of every term is penalised.
    """
    n, p = X.shape
    covariance = np.eye(n)
    for j in range(p):
        basis = b_splines(X[:, j], n_splines)
        roots = penalty_roots(n_splines, [1, 1], True)
        # Wiggles and the line have no part in each other.
        for root, size in zip(
            (roots[:-1], roots[-1:]), smoothing[2 * j :], strict=False
        ):
            inverse = np.linalg.pinv(root.T @ root, 1e-10)
            covariance += basis @ inverse @ basis.T / size
    contrasts = null_space(np.ones((1, n)))
    z, covariance = contrasts.T @ y, contrasts.T @ covariance @ contrasts
    dispersion = z @ np.linalg.solve(covariance, z) / (n - 1)
    likelihood = multivariate_normal(cov=dispersion * covariance).logpdf(z)
    # The intercept has a flat density, of its own value and not of a unit vector's.
    return likelihood - np.log(n) / 2

"""Penalised least squares, and the choice of how much each penalty counts.

Minimised is |z - X b|^2 + sum_k lambda_k b' D_k b, of diagonal D_k. All that is asked
of the rows are the sums X'WX, X'Wz and z'Wz; a step takes one Cholesky factor.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigh, lapack
from scipy.optimize import minimize

# How far from the sizes of the sums X'WX smoothing parameters go, as logarithms.
_LOW, _HIGH = -20.0, 25.0


@dataclass(frozen=True)
class NormalEquations:
    """Sums over the rows, and the penalties.

    Parameters
    ----------
    products : ndarray of shape (p, p)
        X'WX.
    sums : ndarray of shape (p,)
        X'Wz.
    square : float
        z'Wz.
    n_rows : float
        The sum of the rows' own weights.
    penalties : ndarray of shape (n_penalties, p)
        The diagonals D_k.
    dispersion : float or None
        Where it is known.
    """

    products: np.ndarray
    sums: np.ndarray
    square: float
    n_rows: float
    penalties: np.ndarray
    dispersion: float | None

    @property
    def balanced(self):
        """Logarithms of smoothing parameters that weigh penalties as the rows."""
        sizes = self.penalties @ np.diag(self.products)
        totals = self.penalties.sum(axis=1)
        return np.log(np.where(sizes > 0, sizes, totals) / totals)


class PenalisedFit:
    """The solution of penalised normal equations at some smoothing parameters.

    Parameters
    ----------
    equations : NormalEquations
        The sums.
    log_smoothing : ndarray of shape (n_penalties,)
        Logarithms of the smoothing parameters.

    Attributes
    ----------
    coefficients : ndarray of shape (p,)
        The solution b.
    inverse : ndarray of shape (p, p)
        V = (X'WX + S)^-1.
    penalty : float
        b' S b.
    least : float
        The minimum: residual sum of squares and penalty.
    """

    def __init__(self, equations, log_smoothing):
        self.equations, self.log_smoothing = equations, log_smoothing
        # Lambda_k = lambda_k D_k, and S = sum_k Lambda_k.
        self.scaled = np.exp(log_smoothing)[:, None] * equations.penalties
        products, sums = equations.products, equations.sums
        self.sizes = self.scaled.sum(axis=0)
        # What no penalty touches, and no row tells of, is zero.
        floor = 1e-12 * np.diag(products).max() * (self.sizes == 0)
        floor[0] = 0
        matrix = products + np.diag(self.sizes + floor)
        scales = np.sqrt(np.diag(matrix))
        factor = cholesky(matrix / np.outer(scales, scales), check_finite=False)
        inverse, _ = lapack.dpotri(factor)
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        self.inverse = inverse / np.outer(scales, scales)
        self.log_determinant = 2 * np.log(np.diag(factor) * scales).sum()
        self.coefficients = self.inverse @ sums
        self.penalties = self.scaled @ self.coefficients**2
        self.penalty = self.penalties.sum()
        rounding = 1e-14 * equations.square + np.finfo(float).tiny
        self.least = max(equations.square - sums @ self.coefficients, rounding)

    @property
    def dof(self):
        """Effective degrees of freedom, by coefficient: the diagonal of V X'WX."""
        return (self.inverse * self.equations.products).sum(axis=1)

    @property
    def n_free(self):
        """Number of coefficients that no penalty touches."""
        return (self.sizes == 0).sum()

    @property
    def dispersion(self):
        """The known dispersion, or that of greatest restricted likelihood."""
        known = self.equations.dispersion
        n_rows = self.equations.n_rows
        return known or self.least / max(n_rows - self.n_free, 1e-3 * n_rows)

    @property
    def log_ratio(self):
        """Logarithm of |X'WX + S| over that of the product of what S holds."""
        return self.log_determinant - np.log(self.sizes[self.sizes > 0]).sum()

    def restricted_likelihood(self):
        """Minus twice its logarithm, of the normal model, gradient and Hessian.

        They are along the logarithms of smoothing parameters (Wood 2011, section 6.2,
        where penalties are diagonal), the dispersion the best for each.
        """
        equations, phi = self.equations, self.dispersion
        n_left = equations.n_rows - self.n_free
        value = self.least / phi + n_left * np.log(phi) + self.log_ratio
        with np.errstate(divide="ignore"):
            shares = self.scaled * np.where(self.sizes > 0, 1 / self.sizes, 0)
        gradient = self.penalties / phi
        gradient += self.scaled @ np.diag(self.inverse) - shares.sum(axis=1)
        steps = self.scaled * self.coefficients
        hessian = np.diag(gradient) + shares @ shares.T
        hessian -= self.scaled @ self.inverse**2 @ self.scaled.T
        hessian -= 2 / phi * steps @ self.inverse @ steps.T
        if equations.dispersion is None:
            hessian -= np.outer(self.penalties, self.penalties) / (phi * self.least)
        return value, gradient, hessian

    def cross_validation(self):
        """Logarithm of the generalised cross-validation score, and its gradient.

        Where the dispersion is known, the score is Mallows' instead.
        """
        equations, total = self.equations, self.equations.n_rows
        steps = self.scaled * self.coefficients
        residual = self.least - self.penalty
        slopes = 2 * steps @ self.inverse @ steps.sum(axis=0)
        dof = self.dof.sum()
        falls = self.inverse @ equations.products @ self.inverse
        falls = self.scaled @ np.diag(falls)
        if equations.dispersion is not None:
            phi = equations.dispersion
            return residual / phi + 2 * dof, slopes / phi - 2 * falls
        left = max(total - dof, 1e-3 * total)
        residual = max(residual, 1e-14 * equations.square)
        score = np.log(residual) - 2 * np.log(left)
        return score, slopes / residual - 2 * falls / left


def smoothed(equations, method, start=None):
    """The fit at the smoothing parameters of a criterion.

    Parameters
    ----------
    equations : NormalEquations
        The sums.
    method : {"reml", "gcv"} or float
        Restricted maximum likelihood, generalised cross-validation, or a smoothing
        parameter for all penalties.
    start : ndarray of shape (n_penalties,) or None
        Logarithms of smoothing parameters to start from.
    """
    if not len(equations.penalties):
        return PenalisedFit(equations, np.empty(0))
    balanced = equations.balanced
    if not isinstance(method, str):
        return PenalisedFit(equations, np.full(len(balanced), np.log(method)))
    start = balanced if start is None else start
    low, high = balanced + _LOW, balanced + _HIGH
    if method == "reml":
        return _newton(equations, start.clip(low, high), low, high)
    found = minimize(
        lambda rho: PenalisedFit(equations, rho).cross_validation(),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
    )
    return PenalisedFit(equations, found.x)


def _newton(equations, start, low, high, tol=1e-4, max_iter=100, longest=5.0):
    """The fit of greatest restricted likelihood, by Newton's method."""
    fit = PenalisedFit(equations, start)
    value, gradient, hessian = fit.restricted_likelihood()
    for _ in range(max_iter):
        rho = fit.log_smoothing
        held = ((rho <= low) & (gradient > 0)) | ((rho >= high) & (gradient < 0))
        free = np.flatnonzero(~held & (np.abs(gradient) > tol * 1e-2))
        if np.abs(gradient[~held]).max(initial=0) < tol:
            break
        # Along directions that curve down, the step is as long, and goes down too.
        curvatures, vectors = eigh(hessian[np.ix_(free, free)])
        curvatures = np.maximum(np.abs(curvatures), 1e-8 * np.abs(curvatures).max())
        step = np.zeros(len(rho))
        step[free] = -vectors @ ((vectors.T @ gradient[free]) / curvatures)
        step *= min(1, longest / np.abs(step).max())
        for _ in range(30):
            trial = PenalisedFit(equations, (rho + step).clip(low, high))
            found = trial.restricted_likelihood()
            if found[0] <= value + 1e-10 * abs(value):
                break
            step /= 2
        else:
            break
        fit, (value, gradient, hessian) = trial, found
    return fit

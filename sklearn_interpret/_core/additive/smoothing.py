"""Penalised least squares, and the choice of how much each penalty counts (Wood 2011).

The objective is |z - X b|^2 + sum_k lambda_k b' D_k b, with diagonal D_k. It needs the
sums X'WX, X'Wz and z'Wz of the rows alone; a step takes one Cholesky factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from sklearn_interpret._core.additive.factors import (
    Blocks,
    CholeskyFactor,
    RowsFactor,
    rows_root,
)

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

_Loss = TypeVar("_Loss", float, _Array)

# The constants below were chosen by hand, on additive models of few columns.

# Share of z'Wz added to the minimum, whose logarithm would follow rounding where the
# fit is exact.
_NUGGET = 1e-12
# Relative rounding of the sums, which are differences of larger numbers: a ridge of
# this size keeps the Cholesky factor of collinear terms.
_ROUNDING = 1e-13
# Lower bound of a log smoothing parameter, from its balanced value: e^-7, about 1e-3,
# of the information of a single row. It does not fall below -25, which is still above
# the ridge (e^-30).
_LOW = -7.0
_LOWEST = -25.0
# Upper bound: at e^30, 1e13, a term has vanished to rounding. Lower bounds miss smooth
# curves, higher ones take more steps.
_HIGH = 30.0
# The search of a line's log smoothing parameter starts this far from its balance: this
# takes few evaluations. The end is the same.
_LINE = -3.0
# Numbers in the penalties' diagonals below which a sparse matrix takes longer than it
# saves.
_FEW = 10_000
# Longest step of a log smoothing parameter: longer ones may leap into another optimum
# of tables of few rows, shorter ones take more steps.
_LONGEST = 5.0
# Most steps of the search, and sizes of each that are tried, each half of the last.
_MOST_STEPS = 100
_MOST_TRIES = 20
# Largest gradient at the end of the search: less takes more evaluations.
_TOLERANCE = 1e-7
# Directions are flat where gradient and curvature are smaller, in units of twice the
# log likelihood; so may the criterion rise when parameters go to their bounds.
_FLAT = 1e-3
_RISE_TO_BOUNDS = 1e-4


class Criterion(NamedTuple):
    """A criterion, and its derivatives along log smoothing parameters."""

    value: float
    gradient: _Array  # (n_penalties,)
    hessian: _Array  # (n_penalties, n_penalties)


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
        The sum of the rows' weights.
    penalties : ndarray of shape (n_penalties, p)
        The diagonals D_k.
    dispersion : float or None
        Where it is known.
    """

    products: _Array
    sums: _Array
    square: float
    n_rows: float
    penalties: _Array
    dispersion: float | None

    @cached_property
    def root(self) -> _Array | None:
        """A root of X'WX where coefficients outnumber rows."""
        return rows_root(self.products, self.n_rows)

    @property
    def balanced(self) -> _Array:
        """Log smoothing parameters at which penalties equal the diagonal of X'WX."""
        sizes = np.diag(self.products)
        # Centred columns of constants are zero, up to rounding.
        sizes = self.penalties @ np.maximum(sizes, 1e-9 * sizes.max())
        return np.log(sizes / self.penalties.sum(axis=1))

    @property
    def start(self) -> _Array:
        """Log smoothing parameters at which their search starts.

        Each is the mean of the values that balance its coefficients; less for a line,
        and more for a curve where coefficients outnumber rows. The search takes fewer
        steps than from `balanced` (a third, of 100 terms), and ends no higher in most
        cases.
        """
        sizes = np.diag(self.products)
        logs = np.log(np.maximum(sizes, 1e-9 * sizes.max()))
        penalised = self.penalties > 0
        counts = penalised.sum(axis=1)
        ratios = logs - np.log(np.where(penalised, self.penalties, 1))
        means = np.where(penalised, ratios, 0).sum(axis=1) / counts
        crowded = 2 * max(np.log(len(sizes) / self.n_rows), 0.0)
        return means + np.where(counts > 1, crowded, _LINE)

    def residual(self, coefficients: _Array) -> float:
        """The residual sum of squares at coefficients."""
        fitted = (2 * self.sums - self.products @ coefficients) @ coefficients
        return max(float(self.square - fitted), 0.0)


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
    penalty_diagonals : ndarray of shape (n_penalties, p)
        Lambda_k = lambda_k D_k.
    penalty_diagonal : ndarray of shape (p,)
        S = sum_k Lambda_k.
    penalty : float
        b' S b.
    ridge : ndarray of shape (p,)
        Added to S, against rounding.
    minimum, floor : float
        The residual sum of squares plus the penalty, and its lower bound.
    """

    def __init__(self, equations: NormalEquations, log_smoothing: _Array) -> None:
        self.equations, self.log_smoothing = equations, log_smoothing
        factors = np.exp(log_smoothing)[:, None]
        self.penalty_diagonals = factors * equations.penalties
        products, sums = equations.products, equations.sums
        self.penalty_diagonal = self.penalty_diagonals.sum(axis=0)
        # Coefficients without a penalty and without information are zero; of constant
        # columns there is rounding alone.
        sizes = np.diag(products)
        ridge = np.where(sizes < 1e-20 * sizes.max(), 1, 1e-12) * sizes.max()
        ridge = np.where(self.penalty_diagonal == 0, ridge, _ROUNDING * sizes.max())
        ridge[0] = 0
        self.ridge = ridge
        penalties = self.penalty_diagonal + ridge
        root = equations.root
        # A factor of rows needs a penalty on each coefficient but the intercept.
        if root is None or (self.penalty_diagonal[1:] == 0).any():
            self._factor: CholeskyFactor | RowsFactor = CholeskyFactor(
                products, penalties
            )
        else:
            self._factor = RowsFactor(root, penalties)
        self.log_determinant = self._factor.log_determinant
        self.coefficients = coefficients = self.solve(sums)
        self._penalties = self.penalty_diagonals @ self.coefficients**2
        self.penalty = self._penalties.sum()
        residuals = sums - products @ coefficients - penalties * coefficients
        minimum = float(equations.square - (sums + residuals) @ coefficients)
        # The minimum of an exact fit is rounding, of any size.
        self.floor = _NUGGET * equations.square + 1e-100
        self.minimum = max(minimum, 0.0) + self.floor

    def solve(self, sums: _Array) -> _Array:
        """Solution for sums (p,), or for each column of sums (p, n)."""
        products, penalties = self.equations.products, self.penalty_diagonal
        penalties = penalties + self.ridge
        solution = self._factor.solve(sums)
        # One refinement: the minimum of a nearly exact fit is a small difference.
        residuals = sums - products @ solution - (penalties * solution.T).T
        return solution + self._factor.solve(residuals)

    @property
    def matrix(self) -> _Array:
        """X'WX + S, (p, p)."""
        return self._factor.matrix

    @property
    def inverse(self) -> _Array:
        """The inverse V, which steps at known smoothing parameters do not need."""
        return self._factor.inverse

    def information_matrices(self, blocks: Blocks) -> list[_Array]:
        """X'WX of each block of coefficients, less what the others explain of it."""
        return self._factor.information_matrices(blocks)

    @cached_property
    def dof(self) -> _Array:
        """Effective degrees of freedom, by coefficient: the diagonal of V X'WX."""
        return (self.inverse * self.equations.products).sum(axis=1)

    @property
    def n_free(self) -> int:
        """Number of coefficients without a penalty."""
        return int((self.penalty_diagonal == 0).sum())

    @property
    def _restricted_dof(self) -> float:
        """Rows, less the coefficients without a penalty."""
        return residual_dof(self.equations.n_rows, self.n_free)

    @property
    def dispersion(self) -> float:
        """The known dispersion, or that of greatest restricted likelihood."""
        return self.equations.dispersion or self.minimum / self._restricted_dof

    def profiled_loss(self, minimum: _Loss) -> _Loss:
        """Minus twice the log likelihood of penalised deviances, at the best phi."""
        phi = self.equations.dispersion or minimum / self._restricted_dof
        return minimum / phi + self._restricted_dof * np.log(phi)

    @property
    def log_ratio(self) -> float:
        """Logarithm of |X'WX + S| over the product of the positive entries of S."""
        return (
            self.log_determinant
            - np.log(self.penalty_diagonal[self.penalty_diagonal > 0]).sum()
        )

    def restricted_likelihood(self) -> Criterion:
        """Minus twice its logarithm, of the normal model, gradient and Hessian.

        The derivatives are along the logarithms of smoothing parameters (Wood 2011,
        section 6.2, where penalties are diagonal), at the best dispersion for each.
        """
        equations, phi = self.equations, self.dispersion
        value = self.profiled_loss(self.minimum) + self.log_ratio
        with np.errstate(divide="ignore"):
            shares = self.penalty_diagonals * np.where(
                self.penalty_diagonal > 0, 1 / self.penalty_diagonal, 0
            )
        gradient = self._penalties / phi
        gradient += self.penalty_diagonals @ self._factor.variances - shares.sum(axis=1)
        hessian = np.diag(gradient) + shares @ shares.T
        # Each penalty is on the few coefficients of its term.
        is_small = self.penalty_diagonals.size < _FEW
        scaled = (
            self.penalty_diagonals
            if is_small
            else sparse.csr_array(self.penalty_diagonals)
        )
        steps = scaled * self.coefficients
        hessian -= self._factor.squared_products(scaled)
        hessian -= 2 / phi * self._factor.products(steps)
        if equations.dispersion is None:
            hessian -= np.outer(self._penalties, self._penalties) / (phi * self.minimum)
        return Criterion(value, gradient, hessian)

    def _prediction_loss(self, deviance: float) -> float:
        """Logarithm of the generalised cross-validation score, or Mallows' score."""
        dof, n_rows = self.dof.sum(), self.equations.n_rows
        if self.equations.dispersion is not None:
            return deviance / self.equations.dispersion + 2 * dof
        return n_rows * (np.log(deviance) - 2 * np.log(residual_dof(n_rows, dof)))

    def loss(self, method: str, deviance: float, coefficients: _Array) -> float:
        """The criterion, with the deviance of other coefficients."""
        if method == "gcv":
            return self._prediction_loss(deviance)
        minimum: float = deviance + self.penalty_diagonal @ coefficients**2
        return self.profiled_loss(minimum) + self.log_ratio

    def cross_validation(self) -> Criterion:
        """Logarithm of the generalised cross-validation score, gradient and Hessian.

        Where the dispersion is known, the score is Mallows' instead.
        """
        equations, n_rows = self.equations, self.equations.n_rows
        inverse, products, scaled = (
            self.inverse,
            equations.products,
            self.penalty_diagonals,
        )
        # Derivatives of b, of the residual sum, and its second derivatives.
        steps = (scaled * self.coefficients) @ inverse
        shrunk = inverse @ (self.penalty_diagonal * self.coefficients)
        cross = steps @ (scaled * shrunk).T
        slopes = 2 * (scaled * self.coefficients) @ shrunk
        curvatures = 2 * (steps @ products @ steps.T - cross - cross.T)
        curvatures += np.diag(slopes)
        # Decrease of the degrees of freedom, and its derivatives.
        sandwich = inverse @ products @ inverse
        dof_slopes = scaled @ np.diag(sandwich)
        dof_curvatures = (
            np.diag(dof_slopes) - 2 * scaled @ (inverse * sandwich) @ scaled.T
        )
        residual = self.minimum - self.penalty
        value = self._prediction_loss(residual)
        if equations.dispersion is not None:
            phi = equations.dispersion
            gradient = slopes / phi - 2 * dof_slopes
            return Criterion(value, gradient, curvatures / phi - 2 * dof_curvatures)
        remaining_dof = residual_dof(n_rows, self.dof.sum())
        slopes, dof_slopes = slopes / residual, dof_slopes / remaining_dof
        gradient = n_rows * (slopes - 2 * dof_slopes)
        hessian = curvatures / residual - np.outer(slopes, slopes)
        hessian += 2 * (
            np.outer(dof_slopes, dof_slopes) - dof_curvatures / remaining_dof
        )
        return Criterion(value, gradient, n_rows * hessian)


def residual_dof(n_rows: float, dof: float) -> float:
    """Residual degrees of freedom, above zero where coefficients outnumber rows."""
    return max(n_rows - dof, 1e-3 * n_rows)


def choose_smoothing(fit: PenalisedFit, method: str, balanced: _Array) -> PenalisedFit:
    """The fit at the smoothing parameters of a criterion.

    Parameters
    ----------
    fit : PenalisedFit
        The fit to start from.
    method : {"reml", "gcv"}
        Restricted maximum likelihood, or generalised cross-validation.
    balanced : ndarray of shape (n_penalties,)
        Log smoothing parameters as :attr:`NormalEquations.balanced` has them.
    """
    low, high = bounds(balanced, fit.equations.n_rows)
    return _newton(_CRITERIA[method], fit, low, high)


def bounds(balanced: _Array, n_rows: float) -> tuple[_Array, _Array]:
    """Smallest and largest logarithms of smoothing parameters."""
    return balanced + max(_LOW - np.log1p(n_rows), _LOWEST), balanced + _HIGH


_CRITERIA = {
    "reml": PenalisedFit.restricted_likelihood,
    "gcv": PenalisedFit.cross_validation,
}


def _newton(
    criterion: Callable[[PenalisedFit], Criterion],
    fit: PenalisedFit,
    low: _Array,
    high: _Array,
) -> PenalisedFit:
    """The fit that minimises the criterion, by Newton's method."""
    ends_tried = False
    value, gradient, hessian = criterion(fit)
    for _ in range(_MOST_STEPS):
        rho = fit.log_smoothing
        ends = np.where(gradient > 0, low, high)
        # Parameters with flat directions go to their bound in one step, once all others
        # have settled: their terms vanish, or need no penalty.
        flat = np.abs(gradient) + np.abs(np.diag(hessian)) < _FLAT
        free = np.flatnonzero((rho != ends) & ~flat)
        flat &= (low < rho) & (rho < high)
        if np.abs(gradient[free]).max(initial=0) >= _TOLERANCE:
            step = np.zeros(len(rho))
            step[free] = _step(gradient[free], hessian[np.ix_(free, free)])
            highest, n_tries = value + 1e-9 * (1 + abs(value)), _MOST_TRIES
        elif flat.any() and not ends_tried:
            step = np.where(flat, ends - rho, 0)
            highest, n_tries = value + _RISE_TO_BOUNDS, 1
            ends_tried = True
        else:
            return fit
        for halving in range(n_tries):
            smoothing = (rho + step / 2**halving).clip(low, high)
            trial_fit = PenalisedFit(fit.equations, smoothing)
            trial = criterion(trial_fit)
            if trial.value <= highest:
                break
        if not trial.value <= highest:
            return fit
        fit, (value, gradient, hessian) = trial_fit, trial
    return fit


def _step(gradient: _Array, hessian: _Array) -> _Array:
    """Newton's step, with absolute values of negative curvatures.

    It is at most `_LONGEST` along each eigenvector: terms that vanish, whose curvatures
    are small, would shorten the steps of all others.
    """
    curvatures, vectors = eigh(hessian)
    slopes = vectors.T @ gradient
    least_curvatures = np.maximum(np.abs(slopes) / _LONGEST, 1e-300)
    step = -vectors @ (slopes / np.maximum(np.abs(curvatures), least_curvatures))
    return step * min(1, _LONGEST / np.abs(step).max(initial=1e-300))

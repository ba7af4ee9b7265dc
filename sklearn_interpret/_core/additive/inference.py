"""Tests of terms and of dispersion; what the choice of smoothness adds to errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax
from scipy.stats import chi2, f

from sklearn_interpret._core.additive.fitting import (
    AdditiveFit,
    Likelihood,
    fit_without,
)
from sklearn_interpret._core.additive.smoothing import PenalisedFit, bounds
from sklearn_interpret._core.regression.overdispersion import OverdispersionTest
from sklearn_interpret._core.regression.separation import rising_direction

# Degrees of freedom of a test, for each direction without a roughness penalty, however
# many splines a term has: more would spend power on rough curves. `bench_gam_inference`
# checks that p-values of noise are uniform.
_DOF = 4
# The score at the fit replaces that of the fit without a term if its information is at
# least this share of that at the intercept: effects that separate classes reduce it
# (Hauck & Donner, 1977).
_INFORMED = 0.2
# Effects below this share of the largest count as zero in the search for separation:
# they are terms that have vanished, up to the penalty.
_SMALL = 1e-3
# Step of the grid of the log smoothing parameter, chosen by hand: smaller ones hardly
# change standard errors, larger ones do.
_STEP = 1.0
# End of the grid above the balanced value, where terms have vanished. Chosen likewise.
_RANGE = 15.0


def term_tests(
    fit: AdditiveFit, blocks: list[slice], max_iter: int
) -> tuple[NDArray[np.float64], list[int]]:
    """Score test of each term.

    Parameters
    ----------
    fit : AdditiveFit
        The fit.
    blocks : list of slice
        Coefficients of each term.
    max_iter : int
        As in `fit_additive`.

    Returns
    -------
    tests : ndarray of shape (n_terms, 2)
        Statistics and p-values.
    uninformed : list of int
        Terms that were left out and fitted without, since the fit has little
        information on them.
    """
    likelihood = fit.problem.likelihood
    is_known = likelihood.family.dispersion is not None
    residual_dof = np.inf if is_known else fit.residual_dof
    is_glm = not likelihood.is_least_squares
    first = PenalisedFit(fit.first, fit.last.log_smoothing) if is_glm else fit.last
    tests = np.zeros((len(blocks), 2))
    uninformed: list[int] = []
    information_matrices = fit.last.information_matrices(blocks) if blocks else []
    for k, block in enumerate(blocks):
        last, information = fit.last, information_matrices[k]
        least = _INFORMED * _information(first, block)
        if is_glm and _information(last, block) < least:
            last = fit_without(fit, block, max_iter)
            (information,) = last.information_matrices([block])
            uninformed.append(k)
        tests[k] = term_test(last, block, information, fit.dispersion, residual_dof)
    return tests, uninformed


def _information(fit: PenalisedFit, block: slice) -> float:
    """Total information of the rows on a term's coefficients, all others unknown."""
    return (
        np.trace(np.linalg.inv(fit.inverse[block, block]))
        - fit.penalty_diagonal[block].sum()
    )


def separated_terms(fit: AdditiveFit) -> list[int]:
    """Terms whose effects separate the targets: the likelihood grows with their size.

    The effects are those of the fit, each of which may grow.
    """
    family, link = fit.problem.likelihood.family, fit.problem.likelihood.link_name
    counts = link == "log" and family.variance(0.0) == 0
    if not (counts or link == "logit"):
        return []
    table = np.vstack(fit.problem.sum(Likelihood.effects, fit.coefficients))
    effects, y = table[:, :-1], table[:, -1]
    sizes = np.abs(effects).max(axis=0)
    sizable = np.flatnonzero(sizes > _SMALL * sizes.max(initial=0))
    effects = np.column_stack([np.ones(len(effects)), effects[:, sizable]])
    inner = y > 0 if counts else (y > 0) & (y < 1)
    signs = np.where(y > 0, 1, -1)[:, None]
    direction = rising_direction((signs * effects)[~inner], effects[inner])
    return [] if direction is None else sizable[np.abs(direction[1:]) > 0].tolist()


def overdispersion_test(fit: AdditiveFit) -> OverdispersionTest:
    """Test of the dispersion, where it is known to be 1."""
    excess, variance = fit.problem.sum(Likelihood.excess, fit.coefficients)
    dispersion, n_parameters = fit.pearson_dispersion, fit.last.dof.sum()
    return OverdispersionTest(
        dispersion, fit.residual_dof, excess, variance, n_parameters
    )


def term_test(
    fit: PenalisedFit,
    block: slice,
    information: NDArray[np.float64],
    dispersion: float,
    residual_dof: float,
) -> tuple[float, float]:
    """Score test of the variance of a term's coefficients (Zhang & Lin 2003).

    The score u is the product of each of the term's functions with the residuals of the
    model without the term; the statistic is sum_i k_i u_i^2, in which smooth functions
    count most. Neither depends on the term's own smoothing parameters, which the
    targets have chosen: so p-values of a term of noise are uniform.

    Parameters
    ----------
    fit : PenalisedFit
        The last least squares problem.
    block : slice
        The term's coefficients.
    information : ndarray of shape (n, n)
        Of the rows on these, as :meth:`PenalisedFit.information_matrices` has it.
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
    if block.start == block.stop:  # of a single level
        return 0.0, 1.0
    inverse = np.linalg.inv(fit.inverse[block, block])
    score = inverse @ fit.coefficients[block]
    covariance = dispersion * information
    penalties = equations.penalties[:, block]
    # A penalty that is constant where it is positive does not rank functions.
    graded = np.array([len(np.unique(row[row > 0])) > 1 for row in penalties], bool)
    rough = penalties[graded].sum(axis=0)
    products = np.diag(equations.products)
    sizes = np.maximum(products[block], 1e-9 * products.max())
    weights = 1 / (sizes + _roughness(sizes, rough) * rough)
    mean = weights @ np.diag(covariance)
    if mean <= 1e-9 * dispersion * len(weights):  # of a constant column
        return 0.0, 1.0
    statistic = weights @ score**2 / mean
    # A mixture of chi squares, approximated by one of equal mean and variance.
    dof = mean**2 / (weights @ covariance**2 @ weights)
    if np.isinf(residual_dof):
        return statistic, chi2.sf(dof * statistic, dof)
    return statistic, f.sf(statistic, dof, residual_dof)


def _roughness(sizes: NDArray[np.float64], rough: NDArray[np.float64]) -> float:
    """The smoothing parameter of a fixed number of degrees of freedom."""
    dof = _DOF * max(1, (rough == 0).sum())
    if len(sizes) <= dof:
        return 0.0
    unit = sizes.max() / rough.max(initial=1e-300)

    def excess(rho: float) -> float:
        return (sizes / (sizes + unit * np.exp(rho) * rough)).sum() - dof

    return unit * np.exp(brentq(excess, -40, 60))


def smoothing_covariance(fit: PenalisedFit, dispersion: float) -> NDArray[np.float64]:
    """Covariance of coefficients due to the estimation of the smoothing parameters.

    Each smoothing parameter has a posterior: its restricted likelihood, times a prior
    that is flat in the variance of the coefficients that it penalises (Morris, 1983).
    The coefficients then have a mixture of normal distributions; the result is the
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
    spreads = [np.empty((len(fit.penalty_diagonal), 0))]
    columns = spreads.copy()
    balanced = fit.equations.balanced
    low, _ = bounds(balanced, fit.equations.n_rows)
    grids = [
        np.arange(*ends, _STEP) for ends in zip(low, balanced + _RANGE, strict=True)
    ]
    blocks = list(map(np.flatnonzero, fit.penalty_diagonals))
    information_matrices = fit.information_matrices(blocks) if blocks else []
    for scaled, rho, grid, block, information in zip(
        fit.penalty_diagonals,
        fit.log_smoothing,
        grids,
        blocks,
        information_matrices,
        strict=True,
    ):
        roots = np.sqrt(scaled[block])
        other_penalties = np.maximum(fit.penalty_diagonal[block] - scaled[block], 0)
        # Along a smoothing parameter the inverse is V - G diag(g) G', with directions G
        # and eigenvalues 1 / (1 + k) of the block of V in units of the penalty. These
        # lose k of terms that have vanished: it is computed from the rows' information.
        precision = information + np.diag(other_penalties + fit.ridge[block])
        # Singular values of a root: eigenvalues lose those much below the largest.
        units = np.sqrt(np.maximum(np.diag(precision), fit.ridge[block]))
        sizes, vectors = np.linalg.eigh(precision / np.outer(units, units))
        root = np.sqrt(np.maximum(sizes, 0))[:, None] * vectors.T * (units / roots)
        _, singular_values, vectors = np.linalg.svd(root)
        eigenvalues, vectors = singular_values**2, vectors.T
        directions = fit.inverse[:, block] @ (roots[:, None] * vectors)
        projections = vectors.T @ (roots * fit.coefficients[block])
        steps = grid - rho
        grown = (eigenvalues + np.exp(steps)[:, None]) / (1 + eigenvalues)
        g = np.expm1(steps)[:, None] / grown
        penalties = other_penalties + np.exp(steps)[:, None] * scaled[block]
        ratio = np.log(grown).sum(axis=1) - np.log(penalties).sum(axis=1)
        least = np.maximum(fit.least + g @ projections**2, fit.floor)
        loss = fit.profiled(least) + ratio
        shares = softmax(-loss / 2 - steps)
        shifts = g * projections
        second_moments = (shares * shifts.T) @ shifts
        second_moments += dispersion * np.diag(np.maximum(-shares @ g, 0))
        spreads.append(directions @ second_moments)
        columns.append(directions)
    # One product: a sum of many would be bound by memory.
    return np.hstack(spreads) @ np.hstack(columns).T

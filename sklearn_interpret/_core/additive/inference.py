"""Tests of terms and of dispersion; what the choice of smoothness adds to errors."""

from __future__ import annotations

from typing import NamedTuple

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
# Log smoothing parameters of terms that reproduce another term, from their balanced
# values: a thousandth of the rows' information. Chosen by hand: with less, a surface
# reproduces other terms by huge values where it has hardly any rows.
_SMALL_PENALTY = -7.0
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
    full_fit = fit_at_intercept = fit.penalised_fit
    if is_glm:
        fit_at_intercept = PenalisedFit(fit.null_equations, full_fit.log_smoothing)
    tests = np.zeros((len(blocks), 2))
    uninformed: list[int] = []
    information_matrices = full_fit.information_matrices(blocks) if blocks else []
    for k, block in enumerate(blocks):
        tested_fit, information = full_fit, information_matrices[k]
        least_information = _INFORMED * _information(fit_at_intercept, block)
        if is_glm and _information(full_fit, block) < least_information:
            tested_fit = fit_without(fit, block, max_iter)
            (information,) = tested_fit.information_matrices([block])
            uninformed.append(k)
        dispersion = fit.dispersion
        tests[k] = term_test(tested_fit, block, information, dispersion, residual_dof)
    return tests, uninformed


def _information(fit: PenalisedFit, block: slice) -> float:
    """Total information of the rows on a term's coefficients, all others unknown."""
    return (
        np.trace(np.linalg.inv(fit.inverse[block, block]))
        - fit.penalty_diagonal[block].sum()
    )


def concurvity(fit: AdditiveFit, blocks: list[slice]) -> NDArray[np.float64]:
    """Share of each term's functions that all other terms reproduce, (n_terms,).

    Of the squared functions, summed over the rows with their working weights at the
    intercept: the measure "estimate" of mgcv. All other terms are fitted by least
    squares, with a small penalty.
    """
    equations = fit.null_equations
    others_fit = PenalisedFit(equations, equations.balanced + _SMALL_PENALTY)
    unexplained = list(map(np.trace, others_fit.information_matrices(blocks)))
    squares = np.diag(equations.products)
    sums = np.array([squares[block].sum() for block in blocks])
    # Centred columns of constants are zero, up to rounding.
    shares = (sums - unexplained) / np.maximum(sums, 1e-9 * squares.max())
    return shares.clip(0, 1)


def separated_terms(fit: AdditiveFit) -> list[int]:
    """Terms whose effects separate the targets: the likelihood grows with their size.

    The direction is sought among the fit's effects, each with a factor of its own.
    """
    family, link = fit.problem.likelihood.family, fit.problem.likelihood.link_name
    are_counts = link == "log" and family.variance(0.0) == 0
    if not (are_counts or link == "logit"):
        return []
    table = np.vstack(fit.problem.sum(Likelihood.effects, fit.coefficients))
    effects, y = table[:, :-1], table[:, -1]
    largest = np.abs(effects).max(axis=0)
    sizable = np.flatnonzero(largest > _SMALL * largest.max(initial=0))
    effects = np.column_stack([np.ones(len(effects)), effects[:, sizable]])
    inner = y > 0 if are_counts else (y > 0) & (y < 1)
    signs = np.where(y > 0, 1, -1)[:, None]
    direction = rising_direction((signs * effects)[~inner], effects[inner])
    return [] if direction is None else sizable[np.abs(direction[1:]) > 0].tolist()


def overdispersion_test(fit: AdditiveFit) -> OverdispersionTest:
    """Test of the dispersion, where it is known to be 1."""
    excess, variance = fit.problem.sum(Likelihood.excess, fit.coefficients)
    dispersion, n_parameters = fit.pearson_dispersion, fit.penalised_fit.dof.sum()
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
        Information of the rows on these coefficients, from
        :meth:`PenalisedFit.information_matrices`.
    dispersion : float
        Of the targets.
    residual_dof : float
        Degrees of freedom of the dispersion; infinite where it is known.

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
    products = np.maximum(products[block], 1e-9 * products.max())
    weights = 1 / (products + _smoothing_for_dof(products, rough) * rough)
    mean = weights @ np.diag(covariance)
    if mean <= 1e-9 * dispersion * len(weights):  # of a constant column
        return 0.0, 1.0
    statistic = weights @ score**2 / mean
    # A mixture of chi squares, approximated by one of equal mean and variance.
    dof = mean**2 / (weights @ covariance**2 @ weights)
    if np.isinf(residual_dof):
        return statistic, chi2.sf(dof * statistic, dof)
    return statistic, f.sf(statistic, dof, residual_dof)


def _smoothing_for_dof(
    products: NDArray[np.float64], penalties: NDArray[np.float64]
) -> float:
    """The smoothing parameter that gives a test its degrees of freedom, `_DOF`.

    `products` and `penalties` are diagonals (n,) of a term's normal equations.
    """
    dof = _DOF * max(1, (penalties == 0).sum())
    if len(products) <= dof:
        return 0.0
    unit = products.max() / penalties.max(initial=1e-300)

    def excess_dof(rho: float) -> float:
        """Effective degrees of freedom at the log smoothing parameter, less `dof`."""
        shrunk = products / (products + unit * np.exp(rho) * penalties)
        return shrunk.sum() - dof

    return unit * np.exp(brentq(excess_dof, -40, 60))


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
    directions = [np.empty((len(fit.penalty_diagonal), 0))]
    weighted_directions = directions.copy()
    balanced = fit.equations.balanced
    lower_bounds, _ = bounds(balanced, fit.equations.n_rows)
    blocks = list(map(np.flatnonzero, fit.penalty_diagonals))
    information_matrices = fit.information_matrices(blocks) if blocks else []
    for k, block in enumerate(blocks):
        grid = np.arange(lower_bounds[k], balanced[k] + _RANGE, _STEP)
        penalty = fit.penalty_diagonals[k, block]
        other_penalties = np.maximum(fit.penalty_diagonal[block] - penalty, 0)
        precision = information_matrices[k]
        precision = precision + np.diag(other_penalties + fit.ridge[block])
        along = _penalty_directions(fit, block, penalty, precision)
        steps = grid - fit.log_smoothing[k]
        moment = _second_moment(fit, along, penalty, other_penalties, steps, dispersion)
        directions.append(along.vectors)
        weighted_directions.append(along.vectors @ moment)
    # One product: a sum of many would be bound by memory.
    return np.hstack(weighted_directions) @ np.hstack(directions).T


class _PenaltyDirections(NamedTuple):
    """Directions that make a penalty and the precision without it diagonal."""

    vectors: NDArray[np.float64]  # changes G of all coefficients, (p, n)
    eigenvalues: NDArray[np.float64]  # precision without the penalty, over it, (n,)
    projections: NDArray[np.float64]  # the estimated coefficients, (n,)


def _penalty_directions(
    fit: PenalisedFit,
    block: NDArray[np.intp],
    penalty: NDArray[np.float64],
    precision: NDArray[np.float64],
) -> _PenaltyDirections:
    """Directions of the diagonal `penalty` (n,) and the `precision` (n, n) of a block.

    Eigenvalues of the inverse V would lose the information of terms that have vanished:
    so the precision is computed from the rows' information.
    """
    # Singular values of a root: eigenvalues lose the ones much below the largest.
    units = np.sqrt(np.maximum(np.diag(precision), fit.ridge[block]))
    variances, axes = np.linalg.eigh(precision / np.outer(units, units))
    roots = np.sqrt(penalty)
    root = np.sqrt(np.maximum(variances, 0))[:, None] * axes.T * (units / roots)
    _, singular_values, axes = np.linalg.svd(root)
    return _PenaltyDirections(
        fit.inverse[:, block] @ (roots[:, None] * axes.T),
        singular_values**2,
        axes @ (roots * fit.coefficients[block]),
    )


def _second_moment(
    fit: PenalisedFit,
    directions: _PenaltyDirections,
    penalty: NDArray[np.float64],
    other_penalties: NDArray[np.float64],
    steps: NDArray[np.float64],
    dispersion: float,
) -> NDArray[np.float64]:
    """Growth of the second moment along the directions, (n, n).

    `steps` (n_steps,) go from the log smoothing parameter to the points of its grid.
    """
    # A step s of a log smoothing parameter changes X'WX + S, along a direction, by the
    # factor (k + e^s) / (1 + k), and its inverse V to V - G diag(g) G'.
    factors = np.exp(steps)[:, None]
    growth = (directions.eigenvalues + factors) / (1 + directions.eigenvalues)
    g = np.expm1(steps)[:, None] / growth
    penalties = other_penalties + factors * penalty
    log_ratio = np.log(growth).sum(axis=1) - np.log(penalties).sum(axis=1)
    minima = np.maximum(fit.minimum + g @ directions.projections**2, fit.floor)
    loss = fit.profiled_loss(minima) + log_ratio
    posterior = softmax(-loss / 2 - steps)
    shifts = g * directions.projections
    second_moment = (posterior * shifts.T) @ shifts
    second_moment += dispersion * np.diag(np.maximum(-posterior @ g, 0))
    return second_moment

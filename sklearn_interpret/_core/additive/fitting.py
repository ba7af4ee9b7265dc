"""Penalised likelihood of an additive model, by iteratively weighted least squares.

`fit_additive` fits a model, as Wood (2011) does. Each step solves a `NormalEquations`
of `smoothing`, whose sums over the rows are the `Evaluation` of the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, cholesky
from scipy.optimize import lsq_linear, minimize_scalar

from sklearn_interpret._core.additive import families
from sklearn_interpret._core.additive.bases import SplineBasis
from sklearn_interpret._core.additive.gram import RoundedDesign, RoundedRows
from sklearn_interpret._core.additive.smoothing import (
    NormalEquations,
    PenalisedFit,
    choose_smoothing,
    residual_dof,
)

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.families import Family, Link
    from sklearn_interpret._core.additive.terms import Term

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Limits the choices of the smoothing parameters in a fit, which go round in circles for
# some tables of few rows. In other tables they settle within ten.
_MOST_CHOICES = 20
# A fit ends when the penalised deviance gains less than this share of itself. Chosen by
# hand: at less, curves move by far less than their errors.
_GAIN = 1e-8
# Rises of the restricted loss up to this share are rounding, and do not show that the
# quadratic approximation misleads.
_RISE = 1e-7
# Bounds of the log shape of negative binomial targets: beyond the upper one, a shape of
# 1e6, they are Poisson's; at the lower one, 1e-3, nearly all are zero.
_LOG_SHAPE_BOUNDS = (-7.0, 14.0)
# Limits the shapes that are tried.
_MOST_SHAPES = 20
# The search for a shape ends once the variance at the mean changes by less than this
# share, which no standard error shows.
_SAME_VARIANCE = 1e-3
# Limits the halvings of a step of the coefficients.
_MOST_HALVINGS = 30


class SummedRows(Protocol):
    """Rows over which results of a function of `TargetRows` are added up."""

    def sum(self, function: Callable[[TargetRows], Any]) -> Any:
        """Sum of the results over all partitions."""


@dataclass(frozen=True)
class TargetRows:
    """Some rows: the functions of the design, targets, weights and offsets.

    Parameters
    ----------
    design : RoundedRows
        The functions.
    targets : ndarray of shape (n_models, n_rows)
        Targets of each model.
    weights, offset : ndarray of shape (n_rows,)
        How many rows each stands for, and known summands of the predictor.
    """

    design: RoundedRows
    targets: _Array
    weights: _Array
    offset: _Array


@dataclass(frozen=True)
class Likelihood:
    """The distribution of one model's targets; small, and it can be pickled.

    Parameters
    ----------
    family_name, link_name : str
        Keys of the families and links.
    trials : bool, default=False
        Whether weights are numbers of trials, of which the targets are shares.
    model : int, default=0
        Which of the targets of the rows.
    shape : float or None, default=None
        Shape of negative binomial targets.
    """

    family_name: str
    link_name: str
    trials: bool = False
    model: int = 0
    shape: float | None = None

    @property
    def family(self) -> Family:
        """The family."""
        if self.shape is None:
            return families.FAMILIES[self.family_name]
        return families.negative_binomial(self.shape)

    @property
    def link(self) -> Link:
        """The link."""
        return families.LINKS[self.link_name]

    @property
    def is_least_squares(self) -> bool:
        """Whether the fit is a single least squares problem."""
        return self.link is families.LINKS["identity"]

    @np.errstate(all="ignore")  # of means that are out of bounds
    def evaluate(
        self, coefficients: _Array, with_equations: bool, rows: TargetRows
    ) -> Evaluation:
        """The `Evaluation` of coefficients at rows, perhaps without the equations."""
        family, link, y = self.family, self.link, rows.targets[self.model]
        predictor = rows.design.predictor(coefficients)
        scores = predictor + rows.offset
        means: _Array = link.mean(scores)
        deviance = float(rows.weights @ family.deviance(y, means))
        if not (with_equations and np.isfinite(deviance)):
            return Evaluation(deviance if np.isfinite(deviance) else np.inf)
        residuals, weights = self._residuals_of_scores(scores, means, rows)
        working = predictor + residuals
        center = float(weights @ working / (weights.sum() or 1.0))
        working -= center
        products = rows.design.products(weights)
        sums = rows.design.sums(weights * working)
        square = float(weights @ working**2)
        return Evaluation(deviance, center, products, sums, square)

    def _residuals_of_scores(
        self, scores: _Array, means: _Array, rows: TargetRows
    ) -> tuple[_Array, _Array]:
        """`working_residuals`, from linear predictors and means that are known."""
        slopes = self.link.slope(scores)
        weights = rows.weights * slopes**2 / self.family.variance(means)
        return (rows.targets[self.model] - means) / slopes, weights

    def working_residuals(
        self, coefficients: _Array, rows: TargetRows
    ) -> tuple[_Array, _Array]:
        """Residuals of rows on the scale of the linear predictor, and their weights."""
        scores = rows.design.predictor(coefficients) + rows.offset
        return self._residuals_of_scores(scores, self.link.mean(scores), rows)

    def _means(self, coefficients: _Array, rows: TargetRows) -> _Array:
        """Expected targets of rows."""
        return self.link.mean(rows.design.predictor(coefficients) + rows.offset)

    def log_likelihood(
        self, coefficients: _Array, dispersion: float, rows: TargetRows
    ) -> float:
        """Logarithm of the likelihood of rows, of a family that has one."""
        y, means = rows.targets[self.model], self._means(coefficients, rows)
        densities = self.family.log_likelihood(y, means, dispersion)
        return float(rows.weights @ densities)

    def excess(self, coefficients: _Array, rows: TargetRows) -> _Array:
        """Sums of the family's excess of squared residuals, and of its variance."""
        assert self.family.excess is not None  # the caller asks families with a test
        y, means = rows.targets[self.model], self._means(coefficients, rows)
        copies = rows.weights if self.trials else np.ones_like(means)
        return np.array(self.family.excess(y, means, copies)) @ (rows.weights / copies)

    def effects(self, coefficients: _Array, rows: TargetRows) -> list[_Array]:
        """Terms and targets, (n_rows, n_terms + 1), in a list: `sum` joins lists."""
        effects = rows.design.effects(coefficients)
        return [np.column_stack([effects, rows.targets[self.model]])]


@dataclass(frozen=True)
class Evaluation:
    """Deviance at some coefficients, and the least squares problem there.

    Parameters
    ----------
    deviance : float
        The deviance; infinite where means are out of bounds.
    center : float
        The mean of the working targets, up to rounding.
    products, sums, square
        Sums of the least squares problem of the working targets less the center. Empty
        where means are out of bounds, or no problem is to be solved.
    """

    deviance: float
    center: float = 0.0
    products: _Array = field(default_factory=lambda: np.empty(0))
    sums: _Array = field(default_factory=lambda: np.empty(0))
    square: float = 0.0

    def recentred(self, center: float) -> Evaluation:
        """The sums about another center."""
        # Products with the intercept are plain sums.
        shift = center - self.center
        sums = self.sums - shift * self.products[0]
        square = self.square - shift * (self.sums[0] + sums[0])
        return replace(self, center=center, sums=sums, square=square)

    def __add__(self, other: Evaluation) -> Evaluation:
        """The evaluation at all rows of both (Chan, Golub & LeVeque 1983)."""
        deviance = self.deviance + other.deviance
        if not (self.products.size and other.products.size):
            return Evaluation(deviance)
        products = self.products + other.products
        share = other.products[0, 0] / (products[0, 0] or 1.0)
        # Sums are about the center as it is rounded.
        center = self.center + share * (other.center - self.center)
        first, second = self.recentred(center), other.recentred(center)
        sums, square = first.sums + second.sums, first.square + second.square
        return Evaluation(deviance, center, products, sums, square)


@dataclass(frozen=True)
class AdditiveProblem:
    """The likelihood of an additive model's coefficients over all rows.

    Parameters
    ----------
    design : RoundedDesign
        The terms.
    likelihood : Likelihood
        The distribution of the targets.
    rows : SummedRows
        Rows in memory or in partitions.
    start : float
        The intercept of a model without terms.
    n_rows : float
        Number of rows, from which a dispersion is estimated.
    """

    design: RoundedDesign
    likelihood: Likelihood
    rows: SummedRows
    start: float
    n_rows: float

    def of_shape(self, shape: float) -> AdditiveProblem:
        """The problem of negative binomial targets of a shape."""
        return replace(self, likelihood=replace(self.likelihood, shape=shape))

    def sum(self, function: Callable[..., Any], *arguments: _Array | float) -> Any:
        """Sum over the rows of a function of `Likelihood`."""
        return self.rows.sum(partial(function, self.likelihood, *arguments))

    def evaluate(self, coefficients: _Array, with_equations: bool = True) -> Evaluation:
        """The `Evaluation` of coefficients, perhaps without the equations."""
        return self.sum(Likelihood.evaluate, coefficients, with_equations)

    def equations(
        self, evaluation: Evaluation, without: slice | None = None
    ) -> NormalEquations:
        """The least squares problem; the coefficients of a term may be held at zero."""
        products, sums = evaluation.products, evaluation.sums
        if without is not None:
            products, sums = products.copy(), sums.copy()
            products[without] = products[:, without] = sums[without] = 0
            products[without, without] = np.eye(without.stop - without.start)
        square, penalties = evaluation.square, self.design.penalties
        dispersion = self.likelihood.family.dispersion
        return NormalEquations(
            products, sums, square, self.n_rows, penalties, dispersion
        )


@dataclass(frozen=True)
class AdditiveFit:
    """A fitted model.

    Parameters
    ----------
    problem : AdditiveProblem
        The problem that it solves.
    null_equations : NormalEquations
        The least squares problem at the intercept alone.
    penalised_fit : PenalisedFit
        The solution of the last least squares problem.
    coefficients : ndarray of shape (p,)
        The intercept, and the terms' coefficients.
    evaluation : Evaluation
        The evaluation of the coefficients; of a least squares problem, the evaluation
        at its start, with the deviance of the coefficients.
    start_deviance : float
        Deviance of the intercept alone.
    n_iter : int
        Number of least squares problems.
    converged : bool
        Whether the last one changed little.
    """

    problem: AdditiveProblem
    null_equations: NormalEquations
    penalised_fit: PenalisedFit
    coefficients: _Array
    evaluation: Evaluation
    start_deviance: float
    n_iter: int
    converged: bool

    @property
    def residual_dof(self) -> float:
        """Rows, less the effective degrees of freedom of the coefficients."""
        penalised_fit = self.penalised_fit
        return residual_dof(penalised_fit.equations.n_rows, penalised_fit.dof.sum())

    @property
    def pearson_dispersion(self) -> float:
        """Pearson's statistic by residual degrees of freedom."""
        pearson = self.penalised_fit.minimum - self.penalised_fit.penalty
        return pearson / self.residual_dof

    @property
    def dispersion(self) -> float:
        """The dispersion: known, or estimated."""
        return self.problem.likelihood.family.dispersion or self.pearson_dispersion

    def _log_likelihood(self, phi: float) -> float:
        """Logarithm of the likelihood at a dispersion."""
        problem, likelihood = self.problem, self.problem.likelihood
        scaled_deviance = self.evaluation.deviance / phi
        if likelihood.is_least_squares:  # of normal targets
            return -(scaled_deviance + problem.n_rows * np.log(2 * np.pi * phi)) / 2
        if likelihood.family.is_quasi:
            # Extended quasi-likelihood (Nelder & Pregibon 1987), without its sum of
            # log(2 pi V(y)), which does not depend on the fit.
            return -(scaled_deviance + problem.n_rows * np.log(phi)) / 2
        return problem.sum(Likelihood.log_likelihood, self.coefficients, phi)

    @cached_property
    def restricted_likelihood(self) -> float:
        """Logarithm of the restricted likelihood (Laplace's approximation)."""
        fit, phi = self.penalised_fit, self.penalised_fit.dispersion
        log_volume_of_unpenalised = fit.n_free * np.log(2 * np.pi * phi)
        correction = fit.penalty / phi + fit.log_ratio - log_volume_of_unpenalised
        return self._log_likelihood(phi) - correction / 2


def fit_additive(
    problem: AdditiveProblem,
    smoothing: str | float,
    signs: Sequence[int],
    max_iter: int,
) -> AdditiveFit:
    """Fit a model; smoothing parameters are chosen in each least squares problem.

    Parameters
    ----------
    problem : AdditiveProblem
        The terms, the family and the rows.
    smoothing : {"reml", "gcv"} or float
        How to choose smoothing parameters, or the logarithm of all.
    signs : sequence of int
        For each term 1 if it must not fall, -1 if it must not rise, else 0.
    max_iter : int
        Largest number of least squares problems.
    """
    for _ in range(_MOST_SHAPES):
        fit = iterate_least_squares(problem, smoothing, max_iter)
        shape = problem.likelihood.family.shape
        if shape is None:
            break
        better, mean = _best_shape(fit), np.exp(problem.start)
        if abs(mean / better - mean / shape) < _SAME_VARIANCE * (1 + mean / shape):
            break
        problem = problem.of_shape(better)
    if any(signs):
        # At the smoothing parameters of the model without constraints.
        rho = fit.penalised_fit.log_smoothing
        constraints = _sign_constraints(problem.design.terms, signs)
        fit = iterate_least_squares(fit.problem, rho, max_iter, constraints=constraints)
    return fit


def fit_without(fit: AdditiveFit, block: slice, max_iter: int) -> PenalisedFit:
    """The least squares problem of all terms, at the fit without one of them.

    The score test of a term starts here where the full fit has no information on it,
    such as a term that separates the classes. The other terms keep their smoothing
    parameters, as in the score of a full fit; the removed term's get balanced values.

    Parameters
    ----------
    fit : AdditiveFit
        The fit with all terms.
    block : slice
        Coefficients of the term.
    max_iter : int
        As in `fit_additive`.
    """
    rho = fit.penalised_fit.log_smoothing
    null = iterate_least_squares(fit.problem, rho, max_iter, without=block)
    equations = fit.problem.equations(fit.problem.evaluate(null.coefficients))
    is_penalised = equations.penalties[:, block].any(axis=1)
    return PenalisedFit(equations, np.where(is_penalised, equations.balanced, rho))


def _best_shape(fit: AdditiveFit) -> float:
    """The shape of greatest restricted likelihood, at the coefficients of a fit."""

    def loss(log_shape: float) -> float:
        problem = fit.problem.of_shape(np.exp(log_shape))
        equations = problem.equations(problem.evaluate(fit.coefficients))
        rho = fit.penalised_fit.log_smoothing
        log_determinant = PenalisedFit(equations, rho).log_determinant
        likelihood = problem.sum(Likelihood.log_likelihood, fit.coefficients, 1.0)
        return log_determinant - 2 * likelihood

    return np.exp(minimize_scalar(loss, bounds=_LOG_SHAPE_BOUNDS, method="bounded").x)


class _SignConstraints(NamedTuple):
    """Constraints on the signs of changes: ``matrix @ coefficients >= lowest``."""

    matrix: _Array  # (p, p)
    lowest: _Array  # (p,): zero, or minus infinity


class _Iterate(NamedTuple):
    """A solution in the iterations of `iterate_least_squares`, and its loss."""

    loss: float
    penalised_fit: PenalisedFit
    coefficients: _Array
    evaluation: Evaluation


def iterate_least_squares(
    problem: AdditiveProblem,
    smoothing: str | float | _Array,
    max_iter: int,
    *,
    constraints: _SignConstraints | None = None,
    without: slice | None = None,
) -> AdditiveFit:
    """Solve least squares problems until the penalised deviance settles.

    Smoothing parameters are chosen anew for each problem by the criterion `smoothing`,
    or are fixed at its logarithms. They are chosen for a quadratic approximation of the
    likelihood, which may mislead: once the restricted likelihood itself falls, the best
    parameters so far stay.
    """
    intercept = np.arange(problem.design.penalties.shape[1]) == 0
    # Least squares start at zero, so that targets are not rounded about a mean.
    is_least_squares = problem.likelihood.is_least_squares
    coefficients = np.where(intercept & (not is_least_squares), problem.start, 0.0)
    evaluation = problem.evaluate(coefficients)
    null_equations = problem.equations(evaluation, without)
    # `balanced` only bounds the search for smoothing parameters. It is fixed at the
    # start: weights vanish once terms separate the classes.
    balanced = null_equations.balanced
    method = smoothing if isinstance(smoothing, str) else ""
    choosing = method != ""
    rho = null_equations.start
    if not choosing:
        rho = np.broadcast_to(smoothing, balanced.shape)
    penalised_fit = PenalisedFit(null_equations, rho)
    if choosing:
        penalised_fit = choose_smoothing(penalised_fit, method, balanced)
    start_deviance, n_iter, converged = evaluation.deviance, 0, False
    if is_least_squares:  # a single problem, without iterations
        start_deviance, n_iter, converged = evaluation.square, 1, True
        solution = _solution(penalised_fit, constraints)
        deviance = penalised_fit.equations.residual(solution)
        evaluation = replace(evaluation, deviance=deviance)
        coefficients = solution + evaluation.center * intercept
    best: _Iterate | None = None
    while n_iter < max_iter and not converged:
        n_iter += 1
        if n_iter > 1:
            equations = problem.equations(evaluation, without)
            penalised_fit = PenalisedFit(equations, penalised_fit.log_smoothing)
            if choosing:
                loss = penalised_fit.loss(method, evaluation.deviance, coefficients)
                if best is None or loss <= best.loss + _RISE * (1 + abs(loss)):
                    best = _Iterate(loss, penalised_fit, coefficients, evaluation)
                    penalised_fit = choose_smoothing(penalised_fit, method, balanced)
                    choosing = n_iter < _MOST_CHOICES
                else:
                    _, penalised_fit, coefficients, evaluation = best
                    choosing = False
        solution = _solution(penalised_fit, constraints)
        candidate = solution + evaluation.center * intercept
        coefficients, evaluation, gain = _halve_step(
            problem, penalised_fit, coefficients, evaluation, candidate
        )
        converged = gain < _GAIN * (evaluation.deviance + 0.1)
        if not (evaluation.products.size or converged):
            evaluation = problem.evaluate(coefficients)
    solved = penalised_fit, coefficients, evaluation
    course = start_deviance, n_iter, converged
    return AdditiveFit(problem, null_equations, *solved, *course)


def _halve_step(
    problem: AdditiveProblem,
    penalised_fit: PenalisedFit,
    start: _Array,
    evaluation: Evaluation,
    candidate: _Array,
) -> tuple[_Array, Evaluation, float]:
    """Coefficients between start and candidate, their evaluation, and their gain.

    The step is halved until the penalised deviance does not rise. Where little gain is
    expected, the next equations are left out.
    """
    penalties = penalised_fit.penalty_diagonal
    before = evaluation.deviance + penalties @ start**2
    step = np.append(start[0] - evaluation.center, start[1:])
    expected_gain = penalised_fit.equations.residual(step) + penalties @ start**2
    expected_gain -= penalised_fit.minimum
    with_equations = expected_gain > _GAIN * (evaluation.deviance + 0.1)
    for _ in range(_MOST_HALVINGS):
        new_evaluation = problem.evaluate(candidate, with_equations)
        gain = before - new_evaluation.deviance - penalties @ candidate**2
        if gain >= -1e-10 * before:  # to rounding
            return candidate, new_evaluation, gain
        candidate = (start + candidate) / 2
    return start, evaluation, 0.0


def _sign_constraints(terms: Sequence[Term], signs: Sequence[int]) -> _SignConstraints:
    """Constraints on differences of B-splines' coefficients, by the terms' signs."""
    blocks, lowest = [np.eye(1)], [np.array([-np.inf])]
    for term, sign in zip(terms, signs, strict=True):
        n = term.coordinates.shape[1]
        block, bounded = np.eye(n), np.zeros(n, dtype=bool)
        if sign:
            changes = sign * _changes_along_line(term)
            # As many changes replace coordinates of each curve, so that C b is a change
            # of variables, with a square and invertible C. The last coordinate of a
            # curve with an effect of missing values is this effect, and stays free.
            width, n_bounded = n // term.blocks, len(changes) // term.blocks
            bounded = np.arange(n) % width < n_bounded
            block[bounded] = changes
        blocks.append(block)
        lowest.append(np.where(bounded, 0, -np.inf))
    return _SignConstraints(block_diag(*blocks), np.concatenate(lowest))


def _changes_along_line(term: Term) -> _Array:
    """Rows C whose products C b say how a term rises, (n_changes, n_coordinates)."""
    n, basis = term.coordinates.shape[1], term.bases[-1]
    if not isinstance(basis, SplineBasis):
        return term.coordinates  # a straight line: its slope
    # The curve of each level rises where its B-splines' coefficients do.
    n_splines = len(basis.breaks) + basis.degree - 1
    curves = term.coordinates.reshape(term.blocks, -1, n)[:, :n_splines]
    return np.diff(curves, axis=1).reshape(-1, n)


def _solution(fit: PenalisedFit, constraints: _SignConstraints | None) -> _Array:
    """The least squares solution among the coefficients that meet the constraints."""
    if constraints is None:
        return fit.coefficients
    factor = cholesky(fit.matrix, lower=True)
    inverse = np.linalg.inv(constraints.matrix)
    target = np.linalg.solve(factor, fit.equations.sums)
    bounds = constraints.lowest, np.inf
    solution = lsq_linear(factor.T @ inverse, target, bounds, method="bvls")
    return inverse @ solution.x

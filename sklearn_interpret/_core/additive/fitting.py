"""Penalised likelihood of an additive model, by iterated weighted least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, cholesky
from scipy.optimize import lsq_linear, minimize_scalar

from sklearn_interpret._core.additive import families
from sklearn_interpret._core.additive.bases import LineBasis
from sklearn_interpret._core.additive.gram import RoundedDesign, RoundedRows
from sklearn_interpret._core.additive.smoothing import (
    NormalEquations,
    PenalisedFit,
    smoothed,
)

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.families import Family, Link
    from sklearn_interpret._core.rules.ripper import _Found

# Largest number of choices of the smoothing parameters, which may drift for long.
_MOST_CHOICES = 20
# Least relative gain of the penalised deviance, and largest relative rise of the
# restricted loss, that are not counted as rounding.
_GAIN, _RISE = 1e-8, 1e-7
# Bounds of the log shape of negative binomial targets: beyond the upper one they are
# Poisson's. Largest number of shapes tried, and relative change of the variance that
# ends the search.
_LOG_SHAPES, _MOST_SHAPES, _SAME_VARIANCE = (-7.0, 14.0), 20, 1e-3


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
        How many rows each stands for, and known parts of the predictor.
    """

    design: RoundedRows
    targets: np.ndarray
    weights: np.ndarray
    offset: np.ndarray


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
    def evaluated(
        self, coefficients: NDArray[np.float64], equations: bool, rows: TargetRows
    ) -> Evaluation:
        """The `Evaluation` of coefficients at rows, perhaps without the equations."""
        family, link, y = self.family, self.link, rows.targets[self.model]
        predictor = rows.design.predictor(coefficients)
        scores = predictor + rows.offset
        means, slopes = link.mean(scores), link.slope(scores)
        deviance = rows.weights @ family.deviance(y, means)
        if not (equations and np.isfinite(deviance)):
            return Evaluation(deviance if np.isfinite(deviance) else np.inf)
        weights = rows.weights * slopes**2 / family.variance(means)
        working = predictor + (y - means) / slopes
        center = weights @ working / (weights.sum() or 1.0)
        working -= center
        products = rows.design.products(weights)
        sums, square = rows.design.sums(weights * working), weights @ working**2
        return Evaluation(deviance, center, products, sums, square)

    def _means(self, coefficients: NDArray[np.float64], rows: Any) -> Any:
        """Expected targets of rows."""
        return self.link.mean(rows.design.predictor(coefficients) + rows.offset)

    def log_likelihood(
        self, coefficients: NDArray[np.float64], dispersion: float, rows: Any
    ) -> Any:
        """Logarithm of the likelihood of rows."""
        y, means = rows.targets[self.model], self._means(coefficients, rows)
        return rows.weights @ self.family.log_likelihood(y, means, dispersion)

    def excess(self, coefficients: NDArray[np.float64], rows: Any) -> Any:
        """Sums of the family's excess of squared residuals, and of its variance."""
        y, means = rows.targets[self.model], self._means(coefficients, rows)
        copies = rows.weights if self.trials else np.ones_like(means)
        return np.array(self.family.excess(y, means, copies)) @ (rows.weights / copies)

    def effects(self, coefficients: NDArray[np.float64], rows: Any) -> Any:
        """List of one table: the terms at rows, and behind them the targets."""
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
        Sums of the least squares problem of the working targets less the center. None
        where means are out of bounds, or no problem is to be solved.
    """

    deviance: float
    center: float = 0.0
    products: np.ndarray | None = None
    sums: np.ndarray | None = None
    square: float = 0.0

    def about(self, center: Any) -> Any:
        """The same of another center; products with the intercept are plain sums."""
        move = center - self.center
        sums = self.sums - move * self.products[0]
        square = self.square - move * (self.sums[0] + sums[0])
        return replace(self, center=center, sums=sums, square=square)

    def __add__(self, other: Any) -> Any:
        """That of the rows of both (Chan, Golub & LeVeque 1983)."""
        deviance = self.deviance + other.deviance
        if self.products is None or other.products is None:
            return Evaluation(deviance)
        products = self.products + other.products
        share = other.products[0, 0] / (products[0, 0] or 1.0)
        # Sums are about the center as it is rounded.
        center = self.center + share * (other.center - self.center)
        one, two = self.about(center), other.about(center)
        sums, square = one.sums + two.sums, one.square + two.square
        return Evaluation(deviance, center, products, sums, square)


@dataclass(frozen=True)
class AdditiveProblem:
    """Coefficients, as all rows judge them.

    Parameters
    ----------
    design : RoundedDesign
        The terms.
    likelihood : Likelihood
        The distribution of the targets.
    rows : object
        Its ``sum(function)`` adds up the results of a function of `TargetRows`.
    start : float
        The intercept of a model without terms.
    n_rows : float
        Number of rows, from which a dispersion is estimated.
    """

    design: RoundedDesign
    likelihood: Likelihood
    rows: Any
    start: float
    n_rows: float

    def of_shape(self, shape: Any) -> Any:
        """The problem of negative binomial targets of a shape."""
        return replace(self, likelihood=replace(self.likelihood, shape=shape))

    def sum(
        self, function: Callable[..., Any], *arguments: NDArray[np.float64] | bool
    ) -> Evaluation:
        """Sum over the rows of a function of `Likelihood`."""
        return self.rows.sum(partial(function, self.likelihood, *arguments))

    def at(
        self, coefficients: NDArray[np.float64], equations: bool = True
    ) -> Evaluation:
        """The `Evaluation` of coefficients, perhaps without the equations."""
        return self.sum(Likelihood.evaluated, coefficients, equations)

    def equations(
        self, evaluation: Evaluation, without: None = None
    ) -> NormalEquations:
        """The least squares problem; the coefficients of a term may be held at zero."""
        products, sums = evaluation.products, evaluation.sums
        if without is not None:
            products, sums = products.copy(), sums.copy()
            products[without] = products[:, without] = sums[without] = 0
            products[without, without] = np.eye(without.stop - without.start)
        square, penalties = evaluation.square, self.design.penalties
        known = self.likelihood.family.dispersion
        return NormalEquations(products, sums, square, self.n_rows, penalties, known)


@dataclass(frozen=True)
class AdditiveFit:
    """A fitted model.

    Parameters
    ----------
    problem : AdditiveProblem
        The problem that it solves.
    first : NormalEquations
        The least squares problem at the intercept alone.
    last : PenalisedFit
        The last least squares problem.
    coefficients : ndarray of shape (p,)
        The intercept, and the terms' coefficients.
    evaluation : Evaluation
        Of the coefficients; of least squares, that before with their deviance.
    start_deviance : float
        Deviance of the intercept alone.
    n_iter : int
        Number of least squares problems.
    converged : bool
        Whether the last one changed little.
    """

    problem: AdditiveProblem
    first: NormalEquations
    last: PenalisedFit
    coefficients: np.ndarray
    evaluation: Evaluation
    start_deviance: float
    n_iter: int
    converged: bool

    @property
    def residual_dof(self) -> float:
        """Rows, less the effective degrees of freedom of the coefficients."""
        n_rows = self.last.equations.n_rows
        return max(n_rows - self.last.dof.sum(), 1e-3 * n_rows)

    @property
    def pearson_dispersion(self) -> float:
        """Pearson's statistic by residual degrees of freedom."""
        return (self.last.least - self.last.penalty) / self.residual_dof

    @property
    def dispersion(self) -> float:
        """The dispersion: known, or estimated."""
        return self.problem.likelihood.family.dispersion or self.pearson_dispersion

    def _log_likelihood(self, phi: float) -> float:
        """Logarithm of the likelihood at a dispersion."""
        problem, unit = self.problem, 1.0
        if problem.likelihood.is_least_squares:
            unit = 2 * np.pi
        elif problem.likelihood.family.log_likelihood is not None:
            return problem.sum(Likelihood.log_likelihood, self.coefficients, phi)
        deviance = self.evaluation.deviance
        return -(deviance / phi + problem.n_rows * np.log(unit * phi)) / 2

    @cached_property
    def restricted_likelihood(self) -> float:
        """Logarithm of the restricted likelihood (Laplace's approximation)."""
        last = self.last
        phi = last.dispersion
        free = last.n_free * np.log(2 * np.pi * phi)
        penalties = last.penalty / phi + last.log_ratio - free
        return self._log_likelihood(phi) - penalties / 2


def fit_additive(
    problem: AdditiveProblem, smoothing: str, signs: list[int], max_iter: int
) -> AdditiveFit:
    """Fit a model; smoothing parameters are chosen in each least squares problem.

    Parameters
    ----------
    problem : AdditiveProblem
        The terms, the family and the rows.
    smoothing : {"reml", "gcv"} or float
        How to choose smoothing parameters, or the logarithm of all.
    signs : list of int
        For each term 1 if it must not fall, -1 if it must not rise, else 0.
    max_iter : int
        Largest number of least squares problems.
    """
    for _ in range(_MOST_SHAPES):
        found = iterated(problem, smoothing, max_iter)
        shape = problem.likelihood.family.shape
        if shape is None:
            break
        better, mean = _best_shape(found), np.exp(problem.start)
        if abs(mean / better - mean / shape) < _SAME_VARIANCE * (1 + mean / shape):
            break
        problem = problem.of_shape(better)
    if any(signs):
        # At the smoothing parameters of the model without constraints.
        rho, changes = found.last.log_smoothing, _changes(problem.design.terms, signs)
        found = iterated(found.problem, rho, max_iter, changes=changes)
    return found


def fit_without(fit: Any, part: NDArray[np.float64], max_iter: int) -> Any:
    """The least squares problem of all terms, at the fit without one of them.

    The other terms keep their smoothing parameters, as in the score of a full fit.

    Parameters
    ----------
    fit : AdditiveFit
        The fit with all terms.
    part : slice
        Coefficients of the term.
    max_iter : int
        As in `fit_additive`.
    """
    rho = fit.last.log_smoothing
    null = iterated(fit.problem, rho, max_iter, without=part)
    equations = fit.problem.equations(fit.problem.at(null.coefficients))
    own = equations.penalties[:, part].any(axis=1)
    return PenalisedFit(equations, np.where(own, equations.balanced, rho))


def _best_shape(fit: Any) -> Any:
    """The shape of greatest restricted likelihood, at the coefficients of a fit."""

    def loss(log_shape: Any) -> Any:
        problem = fit.problem.of_shape(np.exp(log_shape))
        equations = problem.equations(problem.at(fit.coefficients))
        ratio = PenalisedFit(equations, fit.last.log_smoothing).log_determinant
        likelihood = problem.sum(Likelihood.log_likelihood, fit.coefficients, 1.0)
        return ratio - 2 * likelihood

    return np.exp(minimize_scalar(loss, bounds=_LOG_SHAPES, method="bounded").x)


def iterated(
    problem: AdditiveProblem,
    smoothing: str,
    max_iter: int,
    *,
    changes: None = None,
    without: None = None,
) -> AdditiveFit:
    """Solve least squares problems until the penalised deviance settles.

    Smoothing parameters are chosen anew for each problem, or are given. They are chosen
    for a quadratic approximation of the likelihood, which may mislead: once the
    restricted likelihood itself falls, the best parameters so far are kept.
    """
    intercept = np.arange(problem.design.penalties.shape[1]) == 0
    # Least squares start at zero, so that targets are not rounded about a mean.
    is_least_squares = problem.likelihood.is_least_squares
    coefficients = np.where(intercept & (not is_least_squares), problem.start, 0.0)
    found = problem.at(coefficients)
    start_deviance = found.square if is_least_squares else found.deviance
    best, n_iter, converged = None, 0, False
    choosing = isinstance(smoothing, str)
    while n_iter < max_iter and not converged:
        n_iter += 1
        equations = problem.equations(found, without)
        if n_iter == 1:
            # At the start: weights vanish once terms separate the classes.
            first, balanced = equations, equations.balanced
            known = np.broadcast_to(smoothing, balanced.shape)
            rho = equations.start if choosing else known
        last = PenalisedFit(equations, rho)
        if choosing and n_iter > 1:
            loss = last.loss(smoothing, found.deviance, coefficients)
            choosing = best is None or loss <= best[0] + _RISE * (1 + abs(loss))
            if choosing:
                best = loss, last, coefficients, found
            else:
                _, last, coefficients, found = best
        if choosing:
            last = smoothed(last, smoothing, balanced)
            choosing = n_iter < _MOST_CHOICES
        rho = last.log_smoothing
        new = last.coefficients if changes is None else _constrained(last, changes)
        if converged := is_least_squares:
            found = replace(found, deviance=last.equations.residual(new))
            coefficients = new + found.center * intercept
            break
        new = new + found.center * intercept
        coefficients, found, gain = _shortened(problem, last, coefficients, found, new)
        converged = gain < _GAIN * (found.deviance + 0.1)
        if found.products is None and not converged:
            found = problem.at(coefficients)
    return AdditiveFit(
        problem, first, last, coefficients, found, start_deviance, n_iter, converged
    )


def _shortened(
    problem: AdditiveProblem,
    last: tuple[NDArray[np.float64], float],
    old: Any,
    found: list[_Found],
    new: NDArray[np.intp],
) -> Any:
    """New coefficients, halved towards the old until no worse; their gain.

    Where little gain is to be expected, the next equations are left out.
    """
    before = found.deviance + last.sizes @ old**2
    step = np.append(old[0] - found.center, old[1:])
    expected = last.equations.residual(step) + last.sizes @ old**2 - last.least
    for _ in range(30):
        tried = problem.at(new, expected > _GAIN * (found.deviance + 0.1))
        gain = before - tried.deviance - last.sizes @ new**2
        if gain >= -1e-10 * before:
            return new, tried, gain
        new = (old + new) / 2
    return old, found, 0.0


def _changes(terms: Any, signs: dict[tuple[int, int], int]) -> Any:
    """Matrix from coefficients to differences of B-splines', and their lower bounds."""
    blocks, lowest = [np.ones((1, 1))], [[-np.inf]]
    for term, sign in zip(terms, signs, strict=True):
        n = term.coordinates.shape[1]
        if not sign:
            blocks.append(np.eye(n))
            lowest.append(np.full(n, -np.inf))
            continue
        if isinstance(term.bases[0], LineBasis):
            changes = sign * term.coordinates
        else:  # of each level's curve
            n_splines = len(term.bases[-1].breaks) + term.bases[-1].degree - 1
            curves = term.coordinates.reshape(term.blocks, -1, n)[:, :n_splines]
            changes = sign * np.diff(curves, axis=1).reshape(-1, n)
        # A missing value is free: it is the last coordinate of each curve.
        width, n_bounded = n // term.blocks, len(changes) // term.blocks
        bounded = np.arange(n) % width < n_bounded
        block = np.eye(n)
        block[bounded] = changes
        blocks.append(block)
        lowest.append(np.where(bounded, 0, -np.inf))
    return block_diag(*blocks), np.concatenate(lowest)


def _constrained(last: tuple[NDArray[np.float64], float], changes: Any) -> Any:
    """The least squares solution whose bounded changes are not negative."""
    matrix, lowest = changes
    factor = cholesky(last.matrix, lower=True)
    back = np.linalg.inv(matrix)
    target = np.linalg.solve(factor, last.equations.sums)
    found = lsq_linear(factor.T @ back, target, (lowest, np.inf), method="bvls")
    return back @ found.x

"""Penalised likelihood of an additive model, by iterated weighted least squares."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag, cholesky
from scipy.optimize import lsq_linear, minimize_scalar

from sklearn_interpret._core.additive import families
from sklearn_interpret._core.additive.smoothing import (
    NormalEquations,
    PenalisedFit,
    smoothed,
)

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
class Targets:
    """Targets of rows, and the model of them.

    Parameters
    ----------
    y, weights, offset : ndarray of shape (n_rows,)
        Targets, how many rows each stands for, and known parts of the predictor.
    family : Family
        Their distribution.
    link : Link
        Of their means.
    trials : bool, default=False
        Whether weights are numbers of trials, of which the targets are shares.
    """

    y: np.ndarray
    weights: np.ndarray
    offset: np.ndarray
    family: families.Family
    link: families.Link
    trials: bool = False

    @property
    def is_least_squares(self):
        """Whether the fit is a single least squares problem."""
        return self.link is families.LINKS["identity"]

    @cached_property
    def n_rows(self):
        """Number of rows, from which a dispersion is estimated."""
        return float(len(self.y) if self.trials else self.weights.sum())

    def start(self):
        """The intercept of a model without terms."""
        total = self.weights.sum()
        mean, offset = self.weights @ self.y / total, self.weights @ self.offset / total
        return self.link.of_mean(mean) - offset

    def means(self, predictor):
        """Expected targets."""
        return self.link.mean(predictor + self.offset)

    def deviance(self, predictor):
        """The deviance; infinite where means are out of bounds."""
        with np.errstate(all="ignore"):
            means = self.means(predictor)
            deviance = self.weights @ self.family.deviance(self.y, means)
        return deviance if np.isfinite(deviance) else np.inf

    def log_likelihood(self, predictor, dispersion):
        """Logarithm of the likelihood."""
        means, family = self.means(predictor), self.family
        if family.log_likelihood is None:
            deviance = self.weights @ family.deviance(self.y, means)
            return -(deviance / dispersion + self.n_rows * np.log(dispersion)) / 2
        return self.weights @ family.log_likelihood(self.y, means, dispersion)

    def working(self, predictor):
        """Weights and targets of the least squares problem at a predictor."""
        scores = predictor + self.offset
        means, slopes = self.link.mean(scores), self.link.slope(scores)
        weights = self.weights * slopes**2 / self.family.variance(means)
        return weights, predictor + (self.y - means) / slopes


@dataclass(frozen=True)
class AdditiveFit:
    """A fitted model.

    Parameters
    ----------
    targets : Targets
        Its targets and family.
    first : NormalEquations
        The least squares problem at the intercept alone.
    last : PenalisedFit
        The last least squares problem.
    coefficients : ndarray of shape (p,)
        The intercept, and the terms' coefficients.
    deviance, log_likelihood : float
        Of the targets.
    n_iter : int
        Number of least squares problems.
    converged : bool
        Whether the last one changed little.
    """

    targets: Targets
    first: NormalEquations
    last: PenalisedFit
    coefficients: np.ndarray
    deviance: float
    log_likelihood: float
    n_iter: int
    converged: bool

    @property
    def residual_dof(self):
        """Rows, less the effective degrees of freedom of the coefficients."""
        n_rows = self.last.equations.n_rows
        return max(n_rows - self.last.dof.sum(), 1e-3 * n_rows)

    @property
    def pearson_dispersion(self):
        """Pearson's statistic by residual degrees of freedom."""
        return (self.last.least - self.last.penalty) / self.residual_dof

    @property
    def dispersion(self):
        """The dispersion: known, or estimated."""
        return self.targets.family.dispersion or self.pearson_dispersion

    @property
    def restricted_likelihood(self):
        """Logarithm of the restricted likelihood (Laplace's approximation)."""
        last = self.last
        phi = last.dispersion
        free = last.n_free * np.log(2 * np.pi * phi)
        return self.log_likelihood - (last.penalty / phi + last.log_ratio - free) / 2


def fit_additive(design, targets, smoothing, signs, max_iter):
    """Fit a model; smoothing parameters are chosen in each least squares problem.

    Parameters
    ----------
    design : RoundedDesign
        The terms at the rows.
    targets : Targets
        Targets and family.
    smoothing : {"reml", "gcv"} or float
        How to choose smoothing parameters, or the logarithm of all.
    signs : list of int
        For each term 1 if it must not fall, -1 if it must not rise, else 0.
    max_iter : int
        Largest number of least squares problems.
    """
    for _ in range(_MOST_SHAPES):
        found = _iterate(design, targets, smoothing, max_iter)
        shape = targets.family.shape
        if shape is None:
            break
        better, mean = _best_shape(design, found), np.exp(targets.start())
        if abs(mean / better - mean / shape) < _SAME_VARIANCE * (1 + mean / shape):
            break
        targets = replace(targets, family=families.negative_binomial(better))
    if any(signs):
        # At the smoothing parameters of the model without constraints.
        rho, changes = found.last.log_smoothing, _changes(design.terms, signs)
        found = _iterate(design, found.targets, rho, max_iter, changes=changes)
    return found


def fit_without(design, fit, part, max_iter):
    """The least squares problem of all terms, at the fit without one of them.

    The other terms keep their smoothing parameters, as in the score of a full fit.

    Parameters
    ----------
    design : RoundedDesign
        The terms at the rows.
    fit : AdditiveFit
        The fit with all terms.
    part : slice
        Coefficients of the term.
    max_iter : int
        As in `fit_additive`.
    """
    targets, rho = fit.targets, fit.last.log_smoothing
    null = _iterate(design, targets, rho, max_iter, without=part)
    equations, _ = _problem(design, targets, design.predictor(null.coefficients))
    own = equations.penalties[:, part].any(axis=1)
    return PenalisedFit(equations, np.where(own, equations.balanced, rho))


def _best_shape(design, fit):
    """The shape of greatest restricted likelihood, at the coefficients of a fit."""
    predictor, log_smoothing = (
        design.predictor(fit.coefficients),
        fit.last.log_smoothing,
    )

    def loss(log_shape):
        family = families.negative_binomial(np.exp(log_shape))
        targets = replace(fit.targets, family=family)
        equations, _ = _problem(design, targets, predictor)
        ratio = PenalisedFit(equations, log_smoothing).log_determinant
        return ratio - 2 * targets.log_likelihood(predictor, 1.0)

    return np.exp(minimize_scalar(loss, bounds=_LOG_SHAPES, method="bounded").x)


def _problem(design, targets, predictor, without=None):
    """The least squares problem at a predictor, and the mean of its targets.

    The coefficients of one term may be held at zero.
    """
    weights, working = targets.working(predictor)
    center = weights @ working / weights.sum()
    working = working - center
    products, sums = design.products(weights), design.sums(weights * working)
    if without is not None:
        products[without] = products[:, without] = sums[without] = 0
        products[without, without] = np.eye(without.stop - without.start)
    equations = NormalEquations(
        products,
        sums,
        weights @ working**2,
        targets.n_rows,
        design.penalties,
        targets.family.dispersion,
    )
    return equations, center


def _iterate(design, targets, smoothing, max_iter, *, changes=None, without=None):
    """Solve least squares problems until the penalised deviance settles.

    Smoothing parameters are chosen anew for each problem, or are given. They are chosen
    for a quadratic approximation of the likelihood, which may mislead: once the
    restricted likelihood itself falls, the best parameters so far are kept.
    """
    coefficients = np.zeros(design.penalties.shape[1])
    coefficients[0] = targets.start()
    predictor, deviance = design.predictor(coefficients), np.inf
    best, n_iter, converged = None, 0, False
    choosing = isinstance(smoothing, str)
    while n_iter < max_iter and not converged:
        n_iter += 1
        equations, center = _problem(design, targets, predictor, without)
        if n_iter == 1:
            # At the start: weights vanish once terms separate the classes.
            first, balanced = equations, equations.balanced
            rho = balanced if choosing else np.broadcast_to(smoothing, balanced.shape)
        last = PenalisedFit(equations, rho)
        if choosing and n_iter > 1:
            loss = last.loss(smoothing, deviance, coefficients)
            choosing = best is None or loss <= best[0] + _RISE * (1 + abs(loss))
            if choosing:
                best = loss, last, coefficients, center
            else:
                _, last, coefficients, center = best
        if choosing:
            last = smoothed(last, smoothing, balanced)
            choosing = n_iter < _MOST_CHOICES
        rho = last.log_smoothing
        found = last.coefficients if changes is None else _constrained(last, changes)
        found = found + center * (np.arange(len(found)) == 0)
        coefficients, predictor, deviance, gain = _shortened(
            design, targets, last.sizes, coefficients, found
        )
        converged = gain < _GAIN * (deviance + 0.1) or targets.is_least_squares
    likelihood = targets.log_likelihood(predictor, last.dispersion)
    return AdditiveFit(
        targets, first, last, coefficients, deviance, likelihood, n_iter, converged
    )


def _shortened(design, targets, sizes, old, new):
    """New coefficients, halved towards the old until no worse; their gain."""

    def state(coefficients):
        predictor = design.predictor(coefficients)
        deviance = targets.deviance(predictor)
        return predictor, deviance, deviance + sizes @ coefficients**2

    before = state(old)[2]
    for _ in range(30):
        predictor, deviance, after = state(new)
        if after <= before * (1 + 1e-10):
            break
        new = (old + new) / 2
    return new, predictor, deviance, before - after


def _changes(terms, signs):
    """Matrix from coefficients to differences of B-splines', and their lower bounds."""
    blocks, lowest = [np.ones((1, 1))], [[-np.inf]]
    for term, sign in zip(terms, signs, strict=True):
        n = term.coordinates.shape[1]
        if not sign:
            blocks.append(np.eye(n))
            lowest.append(np.full(n, -np.inf))
            continue
        splines = term.coordinates[: len(term.bases[0].breaks) + 2]
        changes = sign * np.diff(splines, axis=0)
        # A missing value is free.
        blocks.append(np.vstack([changes, np.eye(n)[len(changes) :]]))
        lowest.append(np.where(np.arange(n) < len(changes), 0, -np.inf))
    return block_diag(*blocks), np.concatenate(lowest)


def _constrained(last, changes):
    """The least squares solution whose bounded changes are not negative."""
    matrix, lowest = changes
    factor = cholesky(last.matrix, lower=True)
    back = np.linalg.inv(matrix)
    target = np.linalg.solve(factor, last.equations.sums)
    found = lsq_linear(factor.T @ back, target, (lowest, np.inf), method="bvls")
    return back @ found.x

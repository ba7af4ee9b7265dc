"""Penalised likelihood of an additive model, by iterated weighted least squares."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import block_diag, cholesky
from scipy.optimize import lsq_linear

from sklearn_interpret._core.additive.families import LINKS, Family, Link
from sklearn_interpret._core.additive.smoothing import (
    NormalEquations,
    PenalisedFit,
    smoothed,
)

# Chosen anew for each problem, smoothing parameters may go round in circles; held where
# they are, what is left is the maximum of one penalised likelihood.
_MOST_CHOICES = 20


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
    """

    y: np.ndarray
    weights: np.ndarray
    offset: np.ndarray
    family: Family
    link: Link

    @property
    def is_least_squares(self):
        """Whether one least squares problem is all there is to solve."""
        return self.link is LINKS["identity"]

    def start(self):
        """An intercept to start from."""
        total = self.weights.sum()
        mean, offset = self.weights @ self.y / total, self.weights @ self.offset / total
        return self.link.of_mean(mean) - offset

    def deviance(self, predictor):
        """The deviance; infinite where means are out of bounds."""
        with np.errstate(all="ignore"):
            means = self.link.mean(predictor + self.offset)
            deviance = self.weights @ self.family.deviance(self.y, means)
        return deviance if np.isfinite(deviance) else np.inf

    def log_likelihood(self, predictor, dispersion):
        """Logarithm of the likelihood."""
        means = self.link.mean(predictor + self.offset)
        return self.weights @ self.family.log_likelihood(self.y, means, dispersion)

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
    def dispersion(self):
        """Known, or Pearson's statistic by residual degrees of freedom."""
        last = self.last
        pearson = (last.least - last.penalty) / self.residual_dof
        return last.equations.dispersion or pearson

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
        How to choose smoothing parameters.
    signs : list of int
        For each term 1 if it must not fall, -1 if it must not rise, else 0.
    max_iter : int
        Largest number of least squares problems.
    """
    start = np.zeros(1 + sum(t.coordinates.shape[1] for t in design.terms))
    start[0] = targets.start()
    iterate = partial(_iterate, design, targets, max_iter=max_iter)
    found = iterate(start, partial(smoothed, method=smoothing), None)
    if any(signs):
        # At the smoothing parameters of the model without constraints.
        rho = found.last.log_smoothing
        changes = _changes(design.terms, signs)
        found = iterate(
            start, lambda equations, **_: PenalisedFit(equations, rho), changes
        )
    return found


def _iterate(design, targets, coefficients, choose, changes, max_iter, tol=1e-8):
    """Solve least squares problems until the penalised deviance settles."""
    penalties = [np.empty((0, 1)), *(term.penalties for term in design.terms)]
    penalties = block_diag(*penalties)
    family = targets.family
    predictor = design.predictor(coefficients)
    rho = balanced = None
    converged, n_iter = False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        weights, working = targets.working(predictor)
        center = weights @ working / weights.sum()
        working = working - center
        equations = NormalEquations(
            design.products(weights),
            design.sums(weights * working),
            weights @ working**2,
            targets.weights.sum(),
            penalties,
            family.dispersion,
        )
        if n_iter == 1:
            # At the start: weights vanish where classes are told apart without error.
            rho = balanced = equations.balanced
        if n_iter <= _MOST_CHOICES:
            last = choose(equations, balanced=balanced, start=rho)
        else:
            last = PenalisedFit(equations, rho)
        rho = last.log_smoothing
        found = last.coefficients if changes is None else _constrained(last, changes)
        found = found + center * (np.arange(len(found)) == 0)
        coefficients, predictor, deviance, gain = _shortened(
            design, targets, last.sizes, coefficients, found
        )
        converged = gain < tol * (deviance + 0.1) or targets.is_least_squares
    likelihood = targets.log_likelihood(predictor, last.dispersion)
    return AdditiveFit(last, coefficients, deviance, likelihood, n_iter, converged)


def _shortened(design, targets, sizes, old, new):
    """Coefficients on the way to new ones that are no worse, and by how much better."""

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
    """From coefficients to changes between B-splines' own, and bounds from below."""
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
    """The solution of least squares of which some changes are not negative."""
    matrix, lowest = changes
    factor = cholesky(last.matrix, lower=True)
    back = np.linalg.inv(matrix)
    target = np.linalg.solve(factor, last.equations.sums)
    found = lsq_linear(factor.T @ back, target, (lowest, np.inf), method="bvls")
    return back @ found.x

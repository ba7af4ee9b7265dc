"""Influence of single rows on a regression: measures of their deletion.

Formulas follow Belsley, Kuh & Welsch (1980), for generalized linear models Williams
(1987). With the working design A, rows a, the penalties L and the parameters b
of all rows, a row has the leverage h = a' (A'A + L)^-1 a. Its *deleted residual* is its
deviance residual over 1 - h. One step of deleting the row subtracts (A'A + L)^-1 a
times the deleted residual from b.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtr

from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.regression.working_regression import WorkingRegression

# Residual degrees of freedom below this are rounding.
_NO_DOF = 1e-9
# Limits the numbers in a block of deletions, to 32 MB.
_MOST_NUMBERS = 2**22


@dataclass(frozen=True, eq=False)
class RegressionDiagnostics(WorkingRegression):
    """Measures of leaving out each row of a model of one score.

    Measures are NaN for a row of leverage one, and where no residual degree of freedom
    is left.

    Parameters
    ----------
    model, known_dispersion, rank
        As of `WorkingRegression`.
    parameters_without : ndarray of shape (n, d), default=None
        Parameters without each row; None takes one step from the parameters of all
        rows.
    """

    parameters_without: NDArray[np.float64] | None = None

    @cached_property
    def _leverage_complements(self) -> NDArray[np.float64]:
        """One minus the leverage, NaN where it is zero."""
        return np.where(self.leverages < 1, 1 - self.leverages, np.nan)

    @cached_property
    def _deleted_residuals(self) -> NDArray[np.float64]:
        """Deviance residuals over one minus the leverage, (n,)."""
        return self.residuals.deviance / self._leverage_complements

    @cached_property
    def _solved_rows(self) -> NDArray[np.float64]:
        """(A'A + L)^-1 times each row of A, (n, d)."""
        basis, inverse = self.factors
        return basis @ inverse.T

    @cached_property
    def dfbeta(self) -> NDArray[np.float64]:
        """Parameters less the parameters without each row, (n, d)."""
        if self.parameters_without is not None:
            changes = self.parameters - self.parameters_without
            return np.where(self.leverages[:, None] < 1, changes, np.nan)
        return self._solved_rows * self._deleted_residuals[:, None]

    @cached_property
    def _deviances_without(self) -> NDArray[np.float64]:
        """Deviance of the other rows at the parameters without each row, (n,)."""
        if self.parameters_without is not None:
            return _deviances_of_others(self.model, self.parameters_without)
        # To second order: at b, half the deviance of all rows has the slope -L b and
        # the curvature A'A. The row itself contributes its squared deleted residual.
        deleted = self._deleted_residuals
        slopes = self._solved_rows @ (self.penalty * self.parameters)
        curvatures = deleted**2 * (self.leverages - self._leverage_reductions)
        return self.deviance + 2 * deleted * slopes + (curvatures - deleted**2)

    @cached_property
    def _leverage_reductions(self) -> NDArray[np.float64]:
        """Reduction of each leverage by the penalty: a' (A'A+L)^-1 L (A'A+L)^-1 a."""
        if not self.penalty.any():
            return np.zeros(len(self.roots))
        return self._solved_rows**2 @ self.penalty

    @cached_property
    def sigma(self) -> NDArray[np.float64]:
        """Residual standard deviation without each row, (n,); weights count rows."""
        # Without the row, M = (A'A + L)^-1 grows by M a a' M / (1 - h), so that the
        # effective degrees of freedom, d - trace(M L), fall by a' M L M a / (1 - h).
        dof = self.residual_dof - self.model.weights
        dof += self._leverage_reductions / self._leverage_complements
        dof = np.where(dof > _NO_DOF, dof, np.nan)
        return np.sqrt(np.maximum(self._deviances_without, 0) / dof)

    @cached_property
    def residuals_standardized(self) -> NDArray[np.float64]:
        """Deviance residuals in units of their standard deviation."""
        standard_deviations = np.sqrt(self.dispersion * self._leverage_complements)
        return _positive_ratio(self.residuals.deviance, standard_deviations)

    @cached_property
    def residuals_studentized(self) -> NDArray[np.float64]:
        """Signed roots of the change of the deviance without each row."""
        deviance, pearson = self.residuals
        scale = 1.0 if self.known_dispersion else self.sigma
        change = deviance**2 + self.leverages * pearson**2 / self._leverage_complements
        if self.parameters_without is not None:
            penalty = self.penalty @ self.parameters**2
            change = self.deviance - self._deviances_without
            change += penalty - self.parameters_without**2 @ self.penalty
        change = np.where(self.leverages < 1, np.maximum(change, 0), np.nan)
        return _positive_ratio(np.sign(deviance) * np.sqrt(change), scale)

    @cached_property
    def cooks_distances(self) -> NDArray[np.float64]:
        """Squared length of the parameters' change, for each degree of freedom."""
        pearson = self.residuals.pearson / self._leverage_complements
        squared_lengths = pearson**2 * self.leverages
        if self.parameters_without is not None:
            working = self.roots[:, None] * self.model.design
            information = working.T @ working + np.diag(self.penalty)
            changes = self.dfbeta
            squared_lengths = np.einsum("nd,de,ne->n", changes, information, changes)
        return _positive_ratio(squared_lengths, self.effective_dof * self.dispersion)

    @cached_property
    def dffits(self) -> NDArray[np.float64]:
        """Change of each row's own score, in its standard errors."""
        changes = self._deleted_residuals * np.sqrt(self.leverages)
        if self.parameters_without is not None:
            changes = np.einsum("nd,nd->n", self.model.design, self.dfbeta)
            changes = _positive_ratio(changes * self.roots, np.sqrt(self.leverages))
        return _positive_ratio(changes, self.sigma)

    @cached_property
    def dfbetas(self) -> NDArray[np.float64]:
        """Changes of the parameters in their standard errors, (n, d)."""
        errors = np.linalg.norm(self.inverse, axis=1)
        scaled = self.dfbeta * _positive_ratio(1, self.sigma)[:, None]
        return scaled * _positive_ratio(1, errors)

    @cached_property
    def covratio(self) -> NDArray[np.float64]:
        """Ratio of the determinants of the parameters' covariance."""
        rank = self.inverse.shape[1]
        variance = self.deviance / self.residual_dof
        ratio = _positive_ratio(self.sigma**2, variance)
        return ratio**rank / self._leverage_complements

    @cached_property
    def influential(self) -> NDArray[np.bool_]:
        """Rows beyond one of the cut-offs of R's influence.measures."""
        k, dof = self.effective_dof, self.residual_dof
        return (
            (np.abs(self.dfbetas) > 1).any(axis=1)
            | (np.abs(self.dffits) > 3 * np.sqrt(k / dof))
            | (np.abs(1 - self.covratio) > 3 * k / dof)
            | (fdtr(k, dof, self.cooks_distances) > 0.5)
            | (self.leverages > 3 * k / (k + dof))
        )


def _positive_ratio(
    numerator: NDArray[np.float64] | float, denominator: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """A quotient, NaN where the divisor is not positive."""
    denominator = np.asarray(denominator)
    return numerator / np.where(denominator > 0, denominator, np.nan)


def _deviances_of_others(
    model: ScoreModel, parameters_without: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Deviance of the other rows at the parameters (n, d) without each row: (n,)."""
    n_rows = len(parameters_without)
    deviances = np.empty(n_rows)
    n_together = max(1, _MOST_NUMBERS // len(model.design))
    for start in range(0, n_rows, n_together):
        deleted = np.arange(start, min(start + n_together, n_rows))
        scores = model.design @ parameters_without[deleted].T + model.offsets
        losses = model.weights[:, None] * model.loss.values(
            model.targets[:, None], scores[..., None]
        )
        own_losses = losses[deleted, deleted - start]
        deviances[deleted] = 2 * (losses.sum(axis=0) - own_losses)
    return deviances

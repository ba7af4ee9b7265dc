"""Whether counts and classes vary more than their distribution implies (Dean, 1992).

The *excess* of a row is its squared Pearson residual less the expectation of it; where
the dispersion is one, the mean excess is zero. The functions take the means of a fitted
model as exact: :class:`OverdispersionTest` corrects for its parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, expit

# Smallest dispersion that warns: standard errors are then too small by a factor of at
# least its root, 1.22.
DISPERSED = 1.5
# Largest p-value of its test that warns: one warning in a thousand fits is by chance.
_SIGNIFICANT = 0.001
# Log-odds that differ by less, relative to their size or one, are equal to rounding.
_SAME = 1e-9
_MAX_LOG_ODDS = 30


def excess_of_counts(
    y: NDArray[np.float64], means: NDArray[np.float64], copies: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Excess and its variance, (n,) each, of rows that are means of some counts.

    Squared Pearson residuals less y / mean: unlike squared residuals less one, they
    have no long tail where means are small.
    """
    return (copies * (y - means) ** 2 - y) / means, np.full_like(means, 2.0)


def excess_of_shares(
    y: NDArray[np.float64], means: NDArray[np.float64], trials: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Excess and its variance, (n,) each, of rows that are shares of some trials.

    The subtracted term is linear in the share, and equal to the squared residual of a
    single trial, which says nothing of the dispersion.
    """
    variances = means * (1 - means)
    expected = means**2 + y * (1 - 2 * means)
    excess = (trials * (y - means) ** 2 - expected) / variances
    return excess, 2 * np.maximum(1 - 1 / trials, 0)


@dataclass(frozen=True)
class OverdispersionTest:
    """Test of a dispersion of one.

    Parameters
    ----------
    dispersion : float
        Pearson's statistic, divided by its degrees of freedom.
    dof : float
        Degrees of freedom of the dispersion.
    excess, variance : float
        Sums of the excess and of its variance over rows.
    n_parameters : float
        Number of the model's parameters: each takes one from the sum of squared
        residuals.
    """

    dispersion: float
    dof: float
    excess: float
    variance: float
    n_parameters: float

    @property
    def pvalue(self) -> float:
        """One-sided p-value; one where single trials say nothing.

        The statistic is compared with a multiple of a chi-squared variable that has its
        mean, `dof`, and its variance.
        """
        if not (self.dof > 0 and self.variance > 0):
            return 1.0
        statistic = self.dof + self.excess + self.n_parameters
        unit = self.variance / (2 * self.dof)
        pvalue = chdtrc(self.dof / unit, max(statistic, 0) / unit)
        return max(float(pvalue), 1e-300)

    @property
    def warns(self) -> bool:
        """Whether the dispersion is large, and not by chance."""
        return self.dispersion >= DISPERSED and self.pvalue < _SIGNIFICANT


@dataclass(frozen=True)
class Trials:
    """Trials and successes of rows of equal log-odds, which are one binomial target.

    Parameters
    ----------
    log_odds, trials, successes : ndarray of shape (n_groups,)
        Values of the groups, in the order of increasing log-odds.
    """

    log_odds: NDArray[np.float64]
    trials: NDArray[np.float64]
    successes: NDArray[np.float64]

    @classmethod
    def of_rows(
        cls,
        log_odds: NDArray[np.float64],
        trials: NDArray[np.float64],
        successes: NDArray[np.float64],
    ) -> Trials:
        """Groups of rows, which may come in any order."""
        order = np.argsort(log_odds, kind="stable")
        log_odds = log_odds[order]
        units = _SAME * np.maximum(np.abs(log_odds[1:]), 1)
        starts = np.flatnonzero(np.append(True, np.diff(log_odds) > units))
        sums = (np.add.reduceat(n[order], starts) for n in (trials, successes))
        return cls(log_odds[starts], *sums)

    def merge(self, other: Trials) -> Trials:
        """Groups of both sets of rows."""
        return Trials.of_rows(
            np.append(self.log_odds, other.log_odds),
            np.append(self.trials, other.trials),
            np.append(self.successes, other.successes),
        )

    @property
    def pearson_statistic(self) -> float:
        """Sum of the squared Pearson residuals."""
        shares, complements = expit(self.log_odds), expit(-self.log_odds)
        errors = self.successes * complements - (self.trials - self.successes) * shares
        variances = self.trials * shares * complements
        # Separated classes have no variance.
        squares = np.divide(errors**2, variances, 0 * errors, where=variances > 0)
        return float(squares.sum())

    def excess_sums(self) -> NDArray[np.float64]:
        """Sums over the groups of the excess and of its variance: (2,)."""
        y = self.successes / self.trials
        # Shares of larger log-odds round to 0 or 1, and have no variance to divide by.
        shares = expit(np.clip(self.log_odds, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))
        return np.sum(excess_of_shares(y, shares, self.trials), axis=1)

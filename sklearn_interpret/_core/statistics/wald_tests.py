"""Covariances of a regression's parameters, and Wald's tests and intervals of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtr, stdtrit


@dataclass(frozen=True, eq=False)
class WaldTests:
    """Standard errors and tests of the parameters of an unpenalised regression.

    Weights are numbers of copies of rows.

    Parameters
    ----------
    regression : WorkingRegression
        Without a penalty.
    kind : {"model", "HC0", "HC1", "HC2", "HC3"}
        Of the covariance: the model's, or a sandwich.
    """

    regression: object
    kind: str = "model"

    @cached_property
    def covariance(self):
        """Covariance of the parameters, (d, d)."""
        basis, inverse = self.regression.factors
        if self.kind == "model":
            return self.regression.dispersion * inverse @ inverse.T
        bread = inverse @ np.linalg.inv((basis.T * self._observed) @ basis)
        scaled = (basis * np.sqrt(self._squares)[:, None]) @ bread.T
        return scaled.T @ scaled

    @property
    def _observed(self):
        """Observed curvatures of the rows by those to be expected, (n,)."""
        regression, model = self.regression, self.regression.model
        scores = model.design @ regression.parameters[:, None]
        observed = model.loss.curvatures(model.targets, scores)[:, 0, 0]
        expected = regression.roots**2 / model.weights
        ones = np.ones_like(expected)
        return np.divide(observed, expected, out=ones, where=expected > 0)

    @cached_property
    def _squares(self):
        """Squared residuals in the meat of the sandwich (MacKinnon & White, 1985)."""
        regression, weights = self.regression, self.regression.model.weights
        squares = regression.residuals[1] ** 2 / weights
        if self.kind == "HC1":
            return squares * (weights.sum() / regression.residual_dof)
        power = {"HC0": 0, "HC2": 1, "HC3": 2}[self.kind]
        # Each copy of a row of weight two has half of its leverage.
        left = 1 - regression.leverages / weights
        return squares / np.where(left > 0, left, np.nan) ** power

    @property
    def _dof(self):
        """Degrees of freedom of Student's t; infinite where the dispersion is known."""
        regression = self.regression
        return np.inf if regression.known_dispersion else regression.residual_dof

    def pvalues(self, statistics):
        """Two-sided p-values of parameters by their standard errors."""
        return 2 * stdtr(self._dof, -np.abs(statistics))

    def quantile(self, level):
        """Size of the statistic that is exceeded with a probability of 1 - level."""
        return float(stdtrit(self._dof, (1 + level) / 2))

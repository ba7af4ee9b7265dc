"""Intervals of a regression's parameters by profile likelihood.

The end of an interval is where the least deviance, over all parameters but one, has
risen by the height. With the estimate b, parameters are b + V g, where V is the inverse
factor of the working regression: at g = 0 the Hessian of half of the deviance, in g, is
the identity. The parameter grows fastest along its row of V, the direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space, pinvh

if TYPE_CHECKING:
    from sklearn_interpret._core.regression.working_regression import WorkingRegression

# Relative precision of a bound.
_PRECISION = 1e-9
# Decrease of the deviance, relative to the height, at which a minimisation ends.
_LAST_DECREASE = 1e-9
# Limits the steps of the search, and of each minimisation: where more are needed, the
# bound is NaN.
_MAX_STEPS = 100
# Largest rise of the deviance along a step, relative to the height: beyond, numbers may
# overflow.
_LARGEST_RISE = 1e6
# Largest error of the height at the end of an interval, relative to the height.
_HEIGHT_ERROR = 1e-6
# Steps that reduce the decrease by less than this factor compute a new Hessian, which
# costs as much as many steps. Chosen by hand.
_SLOW = 0.05


def profile_bounds(
    regression: WorkingRegression, parameter: int, height: float
) -> NDArray[np.float64]:
    """Lower and upper bound of a parameter; NaN where the search fails.

    Parameters
    ----------
    regression : WorkingRegression
        The regression, without a penalty.
    parameter : int
        Position of the parameter, which the rows determine.
    height : float
        By how much the deviance may rise.
    """
    row = regression.inverse[parameter]
    # Far from the optimum numbers may overflow, and steps are halved.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        distances = [
            _Profile(regression, side * row, height).distance() for side in (-1, 1)
        ]
    ends = np.array([-1, 1]) * np.linalg.norm(row) * distances
    return regression.parameters[parameter] + ends


class _Profile:
    """The deviance along one direction, least over all others.

    A *point* is a vector g (r,), its *distance* is its length along the direction, and
    its *rise* is the rise of the deviance from the optimum to it.
    """

    def __init__(
        self,
        regression: WorkingRegression,
        direction: NDArray[np.float64],
        height: float,
    ) -> None:
        model = regression.model
        self.loss, self.weights, self.targets = model.loss, model.weights, model.targets
        self.scores = model.scores_at(regression.parameters[:, None])
        self.columns = regression.columns
        self.losses = self.loss.values(self.targets, self.scores)
        self.direction = direction / np.linalg.norm(direction)
        self.height = height
        self.complement = null_space(self.direction[None])
        # Inverse of the Hessian across the direction, the identity at the optimum; and
        # the tangent of the curve along which the deviance is least.
        self.inverse, self.tangent = np.eye(self.complement.shape[1]), self.direction

    def distance(self) -> float:
        """Distance at which the least deviance has risen by the height."""
        low, high, distance = 0.0, np.inf, 0.0
        point, step = np.zeros_like(self.direction), np.sqrt(self.height)
        for _ in range(_MAX_STEPS):
            start = point + step * self.tangent
            # Too far along the line, numbers overflow.
            while not (rise := self._rise_at(start)) <= _LARGEST_RISE * self.height:
                step /= 2
                start = point + step * self.tangent
            distance += step
            point, rise, slope = self._minimise_across(start, rise)
            if np.isnan(rise):
                break
            if rise < self.height:
                low = distance
            else:
                high = distance
            # Newton's method for the root of the rise, which is nearly linear in the
            # distance (Bates & Watts, 1988); bisection where it leaves the bracket.
            root = np.sqrt(max(rise, 0))
            next_distance = distance + 2 * root * (np.sqrt(self.height) - root) / slope
            if not low < next_distance < high:
                next_distance = (low + high) / 2 if np.isfinite(high) else 2 * distance
            step = next_distance - distance
            if abs(step) <= _PRECISION * next_distance:
                break
        is_close = abs(rise - self.height) <= _HEIGHT_ERROR * self.height
        return next_distance if is_close else np.nan

    def _set_hessian(self, hessian: NDArray[np.float64]) -> None:
        """Set the inverse across the direction, and the tangent, of a Hessian."""
        self.inverse = pinvh(self.complement.T @ hessian @ self.complement)
        across = self.inverse @ (self.complement.T @ (hessian @ self.direction))
        self.tangent = self.direction - self.complement @ across

    def _minimise_across(
        self, point: NDArray[np.float64], rise: float
    ) -> tuple[NDArray[np.float64], float, float]:
        """Point of the least deviance at the same distance, its rise, and the slope.

        The rise is NaN where the minimisation fails; the slope is along the tangent.
        """
        last_decrease = np.inf
        for _ in range(_MAX_STEPS):
            gradient = self._gradient(point)
            slopes = self.complement.T @ gradient
            step = -self.inverse @ slopes
            decrease = float(-slopes @ step)
            slope = float(2 * gradient @ self.tangent)
            if decrease <= _LAST_DECREASE * self.height:
                # The next step would lower the rise by `decrease`.
                return point, rise - decrease, slope
            if decrease > _SLOW * last_decrease:
                self._set_hessian(self._hessian(point))
                last_decrease = np.inf
                continue
            step, share, last_decrease = self.complement @ step, 1.0, decrease
            while not (new_rise := self._rise_at(point + share * step)) <= rise:
                share /= 2
            point, rise = point + share * step, new_rise
        return point, np.nan, slope

    def _scores_at(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores (n, 1) at a point."""
        return self.scores + (self.columns @ point)[:, None]

    def _rise_at(self, point: NDArray[np.float64]) -> float:
        """Rise of the deviance from the optimum to a point."""
        losses = self.loss.values(self.targets, self._scores_at(point))
        return float(2 * self.weights @ (losses - self.losses))

    def _gradient(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradient of half of the deviance."""
        slopes = self.loss.slopes(self.targets, self._scores_at(point))
        return self.columns.T @ (self.weights * slopes[:, 0])

    def _hessian(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Hessian (r, r) of half of the deviance."""
        scores = self._scores_at(point)
        # Far from the targets the expected curvatures, which are all positive, are too
        # small or too large by orders of magnitude.
        expected, observed = (
            self.loss.curvatures(targets, scores)[:, 0, 0]
            for targets in (self.loss.means(scores), self.targets)
        )
        weights = self.weights * np.where(observed > 0, observed, expected)
        return (self.columns.T * weights) @ self.columns

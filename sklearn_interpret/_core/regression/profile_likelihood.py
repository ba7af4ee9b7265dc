"""Intervals of a regression's parameters by profile likelihood.

The end of an interval is where the least deviance, over all parameters but one, has
risen by the height. Parameters are b + V g, where V has the columns of the working
regression's inverse factor: at the optimum half of the deviance has the Hessian 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space, pinvh

if TYPE_CHECKING:
    from sklearn_interpret._core.regression.working_regression import WorkingRegression

# Relative precision of a bound, and decrease of the deviance, relative to the height,
# at which the minimisation ends.
_PRECISION, _FLAT = 1e-9, 1e-9
# Limits the steps of the search, and of each minimisation: where more are needed, the
# bound is NaN.
_MOST_STEPS = 100
# Largest rise of the deviance along a step, and largest error of the height at the end
# of an interval, both relative to the height.
_MOST_RISE, _CLOSE = 1e6, 1e-6
# Steps that reduce the decrease by less than this factor compute a new Hessian.
_SLOW = 0.05


def profile_bounds(
    regression: WorkingRegression, parameter: int, height: float
) -> NDArray[np.float64]:
    """Lower and upper bound of a parameter; NaN where the search fails.

    Parameters
    ----------
    regression : WorkingRegression
        Without a penalty.
    parameter : int
        Its position; the rows determine it.
    height : float
        By how much the deviance may rise.
    """
    row = regression.inverse[parameter]
    # Far from the optimum numbers may overflow, and steps are halved.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        reach = [_Profile(regression, side * row, height).reach() for side in (-1, 1)]
    ends = np.array([-1, 1]) * np.linalg.norm(row) * reach
    return regression.parameters[parameter] + ends


class _Profile:
    """The deviance along one direction, least over all others."""

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
        # The Hessian is the identity at the optimum.
        self.inverse, self.follow = np.eye(self.complement.shape[1]), self.direction

    def reach(self) -> float:
        """How far along the direction the deviance has risen by the height."""
        low, high, distance = 0.0, np.inf, 0.0
        point, step = np.zeros_like(self.direction), np.sqrt(self.height)
        for _ in range(_MOST_STEPS):
            start = point + step * self.follow
            # Too far along the line, numbers overflow.
            while not (rise := self._rise(start)) <= _MOST_RISE * self.height:
                step /= 2
                start = point + step * self.follow
            distance += step
            point, rise, slope = self._lowest(start, rise)
            if np.isnan(rise):
                break
            if rise < self.height:
                low = distance
            else:
                high = distance
            # The root of the rise is nearly linear (Bates & Watts, 1988).
            root = np.sqrt(max(rise, 0))
            next_distance = distance + 2 * root * (np.sqrt(self.height) - root) / slope
            if not low < next_distance < high:
                next_distance = (low + high) / 2 if np.isfinite(high) else 2 * distance
            step = next_distance - distance
            if abs(step) <= _PRECISION * next_distance:
                break
        is_close = abs(rise - self.height) <= _CLOSE * self.height
        return next_distance if is_close else np.nan

    def _set_hessian(self, hessian: NDArray[np.float64]) -> None:
        """The inverse across the direction, and how all parameters move with it."""
        self.inverse = pinvh(self.complement.T @ hessian @ self.complement)
        across = self.inverse @ (self.complement.T @ (hessian @ self.direction))
        self.follow = self.direction - self.complement @ across

    def _lowest(
        self, point: NDArray[np.float64], rise: float
    ) -> tuple[NDArray[np.float64], float, float]:
        """Where the deviance is least at this distance; its rise or NaN; its slope."""
        before = np.inf
        for _ in range(_MOST_STEPS):
            gradient = self._gradient(point)
            slopes = self.complement.T @ gradient
            move = -self.inverse @ slopes
            fall = float(-slopes @ move)
            if fall <= _FLAT * self.height:
                break
            if fall > _SLOW * before:
                self._set_hessian(self._hessian(point))
                before = np.inf
                continue
            move, share, before = self.complement @ move, 1.0, fall
            while not (risen := self._rise(point + share * move)) <= rise:
                share /= 2
            point, rise = point + share * move, risen
        else:
            rise = np.nan
        return point, rise - fall, float(2 * gradient @ self.follow)

    def _scores_at(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.scores + (self.columns @ point)[:, None]

    def _rise(self, point: NDArray[np.float64]) -> float:
        losses = self.loss.values(self.targets, self._scores_at(point))
        return float(2 * self.weights @ (losses - self.losses))

    def _gradient(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradient of half of the deviance."""
        slopes = self.loss.slopes(self.targets, self._scores_at(point))
        return self.columns.T @ (self.weights * slopes[:, 0])

    def _hessian(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = self._scores_at(point)
        # Far from the targets the expected curvatures, which are all positive, are too
        # small or too large by orders of magnitude.
        expected, observed = (
            self.loss.curvatures(targets, scores)[:, 0, 0]
            for targets in (self.loss.means(scores), self.targets)
        )
        weights = self.weights * np.where(observed > 0, observed, expected)
        return (self.columns.T * weights) @ self.columns

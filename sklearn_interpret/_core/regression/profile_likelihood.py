"""Intervals of a regression's parameters by profile likelihood.

The end of an interval is where the least deviance, over all parameters but one, has
risen by the height. Parameters are b + V g, where V has the columns of the working
regression's inverse factor: at the optimum half of the deviance has the Hessian 1.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space, pinvh

# Relative precision of a bound, and decrease of the deviance, relative to the height,
# at which the minimisation ends.
_PRECISION, _FLAT = 1e-9, 1e-9
_MOST_STEPS = 100
# Largest rise of the deviance along a step, and largest error of the height at the end
# of an interval, both relative to the height.
_MOST_RISE, _CLOSE = 1e6, 1e-6
# Steps that reduce the decrease by less than this factor compute a new Hessian.
_SLOW = 0.05


def profile_bounds(regression: Any, parameter: str, height: Any) -> Any:
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
    row = regression.factors[1][parameter]
    # Far from the optimum numbers may overflow, and steps are halved.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        reach = [_Profile(regression, side * row, height).reach() for side in (-1, 1)]
    ends = np.array([-1, 1]) * np.linalg.norm(row) * reach
    return regression.parameters[parameter] + ends


class _Profile:
    """The deviance along one direction, least over all others."""

    def __init__(self, regression: Any, direction: Any, height: Any) -> None:
        model = regression.model
        self.loss, self.weights, self.targets = model.loss, model.weights, model.targets
        self.scores = model.scores_at(regression.parameters[:, None])
        self.columns = regression.columns
        self.losses = self.loss.values(self.targets, self.scores)
        self.direction = direction / np.linalg.norm(direction)
        self.height = height
        self.others = null_space(self.direction[None])
        # The Hessian is the identity at the optimum.
        self.inverse, self.follow = np.eye(self.others.shape[1]), self.direction

    def reach(self) -> Any:
        """How far along the direction the deviance has risen by the height."""
        low, high, at = 0.0, np.inf, 0.0
        place, step = np.zeros_like(self.direction), np.sqrt(self.height)
        for _ in range(_MOST_STEPS):
            start = place + step * self.follow
            # Too far along the line, numbers overflow.
            while not (rise := self._rise(start)) <= _MOST_RISE * self.height:
                step /= 2
                start = place + step * self.follow
            at += step
            place, rise, slope = self._lowest(start, rise)
            if np.isnan(rise):
                break
            if rise < self.height:
                low = at
            else:
                high = at
            # The root of the rise is nearly linear (Bates & Watts, 1988).
            root = np.sqrt(max(rise, 0))
            new = at + 2 * root * (np.sqrt(self.height) - root) / slope
            if not low < new < high:
                new = (low + high) / 2 if np.isfinite(high) else 2 * at
            step = new - at
            if abs(step) <= _PRECISION * new:
                break
        found = abs(rise - self.height) <= _CLOSE * self.height
        return new if found else np.nan

    def _set_hessian(self, hessian: NDArray[np.float64]) -> None:
        """The inverse across the direction, and how all parameters move with it."""
        self.inverse = pinvh(self.others.T @ hessian @ self.others)
        across = self.inverse @ (self.others.T @ (hessian @ self.direction))
        self.follow = self.direction - self.others @ across

    def _lowest(self, place: Any, rise: Any) -> Any:
        """Where the deviance is least at this distance; its rise or NaN; its slope."""
        before = np.inf
        for _ in range(_MOST_STEPS):
            gradient = self._gradient(place)
            slopes = self.others.T @ gradient
            move = -self.inverse @ slopes
            fall = -slopes @ move
            if fall <= _FLAT * self.height:
                break
            if fall > _SLOW * before:
                self._set_hessian(self._hessian(place))
                before = np.inf
                continue
            move, share, before = self.others @ move, 1.0, fall
            while not (risen := self._rise(place + share * move)) <= rise:
                share /= 2
            place, rise = place + share * move, risen
        else:
            rise = np.nan
        return place, rise - fall, 2 * gradient @ self.follow

    def _scores_at(self, place: Any) -> Any:
        return self.scores + (self.columns @ place)[:, None]

    def _rise(self, place: Any) -> Any:
        losses = self.loss.values(self.targets, self._scores_at(place))
        return 2 * self.weights @ (losses - self.losses)

    def _gradient(self, place: Any) -> Any:
        """Gradient of half of the deviance."""
        slopes = self.loss.slopes(self.targets, self._scores_at(place))
        return self.columns.T @ (self.weights * slopes[:, 0])

    def _hessian(self, place: Any) -> Any:
        scores = self._scores_at(place)
        # Far from the targets the expected curvatures, which are all positive, are too
        # small or too large by orders of magnitude.
        expected, observed = (
            self.loss.curvatures(targets, scores)[:, 0, 0]
            for targets in (self.loss.means(scores), self.targets)
        )
        weights = self.weights * np.where(observed > 0, observed, expected)
        return (self.columns.T * weights) @ self.columns

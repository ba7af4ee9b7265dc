"""Intervals of a regression's parameters by profile likelihood.

The end of an interval is where the least deviance, over all parameters but one, has
risen by the height. Parameters are b + V g, where V has the columns of the working
regression's inverse factor: at the optimum half of the deviance has the Hessian 1.
"""

import numpy as np
from scipy.linalg import pinvh

# A bound is found when it moves by less than this part of its distance; deviances are
# least when they would fall by less than this part of the height.
_PRECISION, _FLAT = 1e-9, 1e-9
_MOST_STEPS = 100
# Steps that leave more than this share of the fall before need a Hessian of their own.
_SLOW = 0.05


def profile_bounds(regression, parameter, height):
    """Lower and upper bound of a parameter.

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

    def __init__(self, regression, direction, height):
        model = regression.model
        self.loss, self.weights, self.targets = model.loss, model.weights, model.targets
        self.scores = model.design @ regression.parameters[:, None]
        self.columns = regression.columns
        self.losses = self.loss.values(self.targets, self.scores)
        self.direction = direction / np.linalg.norm(direction)
        self.height, self.inverse = height, np.eye(len(direction))

    def reach(self):
        """How far along the direction the deviance has risen by the height."""
        low, high, at = 0.0, np.inf, np.sqrt(self.height)
        while not np.isfinite(self._rise(at * self.direction)):
            at /= 2
        place = at * self.direction
        for _ in range(_MOST_STEPS):
            place, rise, slope = self._lowest(place)
            if rise < self.height:
                low = at
            else:
                high = at
            # The root of the rise is nearly a line (Bates & Watts, 1988).
            root = np.sqrt(max(rise, 0))
            new = at + 2 * root * (np.sqrt(self.height) - root) / slope
            if not low < new < high:
                new = (low + high) / 2 if np.isfinite(high) else 2 * at
            place = place + (new - at) * self._follow()
            before, at = at, new
            if abs(at - before) <= _PRECISION * at:
                break
        return at

    def _follow(self):
        """How all parameters move with the direction, the deviance being least."""
        moved = self.inverse @ self.direction
        return moved / (moved @ self.direction)

    def _lowest(self, place):
        """Where the deviance is least at this distance; its rise, and its slope."""
        rise, before = self._rise(place), np.inf
        for _ in range(_MOST_STEPS):
            gradient = self._gradient(place)
            move = -self.inverse @ gradient
            move -= (move @ self.direction) * self._follow()
            fall = -gradient @ move
            if fall <= _FLAT * self.height:
                break
            if fall > _SLOW * before:
                self.inverse, before = self._inverse_hessian(place), np.inf
                continue
            share, before = 1.0, fall
            while not (risen := self._rise(place + share * move)) <= rise:
                share /= 2
            place, rise = place + share * move, risen
        return place, rise - fall, 2 * gradient @ self._follow()

    def _scores_at(self, place):
        return self.scores + (self.columns @ place)[:, None]

    def _rise(self, place):
        losses = self.loss.values(self.targets, self._scores_at(place))
        return 2 * self.weights @ (losses - self.losses)

    def _gradient(self, place):
        """Gradient of half of the deviance."""
        slopes = self.loss.slopes(self.targets, self._scores_at(place))
        return self.columns.T @ (self.weights * slopes[:, 0])

    def _inverse_hessian(self, place):
        scores = self._scores_at(place)
        curvatures = self.loss.curvatures(self.loss.means(scores), scores)
        weights = self.weights * curvatures[:, 0, 0]
        return pinvh((self.columns.T * weights) @ self.columns)

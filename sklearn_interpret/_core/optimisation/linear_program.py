"""The cheapest moves that bring linear functions to where they are wished."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

# Where moves have no end, for what needs one.
_FAR = 1e3


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves from a point, each of which adds to linear functions.

    Parameters
    ----------
    gains : ndarray of shape (n_moves, m)
        What a unit of each move adds to each of m functions.
    costs : ndarray of shape (n_moves,)
        What a unit costs.
    most : ndarray of shape (n_moves,)
        How many units there may be; may be infinite.
    whole : ndarray of shape (n_moves,), bool
        Which moves are made in whole units.
    column : ndarray of shape (n_moves,), intp
        What each moves: one of several moves that are not made in part excludes the
        others of its column.
    exclusive : ndarray of shape (n_moves,), bool
        Which moves exclude others of their column.
    """

    gains: np.ndarray
    costs: np.ndarray
    most: np.ndarray
    whole: np.ndarray
    column: np.ndarray
    exclusive: np.ndarray

    def cheapest(self, needs, weights, most_moved):
        """Units (n_moves,) of moves so that functions rise by `needs` (m,), or None.

        `weights` (k, n_columns) of moved columns add up to `most_moved` (k,) at most.
        """
        if len(needs) == 1 and not self.whole.any() and not len(most_moved):
            return self._filled(needs[0])
        return self._solved(self.costs, needs, weights, most_moved)

    def fewest(self, needs, weights, most_moved):
        """The least number of columns whose moves do it, or None."""
        units = self._solved(None, needs, weights, most_moved)
        return None if units is None else len(np.unique(self.column[units > 0]))

    def _filled(self, need):
        """Moves made to their end, the best gain for the cost first."""
        units = np.zeros(len(self.costs))
        gains = self.gains[:, 0]
        useful = np.flatnonzero((gains > 0) & (self.most > 0))
        for move in useful[np.argsort(-gains[useful] / self.costs[useful])]:
            units[move] = min(need / gains[move], self.most[move])
            need -= units[move] * gains[move]
            if units[move] < self.most[move]:
                return units
        return units if need <= 0 else None

    def _solved(self, costs, needs, weights, most_moved):
        """By a program: units of all moves, and whether each column is moved.

        Without costs these are the numbers of columns moved.
        """
        n_moves = len(self.costs)
        columns, place = np.unique(self.column, return_inverse=True)
        n = n_moves + len(columns)
        objective = np.append(
            np.zeros(n_moves) if costs is None else costs,
            np.full(len(columns), float(costs is None)),
        )
        sizes = np.abs(self.gains).max(axis=0, initial=0)
        sizes[sizes == 0] = 1
        wish = np.hstack([self.gains.T, np.zeros((len(needs), len(columns)))])
        constraints = [LinearConstraint(wish / sizes[:, None], needs / sizes, np.inf)]
        most = self.most
        if costs is None or len(most_moved):
            most = np.minimum(most, self._far(needs))
            moved = np.zeros((n_moves, n))
            moved[np.arange(n_moves), np.arange(n_moves)] = 1
            moved[np.arange(n_moves), n_moves + place] = -most
            constraints.append(LinearConstraint(moved, -np.inf, 0))
        if len(most_moved):
            few = np.hstack([np.zeros((len(weights), n_moves)), weights[:, columns]])
            constraints.append(LinearConstraint(few, 0, most_moved))
        once = np.zeros((len(columns), n))
        once[place[self.exclusive], np.flatnonzero(self.exclusive)] = 1
        constraints.append(LinearConstraint(once, 0, 1))
        found = milp(
            objective,
            integrality=np.append(self.whole, np.ones(len(columns))),
            bounds=Bounds(0, np.append(most, np.ones(len(columns)))),
            constraints=constraints,
            options={"mip_rel_gap": 1e-9},
        )
        if found.x is None:
            return None
        units = found.x[:n_moves]
        return np.where(self.whole, np.rint(units), units)

    def _far(self, needs):
        """More than any move is needed for."""
        with np.errstate(divide="ignore"):
            alone = np.abs(needs).max() / np.abs(self.gains)
        alone = alone[np.isfinite(alone)]
        return max(1.0, np.ceil(_FAR * alone.max(initial=1.0)))

"""The cheapest moves that bring linear functions to where they are wished."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

# Where moves have no end, for what needs one.
_FAR = 100
# Costs are the same if they differ by less, relatively.
_SAME = 1e-7


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
        units = self._filled(needs)
        if units is not None and self._few_moved(units, weights, most_moved):
            return units
        units = self._solved(self.costs, needs, weights, most_moved)
        return None if units is None else self.completed(units, needs)

    def fewest(self, needs, weights, most_moved):
        """The least number of columns whose moves do it, or None."""
        units = self._filled(needs)
        few = units is not None and self._few_moved(units, weights, most_moved)
        if not few or self._n_moved(units) > 1:
            units = self._solved(None, needs, weights, most_moved)
        return None if units is None else self._n_moved(units)

    def _n_moved(self, units):
        return len(np.unique(self.column[units > 0]))

    def _few_moved(self, units, weights, most_moved):
        moved = np.unique(self.column[units > 0])
        return (weights[:, moved].sum(axis=1) <= most_moved).all()

    def _filled(self, needs):
        """Moves made to their end, the best gain for the cost first.

        These are the cheapest where one function is to rise, and the others, and what
        is whole or exclusive, allow them; else None.
        """
        if (needs > 0).sum() != 1:
            return None
        units = np.zeros(len(self.costs))
        gains, need = self.gains[:, needs.argmax()], needs.max()
        useful = np.flatnonzero((gains > 0) & (self.most > 0))
        for move in useful[np.argsort(-gains[useful] / self.costs[useful])]:
            units[move] = min(need / gains[move], self.most[move])
            need -= units[move] * gains[move]
            if units[move] < self.most[move]:
                need = 0.0
                break
        others = np.delete(units @ self.gains - needs, needs.argmax())
        parts = (units != np.rint(units)) & self.whole
        several = np.bincount(self.column[self.exclusive & (units > 0)]) > 1
        if need > 0 or (others < 0).any() or parts.any() or several.any():
            return None
        return units

    def completed(self, units, needs):
        """Units a little farther where functions lack a little of their needs."""
        units = units.copy()
        usable = (units > 0) & (units < self.most) & ~self.whole
        rates = usable[:, None] * self.gains / self.costs[:, None]
        for function in np.flatnonzero(units @ self.gains < needs):
            move = rates[:, function].argmax()
            lacking = needs[function] - units @ self.gains[:, function]
            if rates[move, function] > 0 and lacking > 0:
                farther = lacking * (1 + _SAME) / self.gains[move, function]
                units[move] = min(units[move] + farther, self.most[move])
        return units

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
        counted = costs is None or len(most_moved) > 0
        # Whole units without an end mislead older solvers.
        ended = np.minimum(self.most, self._far(needs / sizes, sizes))
        most = ended if counted else np.where(self.whole, ended, self.most)
        if counted:
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
        best, least = None, np.inf
        while True:
            found = milp(
                objective,
                integrality=np.append(self.whole, np.ones(len(columns))),
                bounds=Bounds(0, np.append(most, np.ones(len(columns)))),
                constraints=constraints,
                options={"mip_rel_gap": 1e-9},
            )
            if found.x is None or found.fun >= least:
                return best
            units = found.x[:n_moves]
            units = np.where(self.whole, np.rint(units), units)
            if not counted:
                return units
            # Solvers let go what nearly is not moved: ask again without it.
            moved = found.x[n_moves:] > 0.5
            few = replace(self, most=np.where(moved[place], self.most, 0))
            units = few._solved(self.costs, needs, weights[:0], most_moved[:0])
            if units is not None and (costs is None or units @ costs < least):
                best, least = units, found.fun if costs is None else units @ costs
            if least <= found.fun * (1 + _SAME):
                return best
            others = np.append(np.zeros(n_moves), ~moved)
            constraints.append(LinearConstraint(others[None], 1, np.inf))

    def _far(self, needs, sizes):
        """More than each move is needed for, (n_moves,)."""
        gains = np.abs(self.gains / sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.abs(needs).max() / gains
        alone = np.where(gains > 0, alone, 0).max(axis=1, initial=0)
        return np.maximum(1.0, np.ceil(_FAR * alone))


def shared_room(rooms, losses, slack, whole):
    """How far moves may go (n,), no function losing more than slack; the slack left.

    Parameters
    ----------
    rooms : ndarray of shape (n,)
        How far at most.
    losses : ndarray of shape (n, m)
        What a unit of each move takes from each function.
    slack : ndarray of shape (m,)
        What all of them together may take; each move has an equal share of what those
        before left.
    whole : ndarray of shape (n,), bool
        Moves in whole units.
    """
    moved, slack = np.array(rooms, dtype=np.float64), slack.copy()
    n_left = (losses > 0).sum(axis=0)
    for move, loss in enumerate(losses):
        loses = loss > 0
        if loses.any():
            share = (slack / np.maximum(n_left, 1))[loses] / loss[loses]
            moved[move] = max(min(moved[move], share.min()), 0)
        if whole[move]:
            moved[move] = np.floor(moved[move])
        slack[loses] -= moved[move] * loss[loses]
        n_left -= loses
    return moved, slack

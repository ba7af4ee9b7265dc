"""Values within the cells of a point, for which linear constraints hold."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

# Rounding errors of sums, relative to the size of their terms.
_ROUNDING = 1e-12
# By how much solvers miss constraints at most, relative to what is missing.
_MISSED = 1e-5


@dataclass(frozen=True, eq=False)
class CellValues:
    """Values of some columns within their cells, away from the nearest of each.

    Parameters
    ----------
    columns : ndarray of shape (k,), intp
        Positions of the columns that constraints have coefficients of.
    coefficients : ndarray of shape (m, k)
        Coefficients of m constraints.
    bounds : ndarray of shape (m,)
        What the sums of coefficients times values must not exceed.
    nearest : list of ndarray
        The value that costs nothing more than its cell, for all cells of each column.
    low, high : list of ndarray
        Ends of the cells.
    costs : ndarray of shape (k,)
        What a unit away from the nearest costs.
    whole : ndarray of shape (k,), bool
        Whose values are away by whole units.
    """

    columns: np.ndarray
    coefficients: np.ndarray
    bounds: np.ndarray
    nearest: list
    low: list
    high: list
    costs: np.ndarray
    whole: np.ndarray

    def _at(self, cells):
        """Nearest values and ends at some cells of each column."""
        return (
            [values[at] for values, at in zip(part, cells, strict=True)]
            for part in (self.nearest, self.low, self.high)
        )

    def kept(self, values):
        """Whether values (p,) of all columns keep the constraints, to rounding."""
        terms = self.coefficients * values[self.columns]
        rounding = _ROUNDING * (np.abs(terms).sum(axis=1) + np.abs(self.bounds))
        return (terms.sum(axis=1) <= self.bounds + rounding).all()

    def shifts(self, point):
        """How far values are away at least cost, (k,), and the cost: infinite for None.

        `point` has the cells of all columns.
        """
        near, low, high = (np.array(p) for p in self._at(point[self.columns]))
        spare = self.bounds - self.coefficients @ near
        if (spare >= 0).all():
            return np.zeros(len(near)), 0.0
        if not len(near):
            return None, np.inf
        found = milp(
            np.tile(self.costs, 2),
            integrality=np.tile(self.whole, 2),
            bounds=Bounds(0, np.append(high - near, near - low)),
            constraints=LinearConstraint(
                np.hstack([self.coefficients, -self.coefficients]), -np.inf, spare
            ),
        )
        if found.x is None:
            return None, np.inf
        up, down = np.split(found.x, 2)
        shifts = up - down
        shifts = np.where(self.whole, np.rint(shifts), shifts)
        # Solvers miss constraints by a little: numbers go that much farther.
        parts = np.where(self.whole, 0, shifts)
        lacking = self.coefficients @ shifts - spare
        rates = -(self.coefficients @ parts)
        useful = (lacking > 0) & (rates > 0)
        farther = (lacking[useful] / rates[useful]).max(initial=0)
        shifts = np.clip(
            shifts + min(farther, _MISSED) * parts, low - near, high - near
        )
        return shifts, np.abs(shifts) @ self.costs

    def rows(self, cells, binaries, first, most):
        """Rows of a program: variables, coefficients, most of their sum.

        Parameters
        ----------
        cells : list of ndarray
            The cells of each column that the program tells apart.
        binaries : list of ndarray
            Variables that say from which of them on a point lies.
        first : int
            Variables from here on are how far values are up, then how far down.
        most : float
            No more than this may be paid.
        """
        up, down = first + np.arange(2 * len(self.columns)).reshape(2, -1)
        near, low, high = self._at(cells)
        for k, of_column in enumerate(binaries):
            paid = most / self.costs[k] if self.costs[k] > 0 else np.inf
            rooms = high[k] - near[k], near[k] - low[k]
            for shift, room in zip((up[k], down[k]), rooms, strict=True):
                room = np.minimum(room, paid)
                size = max(np.abs(np.diff(room)).max(initial=0), 1.0)
                row = np.append(-np.diff(room), 1.0)
                yield [*of_column, shift], row / size, room[0] / size
        variables = np.concatenate([*binaries, up, down])
        for row, bound in zip(self.coefficients, self.bounds, strict=True):
            of_cells = [a * np.diff(value) for a, value in zip(row, near, strict=True)]
            start = sum(a * value[0] for a, value in zip(row, near, strict=True))
            row = np.concatenate([*of_cells, row, -row])
            size = np.abs(row).max(initial=0) or 1.0
            yield variables, row / size, (bound - start) / size

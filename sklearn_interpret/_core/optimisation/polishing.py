"""Fewer and smaller changes of points for which something holds."""

import numpy as np

_MOST_ROUNDS = 20
# What saves less than this part is not worth the questions.
_LEAST_SAVING = 1e-3
# A first, little step towards the origin.
_LITTLE = 1e-4
# A change is cut into so many parts, so often the part in which it ceases to hold.
_PARTS, _CUTS = 8, 8


class Polishing:
    """Undoes and shrinks changes of points while something holds.

    All points are worked on together: each question is asked for all of them at once.

    Parameters
    ----------
    values : ndarray of shape (m, n_columns)
        Points for which it holds.
    origins : ndarray of shape (m, n_columns)
        Where each point comes from.
    index : ndarray of shape (m,), int
        Which point each is, for the callables.
    costs : ndarray of shape (n_columns,)
        What a unit of change costs, or any change of a column that has no units.
    has_units : ndarray of shape (n_columns,), bool
        Whether the changes of a column can be small.
    holds : callable
        ``holds(values, index)``: whether it holds for points, (m,) bool.
    projected : callable
        ``projected(values, index)``: the nearest possible points.
    """

    def __init__(self, values, origins, index, *, costs, has_units, holds, projected):
        self.values = values.copy()
        self.origins, self.index = origins, index
        self.costs, self.has_units = costs, has_units
        self._holds, self._projected = holds, projected

    def costs_of_changes(self):
        """What each change costs, (m, n_columns)."""
        changes = np.nan_to_num(np.abs(self.values - self.origins))
        return np.where(self.has_units, changes, changes > 0) * self.costs

    def undo(self):
        """Undo changes one by one, the costliest first, while it holds."""
        active = np.ones(len(self.values), dtype=bool)
        while active.any():
            costs = self.costs_of_changes() * active[:, None]
            point, column = np.nonzero(costs)
            _, holds = self._tried(point, column, self.origins[point, column])
            point, column = point[holds], column[holds]
            undone = self.origins[point, column]
            self._take(point, column, undone, costs[point, column])
            active[:] = False
            active[point] = True

    def polish(self):
        """Undo changes and shrink what remains of them, until little is saved."""
        self.undo()
        active = np.ones(len(self.values), dtype=bool)
        for _ in range(_MOST_ROUNDS):
            if not active.any():
                break
            before = self.costs_of_changes().sum(axis=1)
            self._shrink(active)
            self.undo()
            saved = before - self.costs_of_changes().sum(axis=1)
            active &= saved > _LEAST_SAVING * before

    def _shrink(self, active):
        """Move numbers of active points towards their origins as far as it holds.

        Each column by itself; what this finds is taken, the largest gain first, as far
        as it holds together.
        """
        changed = (self.costs_of_changes() > 0) & self.has_units & active[:, None]
        point, column = np.nonzero(changed)
        start, end = self.values[point, column], self.origins[point, column]
        # Most that cannot move at all cannot move a little either.
        little, holds = self._tried(point, column, start + _LITTLE * (end - start))
        moves = holds | (little == start)
        point, column, start, end = (a[moves] for a in (point, column, start, end))
        good, every = start, np.arange(len(point))
        shares = np.linspace(0, 1, _PARTS + 1)[1:-1]
        for _ in range(_CUTS):
            cells = good + shares[:, None] * (end - good)
            at = np.tile(point, len(cells)), np.tile(column, len(cells))
            cells, holds = (
                a.reshape(cells.shape) for a in self._tried(*at, cells.ravel())
            )
            last = (holds * np.arange(1, _PARTS)[:, None]).max(axis=0)
            cuts = np.vstack([good, cells, end])
            good, end = cuts[last, every], cuts[last + 1, every]
        self._take(point, column, good, np.abs(start - good) * self.costs[column])

    def _tried(self, point, column, cells):
        """The nearest possible values of single cells; whether it holds with them."""
        if not len(point):
            return cells, np.zeros(0, dtype=bool)
        at = np.arange(len(point)), column
        trials = self.values[point]
        trials[at] = cells
        trials = self._projected(trials, self.index[point])
        holds = self._holds(trials, self.index[point])
        return trials[at], holds

    def _take(self, point, column, cells, gains):
        """Exchange cells, the largest gain first, as far as it holds together.

        Each exchange holds by itself.
        """
        order = np.lexsort((-gains, point))
        point, column, cells = point[order], column[order], cells[order]
        rank = np.arange(len(point)) - np.searchsorted(point, point)
        together, trials = self.values.copy(), self.values[point]
        for place in range(rank.max(initial=-1) + 1):
            at = rank == place
            together[point[at], column[at]] = cells[at]
            trials[at] = together[point[at]]
        later = rank > 0
        holds = np.ones(len(point), dtype=bool)
        if later.any():
            holds[later] = self._holds(trials[later], self.index[point[later]])
        first_failure = np.full(len(self.values), len(point) + 1)
        np.minimum.at(first_failure, point[~holds], rank[~holds])
        taken = rank < first_failure[point]
        self.values[point[taken], column[taken]] = cells[taken]

"""Fewer and smaller changes of points for which something holds."""

import numpy as np

_MOST_ROUNDS = 20
_BISECTIONS = 24
# What saves less than this part is not worth the questions.
_LEAST_SAVING = 1e-4


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
            undone = self.origins[point, column]
            holds = self._ask(point, column, undone)
            point, column, undone = point[holds], column[holds], undone[holds]
            self._take(point, column, undone, costs[point, column])
            active[:] = False
            active[point] = True

    def polish(self):
        """Undo changes and shrink what remains of them, until little is saved."""
        self.undo()
        active = np.ones(len(self.values), dtype=bool)
        for _ in range(_MOST_ROUNDS):
            before = self.costs_of_changes().sum(axis=1)
            self._shrink(active)
            self.undo()
            saved = before - self.costs_of_changes().sum(axis=1)
            active &= saved > _LEAST_SAVING * before
            if not active.any():
                break

    def _shrink(self, active):
        """Move numbers of active points towards their origins as far as it holds.

        Each column is halved by itself; what this finds is taken, the largest gain
        first, as far as it holds together.
        """
        changed = (self.costs_of_changes() > 0) & self.has_units & active[:, None]
        point, column = np.nonzero(changed)
        start, bad = self.values[point, column], self.origins[point, column]
        good, open_ = start.copy(), np.ones(len(point), dtype=bool)
        for step in range(_BISECTIONS):
            at = np.flatnonzero(open_)
            if not len(at):
                break
            part = 0.5 if step else _LEAST_SAVING
            middle = good[at] + part * (bad[at] - good[at])
            middle = self._possible(point[at], column[at], middle)
            between = (middle != good[at]) & (middle != bad[at])
            open_[at[~between]] = step == 0
            at, middle = at[between], middle[between]
            holds = self._ask(point[at], column[at], middle)
            good[at[holds]] = middle[holds]
            bad[at[~holds]] = middle[~holds]
            if step == 0:
                open_[at[~holds]] = False
        gains = np.abs(start - good) * self.costs[column]
        gained = gains > 0
        self._take(point[gained], column[gained], good[gained], gains[gained])

    def _with_cells(self, point, column, cells):
        """Copies of points, each with another value in one column."""
        trials = self.values[point]
        trials[np.arange(len(point)), column] = cells
        return trials

    def _possible(self, point, column, cells):
        """The nearest possible values of single cells."""
        trials = self._with_cells(point, column, cells)
        trials = self._projected(trials, self.index[point])
        return trials[np.arange(len(point)), column]

    def _ask(self, point, column, cells):
        """Whether it holds with single cells exchanged."""
        if not len(point):
            return np.zeros(0, dtype=bool)
        return self._holds(self._with_cells(point, column, cells), self.index[point])

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

"""Fewer and smaller changes of points for which a condition holds.

All points are refined together, so that each round asks the model few questions.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Rounds of shrinking, each of four calls of the model, where each saves just enough.
_MAX_ROUNDS = 20
# Least saving of a round, relative to the cost, that starts another one.
_LEAST_SAVING = 1e-2
# Cuts of a change, each within the interval in which the condition ceases to hold:
# three leave an interval of 1/8000 of the change.
_N_CUTS = 3
# Shares of a change at which it is cut: 20 equal parts, and small ones, for changes
# that hardly shrink. Changes that fail at the first share stay.
_SHARES = np.append([1e-5, 1e-4, 1e-3, 1e-2], np.arange(1, 21) / 20)[:, None]


class Refinement:
    """Undoes and shrinks changes of points while a condition holds.

    All points are refined together: each question is asked for all of them.

    Parameters
    ----------
    values : ndarray of shape (m, n_columns)
        Points for which it holds.
    origins : ndarray of shape (m, n_columns)
        Where each point comes from.
    index : ndarray of shape (m,), int
        Position of each point, for the callables.
    costs : ndarray of shape (n_columns,)
        Costs of a unit of change, or of any change of a column without units.
    filling : ndarray of shape (n_columns,)
        Sizes of the changes from a missing cell to a value.
    has_units : ndarray of shape (n_columns,), bool
        Whether the changes of a column can be small.
    holds : callable
        ``holds(values, index)``: whether it holds for points, (m,) bool.
    projected : callable
        ``projected(values, index)``: the nearest possible points.
    """

    def __init__(
        self,
        values: NDArray[np.float64],
        origins: NDArray[np.float64],
        index: NDArray[np.intp],
        *,
        costs: NDArray[np.float64],
        filling: NDArray[np.float64],
        has_units: NDArray[np.bool_],
        holds: Callable[[NDArray[np.float64], NDArray[np.intp]], NDArray[np.bool_]],
        projected: Callable[
            [NDArray[np.float64], NDArray[np.intp]], NDArray[np.float64]
        ],
    ) -> None:
        self.values = values.copy()
        self.origins, self.index = origins, index
        self.costs, self.filling, self.has_units = costs, filling, has_units
        self._holds, self._projected = holds, projected

    def costs_of_changes(self) -> NDArray[np.float64]:
        """Costs of the changes, (m, n_columns)."""
        return self._costs(self.values, self.origins, slice(None))

    def _costs(
        self,
        values: NDArray[np.float64],
        origins: NDArray[np.float64],
        column: NDArray[np.intp] | slice,
    ) -> NDArray[np.float64]:
        changes = np.nan_to_num(np.abs(values - origins))
        changes = np.where(self.has_units[column], changes, changes > 0)
        filled = np.isnan(values) != np.isnan(origins)
        return np.where(filled, self.filling[column], changes) * self.costs[column]

    def _has_units(
        self, column: NDArray[np.intp], origins: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether changes of cells can be small."""
        return self.has_units[column] & ~np.isnan(origins)

    def undo(self, rounds: float = np.inf, share: float = 1) -> None:
        """Undo changes, or a share of each, the costliest first, while it holds."""
        active = np.ones(len(self.values), dtype=bool)
        while active.any() and rounds > 0:
            rounds -= 1
            point, column = np.nonzero(self.costs_of_changes() * active[:, None])
            cells, origins = self.values[point, column], self.origins[point, column]
            # Changes without units are undone entirely.
            remaining = np.where(self._has_units(column, origins), 1 - share, 0)
            undone = origins + remaining * (cells - origins)
            undone, holds = self._tried(point, column, undone)
            savings = self._costs(cells, undone, column)
            useful = np.flatnonzero(holds & (savings > 0))
            point, column = point[useful], column[useful]
            self._exchange(point, column, undone[useful], savings[useful])
            active[:] = False
            active[point] = True

    def keep(self, points: NDArray[np.intp]) -> None:
        """Keep some points alone."""
        self.values, self.origins = self.values[points], self.origins[points]
        self.index = self.index[points]

    def refine(self) -> None:
        """Undo changes and shrink the others, until little is saved."""
        self.undo()
        active = np.ones(len(self.values), dtype=bool)
        for _ in range(_MAX_ROUNDS):
            if not active.any():
                break
            before = self.costs_of_changes().sum(axis=1)
            self._shrink(active)
            saved = before - self.costs_of_changes().sum(axis=1)
            active &= saved > _LEAST_SAVING * before

    def _shrink(self, active: NDArray[np.bool_]) -> None:
        """Move cells of active points towards their origins as far as it holds.

        Each cell is moved by itself; moves are kept, the largest saving first, as far
        as they hold together.
        """
        point, column = np.nonzero(self.costs_of_changes() * active[:, None])
        before = self.values[point, column]
        # The condition holds at the first of these, and ceases to hold by the second.
        holding, failing = before.copy(), self.origins[point, column]
        moves = np.arange(len(point))
        for _ in range(_N_CUTS):
            near, far = holding[moves], failing[moves]
            # Changes without units are undone entirely.
            is_gradual = self._has_units(column[moves], far)
            cells = np.where(is_gradual, near + _SHARES * (far - near), far)
            tried, holds = self._tried(
                np.tile(point[moves], len(cells)),
                np.tile(column[moves], len(cells)),
                cells.ravel(),
            )
            cells, holds = tried.reshape(cells.shape), holds.reshape(cells.shape)
            # Position of the farthest cut that holds; 0 for none.
            last = (holds * np.arange(1, len(cells) + 1)[:, None]).max(axis=0)
            cuts, every = np.vstack([near, cells]), np.arange(len(moves))
            holding[moves] = cuts[last, every]
            # Changes that cannot move, and those undone, are finished.
            between = (last > 0) & (last < len(cells))
            failing[moves[between]] = cells[last[between], every[between]]
            moves = moves[between]
        self._exchange(point, column, holding, self._costs(holding, before, column))

    def _tried(
        self,
        point: NDArray[np.intp],
        column: NDArray[np.intp],
        cells: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The nearest possible values of single cells, and whether they hold."""
        if not len(point):
            return cells, np.zeros(0, dtype=bool)
        cell_index = np.arange(len(point)), column
        trials = self.values[point]
        trials[cell_index] = cells
        trials = self._projected(trials, self.index[point])
        holds = self._holds(trials, self.index[point])
        return trials[cell_index], holds

    def _exchange(
        self,
        point: NDArray[np.intp],
        column: NDArray[np.intp],
        cells: NDArray[np.float64],
        savings: NDArray[np.float64],
    ) -> None:
        """Exchange cells, the largest saving first, as far as it holds together.

        Each exchange holds by itself.
        """
        order = np.lexsort((-savings, point))
        point, column, cells = point[order], column[order], cells[order]
        rank = np.arange(len(point)) - np.searchsorted(point, point)
        # Trial i has the exchanges of its point up to i.
        together, trials = self.values.copy(), self.values[point]
        for turn in range(rank.max(initial=-1) + 1):
            in_turn = rank == turn
            together[point[in_turn], column[in_turn]] = cells[in_turn]
            trials[in_turn] = together[point[in_turn]]
        later = rank > 0
        holds = np.ones(len(point), dtype=bool)
        if later.any():
            holds[later] = self._holds(trials[later], self.index[point[later]])
        first_failure = np.full(len(self.values), len(point) + 1)
        np.minimum.at(first_failure, point[~holds], rank[~holds])
        accepted = rank < first_failure[point]
        self.values[point[accepted], column[accepted]] = cells[accepted]

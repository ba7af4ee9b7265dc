"""Fewer and smaller changes of points for which a condition holds.

All points are refined together, so that each round asks the model few questions.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

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

    A cell is the value of a point in a column. Cells are changed for all points in the
    same calls of the callables.

    Parameters
    ----------
    values : ndarray of shape (m, n_columns)
        Points for which the condition holds.
    origins : ndarray of shape (m, n_columns)
        Where each point comes from.
    index : ndarray of shape (m,), int
        Position of each point, for the callables.
    costs : ndarray of shape (n_columns,)
        Costs of a unit of change, or of any change of a column without units.
    missing_change_sizes : ndarray of shape (n_columns,)
        Sizes of the changes between a missing cell and a value.
    has_units : ndarray of shape (n_columns,), bool
        Whether the changes of a column can be small.
    holds : callable
        ``holds(values, index)``: whether the condition holds for points, (m,) bool.
    projected : callable
        ``projected(values, index)``: the nearest possible points.
    """

    def __init__(
        self,
        values: _Array,
        origins: _Array,
        index: NDArray[np.intp],
        *,
        costs: _Array,
        missing_change_sizes: _Array,
        has_units: NDArray[np.bool_],
        holds: Callable[[_Array, NDArray[np.intp]], NDArray[np.bool_]],
        projected: Callable[[_Array, NDArray[np.intp]], _Array],
    ) -> None:
        self.values = values.copy()
        self.origins, self.index = origins, index
        self.costs, self.has_units = costs, has_units
        self.missing_change_sizes = missing_change_sizes
        self._holds, self._projected = holds, projected

    def costs_of_changes(self) -> _Array:
        """Costs of the changes, (m, n_columns)."""
        return self._costs(self.values, self.origins, slice(None))

    def _costs(
        self, values: _Array, origins: _Array, column: NDArray[np.intp] | slice
    ) -> _Array:
        """Costs of changes of cells in some columns."""
        sizes = np.nan_to_num(np.abs(values - origins))
        sizes = np.where(self.has_units[column], sizes, sizes > 0)
        is_missing_change = np.isnan(values) != np.isnan(origins)
        sizes = np.where(is_missing_change, self.missing_change_sizes[column], sizes)
        return sizes * self.costs[column]

    def _is_gradual(
        self, column: NDArray[np.intp], origins: _Array
    ) -> NDArray[np.bool_]:
        """Whether cells can move towards their origins in small steps."""
        return self.has_units[column] & ~np.isnan(origins)

    def undo(self, rounds: float = np.inf, share: float = 1) -> None:
        """Undo changes, the costliest first, while the condition holds.

        Parameters
        ----------
        rounds : float, default=inf
            Largest number of rounds, each of which undoes changes of all points.
        share : float, default=1
            The share of a gradual change that a round undoes.
        """
        active = np.ones(len(self.values), dtype=bool)
        while active.any() and rounds > 0:
            rounds -= 1
            point, column = np.nonzero(self.costs_of_changes() * active[:, None])
            cells, origins = self.values[point, column], self.origins[point, column]
            # Other changes than gradual ones are undone entirely.
            remaining = np.where(self._is_gradual(column, origins), 1 - share, 0)
            undone = origins + remaining * (cells - origins)
            undone, holds = self._try_cells(point, column, undone)
            savings = self._costs(cells, undone, column)
            useful = np.flatnonzero(holds & (savings > 0))
            point, column = point[useful], column[useful]
            self._accept_moves(point, column, undone[useful], savings[useful])
            active[:] = False
            active[point] = True

    def keep(self, points: NDArray[np.intp]) -> None:
        """Drop all points but these."""
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
        """Move cells of active points towards their origins.

        The end of each move is searched with the point's other cells unchanged. Then
        moves are accepted, the largest saving first, while the condition holds.
        """
        point, column = np.nonzero(self.costs_of_changes() * active[:, None])
        before = self.values[point, column]
        # The condition holds at `holding`, and ceases to hold between it and `failing`.
        holding, failing = before.copy(), self.origins[point, column]
        moves = np.arange(len(point))
        for _ in range(_N_CUTS):
            near, far = holding[moves], failing[moves]
            # Other changes than gradual ones are undone entirely.
            is_gradual = self._is_gradual(column[moves], far)
            cells = np.where(is_gradual, near + _SHARES * (far - near), far)
            projected, holds = self._try_cells(
                np.tile(point[moves], len(cells)),
                np.tile(column[moves], len(cells)),
                cells.ravel(),
            )
            cells, holds = projected.reshape(cells.shape), holds.reshape(cells.shape)
            # Number of the farthest cut that holds, from 1; 0 is the cell itself.
            last_cut = (holds * np.arange(1, len(cells) + 1)[:, None]).max(axis=0)
            cuts, every = np.vstack([near, cells]), np.arange(len(moves))
            holding[moves] = cuts[last_cut, every]
            # Cells that cannot move, and cells back at their origin, are finished.
            unfinished = (last_cut > 0) & (last_cut < len(cells))
            failing[moves[unfinished]] = cells[last_cut[unfinished], every[unfinished]]
            moves = moves[unfinished]
        self._accept_moves(point, column, holding, self._costs(holding, before, column))

    def _try_cells(
        self, point: NDArray[np.intp], column: NDArray[np.intp], cells: _Array
    ) -> tuple[_Array, NDArray[np.bool_]]:
        """Nearest possible values of single cells, and whether the condition holds."""
        if not len(point):
            return cells, np.zeros(0, dtype=bool)
        cell_index = np.arange(len(point)), column
        trials = self.values[point]
        trials[cell_index] = cells
        trials = self._projected(trials, self.index[point])
        holds = self._holds(trials, self.index[point])
        return trials[cell_index], holds

    def _accept_moves(
        self,
        point: NDArray[np.intp],
        column: NDArray[np.intp],
        cells: _Array,
        savings: _Array,
    ) -> None:
        """Move cells to the given values, the largest saving of each point first.

        The condition holds after each move alone. Of a point's moves, all up to the
        first one with which it does not hold for them together are accepted.
        """
        order = np.lexsort((-savings, point))
        point, column, cells = point[order], column[order], cells[order]
        # Rank of each move among the moves of its point.
        rank = np.arange(len(point)) - np.searchsorted(point, point)
        # Trial i has the moves of its point up to move i: all points make their first
        # move, then their second, and so on.
        values_so_far, trials = self.values.copy(), self.values[point]
        for current_rank in range(rank.max(initial=-1) + 1):
            moves = rank == current_rank
            values_so_far[point[moves], column[moves]] = cells[moves]
            trials[moves] = values_so_far[point[moves]]
        is_later = rank > 0
        holds = np.ones(len(point), dtype=bool)
        if is_later.any():
            holds[is_later] = self._holds(trials[is_later], self.index[point[is_later]])
        first_failure = np.full(len(self.values), len(point) + 1)
        np.minimum.at(first_failure, point[~holds], rank[~holds])
        accepted = rank < first_failure[point]
        self.values[point[accepted], column[accepted]] = cells[accepted]

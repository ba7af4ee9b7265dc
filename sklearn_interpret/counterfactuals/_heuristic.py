"""Base of the heuristic methods: near known rows, polishing, rows that are apart."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs

from sklearn_interpret._core.optimisation.coordinate_search import coordinate_search
from sklearn_interpret._core.optimisation.polishing import Polishing
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._row_search import KnownRows
from sklearn_interpret.counterfactuals._base import BaseCounterfactual, Found

# Of the known rows, so many of the nearest are asked about, and as many of the others.
_ASKED = 16
# How many rows as wished are followed for each explained row, and shrunk in the end.
_STARTS, _SHRUNK = 5, 2
# Values of a number that are tried.
_GRID = 16
# Rounds in which all rows followed are undone, before those to shrink are chosen.
_ROUNDS = 2
# Single changes aim at this margin, and are so many.
_AIM, _MOST_STEPS = 1e-3, 12
# Known rows for a first look at the response.
_SOME_ROWS = 10
# Further counterfactuals are so far from each other, in distances of the nearest.
_APART = 0.5


@dataclass
class _Apart:
    """Whether rows are as wished, and far enough from what was found already."""

    task: object
    index: np.ndarray
    distances: np.ndarray
    found: list

    def __call__(self, values, index):
        place = np.searchsorted(self.index, index)
        holds = np.ones(len(values), dtype=bool)
        for others in self.found:
            distances = self.task.feasible.distances(values, others[place])
            holds &= distances >= self.distances[place]
        if holds.any():
            holds[holds] = self.task.holds(values[holds], index[holds])
        return holds


def nearest_of_each(distances, owner, number):
    """Positions of the nearest so many rows of each owner, nearest first."""
    order = np.lexsort((distances, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    return order[rank < number]


class BaseHeuristicCounterfactual(BaseCounterfactual):
    """Base of the methods that look for rows as wished, and then polish them.

    A subclass looks for rows (`_candidates`); near known rows are candidates always.
    """

    # Where rows were looked for in vain.
    _tried: ClassVar[str]

    def _prepare(self, sample, wish, feasible):
        low, high = wish.interval or (-np.inf, np.inf)
        # In a narrow interval the margin cannot be larger than half of it.
        self._aim, self._most_steps = min(_AIM, (high - low) / 2), _MOST_STEPS
        self._known_rows = KnownRows(sample.rows, wish, feasible)
        self._known, rows = self._known_rows.values, self._known_rows.rows
        self._grid_columns, self._grid_values = self._make_grid(feasible)
        places = np.linspace(0, rows.n_rows - 1, min(_SOME_ROWS, rows.n_rows))
        self._some_rows = rows.take(np.rint(places).astype(np.intp))

    def _make_grid(self, feasible):
        """Columns and values that are tried by themselves: quantiles and levels."""
        columns, values = [], []
        for j in np.flatnonzero(feasible.vary).tolist():
            possible = feasible.possible_levels[j]
            if possible is None:
                known = np.unique(self._known[:, j])
                known = known[np.isfinite(known)]
                places = np.linspace(0, len(known) - 1, min(_GRID, len(known)))
                tried = known[np.rint(places).astype(np.intp)]
            else:
                tried = np.flatnonzero(possible)
            columns.append(np.full(len(tried), j))
            values.append(tried)
        return np.concatenate(columns), np.concatenate(values).astype(np.float64)

    @abstractmethod
    def _candidates(self, task, index, starts, owner):
        """Rows as wished, and the explained rows that they are for.

        `starts` are some, those of a row together, nearest first.
        """

    @abstractmethod
    def _rows_each(self):
        """How many rows the model is asked about at once for each explained row."""

    def _search(self, task, index):
        each = max(self._rows_each(), len(self._grid_columns) + len(self._known[0]))
        together = max(1, batch_rows(task.rows.row_bytes) // each)
        together = min(together, -(-len(index) // effective_n_jobs(self.n_jobs)))
        blocks = [(task, index[part]) for part in slices(len(index), together)]
        for found in run(
            self._search_block, blocks, n_jobs=self.n_jobs, verbose=self.verbose
        ):
            yield from found

    def _search_block(self, task, index):
        """`Found` of some rows, which the model is asked about together."""
        pool, owner = self._pool(task, index)
        found, with_one = [[] for _ in index], index
        apart = _Apart(task, index, np.zeros(len(index)), [])
        for _ in range(self.n_counterfactuals):
            use = np.isin(owner, with_one)
            nearest, with_one = self._nearest(task, pool[use], owner[use], apart)
            if not len(with_one):
                break
            place = np.searchsorted(index, with_one)
            for k, values in zip(place, nearest, strict=True):
                found[k].append(values)
            if not apart.found:
                apart.distances[place] = _APART * task.distances(nearest, with_one)
            further = task.values[index]
            further[place] = nearest
            apart.found.append(further)
        return [self._found_of(values) for values in found]

    def _found_of(self, values):
        """`Found` of one row; says why it holds less than is asked for."""
        most, n_found = self.max_changes, len(values)
        limit = "" if most is None else f" with at most {most} changes"
        reason = ""
        if not n_found:
            reason = f"no row as wished{limit} was met {self._tried}"
        elif n_found < self.n_counterfactuals:
            reason = f"only {n_found} rows{limit} were met that are apart"
        return Found(np.reshape(values, (n_found, self._known.shape[1])), reason)

    def _nearest(self, task, pool, owner, apart):
        """The nearest row as wished of those that have one, and whose it is."""
        feasible = task.feasible
        if apart.found:
            holds = apart(pool, owner)
            pool, owner = pool[holds], owner[holds]
        polishing = Polishing(
            pool,
            task.values[owner],
            owner,
            costs=feasible.costs,
            has_units=~feasible.categorical,
            holds=apart,
            projected=task.projected,
        )
        polishing.undo(_ROUNDS if self.max_changes is None else np.inf)
        distances = task.distances(polishing.values, owner)
        many = self._n_changed(task, polishing.values, owner) > self._most_changes
        distances[many] = np.inf
        few = nearest_of_each(distances, owner, _SHRUNK)
        polishing.keep(few[np.isfinite(distances[few])])
        polishing.polish()
        pool, owner = polishing.values, polishing.index
        first = nearest_of_each(task.distances(pool, owner), owner, 1)
        return pool[first], owner[first]

    @property
    def _most_changes(self):
        return np.inf if self.max_changes is None else self.max_changes

    def _n_changed(self, task, values, index):
        return (task.feasible.changes(values, task.values[index]) > 0).sum(axis=1)

    def _pool(self, task, index):
        """Rows as wished, and the explained rows that they are for."""
        starts, owner = self._starts(task, index)
        further, of = self._candidates(task, index, starts, owner)
        return np.concatenate([starts, further]), np.append(owner, of)

    def _starts(self, task, index):
        """Near rows as wished: known ones, as near as they may become, and changed."""
        values, owner = [self._by_coordinates(task, index)[0]], [index]
        for i in index:
            (wished,) = self._known_rows.wished(task, np.array([i]))
            known = self._known[wished]
            at = np.full(len(known), i)
            known = task.projected(known, at)
            order = np.argsort(task.distances(known, at), kind="stable")
            rest = order[_ASKED:]
            spread = np.linspace(0, len(rest) - 1, min(_ASKED, len(rest)))
            order = np.append(order[:_ASKED], rest[np.rint(spread).astype(np.intp)])
            values.append(known[order])
            owner.append(at[order])
        values, owner = np.concatenate(values), np.concatenate(owner)
        holds = task.holds(values, owner)
        values, owner = values[holds], owner[holds]
        number = max(_STARTS, 4 * (self.n_counterfactuals - 1))
        nearest = nearest_of_each(task.distances(values, owner), owner, number)
        return values[nearest], owner[nearest]

    def _by_coordinates(self, task, index):
        """Rows found by changing cells to values that others have; number of steps."""

        def moved(values, columns, cells, rows):
            values[np.arange(len(values)), columns] = cells
            return task.projected(values, index[rows])

        def price(values, rows):
            at = index[rows]
            return task.distances(values, at), self._n_changed(task, values, at)

        return coordinate_search(
            task.values[index],
            (self._grid_columns, self._grid_values),
            moved,
            lambda values, rows: task.margins(values, index[rows]),
            price,
            aim=self._aim,
            most_changes=self._most_changes,
            max_iter=self._most_steps,
        )

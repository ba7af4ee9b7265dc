"""Base of the heuristic methods: near known rows, refinement, rows that are apart."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from sklearn_interpret._core.search.penalised_descents import coordinate_search
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.progress import counted
from sklearn_interpret.counterfactuals._base import BaseCounterfactual, Found

# Known rows that the model is asked about: this number of the nearest and of others.
_ASKED = 16
# Starts of each explained row, and candidates that are refined in the end.
_STARTS, _SHRUNK = 5, 2
# Number of values of a feature that are tried.
_GRID = 16
# Rounds in which changes of all candidates are undone, before the nearest are chosen.
_ROUNDS = 2
# Margin that single changes aim at, and their largest number.
_AIM, _MOST_STEPS = 1e-3, 12
# Known rows at which the response is tested for smoothness.
_SOME_ROWS = 10
# Least distance between counterfactuals, in distances of the nearest.
_APART = 0.5


def nearest_of_each(distances, owner, number):
    """Positions of the `number` nearest rows of each owner, nearest first."""
    order = np.lexsort((distances, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    return order[rank < number]


class BaseHeuristicCounterfactual(BaseCounterfactual):
    """Base of the methods that refine candidates.

    A subclass finds rows (`_candidates`); near known rows are candidates always.
    """

    # Where the search was, in words.
    _tried: ClassVar[str]

    def _fit_search(self, sample, outcome, actionability):
        low, high = outcome.interval or (-np.inf, np.inf)
        # In a narrow interval the margin cannot be larger than half of it.
        self._aim, self._most_steps = min(_AIM, (high - low) / 2), _MOST_STEPS
        rows = actionability.distinct(sample.rows)
        self._known_rows = SearchProblem(outcome, actionability, rows)
        self._known = self._known_rows.values
        self._grid_columns, self._grid_values = self._make_grid(actionability)
        places = np.linspace(0, rows.n_rows - 1, min(_SOME_ROWS, rows.n_rows))
        self._some_rows = rows.take(np.rint(places).astype(np.intp))

    def _make_grid(self, actionability):
        """Columns and values that are tried by themselves: quantiles and levels."""
        columns, values = [], []
        for j in np.flatnonzero(actionability.vary).tolist():
            possible = actionability.possible_levels[j]
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
    def _candidates(self, problem, index, starts, owner):
        """Rows that satisfy the target, and the explained rows that they are for.

        `starts` are such rows, sorted by row, the nearest first.
        """

    @abstractmethod
    def _rows_each(self):
        """Number of rows in one call of the model, per explained row."""

    def _search(self, problem, index):
        each = max(self._rows_each(), len(self._grid_columns) + len(self._known[0]))
        together = batch_rows(problem.rows.row_bytes) // each
        for _, found in self._in_blocks(self._search_block, problem, index, together):
            yield from found

    def _search_block(self, problem, index):
        """`Found` of some rows, which are searched together."""
        pool, owner = self._pool(problem, index)
        found, with_one = [[] for _ in index], index
        before, least = [], np.zeros(len(index))

        def holds(values, rows):
            """Mask of rows on target that are far enough from those found before."""
            place = np.searchsorted(index, rows)
            apart = np.ones(len(values), dtype=bool)
            for others in before:
                distances = problem.actionability.distances(values, others[place])
                apart &= distances >= least[place]
            apart[apart] = problem.holds(values[apart], rows[apart])
            return apart

        for _ in counted(range(self.n_counterfactuals)):
            use = np.isin(owner, with_one)
            if before:
                use[use] = holds(pool[use], owner[use])
            nearest, with_one = self._nearest(problem, pool[use], owner[use], holds)
            if not len(with_one):
                break
            place = np.searchsorted(index, with_one)
            for k, values in zip(place, nearest, strict=True):
                found[k].append(values)
            if not before:
                least[place] = _APART * problem.distances(nearest, with_one)
            further = problem.values[index]
            further[place] = nearest
            before.append(further)
        return [self._found_of(values) for values in found]

    def _found_of(self, values):
        """`Found` of one row; says why it holds less than is asked for."""
        most, n_found = self.max_changes, len(values)
        limit = "" if most is None else f" with at most {most} changes"
        reason = ""
        if not n_found:
            reason = f"no row{limit} that reaches the target was found {self._tried}"
        elif n_found < self.n_counterfactuals:
            reason = f"only {n_found} rows{limit} were found that are apart"
        return Found(np.reshape(values, (n_found, self._known.shape[1])), reason)

    def _nearest(self, problem, pool, owner, holds):
        """The nearest refined candidates, and the rows that they are for."""
        refinement = problem.refinement(pool, owner, holds)
        refinement.undo(_ROUNDS if self.max_changes is None else np.inf)
        distances = problem.distances(refinement.values, owner)
        many = self._n_changed(problem, refinement.values, owner) > self._most_changes
        distances[many] = np.inf
        few = nearest_of_each(distances, owner, _SHRUNK)
        refinement.keep(few[np.isfinite(distances[few])])
        refinement.refine()
        pool, owner = refinement.values, refinement.index
        first = nearest_of_each(problem.distances(pool, owner), owner, 1)
        return pool[first], owner[first]

    @property
    def _most_changes(self):
        return np.inf if self.max_changes is None else self.max_changes

    def _n_changed(self, problem, values, index):
        return problem.actionability.n_changed(values, problem.values[index])

    def _pool(self, problem, index):
        """Candidates, and the explained rows that they are for."""
        starts, owner = self._starts(problem, index)
        further, of = self._candidates(problem, index, starts, owner)
        return np.concatenate([starts, further]), np.append(owner, of)

    def _starts(self, problem, index):
        """Near rows that satisfy the target: projected known ones, changed cells."""
        values, owner = [self._by_coordinates(problem, index)[0]], [index]
        for i in counted(index):
            (on_target,) = self._known_rows.satisfying(problem, np.array([i]))
            known = self._known[on_target]
            at = np.full(len(known), i)
            known = problem.projected(known, at)
            order = np.argsort(problem.distances(known, at), kind="stable")
            rest = order[_ASKED:]
            spread = np.linspace(0, len(rest) - 1, min(_ASKED, len(rest)))
            order = np.append(order[:_ASKED], rest[np.rint(spread).astype(np.intp)])
            values.append(known[order])
            owner.append(at[order])
        values, owner = np.concatenate(values), np.concatenate(owner)
        holds = problem.holds(values, owner)
        values, owner = values[holds], owner[holds]
        number = max(_STARTS, 4 * (self.n_counterfactuals - 1))
        nearest = nearest_of_each(problem.distances(values, owner), owner, number)
        return values[nearest], owner[nearest]

    def _by_coordinates(self, problem, index):
        """Rows found by changing cells to values that others have; number of steps."""

        def moved(values, columns, cells, rows):
            values[np.arange(len(values)), columns] = cells
            return problem.projected(values, index[rows])

        def price(values, rows):
            at = index[rows]
            return problem.distances(values, at), self._n_changed(problem, values, at)

        return coordinate_search(
            problem.values[index],
            (self._grid_columns, self._grid_values),
            moved,
            lambda values, rows: problem.margins(values, index[rows]),
            price,
            aim=self._aim,
            most_changes=self._most_changes,
            max_iter=self._most_steps,
        )

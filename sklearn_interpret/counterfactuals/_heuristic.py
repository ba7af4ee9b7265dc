"""Base of the heuristic methods: near known rows, refinement, rows that are apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.penalised_descents import coordinate_search
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.counterfactuals._base import BaseCounterfactual, Found

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample

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


def nearest_of_each(
    distances: NDArray[np.float64], owner: NDArray[np.intp], number: int
) -> NDArray[np.intp]:
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

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        low, high = outcome.interval or (-np.inf, np.inf)
        # In a narrow interval the margin cannot be larger than half of it.
        self._aim, self._most_steps = min(_AIM, (high - low) / 2), _MOST_STEPS
        rows = actionability.distinct(sample.rows)
        self._training = SearchProblem(outcome, actionability, rows)
        self._training_values = self._training.values
        self._grid_columns, self._grid_values = self._make_grid(actionability)
        positions = np.linspace(0, rows.n_rows - 1, min(_SOME_ROWS, rows.n_rows))
        self._some_rows = rows.take(np.rint(positions).astype(np.intp))

    def _make_grid(
        self, actionability: Actionability
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Columns and values that are tried by themselves: quantiles and levels."""
        columns, values = [], []
        for j in np.flatnonzero(actionability.vary).tolist():
            possible = actionability.possible_levels[j]
            if possible is None:
                distinct = np.unique(self._training_values[:, j])
                distinct = distinct[np.isfinite(distinct)]
                ranks = np.linspace(0, len(distinct) - 1, min(_GRID, len(distinct)))
                tried: NDArray[Any] = distinct[np.rint(ranks).astype(np.intp)]
            else:
                tried = np.flatnonzero(possible)
            columns.append(np.full(len(tried), j))
            values.append(tried)
        return np.concatenate(columns), np.concatenate(values).astype(np.float64)

    @abstractmethod
    def _candidates(
        self,
        problem: SearchProblem,
        index: NDArray[np.intp],
        starts: NDArray[np.float64],
        owner: NDArray[np.intp],
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Rows that satisfy the target, and the explained rows that they are for.

        `starts` are such rows, sorted by row, the nearest first.
        """

    @abstractmethod
    def _rows_each(self) -> int:
        """Number of rows in one call of the model, per explained row."""

    def _search(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> Iterator[Found]:
        n_columns = self._training_values.shape[1]
        most = max(self._rows_each(), len(self._grid_columns) + n_columns)
        together = batch_rows(problem.rows.row_bytes) // most
        for _, block in self._in_blocks(self._search_block, problem, index, together):
            yield from block

    def _search_block(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> list[Found]:
        """`Found` of some rows, which are searched together."""
        pool, owner = self._pool(problem, index)
        nearest_by_row: list[list[NDArray[np.float64]]] = [[] for _ in index]
        before: list[NDArray[np.float64]] = []

        searched, least = index, np.zeros(len(index))

        def holds(
            values: NDArray[np.float64], rows: NDArray[np.intp]
        ) -> NDArray[np.bool_]:
            """Mask of rows on target that are far enough from those found before."""
            positions = np.searchsorted(index, rows)
            is_far = np.ones(len(values), dtype=bool)
            for earlier in before:
                distances = problem.actionability.distances(values, earlier[positions])
                is_far &= distances >= least[positions]
            is_far[is_far] = problem.holds(values[is_far], rows[is_far])
            return is_far

        for _ in with_progress(range(self.n_counterfactuals)):
            use = np.isin(owner, searched)
            if before:
                use[use] = holds(pool[use], owner[use])
            nearest, searched = self._nearest(problem, pool[use], owner[use], holds)
            if not len(searched):
                break
            positions = np.searchsorted(index, searched)
            for k, values in zip(positions, nearest, strict=True):
                nearest_by_row[k].append(values)
            if not before:
                least[positions] = _APART * problem.distances(nearest, searched)
            latest = problem.values[index]
            latest[positions] = nearest
            before.append(latest)
        return [self._found_of(values) for values in nearest_by_row]

    def _found_of(self, values: list[NDArray[np.float64]]) -> Found:
        """`Found` of one row; says why it holds less than is asked for."""
        most, n_found = self.max_changes, len(values)
        limit = "" if most is None else f" with at most {most} changes"
        reason = ""
        if not n_found:
            reason = f"no row{limit} that reaches the target was found {self._tried}"
        elif n_found < self.n_counterfactuals:
            reason = f"only {n_found} rows{limit} were found that are apart"
        shape = n_found, self._training_values.shape[1]
        return Found(np.reshape(values, shape), reason)

    def _nearest(
        self,
        problem: SearchProblem,
        pool: NDArray[np.float64],
        owner: NDArray[np.intp],
        holds: Callable[..., Any],
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """The nearest refined candidates, and the rows that they are for."""
        refinement = problem.refinement(pool, owner, holds)
        refinement.undo(_ROUNDS if self.max_changes is None else np.inf)
        distances = problem.distances(refinement.values, owner)
        many = self._n_changed(problem, refinement.values, owner) > self._most_changes
        distances[many] = np.inf
        nearest = nearest_of_each(distances, owner, _SHRUNK)
        refinement.keep(nearest[np.isfinite(distances[nearest])])
        refinement.refine()
        pool, owner = refinement.values, refinement.index
        first = nearest_of_each(problem.distances(pool, owner), owner, 1)
        return pool[first], owner[first]

    @property
    def _most_changes(self) -> float:
        return np.inf if self.max_changes is None else self.max_changes

    def _n_changed(
        self,
        problem: SearchProblem,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        return problem.actionability.n_changed(values, problem.values[index])

    def _pool(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Candidates, and the explained rows that they are for."""
        starts, owner = self._starts(problem, index)
        candidates, their_owner = self._candidates(problem, index, starts, owner)
        return np.concatenate([starts, candidates]), np.append(owner, their_owner)

    def _starts(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Near rows that satisfy the target: projected known ones, changed cells."""
        blocks, owners = [self._by_coordinates(problem, index)[0]], [index]
        for i in with_progress(index):
            (on_target,) = self._training.satisfying(problem, np.array([i]))
            candidates = self._training_values[on_target]
            owner_of_candidates = np.full(len(candidates), i)
            candidates = problem.projected(candidates, owner_of_candidates)
            order = np.argsort(
                problem.distances(candidates, owner_of_candidates), kind="stable"
            )
            farther = order[_ASKED:]
            spread = np.linspace(0, len(farther) - 1, min(_ASKED, len(farther)))
            order = np.append(order[:_ASKED], farther[np.rint(spread).astype(np.intp)])
            blocks.append(candidates[order])
            owners.append(owner_of_candidates[order])
        values, owner = np.concatenate(blocks), np.concatenate(owners)
        holds = problem.holds(values, owner)
        values, owner = values[holds], owner[holds]
        number = max(_STARTS, 4 * (self.n_counterfactuals - 1))
        nearest = nearest_of_each(problem.distances(values, owner), owner, number)
        return values[nearest], owner[nearest]

    def _by_coordinates(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], int]:
        """Rows found by changing cells to values that others have; number of steps."""

        def moved(
            values: NDArray[np.float64],
            columns: NDArray[np.intp],
            cells: NDArray[np.float64],
            rows: NDArray[np.intp],
        ) -> NDArray[np.float64]:
            values[np.arange(len(values)), columns] = cells
            return problem.projected(values, index[rows])

        def price(
            values: NDArray[np.float64], rows: NDArray[np.intp]
        ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
            owner = index[rows]
            return problem.distances(values, owner), self._n_changed(
                problem, values, owner
            )

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

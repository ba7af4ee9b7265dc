"""Base of the heuristic methods: near known rows, refinement, rows that are apart.

For each explained row, `_search_block` collects candidates on target: near rows of
`fit`, rows found by single changes, and rows found by the method (`_find_candidates`).
It undoes and shrinks changes of candidates and takes the nearest candidate. Further
counterfactuals must be far enough from all counterfactuals before them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.penalised_descents import coordinate_search
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.counterfactuals._base import BaseCounterfactual, SearchResult

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample

# From rows found, and positions of the rows they are for: whether each is accepted.
Condition = Callable[[NDArray[np.float64], NDArray[np.intp]], NDArray[np.bool_]]
# Numbers of rows, values and rounds are chosen by hand: with larger numbers the model
# is asked about more rows, and nearer rows may be found.
# Known rows on target that are asked about for each explained row: this number of the
# nearest rows, and as many of the farther rows, evenly spaced by rank.
_N_KNOWN_ASKED = 16
# Rows on target that the search of an explained row starts from.
_N_STARTS = 5
# Further starts for each further counterfactual, which must be far from the first.
_N_STARTS_PER_FURTHER = 4
# Number of nearest candidates of each explained row that are refined to the end.
_N_REFINED = 2
# Values of a feature that single changes try: quantiles of its distinct values.
_N_GRID_VALUES = 16
# Rounds of undoing changes of all candidates, before the nearest ones are chosen.
_N_ROUNDS_OF_ALL = 2
# Margin that single changes aim at: below it rounding may turn the answer.
_MARGIN_AIM = 1e-3
# Most single changes of a row, one after the other.
_MAX_SINGLE_CHANGES = 12
# Known rows at which the response is tested for smoothness, evenly spaced.
_N_TEST_ROWS = 10
# Least distance between counterfactuals, in distances of the nearest one.
_MIN_SEPARATION = 0.5


def nearest_of_each(
    distances: NDArray[np.float64], owner: NDArray[np.intp], number: int
) -> NDArray[np.intp]:
    """Positions of the `number` nearest rows of each owner, nearest first."""
    order = np.lexsort((distances, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    return order[rank < number]


class Candidates(NamedTuple):
    """Encoded rows, and the explained rows of a problem that they are for."""

    values: NDArray[np.float64]  # (m, n_columns)
    owner: NDArray[np.intp]  # (m,): positions of the explained rows

    @classmethod
    def of_blocks(cls, blocks: Iterable[Candidates]) -> Candidates:
        """Candidates of several blocks, one after the other."""
        return cls(*map(np.concatenate, zip(*blocks, strict=True)))

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Candidates:
        """Candidates at some positions, or of a mask."""
        return Candidates(self.values[index], self.owner[index])

    def on_target(self, problem: SearchProblem) -> Candidates:
        """Candidates for which the model's answers satisfy the target."""
        return self.take(problem.holds(self.values, self.owner))

    def nearest(self, problem: SearchProblem, number: int) -> Candidates:
        """The `number` nearest candidates of each explained row, nearest first."""
        distances = problem.distances(self.values, self.owner)
        return self.take(nearest_of_each(distances, self.owner, number))


class _FoundRows:
    """The counterfactuals found so far for the rows at `index` of a problem."""

    def __init__(self, problem: SearchProblem, index: NDArray[np.intp]) -> None:
        self._problem, self._index = problem, index
        self.by_row: list[list[NDArray[np.float64]]] = [[] for _ in index]
        # For each round the row found for each explained row, (n, n_columns); the
        # explained row itself where none was found.
        self._rounds: list[NDArray[np.float64]] = []
        self._min_distances = np.zeros(len(index))

    def add(self, counterfactuals: Candidates) -> None:
        """Add a round: a counterfactual for each of some rows."""
        positions = np.searchsorted(self._index, counterfactuals.owner)
        for position, values in zip(positions, counterfactuals.values, strict=True):
            self.by_row[position].append(values)
        if not self._rounds:
            distances = self._problem.distances(*counterfactuals)
            self._min_distances[positions] = _MIN_SEPARATION * distances
        self._rounds.append(self._problem.values[self._index])
        self._rounds[-1][positions] = counterfactuals.values

    def are_far_and_on_target(
        self, values: NDArray[np.float64], owner: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Mask of values that are on target, and far from all rows found before."""
        positions = np.searchsorted(self._index, owner)
        accepted = np.ones(len(values), dtype=bool)
        for earlier in self._rounds:
            origins = earlier[positions]
            distances = self._problem.actionability.distances(values, origins)
            accepted &= distances >= self._min_distances[positions]
        accepted[accepted] = self._problem.holds(values[accepted], owner[accepted])
        return accepted


class BaseHeuristicCounterfactual(BaseCounterfactual):
    """Base of the methods that refine candidates.

    A subclass finds candidates (`_find_candidates`), in addition to near known rows.
    """

    # Where the search was, in words.
    _where_searched: ClassVar[str]

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        low, high = outcome.interval or (-np.inf, np.inf)
        # In a narrow interval the margin cannot be larger than half of it.
        self._margin_aim = min(_MARGIN_AIM, (high - low) / 2)
        self._max_steps = _MAX_SINGLE_CHANGES
        rows = actionability.distinct(sample.rows)
        self._training = SearchProblem(outcome, actionability, rows)
        self._grid_columns, self._grid_values = self._make_grid(actionability)
        positions = np.linspace(0, rows.n_rows - 1, min(_N_TEST_ROWS, rows.n_rows))
        self._test_rows = rows.take(np.rint(positions).astype(np.intp))

    def _make_grid(
        self, actionability: Actionability
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Columns and values that are tried by themselves: quantiles and levels."""
        columns, values = [], []
        for j in np.flatnonzero(actionability.vary).tolist():
            possible = actionability.possible_levels[j]
            if possible is None:
                distinct = np.unique(self._training.values[:, j])
                distinct = distinct[np.isfinite(distinct)]
                n_values = min(_N_GRID_VALUES, len(distinct))
                ranks = np.linspace(0, len(distinct) - 1, n_values)
                column_values: NDArray[Any] = distinct[np.rint(ranks).astype(np.intp)]
            else:
                column_values = np.flatnonzero(possible)
            columns.append(np.full(len(column_values), j))
            values.append(column_values)
        return np.concatenate(columns), np.concatenate(values).astype(np.float64)

    @abstractmethod
    def _find_candidates(
        self, problem: SearchProblem, index: NDArray[np.intp], starts: Candidates
    ) -> Candidates:
        """Candidates on target, nearest first; the starts are on target too."""

    @abstractmethod
    def _n_asked_per_row(self) -> int:
        """Number of rows in one call of the model, per explained row."""

    def _search(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> Iterator[SearchResult]:
        n_columns = self._training.values.shape[1]
        n_single_changes = len(self._grid_columns) + n_columns
        n_asked_per_row = max(self._n_asked_per_row(), n_single_changes)
        block_size = batch_rows(problem.rows.row_bytes) // n_asked_per_row
        blocks = self._in_blocks(self._search_block, problem, index, block_size)
        for _, results in blocks:
            yield from results

    def _search_block(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> list[SearchResult]:
        """The `SearchResult` of each of some rows, which are searched together."""
        starts = self._find_starts(problem, index)
        candidates = self._find_candidates(problem, index, starts)
        pool = Candidates.of_blocks([starts, candidates])
        found_rows, searched = _FoundRows(problem, index), index
        for n_before in with_progress(range(self.n_counterfactuals)):
            holds = found_rows.are_far_and_on_target
            is_used = np.isin(pool.owner, searched)
            if n_before > 0:
                is_used[is_used] = holds(*pool.take(is_used))
            nearest = self._refine_nearest(problem, pool.take(is_used), holds)
            if not len(nearest.owner):
                break
            found_rows.add(nearest)
            searched = nearest.owner
        return [self._make_result(values) for values in found_rows.by_row]

    def _make_result(self, values: list[NDArray[np.float64]]) -> SearchResult:
        """The result of one row; says why it has fewer rows than are asked for."""
        n_found, limit, reason = len(values), "", ""
        if self.max_changes is not None:
            limit = f" with at most {self.max_changes} changes"
        if not n_found:
            reason = f"no row{limit} that reaches the target was found "
            reason += self._where_searched
        elif n_found < self.n_counterfactuals:
            reason = f"only {n_found} rows{limit} were found that are apart"
        shape = n_found, self._training.values.shape[1]
        return SearchResult(np.reshape(values, shape), reason)

    def _refine_nearest(
        self, problem: SearchProblem, pool: Candidates, holds: Condition
    ) -> Candidates:
        """The nearest refined candidate of each row that has one."""
        refinement = problem.refinement(*pool, holds)
        refinement.undo(_N_ROUNDS_OF_ALL if self.max_changes is None else np.inf)
        distances = problem.distances(refinement.values, pool.owner)
        n_changed = self._n_changed(problem, refinement.values, pool.owner)
        distances[n_changed > self._most_changes] = np.inf
        nearest = nearest_of_each(distances, pool.owner, _N_REFINED)
        refinement.keep(nearest[np.isfinite(distances[nearest])])
        refinement.refine()
        return Candidates(refinement.values, refinement.index).nearest(problem, 1)

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

    def _find_starts(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> Candidates:
        """Near rows on target: projected known rows, and rows with changed cells."""
        changed, _ = self._search_coordinates(problem, index)
        blocks = [Candidates(changed, index)]
        blocks += [self._near_known_rows(problem, row) for row in with_progress(index)]
        n_further = self.n_counterfactuals - 1
        number = max(_N_STARTS, _N_STARTS_PER_FURTHER * n_further)
        return Candidates.of_blocks(blocks).on_target(problem).nearest(problem, number)

    def _near_known_rows(self, problem: SearchProblem, row: int) -> Candidates:
        """Known rows on target, projected for a row: the nearest, and some farther."""
        (on_target,) = self._training.rows_on_target(problem, np.array([row]))
        values = self._training.values[on_target]
        owner = np.full(len(values), row)
        values = problem.projected(values, owner)
        order = np.argsort(problem.distances(values, owner), kind="stable")
        nearest, farther = np.split(order, [_N_KNOWN_ASKED])
        n_farther = min(_N_KNOWN_ASKED, len(farther))
        ranks = np.linspace(0, len(farther) - 1, n_farther)
        spread = farther[np.rint(ranks).astype(np.intp)]
        return Candidates(values, owner).take(np.append(nearest, spread))

    def _search_coordinates(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], int]:
        """Rows found by changing cells to values of known rows; number of steps."""

        def move_cells(
            values: NDArray[np.float64],
            columns: NDArray[np.intp],
            cells: NDArray[np.float64],
            positions: NDArray[np.intp],
        ) -> NDArray[np.float64]:
            values[np.arange(len(values)), columns] = cells
            return problem.projected(values, index[positions])

        def margins(
            values: NDArray[np.float64], positions: NDArray[np.intp]
        ) -> NDArray[np.float64]:
            return problem.margins(values, index[positions])

        def distances_and_changes(
            values: NDArray[np.float64], positions: NDArray[np.intp]
        ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
            n_changed = self._n_changed(problem, values, index[positions])
            return problem.distances(values, index[positions]), n_changed

        return coordinate_search(
            problem.values[index],
            (self._grid_columns, self._grid_values),
            move_cells,
            margins,
            distances_and_changes,
            aim=self._margin_aim,
            most_changes=self._most_changes,
            max_iter=self._max_steps,
        )

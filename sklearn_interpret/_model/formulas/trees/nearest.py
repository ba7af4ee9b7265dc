"""The nearest rows for which models of trees reach a target.

Trees are constant within cells of the columns (:mod:`cells`), so their sums are sums
over boxes of cells, and the nearest row lies in the cheapest cells at which these reach
what the target needs (:mod:`boxes`, :mod:`programs`; :mod:`sup_norm` for the largest
change). :class:`TreeSearch` asks for these cells, :class:`_Space` translates between
rows and cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.boxes import BoxSums, CellConstraints
from sklearn_interpret._core.search.decimal_grids import DecimalGrid
from sklearn_interpret._core.search.programs import solve
from sklearn_interpret._core.search.sup_norm import nearest_point
from sklearn_interpret._model.actions.target import SAME, LinearSystem, SumTarget
from sklearn_interpret._model.formulas.trees.cells import TreeCells
from sklearn_interpret._model.formulas.trees.tree_response import (
    read_trees,
    tree_response,
)
from sklearn_interpret._model.rows.arrays import as_rows

if TYPE_CHECKING:
    from sklearn_interpret._core.search.programs import Goal, Solution
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.problem import SearchProblem

# Relative rounding error of sums, of models that add up in double precision.
_DOUBLE_ROUNDING = 1e-10
# Relative rounding error of sums, of models that add up in single precision.
_SINGLE_ROUNDING = 1e-6
# Largest excess over constraints, relative to the size of their terms.
_ROUNDING = 1e-13
# Relative rounding error of a leaf's share of a mean times the number of trees.
_LAST_BITS = 1e-15
# Multiple of the rounding error by which sums must exceed needs to be sure: any model
# adds up with less error, and rows are hardly farther.
_SURE_MULTIPLE = 100
# Limit of numbers, in multiples of the value that offsets all others of a constraint:
# ends must be finite, and several numbers may be moved against each other.
_FAR_MULTIPLE = 100
# Number of the nearest known rows with the target outcome that searches start from.
_N_STARTS = 64


class _Alternative(NamedTuple):
    """One `LinearSystem` as the input of a search."""

    boxes: BoxSums
    starts: NDArray[np.intp]  # (n, n_free): points to start from
    rounding: NDArray[np.float64]  # (m,): rounding errors of the sums


class TreeSearch:
    """Finds the nearest rows for which a model of trees reaches a target.

    Parameters
    ----------
    problem : SearchProblem
        Known rows.
    margin : float
        Excess of the sums over their needs.

    Attributes
    ----------
    relative_gap : float
        Relative difference from the lower bound up to which a distance is the least.
    """

    relative_gap = SAME
    step_costs = 0.0

    def __init__(self, problem: SearchProblem, margin: float) -> None:
        outcome, rows = problem.outcome, problem.rows
        model = read_trees(outcome.estimator)
        ensemble = model.ensemble
        link, scale = model.link, model.link_scale
        if outcome.interval is not None:
            read = tree_response(outcome.response)
            ensemble = read.ensemble
            if read.additive:
                link, scale = "identity", 1.0
        returned = np.asarray(outcome.response.raw(rows.take([0]).native))
        is_single = returned.dtype == np.float32
        self.target = SumTarget.of_outcome(
            outcome,
            ensemble.n_outputs,
            link,
            scale,
            margin,
            precision=float(np.finfo(np.float32 if is_single else np.float64).eps),
            tied_class=model.tied_class,
        )
        self.cells = TreeCells(model, ensemble, problem)
        self.ensemble = ensemble
        codes = self.cells.codes(rows)
        self.known_cells = self.cells.row_cells(problem.values, codes)
        self.known_sums = ensemble.raw_of_codes(codes)
        self.rounding = _SINGLE_ROUNDING if is_single else _DOUBLE_ROUNDING
        terms = np.vstack([ensemble.value, ensemble.base]) * model.n_averaged
        # Whole numbers, such as votes, add up without rounding: equal sums get equal
        # answers.
        self.sums_are_exact = not is_single and np.allclose(
            terms, np.rint(terms), rtol=_LAST_BITS, atol=0
        )

    def nearest(
        self, problem: SearchProblem, row: int, goal: Goal
    ) -> tuple[NDArray[np.float64] | None, float]:
        """Encoded row or None, and a lower bound that is infinite if there is none."""
        systems = self._possible_systems(problem, row)
        end = monotonic() + goal.time_limit
        best, lower, holds = self._nearest_by_sums(problem, row, systems, goal, end)
        if best is None or holds:
            return best, lower
        # Rows whose sums are within rounding of the needs miss the target: a row that
        # reaches it beyond any rounding.
        space = _Space.of_row(self.cells, problem, row, _SINGLE_ROUNDING)
        alternatives = self._alternatives(space, systems, goal, sure=True)
        solved = _solve_alternatives(space, alternatives, goal, end)
        if solved.point is None:
            return None, lower
        values = space.row_at(solved.point)[None]
        return problem.projected(values, np.array([row]))[0], lower

    def _nearest_by_sums(
        self,
        problem: SearchProblem,
        row: int,
        systems: list[LinearSystem],
        goal: Goal,
        end: float,
    ) -> tuple[NDArray[np.float64] | None, float, bool]:
        """The nearest row or None, a lower bound, and whether it satisfies the target.

        The model is asked about rows whose sums are within rounding of their needs, the
        nearest first, for half of the time.
        """
        index, space = np.array([row]), _Space.of_row(self.cells, problem, row)
        alternatives = self._alternatives(space, systems, goal, sure=False)
        lower = 0.0
        while True:
            solved = _solve_alternatives(space, alternatives, goal, end)
            lower = max(lower, solved.lower_bound)
            if solved.point is None:
                return None, lower, False
            values = space.row_at(solved.point)[None]
            best = problem.projected(values, index)
            holds = problem.holds(best, index)[0]
            was_projected = not np.array_equal(best, values, equal_nan=True)
            if holds or was_projected or monotonic() > end - goal.time_limit / 2:
                holds = holds and problem.actionability.satisfies(best)[0]
                return best[0], lower, holds
            alternatives = [
                self._exclude_point(alternative, solved.point)
                for alternative in alternatives
            ]

    def _possible_systems(self, problem: SearchProblem, row: int) -> list[LinearSystem]:
        """The systems of `SumTarget` whose needs can be met."""
        systems = self.target.systems(
            0 if problem.classes is None else problem.classes[row]
        )
        return [system for system in systems if np.isfinite(system.needs).all()]

    def _exclude_point(
        self, alternative: _Alternative, point: NDArray[np.intp]
    ) -> _Alternative:
        """The alternative without a point at which the model misses the target."""
        boxes, rounding = alternative.boxes, alternative.rounding
        surplus = boxes.sums(point[None])[0] - boxes.needs
        if (surplus < 0).any():
            return alternative
        tied = surplus <= 2 * rounding
        if self.sums_are_exact and tied.any():
            # The model misses the target at all points of these sums.
            needs = boxes.needs + np.where(tied, 2 * rounding, 0)
            return alternative._replace(boxes=replace(boxes, needs=needs))
        return alternative._replace(boxes=boxes.exclude_boxes_at(point))

    def region(
        self, problem: SearchProblem, row: int, values: NDArray[np.float64], goal: Goal
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of a box around an encoded row in which all rows satisfy the target."""
        # Constraints would cut the cells of the trees.
        actionability, origin = problem.actionability, problem.values[row]
        free = problem.with_actionability(actionability.without_limits("constraints"))
        space = _Space.of_row(self.cells, free, row)
        native = problem.decode(values[None], np.array([row]))
        cells = self.cells.row_cells(values[None], self.cells.codes(as_rows(native)))[0]
        changed = values != origin
        point = np.where(cells < 0, [len(ends) for ends in self.cells.low], cells)
        first_cells = last_cells = point[space.free]
        widened = actionability.movable & self.cells.ordered & (cells >= 0)
        if goal.max_changes is not None:
            widened &= changed
        for system in self._possible_systems(problem, row):
            if not len(space.origin_cells):
                continue
            boxes, _ = self._box_sums(space, system, goal, sure=True)
            boxes = replace(boxes, costs=space.costs_of_other_cells())
            if (boxes.sums(first_cells[None])[0] < boxes.needs).any():
                continue
            for columns in (widened & changed, widened & ~changed):
                columns = np.flatnonzero(columns[space.free])
                first_cells, last_cells = boxes.widen_box(
                    first_cells, last_cells, columns
                )
            break
        low, high = values.copy(), values.copy()
        (lowest,), (highest,) = actionability.intervals(values[None], origin[None])
        ends = np.array([cells, cells])
        ends[:, space.free] = first_cells, last_cells
        for j in np.flatnonzero(widened).tolist():
            low[j] = min(low[j], max(self.cells.low[j][ends[0, j]], lowest[j]))
            high[j] = max(high[j], min(self.cells.high[j][ends[1, j]], highest[j]))
        return low, high

    def _alternatives(
        self, space: _Space, systems: list[LinearSystem], goal: Goal, *, sure: bool
    ) -> list[_Alternative]:
        """An `_Alternative` for each system; to be `sure`, sums exceed all rounding."""
        alternatives = []
        for system in systems:
            boxes, rounding = self._box_sums(space, system, goal, sure=sure)
            starts = self._nearest_known_cells(space, system, boxes)
            alternatives.append(_Alternative(boxes, starts, rounding))
        return alternatives

    def _box_sums(
        self, space: _Space, system: LinearSystem, goal: Goal, *, sure: bool
    ) -> tuple[BoxSums, NDArray[np.float64]]:
        """`BoxSums` of a system, and the rounding errors of its sums.

        The needs are lowered by these errors, or, to be `sure`, raised by a multiple.
        """
        values = self.ensemble.value[space.leaf] @ system.weights.T
        base = self.ensemble.base @ system.weights.T
        largest_sums = np.abs(values).max(axis=0, initial=0) * self.ensemble.n_trees
        rounding = self.rounding * (largest_sums + np.abs(base)) + system.rounding
        # Exact sums that are equal to their needs are not enough: these are raised.
        is_raised = ~system.allows_equality & self.sums_are_exact
        signs = np.where(is_raised, 1, -1)
        needs = system.needs - base + rounding * (_SURE_MULTIPLE if sure else signs)
        change_weights, change_limits = goal.limits(len(space.free))
        boxes = BoxSums(
            space.costs,
            space.origin_cells,
            space.tree,
            space.low,
            space.high,
            gains=values,
            needs=needs,
            change_weights=change_weights[:, space.free],
            change_limits=change_limits,
            constraints=space.constraints,
        )
        return boxes, rounding

    def _nearest_known_cells(
        self, space: _Space, system: LinearSystem, boxes: BoxSums
    ) -> NDArray[np.intp]:
        """Cells of the nearest known rows that satisfy the target."""
        reached = (self.known_sums @ system.weights.T >= system.needs).all(axis=1)
        cells = space.split_origin_cells(self.known_cells[reached][:, space.free])
        for j, cost in enumerate(space.costs):
            usable = np.append(np.isfinite(cost), False)
            cells[:, j] = np.where(
                usable[cells[:, j]], cells[:, j], space.origin_cells[j]
            )
        return cells[np.argsort(boxes.cost(cells), kind="stable")[:_N_STARTS]]


def _solve_alternatives(
    space: _Space, alternatives: list[_Alternative], goal: Goal, end: float
) -> Solution:
    """`Solution` of alternatives until a time; the smallest shortfall comes first."""

    def shortfall_at_origin(alternative: _Alternative) -> float:
        return alternative.boxes.shortfalls(space.origin_cells[None])[0]

    if not len(space.origin_cells):
        alternatives = []
    if len(alternatives) > 1:
        alternatives = sorted(alternatives, key=shortfall_at_origin)
    searched = [(boxes, starts) for boxes, starts, _ in alternatives]
    if goal.objective != "largest_change":
        return solve(searched, goal, end)
    return nearest_point(searched, end - monotonic() if goal.time_limit else 0.0)


@dataclass(frozen=True)
class _Space:
    """The cells of a row's free columns, those that may change, and the boxes left.

    The row's cell of a constrained column is cut in three, below, at and above its
    value. A row outside of all cells of a column has one more cell for its value.
    """

    origin: NDArray[np.float64]  # (n_columns,): the encoded row
    free: NDArray[np.bool_]  # (n_columns,)
    origin_cells: NDArray[np.intp]  # (n_free,)
    is_cut: NDArray[np.bool_]  # (n_free,): whether the row's cell is cut in three
    outside: NDArray[np.bool_]  # (n_free,): whether the row is outside of all cells
    columns: list[_Column]  # the cells of each free column
    tree: NDArray[np.intp]  # (n_boxes,)
    leaf: NDArray[np.intp]  # (n_boxes,)
    low: NDArray[np.intp]  # (n_boxes, n_free): first and
    high: NDArray[np.intp]  # last cells of the boxes
    scale: NDArray[np.float64]  # (n_free,): factors from values to units of constraints
    constraints: CellConstraints | None
    grid: DecimalGrid

    @classmethod
    def of_row(
        cls,
        cells: TreeCells,
        problem: SearchProblem,
        row: int,
        safety_margin: float = 0.0,
    ) -> _Space:
        """The space around an explained row.

        Constraints are tightened by a margin, relative to the size of their terms.
        """
        origin, actionability = problem.values[row], problem.actionability
        codes = cells.codes(problem.rows.take([row]))
        origin_cells = cells.row_cells(origin[None], codes)[0]
        (low,), (high,) = actionability.permitted_limits(origin[None])
        constrained = actionability.coefficients.any(axis=0)
        far = _far_limits(cells, actionability, origin)
        low, high = np.clip(low, -far, far), np.clip(high, -far, far)
        by_column = {}
        # A missing number satisfies no constraint.
        must_change = constrained & np.isnan(origin)
        for j in np.flatnonzero((low <= high) | must_change).tolist():
            column = _make_column(
                cells, actionability, j, origin[j], origin_cells[j], low[j], high[j]
            )
            if must_change[j] or np.isfinite(column.costs).sum() > 1:
                by_column[j] = column
        free = np.isin(np.arange(len(origin_cells)), list(by_column))
        outside = free & (origin_cells < 0)
        tree, leaf, first_cells, last_cells = cells.reachable_boxes(
            codes[0], ~free, outside
        )
        origin_cells = np.where(
            outside, [len(ends) for ends in cells.low], origin_cells
        )
        origin_cells, is_cut = origin_cells[free], (constrained & ~outside)[free]
        columns = list(by_column.values())
        steps, stepped = actionability.grid.steps, actionability.stepped
        scale = np.where(stepped, 1 / np.where(stepped, steps, 1), actionability.costs)
        scale = scale[free]
        return cls(
            origin=origin,
            free=free,
            origin_cells=origin_cells + is_cut,
            is_cut=is_cut,
            outside=outside[free],
            columns=columns,
            tree=tree,
            leaf=leaf,
            low=first_cells + 2 * (is_cut & (first_cells > origin_cells)),
            high=last_cells + 2 * (is_cut & (last_cells >= origin_cells)),
            scale=scale,
            constraints=_cell_constraints(
                actionability, origin, free, columns, scale, safety_margin
            ),
            grid=actionability.grid,
        )

    @property
    def costs(self) -> list[NDArray[np.float64]]:
        """Costs of the cells of each column."""
        return [column.costs for column in self.columns]

    def costs_of_other_cells(self) -> list[NDArray[np.float64]]:
        """Costs of the cells, infinite for the row's value outside of all cells."""
        costs = [cost.copy() for cost in self.costs]
        for k in np.flatnonzero(self.outside):
            costs[k][-1] = np.inf
        return costs

    def split_origin_cells(self, cells: NDArray[np.intp]) -> NDArray[np.intp]:
        """Cells of trees (n, n_free) as cells of the space.

        The row's cell, where it is cut in three, becomes the middle one.
        """
        uncut = self.origin_cells - self.is_cut
        return cells + self.is_cut * ((cells >= uncut) * 1 + (cells > uncut))

    def row_at(self, point: NDArray[np.intp]) -> NDArray[np.float64]:
        """The encoded row of a point."""
        cells = list(zip(self.columns, point, strict=True))
        nearest = np.array([column.nearest[cell] for column, cell in cells])
        constraints = self.constraints
        shifts = None if constraints is None else constraints.shifts(point)[0]
        if constraints is not None and shifts is not None:
            at = constraints.columns
            nearest[at] += shifts / self.scale[at]
            shifted = self.origin.copy()
            shifted[self.free] = nearest
            on_grid = self.grid.nearest(shifted)[self.free]
            nearest = np.where(point == self.origin_cells, nearest, on_grid)
            low = np.array([column.low[cell] for column, cell in cells])
            high = np.array([column.high[cell] for column, cell in cells])
            nearest[at] = np.clip(nearest[at], low[at], high[at])
            nearest[at] = self._move_back(constraints, point, nearest)[at]
        values = self.origin.copy()
        values[self.free] = nearest
        return values

    def _move_back(
        self,
        constraints: CellConstraints,
        point: NDArray[np.intp],
        values: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Values (n_free,) moved back to the row where the constraints allow it."""
        values, origin = values.copy(), self.origin[self.free]
        changes = np.abs(values - origin)
        # Only a value next to that of the row, in the same cell of the trees, can be.
        changes[(np.abs(point - self.origin_cells) > 1) | ~self.is_cut] = 0
        smallest_first = np.argsort(changes)[np.count_nonzero(changes == 0) :]
        for j in smallest_first:
            trial = np.where(np.arange(len(values)) == j, origin, values)
            if constraints.satisfied_by(trial * self.scale):
                values = trial
        return values


@dataclass(frozen=True)
class _Column:
    """Cells of a column."""

    costs: NDArray[np.float64]  # infinite for cells that may not be entered
    nearest: NDArray[np.float64]  # the value of each cell nearest to the row's
    low: NDArray[np.float64]  # lowest and
    high: NDArray[np.float64]  # highest value of each cell


def _make_column(
    cells: TreeCells,
    actionability: Actionability,
    j: int,
    origin: float,
    cell: int,
    lowest: float,
    highest: float,
) -> _Column:
    """The cells of a column, for a row's value `origin` in a `cell`; see `_Space`.

    Values are permitted from `lowest` to `highest`.
    """
    grid, low, high = actionability.grid, cells.low[j], cells.high[j]
    refused = np.any(cells.cell_codes[j] < 0, axis=1)
    is_constrained = actionability.coefficients[:, j].any()
    if cell < 0:
        cell = len(low)
        low, high = np.append(low, 0.0), np.append(high, 0.0)
        refused = np.append(refused, False)
    elif is_constrained:
        low, high = (np.insert(ends, cell, [ends[cell]] * 2) for ends in (low, high))
        refused = np.insert(refused, cell, [refused[cell]] * 2)
        high[cell] = min(high[cell], np.nextafter(origin, -np.inf))
        low[cell + 2] = max(low[cell + 2], np.nextafter(origin, np.inf))
        cell += 1
    low, high = np.maximum(low, lowest), np.minimum(high, highest)
    low, high = grid.up(low, j), grid.down(high, j)
    if actionability.categorical[j]:
        costs = np.ones(len(low))
        possible = np.asarray(actionability.possible_levels[j])
        costs[: len(possible)][~possible] = np.inf
        nearest = low
    elif np.isnan(origin):
        costs = np.full(len(low), actionability.filling[j])
        nearest = np.clip(grid.nearest(actionability.medians[j], j), low, high)
    else:
        nearest = np.clip(grid.nearest(origin, j), low, high)
        costs = np.abs(nearest - origin)
    costs = np.where((low <= high) & ~refused, costs * actionability.costs[j], np.inf)
    nearest = np.where(np.isfinite(costs), nearest, np.nan_to_num(origin))
    if is_constrained and np.isnan(origin):
        costs[cell], nearest[cell], low[cell], high[cell] = np.inf, 0, 0, 0
    else:
        costs[cell], nearest[cell], low[cell], high[cell] = 0, origin, origin, origin
    return _Column(costs, nearest, low, high)


def _far_limits(
    cells: TreeCells, actionability: Actionability, origin: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Limits of numbers (n_columns,); infinite for columns without constraints.

    A multiple of the largest number that offsets all other terms of a constraint.
    """
    coefficients = np.abs(actionability.coefficients)
    far = np.full(len(origin), np.inf)
    constrained = np.flatnonzero(coefficients.any(axis=0))
    largest_numbers = np.zeros(len(origin))
    for j in constrained.tolist():
        ends = np.abs(np.concatenate([cells.low[j], cells.high[j], [origin[j]]]))
        largest_numbers[j] = ends[np.isfinite(ends)].max(initial=0)
    needs = coefficients @ largest_numbers + np.abs(actionability.bounds)
    for j in constrained.tolist():
        column = coefficients[:, j]
        offsets = needs[column > 0] / column[column > 0]
        far[j] = largest_numbers[j] + _FAR_MULTIPLE * offsets.max()
    return far


def _cell_constraints(
    actionability: Actionability,
    origin: NDArray[np.float64],
    free: NDArray[np.bool_],
    columns: list[_Column],
    scale: NDArray[np.float64],
    safety_margin: float,
) -> CellConstraints | None:
    """Linear constraints on the free columns, in units of their costs; None if none."""
    if not len(actionability.bounds):
        return None
    terms = actionability.excess(np.nan_to_num(origin)[None])[1][0]
    fixed = np.where(free, 0, actionability.coefficients) @ np.nan_to_num(origin)
    bounds = actionability.bounds - fixed + (_ROUNDING - safety_margin) * terms
    coefficients = actionability.coefficients[:, free] / scale
    used = np.flatnonzero(coefficients.any(axis=0))
    scales = np.abs(coefficients).max(axis=1, initial=0)
    scales[scales == 0] = 1
    # Changes of missing numbers cost the same to any value.
    costs = np.where(np.isnan(origin), 0, actionability.costs)[free][used]
    return CellConstraints(
        columns=used,
        coefficients=coefficients[:, used] / scales[:, None],
        bounds=bounds / scales,
        nearest=[columns[k].nearest * scale[k] for k in used.tolist()],
        low=[columns[k].low * scale[k] for k in used.tolist()],
        high=[columns[k].high * scale[k] for k in used.tolist()],
        costs=costs / scale[used],
        is_integer=actionability.stepped[free][used],
    )

"""The nearest rows for which models of trees reach a target."""

from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from sklearn_interpret._core.search.boxes import BoxSums, CellValues
from sklearn_interpret._core.search.decimal_grids import DecimalGrid
from sklearn_interpret._core.search.programs import solve
from sklearn_interpret._core.search.sup_norm import nearest_point
from sklearn_interpret._model.actions.target import SAME, SumTarget
from sklearn_interpret._model.formulas.trees.cells import TreeCells
from sklearn_interpret._model.formulas.trees.tree_response import (
    read_trees,
    tree_response,
)
from sklearn_interpret._model.rows.arrays import as_rows

# Relative rounding error of sums, of models that add up in double or single precision.
_DOUBLE, _SINGLE = 1e-10, 1e-6
# Largest excess over constraints, relative to the size of their terms.
_ROUNDING = 1e-13
# Relative rounding error of a share times their number.
_LAST_BITS = 1e-15
# Multiple of the rounding error by which sums must exceed needs to be sure.
_SURELY = 100
# Limit of numbers, in multiples of the value that offsets all others of a constraint.
_FAR = 100
# Number of the nearest known rows with the target outcome that searches start from.
_NEAREST = 64


class TreeSearch:
    """Finds the nearest rows for which a model of trees reaches a target.

    Parameters
    ----------
    known : SearchProblem
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

    def __init__(self, known, margin):
        outcome, rows = known.outcome, known.rows
        model = read_trees(outcome.estimator)
        ensemble = model.ensemble
        link, scale = model.link, model.link_scale
        if outcome.interval is not None:
            read = tree_response(outcome.response)
            ensemble = read.ensemble
            if read.additive:
                link, scale = "identity", 1.0
        returned = np.asarray(outcome.response.raw(rows.take([0]).native))
        single = returned.dtype == np.float32
        self.target = SumTarget.of_outcome(
            outcome,
            ensemble.n_outputs,
            link,
            scale,
            margin,
            precision=np.finfo(np.float32 if single else np.float64).eps,
            tied_class=model.tied_class,
        )
        self.cells = TreeCells(model, ensemble, known)
        self.ensemble = ensemble
        codes = self.cells.codes(rows)
        self.known = self.cells.own_cells(known.values, codes)
        self.known_sums = ensemble.raw_of_codes(codes)
        self.tolerance = _SINGLE if single else _DOUBLE
        terms = np.vstack([ensemble.value, ensemble.base]) * model.n_averaged
        # Whole numbers add up without rounding: equal sums get the same answer.
        self.sums_are_exact = not single and np.allclose(
            terms, np.rint(terms), rtol=_LAST_BITS, atol=0
        )

    def found(self, problem, row, goal):
        """Encoded row or None, and a lower bound that is infinite if there is none."""
        ways = self._possible_ways(problem, row)
        end = monotonic() + goal.time_limit
        best, lower, holds = self._nearest(problem, row, ways, goal, end)
        if best is None or holds:
            return best, lower
        space = _Space.of_row(self.cells, problem, row, _SINGLE)
        searched = [self._searched(space, way, goal, sure=True) for way in ways]
        solved = _solved(space, searched, goal, end)
        if solved.point is None:
            return None, lower
        values = space.row_at(solved.point)[None]
        return problem.projected(values, [row])[0], lower

    def _nearest(self, problem, row, ways, goal, end):
        """The nearest row or None, a lower bound, and whether it satisfies the target.

        The model is asked about rows whose sums are within rounding of their needs, the
        nearest first, for half of the time.
        """
        index, space = np.array([row]), _Space.of_row(self.cells, problem, row)
        searched = [self._searched(space, way, goal) for way in ways]
        lower = 0.0
        while True:
            solved = _solved(space, searched, goal, end)
            lower = max(lower, solved.lower_bound)
            if solved.point is None:
                return None, lower, False
            values = space.row_at(solved.point)[None]
            best = problem.projected(values, index)
            holds = problem.holds(best, index)[0]
            moved = not np.array_equal(best, values, equal_nan=True)
            if holds or moved or monotonic() > end - goal.time_limit / 2:
                holds = holds and problem.actionability.keeps(best)[0]
                return best[0], lower, holds
            searched = [
                (self._without(boxes, doubt, solved.point), starts, doubt)
                for boxes, starts, doubt in searched
            ]

    def _possible_ways(self, problem, row):
        """Ways in which the target can be reached, as of `SumTarget`."""
        ways = self.target.ways(problem.own_of(row))
        return [way for way in ways if np.isfinite(way[1]).all()]

    def _without(self, boxes, doubt, point):
        """The sums without a point at which the model misses the target."""
        spare = boxes.sums(point[None])[0] - boxes.needs
        if (spare < 0).any():
            return boxes
        tied = spare <= 2 * doubt
        if self.sums_are_exact and tied.any():
            return replace(boxes, needs=boxes.needs + np.where(tied, 2 * doubt, 0))
        return boxes.without(point)

    def region(self, problem, row, values, goal):
        """Ends of a box around an encoded row in which all rows satisfy the target."""
        # Constraints would cut the cells of the trees.
        actionability, origin = problem.actionability, problem.values[row]
        free = problem.under(actionability.without("constraints"))
        space = _Space.of_row(self.cells, free, row)
        native = problem.decode(values[None], np.array([row]))
        cells = self.cells.own_cells(values[None], self.cells.codes(as_rows(native)))[0]
        changed = values != origin
        first = np.where(cells < 0, [len(ends) for ends in self.cells.low], cells)
        first = last = first[space.free]
        wide = actionability.moving & self.cells.ordered & (cells >= 0)
        if goal.max_changes is not None:
            wide &= changed
        for way in self._possible_ways(problem, row):
            if not len(space.own):
                continue
            boxes, _ = self._boxes(space, way, goal, sure=True)
            boxes = replace(boxes, costs=space.costs_of_cells())
            if (boxes.sums(first[None])[0] < boxes.needs).any():
                continue
            for columns in (wide & changed, wide & ~changed):
                columns = np.flatnonzero(columns[space.free])
                first, last = boxes.widened(first, last, columns)
            break
        low, high = values.copy(), values.copy()
        (least,), (most,) = actionability.rooms(values[None], origin[None])
        cells = np.array([cells, cells])
        cells[:, space.free] = first, last
        for j in np.flatnonzero(wide).tolist():
            low[j] = min(low[j], max(self.cells.low[j][cells[0, j]], least[j]))
            high[j] = max(high[j], min(self.cells.high[j][cells[1, j]], most[j]))
        return low, high

    def _searched(self, space, way, goal, *, sure=False):
        """`BoxSums` of a way, points to start from, and the doubt about its sums."""
        boxes, doubt = self._boxes(space, way, goal, sure=sure)
        return boxes, self._starts(space, way, boxes), doubt

    def _boxes(self, space, way, goal, *, sure):
        """`BoxSums` of a way, and the rounding errors of its sums.

        The needs are lowered by these, or raised by many times as much to be `sure`.
        """
        weights, needs, equal, rounding = way
        values = self.ensemble.value[space.leaf] @ weights.T
        base = self.ensemble.base @ weights.T
        size = np.abs(values).max(axis=0, initial=0) * self.ensemble.n_trees
        doubt = self.tolerance * (size + np.abs(base)) + rounding
        raised = ~equal if self.sums_are_exact else np.zeros_like(equal)
        signs = np.where(raised, 1, -1)
        needs = needs - base + doubt * (_SURELY if sure else signs)
        change_weights, most_changed = goal.limits(len(space.free))
        boxes = BoxSums(
            space.costs,
            space.own,
            space.tree,
            space.low,
            space.high,
            values,
            needs,
            change_weights[:, space.free],
            most_changed,
            space.within,
        )
        return boxes, doubt

    def _starts(self, space, way, boxes):
        """Cells of the nearest known rows that satisfy the target."""
        weights, needs, *_ = way
        reached = (self.known_sums @ weights.T >= needs).all(axis=1)
        cells = space.split(self.known[reached][:, space.free])
        for j, cost in enumerate(space.costs):
            usable = np.append(np.isfinite(cost), False)
            cells[:, j] = np.where(usable[cells[:, j]], cells[:, j], space.own[j])
        return cells[np.argsort(boxes.cost(cells), kind="stable")[:_NEAREST]]


def _solved(space, searched, goal, end):
    """`Solved` of some ways until a time; those that lack least come first."""
    ways = []
    if len(space.own):
        own = space.own[None]
        if len(searched) > 1:
            searched = sorted(searched, key=lambda way: way[0].missing(own)[0])
        ways = [(boxes, starts) for boxes, starts, _ in searched]
    if goal.objective != "largest_change":
        return solve(ways, goal, end)
    return nearest_point(ways, end - monotonic() if goal.time_limit else 0.0)


@dataclass(frozen=True)
class _Space:
    """The cells of a row's free columns, and the boxes left there."""

    origin: np.ndarray
    free: np.ndarray
    own: np.ndarray
    in_three: np.ndarray
    outside: np.ndarray
    columns: list
    tree: np.ndarray
    leaf: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    within: CellValues | None
    grid: DecimalGrid

    @classmethod
    def of_row(cls, cells, problem, row, spare=0.0):
        """The space around an explained row.

        `spare` is the slack of constraints, relative to the size of their terms.
        """
        origin, actionability = problem.values[row], problem.actionability
        codes = cells.codes(problem.rows.take([row]))
        own = cells.own_cells(origin[None], codes)[0]
        (low,), (high,) = actionability.permitted(origin[None])
        limited = actionability.coefficients.any(axis=0)
        far = _far(cells, actionability, origin)
        low, high = np.clip(low, -far, far), np.clip(high, -far, far)
        columns = {}
        # A missing number satisfies no constraint.
        must_change = limited & np.isnan(origin)
        for j in np.flatnonzero((low <= high) | must_change).tolist():
            column = _column(
                cells, actionability, j, origin[j], own[j], low[j], high[j]
            )
            if must_change[j] or np.isfinite(column.costs).sum() > 1:
                columns[j] = column
        free = np.isin(np.arange(len(own)), list(columns))
        outside = free & (own < 0)
        tree, leaf, first, last = cells.boxes_of(codes[0], ~free, outside)
        own = np.where(outside, [len(ends) for ends in cells.low], own)
        own, in_three = own[free], (limited & ~outside)[free]
        outside, columns = outside[free], list(columns.values())
        steps, stepped = actionability.grid.steps, actionability.stepped
        scale = np.where(stepped, 1 / np.where(stepped, steps, 1), actionability.costs)
        scale = scale[free]
        return cls(
            origin,
            free,
            own + in_three,
            in_three,
            outside,
            columns,
            tree,
            leaf,
            first + 2 * (in_three & (first > own)),
            last + 2 * (in_three & (last >= own)),
            scale,
            _within(actionability, origin, free, columns, scale, spare),
            actionability.grid,
        )

    @property
    def costs(self):
        """Costs of the cells of each column."""
        return [column.costs for column in self.columns]

    def costs_of_cells(self):
        """Costs of the cells, infinite for own values outside of all others."""
        costs = [cost.copy() for cost in self.costs]
        for k in np.flatnonzero(self.outside):
            costs[k][-1] = np.inf
        return costs

    def split(self, cells):
        """Cells of trees (n, p) as cells of the space, with own cells cut in three."""
        own = self.own - self.in_three
        return cells + self.in_three * ((cells >= own) * 1 + (cells > own))

    def row_at(self, point):
        """The encoded row of a point."""
        near, low, high = (
            np.array(
                [
                    getattr(column, part)[cell]
                    for column, cell in zip(self.columns, point, strict=True)
                ]
            )
            for part in ("nearest", "low", "high")
        )
        if self.within is not None:
            at = self.within.columns
            near[at] += self.within.shifts(point)[0] / self.scale[at]
            moved = self.origin.copy()
            moved[self.free] = near
            near = np.where(
                point == self.own, near, self.grid.nearest(moved)[self.free]
            )
            near[at] = np.clip(near[at], low[at], high[at])
            near[at] = self._returned(point, near)[at]
        values = self.origin.copy()
        values[self.free] = near
        return values

    def _returned(self, point, values):
        """Values moved back to their origins where the constraints allow it."""
        values, origin = values.copy(), self.origin[self.free]
        moves = np.abs(values - origin)
        moves[(np.abs(point - self.own) > 1) | ~self.in_three] = 0
        for j in np.argsort(moves)[np.count_nonzero(moves == 0) :]:
            tried = np.where(np.arange(len(values)) == j, origin, values)
            if self.within.satisfied_by(tried * self.scale):
                values = tried
        return values


@dataclass(frozen=True)
class _Column:
    """Cells of a column: costs, nearest values, and ends."""

    costs: np.ndarray
    nearest: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _column(cells, actionability, j, origin, own, least, most):
    """The cells of a column; where it is constrained, the own one is cut in three.

    An own value outside of all cells has a last cell for itself.
    """
    grid, low, high = actionability.grid, cells.low[j], cells.high[j]
    refused = (cells.cell_codes[j] < 0).any(axis=1)
    limited = actionability.coefficients[:, j].any()
    if own < 0:
        own = len(low)
        low, high = np.append(low, 0.0), np.append(high, 0.0)
        refused = np.append(refused, False)
    elif limited:
        low, high, refused = (
            np.insert(part, own, [part[own]] * 2) for part in (low, high, refused)
        )
        high[own] = min(high[own], np.nextafter(origin, -np.inf))
        low[own + 2] = max(low[own + 2], np.nextafter(origin, np.inf))
        own += 1
    low, high = np.maximum(low, least), np.minimum(high, most)
    low, high = grid.up(low, j), grid.down(high, j)
    if actionability.categorical[j]:
        costs = np.ones(len(low))
        costs[: len(actionability.possible_levels[j])][
            ~actionability.possible_levels[j]
        ] = np.inf
        nearest = low
    elif np.isnan(origin):
        costs = np.full(len(low), actionability.filling[j])
        nearest = np.clip(grid.nearest(actionability.medians[j], j), low, high)
    else:
        nearest = np.clip(grid.nearest(origin, j), low, high)
        costs = np.abs(nearest - origin)
    costs = np.where((low <= high) & ~refused, costs * actionability.costs[j], np.inf)
    nearest = np.where(np.isfinite(costs), nearest, np.nan_to_num(origin))
    if limited and np.isnan(origin):
        costs[own], nearest[own], low[own], high[own] = np.inf, 0, 0, 0
    else:
        costs[own], nearest[own], low[own], high[own] = 0, origin, origin, origin
    return _Column(costs, nearest, low, high)


def _far(cells, actionability, origin):
    """Limits of numbers, from the values that offset all others of a constraint."""
    coefficients = np.abs(actionability.coefficients)
    far = np.full(len(origin), np.inf)
    used = np.flatnonzero(coefficients.any(axis=0))
    sizes = np.zeros(len(origin))
    for j in used.tolist():
        ends = np.abs(np.concatenate([cells.low[j], cells.high[j], [origin[j]]]))
        sizes[j] = ends[np.isfinite(ends)].max(initial=0)
    needs = coefficients @ sizes + np.abs(actionability.bounds)
    for j in used.tolist():
        of_column = coefficients[:, j]
        far[j] = (
            sizes[j] + _FAR * (needs[of_column > 0] / of_column[of_column > 0]).max()
        )
    return far


def _within(actionability, origin, free, columns, scale, spare):
    """Linear constraints on the free columns, in units of their costs; None if none."""
    if not len(actionability.bounds):
        return None
    terms = actionability.excess(np.nan_to_num(origin)[None])[1][0]
    fixed = np.where(free, 0, actionability.coefficients) @ np.nan_to_num(origin)
    bounds = actionability.bounds - fixed + (_ROUNDING - spare) * terms
    coefficients = actionability.coefficients[:, free] / scale
    used = np.flatnonzero(coefficients.any(axis=0))
    sizes = np.abs(coefficients).max(axis=1, initial=0)
    sizes[sizes == 0] = 1
    nearest, low, high = (
        [getattr(columns[k], part) * scale[k] for k in used.tolist()]
        for part in ("nearest", "low", "high")
    )
    return CellValues(
        used,
        coefficients[:, used] / sizes[:, None],
        bounds / sizes,
        nearest,
        low,
        high,
        np.where(np.isnan(origin), 0, actionability.costs)[free][used] / scale[used],
        actionability.stepped[free][used],
    )

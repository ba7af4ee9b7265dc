"""The nearest rows for which linear models reach a target.

`ColumnEffects` reads what columns add to the linear functions of a model.
`LinearSearch` finds the cheapest moves of columns by which the functions meet the
target, by linear and integer programs, and rounds them to values that rows may take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sklearn_interpret._core.search.linear_program import (
    Moves,
    UnsolvedError,
    share_slack,
)
from sklearn_interpret._core.search.programs import GAP
from sklearn_interpret._model.actions.target import SAME, SumTarget
from sklearn_interpret._model.formulas.linear import (
    READABLE,
    explained_linear,
    read_linear,
)
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn_interpret._core.search.programs import Goal
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.problem import SearchProblem
    from sklearn_interpret._model.responses.response import Response

# Number of rows of `fit` at which the linear function is compared with sums of effects:
# a model that is not linear differs at nearly every row.
_COMPARED_ROWS = 50
# Number of rows at which probabilities are compared with the logistic function.
_COMPARED_PROBABILITIES = 20
# Relative difference from a sum of effects above which a model is not linear; bounds of
# rounding errors are added to it.
_TOLERANCE = 1e-7
_DOUBLE = np.finfo(np.float64).eps
# Largest excess over constraints, relative to the size of their terms: the rounding
# error of a sum of about 1000 doubles.
_ROUNDING = 1e-13
# Columns with more steps in their range than this move as real numbers, and are rounded
# then: integer programs of them would be large. Chosen by hand.
_MOST_STEPS = 1000
# In `_Move.after`: the move can be made first.
_NO_MOVE = -1


class _SafetyMargin(NamedTuple):
    """Excess over a need that makes up for errors: the largest of three numbers."""

    errors: float = 0.0  # multiple of the rounding error
    need: float = 0.0  # share of the need
    gain: float = 0.0  # share of the largest gain, for the tolerance of solvers


# In the order of trial. They grow, in case the model still misses the target, then
# shrink, in case they leave no room. Chosen by hand.
_SAFETY_MARGINS = (
    _SafetyMargin(errors=2),
    _SafetyMargin(errors=4, need=1e-9),
    _SafetyMargin(errors=256, need=1e-7),
    _SafetyMargin(errors=2, gain=2e-6),
    _SafetyMargin(errors=0.25),
    _SafetyMargin(),
)


class _ColumnEffect(NamedTuple):
    """The effect of a column on k linear functions."""

    slopes: NDArray[np.float64] | None  # of numbers, (k,)
    levels: NDArray[np.float64] | None  # of categories: value at each, (n_levels, k)
    # Per unit of a number, or of the value at a level, (k,).
    errors: NDArray[np.float64]


class _Move(NamedTuple):
    """A move of one column of a row."""

    column: int
    target: float  # the value that the column enters, or the signed length of a unit
    most: float = 1.0  # number of units
    after: int = _NO_MOVE  # position of the move that has to be made before
    enters: bool = True  # whether the column enters a value, which excludes others


class _RowMoves(NamedTuple):
    """The moves of a row."""

    moves: Moves  # with the gains of k linear functions
    targets: NDArray[np.float64]  # as in `_Move`, (n_moves,)
    errors: NDArray[np.float64]  # of the gains, (n_moves, k)


class _System(NamedTuple):
    """Inequalities of functions and of constraints, by which a row is on target."""

    relaxed: Moves  # with the largest gains that errors allow
    nominal: Moves  # with the gains
    needs: NDArray[np.float64]  # of functions, of constraints, of numbers to be filled
    error_bounds: NDArray[np.float64]  # of the needs
    n_functions: int


class _Cost(NamedTuple):
    """Cost of a row, or a bound of the cost, ordered by changes where they count."""

    n_changed: float
    distance: float


def precision(actionability: Actionability) -> float:
    """Largest machine epsilon of the columns of numbers."""
    numbers = np.flatnonzero(~actionability.categorical)
    dtypes = {actionability.dtypes[j] for j in numbers}
    return float(
        max((np.finfo(d).eps for d in dtypes if d.kind == "f"), default=_DOUBLE)
    )


class ColumnEffects:
    """Slopes of numbers and values at levels, of a linear model of encoded columns.

    Parameters
    ----------
    fit_problem : SearchProblem
        The rows of `fit`.

    Attributes
    ----------
    slopes, levels : list of ndarray or None
        Slope of each of the k linear functions, (k,), by column of numbers; values of
        the functions at each level, (n_levels, k), by column of categories.
    errors : ndarray of shape (n_columns, k)
        Error bounds per unit of a number, or of the value at a level.
    precision : float
        Largest machine epsilon of the columns.
    rounding : float
        Bound of the relative error of a sum of the model.

    Raises
    ------
    UnreadableModelError
        If the model is not linear in the columns.
    """

    def __init__(self, fit_problem: SearchProblem) -> None:
        rows = fit_problem.rows
        # Refuses pairs of classes that vote: a linear score does not decide there.
        explained_linear(fit_problem.outcome.estimator).check(rows)
        self.model = read_linear(fit_problem.outcome.estimator)
        self._fit_problem, self._values = fit_problem, fit_problem.values
        self._complete = np.flatnonzero(~np.isnan(self._values).any(axis=1))
        if not len(self._complete):
            raise UnreadableModelError("every row of X has missing values.")
        self.precision = precision(fit_problem.actionability)
        # Errors of n terms added one by one grow like n / 2; a term has two more.
        self.rounding = (len(self.model.columns) / 2 + 2) * self.precision
        derived = self.model.derived_columns(rows.take(self._complete[:1]).native)
        self._size = self._term_sizes(derived)[0]
        effects = [self._read_effect(j) for j in range(rows.n_columns)]
        self.slopes: list[Any] = [effect.slopes for effect in effects]
        self.levels: list[Any] = [effect.levels for effect in effects]
        errors = [effect.errors for effect in effects]
        self.errors = np.array(errors).reshape(rows.n_columns, -1)
        zero = np.zeros(len(self._size))
        slopes = [zero if slope is None else np.abs(slope) for slope in self.slopes]
        self._absolute_slopes = np.array(slopes)
        self._check_is_linear()

    def target(self, margin: float = 0.0) -> SumTarget:
        """The `SumTarget` of the linear functions."""
        outcome = self._fit_problem.outcome
        link: str | None = "exp" if self.model.exponential else "identity"
        if (
            outcome.interval is not None
            and outcome.response.method != self.model.method
        ):
            link = self._link_of_probability(outcome.response)
        n_sums, precision = len(self.model.intercept), self.precision
        return SumTarget.of_outcome(
            outcome, n_sums, link, 1.0, margin, precision=precision
        )

    def _link_of_probability(self, response: Response) -> str | None:
        """ "logistic" if probabilities are the expit of one function, else None."""
        rows = self._fit_problem.rows
        n_compared = min(rows.n_rows, _COMPARED_PROBABILITIES)
        first_rows = rows.take(np.arange(n_compared)).native
        margins = self.margins(first_rows)
        if margins.shape[1] != 1:
            return None
        probabilities = expit(-margins if response.target == 0 else margins)
        is_logistic = np.allclose(probabilities, response(first_rows))
        return "logistic" if is_logistic else None

    def margins(self, native: Any) -> NDArray[np.float64]:
        """The linear functions of rows in the model's container, (n_rows, k)."""
        return self.model.margin(self.model.derived_columns(native))

    def margins_and_errors(
        self, native: Any, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Linear functions of rows, and bounds of their rounding errors, (n, k)."""
        derived = self.model.derived_columns(native)
        term_sizes = self._term_sizes(derived)
        if self.model.steps:  # numbers before the pipeline's steps round too
            term_sizes += np.abs(np.nan_to_num(values)) @ self._absolute_slopes
        return self.model.margin(derived), self.rounding * term_sizes

    def _term_sizes(self, derived: Any) -> NDArray[np.float64]:
        """Sizes of the terms that the functions are sums of, (n_rows, k)."""
        terms = abs(derived) @ np.abs(self.model.coefficients)
        return terms + np.abs(self.model.intercept)

    def _read_effect(self, j: int) -> _ColumnEffect:
        """The effect of a column, from rows that differ in it alone."""
        rounding = self.rounding * _DOUBLE / self.precision * self._size
        actionability = self._fit_problem.actionability
        if actionability.categorical[j]:
            seen = np.flatnonzero(actionability.seen_levels[j])
            levels = np.full((len(actionability.levels[j]), len(self._size)), np.nan)
            levels[seen] = self._margins_at(j, seen.astype(np.float64))
            return _ColumnEffect(None, levels, rounding)
        observed = self._values[self._complete, j]
        low, high = observed.min(), observed.max()
        if low == high:
            # Any other whole number of about the same size.
            high = low + 1 if abs(low) < 2 else np.rint(low / 2)
        below, above = self._margins_at(j, np.array([low, high]))
        slopes = (above - below) / (high - low)
        size = 4 * self.precision * np.abs(slopes) * max(abs(low), abs(high))
        errors = (size + rounding) / abs(high - low)
        errors += self.rounding * np.abs(slopes)
        return _ColumnEffect(slopes, None, np.where(slopes == 0, 0.0, errors))

    def _margins_at(self, j: int, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """The functions at a row of `fit` with other values of a column."""
        base_row = self._complete[:1]
        values = np.repeat(self._values[base_row], len(column), axis=0)
        values[:, j] = column
        index = np.repeat(base_row, len(column))
        return self.margins(self._fit_problem.decode(values, index))

    def _check_is_linear(self) -> None:
        """Raise if the functions at rows of `fit` are not the sums of their effects."""
        sampled = self._complete[:: max(1, len(self._complete) // _COMPARED_ROWS)]
        rows = self._fit_problem.rows
        native = rows.take(sampled).native
        expected, error_bounds = self.margins_and_errors(native, self._values[sampled])
        base_row = self._complete[0]
        sums = np.repeat(self.margins(rows.take([base_row]).native), len(sampled), 0)
        size = np.abs(sums) + np.abs(expected)
        for j, (slope, levels) in enumerate(zip(self.slopes, self.levels, strict=True)):
            values, start = self._values[sampled, j], self._values[base_row, j]
            if levels is None:
                change = (values - start)[:, None] * slope
            else:
                change = levels[values.astype(int)] - levels[int(start)]
            sums += change
            size += np.abs(change)
        if (np.abs(sums - expected) > _TOLERANCE * (1 + size) + error_bounds).any():
            raise UnreadableModelError(
                "the model is not a sum of one linear effect for each column. What can "
                f"be read: {READABLE}."
            )


class LinearSearch:
    """Finds the nearest rows for which a linear model reaches a target.

    Parameters
    ----------
    fit_problem : SearchProblem
        The rows of `fit`.
    margin : float
        Amount by which the linear functions must exceed the target's limits.

    Attributes
    ----------
    relative_gap : float
        A distance within this relative gap of its lower bound counts as optimal.
    """

    def __init__(self, fit_problem: SearchProblem, margin: float) -> None:
        self.effects = ColumnEffects(fit_problem)
        self.target = self.effects.target(margin)
        self.relative_gap = max(SAME, np.sqrt(self.effects.precision))
        actionability = fit_problem.actionability
        steps = actionability.grid.steps
        with np.errstate(invalid="ignore"):
            ranges = np.diff(actionability.observed, axis=0)[0]
        integer = actionability.integer | (ranges <= _MOST_STEPS * steps)
        self._units = np.where(actionability.stepped & integer, steps, 0.0)
        fine = actionability.stepped & (self._units == 0)
        self.step_costs = np.where(fine, actionability.costs * steps, 0.0)

    def nearest(
        self, problem: SearchProblem, row: int, goal: Goal
    ) -> tuple[NDArray[np.float64] | None, float]:
        """Encoded row or None, and a lower bound of the distance.

        The bound is infinite if no row can reach the target.
        """
        best, lower = self._nearest_in_units(problem, row, goal, self._units)
        if best is None and lower < np.inf and self.step_costs.any():
            # No real optimum holds when it is rounded: a program of steps remains.
            steps = problem.actionability.grid.steps
            best, of_steps = self._nearest_in_units(problem, row, goal, steps)
            lower = max(lower, of_steps)
        return best, lower

    def _nearest_in_units(
        self,
        problem: SearchProblem,
        row: int,
        goal: Goal,
        step_units: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64] | None, float]:
        """Encoded row or None, and a lower bound; units of whole moves by column."""
        origin, index = problem.values[[row]], np.array([row])
        row_moves = self._moves_of_row(problem, row, step_units)
        moves, n_columns = row_moves.moves, origin.shape[1]
        best, best_cost = None, _Cost(np.inf, np.inf)
        bounds: list[_Cost] = []
        counts = goal.objective == "n_changed"
        for system in self._systems(problem, row, row_moves):
            units = _relaxed_units(system, goal, n_columns)
            if units is None:
                continue
            bound = max(float(units @ moves.costs), moves.least_cost()) * (1 - GAP)
            fewest = moves.n_moved(units) if counts else 0
            bounds.append(_Cost(fewest, bound if np.isfinite(bound) else 0.0))
            if bounds[-1] >= best_cost:
                continue
            for raised in self._needs_with_margins(system):
                raised_units = _best_units(system, raised, goal, n_columns, units)
                if raised_units is None:
                    continue
                values = _apply_moves(origin, row_moves, raised_units)
                values = self._round_to_grid(problem, values, index, step_units)
                if len(values):
                    n_moved = moves.n_moved(raised_units) if counts else 0
                    cost = _Cost(n_moved, problem.distances(values, index)[0])
                    if cost < best_cost:
                        best, best_cost = values[0], cost
                    break
        if best is None:
            return None, min((bound.distance for bound in bounds), default=np.inf)
        # Where changes count, bounds are those of rows with as few.
        return best, min(
            bound.distance
            for bound in [*bounds, best_cost]
            if bound.n_changed <= best_cost.n_changed
        )

    def _round_to_grid(
        self,
        problem: SearchProblem,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
        step_units: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The nearest row (1, n_columns) that satisfies the target; or no row.

        Real numbers are rounded away from the origin, all numbers or all but one, or
        to the nearest.
        """
        steps, origin = problem.actionability.grid.steps, problem.values[index]
        fine = (step_units == 0) & (self.step_costs > 0) & (values != origin)
        away = np.where(fine, problem.actionability.step_away(values, origin), values)
        candidates = [away[0], values[0]]
        toward = away - np.sign(away - origin) * steps
        for j in np.flatnonzero(fine[0]).tolist():
            candidates.append(np.where(np.arange(len(steps)) == j, toward, away)[0])
        index = np.repeat(index, len(candidates))
        rows = problem.projected(np.array(candidates), index)
        rows = rows[np.argsort(problem.distances(rows, index), kind="stable")]
        holds = problem.actionability.satisfies(rows) & problem.holds(rows, index)
        return rows[holds][:1]

    def _systems(
        self, problem: SearchProblem, row: int, row_moves: _RowMoves
    ) -> Iterator[_System]:
        """The systems of inequalities, any of which reaches the target."""
        moves, targets, errors = row_moves
        actionability, origin = problem.actionability, problem.values[[row]]
        native = problem.rows.take([row]).native
        (start,), (error_bound,) = self.effects.margins_and_errors(native, origin)
        (values,), missing = np.nan_to_num(origin), np.isnan(origin[0])
        (excess,), (terms,) = actionability.excess(values[None])
        # Gains of constraints, and of missing numbers that these need.
        shifts = targets - np.where(moves.exclusive, values[moves.column], 0)
        constrained = -(actionability.coefficients[:, moves.column] * shifts).T
        empty = np.flatnonzero(missing & actionability.coefficients.any(axis=0))
        fills = moves.exclusive[:, None] & (moves.column[:, None] == empty)
        limited = np.hstack([constrained, fills])
        for system in self.target.systems(problem.classes_of(row)):
            weights, needs = system.weights, system.needs
            shortfall, gains = needs - weights @ start, moves.gains @ weights.T
            largest_gains = gains + errors @ np.abs(weights).T
            # No change of the row reaches a limit, or changes the answer.
            if np.isinf(needs).any() or not largest_gains.any():
                continue
            error_bounds = np.abs(weights) @ error_bound + system.rounding
            error_bounds += self.effects.rounding * np.abs(shortfall)
            no_errors = np.zeros(len(empty))
            yield _System(
                replace(moves, gains=np.hstack([largest_gains, limited])),
                replace(moves, gains=np.hstack([gains, limited])),
                np.concatenate([shortfall, excess, np.ones(len(empty))]),
                np.concatenate([error_bounds, _ROUNDING * terms, no_errors]),
                len(shortfall),
            )

    def _needs_with_margins(self, system: _System) -> Iterator[NDArray[np.float64]]:
        """The needs of a system with one safety margin after another."""
        needs, error_bounds = system.needs, system.error_bounds
        of_functions = np.arange(len(needs)) < system.n_functions
        largest_gains = np.abs(system.nominal.gains).max(axis=0)
        for margin in _SAFETY_MARGINS:
            excess = np.maximum(
                margin.errors * error_bounds, margin.need * np.abs(needs)
            )
            excess = np.maximum(excess, margin.gain * largest_gains)
            # Constraints: a share of the size of their terms.
            precision = self.effects.precision if margin.errors > 2 else 0.0
            slack = max(margin.need, precision) / _ROUNDING * error_bounds
            yield needs + np.where(of_functions, excess, slack)

    def region(
        self, problem: SearchProblem, row: int, values: NDArray[np.float64], goal: Goal
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of a box around an encoded row in which all rows satisfy the target."""
        actionability, changed = problem.actionability, values != problem.values[row]
        (start,), (error_bound,) = self.effects.margins_and_errors(
            problem.decode(values[None], np.array([row])), values[None]
        )
        origin = problem.values[[row]]
        (lowest,), (highest,) = actionability.intervals(values[None], origin)
        low, high = values.copy(), values.copy()
        is_number = ~actionability.categorical & ~np.isnan(values)
        groups = [is_number & changed]
        if goal.max_changes is None:
            groups.append(is_number & ~changed)
        for system in self.target.systems(problem.classes_of(row)):
            weights, needs = system.weights, system.needs
            errors = np.abs(weights) @ error_bound
            slack = weights @ start - needs - errors - system.rounding
            if (slack < 0).any():
                continue
            for columns in map(np.flatnonzero, groups):
                slopes = [weights @ self.effects.slopes[j] for j in columns]
                gains = np.array(slopes).reshape(-1, len(needs))
                errors = self.effects.errors[columns] @ np.abs(weights).T
                losses = np.concatenate([gains + errors, errors - gains])
                rooms, slack = share_slack(
                    np.append((values - lowest)[columns], (highest - values)[columns]),
                    np.maximum(losses, 0),
                    slack,
                    np.tile(actionability.integer[columns], 2),
                )
                low[columns] -= rooms[: len(columns)]
                high[columns] += rooms[len(columns) :]
            break
        return np.fmax(low, lowest), np.fmin(high, highest)

    def _moves_of_row(
        self, problem: SearchProblem, row: int, step_units: NDArray[np.float64]
    ) -> _RowMoves:
        """Moves up, down and to values.

        A number that may not change by small steps enters the values it may take, and
        moves on from there. Some columns move by whole units.
        """
        origin, actionability = problem.values[row], problem.actionability
        (low,), (high,) = actionability.permitted_limits(origin[None])
        added: list[_Move] = []
        for j in np.flatnonzero(low <= high).tolist():
            if actionability.categorical[j]:
                possible = np.flatnonzero(actionability.possible_levels[j])
                possible = possible[(possible >= low[j]) & (possible <= high[j])]
                levels = possible[possible != origin[j]].tolist()
                added += [_Move(j, level) for level in levels]
                continue
            unit = step_units[j]
            ends = low[j], high[j]
            for sign, start in _move_starts(
                actionability, j, origin[j], *ends, unit > 0
            ):
                after = _NO_MOVE
                if start != origin[j]:
                    start = problem.projected(_with_values(origin, j, start), [row])[
                        0, j
                    ]
                    if np.isnan(start) or start == origin[j]:
                        continue  # there is no such number of the dtype
                    after = len(added)
                    added.append(_Move(j, start))
                room = max(high[j] - start if sign > 0 else start - low[j], 0.0)
                n_units, length = (np.rint(room / unit), unit) if unit else (room, 1.0)
                added.append(_Move(j, sign * length, n_units, after, enters=False))
        table = np.array(added, dtype=np.float64).reshape(-1, len(_Move._fields))
        column_numbers, targets, most_units, positions_before, enters = table.T
        columns, exclusive = column_numbers.astype(np.intp), enters.astype(bool)
        gains, errors = self._gains_of_moves(problem, row, columns, targets, exclusive)
        # Which number fills a missing entry costs nothing.
        change_sizes = np.where(np.isnan(origin[columns]), 0.0, np.abs(targets))
        values = _with_values(origin, columns[exclusive], targets[exclusive])
        changes = actionability.changes(values, origin[None])
        change_sizes[exclusive] = changes.max(axis=1)
        moves = Moves(
            gains,
            costs=actionability.costs[columns] * change_sizes,
            most=most_units,
            is_integer=exclusive | (step_units[columns] > 0),
            column=columns,
            exclusive=exclusive,
            after=positions_before.astype(np.intp),
        )
        return _RowMoves(moves, targets, errors)

    def _gains_of_moves(
        self,
        problem: SearchProblem,
        row: int,
        columns: NDArray[np.intp],
        targets: NDArray[np.float64],
        exclusive: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gains of the functions by moves, and their errors, (n_moves, k)."""
        origin, effects = problem.values[row], self.effects
        seen = np.zeros(len(origin), dtype=bool)
        for j in np.flatnonzero(problem.actionability.categorical).tolist():
            if origin[j] >= 0:
                seen[j] = problem.actionability.seen_levels[j][int(origin[j])]
        gains = np.zeros((len(columns), effects.errors.shape[1]))
        errors = effects.errors[columns]
        errors[~exclusive] *= np.abs(targets[~exclusive, None])
        from_model = exclusive & ~seen[columns]
        for move in np.flatnonzero(~from_model).tolist():
            slope, levels = effects.slopes[columns[move]], effects.levels[columns[move]]
            if levels is None:
                gains[move] = targets[move] * slope
            else:
                level = int(origin[columns[move]])
                gains[move] = levels[int(targets[move])] - levels[level]
        if from_model.any():
            values = np.vstack(
                [origin, _with_values(origin, columns[from_model], targets[from_model])]
            )
            native = problem.decode(values, np.full(len(values), row))
            margins, error_bounds = effects.margins_and_errors(native, values)
            gains[from_model] = margins[1:] - margins[0]
            errors[from_model] = error_bounds[1:] + error_bounds[0]
        return gains, errors


def _with_values(
    origin: NDArray[np.float64],
    columns: NDArray[np.intp] | int,
    values: NDArray[np.float64] | float,
) -> NDArray[np.float64]:
    """Copies of an encoded row, each with another value of one column."""
    columns = np.atleast_1d(columns)
    rows = np.repeat(origin[None], len(columns), axis=0)
    rows[np.arange(len(columns)), columns] = values
    return rows


def _move_starts(
    actionability: Actionability,
    j: int,
    value: float,
    low: float,
    high: float,
    in_steps: bool,
) -> list[tuple[float, float]]:
    """Sign of each move of a number, and the value at which the move starts.

    It starts at the number itself, or at the nearest value that is permitted.
    """
    grid = actionability.grid
    if np.isnan(value):
        start = float(np.clip(grid.nearest(actionability.medians[j], j), low, high))
        return [(1.0, start), (-1.0, start)]
    if in_steps:
        above = max(low, float(grid.up(value, j)))
        below = min(high, float(grid.down(value, j)))
    else:
        # The last multiples of a step on the way to the value are no other values.
        step = grid.steps[j]
        above = value if low - step < value else low
        below = value if value < high + step else high
    moves = [(1.0, above, above <= high), (-1.0, below, low <= below)]
    return [(sign, start) for sign, start, permitted in moves if permitted]


def _apply_moves(
    origin: NDArray[np.float64], row_moves: _RowMoves, units: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The encoded row (1, n_columns) to which units of moves lead."""
    values, moves = origin.copy(), row_moves.moves
    for move in np.flatnonzero(units > 0):
        j, target = moves.column[move], row_moves.targets[move]
        if moves.exclusive[move]:
            values[0, j] = target
        else:
            values[0, j] += units[move] * target
    return values


def _relaxed_units(
    system: _System, goal: Goal, n_columns: int
) -> NDArray[np.float64] | None:
    """Units whose cost is a lower bound for units that meet the needs, or None."""
    moves, needs = system.relaxed, system.needs - system.error_bounds
    try:
        return _solve_units(moves, needs, goal, n_columns)
    except UnsolvedError:
        # Real numbers bound the costs, too.
        real_moves = replace(moves, is_integer=moves.exclusive)
        return _solve_units(real_moves, needs, goal, n_columns)


def _best_units(
    system: _System,
    needs: NDArray[np.float64],
    goal: Goal,
    n_columns: int,
    least: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """The best units found in time that meet the needs; None if there are none."""
    try:
        return _solve_units(system.nominal, needs, goal, n_columns, least)
    except UnsolvedError as unsolved:
        return unsolved.units


def _solve_units(
    moves: Moves,
    needs: NDArray[np.float64],
    goal: Goal,
    n_columns: int,
    least: NDArray[np.float64] | None = None,
) -> NDArray[np.float64] | None:
    """Units (n_moves,) of the cheapest moves, or of those of the fewest columns.

    `least` are the units for slightly smaller needs; they are extended if possible.
    """
    if not len(moves.costs) or not np.isfinite(needs).all():
        return None
    if least is not None:
        units = moves.cover_shortfalls(least, needs)
        if (units @ moves.gains >= needs).all():
            return units
    weights, limits = goal.limits(n_columns)
    if goal.objective == "n_changed":
        fewest = moves.fewest_columns(needs, weights, limits)
        if fewest is None:
            return None
        weights = np.vstack([weights, np.ones(n_columns)])
        limits = np.append(limits, fewest)
    return moves.cheapest_units(needs, weights, limits)

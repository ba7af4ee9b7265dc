"""The nearest rows for which linear models reach a target."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from sklearn_interpret._core.search.linear_program import (
    Moves,
    UnsolvedError,
    shared_room,
)
from sklearn_interpret._core.search.programs import GAP
from sklearn_interpret._model.actions.target import SAME, SumTarget
from sklearn_interpret._model.formulas.linear import (
    READABLE,
    explained_linear,
    read_linear,
)
from sklearn_interpret.exceptions import UnreadableModelError

# Number of known rows at which the linear function is compared with sums of effects.
_SPOTS = 50
# Relative difference from a sum of effects above which a model is not linear.
_TOLERANCE = 1e-7
_DOUBLE = np.finfo(np.float64).eps
# Safety margins in the order of trial: multiples of the rounding errors, shares of the
# need, and shares of the largest gain, for the tolerance of solvers. They grow, in case
# the model still misses the target, then shrink, in case they leave no room.
_EXCESS = (
    (2, 0.0, 0.0),
    (4, 1e-9, 0.0),
    (256, 1e-7, 0.0),
    (2, 0.0, 2e-6),
    (0.25, 0.0, 0.0),
    (0, 0.0, 0.0),
)
# Largest excess over constraints, relative to the size of their terms.
_ROUNDING = 1e-13
# Columns with more steps in their range than this move as real numbers, and are rounded
# then: integer programs of them would be large.
_MOST_STEPS = 1000


def precision(actionability):
    """Largest machine epsilon of the columns of numbers."""
    numbers = np.flatnonzero(~actionability.categorical)
    kinds = {actionability.dtypes[j] for j in numbers}
    return float(
        max((np.finfo(k).eps for k in kinds if k.kind == "f"), default=_DOUBLE)
    )


class ColumnEffects:
    """Slopes of numbers and values at levels, of a linear model of encoded columns.

    Parameters
    ----------
    known : SearchProblem
        Known rows.

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

    def __init__(self, known):
        rows = known.rows
        # Refuses pairs of classes that vote: a linear score does not decide there.
        explained_linear(known.outcome.estimator).check(rows)
        self.model = read_linear(known.outcome.estimator)
        self._known, self._values = known, known.values
        self._whole = np.flatnonzero(~np.isnan(self._values).any(axis=1))
        if not len(self._whole):
            raise UnreadableModelError("every row of X has missing values.")
        self.precision = precision(known.actionability)
        # Errors of n terms added one by one grow like n / 2; a term has two more.
        self.rounding = (len(self.model.columns) / 2 + 2) * self.precision
        first = self._whole[:1]
        self._size = self._sizes(self.model.derived(rows.take(first).native))[0]
        parts = zip(*map(self._effects, range(rows.n_columns)), strict=True)
        self.slopes, self.levels, errors = parts
        self.errors = np.array(errors).reshape(rows.n_columns, -1)
        zero = np.zeros(len(self._size))
        slopes = [zero if part is None else np.abs(part) for part in self.slopes]
        self._absolute_slopes = np.array(slopes)
        self._check()

    def target(self, margin=0.0):
        """The `SumTarget` of the linear functions."""
        outcome = self._known.outcome
        link = "exp" if self.model.exponential else "identity"
        if (
            outcome.interval is not None
            and outcome.response.method != self.model.method
        ):
            link = self._link_of_probability(outcome.response)
        n_sums, precision = len(self.model.intercept), self.precision
        return SumTarget.of_outcome(
            outcome, n_sums, link, 1.0, margin, precision=precision
        )

    def _link_of_probability(self, response):
        """ "logistic" if probabilities are the expit of one function, else None."""
        rows = self._known.rows
        some = rows.take(np.arange(min(rows.n_rows, 20))).native
        margins = self.margins(some)
        if margins.shape[1] != 1:
            return None
        shares = expit(-margins if response.target == 0 else margins)
        return "logistic" if np.allclose(shares, response(some)) else None

    def margins(self, native):
        """The linear functions of rows in the model's container, (n_rows, k)."""
        return self.model.margin(self.model.derived(native))

    def margins_and_errors(self, native, values):
        """Linear functions of rows, and bounds of their rounding errors, (n, k)."""
        derived = self.model.derived(native)
        sizes = self._sizes(derived)
        if self.model.steps:  # numbers before the pipeline's steps round too
            sizes += np.abs(np.nan_to_num(values)) @ self._absolute_slopes
        return self.model.margin(derived), self.rounding * sizes

    def _sizes(self, derived):
        """Sizes of the terms that the functions are sums of, (n_rows, k)."""
        terms = abs(derived) @ np.abs(self.model.coefficients)
        return terms + np.abs(self.model.intercept)

    def _effects(self, j):
        """Entries of `slopes`, `levels` and `errors` for a column."""
        rounding = self.rounding * _DOUBLE / self.precision * self._size
        actionability = self._known.actionability
        if actionability.categorical[j]:
            seen = np.flatnonzero(actionability.seen_levels[j])
            levels = np.full((len(actionability.levels[j]), len(self._size)), np.nan)
            levels[seen] = self._margins_at(j, seen.astype(np.float64))
            return None, levels, rounding
        known = self._values[self._whole, j]
        low, high = known.min(), known.max()
        if low == high:
            # Any other whole number of about the same size.
            high = low + 1 if abs(low) < 2 else np.rint(low / 2)
        below, above = self._margins_at(j, np.array([low, high]))
        slopes = (above - below) / (high - low)
        size = 4 * self.precision * np.abs(slopes) * max(abs(low), abs(high))
        errors = (size + rounding) / abs(high - low)
        errors += self.rounding * np.abs(slopes)
        return slopes, None, np.where(slopes == 0, 0.0, errors)

    def _margins_at(self, j, column):
        """The functions at a known row with other values of a column."""
        first = self._whole[:1]
        values = np.repeat(self._values[first], len(column), axis=0)
        values[:, j] = column
        index = np.repeat(first, len(column))
        return self.margins(self._known.decode(values, index))

    def _check(self):
        """Raise if the functions at known rows are not the sums of their effects."""
        some = self._whole[:: max(1, len(self._whole) // _SPOTS)]
        rows = self._known.rows
        native = rows.take(some).native
        expected, doubts = self.margins_and_errors(native, self._values[some])
        first = self._whole[0]
        found = np.repeat(self.margins(rows.take([first]).native), len(some), 0)
        size = np.abs(found) + np.abs(expected)
        for j, (slope, levels) in enumerate(zip(self.slopes, self.levels, strict=True)):
            own, start = self._values[some, j], self._values[first, j]
            if levels is None:
                change = (own - start)[:, None] * slope
            else:
                change = levels[own.astype(int)] - levels[int(start)]
            found += change
            size += np.abs(change)
        if (np.abs(found - expected) > _TOLERANCE * (1 + size) + doubts).any():
            raise UnreadableModelError(
                "the model is not a sum of one linear effect for each column. What can "
                f"be read: {READABLE}."
            )


class LinearSearch:
    """Finds the nearest rows for which a linear model reaches a target.

    Parameters
    ----------
    known : SearchProblem
        Known rows.
    margin : float
        Amount by which the linear functions must exceed the target's limits.

    Attributes
    ----------
    relative_gap : float
        A distance within this relative gap of its lower bound counts as optimal.
    """

    def __init__(self, known, margin):
        self.effects = ColumnEffects(known)
        self.target = self.effects.target(margin)
        self.relative_gap = max(SAME, np.sqrt(self.effects.precision))
        actionability = known.actionability
        steps = actionability.grid.steps
        with np.errstate(invalid="ignore"):
            ranges = np.diff(actionability.observed, axis=0)[0]
        integer = actionability.integer | (ranges <= _MOST_STEPS * steps)
        self._units = np.where(actionability.stepped & integer, steps, 0.0)
        fine = actionability.stepped & (self._units == 0)
        self.step_costs = np.where(fine, actionability.costs * steps, 0.0)

    def found(self, problem, row, goal):
        """Encoded row or None, and a lower bound of the distance.

        The bound is infinite if no row can reach the target.
        """
        best, lower = self._found(problem, row, goal, self._units)
        if best is None and lower < np.inf and self.step_costs.any():
            # No real optimum holds when it is rounded: a program of steps remains.
            steps = problem.actionability.grid.steps
            best, of_steps = self._found(problem, row, goal, steps)
            lower = max(lower, of_steps)
        return best, lower

    def _found(self, problem, row, goal, step_units):
        """Encoded row or None, and a lower bound; units of whole moves by column."""
        origin, index = problem.values[[row]], np.array([row])
        moves, targets, errors = self._moves(problem, row, step_units)
        best, least, bounds = None, (np.inf, np.inf), []
        ways = self._ways(problem, row, moves, targets, errors)
        for relaxed, nominal, needs, doubts, n_functions in ways:
            try:
                units = _units(relaxed, needs - doubts, goal, origin.shape[1])
            except UnsolvedError:
                # Real numbers bound the costs, too.
                relaxed = replace(relaxed, is_integer=relaxed.exclusive)
                units = _units(relaxed, needs - doubts, goal, origin.shape[1])
            if units is None:
                continue
            bound = max(units @ moves.costs, moves.least_cost()) * (1 - GAP)
            fewest = moves.n_moved(units) if goal.objective == "n_changed" else 0
            bounds.append((fewest, bound if np.isfinite(bound) else 0.0))
            if bounds[-1] >= least:
                continue
            largest = np.abs(nominal.gains).max(axis=0)
            for raised in self._raised(needs, doubts, largest, n_functions):
                try:
                    tried = _units(nominal, raised, goal, origin.shape[1], units)
                except UnsolvedError as unsolved:
                    tried = unsolved.units
                if tried is None:
                    continue
                values = _moved(origin, moves, tried, targets)
                values = self._on_grid(problem, values, index, step_units)
                if len(values):
                    few = moves.n_moved(tried) if goal.objective == "n_changed" else 0
                    reached = few, problem.distances(values, index)[0]
                    if reached < least:
                        best, least = values[0], reached
                    break
        if best is None:
            return None, min((bound for _, bound in bounds), default=np.inf)
        # Where changes count, bounds are those of rows with as few.
        return best, min(bound for few, bound in [*bounds, least] if few <= least[0])

    def _on_grid(self, problem, values, index, step_units):
        """The nearest row (1, n_columns) that satisfies the target; or no row.

        Of a row with real numbers, these rounded away from the origin, all or all but
        one, or to nearest.
        """
        steps, origin = problem.actionability.grid.steps, problem.values[index]
        fine = (step_units == 0) & (self.step_costs > 0) & (values != origin)
        away = np.where(fine, problem.actionability.away(values, origin), values)
        rows = [away[0], values[0]]
        for j in np.flatnonzero(fine[0]).tolist():
            toward = away - np.sign(away - origin) * steps
            rows.append(np.where(np.arange(len(steps)) == j, toward, away)[0])
        index = np.repeat(index, len(rows))
        rows = problem.projected(np.array(rows), index)
        rows = rows[np.argsort(problem.distances(rows, index), kind="stable")]
        holds = problem.actionability.keeps(rows) & problem.holds(rows, index)
        return rows[holds][:1]

    def _ways(self, problem, row, moves, targets, errors):
        """The systems of inequalities, any of which reaches the target.

        Each as moves with the largest gains that errors allow, moves with the gains,
        and needs with their errors: of the functions, then of the constraints and of
        missing numbers that these need; and the number of the functions.
        """
        actionability, origin = problem.actionability, problem.values[[row]]
        native = problem.rows.take([row]).native
        (start,), (doubt,) = self.effects.margins_and_errors(native, origin)
        (own,), missing = np.nan_to_num(origin), np.isnan(origin[0])
        (beyond,), (terms,) = actionability.excess(own[None])
        shifts = targets - np.where(moves.exclusive, own[moves.column], 0)
        constrained = -(actionability.coefficients[:, moves.column] * shifts).T
        empty = np.flatnonzero(missing & actionability.coefficients.any(axis=0))
        fills = moves.exclusive[:, None] & (moves.column[:, None] == empty)
        limited = np.hstack([constrained, fills])
        for weights, needs, _, rounding in self.target.ways(problem.own_of(row)):
            short, gains = needs - weights @ start, moves.gains @ weights.T
            most = gains + errors @ np.abs(weights).T
            # No change of the row reaches a limit, or changes the answer.
            if np.isinf(needs).any() or not most.any():
                continue
            doubts = np.abs(weights) @ doubt + rounding
            doubts += self.effects.rounding * np.abs(short)
            yield (
                replace(moves, gains=np.hstack([most, limited])),
                replace(moves, gains=np.hstack([gains, limited])),
                np.concatenate([short, beyond, np.ones(len(empty))]),
                np.concatenate([doubts, _ROUNDING * terms, np.zeros(len(empty))]),
                len(short),
            )

    def _raised(self, needs, doubts, largest, n_functions):
        """Needs of functions and constraints with the safety margins of `_EXCESS`."""
        functions = np.arange(len(needs)) < n_functions
        for multiple, share, missed in _EXCESS:
            excess = np.maximum(multiple * doubts, share * np.abs(needs))
            excess = np.maximum(excess, missed * largest)
            precision = self.effects.precision if multiple > 2 else 0.0
            spare = max(share, precision) / _ROUNDING * doubts
            yield needs + np.where(functions, excess, spare)

    def region(self, problem, row, values, goal):
        """Ends of a box around an encoded row in which all rows satisfy the target."""
        actionability, changed = problem.actionability, values != problem.values[row]
        (start,), (doubt,) = self.effects.margins_and_errors(
            problem.decode(values[None], np.array([row])), values[None]
        )
        (least,), (most,) = actionability.rooms(values[None], problem.values[[row]])
        low, high = values.copy(), values.copy()
        wide = ~actionability.categorical & ~np.isnan(values)
        groups = [wide & changed]
        if goal.max_changes is None:
            groups.append(wide & ~changed)
        for weights, needs, _, rounding in self.target.ways(problem.own_of(row)):
            slack = weights @ start - needs - np.abs(weights) @ doubt - rounding
            if (slack < 0).any():
                continue
            for columns in map(np.flatnonzero, groups):
                gains = [weights @ self.effects.slopes[j] for j in columns]
                gains = np.array(gains).reshape(-1, len(needs))
                errors = self.effects.errors[columns] @ np.abs(weights).T
                losses = np.concatenate([gains + errors, errors - gains])
                moved, slack = shared_room(
                    np.append((values - least)[columns], (most - values)[columns]),
                    np.maximum(losses, 0),
                    slack,
                    np.tile(actionability.integer[columns], 2),
                )
                low[columns] -= moved[: len(columns)]
                high[columns] += moved[len(columns) :]
            break
        return np.fmax(low, least), np.fmin(high, most)

    def _moves(self, problem, row, step_units):
        """Moves up, down and to values; the sign or value of each, and its errors.

        A number that may not change by small steps enters the values it may take, and
        moves on from there. Some columns move by whole units.
        """
        origin, actionability = problem.values[row], problem.actionability
        (low,), (high,) = actionability.permitted(origin[None])
        columns, targets, most, after = [], [], [], []

        def add(j, target, room=1.0, entry=-1):
            columns.append(j)
            targets.append(target)
            most.append(room)
            after.append(entry)
            return len(after) - 1

        entries = []
        for j in np.flatnonzero(low <= high).tolist():
            if actionability.categorical[j]:
                possible = np.flatnonzero(actionability.possible_levels[j])
                possible = possible[(possible >= low[j]) & (possible <= high[j])]
                entries += [add(j, k) for k in possible[possible != origin[j]].tolist()]
                continue
            unit = step_units[j]
            ends = low[j], high[j]
            for way, start in _starts(actionability, j, origin[j], *ends, unit > 0):
                entry = -1
                if start != origin[j]:
                    start = problem.projected(_with(origin, j, start), [row])[0, j]
                    if np.isnan(start) or start == origin[j]:
                        continue  # there is no such number of the dtype
                    entry = add(j, start)
                    entries.append(entry)
                room = high[j] - start if way > 0 else start - low[j]
                if unit:
                    add(j, way * unit, np.rint(max(room, 0.0) / unit), entry)
                else:
                    add(j, way, max(room, 0.0), entry)
        columns, targets = np.array(columns, dtype=int), np.array(targets, dtype=float)
        exclusive = np.zeros(len(columns), dtype=bool)
        exclusive[entries] = True
        gains, errors = self._gains(problem, row, columns, targets, exclusive)
        # Which number fills a missing entry costs nothing.
        sizes = np.where(np.isnan(origin[columns]), 0.0, np.abs(targets))
        values = _with(origin, columns[entries], targets[entries])
        changes = actionability.changes(values, origin[None])
        sizes[entries] = changes.max(axis=1)
        moves = Moves(
            gains,
            actionability.costs[columns] * sizes,
            np.array(most),
            exclusive | (step_units[columns] > 0),
            columns,
            exclusive,
            np.array(after, dtype=np.intp),
        )
        return moves, targets, errors

    def _gains(self, problem, row, columns, targets, exclusive):
        """Gains of the functions by moves, and their errors, (n_moves, k)."""
        origin, effects = problem.values[row], self.effects
        seen = np.zeros(len(origin), dtype=bool)
        for j in np.flatnonzero(problem.actionability.categorical).tolist():
            if origin[j] >= 0:
                seen[j] = problem.actionability.seen_levels[j][int(origin[j])]
        gains = np.zeros((len(columns), effects.errors.shape[1]))
        errors = effects.errors[columns]
        errors[~exclusive] *= np.abs(targets[~exclusive, None])
        asked = exclusive & ~seen[columns]
        for move in np.flatnonzero(~asked).tolist():
            slope, levels = effects.slopes[columns[move]], effects.levels[columns[move]]
            if levels is None:
                gains[move] = targets[move] * slope
            else:
                own = int(origin[columns[move]])
                gains[move] = levels[int(targets[move])] - levels[own]
        if asked.any():
            values = np.vstack([origin, _with(origin, columns[asked], targets[asked])])
            native = problem.decode(values, np.full(len(values), row))
            margins, doubts = effects.margins_and_errors(native, values)
            gains[asked] = margins[1:] - margins[0]
            errors[asked] = doubts[1:] + doubts[0]
        return gains, errors


def _with(origin, columns, values):
    """Copies of an encoded row, each with another value of one column."""
    columns = np.atleast_1d(columns)
    rows = np.repeat(origin[None], len(columns), axis=0)
    rows[np.arange(len(columns)), columns] = values
    return rows


def _starts(actionability, j, own, low, high, in_steps):
    """Signs of the moves of a number, and where they start.

    That is its own value, or the nearest ones that it may take.
    """
    grid = actionability.grid
    if np.isnan(own):
        start = np.clip(grid.nearest(actionability.medians[j], j), low, high)
        return [(1.0, start), (-1.0, start)]
    if in_steps:
        above, below = max(low, grid.up(own, j)), min(high, grid.down(own, j))
    else:
        # The last multiples of a step on the way to the own value are no other values.
        step = grid.steps[j]
        above = own if low - step < own else low
        below = own if own < high + step else high
    ways = [(1.0, above, above <= high), (-1.0, below, low <= below)]
    return [(way, start) for way, start, permitted in ways if permitted]


def _moved(origin, moves, units, targets):
    """The encoded row (1, n_columns) to which moves lead."""
    values = origin.copy()
    for unit, j, exclusive, target in zip(
        units, moves.column, moves.exclusive, targets, strict=True
    ):
        if unit > 0:
            values[0, j] = target if exclusive else values[0, j] + unit * target
    return values


def _units(moves, needs, goal, n_columns, least=None):
    """Units of the cheapest moves, or of those of the fewest columns.

    `least` are the units for slightly smaller needs: they are extended if possible.
    """
    if not len(moves.costs) or not np.isfinite(needs).all():
        return None
    if least is not None:
        units = moves.completed(least, needs)
        if (units @ moves.gains >= needs).all():
            return units
    weights, most = goal.limits(n_columns)
    if goal.objective == "n_changed":
        fewest = moves.fewest(needs, weights, most)
        if fewest is None:
            return None
        weights = np.vstack([weights, np.ones(n_columns)])
        most = np.append(most, fewest)
    return moves.cheapest(needs, weights, most)

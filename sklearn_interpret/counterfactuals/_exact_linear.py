"""The nearest rows that linear models answer as wished."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from sklearn_interpret._core.search.box_program import GAP
from sklearn_interpret._core.search.linear_program import Moves
from sklearn_interpret._core.search.regions import shared_room
from sklearn_interpret._model.actions.target_sums import SAME, SumTarget
from sklearn_interpret._model.linear_moves import ColumnEffects, precision

# By how much the linear functions exceed what is needed: multiples of their rounding
# errors, and shares of it. More where the model answers otherwise all the same, less
# where there is no room for that.
_EXCESS = ((2, 0.0), (4, 1e-9), (256, 1e-7), (0.25, 0.0), (0, 0.0))
# By how much constraints may be missed, relative to the size of their terms.
_ROUNDING = 1e-13


class LinearSearch:
    """Finds the nearest rows that a linear model answers as wished.

    Parameters
    ----------
    outcome : TargetOutcome
        The wish.
    known : SearchProblem
        Known rows.
    margin : float
        By how much more than needed the linear functions have to be as wished.

    Attributes
    ----------
    relative_gap : float
        Up to which relative difference from its lower bound a distance is the least.
    """

    def __init__(self, outcome, known, margin):
        actionability, rows = known.actionability, known.rows
        self.effects = ColumnEffects(
            outcome.estimator, actionability, rows, known.decode
        )
        model = self.effects.model
        n_sums = len(model.intercept)
        link = "exp" if model.exponential else "identity"
        if outcome.interval is not None and outcome.response.method != model.method:
            link = self._link_of_probability(outcome, rows)
        self._precision = precision(actionability)
        self.outcome = SumTarget.of(
            outcome, n_sums, link, 1.0, margin, precision=self._precision
        )
        self.relative_gap = max(SAME, np.sqrt(self._precision))

    def _link_of_probability(self, outcome, rows):
        """ "logistic" where the probabilities are, else None."""
        some = rows.take(np.arange(min(rows.n_rows, 20))).native
        margins = self.effects.margins(some)
        if margins.shape[1] != 1:
            return None
        shares = expit(-margins if outcome.response.target == 0 else margins)
        return "logistic" if np.allclose(shares, outcome.response(some)) else None

    def found(self, problem, row, settings, actionability):
        """Encoded row or None, and a lower bound that is infinite if there is none."""
        origin, index = problem.values[[row]], np.array([row])
        moves, targets = self._moves(problem, row, actionability)
        best, nearest, bounds = None, np.inf, []
        for surely, way, needs, doubts in self._ways(
            problem, row, actionability, moves, targets
        ):
            least = _units(surely, needs - doubts, settings, origin.shape[1])
            if least is None:
                continue
            bound = least @ moves.costs * (1 - GAP)
            bounds.append(bound if np.isfinite(bound) else 0.0)
            if bounds[-1] >= nearest:
                continue
            for raised in self._raised(needs, doubts, len(actionability.bounds)):
                units = _units(way, raised, settings, origin.shape[1], least)
                values = _moved(origin, moves, units, targets)
                if not np.isfinite(values[~np.isnan(origin)]).all():
                    continue
                values = actionability.projected(values, origin)
                if (problem.holds(values, index) & actionability.keeps(values))[0]:
                    distance = actionability.distances(values, origin)[0]
                    if distance < nearest:
                        best, nearest = values[0], distance
                    break
        return best, min([*bounds, nearest])

    def _ways(self, problem, row, actionability, moves, targets):
        """Ways to reach the target: needs of functions, then of constraints.

        Each as moves whose gains are surely no less than the model's, moves with the
        gains as they are, the needs, and how doubtful these are.
        """
        (start,), (doubt,) = self.effects.margins_and_doubts(
            problem.rows.take([row]).native, problem.values[[row]]
        )
        beyond, terms = (
            part[0] for part in actionability.excess(problem.values[[row]])
        )
        constrained = -(actionability.coefficients[:, moves.column] * targets).T
        errors = self.effects.errors[moves.column]
        for weights, needs, _, rounding in self.outcome.ways(
            None if problem.own is None else problem.own[row]
        ):
            short, gains = needs - weights @ start, moves.gains @ weights.T
            most = gains + errors @ np.abs(weights).T
            # Without gains the model answers all rows alike.
            if np.isinf(needs).any() or not most.any():
                continue
            doubts = np.abs(weights) @ doubt + rounding
            doubts += self.effects.rounding * np.abs(short)
            yield (
                replace(moves, gains=np.hstack([most, constrained])),
                replace(moves, gains=np.hstack([gains, constrained])),
                np.append(short, beyond),
                np.append(doubts, _ROUNDING * terms),
            )

    def _raised(self, needs, doubts, n_constraints):
        """Needs of functions and constraints, raised more and more.

        Until the model answers as wished, and its constraints hold for single-precision
        numbers too. Then less, for goals in which there is no room for that.
        """
        functions = np.arange(len(needs)) < len(needs) - n_constraints
        for multiple, share in _EXCESS:
            excess = np.maximum(multiple * doubts, share * np.abs(needs))
            precision = self._precision if multiple > 2 else 0.0
            spare = max(share, precision) / _ROUNDING * doubts
            yield needs + np.where(functions, excess, spare)

    def region(self, problem, row, values, settings):
        """Ends of a box around an encoded row in which all rows are as wished."""
        actionability, changed = problem.actionability, values != problem.values[row]
        (start,), (doubt,) = self.effects.margins_and_doubts(
            problem.decode(values[None], np.array([row])), values[None]
        )
        least, most = (part[0] for part in actionability.limits(problem.values[[row]]))
        low, high = values.copy(), values.copy()
        wide = ~actionability.categorical & ~np.isnan(values)
        groups = [wide & changed]
        if settings.max_changes is None:
            groups.append(wide & ~changed)
        for weights, needs, _, rounding in self.outcome.ways(
            None if problem.own is None else problem.own[row]
        ):
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

    def _moves(self, problem, row, actionability):
        """Moves up, down and to levels; the level or way of each."""
        values = problem.values[row]
        low, high = (part[0] for part in actionability.limits(values[None]))
        gains, costs, most, columns, targets = [], [], [], [], []
        for j in np.flatnonzero(actionability.vary & ~np.isnan(values)).tolist():
            slope, levels = self.effects.slopes[j], self.effects.levels[j]
            if levels is None:
                ways = [(1.0, high[j] - values[j]), (-1.0, values[j] - low[j])]
                for way, room in ways:
                    gains.append(way * slope)
                    most.append(max(room, 0.0))
                    targets.append(way)
            elif values[j] >= 0:
                own = int(values[j])
                possible = np.flatnonzero(actionability.possible_levels[j])
                possible = possible[(possible >= low[j]) & (possible <= high[j])]
                for level in possible[possible != own].tolist():
                    gains.append(levels[level] - levels[own])
                    most.append(1.0)
                    targets.append(level)
            new = len(targets) - len(columns)
            costs += [actionability.costs[j]] * new
            columns += [j] * new
        columns, targets = np.array(columns, dtype=int), np.array(targets, dtype=float)
        exclusive = actionability.categorical[columns]
        moves = Moves(
            np.array(gains).reshape(len(columns), -1),
            np.array(costs),
            np.array(most),
            exclusive | actionability.integer[columns],
            columns,
            exclusive,
        )
        return moves, targets


def _moved(origin, moves, units, targets):
    """The encoded row (1, n_columns) to which moves lead; infinite for no units."""
    values = origin.copy()
    if units is None:
        return np.full_like(origin, np.inf)
    for unit, j, exclusive, target in zip(
        units, moves.column, moves.exclusive, targets, strict=True
    ):
        if unit > 0:
            values[0, j] = target if exclusive else values[0, j] + unit * target
    return values


def _units(moves, needs, settings, n_columns, least=None):
    """Units of the moves that are cheapest, or of the fewest columns.

    Or `least`, the cheapest for a little less, a little farther if that is enough.
    """
    if not len(moves.costs) or not np.isfinite(needs).all():
        return None
    if least is not None:
        units = moves.completed(least, needs)
        if (units @ moves.gains >= needs).all():
            return units
    weights, most = settings.limits(n_columns)
    if settings.objective == "n_changed":
        fewest = moves.fewest(needs, weights, most)
        if fewest is None:
            return None
        weights = np.vstack([weights, np.ones(n_columns)])
        most = np.append(most, fewest)
    return moves.cheapest(needs, weights, most)

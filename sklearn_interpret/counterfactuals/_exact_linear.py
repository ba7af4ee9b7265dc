"""The nearest rows that linear models answer as wished."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from sklearn_interpret._core.optimisation.linear_program import Moves
from sklearn_interpret._core.optimisation.regions import shared_room
from sklearn_interpret._model.desired_sums import SAME, SumWish
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
    wish : Wish
        The wish.
    known : Task
        Known rows.
    margin : float
        By how much more than needed the linear functions have to be as wished.

    Attributes
    ----------
    relative_gap : float
        Up to which relative difference from its lower bound a distance is the least.
    """

    def __init__(self, wish, known, margin):
        feasible, rows = known.feasible, known.rows
        self.effects = ColumnEffects(wish.estimator, feasible, rows, known.decode)
        model = self.effects.model
        n_sums = len(model.intercept)
        link = "exp" if model.exponential else "identity"
        if wish.interval is not None and wish.response.method != model.method:
            link = self._link_of_probability(wish, rows)
        self._precision = precision(feasible)
        self.wish = SumWish.of(
            wish, n_sums, link, 1.0, margin, precision=self._precision
        )
        self.relative_gap = max(SAME, np.sqrt(self._precision))

    def _link_of_probability(self, wish, rows):
        """ "logistic" where the probabilities are, else None."""
        some = rows.take(np.arange(min(rows.n_rows, 20))).native
        margins = self.effects.margins(some)
        if margins.shape[1] != 1:
            return None
        shares = expit(-margins if wish.response.target == 0 else margins)
        return "logistic" if np.allclose(shares, wish.response(some)) else None

    def found(self, task, row, settings, feasible):
        """Encoded row or None, and a lower bound that is infinite if there is none."""
        own = None if task.own is None else task.own[row]
        native = task.rows.take([row]).native
        (start,), (doubt,) = (
            self.effects.margins(native),
            self.effects.doubts(native, task.values[[row]]),
        )
        moves, columns, targets = self._moves(task, row, feasible)
        beyond, terms = (part[0] for part in feasible.excess(task.values[[row]]))
        constrained = -(feasible.coefficients[:, columns] * targets).T
        best, nearest, bounds = None, np.inf, []
        for weights, needs, _, rounding in self.wish.ways(own):
            short = needs - weights @ start
            size = np.abs(weights) @ doubt + rounding
            size += self.effects.rounding * np.abs(short)
            gains = moves.gains @ weights.T
            optimistic = gains + self.effects.errors[columns] @ np.abs(weights).T
            if not optimistic.any():  # the model answers all rows alike
                continue
            lowered = np.append(short - size, beyond - _ROUNDING * terms)
            way = replace(moves, gains=np.c_[optimistic, constrained])
            units = _units(way, lowered, settings, len(task.values[row]))
            if units is None:
                continue
            bounds.append(units @ way.costs)
            if bounds[-1] >= nearest:
                continue
            way = replace(moves, gains=np.c_[gains, constrained])
            for multiple, share in _EXCESS:
                excess = np.maximum(multiple * size, share * np.abs(short))
                spare = max(share, (multiple > 2) * self._precision) * terms
                raised = np.append(short + excess, beyond + spare)
                units = _units(way, raised, settings, len(task.values[row]))
                if units is None:
                    continue
                values = self._values(task, row, units, columns, targets)
                values = feasible.projected(values[None], task.values[[row]])
                distance = feasible.distances(values, task.values[[row]])[0]
                holds = task.holds(values, np.array([row])) & feasible.keeps(values)
                if holds[0]:
                    if distance < nearest:
                        best, nearest = values[0], distance
                    break
        return best, min([*bounds, nearest])

    def region(self, task, row, values, settings):
        """Ends of a box around an encoded row in which all rows are as wished."""
        feasible, changed = task.feasible, values != task.values[row]
        native = task.decode(values[None], np.array([row]))
        (start,), (doubt,) = (
            self.effects.margins(native),
            self.effects.doubts(native, values[None]),
        )
        least, most = (part[0] for part in feasible.limits(task.values[[row]]))
        low, high = values.copy(), values.copy()
        wide = ~feasible.categorical & ~np.isnan(values)
        groups = [wide & changed]
        if settings.max_changes is None:
            groups.append(wide & ~changed)
        for weights, needs, _, rounding in self.wish.ways(
            None if task.own is None else task.own[row]
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
                    np.tile(feasible.integer[columns], 2),
                )
                low[columns] -= moved[: len(columns)]
                high[columns] += moved[len(columns) :]
            break
        return np.fmax(low, least), np.fmin(high, most)

    def _moves(self, task, row, feasible):
        """Moves up, down and to levels; the column and the level or way of each."""
        values = task.values[row]
        low, high = (part[0] for part in feasible.limits(values[None]))
        gains, costs, most, columns, targets = [], [], [], [], []
        for j in np.flatnonzero(feasible.vary & ~np.isnan(values)).tolist():
            slope, levels = self.effects.slopes[j], self.effects.levels[j]
            if levels is None:
                ways = [(1.0, high[j] - values[j]), (-1.0, values[j] - low[j])]
                for way, room in ways:
                    gains.append(way * slope)
                    most.append(max(room, 0.0))
                    targets.append(way)
            elif values[j] >= 0:
                own = int(values[j])
                possible = np.flatnonzero(feasible.possible_levels[j])
                possible = possible[(possible >= low[j]) & (possible <= high[j])]
                for level in possible[possible != own].tolist():
                    gains.append(levels[level] - levels[own])
                    most.append(1.0)
                    targets.append(level)
            new = len(targets) - len(columns)
            costs += [feasible.costs[j]] * new
            columns += [j] * new
        columns, targets = np.array(columns, dtype=int), np.array(targets, dtype=float)
        exclusive = feasible.categorical[columns]
        moves = Moves(
            np.array(gains).reshape(len(columns), -1),
            np.array(costs),
            np.array(most),
            exclusive | feasible.integer[columns],
            columns,
            exclusive,
        )
        return moves, columns, targets

    @staticmethod
    def _values(task, row, units, columns, targets):
        """The encoded row that moves lead to."""
        values = task.values[row].copy()
        for unit, j, target in zip(units, columns, targets, strict=True):
            if unit > 0:
                if task.feasible.categorical[j]:
                    values[j] = target
                else:
                    values[j] += unit * target
        return values


def _units(moves, needs, settings, n_columns):
    """Units of the moves that are cheapest, or of the fewest columns."""
    if not len(moves.costs) or not np.isfinite(needs).all():
        return None
    weights, most = settings.limits(n_columns)
    if settings.objective == "n_changed":
        fewest = moves.fewest(needs, weights, most)
        if fewest is None:
            return None
        weights = np.vstack([weights, np.ones(n_columns)])
        most = np.append(most, fewest)
    return moves.cheapest(needs, weights, most)

"""The nearest rows that linear models answer as wished."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from sklearn_interpret._core.optimisation.linear_program import Moves
from sklearn_interpret._model.desired_sums import SumWish
from sklearn_interpret._model.linear_moves import ColumnEffects

# By how much the linear functions exceed what is needed, relative to their size, so
# that rounding does not decide: more where the model answers otherwise all the same.
_EXCESS = (1e-11, 1e-9, 1e-7)


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
    """

    def __init__(self, wish, known, margin):
        feasible, rows = known.feasible, known.rows
        self.effects = ColumnEffects(wish.estimator, feasible, rows, known.decode)
        model = self.effects.model
        n_sums = len(model.intercept)
        link = "exp" if model.exponential else "identity"
        if wish.interval is not None and wish.response.method != model.method:
            link = self._link_of_probability(wish, rows)
        self.wish = SumWish.of(wish, n_sums, link, 1.0, margin)

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
        start = self.effects.margins(task.rows.take([row]).native)[0]
        moves, columns, targets = self._moves(task, row, feasible)
        beyond, terms = (part[0] for part in feasible.excess(task.values[[row]]))
        constrained = -(feasible.coefficients[:, columns] * targets).T
        best, nearest, bounds = None, np.inf, []
        for weights, needs, _ in self.wish.ways(own):
            way = replace(moves, gains=np.c_[moves.gains @ weights.T, constrained])
            size = np.abs(weights) @ np.abs(start) + np.abs(needs) + 1
            bound = np.inf
            for excess in _EXCESS:
                short = needs - weights @ start + excess * size
                spare = 0.0 if excess == _EXCESS[0] else excess * terms
                units = _units(way, np.append(short, beyond + spare), settings)
                if units is None:
                    break
                if bound == np.inf:
                    bound = units @ way.costs
                values = self._values(task, row, units, columns, targets)
                values = feasible.projected(values[None], task.values[[row]])
                distance = feasible.distances(values, task.values[[row]])[0]
                holds = task.holds(values, np.array([row])) & feasible.keeps(values)
                if holds[0]:
                    if distance < nearest:
                        best, nearest = values[0], distance
                    break
            bounds.append(bound)
        lower = min(bounds, default=np.inf)
        if best is not None and nearest <= lower * (1 + 1e-6) + 1e-12:
            lower = nearest
        return best, lower

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


def _units(moves, needs, settings):
    """Units of the moves that are cheapest, or of the fewest columns."""
    if not len(moves.costs) or np.isnan(needs).any():
        return None
    most = settings.max_changes
    if settings.objective == "n_changed":
        most = moves.fewest(needs)
        if most is None or most > (settings.max_changes or most):
            return None
    return moves.cheapest(needs, most)

"""The cheapest moves by which linear functions rise by their needs.

One function that has to rise takes the moves of best gain per cost; all other cases are
mixed-integer programs, solved by HiGHS.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# Limit of endless moves, in multiples of the units that reach all needs by one move:
# moves against each other go further than one alone, and larger limits let moves of
# closed columns leak through the solver's tolerance, 1e-6 of the limit.
_FAR_MULTIPLE = 100
# Relative difference of costs that count as equal: the tolerance of HiGHS.
_RELATIVE_TOLERANCE = 1e-7
# Options of `milp`. Limits of nodes and seconds, chosen by hand: narrow intervals of
# sums of many columns would take hours. The gap is below `_RELATIVE_TOLERANCE`.
_OPTIONS = {"node_limit": 2000, "time_limit": 5.0, "mip_rel_gap": 1e-9}
# Statuses of milp: optimal, infeasible. Statuses of limits differ between versions.
_DECIDED_STATUSES = 0, 2
# Moves of lower costs count as moves of this, so that gains per cost stay finite.
_LEAST_COST = 1e-200


class UnsolvedError(Exception):
    """An integer program reached a limit; `units` are its best so far, or None."""

    def __init__(self, units: _Array | None) -> None:
        super().__init__()
        self.units = units


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves from a point, each of which adds to linear functions.

    Parameters
    ----------
    gains : ndarray of shape (n_moves, m)
        Gain of each of m functions per unit of each move.
    costs : ndarray of shape (n_moves,)
        Costs of a unit.
    most : ndarray of shape (n_moves,)
        Largest number of units of each move; may be infinite.
    is_integer : ndarray of shape (n_moves,), bool
        Mask of moves that are made in whole units.
    column : ndarray of shape (n_moves,), intp
        The column that each move changes.
    exclusive : ndarray of shape (n_moves,), bool
        Mask of moves that exclude each other if they are of the same column.
    after : ndarray of shape (n_moves,), intp
        The exclusive move that must be made before each; -1 where there is none.
    """

    gains: _Array
    costs: _Array
    most: _Array
    is_integer: NDArray[np.bool_]
    column: NDArray[np.intp]
    exclusive: NDArray[np.bool_]
    after: NDArray[np.intp]

    def least_cost(self) -> float:
        """The least cost of any first move; zero if some first move can be small."""
        is_first = (self.most > 0) & (self.after < 0)
        least_unit = self.costs[is_first].min(initial=np.inf)
        return least_unit * self.is_integer[is_first].all()

    def cheapest_units(
        self, needs: _Array, weights: _Array, limits: _Array
    ) -> _Array | None:
        """Units (n_moves,) of moves so that functions rise by `needs` (m,), or None.

        `weights` (k, n_columns) of moved columns add up to `limits` (k,) at most.
        """
        units = self._take_by_rate(needs)
        if units is not None and self._within_limits(units, weights, limits):
            return units
        units = self._solve_program(self.costs, needs, weights, limits)
        return None if units is None else self.cover_shortfalls(units, needs)

    def fewest_columns(
        self, needs: _Array, weights: _Array, limits: _Array
    ) -> int | None:
        """The least number of moved columns that is enough, or None."""
        units = self._take_by_rate(needs)
        if (
            units is None
            or self.n_moved(units) > 1
            or not self._within_limits(units, weights, limits)
        ):
            units = self._solve_program(None, needs, weights, limits)
        return None if units is None else self.n_moved(units)

    def n_moved(self, units: _Array) -> int:
        """The number of columns that units of moves change."""
        return len(np.unique(self.column[units > 0]))

    def _within_limits(self, units: _Array, weights: _Array, limits: _Array) -> bool:
        """Whether the weights of moved columns are within their limits."""
        moved = np.unique(self.column[units > 0])
        return bool((weights[:, moved].sum(axis=1) <= limits).all())

    def _take_by_rate(self, needs: _Array) -> _Array | None:
        """Units of moves made to their end, the best gain per cost first.

        They are the cheapest where one function alone has to rise. None where several
        have to, or where these units break another condition.
        """
        if (needs > 0).sum() != 1:
            return None
        units = np.zeros(len(self.costs))
        gains, need = self.gains[:, needs.argmax()], needs.max()
        useful_moves = np.flatnonzero((gains > 0) & (self.most > 0))
        rates = self._rates(gains[:, None])[useful_moves, 0]
        for move in useful_moves[np.argsort(-rates)]:
            units[move] = min(need / gains[move], self.most[move])
            need -= units[move] * gains[move]
            if units[move] < self.most[move]:
                need = 0.0
                break
        surplus = np.delete(units @ self.gains - needs, needs.argmax())
        is_used = units > 0
        is_fractional = (units != np.rint(units)) & self.is_integer
        breaks_exclusion = np.bincount(self.column[self.exclusive & is_used]) > 1
        is_too_early = is_used & (self.after >= 0) & (units[self.after] == 0)
        is_invalid = need > 0 or (surplus < 0).any()
        is_invalid |= (
            is_fractional.any() or breaks_exclusion.any() or is_too_early.any()
        )
        return None if is_invalid else units

    def _rates(self, gains: _Array) -> _Array:
        """Gains (n_moves, m) per cost, finite where a move costs nothing."""
        with np.errstate(over="ignore"):
            return gains / np.maximum(self.costs, _LEAST_COST)[:, None]

    def cover_shortfalls(self, units: _Array, needs: _Array) -> _Array:
        """Units, raised where functions lack a little of their needs by rounding."""
        units = units.copy()
        # Moves that are made, or whose earlier move is.
        is_begun = (units > 0) | ((self.after >= 0) & (units[self.after] > 0))
        is_usable = is_begun & (units < self.most) & ~self.is_integer
        rates = np.where(is_usable[:, None], self._rates(self.gains), 0)
        for function in np.flatnonzero(units @ self.gains < needs):
            move = rates[:, function].argmax()
            shortfall = needs[function] - units @ self.gains[:, function]
            if rates[move, function] > 0 and shortfall > 0:
                added = (
                    shortfall * (1 + _RELATIVE_TOLERANCE) / self.gains[move, function]
                )
                units[move] = min(units[move] + added, self.most[move])
        return units

    def _solve_program(
        self, costs: _Array | None, needs: _Array, weights: _Array, limits: _Array
    ) -> _Array | None:
        """Units of least cost, or without `costs` of the fewest columns; or None.

        The variables of the mixed-integer program are the units u of the moves and, for
        each column with moves, whether it moves, z: the least of ``costs @ u``, or of
        ``z.sum()``, with ``u @ gains >= needs`` and the constraints of `_conditions`.
        """
        n_moves = len(self.costs)
        columns, column_position = np.unique(self.column, return_inverse=True)
        objective = np.append(
            np.zeros(n_moves) if costs is None else costs,
            np.full(len(columns), float(costs is None)),
        )
        counts_columns = costs is None or len(limits) > 0
        gain_units = np.abs(self.gains).max(axis=0, initial=0)  # of each function
        gain_units[gain_units == 0] = 1
        is_later = self.after >= 0
        entrances = np.unique(self.after[is_later])
        # Older solvers fail on whole units without an end.
        entrance_gains = np.abs(self.gains[entrances] / gain_units).sum(axis=0)
        move_limits = self._move_limits(
            np.abs(needs / gain_units) + entrance_gains, gain_units
        )
        needs_limit = self.is_integer | is_later | counts_columns
        most_units = np.where(
            needs_limit, np.minimum(self.most, move_limits), self.most
        )
        rises = np.hstack([self.gains.T, np.zeros((len(needs), len(columns)))])
        constraints = [
            LinearConstraint(rises / gain_units[:, None], needs / gain_units, np.inf),
            *self._conditions(most_units, counts_columns, weights, limits),
        ]
        best_units, least_cost = None, np.inf
        while True:
            solution = milp(
                objective,
                integrality=np.append(self.is_integer, np.ones(len(columns))),
                bounds=Bounds(0, np.append(most_units, np.ones(len(columns)))),
                constraints=constraints,
                options=_OPTIONS,
            )
            if solution.status not in _DECIDED_STATUSES:
                units = None if solution.x is None else solution.x[:n_moves]
                if units is not None:
                    best_units = self._round_units(units)
                raise UnsolvedError(best_units)
            if solution.x is None or solution.fun >= least_cost:
                return best_units
            units = self._round_units(solution.x[:n_moves])
            if not (counts_columns or is_later.any()):
                return units
            # The solver's tolerance lets closed columns, and columns that are not
            # entered, move a little: solve again without them.
            is_open = solution.x[n_moves:] > 0.5
            entered = np.zeros(n_moves)
            entered[entrances] = units[entrances]
            is_usable = (
                is_open[column_position] if counts_columns else np.ones(n_moves, bool)
            )
            units = self._solve_after_entrances(entered, is_usable, needs)
            if units is not None and (costs is None or units @ costs < least_cost):
                best_units = units
                least_cost = float(solution.fun if costs is None else units @ costs)
            if least_cost <= solution.fun * (1 + _RELATIVE_TOLERANCE):
                return best_units
            # Another entrance is made or left out, or another column opened.
            cut = np.zeros(len(objective))
            cut[entrances] = 1 - 2 * entered[entrances]
            cut[n_moves:] = ~is_open & counts_columns
            constraints.append(LinearConstraint(cut[None], 1 - entered.sum(), np.inf))

    def _conditions(
        self, most_units: _Array, counts_columns: bool, weights: _Array, limits: _Array
    ) -> Iterator[LinearConstraint]:
        """Constraints on which moves of `_solve_program` may be made together.

        Only columns that are counted as moved may move, and their `weights` (k,
        n_columns) add up to `limits` at most; a move is made only after the move that
        it needs; and of a column's exclusive moves at most one is made.
        """
        columns, position = np.unique(self.column, return_inverse=True)
        n_moves, moves = len(self.costs), np.arange(len(self.costs))
        n_variables = n_moves + len(columns)
        if counts_columns:
            opening = np.zeros((n_moves, n_variables))
            opening[moves, moves] = 1
            opening[moves, n_moves + position] = -most_units
            yield LinearConstraint(opening, -np.inf, 0)
        if len(limits):
            column_weights = np.hstack(
                [np.zeros((len(weights), n_moves)), weights[:, columns]]
            )
            yield LinearConstraint(column_weights, 0, limits)
        later_moves = np.flatnonzero(self.after >= 0)
        if len(later_moves):
            precedence = np.zeros((len(later_moves), n_variables))
            precedence[np.arange(len(later_moves)), later_moves] = 1
            precedence[
                np.arange(len(later_moves)), self.after[later_moves]
            ] = -most_units[later_moves]
            yield LinearConstraint(precedence, -np.inf, 0)
        exclusion = np.zeros((len(columns), n_variables))
        exclusion[position[self.exclusive], np.flatnonzero(self.exclusive)] = 1
        yield LinearConstraint(exclusion, 0, 1)

    def _round_units(self, units: _Array) -> _Array:
        """Units with whole numbers where moves are made in whole units."""
        return np.where(self.is_integer, np.rint(units), units)

    def _solve_after_entrances(
        self, entered: _Array, is_usable: NDArray[np.bool_], needs: _Array
    ) -> _Array | None:
        """Units of usable moves, after the moves in `entered` have been made."""
        is_later, is_entrance = self.after >= 0, np.zeros(len(is_usable), dtype=bool)
        is_entrance[self.after[is_later]] = True
        is_excluded = self.exclusive & np.isin(self.column, self.column[entered > 0])
        lacks_entrance = is_later & (entered[self.after] == 0)
        is_usable = is_usable & ~(is_entrance | is_excluded | lacks_entrance)
        reduced = replace(
            self,
            most=np.where(is_usable, self.most, 0),
            after=np.full_like(self.after, -1),
        )
        needs = needs - entered @ self.gains
        units = reduced._solve_program(self.costs, needs, np.empty((0, 0)), np.empty(0))
        return None if units is None else units + entered

    def _move_limits(self, needs: _Array, sizes: _Array) -> _Array:
        """Limits of moves beyond any need, (n_moves,)."""
        gains = np.abs(self.gains / sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            units = needs.max() / gains
        units = np.where(gains > 0, units, 0).max(axis=1, initial=0)
        return np.maximum(1.0, np.ceil(_FAR_MULTIPLE * units))


def share_slack(
    rooms: _Array, losses: _Array, slack: _Array, is_integer: NDArray[np.bool_]
) -> tuple[_Array, _Array]:
    """Sizes (n,) of moves by which no function loses more than its slack; slack left.

    Parameters
    ----------
    rooms : ndarray of shape (n,)
        Upper limits of the sizes.
    losses : ndarray of shape (n, m)
        Loss of each function per unit of each move.
    slack : ndarray of shape (m,)
        The largest total loss of each function. Each move may use an equal share of the
        slack that the moves before it leave.
    is_integer : ndarray of shape (n,), bool
        Mask of moves in whole units.
    """
    sizes, slack = np.array(rooms, dtype=np.float64), slack.copy()
    n_moves_left = (losses > 0).sum(axis=0)
    for move, loss in enumerate(losses):
        has_loss = loss > 0
        if has_loss.any():
            equal_shares = slack / np.maximum(n_moves_left, 1)
            largest = (equal_shares[has_loss] / loss[has_loss]).min()
            sizes[move] = max(min(sizes[move], largest), 0)
        if is_integer[move]:
            sizes[move] = np.floor(sizes[move])
        slack[has_loss] -= sizes[move] * loss[has_loss]
        n_moves_left -= has_loss
    return sizes, slack

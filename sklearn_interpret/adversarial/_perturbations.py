"""Searches for the smallest perturbations: of linear models, of trees, along slopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.norm_balls import nearest_beyond, nearest_beyond_all
from sklearn_interpret._core.search.programs import Goal
from sklearn_interpret._model.actions.linear_search import ColumnEffects, precision
from sklearn_interpret._model.formulas.trees.nearest import TreeSearch
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.adversarial._base import Budget, Tries

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.problem import SearchProblem

# The objective of each norm, for trees.
_OBJECTIVES = {1: "distance", np.inf: "largest_change"}
# Excess over the needs, relative to the size of the terms and in the precision of the
# numbers: more until the model's own answer satisfies the target.
_EXCESS = (2.0**3, 2.0**15, 2.0**25)
# Starts of each row: parts of the shortest steps to where a linearised margin is zero,
# and the nearest boundaries on the ways to `_N_NEAR` known rows of the target.
_PARTS, _N_NEAR, _N_KNOWN = (0.5, 1.0, 2.0), 30, 5
# Largest number of known rows whose distances are computed, and of moves of a descent.
_MOST_KNOWN, _MOST_STEPS = 2000, 60
# Moves shorter than this part of their starts have settled.
_STILL = 1e-4
# Starts are dropped whose boundary is this many times as far as the nearest row.
_FAR = 1.5
# Margins to be reached, relative to that of the row: from all starts, then from the
# nearest `_N_AGAIN` of each row. Kinks of a network stop small aims, not large ones.
_AIMS, _N_AGAIN = (1e-2, 1e-3), 4
# Bisections on the way to a known row.
_HALVINGS = 12
# Multiples of steps that are tried in turn: rounding needs a little more than one,
# whole numbers need much more.
_MULTIPLES = np.concatenate(
    [
        1 - 10.0 ** -np.arange(1, 8, 2),
        [1.0],
        1 + 10.0 ** -np.arange(9, 0, -2),
        2.0 ** np.arange(0.5, 10.5, 0.5),
    ]
)
# Relative precision of the bisection between the last two multiples.
_PRECISION = 1e-9
# Power of the numbers' precision that steps are extended by in the end, so that other
# rows in the same call do not change the answer.
_EXTENDED = 0.4


class LinearPerturbation:
    """Finds the nearest rows for which a linear model reaches a target.

    Parameters
    ----------
    known : SearchProblem
        Known rows; an UnreadableModelError says why the model is not linear in them.

    Attributes
    ----------
    rows_each : int
        Number of rows in one call of the model, per attacked row.
    """

    method: Literal["linear"] = "linear"

    def __init__(self, training: Any) -> None:
        self._effects = ColumnEffects(training)
        self._target = self._effects.target()
        self.rows_each = len(self._effects.model.intercept)
        slopes = [
            np.zeros(self.rows_each) if s is None else s for s in self._effects.slopes
        ]
        self._slopes = np.array(slopes) / training.actionability.costs[:, None]

    def tries(self, problem: SearchProblem, index: NDArray[np.intp]) -> Tries:
        """The nearest rows, with the distances of relaxed programs as lower bounds."""
        slopes, needs, sizes, most = self._programs(problem, index)
        n_ways = slopes.shape[1]
        slopes, needs, sizes, most = (
            array.reshape(-1, *array.shape[2:])
            for array in (slopes, needs, sizes, most)
        )
        budget = Budget(problem, np.repeat(index, n_ways), np.inf)
        # Equality to rounding is no proof that a row is impossible.
        least = needs - _EXCESS[0] * self._effects.precision * sizes
        steps, possible = nearest_beyond_all(
            slopes, budget.low, budget.high, least, budget.norm
        )
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        bounds = np.where(possible, norms, np.inf).reshape(-1, n_ways).min(axis=1)
        values, distances = budget.origins.copy(), np.full(len(needs), np.inf)
        left = np.flatnonzero(possible)
        for excess in _EXCESS:
            if not len(left):
                break
            raised = np.minimum(excess * self._effects.precision * sizes, most)
            remaining, remaining_slopes = budget.part(left), slopes[left]
            nearer = self._steps(
                remaining_slopes, remaining, (needs + raised)[left], steps[left]
            )
            _keep_nearer(values, distances, budget, left, rows_after(remaining, nearer))
            left = left[np.isinf(distances[left])]
        if problem.actionability.integer.any():
            left = np.flatnonzero(possible)
        on_rays, _ = nearest_on_rays(budget.part(left), steps[left])
        _keep_nearer(values, distances, budget, left, on_rays)
        best = distances.reshape(-1, n_ways).argmin(axis=1)
        best += n_ways * np.arange(len(index))
        return Tries(values[best], np.minimum(bounds, distances[best]))

    @staticmethod
    def _steps(
        slopes: NDArray[np.float64],
        budget: Budget,
        needs: NDArray[np.float64],
        relaxed: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The shortest steps whose whole numbers are those of relaxed ones, cut.

        And whose numbers that may not change by small steps are those of relaxed ones.
        """
        costs, is_whole = budget.actionability.costs, budget.actionability.integer
        cut = np.where(is_whole, np.trunc(relaxed / costs) * costs, 0)
        least, most = budget.actionability.permitted(budget.origins)
        jumps = (least > budget.origins) | (most < budget.origins)
        entered = rows_after(budget, relaxed) - budget.origins
        cut = np.where(jumps & (relaxed != 0), entered * costs, cut)
        is_whole = is_whole | jumps
        low, high = (
            np.where(is_whole, 0, limits) for limits in (budget.low, budget.high)
        )
        needs = needs - np.einsum("nmp,np->nm", slopes, cut)
        return cut + nearest_beyond_all(slopes, low, high, needs, budget.norm)[0]

    def _programs(self, problem: SearchProblem, index: NDArray[np.intp]) -> Any:
        """Slopes (n, n_ways, m, p), needs and sizes of the terms of m functions.

        And the largest excess over the needs.
        """
        sums = self._effects.margins(problem.rows.take(index).native)
        n_sums = sums.shape[1]
        answers = problem.classes_of(index)
        answers = np.zeros(len(index), dtype=int) if answers is None else answers
        programs = [self._target.systems(k) for k in range(max(n_sums, 2))]
        weights, ends = (
            np.array(
                [[program[number] for program in of_class] for of_class in programs]
            )
            for number in (0, 1)
        )
        weights, ends = weights[answers], ends[answers]
        slopes = np.einsum("nwmk,pk->nwmp", weights, self._slopes)
        needs = ends - np.einsum("nwmk,nk->nwm", weights, sums)
        places = np.abs(problem.values[index] * problem.actionability.costs)
        sizes = np.einsum("nwmp,np->nwm", np.abs(slopes), np.nan_to_num(places))
        sizes += np.abs(ends) + np.einsum("nwmk,nk->nwm", np.abs(weights), np.abs(sums))
        most = np.full(ends.shape, np.inf)
        if ends.shape[2] == 2 and self._target.interval is not None:
            most[:] = -ends.sum(axis=2, keepdims=True) / 2
        return slopes, needs, sizes, most


def _keep_nearer(
    values: NDArray[np.float64],
    distances: NDArray[np.float64],
    budget: Budget,
    rows: NDArray[np.intp],
    candidates: NDArray[np.float64],
) -> None:
    """Exchange some rows for others that satisfy the target and are nearer."""
    index = budget.index[rows]
    holds = budget.problem.holds(candidates, index)
    reached = np.where(holds, budget.problem.distances(candidates, index), np.inf)
    nearer = reached < distances[rows]
    values[rows[nearer]], distances[rows[nearer]] = candidates[nearer], reached[nearer]


class TreePerturbation:
    """Finds the smallest changes for which a model of trees reaches a target.

    Parameters
    ----------
    known : SearchProblem
        Known rows; the norm of `known.actionability` is 1 or inf.
    time_limit : float
        Seconds for each row; zero leaves it at what heuristics find.

    Raises
    ------
    UnreadableModelError
        The model is not made of trees that can be read.
    ValueError
        Another norm.
    """

    method: Literal["trees"] = "trees"

    def __init__(self, training: SearchProblem, time_limit: float) -> None:
        norm = training.actionability.norm
        self._search = TreeSearch(training, 0.0)
        if norm not in _OBJECTIVES:
            raise ValueError(
                f"norm={str(norm)!r} of changes is not among those that trees are "
                "searched for: norm='inf' and norm='1' are accepted. HopSkipJump "
                "looks for rows near in any norm."
            )
        self._goal = Goal(time_limit, _OBJECTIVES[norm])

    def tries(self, problem: SearchProblem, index: NDArray[np.intp]) -> Tries:
        """`Tries` at the rows at `index` of a problem, with proved lower bounds.

        A row without a result stays; its bound is infinite if none is possible.
        """
        values, bounds = problem.values[index], np.zeros(len(index))
        for i, row in enumerate(with_progress(index.tolist())):
            result, bounds[i] = self._search.nearest(problem, row, self._goal)
            if result is not None:
                values[i] = result
                # Rounding may put the bound beyond the row.
                nearest = problem.distances(result[None], index[[i]])[0]
                bounds[i] = min(bounds[i], nearest)
        return Tries(values, bounds)


class SmoothPerturbation:
    """Finds near rows for which a model with slopes reaches a target.

    Parameters
    ----------
    known : SearchProblem
        Known rows; an UnreadableModelError says that the model has no slopes there.

    Attributes
    ----------
    rows_each : int
        Number of rows in one call of the model, per attacked row.
    """

    method: Literal["gradient"] = "gradient"

    def __init__(self, training: SearchProblem) -> None:
        self._margins = Margins(training)
        n_slopes = (len(_PARTS) + _N_KNOWN) * self._margins.n_rivals
        self.rows_each = n_slopes + _N_NEAR
        index_of_training = np.unique(
            np.linspace(0, training.rows.n_rows - 1, _MOST_KNOWN).astype(int)
        )
        if not training.outcome.is_other:
            index_of_training = index_of_training[training.fulfilled[index_of_training]]
        self._training_values, self._answers = (
            training.values[index_of_training],
            np.zeros(len(index_of_training), int),
        )
        if training.outcome.is_other:
            self._answers = training.classes[index_of_training]

    def tries(self, problem: SearchProblem, index: NDArray[np.intp]) -> Tries:
        """The nearest rows of all descents."""
        budget = Budget(problem, index, np.inf)
        starts = np.concatenate([self._beyond(budget), self._as_known(budget)], axis=1)
        for aim in _AIMS:
            n, n_starts, p = starts.shape
            of_starts = Budget(problem, np.repeat(index, n_starts), np.inf)
            steps, norms = self._descended(
                of_starts, starts.reshape(-1, p), n_starts, aim
            )
            order = norms.reshape(n, n_starts).argsort(axis=1, kind="stable")
            order = order[:, :_N_AGAIN]
            starts = steps.reshape(n, n_starts, p)[np.arange(n)[:, None], order]
        values, valid = budget.origins.copy(), np.zeros(n, dtype=bool)
        for start in range(starts.shape[1]):
            left = np.flatnonzero(~valid)
            if not len(left):
                break
            ends = starts[left, start]
            values[left], valid[left] = nearest_on_rays(budget.part(left), ends)
        return Tries(values)

    def _beyond(self, budget: Budget) -> NDArray[np.float64]:
        """Steps (n, k, p) towards the boundaries of linearised margins."""
        zero = np.zeros(budget.low.shape)
        _, all_margins = self._at(budget, zero)
        if self._margins.outcome.is_other:
            n, m = all_margins.shape
            slopes = self._slopes(budget, budget.origins, np.tile(np.arange(m), (n, 1)))
            low, high = (
                np.repeat(limits, m, axis=0) for limits in (budget.low, budget.high)
            )
            needs = np.where(
                np.isinf(all_margins), 0, np.maximum(-all_margins, 0)
            ).ravel()
            slopes = slopes.reshape(n * m, -1)
            steps, _ = nearest_beyond(slopes, low, high, needs, budget.norm)
            steps = steps.reshape(n, m, -1)
        else:
            steps = self._linearised(budget, zero, all_margins, 0.0)[0][:, None]
        return np.concatenate([share * steps for share in _PARTS], axis=1)

    def _as_known(self, budget: Budget) -> NDArray[np.float64]:
        """Steps (n, k, p) towards known rows, as far as the boundary."""
        steps = np.array([self._near(budget, row) for row in range(len(budget.index))])
        n, k, p = steps.shape
        of_ends = Budget(budget.problem, np.repeat(budget.index, k), np.inf)
        steps = steps.reshape(-1, p)
        short, enough = np.zeros(len(steps)), np.ones(len(steps))
        for _ in range(_HALVINGS):
            between = (short + enough) / 2
            margins, _ = self._at(of_ends, steps * between[:, None])
            short = np.where(margins < 0, between, short)
            enough = np.where(margins < 0, enough, between)
        steps *= enough[:, None]
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        norms = np.where(norms > 0, norms, np.inf).reshape(n, k)
        nearest = norms.argsort(axis=1, kind="stable")[:, :_N_KNOWN]
        return steps.reshape(n, k, p)[np.arange(n)[:, None], nearest]

    def _near(self, budget: Budget, row: int) -> NDArray[np.float64]:
        """Steps (k, p) to known rows near a row, of all classes in turn, or zero."""
        ends, answers = self._training_values, self._answers
        if self._margins.outcome.is_other:
            differs = answers != budget.problem.classes[budget.index[row]]
            ends, answers = ends[differs], answers[differs]
        moves = (ends - budget.origins[row]) * budget.actionability.costs
        moves = np.clip(np.nan_to_num(moves), budget.low[row], budget.high[row])
        order = np.linalg.norm(moves, budget.norm, axis=1).argsort(kind="stable")
        answers = answers[order]
        turns = np.zeros(len(order), dtype=int)
        for answer in np.unique(answers):
            turns[answers == answer] = np.arange((answers == answer).sum())
        order = order[turns.argsort(kind="stable")]
        steps = np.zeros((min(_N_NEAR, len(self._training_values)), moves.shape[1]))
        steps[: len(order)] = moves[order[: len(steps)]]
        return steps

    def _at(
        self, budget: Budget, steps: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Binding margins after some steps, (n,), and all margins."""
        values = rows_after(budget, steps)
        return self._margins.at(budget.problem, values, budget.index)[1:]

    def _slopes(
        self, budget: Budget, values: NDArray[np.float64], rivals: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Slopes (n, m, p) of margins against some rivals (n, m) each."""
        n, m = rivals.shape
        rows, index = np.repeat(values, m, axis=0), np.repeat(budget.index, m)
        slopes = self._margins.slopes(budget.problem, rows, index, rivals.ravel())
        return slopes.reshape(n, m, -1)

    def _linearised(
        self,
        budget: Budget,
        steps: NDArray[np.float64],
        all_margins: NDArray[np.float64],
        aims: NDArray[np.float64] | float,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The shortest steps by which linearised margins reach their aims.

        And their norms per unit of margin.
        """
        values = rows_after(budget, steps)
        steps = np.nan_to_num((values - budget.origins) * budget.actionability.costs)
        n = len(steps)
        rivals = np.tile(np.arange(all_margins.shape[1]), (n, 1))
        if self._margins.outcome.is_other:
            rivals = self._margins.binding(all_margins)[0][:, None]
        all_margins = np.take_along_axis(all_margins, rivals, axis=1)
        slopes = self._slopes(budget, values, rivals)
        gained = np.einsum("nmp,np->nm", slopes, steps)
        needs = np.reshape(aims, (-1, 1)) - all_margins + gained
        shortest, _ = nearest_beyond_all(
            slopes, budget.low, budget.high, needs, budget.norm
        )
        norms = np.linalg.norm(shortest, budget.norm, axis=1)
        most = needs.max(axis=1)
        return shortest, np.divide(norms, most, out=np.zeros(n), where=most > 0)

    def _descended(
        self, budget: Budget, steps: NDArray[np.float64], n_starts: int, aim: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The nearest steps with a margin that descents pass, and their norms."""
        n = len(steps)
        first, _ = self._at(budget, np.zeros(steps.shape))
        aims = -aim * first
        margins, all_margins = self._at(budget, steps)
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        best, nearest = steps.copy(), np.where(margins >= 0, norms, np.inf)
        steps, weights, shares = steps.copy(), np.zeros(n), np.ones(n)
        ends, is_new = np.zeros(steps.shape), np.ones(n, dtype=bool)
        active = np.arange(n)
        for _ in with_progress(range(_MOST_STEPS)):
            new = active[is_new[active]]
            if len(new):
                ends[new], prices = self._linearised(
                    budget.part(new), steps[new], all_margins[new], aims[new]
                )
                weights[new] = np.maximum(weights[new], 2 * prices)
            remaining = budget.part(active)
            directions = ends[active] - steps[active]
            trials = steps[active] + shares[active, None] * directions
            margin, trial_margins = self._at(remaining, trials)
            norm = np.linalg.norm(trials, budget.norm, axis=1)
            nearer = (margin >= 0) & (norm < nearest[active])
            best[active[nearer]], nearest[active[nearer]] = trials[nearer], norm[nearer]
            lack = np.maximum(aims[active] - margins[active], 0)
            before = norms[active] + weights[active] * lack
            after = norm + weights[active] * np.maximum(aims[active] - margin, 0)
            better = after < before
            moved = np.linalg.norm(directions, budget.norm, axis=1)
            settled = shares[active] * moved <= _STILL * norms[active]
            accepted = active[better]
            steps[accepted], norms[accepted] = trials[better], norm[better]
            margins[accepted], all_margins[accepted] = (
                margin[better],
                trial_margins[better],
            )
            is_new[active] = better
            shares[active] = np.where(
                better, np.minimum(2 * shares[active], 1), shares[active] / 4
            )
            of_row = nearest.reshape(-1, n_starts).min(axis=1).repeat(n_starts)[active]
            is_far = np.linalg.norm(ends[active], budget.norm, axis=1) > _FAR * of_row
            active = active[~(settled | is_far)]
            if not len(active):
                break
        return best, nearest


def rows_after(budget: Budget, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Encoded rows after some steps, projected on the values of their columns."""
    moved = budget.origins + steps / budget.actionability.costs
    values = np.where(steps == 0, budget.origins, moved)
    return budget.actionability.projected(values, budget.origins)


def nearest_on_rays(
    budget: Budget, steps: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The nearest rows on the rays along some steps, and whether they are on target.

    Those that are not are the ends of the steps.
    """
    values, valid = rows_after(budget, steps), np.zeros(len(steps), dtype=bool)
    short, enough = np.zeros((2, len(steps)))
    left = np.flatnonzero(steps.any(axis=1))
    for multiple in _MULTIPLES:
        if not len(left):
            break
        enough[left] = multiple
        holds = _ask(budget, steps, enough, left, values, valid)
        left = left[~holds]
        short[left] = multiple
    while True:
        # Some numbers jump at any step: multiples near zero gain nothing.
        room = _PRECISION * np.maximum(enough, 1)
        left = np.flatnonzero(valid & (enough - short > room))
        if not len(left):
            break
        between = (short + enough) / 2
        holds = _ask(budget, steps, between, left, values, valid)
        enough[left[holds]] = between[left[holds]]
        short[left[~holds]] = between[left[~holds]]
    surely = enough * (1 + precision(budget.actionability) ** _EXTENDED)
    _ask(budget, steps, surely, np.flatnonzero(valid), values, valid)
    _step_back(budget, values, valid)
    return values, valid


def _ask(
    budget: Budget,
    steps: NDArray[np.float64],
    multiples: NDArray[np.float64],
    rows: NDArray[np.intp],
    values: NDArray[np.float64],
    valid: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Whether rows satisfy the target after multiples of steps; keep those that do."""
    remaining = budget.part(rows)
    trials = rows_after(remaining, steps[rows] * multiples[rows, None])
    holds = budget.problem.holds(trials, remaining.index)
    values[rows[holds]], valid[rows[holds]] = trials[holds], True
    return holds


def _step_back(
    budget: Budget, values: NDArray[np.float64], valid: NDArray[np.bool_]
) -> None:
    """Move whole numbers back by one each, where rows still satisfy the target."""
    for j in np.flatnonzero(budget.actionability.integer & budget.actionability.vary):
        moved = np.flatnonzero(valid & (values[:, j] != budget.origins[:, j]))
        nearer = values[moved]
        back = budget.actionability.nearer(nearer, budget.origins[moved])
        nearer[:, j] = back[:, j]
        holds = budget.problem.holds(nearer, budget.index[moved])
        values[moved[holds]] = nearer[holds]

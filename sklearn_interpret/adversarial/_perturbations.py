"""Searches for the smallest perturbations: of linear models, of trees, along slopes.

`LinearPerturbation` solves programs with linear margins, `TreePerturbation` searches
the cells of trees, `SmoothPerturbation` descends from several starts: each step goes to
where the margins, linearised, reach their aims. All measure rows in steps: changes from
the attacked row in the unit of the distance. Shapes: n rows, m margins, p columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.norm_balls import (
    shortest_steps,
    shortest_steps_for_all,
)
from sklearn_interpret._core.search.programs import Goal
from sklearn_interpret._model.actions.linear_search import ColumnEffects, precision
from sklearn_interpret._model.formulas.trees.nearest import TreeSearch
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.adversarial._base import AttackResult, Budget

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.problem import SearchProblem

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# The objective of each norm, for trees.
_OBJECTIVES = {1: "distance", np.inf: "largest_change"}
# Excesses over the needs, in rounding errors of the terms: they are tried in turn until
# the model's own answer satisfies the target.
_EXCESSES = (2.0**3, 2.0**15, 2.0**25)
# Numbers of rows, starts and steps below are chosen by hand: larger numbers take
# longer, and may find nearer rows.
# Starts at these multiples of the shortest steps to where a linearised margin is zero.
_START_MULTIPLES = (0.5, 1.0, 2.0)
# Further starts lie on the ways to known rows of the target: this number of near rows
# is tried, and the starts are where the nearest boundaries are met. The last number is
# the largest number of known rows.
_N_NEAR_KNOWN = 30
_N_KNOWN_STARTS = 5
_MAX_KNOWN = 2000
# Bisections on the way to a known row.
_N_BISECTIONS = 12
# Margins that descents aim at, relative to the margin of the attacked row: first from
# all starts, then from the nearest ends of each row. Small aims alone would stop at
# kinks of a network.
_AIMS = (1e-2, 1e-3)
_N_STARTS_AGAIN = 4
# Largest number of moves of a descent.
_MAX_MOVES = 60
# A descent has settled where a move is shorter than this share of the step so far.
_MIN_MOVE = 1e-4
# A descent ends where it leads to this multiple of the distance of the nearest row.
_MAX_DISTANCE_RATIO = 1.5
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
# In the end steps are extended by the numbers' precision to this power, so that other
# rows in the same call do not change the answer.
_EXTENSION_POWER = 0.4


class _Programs(NamedTuple):
    """Programs of rows, some for each: the shortest steps by which functions gain.

    A linear function that gains `slopes @ step` reaches the target at a gain of `needs`
    and leaves it beyond `needs + max_excess`.
    """

    slopes: _Array  # (n_programs, m, p)
    needs: _Array  # (n_programs, m)
    sizes: _Array  # (n_programs, m): of the terms, which round
    max_excess: _Array  # (n_programs, m)


class LinearPerturbation:
    """Finds the nearest rows for which a linear model reaches a target.

    Parameters
    ----------
    training : SearchProblem
        Known rows; an UnreadableModelError says why the model is not linear in them.

    Attributes
    ----------
    n_asked_per_row : int
        Number of rows in one call of the model, per attacked row.
    """

    method: Literal["linear"] = "linear"

    def __init__(self, training: SearchProblem) -> None:
        self._effects = ColumnEffects(training)
        self._target = self._effects.target()
        self.n_asked_per_row = len(self._effects.model.intercept)
        slopes = [
            np.zeros(self.n_asked_per_row) if s is None else s
            for s in self._effects.slopes
        ]
        self._slopes = np.array(slopes) / training.actionability.costs[:, None]

    def search(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        """The nearest rows, with the distances of relaxed programs as lower bounds."""
        programs = self._make_programs(problem, index)
        slopes, needs = programs.slopes, programs.needs
        n_programs = len(needs) // len(index)  # of each row
        budget = Budget(problem, np.repeat(index, n_programs), np.inf)
        rounding = self._effects.precision * programs.sizes
        # Needs that are missed by rounding alone do not prove a row impossible.
        relaxed_needs = needs - _EXCESSES[0] * rounding
        steps, possible = shortest_steps_for_all(
            slopes, budget.low, budget.high, relaxed_needs, budget.norm
        )
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        norms = np.where(possible, norms, np.inf)
        lower_bounds = norms.reshape(-1, n_programs).min(axis=1)
        nearest = _NearestRows(budget)
        remaining = np.flatnonzero(possible)
        for excess in _EXCESSES:
            if not len(remaining):
                break
            raised = needs + np.minimum(excess * rounding, programs.max_excess)
            remaining_budget = budget.take(remaining)
            shortest_steps = self._shortest_steps(
                slopes[remaining], remaining_budget, raised[remaining], steps[remaining]
            )
            nearest.add(remaining, _project_steps(remaining_budget, shortest_steps))
            remaining = remaining[np.isinf(nearest.distances[remaining])]
        # Further candidates: where the rays along the steps reach the target.
        if problem.actionability.integer.any():
            remaining = np.flatnonzero(possible)
        rays = _nearest_on_rays(budget.take(remaining), steps[remaining])
        nearest.add(remaining, rays.values)
        best = nearest.distances.reshape(-1, n_programs).argmin(axis=1)
        best += n_programs * np.arange(len(index))
        lower_bounds = np.minimum(lower_bounds, nearest.distances[best])
        return AttackResult(nearest.values[best], lower_bounds)

    @staticmethod
    def _shortest_steps(
        slopes: _Array, budget: Budget, needs: _Array, relaxed: _Array
    ) -> _Array:
        """The shortest steps in which some numbers move as in relaxed steps.

        Whole numbers move as far, cut to whole moves. Numbers that lie outside of their
        bounds enter the bounds. All other numbers are free.
        """
        costs, is_whole = budget.actionability.costs, budget.actionability.integer
        fixed = np.where(is_whole, np.trunc(relaxed / costs) * costs, 0)
        lowest, highest = budget.actionability.permitted_limits(budget.origins)
        is_outside = (lowest > budget.origins) | (highest < budget.origins)
        entered = _project_steps(budget, relaxed) - budget.origins
        fixed = np.where(is_outside & (relaxed != 0), entered * costs, fixed)
        is_fixed = is_whole | is_outside
        low, high = (
            np.where(is_fixed, 0, limits) for limits in (budget.low, budget.high)
        )
        needs = needs - np.einsum("nmp,np->nm", slopes, fixed)
        free, _ = shortest_steps_for_all(slopes, low, high, needs, budget.norm)
        return fixed + free

    def _make_programs(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> _Programs:
        """The programs of all rows, one row after another, equally many for each.

        A row with the k sums f reaches the target where ``W f >= b`` holds for any of w
        systems. After a step s the sums are ``f + A s``: the program of a system is
        ``min norm(s)`` with ``W A s >= b - W f``. For example, a row of the first of
        three classes has w = 2 systems of m = 1 sum: the second class less the first,
        ``W = [[-1, 1, 0]]``, and the third less the first, ``W = [[-1, 0, 1]]``.
        """
        sums = self._effects.margins(problem.rows.take(index).native)
        answers = problem.classes_of(index)
        answers = np.zeros(len(index), dtype=int) if answers is None else answers
        n_answers = max(sums.shape[1], 2)
        systems = [self._target.systems(answer) for answer in range(n_answers)]
        # W (n_answers, w, m, k) and b (n_answers, w, m), then those of the n rows.
        weights = np.array([[s.weights for s in answer] for answer in systems])
        sum_needs = np.array([[s.needs for s in answer] for answer in systems])
        weights, sum_needs = weights[answers], sum_needs[answers]
        slopes = np.einsum("nwmk,pk->nwmp", weights, self._slopes)
        needs = sum_needs - np.einsum("nwmk,nk->nwm", weights, sums)
        # Sizes of the terms that are added up: W A x, b and W f, without their signs.
        origins = np.abs(problem.values[index] * problem.actionability.costs)
        sizes = np.einsum("nwmp,np->nwm", np.abs(slopes), np.nan_to_num(origins))
        sizes += np.abs(sum_needs)
        sizes += np.einsum("nwmk,nk->nwm", np.abs(weights), np.abs(sums))
        max_excess = np.full(sum_needs.shape, np.inf)
        if sum_needs.shape[2] == 2 and self._target.interval is not None:
            # Half of the interval, whose needs are (low, -high).
            max_excess[:] = -sum_needs.sum(axis=2, keepdims=True) / 2
        by_row = slopes, needs, sizes, max_excess  # (n, w, ...)
        return _Programs(*(array.reshape(-1, *array.shape[2:]) for array in by_row))


class _NearestRows:
    """The nearest of some candidates on target, of each program; else the row itself.

    `values` (n_programs, p) are encoded; `distances` (n_programs,) are infinite where
    none was on target.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget, self.values = budget, budget.origins.copy()
        self.distances = np.full(len(self.values), np.inf)

    def add(self, programs: NDArray[np.intp], candidates: _Array) -> None:
        """Add a candidate of each of some programs."""
        problem, index = self._budget.problem, self._budget.index[programs]
        holds = problem.holds(candidates, index)
        reached = np.where(holds, problem.distances(candidates, index), np.inf)
        is_nearer = reached < self.distances[programs]
        self.values[programs[is_nearer]] = candidates[is_nearer]
        self.distances[programs[is_nearer]] = reached[is_nearer]


class TreePerturbation:
    """Finds the smallest changes for which a model of trees reaches a target.

    Parameters
    ----------
    training : SearchProblem
        Known rows; the norm of their actionability is 1 or inf.
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

    def search(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        """The result for the rows at `index` of a problem, with proved lower bounds.

        A row stays where none is found; its bound is infinite if none is possible.
        """
        values, bounds = problem.values[index], np.zeros(len(index))
        for i, row in enumerate(with_progress(index.tolist())):
            nearest, bounds[i] = self._search.nearest(problem, row, self._goal)
            if nearest is not None:
                values[i] = nearest
                # Rounding may put the bound beyond the row.
                (distance,) = problem.distances(nearest[None], index[[i]])
                bounds[i] = min(bounds[i], distance)
        return AttackResult(values, bounds)


class SmoothPerturbation:
    """Finds near rows for which a model with slopes reaches a target.

    Parameters
    ----------
    training : SearchProblem
        Known rows; an UnreadableModelError says that the model has no slopes there.

    Attributes
    ----------
    n_asked_per_row : int
        Number of rows in one call of the model, per attacked row.
    """

    method: Literal["gradient"] = "gradient"

    def __init__(self, training: SearchProblem) -> None:
        self._margins = Margins(training)
        n_starts = len(_START_MULTIPLES) + _N_KNOWN_STARTS
        self.n_asked_per_row = n_starts * self._margins.n_rivals + _N_NEAR_KNOWN
        index = np.linspace(0, training.rows.n_rows - 1, _MAX_KNOWN).astype(int)
        index = np.unique(index)
        if training.outcome.is_other:
            self._known_answers = training.classes[index]
        else:
            index = index[training.fulfilled[index]]
            self._known_answers = np.zeros(len(index), dtype=int)
        self._known_values = training.values[index]

    def search(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        """The nearest rows of all descents."""
        budget = Budget(problem, index, np.inf)
        starts = np.concatenate(
            [self._linearised_starts(budget), self._known_starts(budget)], axis=1
        )
        for aim in _AIMS:
            n, n_starts, p = starts.shape
            start_budget = Budget(problem, np.repeat(index, n_starts), np.inf)
            steps, norms = self._descend(
                start_budget, starts.reshape(-1, p), n_starts, aim
            )
            order = norms.reshape(n, n_starts).argsort(axis=1, kind="stable")
            nearest = order[:, :_N_STARTS_AGAIN]
            starts = steps.reshape(n, n_starts, p)[np.arange(n)[:, None], nearest]
        values, valid = budget.origins.copy(), np.zeros(n, dtype=bool)
        for start in range(starts.shape[1]):
            remaining = np.flatnonzero(~valid)
            if not len(remaining):
                break
            ends = starts[remaining, start]
            rays = _nearest_on_rays(budget.take(remaining), ends)
            values[remaining], valid[remaining] = rays.values, rays.valid
        return AttackResult(values)

    def _linearised_starts(self, budget: Budget) -> _Array:
        """Steps (n, n_starts, p) towards the boundaries of linearised margins."""
        zero = np.zeros(budget.low.shape)
        _, margins = self._margins_at(budget, zero)
        if not self._margins.outcome.is_other:
            shortest, _ = self._solve_linearised(budget, zero, margins, 0.0)
            steps = shortest[:, None]
        else:  # any margin may be reached: a start towards each
            n, m = margins.shape
            slopes = self._slopes(budget, budget.origins, np.tile(np.arange(m), (n, 1)))
            needs = np.where(np.isinf(margins), 0, np.maximum(-margins, 0))
            steps, _ = shortest_steps(
                slopes.reshape(n * m, -1),
                np.repeat(budget.low, m, axis=0),
                np.repeat(budget.high, m, axis=0),
                needs.ravel(),
                budget.norm,
            )
            steps = steps.reshape(n, m, -1)
        return np.concatenate([multiple * steps for multiple in _START_MULTIPLES], 1)

    def _known_starts(self, budget: Budget) -> _Array:
        """Steps (n, n_starts, p) towards known rows, as far as the boundary."""
        rows = range(len(budget.index))
        steps = np.array([self._steps_to_known(budget, row) for row in rows])
        n, n_near, p = steps.shape
        step_budget = Budget(budget.problem, np.repeat(budget.index, n_near), np.inf)
        steps = steps.reshape(-1, p)
        low, high = np.zeros(len(steps)), np.ones(len(steps))
        for _ in range(_N_BISECTIONS):
            middle = (low + high) / 2
            margins, _ = self._margins_at(step_budget, steps * middle[:, None])
            low = np.where(margins < 0, middle, low)
            high = np.where(margins < 0, high, middle)
        steps *= high[:, None]
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        norms = np.where(norms > 0, norms, np.inf).reshape(n, n_near)
        nearest = norms.argsort(axis=1, kind="stable")[:, :_N_KNOWN_STARTS]
        return steps.reshape(n, n_near, p)[np.arange(n)[:, None], nearest]

    def _steps_to_known(self, budget: Budget, row: int) -> _Array:
        """Steps (n_near, p) to near known rows, one of each class in turn.

        Steps are zero where there are fewer than `n_near` known rows.
        """
        ends, answers = self._known_values, self._known_answers
        if self._margins.outcome.is_other:
            differs = answers != budget.problem.classes[budget.index[row]]
            ends, answers = ends[differs], answers[differs]
        moves = (ends - budget.origins[row]) * budget.actionability.costs
        moves = np.clip(np.nan_to_num(moves), budget.low[row], budget.high[row])
        order = np.linalg.norm(moves, budget.norm, axis=1).argsort(kind="stable")
        answers = answers[order]
        rank_in_class = np.zeros(len(order), dtype=int)
        for answer in np.unique(answers):
            rank_in_class[answers == answer] = np.arange((answers == answer).sum())
        order = order[rank_in_class.argsort(kind="stable")]
        n_near = min(_N_NEAR_KNOWN, len(self._known_values))
        steps = np.zeros((n_near, moves.shape[1]))
        steps[: len(order)] = moves[order[:n_near]]
        return steps

    def _margins_at(self, budget: Budget, steps: _Array) -> tuple[_Array, _Array]:
        """Binding margins after some steps, (n,), and all margins."""
        values = _project_steps(budget, steps)
        return self._margins.margins_at(budget.problem, values, budget.index)[1:]

    def _slopes(
        self, budget: Budget, values: _Array, rivals: NDArray[np.intp]
    ) -> _Array:
        """Slopes (n, m, p) of margins against some rivals (n, m) each."""
        n, m = rivals.shape
        rows, index = np.repeat(values, m, axis=0), np.repeat(budget.index, m)
        slopes = self._margins.slopes(budget.problem, rows, index, rivals.ravel())
        return slopes.reshape(n, m, -1)

    def _solve_linearised(
        self, budget: Budget, steps: _Array, all_margins: _Array, aims: _Array | float
    ) -> tuple[_Array, _Array]:
        """The shortest steps by which linearised margins reach their aims.

        And the norms (n,) of these steps per unit of margin. With slopes G at a step s,
        margins after s' are about ``m(s) + G (s' - s)``: the aims a are reached where
        ``G s' >= a - m(s) + G s``.
        """
        values = _project_steps(budget, steps)
        steps = np.nan_to_num((values - budget.origins) * budget.actionability.costs)
        n = len(steps)
        rivals = np.tile(np.arange(all_margins.shape[1]), (n, 1))
        if self._margins.outcome.is_other:
            rivals = self._margins.deciding_margin(all_margins)[0][:, None]
        all_margins = np.take_along_axis(all_margins, rivals, axis=1)
        slopes = self._slopes(budget, values, rivals)
        gained = np.einsum("nmp,np->nm", slopes, steps)
        needs = np.reshape(aims, (-1, 1)) - all_margins + gained
        shortest, _ = shortest_steps_for_all(
            slopes, budget.low, budget.high, needs, budget.norm
        )
        norms = np.linalg.norm(shortest, budget.norm, axis=1)
        hardest = needs.max(axis=1)
        return shortest, np.divide(norms, hardest, out=np.zeros(n), where=hardest > 0)

    def _descend(
        self, budget: Budget, steps: _Array, n_starts: int, aim: float
    ) -> tuple[_Array, _Array]:
        """The nearest steps on target that descents pass (n, p), and their norms (n,).

        A descent lowers ``norm(s) + w max(a - margin(s), 0)`` of its step s, with the
        margin a that it aims at and a weight w: it moves towards the shortest step of
        the linearised margins. Moves that fail are shortened.
        """
        n = len(steps)
        row_margins, _ = self._margins_at(budget, np.zeros(steps.shape))
        points = self._evaluate(budget, steps.copy())
        nearest = steps.copy()
        nearest_norms = np.where(points.margins >= 0, points.norms, np.inf)
        descents = _Descents(
            np.arange(n),
            budget,
            -aim * row_margins,
            points,
            ends=np.zeros(steps.shape),
            weights=np.zeros(n),
            fractions=np.ones(n),
            is_new=np.ones(n, dtype=bool),
        )
        for _ in with_progress(range(_MAX_MOVES)):
            self._set_ends(descents)
            points, active = descents.points, descents.index
            moves = descents.ends - points.steps
            trial_steps = points.steps + descents.fractions[:, None] * moves
            trials = self._evaluate(descents.budget, trial_steps)
            is_nearer = (trials.margins >= 0) & (trials.norms < nearest_norms[active])
            nearest[active[is_nearer]] = trials.steps[is_nearer]
            nearest_norms[active[is_nearer]] = trials.norms[is_nearer]
            move_norms = np.linalg.norm(moves, budget.norm, axis=1)
            is_settled = descents.fractions * move_norms <= _MIN_MOVE * points.norms
            descents.accept_better(trials)
            nearest_of_row = nearest_norms.reshape(-1, n_starts).min(axis=1)
            limits = _MAX_DISTANCE_RATIO * nearest_of_row.repeat(n_starts)[active]
            is_far = np.linalg.norm(descents.ends, budget.norm, axis=1) > limits
            descents = descents.take(~(is_settled | is_far))
            if not len(descents.index):
                break
        return nearest, nearest_norms

    def _evaluate(self, budget: Budget, steps: _Array) -> _Points:
        """Steps, with their norms and margins."""
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        return _Points(steps, norms, *self._margins_at(budget, steps))

    def _set_ends(self, descents: _Descents) -> None:
        """Linearise margins at new points, and set where descents go from there."""
        new = np.flatnonzero(descents.is_new)
        if len(new):
            points = descents.points.take(new)
            descents.ends[new], prices = self._solve_linearised(
                descents.budget.take(new),
                points.steps,
                points.all_margins,
                descents.aims[new],
            )
            # At twice the price of a unit of margin, no lack of it lowers the sum.
            descents.weights[new] = np.maximum(descents.weights[new], 2 * prices)


class _Points(NamedTuple):
    """Steps of n descents, and what follows from them."""

    steps: _Array  # (n, p)
    norms: _Array  # (n,)
    margins: _Array  # (n,): the one that decides, of each row
    all_margins: _Array  # (n, m)

    def take(self, index: NDArray[np.intp | np.bool_]) -> _Points:
        """Some of the points."""
        return _Points(*(array[index] for array in self))

    def objectives(self, aims: _Array, weights: _Array) -> _Array:
        """Norms plus weighted lacks of margin, (n,)."""
        return self.norms + weights * np.maximum(aims - self.margins, 0)


@dataclass
class _Descents:
    """The n descents that have not ended, at their present points."""

    index: NDArray[np.intp]  # (n,): positions among all descents
    budget: Budget  # of their rows
    aims: _Array  # (n,): margins that they aim at
    points: _Points
    ends: _Array  # (n, p): steps at which the next moves end
    weights: _Array  # (n,): of the lack of margin
    fractions: _Array  # (n,): of the next move
    is_new: NDArray[np.bool_]  # (n,): whether the last move was accepted

    def accept_better(self, trials: _Points) -> None:
        """Go to the trials that lower the objective; shorten the other moves."""
        now = self.points.objectives(self.aims, self.weights)
        self.is_new = trials.objectives(self.aims, self.weights) < now
        for present, trial in zip(self.points, trials, strict=True):
            present[self.is_new] = trial[self.is_new]
        longer, shorter = np.minimum(2 * self.fractions, 1), self.fractions / 4
        self.fractions = np.where(self.is_new, longer, shorter)

    def take(self, mask: NDArray[np.bool_]) -> _Descents:
        """Some of the descents."""
        return _Descents(
            self.index[mask],
            self.budget.take(np.flatnonzero(mask)),
            self.aims[mask],
            self.points.take(mask),
            self.ends[mask],
            self.weights[mask],
            self.fractions[mask],
            self.is_new[mask],
        )


def _project_steps(budget: Budget, steps: _Array) -> _Array:
    """Encoded rows after some steps, each cell at its nearest permitted value.

    It may lie beyond the step: `Budget.rows_after` stays within the ball.
    """
    moved = budget.origins + steps / budget.actionability.costs
    values = np.where(steps == 0, budget.origins, moved)
    return budget.actionability.projected(values, budget.origins)


class _Rays:
    """Rays along n steps, and the best row that was found on each.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        The row; the end of the step where no row is on target.
    valid : ndarray of shape (n,), bool
        Whether the row is on target.
    """

    def __init__(self, budget: Budget, steps: _Array) -> None:
        self.budget, self.steps = budget, steps
        self.values = _project_steps(budget, steps)
        self.valid = np.zeros(len(steps), dtype=bool)

    def ask(self, multiples: _Array, rays: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether rows are on target after multiples (n,) of the steps of some rays.

        Those that are become the best ones.
        """
        budget = self.budget.take(rays)
        trials = _project_steps(budget, self.steps[rays] * multiples[rays, None])
        holds = budget.problem.holds(trials, budget.index)
        self.values[rays[holds]], self.valid[rays[holds]] = trials[holds], True
        return holds

    def step_back(self) -> None:
        """Move each whole number back by one where the row stays on target."""
        budget, values = self.budget, self.values
        whole = budget.actionability.integer & budget.actionability.vary
        for j in np.flatnonzero(whole):
            moved = np.flatnonzero(self.valid & (values[:, j] != budget.origins[:, j]))
            nearer = values[moved]
            back = budget.actionability.step_nearer(nearer, budget.origins[moved])
            nearer[:, j] = back[:, j]
            holds = budget.problem.holds(nearer, budget.index[moved])
            values[moved[holds]] = nearer[holds]


def _nearest_on_rays(budget: Budget, steps: _Array) -> _Rays:
    """The nearest rows on target, on the rays along some steps."""
    rays = _Rays(budget, steps)
    low, high = np.zeros((2, len(steps)))  # multiples off target, and on it
    remaining = np.flatnonzero(steps.any(axis=1))
    for multiple in _MULTIPLES:
        if not len(remaining):
            break
        high[remaining] = multiple
        holds = rays.ask(high, remaining)
        remaining = remaining[~holds]
        low[remaining] = multiple
    while True:
        # Some numbers jump at any step: multiples near zero gain nothing.
        min_gap = _PRECISION * np.maximum(high, 1)
        remaining = np.flatnonzero(rays.valid & (high - low > min_gap))
        if not len(remaining):
            break
        middle = (low + high) / 2
        holds = rays.ask(middle, remaining)
        high[remaining[holds]] = middle[remaining[holds]]
        low[remaining[~holds]] = middle[remaining[~holds]]
    extended = high * (1 + precision(budget.actionability) ** _EXTENSION_POWER)
    rays.ask(extended, np.flatnonzero(rays.valid))
    rays.step_back()
    return rays

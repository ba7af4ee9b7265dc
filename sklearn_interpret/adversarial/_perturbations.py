"""Searches for the smallest perturbations: of linear models, of trees, along slopes."""

import numpy as np

from sklearn_interpret._core.search.norm_balls import nearest_beyond, nearest_beyond_all
from sklearn_interpret._core.search.programs import Goal
from sklearn_interpret._model.actions.linear_search import ColumnEffects, precision
from sklearn_interpret._model.formulas.trees.nearest import TreeSearch
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.progress import counted
from sklearn_interpret.adversarial._base import Budget, Tries

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

    method = "linear"

    def __init__(self, known):
        self._effects = ColumnEffects(known)
        self._target = self._effects.target()
        self.rows_each = len(self._effects.model.intercept)
        slopes = self._effects.slopes
        slopes = [np.zeros(self.rows_each) if s is None else s for s in slopes]
        self._slopes = np.array(slopes) / known.actionability.costs[:, None]

    def tries(self, problem, index):
        """The nearest rows, with the distances of relaxed programs as lower bounds."""
        slopes, needs, sizes, most = self._programs(problem, index)
        n_ways = slopes.shape[1]
        slopes, needs, sizes, most = (
            part.reshape(-1, *part.shape[2:]) for part in (slopes, needs, sizes, most)
        )
        every = Budget(problem, np.repeat(index, n_ways), np.inf)
        # Equality to rounding is no proof that a row is impossible.
        least = needs - _EXCESS[0] * self._effects.precision * sizes
        steps, possible = nearest_beyond_all(
            slopes, every.low, every.high, least, every.norm
        )
        norms = np.linalg.norm(steps, every.norm, axis=1)
        bounds = np.where(possible, norms, np.inf).reshape(-1, n_ways).min(axis=1)
        values, distances = every.origins.copy(), np.full(len(needs), np.inf)
        left = np.flatnonzero(possible)
        for excess in _EXCESS:
            if not len(left):
                break
            raised = np.minimum(excess * self._effects.precision * sizes, most)
            here, some = every.part(left), slopes[left]
            found = self._steps(some, here, (needs + raised)[left], steps[left])
            _keep_nearer(values, distances, every, left, rows_after(here, found))
            left = left[np.isinf(distances[left])]
        if problem.actionability.integer.any():
            left = np.flatnonzero(possible)
        on_rays, _ = nearest_on_rays(every.part(left), steps[left])
        _keep_nearer(values, distances, every, left, on_rays)
        best = distances.reshape(-1, n_ways).argmin(axis=1)
        best += n_ways * np.arange(len(index))
        return Tries(values[best], np.minimum(bounds, distances[best]))

    @staticmethod
    def _steps(slopes, budget, needs, relaxed):
        """The shortest steps whose whole numbers are those of relaxed ones, cut.

        And whose numbers that may not change by small steps are those of relaxed ones.
        """
        costs, whole = budget.actionability.costs, budget.actionability.integer
        cut = np.where(whole, np.trunc(relaxed / costs) * costs, 0)
        least, most = budget.actionability.permitted(budget.origins)
        jumps = (least > budget.origins) | (most < budget.origins)
        entered = rows_after(budget, relaxed) - budget.origins
        cut = np.where(jumps & (relaxed != 0), entered * costs, cut)
        whole = whole | jumps
        low, high = (np.where(whole, 0, part) for part in (budget.low, budget.high))
        needs = needs - np.einsum("nmp,np->nm", slopes, cut)
        return cut + nearest_beyond_all(slopes, low, high, needs, budget.norm)[0]

    def _programs(self, problem, index):
        """Slopes (n, n_ways, m, p), needs and sizes of the terms of m functions.

        And the largest excess over the needs.
        """
        sums = self._effects.margins(problem.rows.take(index).native)
        n_sums = sums.shape[1]
        own = problem.own_of(index)
        own = np.zeros(len(index), dtype=int) if own is None else own
        ways = [self._target.ways(k) for k in range(max(n_sums, 2))]
        weights, ends = (
            np.array([[way[part] for way in of_class] for of_class in ways])
            for part in (0, 1)
        )
        weights, ends = weights[own], ends[own]
        slopes = np.einsum("nwmk,pk->nwmp", weights, self._slopes)
        needs = ends - np.einsum("nwmk,nk->nwm", weights, sums)
        places = np.abs(problem.values[index] * problem.actionability.costs)
        sizes = np.einsum("nwmp,np->nwm", np.abs(slopes), np.nan_to_num(places))
        sizes += np.abs(ends) + np.einsum("nwmk,nk->nwm", np.abs(weights), np.abs(sums))
        most = np.full(ends.shape, np.inf)
        if ends.shape[2] == 2 and self._target.interval is not None:
            most[:] = -ends.sum(axis=2, keepdims=True) / 2
        return slopes, needs, sizes, most


def _keep_nearer(values, distances, budget, rows, found):
    """Exchange some rows for others that satisfy the target and are nearer."""
    index = budget.index[rows]
    holds = budget.problem.holds(found, index)
    reached = np.where(holds, budget.problem.distances(found, index), np.inf)
    nearer = reached < distances[rows]
    values[rows[nearer]], distances[rows[nearer]] = found[nearer], reached[nearer]


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

    method = "trees"

    def __init__(self, known, time_limit):
        norm = known.actionability.norm
        self._search = TreeSearch(known, 0.0)
        if norm not in _OBJECTIVES:
            raise ValueError(
                f"norm={str(norm)!r} of changes is not among those that trees are "
                "searched for: norm='inf' and norm='1' are accepted. HopSkipJump "
                "looks for rows near in any norm."
            )
        self._goal = Goal(time_limit, _OBJECTIVES[norm])

    def tries(self, problem, index):
        """`Tries` at the rows at `index` of a problem, with proved lower bounds.

        A row without a result stays; its bound is infinite if none is possible.
        """
        values, bounds = problem.values[index], np.zeros(len(index))
        for place, row in enumerate(counted(index.tolist())):
            found, bounds[place] = self._search.found(problem, row, self._goal)
            if found is not None:
                values[place] = found
                # Rounding may put the bound beyond the row.
                nearest = problem.distances(found[None], index[[place]])[0]
                bounds[place] = min(bounds[place], nearest)
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

    method = "gradient"

    def __init__(self, known):
        self._margins = Margins(known)
        n_slopes = (len(_PARTS) + _N_KNOWN) * self._margins.n_rivals
        self.rows_each = n_slopes + _N_NEAR
        every = np.unique(
            np.linspace(0, known.rows.n_rows - 1, _MOST_KNOWN).astype(int)
        )
        if not known.outcome.is_other:
            every = every[known.fulfilled[every]]
        self._known, self._answers = known.values[every], np.zeros(len(every), int)
        if known.outcome.is_other:
            self._answers = known.own[every]

    def tries(self, problem, index):
        """The nearest rows of all descents."""
        own = Budget(problem, index, np.inf)
        starts = np.concatenate([self._beyond(own), self._as_known(own)], axis=1)
        for aim in _AIMS:
            n, n_starts, p = starts.shape
            every = Budget(problem, np.repeat(index, n_starts), np.inf)
            steps, norms = self._descended(every, starts.reshape(-1, p), n_starts, aim)
            order = norms.reshape(n, n_starts).argsort(axis=1, kind="stable")
            order = order[:, :_N_AGAIN]
            starts = steps.reshape(n, n_starts, p)[np.arange(n)[:, None], order]
        values, valid = own.origins.copy(), np.zeros(n, dtype=bool)
        for place in range(starts.shape[1]):
            left = np.flatnonzero(~valid)
            if not len(left):
                break
            some = starts[left, place]
            values[left], valid[left] = nearest_on_rays(own.part(left), some)
        return Tries(values)

    def _beyond(self, budget):
        """Steps (n, k, p) towards the boundaries of linearised margins."""
        zero = np.zeros(budget.low.shape)
        _, every = self._at(budget, zero)
        if self._margins.outcome.is_other:
            n, m = every.shape
            slopes = self._slopes(budget, budget.origins, np.tile(np.arange(m), (n, 1)))
            low, high = (
                np.repeat(part, m, axis=0) for part in (budget.low, budget.high)
            )
            needs = np.where(np.isinf(every), 0, np.maximum(-every, 0)).ravel()
            slopes = slopes.reshape(n * m, -1)
            steps, _ = nearest_beyond(slopes, low, high, needs, budget.norm)
            steps = steps.reshape(n, m, -1)
        else:
            steps = self._linearised(budget, zero, every, 0.0)[0][:, None]
        return np.concatenate([part * steps for part in _PARTS], axis=1)

    def _as_known(self, budget):
        """Steps (n, k, p) towards known rows, as far as the boundary."""
        steps = np.array([self._near(budget, row) for row in range(len(budget.index))])
        n, k, p = steps.shape
        every = Budget(budget.problem, np.repeat(budget.index, k), np.inf)
        steps = steps.reshape(-1, p)
        short, enough = np.zeros(len(steps)), np.ones(len(steps))
        for _ in range(_HALVINGS):
            between = (short + enough) / 2
            margins, _ = self._at(every, steps * between[:, None])
            short = np.where(margins < 0, between, short)
            enough = np.where(margins < 0, enough, between)
        steps *= enough[:, None]
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        norms = np.where(norms > 0, norms, np.inf).reshape(n, k)
        nearest = norms.argsort(axis=1, kind="stable")[:, :_N_KNOWN]
        return steps.reshape(n, k, p)[np.arange(n)[:, None], nearest]

    def _near(self, budget, row):
        """Steps (k, p) to known rows near a row, of all classes in turn, or zero."""
        ends, answers = self._known, self._answers
        if self._margins.outcome.is_other:
            other = answers != budget.problem.own[budget.index[row]]
            ends, answers = ends[other], answers[other]
        moves = (ends - budget.origins[row]) * budget.actionability.costs
        moves = np.clip(np.nan_to_num(moves), budget.low[row], budget.high[row])
        order = np.linalg.norm(moves, budget.norm, axis=1).argsort(kind="stable")
        answers = answers[order]
        turns = np.zeros(len(order), dtype=int)
        for answer in np.unique(answers):
            turns[answers == answer] = np.arange((answers == answer).sum())
        order = order[turns.argsort(kind="stable")]
        steps = np.zeros((min(_N_NEAR, len(self._known)), moves.shape[1]))
        steps[: len(order)] = moves[order[: len(steps)]]
        return steps

    def _at(self, budget, steps):
        """Binding margins after some steps, (n,), and all margins."""
        values = rows_after(budget, steps)
        return self._margins.at(budget.problem, values, budget.index)[1:]

    def _slopes(self, budget, values, rivals):
        """Slopes (n, m, p) of margins against some rivals (n, m) each."""
        n, m = rivals.shape
        rows, index = np.repeat(values, m, axis=0), np.repeat(budget.index, m)
        slopes = self._margins.slopes(budget.problem, rows, index, rivals.ravel())
        return slopes.reshape(n, m, -1)

    def _linearised(self, budget, steps, every, aims):
        """The shortest steps by which linearised margins reach their aims.

        And their norms per unit of margin.
        """
        values = rows_after(budget, steps)
        steps = np.nan_to_num((values - budget.origins) * budget.actionability.costs)
        n = len(steps)
        rivals = np.tile(np.arange(every.shape[1]), (n, 1))
        if self._margins.outcome.is_other:
            rivals = self._margins.binding(every)[0][:, None]
        every = np.take_along_axis(every, rivals, axis=1)
        slopes = self._slopes(budget, values, rivals)
        gained = np.einsum("nmp,np->nm", slopes, steps)
        needs = np.reshape(aims, (-1, 1)) - every + gained
        shortest, _ = nearest_beyond_all(
            slopes, budget.low, budget.high, needs, budget.norm
        )
        norms = np.linalg.norm(shortest, budget.norm, axis=1)
        most = needs.max(axis=1)
        return shortest, np.divide(norms, most, out=np.zeros(n), where=most > 0)

    def _descended(self, budget, steps, n_starts, aim):
        """The nearest steps with a margin that descents pass, and their norms."""
        n = len(steps)
        first, _ = self._at(budget, np.zeros(steps.shape))
        aims = -aim * first
        margins, every = self._at(budget, steps)
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        best, nearest = steps.copy(), np.where(margins >= 0, norms, np.inf)
        steps, weights, shares = steps.copy(), np.zeros(n), np.ones(n)
        ends, fresh = np.zeros(steps.shape), np.ones(n, dtype=bool)
        going = np.arange(n)
        for _ in counted(range(_MOST_STEPS)):
            new = going[fresh[going]]
            if len(new):
                ends[new], prices = self._linearised(
                    budget.part(new), steps[new], every[new], aims[new]
                )
                weights[new] = np.maximum(weights[new], 2 * prices)
            here = budget.part(going)
            ways = ends[going] - steps[going]
            tried = steps[going] + shares[going, None] * ways
            margin, both = self._at(here, tried)
            norm = np.linalg.norm(tried, budget.norm, axis=1)
            nearer = (margin >= 0) & (norm < nearest[going])
            best[going[nearer]], nearest[going[nearer]] = tried[nearer], norm[nearer]
            lack = np.maximum(aims[going] - margins[going], 0)
            before = norms[going] + weights[going] * lack
            after = norm + weights[going] * np.maximum(aims[going] - margin, 0)
            better = after < before
            moved = np.linalg.norm(ways, budget.norm, axis=1)
            settled = shares[going] * moved <= _STILL * norms[going]
            taken = going[better]
            steps[taken], norms[taken] = tried[better], norm[better]
            margins[taken], every[taken] = margin[better], both[better]
            fresh[going] = better
            shares[going] = np.where(
                better, np.minimum(2 * shares[going], 1), shares[going] / 4
            )
            of_row = nearest.reshape(-1, n_starts).min(axis=1).repeat(n_starts)[going]
            far = np.linalg.norm(ends[going], budget.norm, axis=1) > _FAR * of_row
            going = going[~(settled | far)]
            if not len(going):
                break
        return best, nearest


def rows_after(budget, steps):
    """Encoded rows after some steps, projected on the values of their columns."""
    moved = budget.origins + steps / budget.actionability.costs
    values = np.where(steps == 0, budget.origins, moved)
    return budget.actionability.projected(values, budget.origins)


def nearest_on_rays(budget, steps):
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


def _ask(budget, steps, multiples, rows, values, valid):
    """Whether rows satisfy the target after multiples of steps; keep those that do."""
    here = budget.part(rows)
    tried = rows_after(here, steps[rows] * multiples[rows, None])
    holds = budget.problem.holds(tried, here.index)
    values[rows[holds]], valid[rows[holds]] = tried[holds], True
    return holds


def _step_back(budget, values, valid):
    """Move whole numbers back by one each, where rows still satisfy the target."""
    for j in np.flatnonzero(budget.actionability.integer & budget.actionability.vary):
        moved = np.flatnonzero(valid & (values[:, j] != budget.origins[:, j]))
        nearer = values[moved]
        back = budget.actionability.nearer(nearer, budget.origins[moved])
        nearer[:, j] = back[:, j]
        holds = budget.problem.holds(nearer, budget.index[moved])
        values[moved[holds]] = nearer[holds]

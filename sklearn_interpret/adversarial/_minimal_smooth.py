"""Small perturbations of models with slopes, by sequential linearisation."""

import numpy as np

from sklearn_interpret._core.optimisation.nearest_points import nearest_beyond_all
from sklearn_interpret._core.optimisation.norm_balls import nearest_beyond
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret.adversarial._base import Tries
from sklearn_interpret.adversarial._base_gradient import Budget
from sklearn_interpret.adversarial._minimal_steps import nearest_on_rays, rows_after

# Starts of each row: at the boundaries of the linearised margins that are nearest, and
# at known rows that are as wished.
_N_RIVALS, _N_KNOWN = 4, 2
# Known rows that are looked at.
_MOST_KNOWN = 2000
_MOST_STEPS = 60
# What a margin is to exceed, relative to that of the row itself.
_AIM = 1e-3
# Steps that are shorter than this, relative to where they start, have settled.
_STILL = 1e-5
_HALVINGS = 12


class SmoothPerturbation:
    """Finds near rows that a model with slopes answers as wished.

    Parameters
    ----------
    known : Task
        Known rows; an UnreadableModelError says that the model has no slopes there.
    """

    def __init__(self, known):
        self._margins = Margins(known)
        self.by_formula = self._margins.by_formula
        every = np.unique(
            np.linspace(0, known.rows.n_rows - 1, _MOST_KNOWN).astype(int)
        )
        native = known.rows.take(every).native
        self._answers = known.wish.answers(native)
        if not known.wish.is_other:
            holds = known.wish.holds(native)
            every, self._answers = every[holds], None
        self._known = known.values[every]

    def tries(self, task, index):
        """The nearest rows of all descents."""
        own = Budget(task, index, np.inf)
        starts = np.concatenate([self._beyond(own), self._as_known(own)], axis=1)
        n, n_starts, p = starts.shape
        every = Budget(task, np.repeat(index, n_starts), np.inf)
        steps, norms = self._descended(every, starts.reshape(-1, p))
        steps, norms = steps.reshape(n, n_starts, p), norms.reshape(n, n_starts)
        values, valid = own.origins.copy(), np.zeros(n, dtype=bool)
        order = np.argsort(norms, axis=1)
        for place in range(n_starts):
            left = np.flatnonzero(~valid)
            if not len(left):
                break
            some = steps[left, order[left, place]]
            values[left], valid[left] = nearest_on_rays(own.part(left), some)
        return Tries(values)

    def _beyond(self, budget):
        """Steps (n, k, p) to the nearest boundaries of linearised margins."""
        zero = np.zeros(budget.low.shape)
        if not self._margins.wish.is_other:
            _, every = self._at(budget, zero)
            steps, _ = self._linearised(budget, zero, every, 0.0)
            return steps[:, None]
        _, every = self._at(budget, zero)
        n, n_rivals = every.shape
        index = np.repeat(budget.index, n_rivals)
        rivals = np.tile(np.arange(n_rivals), n)
        origins, low, high = (
            np.repeat(part, n_rivals, axis=0)
            for part in (budget.origins, budget.low, budget.high)
        )
        slopes = self._margins.slopes(budget.task, origins, index, rivals)
        needs = np.where(np.isinf(every), 0, -every).ravel()
        steps, enough = nearest_beyond(slopes, low, high, needs, budget.norm)
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        norms = np.where(enough, norms, 1e9 + norms).reshape(n, n_rivals)
        norms[np.isinf(every)] = np.inf
        nearest = norms.argsort(axis=1)[:, : min(_N_RIVALS, n_rivals - 1)]
        return steps.reshape(n, n_rivals, -1)[np.arange(n)[:, None], nearest]

    def _as_known(self, budget):
        """Steps (n, k, p) to the nearest known rows, as far as the boundary."""
        task, feasible = budget.task, budget.feasible
        steps = []
        for row, index in enumerate(budget.index):
            ends = self._known
            if self._answers is not None:
                ends = ends[self._answers != task.own[index]]
            moves = (ends - budget.origins[row]) * feasible.costs
            moves = np.clip(np.nan_to_num(moves), budget.low[row], budget.high[row])
            order = np.linalg.norm(moves, budget.norm, axis=1).argsort(kind="stable")
            nearest = np.zeros((_N_KNOWN, len(feasible.costs)))
            nearest[: len(order)] = moves[order[:_N_KNOWN]]
            steps.append(nearest)
        steps = np.concatenate(steps)
        every = Budget(task, np.repeat(budget.index, _N_KNOWN), np.inf)
        short, enough = np.zeros(len(steps)), np.ones(len(steps))
        for _ in range(_HALVINGS):
            between = (short + enough) / 2
            margins, _ = self._at(every, steps * between[:, None])
            short = np.where(margins < 0, between, short)
            enough = np.where(margins < 0, enough, between)
        return (steps * enough[:, None]).reshape(len(budget.index), _N_KNOWN, -1)

    def _at(self, budget, steps):
        """Margins that decide after some steps, (n,), and all margins."""
        task, index = budget.task, budget.index
        own = None if task.own is None else task.own[index]
        native = task.decode(rows_after(budget, steps), index)
        every = self._margins.margins(native, own)
        return self._margins.binding(every)[1], every

    def _linearised(self, budget, steps, every, aims):
        """The shortest steps by which linearised margins are positive.

        And what each unit of margin costs, as a lower bound.
        """
        values = rows_after(budget, steps)
        steps = np.nan_to_num((values - budget.origins) * budget.feasible.costs)
        n, p = steps.shape
        rivals = np.arange(every.shape[1])[None].repeat(n, axis=0)
        if self._margins.wish.is_other:
            rivals = self._margins.binding(every)[0][:, None]
        m = rivals.shape[1]
        every = np.take_along_axis(every, rivals, axis=1)
        slopes = self._margins.slopes(
            budget.task,
            np.repeat(values, m, axis=0),
            np.repeat(budget.index, m),
            rivals.ravel(),
        ).reshape(n, m, p)
        gained = np.einsum("nmp,np->nm", slopes, steps)
        needs = np.reshape(aims, (-1, 1)) - every + gained
        shortest, _ = nearest_beyond_all(
            slopes, budget.low, budget.high, needs, budget.norm
        )
        norms = np.linalg.norm(shortest, budget.norm, axis=1)
        most = needs.max(axis=1)
        return shortest, np.divide(norms, most, out=np.zeros(n), where=most > 0)

    def _descended(self, budget, steps):
        """The nearest steps with a margin that descents pass, and their norms."""
        n = len(steps)
        first, _ = self._at(budget, np.zeros(steps.shape))
        aims = -_AIM * first
        margins, every = self._at(budget, steps)
        norms = np.linalg.norm(steps, budget.norm, axis=1)
        best, nearest = steps.copy(), np.where(margins >= 0, norms, np.inf)
        steps, weights, shares = steps.copy(), np.zeros(n), np.ones(n)
        ends, fresh = np.zeros(steps.shape), np.ones(n, dtype=bool)
        going = np.arange(n)
        for _ in range(_MOST_STEPS):
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
            going = going[~settled]
            if not len(going):
                break
        return best, nearest

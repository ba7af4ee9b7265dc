"""From steps to the nearest rows on their rays that satisfy the target."""

import numpy as np

from sklearn_interpret._model.linear_search import precision

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
_EXCESS = 0.4


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
        left = np.flatnonzero(valid & (enough - short > _PRECISION * enough))
        if not len(left):
            break
        between = (short + enough) / 2
        holds = _ask(budget, steps, between, left, values, valid)
        enough[left[holds]] = between[left[holds]]
        short[left[~holds]] = between[left[~holds]]
    surely = enough * (1 + precision(budget.actionability) ** _EXCESS)
    _ask(budget, steps, surely, np.flatnonzero(valid), values, valid)
    _step_back(budget, values, valid)
    return values, valid


def _ask(budget, steps, multiples, rows, values, valid):
    """Whether rows satisfy the target after multiples of steps; keep those that do."""
    here = budget.part(rows)
    tried = rows_after(here, steps[rows] * multiples[rows, None])
    holds = budget.problem.holds(tried, here.index) if len(rows) else np.zeros(0, bool)
    values[rows[holds]], valid[rows[holds]] = tried[holds], True
    return holds


def _step_back(budget, values, valid):
    """Move whole numbers back by one each, where rows still satisfy the target."""
    for j in np.flatnonzero(budget.actionability.integer & budget.actionability.vary):
        moved = np.flatnonzero(valid & (values[:, j] != budget.origins[:, j]))
        if not len(moved):
            continue
        nearer = values[moved]
        nearer[:, j] -= np.sign(nearer[:, j] - budget.origins[moved, j])
        holds = budget.problem.holds(nearer, budget.index[moved])
        values[moved[holds]] = nearer[holds]

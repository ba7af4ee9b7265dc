"""From steps of any size to rows that the model answers as wished, and no farther."""

import numpy as np

# Multiples of steps, until rows are as wished: rounding asks for a little more, whole
# numbers for much.
_MULTIPLES = np.concatenate(
    [1 - 10.0 ** -np.arange(1, 8, 2), [1.0], 1 + 10.0 ** -np.arange(9, 0, -2)]
)
_MULTIPLES = np.append(_MULTIPLES, 2.0 ** np.arange(0.5, 10.5, 0.5))
# Between the last two of them a row is as near as this, relatively.
_PRECISION = 1e-8


def rows_after(budget, steps):
    """Encoded rows after some steps, as near as their columns can take them."""
    moved = budget.origins + steps / budget.feasible.costs
    values = np.where(steps == 0, budget.origins, moved)
    return budget.feasible.projected(values, budget.origins)


def nearest_on_rays(budget, steps):
    """Rows on the rays along some steps that are just as wished; whether they are."""
    n = len(budget.index)
    values, valid = budget.origins.copy(), np.zeros(n, dtype=bool)
    short, enough = np.zeros(n), np.zeros(n)
    for multiple in _MULTIPLES:
        left = np.flatnonzero(~valid & steps.any(axis=1))
        if not len(left):
            break
        values[left], valid[left] = _asked(budget.part(left), steps[left] * multiple)
        short[left] = np.where(valid[left], short[left], multiple)
        enough[left] = multiple
    while True:
        left = np.flatnonzero(valid & (enough - short > _PRECISION * enough))
        if not len(left):
            break
        between = (short[left] + enough[left]) / 2
        nearer, holds = _asked(budget.part(left), steps[left] * between[:, None])
        values[left[holds]] = nearer[holds]
        enough[left[holds]], short[left[~holds]] = between[holds], between[~holds]
    _step_back(budget, values, valid)
    return values, valid


def _asked(budget, steps):
    values = rows_after(budget, steps)
    return values, budget.task.holds(values, budget.index)


def _step_back(budget, values, valid):
    """Whole numbers go back by one each, where rows stay as wished."""
    for j in np.flatnonzero(budget.feasible.integer & budget.feasible.vary):
        moved = np.flatnonzero(valid & (values[:, j] != budget.origins[:, j]))
        if not len(moved):
            continue
        nearer = values[moved]
        nearer[:, j] -= np.sign(nearer[:, j] - budget.origins[moved, j])
        holds = budget.task.holds(nearer, budget.index[moved])
        values[moved[holds]] = nearer[holds]

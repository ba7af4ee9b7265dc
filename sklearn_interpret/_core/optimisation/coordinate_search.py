"""Search by single coordinates for near points with a margin."""

import numpy as np

# After the first step, so many moves of each point are looked at again.
_KEPT = 64
_FULL = 8


def coordinate_search(
    origins, cells, moved, margins, price, *, aim, most_changes, max_iter
):
    r"""Change one coordinate after the other, the one that is worth most.

    The objective is that of Wachter et al., :math:`\lambda \max(0, a - m(x))^2 + d(x)`
    with the margin m and its aim a; where no move lowers it, lambda is raised until one
    does. All moves are tried once, then those that are worth most, and moves back.

    Parameters
    ----------
    origins : ndarray of shape (m, n_columns)
        Where the search begins.
    cells : (ndarray, ndarray)
        Columns and values of the moves, (n_moves,) each.
    moved : callable
        ``moved(values, columns, cells, rows)``: copies of points, one cell changed.
    margins : callable
        ``margins(values, rows)``: (k,).
    price : callable
        ``price(values, rows)``: what the changes since the origins cost, (k,), and
        their number, (k,).
    aim : float
        Margin to be reached.
    most_changes : int
        How many coordinates may differ.
    max_iter : int
        Largest number of moves.

    Returns
    -------
    points : ndarray of shape (m, n_columns)
        Points, whether or not they have the margin.
    n_steps : int
        Moves of the longest search.
    """
    values, active = origins.copy(), np.arange(len(origins))
    gaps = np.maximum(aim - margins(values, active), 0.0) ** 2
    costs, weights = np.zeros(len(values)), np.zeros(len(values))
    back = np.unique(cells[0])
    every = [
        np.hstack([np.tile(cells[0], (len(values), 1)), np.tile(back, (len(values), 1))]),
        np.hstack([np.tile(cells[1], (len(values), 1)), origins[:, back]]),
    ]
    nearest, least = values.copy(), np.full(len(values), np.inf)
    n_steps = 0
    while len(active) and n_steps < max_iter:
        if n_steps % _FULL == 0:
            columns, cells = every
        of = np.repeat(active, columns.shape[1])
        trials = moved(values[of], columns[active].ravel(), cells[active].ravel(), of)
        trial_costs, n_changed = price(trials, of)
        trial_gaps = np.maximum(aim - margins(trials, of), 0.0) ** 2
        possible = (n_changed <= most_changes).reshape(len(active), -1)
        reached = np.where(possible.ravel() & (trial_gaps == 0), trial_costs, np.inf)
        reached = reached.reshape(possible.shape)
        first = reached.argmin(axis=1)
        nearer = reached.min(axis=1) < least[active]
        flat = (np.arange(len(active)) * possible.shape[1] + first)[nearer]
        nearest[active[nearer]] = trials[flat]
        least[active[nearer]] = trial_costs[flat]
        closed, paid = gaps[of] - trial_gaps, trial_costs - costs[of]
        closed, paid = (part.reshape(possible.shape) for part in (closed, paid))
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(possible & (closed > 0), paid / closed, np.inf)
        best, weight = _best_moves(closed, paid, possible, rates, weights[active])
        if n_steps % _FULL == 0:
            kept = np.zeros((len(values), len(back) + min(_KEPT, len(every[0][0])-len(back))), dtype=int)
            n = len(every[0][0]) - len(back)
            kept[:, :len(back)] = n + np.arange(len(back))
            kept[active, len(back):] = np.argsort(rates[:, :n], axis=1, kind="stable")[:, :_KEPT]
            columns, cells = (np.take_along_axis(part, kept, axis=1) for part in every)
        n_steps += 1
        going = np.isfinite(weight)
        chosen = (np.arange(len(active)) * possible.shape[1] + best)[going]
        active = active[going]
        values[active], gaps[active] = trials[chosen], trial_gaps[chosen]
        costs[active], weights[active] = trial_costs[chosen], weight[going]
    return np.where(np.isfinite(least)[:, None], nearest, values), n_steps


def _best_moves(closed, paid, possible, rates, weights):
    """The moves that are worth most, and the weights at which they are.

    An infinite weight where no move is worth anything at any.
    """
    worth = np.where(possible, weights[:, None] * closed - paid, -np.inf)
    pays = worth.max(axis=1) > 1e-12 * (1 + np.abs(paid).max(axis=1))
    best = np.where(pays, worth.argmax(axis=1), rates.argmin(axis=1))
    raised = np.maximum(weights, rates.min(axis=1) * (1 + 1e-9))
    return best, np.where(pays, weights, raised)

"""Search by single coordinates for near points with a margin."""

import numpy as np

# All moves are tried in each eighth step, and the 64 best of these in between.
_ALL_EVERY, _KEPT = 8, 64


def coordinate_search(
    origins, cells, moved, margins, price, *, aim, most_changes, max_iter
):
    r"""Change one coordinate after the other, by the move that saves most.

    The objective is that of Wachter et al., :math:`\lambda \max(0, a - m(x))^2 + d(x)`
    with the margin m and its aim a; where no move lowers it, lambda is raised until one
    does. Moves back to the origin are tried in every step.

    Parameters
    ----------
    origins : ndarray of shape (m, n_columns)
        Where the search begins.
    cells : (ndarray, ndarray)
        Columns and values of the moves, (n_moves,) each.
    moved : callable
        ``moved(values, columns, cells, rows)``: points with one cell each changed.
    margins : callable
        ``margins(values, rows)``: (k,).
    price : callable
        ``price(values, rows)``: costs (k,) and numbers (k,) of the changes since the
        origins.
    aim : float
        Margin to be reached.
    most_changes : int
        Largest number of coordinates that may differ.
    max_iter : int
        Largest number of moves.

    Returns
    -------
    points : ndarray of shape (m, n_columns)
        The nearest points tried that have the margin, or the last ones.
    n_steps : int
        Moves of the longest search.
    """
    values, nearest, active = origins.copy(), origins.copy(), np.arange(len(origins))
    least, gaps = np.full((2, len(values)), np.inf)
    costs, weights = np.zeros((2, len(values)))
    every = _with_moves_back(origins, *cells)
    n_steps = 0
    while every[0].size and len(active) and n_steps < max_iter:
        if n_steps % _ALL_EVERY == 0:
            moves = every
        n_steps += 1
        columns, cells = moves
        of = np.repeat(active, columns.shape[1])
        trials = moved(values[of], columns[active].ravel(), cells[active].ravel(), of)
        shape = len(active), -1
        prices, n_changed = (part.reshape(shape) for part in price(trials, of))
        trial_gaps = np.maximum(aim - margins(trials, of).reshape(shape), 0.0) ** 2
        trials = trials.reshape(*prices.shape, -1)
        if n_steps == 1:  # the last move back leaves points as they are
            gaps = trial_gaps[:, -1].copy()

        possible, each = n_changed <= most_changes, np.arange(len(active))
        reached = np.where(possible & (trial_gaps == 0), prices, np.inf)
        first, nearer = reached.argmin(axis=1), reached.min(axis=1) < least[active]
        nearest[active[nearer]] = trials[each, first][nearer]
        least[active[nearer]] = reached[each, first][nearer]

        closed, paid = gaps[active, None] - trial_gaps, prices - costs[active, None]
        rates = np.full(paid.shape, np.inf)
        np.divide(paid, closed, out=rates, where=possible & (closed > 0))
        if moves is every:
            moves = _best_moves(every, rates, active)
        best, weights[active] = _choice(closed, paid, possible, rates, weights[active])
        going = np.isfinite(weights[active])
        active, chosen = active[going], (each[going], best[going])
        values[active], gaps[active] = trials[chosen], trial_gaps[chosen]
        costs[active] = prices[chosen]
    return np.where(np.isfinite(least)[:, None], nearest, values), n_steps


def _with_moves_back(origins, columns, cells):
    """Columns and values of all moves of each point, those back the last."""
    back, size = np.unique(columns), (len(origins), 1)
    return (
        np.tile(np.append(columns, back), size),
        np.hstack([np.tile(cells, size), origins[:, back]]),
    )


def _best_moves(every, rates, active):
    """Moves that closed gaps at the lowest rates, and moves back; of active points."""
    n_points, n_moves = every[0].shape
    n_back = len(np.unique(every[0]))
    order = np.argsort(rates[:, :-n_back], axis=1, kind="stable")[:, :_KEPT]
    kept = np.tile(np.arange(n_moves - n_back - order.shape[1], n_moves), (n_points, 1))
    kept[active, : order.shape[1]] = order
    return tuple(np.take_along_axis(part, kept, axis=1) for part in every)


def _choice(closed, paid, possible, rates, weights):
    """The moves that save most, and the weights at which they do.

    The weight is infinite where no move saves anything at any.
    """
    worth = np.where(possible, weights[:, None] * closed - paid, -np.inf)
    pays = worth.max(axis=1) > 1e-12 * (1 + np.abs(paid).max(axis=1))
    best = np.where(pays, worth.argmax(axis=1), rates.argmin(axis=1))
    raised = np.maximum(weights, rates.min(axis=1) * (1 + 1e-9))
    return best, np.where(pays, weights, raised)

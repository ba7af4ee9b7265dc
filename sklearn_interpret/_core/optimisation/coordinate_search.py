"""Search by single coordinates for near points with a margin."""

import numpy as np


def coordinate_search(origins, moves, margins, price, *, aim, most_changes, max_iter):
    r"""Change one coordinate after the other, the one that is worth most.

    The objective is that of Wachter et al., :math:`\lambda \max(0, a - m(x))^2 + d(x)`
    with the margin m and its aim a; where no move lowers it, lambda is raised until one
    does.

    Parameters
    ----------
    origins : ndarray of shape (m, n_columns)
        Where the search begins.
    moves : callable
        ``moves(values, rows)``: changed copies, (k, n_columns), of the points of some
        rows, and which row each is of, (k,), increasing.
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
    values, rows = origins.copy(), np.arange(len(origins))
    gaps = np.maximum(aim - margins(values, rows), 0.0) ** 2
    costs, _ = price(values, rows)
    weights, active = np.zeros(len(values)), rows
    n_steps = 0
    while len(active) and n_steps < max_iter:
        n_steps += 1
        trials, of = moves(values[active], active)
        trial_costs, n_changed = price(trials, of)
        trial_gaps = np.maximum(aim - margins(trials, of), 0.0) ** 2
        closed, paid = gaps[of] - trial_gaps, trial_costs - costs[of]
        possible = n_changed <= most_changes
        moved = []
        for row in active:
            at = slice(*np.searchsorted(of, [row, row + 1]))
            best, weight = _best_move(closed[at], paid[at], possible[at], weights[row])
            if best is None:
                continue
            best += at.start
            values[row], gaps[row] = trials[best], trial_gaps[best]
            costs[row], weights[row] = trial_costs[best], weight
            moved.append(row)
        active = np.array(moved, dtype=np.intp)
    return values, n_steps


def _best_move(closed, paid, possible, weight):
    """The move that is worth most, and the weight at which it is worth something."""
    worth = np.where(possible, weight * closed - paid, -np.inf)
    if len(worth) and worth.max() > 1e-12 * (1 + np.abs(paid).max()):
        return int(worth.argmax()), weight
    closing = possible & (closed > 0)
    if not closing.any():
        return None, weight
    rates = np.full(len(closed), np.inf)
    rates[closing] = paid[closing] / closed[closing]
    best = int(rates.argmin())
    return best, max(weight, rates[best] * (1 + 1e-9))

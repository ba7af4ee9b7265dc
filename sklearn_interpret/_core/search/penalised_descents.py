"""Descents to a margin at a penalty: Wachter's objective, by coordinates or slopes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# All moves are tried in each eighth step, and the 64 best of these in between: few rows
# are asked of the model. `possible` of benchmarks/bench_counterfactuals.py counts what
# is missed.
_ALL_EVERY, _MOST_MOVES = 8, 64
# Moves shorter than this share of the distance have settled.
_STILL = 1e-5

# Arguments of the callables: points, and positions of their origins.
_Points = NDArray[np.float64]
_Index = NDArray[np.intp]


def coordinate_search(
    origins: NDArray[np.float64],
    cells: tuple[NDArray[np.intp], NDArray[np.float64]],
    moved: Callable[[_Points, NDArray[np.intp], NDArray[np.float64], _Index], _Points],
    margins: Callable[[_Points, _Index], NDArray[np.float64]],
    price: Callable[[_Points, _Index], tuple[NDArray[np.float64], NDArray[np.intp]]],
    *,
    aim: float,
    most_changes: float,
    max_iter: int,
) -> tuple[NDArray[np.float64], int]:
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
    all_moves = _with_moves_back(origins, *cells)
    n_steps = 0
    while all_moves[0].size and len(active) and n_steps < max_iter:
        if n_steps % _ALL_EVERY == 0:
            moves = all_moves
        n_steps += 1
        columns, targets = moves[0][active], moves[1][active]
        rows = np.repeat(active, columns.shape[1])
        trials = moved(values[rows], columns.ravel(), targets.ravel(), rows)
        prices, n_changed = (
            array.reshape(columns.shape) for array in price(trials, rows)
        )
        trial_gaps = aim - margins(trials, rows).reshape(columns.shape)
        trial_gaps = np.maximum(trial_gaps, 0.0) ** 2
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
        if moves is all_moves:
            moves = _best_moves(all_moves, rates, active)
        best, weights[active] = _choice(closed, paid, possible, rates, weights[active])
        going = np.isfinite(weights[active])
        active, chosen = active[going], (each[going], best[going])
        values[active], gaps[active] = trials[chosen], trial_gaps[chosen]
        costs[active] = prices[chosen]
    return np.where(np.isfinite(least)[:, None], nearest, values), n_steps


def _with_moves_back(
    origins: NDArray[np.float64], columns: NDArray[np.intp], cells: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Columns and values of all moves of each point; moves back come last."""
    back, size = np.unique(columns), (len(origins), 1)
    return (
        np.tile(np.append(columns, back), size),
        np.hstack([np.tile(cells, size), origins[:, back]]),
    )


def _best_moves(
    all_moves: tuple[NDArray[np.intp], NDArray[np.float64]],
    rates: NDArray[np.float64],
    active: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Moves that closed gaps at the lowest rates, and moves back; of active points."""
    columns, cells = all_moves
    n_points, n_moves = columns.shape
    n_back = len(np.unique(columns))
    order = np.argsort(rates[:, :-n_back], axis=1, kind="stable")[:, :_MOST_MOVES]
    first = n_moves - n_back - order.shape[1]
    selected = np.tile(np.arange(first, n_moves), (n_points, 1))
    selected[active, : order.shape[1]] = order
    return np.take_along_axis(columns, selected, 1), np.take_along_axis(
        cells, selected, 1
    )


def _choice(
    closed: NDArray[np.float64],
    paid: NDArray[np.float64],
    possible: NDArray[np.bool_],
    rates: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The moves that save most, and the weights at which they do.

    The weight is infinite where no move saves anything at any.
    """
    saved = np.where(possible, weights[:, None] * closed - paid, -np.inf)
    pays = saved.max(axis=1) > 1e-12 * (1 + np.abs(paid).max(axis=1))
    best = np.where(pays, saved.argmax(axis=1), rates.argmin(axis=1))
    raised = np.maximum(weights, rates.min(axis=1) * (1 + 1e-9))
    return best, np.where(pays, weights, raised)


def penalised_steps(
    values: NDArray[np.float64],
    gradients: NDArray[np.float64],
    gaps: NDArray[np.float64],
    weights: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    r"""Minimise costs and a weighted squared gap, by the gap's linear model.

    .. math:: \min_{z} \sum_j |z_j| + w \max(0, \text{gap} - g (z - v))^2, \qquad
        \text{low} \le z \le \text{high}

    Columns are filled in the order of their gradients, each as long as it closes more
    of the gap than it costs: a knapsack of fractions.

    Parameters
    ----------
    values : ndarray of shape (m, n_columns)
        Points v at which the gaps are known.
    gradients : ndarray of shape (m, n_columns)
        Reduction of the gap per unit of a column.
    gaps : ndarray of shape (m,)
        Gaps at these points, negative where the aim is exceeded.
    weights : ndarray of shape (m,)
        Weights of the squared gaps.
    low, high : ndarray of shape (m, n_columns)
        Limits.

    Returns
    -------
    ndarray of shape (m, n_columns)
    """
    cheapest = np.clip(0.0, low, high)
    missing = gaps - (gradients * (cheapest - values)).sum(axis=1)
    slopes = np.abs(gradients)
    upwards = gradients > 0
    room = np.where(upwards, high - cheapest, cheapest - low)
    # Moves towards zero are made already; moves away from it cost.
    room = np.where(np.where(upwards, cheapest < 0, cheapest > 0), 0.0, room)
    order = np.argsort(-slopes, axis=1, kind="stable")
    slopes = np.take_along_axis(slopes, order, axis=1)
    room = np.take_along_axis(room, order, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        closed = np.where(slopes > 0, slopes * room, 0.0)
        before = np.zeros_like(closed)
        np.cumsum(closed[:, :-1], axis=1, out=before[:, 1:])
        left = missing[:, None] - before - 0.5 / (weights[:, None] * slopes)
        steps = np.where(slopes > 0, left / slopes, 0.0)
    steps = np.clip(np.nan_to_num(steps), 0.0, room)
    amounts = np.empty_like(steps)
    np.put_along_axis(amounts, order, steps, axis=1)
    return cheapest + np.sign(gradients) * amounts


def penalised_descent(
    start: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    evaluate: Callable[[_Points, _Index], tuple[NDArray[np.float64], ...]],
    *,
    aim: float,
    max_iter: int,
) -> tuple[NDArray[np.float64], int]:
    r"""Minimise :math:`\lambda \max(0, a - m(z))^2 + \sum_j |z_j|`, lambda raised.

    Each step is that of the margin's linear model within a trust region. Lambda is
    raised tenfold where a point has settled that lacks margin.

    Parameters
    ----------
    start : ndarray of shape (m, n_columns)
        Where descents begin.
    low, high : ndarray of shape (m, n_columns)
        Limits.
    evaluate : callable
        ``evaluate(z, rows)``: the nearest possible points, their margins and the
        gradients of these.
    aim : float
        The margin a.
    max_iter : int
        Largest number of steps.

    Returns
    -------
    points : ndarray of shape (m, n_columns)
        The nearest points with a margin of at least zero, or the last ones.
    n_steps : int
        Steps of the longest descent.
    """
    rows = np.arange(len(start))
    points, margins, gradients = evaluate(start, rows)
    nearest = _Nearest(points, margins)
    steepest = np.abs(gradients).max(axis=1, initial=0)
    active = rows[steepest > 0]
    weights, trust = np.zeros(len(rows)), np.full(len(rows), np.inf)
    lacking = np.maximum(aim - margins[active], aim)
    weights[active] = 1 / (steepest[active] * lacking)
    n_steps = 0
    while len(active) and n_steps < max_iter:
        n_steps += 1
        current, weight = points[active], weights[active]
        gaps, reach = aim - margins[active], trust[active, None]
        new = penalised_steps(
            current,
            gradients[active],
            gaps,
            weight,
            np.maximum(low[active], current - reach),
            np.minimum(high[active], current + reach),
        )
        new, new_margins, new_gradients = evaluate(new, active)
        nearest.update(new, new_margins, active)
        before = _objective(current, gaps, weight)
        saved = before - _objective(new, aim - new_margins, weight)
        moved = np.abs(new - current).max(axis=1)
        better = saved > 1e-9 * before
        done = active[better]
        points[done], margins[done] = new[better], new_margins[better]
        gradients[done] = new_gradients[better]
        length = np.abs(points[active]).max(axis=1)
        settled = np.where(better, saved < 1e-3 * before, moved <= _STILL * length)
        longer = np.maximum(trust[active], 2 * moved)
        # Where nothing is left to save, the next weight needs as much room.
        trust[active] = np.where(better | settled, longer, moved / 4)
        raised = active[settled]
        weights[raised] *= 10
        trust[raised] *= 10
        active = active[~(settled & (margins[active] >= 0))]
    return np.where(nearest.has_margin[:, None], nearest.points, points), n_steps


class _Nearest:
    """The nearest points with a margin of at least zero so far."""

    def __init__(
        self, points: NDArray[np.float64], margins: NDArray[np.float64]
    ) -> None:
        self.points = points.copy()
        self._costs = np.full(len(points), np.inf)
        self.update(points, margins, np.arange(len(points)))

    @property
    def has_margin(self) -> NDArray[np.bool_]:
        """Whether a point with a margin was met, for each row."""
        return np.isfinite(self._costs)

    def update(
        self,
        points: NDArray[np.float64],
        margins: NDArray[np.float64],
        rows: NDArray[np.intp],
    ) -> None:
        costs = np.where(margins >= 0, np.abs(points).sum(axis=1), np.inf)
        nearer = costs < self._costs[rows]
        self.points[rows[nearer]] = points[nearer]
        self._costs[rows[nearer]] = costs[nearer]


def _objective(
    points: NDArray[np.float64], gaps: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.abs(points).sum(axis=1) + weights * np.maximum(gaps, 0) ** 2

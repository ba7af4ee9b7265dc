r"""Descents to a margin at a penalty: the objective of Wachter et al. (2018).

Points with a margin m(z) are sought near origins, at a cost d(z):
:math:`\lambda \max(0, a - m(z))^2 + d(z)` is minimised, where a is the margin's aim,
:math:`a - m(z)` its gap, and lambda a weight that is raised. By moves of single
coordinates, without slopes (:func:`coordinate_search`), or by slopes of the margin
(:func:`penalised_descent`), with steps from :func:`penalised_steps`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# All moves are tried in each eighth step, and the 64 best of these in between: few rows
# are asked of the model. `possible` of benchmarks/bench_counterfactuals.py counts what
# is missed.
_FULL_SEARCH_EVERY = 8
_N_BEST_MOVES = 64
# Descents settle where a step saves less than this share of the objective,
_LEAST_SAVING = 1e-3
# or, where it saves nothing, is shorter than this share of the distance.
_LEAST_STEP = 1e-5
# Savings below this share of the objective are rounding.
_ROUNDING = 1e-9
# Savings of single moves, differences of two numbers only, have smaller rounding.
_ROUNDING_OF_MOVES = 1e-12

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]
# Positions of rows.
_Index = NDArray[np.intp]


class _Moves(NamedTuple):
    """Moves of points: a column and its new value each, (n_points, n_moves).

    The last moves of each point lead back to its origin.
    """

    columns: NDArray[np.intp]
    values: _Array

    @property
    def n_back(self) -> int:
        """Number of moves back to the origin, one for each column."""
        return len(np.unique(self.columns))


def coordinate_search(
    origins: _Array,
    cells: tuple[NDArray[np.intp], _Array],
    move_points: Callable[[_Array, NDArray[np.intp], _Array, _Index], _Array],
    margins: Callable[[_Array, _Index], _Array],
    price_points: Callable[[_Array, _Index], tuple[_Array, NDArray[np.intp]]],
    *,
    aim: float,
    most_changes: float,
    max_iter: int,
) -> tuple[_Array, int]:
    r"""Change one coordinate after the other, by the move that saves most.

    Where no move lowers the objective, lambda is raised until one does. Moves back to
    the origin are tried in every step.

    Parameters
    ----------
    origins : ndarray of shape (m, n_columns)
        Where the search begins.
    cells : (ndarray, ndarray)
        Columns and values of the moves, (n_moves,) each.
    move_points : callable
        ``move_points(values, columns, cells, rows)``: points, one cell each changed.
    margins : callable
        ``margins(values, rows)``: (k,).
    price_points : callable
        ``price_points(values, rows)``: costs (k,) and numbers (k,) of the changes since
        the origins.
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
    values, active = origins.copy(), np.arange(len(origins))
    nearest = _Nearest(origins)
    # Of all points: squared gaps, costs, and lambda.
    gaps = np.full(len(values), np.inf)
    costs, weights = np.zeros((2, len(values)))
    all_moves = _with_moves_back(origins, *cells)
    n_steps = 0
    while all_moves.columns.size and len(active) and n_steps < max_iter:
        if n_steps % _FULL_SEARCH_EVERY == 0:
            moves = all_moves
        n_steps += 1
        columns, new_values = moves.columns[active], moves.values[active]
        rows = np.repeat(active, columns.shape[1])
        trials = move_points(values[rows], columns.ravel(), new_values.ravel(), rows)
        trial_costs, n_changed = (
            array.reshape(columns.shape) for array in price_points(trials, rows)
        )
        trial_gaps = aim - margins(trials, rows).reshape(columns.shape)
        trial_gaps = np.maximum(trial_gaps, 0.0) ** 2
        trials = trials.reshape(*trial_costs.shape, -1)
        if n_steps == 1:  # the last move back leaves points as they are
            gaps = trial_gaps[:, -1].copy()

        is_allowed, positions = n_changed <= most_changes, np.arange(len(active))
        feasible_costs = np.where(is_allowed & (trial_gaps == 0), trial_costs, np.inf)
        cheapest = positions, feasible_costs.argmin(axis=1)
        nearest.update(trials[cheapest], feasible_costs[cheapest], active)

        # The lambda at which a move pays: its cost over what it closes of the gap.
        gap_reductions = gaps[active, None] - trial_gaps
        added_costs = trial_costs - costs[active, None]
        rates = np.full(gap_reductions.shape, np.inf)
        np.divide(
            added_costs,
            gap_reductions,
            out=rates,
            where=is_allowed & (gap_reductions > 0),
        )
        if moves is all_moves:
            moves = _best_moves(all_moves, rates, active)
        best_moves, weights[active] = _choose_moves(
            gap_reductions, added_costs, is_allowed, rates, weights[active]
        )
        is_active = np.isfinite(weights[active])
        selected = positions[is_active], best_moves[is_active]
        active = active[is_active]
        values[active], gaps[active] = trials[selected], trial_gaps[selected]
        costs[active] = trial_costs[selected]
    return np.where(nearest.has_margin[:, None], nearest.points, values), n_steps


def _with_moves_back(
    origins: _Array, columns: NDArray[np.intp], values: _Array
) -> _Moves:
    """All moves of each point, then its moves back to the origin."""
    moved_columns, tiling = np.unique(columns), (len(origins), 1)
    return _Moves(
        np.tile(np.append(columns, moved_columns), tiling),
        np.hstack([np.tile(values, tiling), origins[:, moved_columns]]),
    )


def _best_moves(all_moves: _Moves, rates: _Array, active: NDArray[np.intp]) -> _Moves:
    """Moves of active points that closed gaps at the lowest rates, and moves back."""
    n_points, n_moves = all_moves.columns.shape
    n_back = all_moves.n_back
    order = np.argsort(rates[:, :-n_back], axis=1, kind="stable")[:, :_N_BEST_MOVES]
    first = n_moves - n_back - order.shape[1]
    selected = np.tile(np.arange(first, n_moves), (n_points, 1))
    selected[active, : order.shape[1]] = order
    return _Moves(
        np.take_along_axis(all_moves.columns, selected, axis=1),
        np.take_along_axis(all_moves.values, selected, axis=1),
    )


def _choose_moves(
    gap_reductions: _Array,
    added_costs: _Array,
    is_allowed: NDArray[np.bool_],
    rates: _Array,
    weights: _Array,
) -> tuple[NDArray[np.intp], _Array]:
    """The moves that save most, and the weights at which they save.

    Moves reduce the squared gaps, at `rates` of `added_costs`. The weight is infinite
    where no move saves anything at any weight.
    """
    savings = np.where(
        is_allowed, weights[:, None] * gap_reductions - added_costs, -np.inf
    )
    rounding = _ROUNDING_OF_MOVES * (1 + np.abs(added_costs).max(axis=1))
    pays = savings.max(axis=1) > rounding
    best_moves = np.where(pays, savings.argmax(axis=1), rates.argmin(axis=1))
    raised_weights = np.maximum(weights, rates.min(axis=1) * (1 + _ROUNDING))
    return best_moves, np.where(pays, weights, raised_weights)


def penalised_steps(
    values: _Array,
    gradients: _Array,
    gaps: _Array,
    weights: _Array,
    low: _Array,
    high: _Array,
) -> _Array:
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
    gaps = gaps - (gradients * (cheapest - values)).sum(axis=1)
    slopes = np.abs(gradients)
    is_upwards = gradients > 0
    room = np.where(is_upwards, high - cheapest, cheapest - low)
    # Moves towards zero are made already; moves away from it cost.
    room = np.where(np.where(is_upwards, cheapest < 0, cheapest > 0), 0.0, room)
    order = np.argsort(-slopes, axis=1, kind="stable")
    slopes = np.take_along_axis(slopes, order, axis=1)
    room = np.take_along_axis(room, order, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap_reductions = np.where(slopes > 0, slopes * room, 0.0)
        earlier_reductions = np.zeros_like(gap_reductions)
        np.cumsum(gap_reductions[:, :-1], axis=1, out=earlier_reductions[:, 1:])
        # The last unit closes as much as it costs: 2 w gap |g| = 1.
        remaining_gaps = (
            gaps[:, None] - earlier_reductions - 0.5 / (weights[:, None] * slopes)
        )
        steps = np.where(slopes > 0, remaining_gaps / slopes, 0.0)
    steps = np.clip(np.nan_to_num(steps), 0.0, room)
    amounts = np.empty_like(steps)
    np.put_along_axis(amounts, order, steps, axis=1)
    return cheapest + np.sign(gradients) * amounts


def penalised_descent(
    start: _Array,
    low: _Array,
    high: _Array,
    evaluate: Callable[[_Array, _Index], tuple[_Array, ...]],
    *,
    aim: float,
    max_iter: int,
) -> tuple[_Array, int]:
    r"""Minimise :math:`\lambda \max(0, a - m(z))^2 + \sum_j |z_j|`, lambda raised.

    Each step minimises the objective with the margin's linear model within a trust
    region. Lambda is raised tenfold where a settled point lacks margin.

    Parameters
    ----------
    start : ndarray of shape (m, n_columns)
        Where descents begin.
    low, high : ndarray of shape (m, n_columns)
        Limits.
    evaluate : callable
        ``evaluate(z, rows)``: the nearest possible points, their margins, and the
        gradients of the margins.
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
    nearest = _Nearest(points)
    nearest.update(points, _costs_with_margin(points, margins), rows)
    steepest = np.abs(gradients).max(axis=1, initial=0)
    active = rows[steepest > 0]
    # Half-widths of trust regions; the first steps are not limited.
    weights, radii = np.zeros(len(rows)), np.full(len(rows), np.inf)
    gaps = np.maximum(aim - margins[active], aim)
    weights[active] = 1 / (steepest[active] * gaps)
    n_steps = 0
    while len(active) and n_steps < max_iter:
        n_steps += 1
        current_points, weight = points[active], weights[active]
        gaps, radius = aim - margins[active], radii[active, None]
        new_points = penalised_steps(
            current_points,
            gradients[active],
            gaps,
            weight,
            np.maximum(low[active], current_points - radius),
            np.minimum(high[active], current_points + radius),
        )
        new_points, new_margins, new_gradients = evaluate(new_points, active)
        nearest.update(new_points, _costs_with_margin(new_points, new_margins), active)
        objectives = _objective(current_points, gaps, weight)
        savings = objectives - _objective(new_points, aim - new_margins, weight)
        lengths = np.abs(new_points - current_points).max(axis=1)
        is_better = savings > _ROUNDING * objectives
        accepted = active[is_better]
        points[accepted] = new_points[is_better]
        margins[accepted] = new_margins[is_better]
        gradients[accepted] = new_gradients[is_better]
        distances = np.abs(points[active]).max(axis=1)
        saved_little = savings < _LEAST_SAVING * objectives
        is_settled = np.where(
            is_better, saved_little, lengths <= _LEAST_STEP * distances
        )
        longer = np.maximum(radii[active], 2 * lengths)
        # Trust regions shrink to a quarter of a step that fails, and double after one
        # that succeeds. Where nothing is left to save, the next weight needs much room.
        radii[active] = np.where(is_better | is_settled, longer, lengths / 4)
        raised_rows = active[is_settled]
        weights[raised_rows] *= 10
        radii[raised_rows] *= 10
        active = active[~(is_settled & (margins[active] >= 0))]
    return np.where(nearest.has_margin[:, None], nearest.points, points), n_steps


class _Nearest:
    """The nearest points with the margin so far; before the first, where they begin."""

    def __init__(self, points: _Array) -> None:
        self.points = points.copy()
        self._costs = np.full(len(points), np.inf)

    @property
    def has_margin(self) -> NDArray[np.bool_]:
        """Whether a point with a margin was met, for each row."""
        return np.isfinite(self._costs)

    def update(self, points: _Array, costs: _Array, rows: _Index) -> None:
        """Replace the points of rows by nearer ones; costs are infinite off margin."""
        nearer = costs < self._costs[rows]
        self.points[rows[nearer]] = points[nearer]
        self._costs[rows[nearer]] = costs[nearer]


def _costs_with_margin(points: _Array, margins: _Array) -> _Array:
    """Costs of points, (n_points,); infinite where the margin is negative."""
    return np.where(margins >= 0, np.abs(points).sum(axis=1), np.inf)


def _objective(points: _Array, gaps: _Array, weights: _Array) -> _Array:
    """Costs plus weighted squared gaps, (n_points,)."""
    return np.abs(points).sum(axis=1) + weights * np.maximum(gaps, 0) ** 2

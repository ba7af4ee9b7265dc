"""Effects from responses to altered rows: accumulation, centring, look-up.

An *axis* of an accumulated effect has *nodes*, at which the effect lives (the edges of
intervals, or the levels of a category), *cells*, in which the rows fall (the intervals,
or again the levels), and *steps* between neighbouring nodes, over which responses are
differenced. With intervals, cells and steps are the same things. A level is the end of
two steps.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from sklearn_interpret._core.statistics.grids import AT_ONCE, NodeSearch


@dataclass(frozen=True)
class NodeAxis:
    """Nodes, cells and steps of one axis of an accumulated effect.

    Parameters
    ----------
    positions : ndarray of shape (n_nodes,)
        Where the nodes lie: the edges, or ranks for levels.
    by_level : bool
        Whether the nodes are levels of a category.
    """

    positions: np.ndarray
    by_level: bool

    @property
    def n_nodes(self):
        """Number of nodes."""
        return len(self.positions)

    @property
    def n_cells(self):
        """Number of cells in which rows fall."""
        return self.n_nodes if self.by_level else self.n_nodes - 1

    @property
    def n_steps(self):
        """Number of steps between neighbouring nodes."""
        return self.n_nodes - 1

    @property
    def step_positions(self):
        """Middle of each step."""
        return (self.positions[:-1] + self.positions[1:]) / 2

    def visits(self, cells):
        """Nodes to which rows are moved: (n, 2) for intervals, (n, 3) for levels."""
        if not self.by_level:
            return cells[:, None] + np.arange(2)
        return np.clip(cells[:, None] + np.arange(-1, 2), 0, self.n_nodes - 1)

    def differences(self, cells):
        """Pairs of visits whose difference is a step, with the step of each row.

        Yields
        ------
        low, high : int
            Columns of `visits`.
        steps : ndarray of shape (n,)
            Step of each row; -1 where the row has none.
        """
        if not self.by_level:
            yield 0, 1, cells
            return
        yield 0, 1, cells - 1
        yield 1, 2, np.where(cells < self.n_steps, cells, -1)

    def cell_values(self, effects, axis):
        """Effect of a cell: at its level, or the mean of its two edges."""
        if self.by_level:
            return effects
        moved = np.moveaxis(effects, axis, 0)
        return np.moveaxis((moved[:-1] + moved[1:]) / 2, 0, axis)

    def step_weights(self, cell_weights, axis):
        """Weight of the rows that take part in each step."""
        if not self.by_level:
            return cell_weights
        moved = np.moveaxis(cell_weights, axis, 0)
        return np.moveaxis(moved[:-1] + moved[1:], 0, axis)


def accumulate(local_effects, axis=-1):
    """Sum of the local effects up to each node, zero at the first one."""
    total = np.cumsum(local_effects, axis=axis)
    shape = list(total.shape)
    shape[axis] = 1
    return np.concatenate([np.zeros(shape), total], axis=axis)


def centring_constant(effects, cell_weights, axes):
    """Weighted mean of the effect over the rows' cells (Apley & Zhu 2020, eq. 16).

    Parameters
    ----------
    effects : ndarray of shape (k, n_nodes[, n_nodes_2])
        Effects at nodes.
    cell_weights : ndarray of shape (n_cells[, n_cells_2])
        Weight of the rows in each cell.
    axes : sequence of NodeAxis
        One or two.

    Returns
    -------
    ndarray of shape (k,)
    """
    for position, axis in enumerate(axes):
        effects = axis.cell_values(effects, position + 1)
    total = cell_weights.sum()
    if total == 0:
        return np.zeros(len(effects))
    return np.tensordot(effects, cell_weights, cell_weights.ndim) / total


def first_order_effect(local_effects, cell_weights, axis, *, centred=True):
    """Accumulated local effects of one feature (Apley & Zhu 2020, eq. 15 and 16).

    Parameters
    ----------
    local_effects : ndarray of shape (k, n_steps)
        Mean difference over each step.
    cell_weights : ndarray of shape (n_cells,)
        Weight of the rows in each cell.
    axis : NodeAxis
        The axis.
    centred : bool, default=True
        Subtract the weighted mean; otherwise the effect starts at zero.

    Returns
    -------
    ndarray of shape (k, n_nodes)
    """
    effects = accumulate(local_effects)
    if centred:
        effects = effects - centring_constant(effects, cell_weights, [axis])[:, None]
    return effects


def accumulated_standard_errors(step_errors, cell_weights, axis, covariances=None):
    """Standard errors of a centred first-order effect from those of its steps.

    The centred effect is linear in the local effects. Those of intervals come from
    separate rows, so that the variances add with squared coefficients; neighbouring
    steps of levels share the rows of the level between them, and covary.

    Parameters
    ----------
    step_errors : ndarray of shape (k, n_steps)
        Standard error of each local effect.
    cell_weights : ndarray of shape (n_cells,)
        Weight of the rows in each cell.
    axis : NodeAxis
        The axis.
    covariances : ndarray of shape (k, n_steps - 1), optional
        Of each local effect and the next one; None means zero.

    Returns
    -------
    ndarray of shape (k, n_nodes)
    """
    operator = accumulate(np.eye(axis.n_steps))  # (n_steps, n_nodes)
    operator = operator - centring_constant(operator, cell_weights, [axis])[:, None]
    variances = step_errors**2 @ operator**2
    if covariances is not None:
        variances = variances + 2 * covariances @ (operator[:-1] * operator[1:])
    return np.sqrt(np.maximum(variances, 0.0))


def neighbour_covariances(steps, shared):
    """Covariances of the mean differences over neighbouring steps between levels.

    Parameters
    ----------
    steps : Moments of shape (n_steps, k)
        Of the differences over each step.
    shared : Moments of shape (n_levels, 3 k)
        For the rows of each inner level, of their differences over the step below it,
        over the one above it, and of the sum of the two.

    Returns
    -------
    ndarray of shape (k, n_steps - 1)
    """
    inner = slice(1, -1)
    weight = shared.weight[inner]
    below, above, _ = np.split(shared.mean[inner], 3, axis=1)
    m2_below, m2_above, m2_both = np.split(shared.m2[inner], 3, axis=1)
    products = (m2_both - m2_below - m2_above) / 2
    products += weight * (below - steps.mean[:-1]) * (above - steps.mean[1:])
    # From sums of squares to squared standard errors: the same factor for both.
    factor = np.divide(
        steps.standard_error,
        np.sqrt(steps.m2),
        out=np.zeros_like(steps.m2),
        where=steps.m2 > 0,
    )
    return (products * factor[:-1] * factor[1:]).T


def second_order_effect(local_effects, step_weights, cell_weights, axes):
    """Pure interaction effect of two features (Apley & Zhu 2020, eq. 17 to 20).

    Steps that hold no row take the local effect of the nearest step that does, in
    positions scaled to the range of each axis; of equally near ones the first.

    Parameters
    ----------
    local_effects : ndarray of shape (k, n_steps_1, n_steps_2)
        Mean second differences; ignored where the weight is zero.
    step_weights : ndarray of shape (n_steps_1, n_steps_2)
        Weight behind each of them.
    cell_weights : ndarray of shape (n_cells_1, n_cells_2)
        Weight of the rows in each cell.
    axes : pair of NodeAxis
        The two axes.

    Returns
    -------
    ndarray of shape (k, n_nodes_1, n_nodes_2)
    """
    filled = _fill_empty(local_effects, step_weights, axes)
    effects = accumulate(accumulate(filled, axis=1), axis=2)
    main = [_main_effect(effects, cell_weights, axes, which) for which in (0, 1)]
    effects = effects - main[0][:, :, None] - main[1][:, None, :]
    return effects - centring_constant(effects, cell_weights, axes)[:, None, None]


def _main_effect(effects, cell_weights, axes, which):
    """First-order effect along one axis that is left in a second-order surface."""
    axis, other = axes[which], axes[1 - which]
    steps = np.diff(effects, axis=which + 1)
    steps = other.cell_values(steps, 2 - which)
    weights = axis.step_weights(cell_weights, which)
    total = weights.sum(axis=1 - which)
    summed = (steps * weights).sum(axis=2 - which)
    return accumulate(
        np.divide(summed, total, out=np.zeros_like(summed), where=total > 0)
    )


def _fill_empty(local_effects, step_weights, axes):
    """Local effects with empty steps filled from their nearest neighbour."""
    empty = step_weights == 0
    if not empty.any() or empty.all():
        return np.where(empty, 0.0, local_effects)
    scaled = []
    for axis in axes:
        reach = np.ptp(axis.positions)
        scaled.append(axis.step_positions / (reach if reach > 0 else 1.0))
    places = np.stack(np.meshgrid(*scaled, indexing="ij"), axis=-1)
    filled = local_effects.copy()
    neighbours = _first_nearest(places[~empty], places[empty])
    filled[:, empty] = local_effects[:, ~empty][:, neighbours]
    return filled


def _first_nearest(candidates, places):
    """Index of the nearest candidate; ties, common on a grid, go to the first."""
    from scipy.spatial import cKDTree  # slow to import, and seldom needed

    tree = cKDTree(candidates)
    distances, _ = tree.query(places)
    near = tree.query_ball_point(places, distances * (1 + 1e-9), return_sorted=True)
    return np.array([found[0] for found in near], dtype=np.intp)


def grid_position(values, nodes):
    """Left neighbour of each value among the nodes, and the share of the way onwards.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Values beyond the nodes count as the nearest one.
    nodes : ndarray of shape (G,)
        Increasing.

    Returns
    -------
    low : ndarray of shape (m,), dtype intp
        Position of the left neighbour.
    share : ndarray of shape (m,)
        In [0, 1]; NaN where the value is.
    """
    low, share = np.empty(len(values), dtype=np.intp), np.empty(len(values))
    position = _GridPosition(nodes)
    for start in range(0, len(values), AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        low[rows], share[rows] = position(values[rows])
    return low, share


class _GridPosition:
    """What `grid_position` finds, for some thousands of values at a time."""

    def __init__(self, nodes):
        self._nodes, self._gaps = nodes, np.diff(nodes)
        self._search = NodeSearch(nodes[1:-1], side="right")

    def __call__(self, values):
        if len(self._nodes) == 1:
            return np.zeros(len(values), dtype=np.intp), values * 0.0
        values = np.clip(values, self._nodes[0], self._nodes[-1])
        low = self._search(values)
        return low, self.shares(values, low)

    def shares(self, values, low):
        """Share of the way from the left neighbours onwards."""
        return (values - self._nodes.take(low)) / self._gaps.take(low)


def grid_masses(lows, shares, shape, weights):
    """Weight that rows put on each point of a grid over which they interpolate.

    The weighted mean over the rows of a (bi)linear function of the grid is its values
    times these masses.

    Parameters
    ----------
    lows, shares : sequence of ndarray of shape (m,)
        For each axis, as `grid_position` gives them.
    shape : tuple of int
        Number of points along each axis.
    weights : ndarray of shape (m,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape `shape`
    """
    masses = np.zeros(int(np.prod(shape)))
    for corner in product((0, 1), repeat=len(shape)):
        part, places = weights, []
        for step, low, share, size in zip(corner, lows, shares, shape, strict=True):
            part = part * (share if step else 1 - share)
            places.append(np.minimum(low + step, size - 1))
        index = np.ravel_multi_index(places, shape)
        masses += np.bincount(index, part, len(masses))
    return masses.reshape(shape)


def interpolate(values, nodes, curves, cells=None):
    """Curves at `values`, linear between nodes and constant beyond them.

    Parameters
    ----------
    values : ndarray of shape (m,)
        NaN gives NaN.
    nodes : ndarray of shape (G,)
        Increasing.
    curves : ndarray of shape (k, G)
        Values at the nodes.
    cells : ndarray of shape (m,), optional
        Interval of each value, -1 outside, where that is known already.

    Returns
    -------
    ndarray of shape (m, k)
    """
    if len(nodes) == 1 or (cells is not None and cells.min(initial=0) < 0):
        cells = None
    position = _GridPosition(nodes)
    rises = np.diff(curves, append=curves[:, -1:])
    found = np.empty((len(values), len(curves)))
    for start in range(0, len(values), AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        if cells is None:
            low, shares = position(values[rows])
        else:
            low, shares = cells[rows], position.shares(values[rows], cells[rows])
        # Shares of the interval and not slopes, which overflow between tiny numbers.
        outputs = zip(curves, rises, strict=True)
        for output, (curve, rise) in enumerate(outputs):
            found[rows, output] = curve.take(low) + rise.take(low) * shares
    return found


def look_up(codes, curves):
    """Curves (k, L) at integer `codes` (m,); -1 gives NaN. Returns (m, k)."""
    if not curves.shape[1]:
        return np.full((len(codes), len(curves)), np.nan)
    found = curves.T[np.maximum(codes, 0)].astype(np.float64)
    found[codes < 0] = np.nan
    return found


def derivative(curves, nodes):
    """Slope of `curves` (..., G) along the increasing `nodes` (G,)."""
    if len(nodes) < 2:
        return np.zeros_like(curves)
    return np.gradient(curves, nodes, axis=-1)

"""Accumulated local effects (Apley & Zhu 2020): differences, their moments and sums.

An *axis* of an accumulated effect has *nodes*, at which the effect lives (the edges of
intervals, or the levels of a category), and *steps* between neighbouring nodes, over
which responses are differenced. Each row has a node: its level, or the edge at or above
it. A row moves over the step below this edge (at the lowest edge, over the first step),
and over the steps on both sides of its level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.effects.cell_errors import FEW_ROWS, cell_errors
from sklearn_interpret._core.statistics.weighted import Moments, ratio_or_zero

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]


class VisitPair(NamedTuple):
    """Two of the nodes that rows are moved to, and the steps between them."""

    low: int  # positions among the columns of `NodeAxis.visits`
    high: int
    step: NDArray[np.integer]  # (n,): -1 for rows that take no step


@dataclass(frozen=True)
class NodeAxis:
    """Nodes and steps of one axis of an accumulated effect.

    Parameters
    ----------
    positions : ndarray of shape (n_nodes,)
        Positions of the nodes: the edges, or ranks for levels.
    by_level : bool
        Whether the nodes are levels of a category.
    rows_at_nodes : bool, default=False
        Whether all rows lie on edges, as the values of a count with few values do. Rows
        between edges have the mean effect of their interval's two edges.
    """

    positions: _Array
    by_level: bool
    rows_at_nodes: bool = False

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.positions)

    @property
    def n_steps(self) -> int:
        """Number of steps between neighbouring nodes."""
        return max(self.n_nodes - 1, 0)

    def visits(self, nodes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Nodes to which rows are moved: (n, 2) for intervals, (n, 3) for levels."""
        # All rows take a step. Along an axis of a single node no row does.
        offsets = (-1, 0, 1) if self.by_level else (-1, 0)
        middle = nodes if self.by_level else np.maximum(nodes, 1)
        visits = np.empty((len(nodes), len(offsets)), dtype=np.intp)
        for visit, offset in enumerate(offsets):
            np.add(middle, offset, out=visits[:, visit])
        # Levels at the ends have one neighbour only.
        return visits.clip(0, self.n_nodes - 1, out=visits) if self.by_level else visits

    def visit_pairs(self, nodes: NDArray[np.integer]) -> Iterator[VisitPair]:
        """Pairs of visits between which responses are differenced, of rows (n,)."""
        if not self.by_level:
            step = np.where(nodes >= 0, np.maximum(nodes - 1, 0), -1)
            yield VisitPair(0, 1, step if self.n_steps else np.full_like(step, -1))
            return
        yield VisitPair(0, 1, np.maximum(nodes - 1, -1))
        yield VisitPair(1, 2, np.where(nodes < self.n_steps, nodes, -1))

    def row_effects(self, effects: _Array, axis: int) -> _Array:
        """Mean effect of the rows of each node."""
        if self.by_level or self.rows_at_nodes or not self.n_steps:
            return effects
        before = (slice(None),) * axis
        middles = (effects[*before, :-1] + effects[*before, 1:]) / 2
        return np.concatenate([middles[*before, :1], middles], axis=axis)

    def step_weights(self, node_weights: _Array, axis: int) -> _Array:
        """Weight of the rows that take part in each step."""
        before = (slice(None),) * axis
        weights = node_weights[*before, 1:].copy()
        if self.by_level:
            weights += node_weights[*before, :-1]
        else:
            weights[*before, :1] += node_weights[*before, :1]
        return weights


@dataclass(frozen=True, eq=False)
class NeighbourSteps:
    """Steps of rows to the nodes next to them, along one or two axes.

    A row takes one step along an axis of intervals, and up to two along an axis of
    levels; along two axes, all pairs of such steps. There is one *kind* of step for
    intervals, two for levels (from the level below, and to the level above), and the
    products of the kinds for two axes.

    Parameters
    ----------
    axes : tuple of NodeAxis
        One or two.
    columns : tuple of int
        Columns of these axes in a table with the nodes of rows along several axes.
    """

    axes: tuple[NodeAxis, ...]
    columns: tuple[int, ...]

    @property
    def n_steps(self) -> int:
        """Number of steps, pairs of steps for two axes."""
        return int(np.prod([axis.n_steps for axis in self.axes]))

    def for_rows(self, weight_off_nodes: Sequence[float]) -> NeighbourSteps:
        """These steps for rows, by column the weight of those that lie off nodes."""
        axes = [
            replace(axis, rows_at_nodes=not weight_off_nodes[column])
            for axis, column in zip(self.axes, self.columns, strict=True)
        ]
        return replace(self, axes=tuple(axes))

    def nodes(self, table: NDArray[np.integer]) -> list[NDArray[np.integer]]:
        """Nodes of rows (n,) along each axis, -1 for rows outside."""
        # Tables of nodes have a small dtype, in which products would overflow.
        return [table[:, column].astype(np.int32) for column in self.columns]

    def node_weights(
        self, table: NDArray[np.integer], weights: _Array
    ) -> tuple[_Array, float]:
        """Weight of rows at each node, (n_nodes[, n_nodes_2]), and at none of them."""
        nodes = self.nodes(table)
        shape = tuple(axis.n_nodes for axis in self.axes)
        inside = np.all([codes >= 0 for codes in nodes], axis=0)
        outside = weights[~inside].sum()
        if not inside.any():
            return np.zeros(shape), outside
        groups = np.ravel_multi_index([codes[inside] for codes in nodes], shape)
        totals = np.bincount(groups, weights[inside], int(np.prod(shape)))
        return totals.astype(np.float64, copy=False).reshape(shape), outside

    def row_steps(self, table: NDArray[np.integer]) -> list[NDArray[np.integer]]:
        """Step (n,) that each row takes, for each kind of step; -1 for no step."""
        steps_of_axes = [
            [pair.step for pair in axis.visit_pairs(nodes)]
            for axis, nodes in zip(self.axes, self.nodes(table), strict=True)
        ]
        if len(steps_of_axes) == 1:
            return steps_of_axes[0]
        width = self.axes[1].n_steps
        return [
            np.where((first >= 0) & (second >= 0), first * width + second, -1)
            for first, second in product(*steps_of_axes)
        ]

    def ends(self, row_steps: NDArray[np.integer]) -> NDArray[np.integer]:
        """Point of the grid of nodes that steps lead to; -1 for no step."""
        if len(self.axes) == 1:
            return np.where(row_steps >= 0, row_steps + 1, -1)
        first, second = np.divmod(row_steps, max(self.axes[1].n_steps, 1))
        points = (first + 1) * self.axes[1].n_nodes + second + 1
        return np.where(row_steps >= 0, points, -1)

    def visits(self, table: NDArray[np.integer]) -> NDArray[np.intp]:
        """Points of the grid of nodes whose responses `differences` takes: (n, m)."""
        visits = [
            axis.visits(nodes)
            for axis, nodes in zip(self.axes, self.nodes(table), strict=True)
        ]
        if len(visits) == 1:
            return visits[0]
        first, second = visits
        points = first[:, :, None] * self.axes[1].n_nodes + second[:, None]
        return points.reshape(len(table), first.shape[1] * second.shape[1])

    def differences(self, responses: _Array) -> list[_Array]:
        """Differences (n, k) of responses (n, m, k), for each kind of step.

        Second differences for two axes.
        """
        no_rows = np.empty(0, dtype=np.intp)
        pairs = [list(axis.visit_pairs(no_rows)) for axis in self.axes]
        if len(pairs) == 1:
            return [responses[:, p.high] - responses[:, p.low] for p in pairs[0]]
        width = 3 if self.axes[1].by_level else 2
        grid = responses.reshape(len(responses), -1, width, responses.shape[2])
        return [
            (grid[:, first.high, second.high] - grid[:, first.low, second.high])
            - (grid[:, first.high, second.low] - grid[:, first.low, second.low])
            for first, second in product(*pairs)
        ]


class StepDifferences(NamedTuple):
    """Differences of rows over their steps."""

    row: NDArray[np.intp]  # (n,): positions of the rows
    step: NDArray[np.integer]  # (n,): -1 for no step
    difference: _Array  # (n, k)

    def with_step(self) -> StepDifferences:
        """The differences of the rows that take a step."""
        has_step = self.step >= 0
        if has_step.all():
            return self
        return StepDifferences._make(array[has_step] for array in self)

    @classmethod
    def concatenate(cls, blocks: Sequence[StepDifferences]) -> StepDifferences:
        """The differences of several blocks."""
        if len(blocks) == 1:
            return blocks[0]
        return cls._make(map(np.concatenate, zip(*blocks, strict=True)))


@dataclass(frozen=True, eq=False)
class StepMoments:
    """Moments of differences over steps, of some rows.

    Parameters
    ----------
    moments : Moments of shape (n_steps, k)
        Moments of the differences, by step.
    shared : Moments of shape (n_levels, 3 k), or None
        Moments of the rows that take two steps between levels, as
        `neighbour_covariances` takes them; None for intervals and pairs.
    row_differences : tuple of StepDifferences
        The differences themselves, for the bootstrap; empty without it.
    """

    moments: Moments
    shared: Moments | None = None
    row_differences: tuple[StepDifferences, ...] = ()

    @classmethod
    def of_none(cls, steps: NeighbourSteps, n_outputs: int) -> StepMoments:
        """Moments of no rows."""
        zeros = np.zeros((steps.n_steps, n_outputs))
        return cls(Moments(zeros[:, :1], zeros, zeros))

    @classmethod
    def of_rows(
        cls,
        steps: NeighbourSteps,
        index: NDArray[np.intp],
        row_steps: Sequence[NDArray[np.integer]],
        differences: Sequence[_Array],
        weights: _Array,
        *,
        keep_rows: bool = False,
    ) -> StepMoments:
        """Moments of the rows at `index` (n,).

        `row_steps` (n,) and `differences` (n, k) are lists with an entry for each kind
        of step, as `NeighbourSteps` returns them; `weights` has all rows.
        """
        rows = StepDifferences.concatenate(
            [
                StepDifferences(index, step, difference).with_step()
                for step, difference in zip(row_steps, differences, strict=True)
            ]
        )
        moments = Moments.of_groups(
            rows.difference, rows.step, steps.n_steps, weights[rows.row]
        )
        shared = None
        if len(steps.axes) == 1 and len(row_steps) == 2:
            has_both = np.flatnonzero((row_steps[0] >= 0) & (row_steps[1] >= 0))
            below, above = (difference[has_both] for difference in differences)
            shared = Moments.of_groups(
                np.hstack([below, above, below + above]),
                row_steps[1][has_both],
                steps.axes[0].n_nodes,
                weights[index[has_both]],
            )
        return cls(moments, shared, (rows,) if keep_rows else ())

    def merge(self, other: StepMoments) -> StepMoments:
        """Moments of both sets of rows, of which one may be empty."""
        moments = self.moments.merge(other.moments)
        shared = other.shared if self.shared is None else self.shared
        if self.shared is not None and other.shared is not None:
            shared = self.shared.merge(other.shared)
        return StepMoments(
            moments, shared, self.row_differences + other.row_differences
        )

    def with_weights(self, steps: NeighbourSteps, weights: _Array) -> StepMoments:
        """Moments of the same differences under other weights of the rows."""
        if not self.row_differences:
            return self
        row, step, difference = self.all_row_differences
        moments = Moments.of_groups(difference, step, steps.n_steps, weights[row])
        return StepMoments(moments)

    @cached_property
    def all_row_differences(self) -> StepDifferences:
        """The differences of all rows."""
        return StepDifferences.concatenate(self.row_differences)


@dataclass(frozen=True, eq=False)
class LocalEffects:
    """Local effects of a feature or pair, and the accumulated effect.

    Parameters
    ----------
    steps : NeighbourSteps
        Steps that were differenced.
    node_weights : ndarray of shape (n_nodes,) or (n_nodes_1, n_nodes_2)
        Weight of the rows of each node.
    step_moments : StepMoments
        Moments of the differences over all rows.
    """

    steps: NeighbourSteps
    node_weights: _Array
    step_moments: StepMoments

    def _on_step_grid(self, values: _Array) -> _Array:
        """Values (n_steps, k) as an array (k, n_steps...)."""
        shape = (axis.n_steps for axis in self.steps.axes)
        return values.T.reshape(values.shape[1], *shape)

    def with_weights(self, table: NDArray[np.integer], weights: _Array) -> LocalEffects:
        """The local effects of rows of other weights, given their nodes."""
        node_weights, _ = self.steps.node_weights(table, weights)
        step_moments = self.step_moments.with_weights(self.steps, weights)
        return LocalEffects(self.steps, node_weights, step_moments)

    @property
    def step_weights(self) -> _Array:
        """Weight of the rows of each local effect: (n_steps...)."""
        return self._on_step_grid(self.step_moments.moments.weight)[0]

    @property
    def counts(self) -> _Array:
        """Weight of the rows in each interval or at each level."""
        counts = self.node_weights
        for position, axis in enumerate(self.steps.axes):
            if not axis.by_level:
                counts = axis.step_weights(counts, position)
        return counts

    @property
    def local(self) -> _Array:
        """Mean differences, zero where there is no row: (k, n_steps...)."""
        return self._on_step_grid(self.step_moments.moments.mean)

    @property
    def observed_local(self) -> _Array:
        """Mean differences, with NaN in two-way cells that hold no row."""
        if len(self.steps.axes) == 1:
            return self.local
        return np.where(self.step_weights > 0, self.local, np.nan)

    @property
    def local_std(self) -> _Array:
        """Standard deviation of the differences over the rows."""
        return self._on_step_grid(np.sqrt(self.step_moments.moments.variance))

    @property
    def local_error(self) -> _Array:
        """Standard errors of the mean differences, from the rows of each step alone."""
        return self._on_step_grid(self.step_moments.moments.standard_error)

    @property
    def effect_error(self) -> _Array:
        """Standard errors of the first-order effect: (k, n_nodes)."""
        if not self.step_weights.any():
            return self._no_effect()
        (axis,), moments = self.steps.axes, self.step_moments.moments
        shared, covariances = self.step_moments.shared, None
        widths = np.ones(axis.n_steps)
        if not axis.by_level:
            largest = np.abs(axis.positions).max() or 1.0  # huge numbers would overflow
            widths = np.diff(axis.positions / largest)
        errors = cell_errors(moments, widths, ordered=not axis.by_level).T
        if shared is not None:
            covariances = neighbour_covariances(moments, shared, errors)
        return accumulated_standard_errors(errors, self.node_weights, axis, covariances)

    def effect(self, *, centred: bool) -> _Array:
        """The accumulated effect at the nodes: (k, n_nodes...)."""
        axes, weights = self.steps.axes, self.node_weights
        if not self.step_weights.any():
            return self._no_effect()
        if len(axes) == 1:
            return first_order_effect(self.local, weights, axes[0], centred=centred)
        return second_order_effect(self.local, self.step_weights, weights, axes)

    def _no_effect(self) -> _Array:
        """Zeros at the nodes: (k, n_nodes...)."""
        shape = (axis.n_nodes for axis in self.steps.axes)
        return np.zeros((self.step_moments.moments.mean.shape[1], *shape))


def accumulate(local_effects: _Array, axis: int = -1) -> _Array:
    """Sum of the local effects up to each node, zero at the first one."""
    total = np.cumsum(local_effects, axis=axis)
    shape = list(total.shape)
    shape[axis] = 1
    return np.concatenate([np.zeros(shape), total], axis=axis)


def centring_constant(
    effects: _Array, node_weights: _Array, axes: Sequence[NodeAxis]
) -> _Array:
    """Weighted mean of effects over the rows (Apley & Zhu 2020, eq. 16): (k,).

    Takes effects at nodes (k, n_nodes[, n_nodes_2]) and the weights of their rows.
    """
    for position, axis in enumerate(axes):
        effects = axis.row_effects(effects, position + 1)
    total = node_weights.sum()
    if total == 0:
        return np.zeros(len(effects))
    return np.tensordot(effects, node_weights, node_weights.ndim) / total


def first_order_effect(
    local_effects: _Array, node_weights: _Array, axis: NodeAxis, *, centred: bool = True
) -> _Array:
    """Accumulated local effects of one feature (Apley & Zhu 2020, eq. 15 and 16).

    Takes mean differences over steps (k, n_steps) and the weights of nodes; returns
    (k, n_nodes), centred at the weighted mean or starting at zero.
    """
    effects = accumulate(local_effects)
    if centred:
        effects = effects - centring_constant(effects, node_weights, [axis])[:, None]
    return effects


def accumulated_standard_errors(
    step_errors: _Array,
    node_weights: _Array,
    axis: NodeAxis,
    covariances: _Array | None = None,
) -> _Array:
    """Standard errors (k, n_nodes) of a centred first-order effect.

    The centred effect is linear in the local effects, whose errors are (k, n_steps).
    Local effects of intervals come from separate rows, so that their variances add with
    squared coefficients. Neighbouring steps of levels share the rows of the level
    between them: `covariances` (k, n_steps - 1) are the covariances of each local
    effect and the next one.
    """
    masses = node_weights
    if not axis.by_level and not axis.rows_at_nodes:
        counts = axis.step_weights(node_weights, 0)
        masses = (np.append(0.0, counts) + np.append(counts, 0.0)) / 2
    # The effect at node m has the coefficient [s < m] - later[s] of the local effect s.
    later = masses[::-1].cumsum()[-2::-1] / masses.sum()
    squares = step_errors**2
    constant, rises = squares @ later**2, squares * (1 - 2 * later)
    if covariances is not None:
        constant = constant + 2 * covariances @ (later[:-1] * later[1:])
        rises[:, :-1] -= 2 * covariances * later[1:]
        rises[:, 1:] += 2 * covariances * (1 - later[:-1])
    return np.sqrt(np.maximum(constant[:, None] + accumulate(rises), 0.0))


def neighbour_covariances(
    step_moments: Moments, shared: Moments, errors: _Array
) -> _Array:
    """Covariances (k, n_steps - 1) of local effects of neighbouring steps of levels.

    `step_moments` are those of the differences by step, (n_steps, k), `errors`
    (k, n_steps) the standard errors of their means. `shared` holds three moments of the
    rows of each level, (n_levels, 3 k): of their differences over the step below it,
    over the step above it, and of the sum of both differences. Steps of few rows share
    the correlation of all steps, as they share variances.
    """
    inner = slice(1, -1)
    weight = shared.weight[inner]
    mean_below, mean_above, _ = np.split(shared.mean[inner], 3, axis=1)
    m2_below, m2_above, m2_both = np.split(shared.m2[inner], 3, axis=1)
    # From the variance of a sum: 2 cov(a, b) = var(a + b) - var(a) - var(b).
    products = (m2_both - m2_below - m2_above) / 2
    means, m2 = step_moments.mean, step_moments.m2
    products += weight * (mean_below - means[:-1]) * (mean_above - means[1:])
    below, above = step_moments.weight[:-1], step_moments.weight[1:]
    correlations = ratio_or_zero(products, np.sqrt(m2[:-1] * m2[1:]))
    # Steps of few rows take one correlation, pooled over all rows.
    has_few_rows = np.minimum(below, above) < FEW_ROWS
    if has_few_rows.any():
        # The expected sum of products of deviations, for a covariance of one: a row's a
        # and mean(b) have 1 / n_b, mean(a) and mean(b) have weight / (n_a n_b).
        expected_products = 1 - 1 / below - 1 / above + weight / (below * above)
        expected_products = weight * expected_products
        degrees = np.maximum(step_moments.weight - 1, step_moments.weight / 2)
        variances = [
            m2[pair].sum(axis=0) / degrees[pair].sum()
            for pair in (slice(-1), slice(1, None))
        ]
        covariance = products.sum(axis=0) / expected_products.sum()
        row_correlation = ratio_or_zero(covariance, np.sqrt(np.prod(variances, 0)))
        # Means of steps correlate by the share of rows that both steps have.
        pooled = row_correlation.clip(-1, 1) * weight / np.sqrt(below * above)
        correlations = np.where(has_few_rows, pooled, correlations)
    return correlations.T * errors[:, :-1] * errors[:, 1:]


def second_order_effect(
    local_effects: _Array,
    step_weights: _Array,
    node_weights: _Array,
    axes: Sequence[NodeAxis],
) -> _Array:
    """Pure interaction effect of two features (Apley & Zhu 2020, eq. 17 to 20).

    Steps without rows take the local effect of the nearest step with rows, in positions
    scaled to the range of each axis; ties go to the first.

    Parameters
    ----------
    local_effects : ndarray of shape (k, n_steps_1, n_steps_2)
        Mean second differences; ignored where the weight is zero.
    step_weights, node_weights : ndarrays of shape (n_steps...) and (n_nodes...)
        Weight of the rows of each step, and of each node.
    axes : sequence of two NodeAxis
        The two axes.

    Returns
    -------
    ndarray of shape (k, n_nodes_1, n_nodes_2)
    """
    filled = _fill_empty_steps(local_effects, step_weights, axes)
    effects = accumulate(accumulate(filled, axis=1), axis=2)
    # Subtract both first-order effects of the accumulated surface.
    main = [_main_effect(effects, node_weights, axes, position) for position in (0, 1)]
    effects = effects - main[0][:, :, None] - main[1][:, None, :]
    return effects - centring_constant(effects, node_weights, axes)[:, None, None]


def _main_effect(
    effects: _Array, node_weights: _Array, axes: Sequence[NodeAxis], position: int
) -> _Array:
    """First-order effect along one axis of an uncentred second-order surface."""
    axis, other_axis = axes[position], axes[1 - position]
    slopes = np.diff(effects, axis=position + 1)
    slopes = other_axis.row_effects(slopes, 2 - position)
    weights = axis.step_weights(node_weights, position)
    total = weights.sum(axis=1 - position)
    return accumulate(ratio_or_zero((slopes * weights).sum(axis=2 - position), total))


def _fill_empty_steps(
    local_effects: _Array, step_weights: _Array, axes: Sequence[NodeAxis]
) -> _Array:
    """Local effects with empty steps filled from their nearest neighbour."""
    empty = step_weights == 0
    if not empty.any() or empty.all():
        return np.where(empty, 0.0, local_effects)
    scaled = []
    for axis in axes:
        # Scaled first: sums and differences of huge numbers would overflow.
        nodes = axis.positions / (np.abs(axis.positions).max(initial=0.0) or 1.0)
        scaled.append((nodes[:-1] + nodes[1:]) / (2 * np.ptp(nodes) or 1.0))
    points = np.stack(np.meshgrid(*scaled, indexing="ij"), axis=-1)
    filled = local_effects.copy()
    neighbours = _nearest_candidates(points[~empty], points[empty])
    filled[:, empty] = local_effects[:, ~empty][:, neighbours]
    return filled


def _nearest_candidates(candidates: _Array, points: _Array) -> NDArray[np.intp]:
    """Index of the nearest candidate; ties, common on a grid, go to the first."""
    from scipy.spatial import cKDTree  # slow to import, and rarely needed

    tree = cKDTree(candidates)
    distances, _ = tree.query(points)
    # Distances of ties differ by rounding.
    ties = tree.query_ball_point(points, distances * (1 + 1e-9), return_sorted=True)
    return np.array([indices[0] for indices in ties], dtype=np.intp)

"""Local effects: differences of the response over the steps of rows along axes.

`local_effects` adds up the `LocalState` of all rows; `similar_levels_first` orders the
levels of a category, so that its steps lead to similar rows (Apley & Zhu 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.effects.accumulation import (
    LocalEffects,
    NeighbourSteps,
    NodeAxis,
    StepMoments,
)
from sklearn_interpret._core.statistics.seriation import (
    PERCENTILES,
    cell_weights,
    order_levels,
    percentiles,
)
from sklearn_interpret._model.parallel import block_rows, slices
from sklearn_interpret._model.replacement.replaced import choose_evaluator
from sklearn_interpret._model.rows.axes import Axis, CellsOfRows, level_axis
from sklearn_interpret._model.rows.base import gather
from sklearn_interpret._model.rows.features import untreatable_columns
from sklearn_interpret._model.rows.partitioned import merge_states
from sklearn_interpret.effects._base import (
    distinct_axes,
    grid_replacement,
    sums_of_entries,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.sample import Sample


@dataclass(frozen=True, eq=False)
class LocalState:
    """The sums over some rows from which local effects are computed.

    Parameters
    ----------
    inside, outside : list
        For each entry, the weight of the rows of each node, and of none.
    weight_off_nodes : list of float
        For each distinct axis, some weight of rows between edges, zero without any.
    step_moments : list of StepMoments
        For each entry.
    sums : list of ndarray
        For each entry, `grid_sums` along its axis; zero for pairs.
    nodes : ndarray or LazyRows of shape (n_rows, n_axes)
        Nodes of the rows along the distinct axes; None for rows of two states.
    """

    inside: list[NDArray[np.float64]]
    outside: list[float]
    weight_off_nodes: list[float]
    step_moments: list[StepMoments]
    sums: list[Any]
    nodes: Any = None

    @classmethod
    def of_sample(
        cls,
        axes: Sequence[tuple[Axis, ...]],
        steps: list[NeighbourSteps],
        response: Response,
        method: str,
        keep_rows: bool,
        n_jobs: int | None,
        sample: Sample,
    ) -> LocalState:
        """The state of the rows of a sample."""
        distinct, _ = distinct_axes(axes)
        nodes = CellsOfRows(distinct, sample.rows, Axis.nodes).array_if_small()
        inside, outside, off_nodes = _weights_at_nodes(distinct, steps, nodes, sample)
        grids = list(map(grid_replacement, axes))
        model = choose_evaluator(method, response, sample.rows, grids, additive=True)
        blocks = model.differences(
            steps,
            nodes,
            partial(_step_moments, steps, sample.weights, keep_rows),
            merge=StepMoments.merge,
            n_jobs=n_jobs,
        )
        step_moments = [
            moments[0] if moments else StepMoments.of_none(entry_steps, model.n_outputs)
            for entry_steps, moments in zip(steps, blocks, strict=True)
        ]
        sums = sums_of_entries(axes, False, sample)
        return cls(inside, outside, off_nodes, step_moments, sums, nodes)

    def merge(self, second: LocalState) -> LocalState:
        """The state of the rows of both states, without their nodes."""
        return LocalState(
            merge_states(self.inside, second.inside),
            merge_states(self.outside, second.outside),
            merge_states(self.weight_off_nodes, second.weight_off_nodes),
            merge_states(self.step_moments, second.step_moments),
            merge_states(self.sums, second.sums),
        )


def local_effects(
    axes: Sequence[tuple[Axis, ...]],
    sample: Sample,
    response: Response,
    method: str,
    *,
    keep_rows: bool = False,
    n_jobs: int | None = None,
) -> tuple[list[LocalEffects], LocalState]:
    """Local effects along the axes of each entry.

    Parameters
    ----------
    axes : list of tuple of Axis
        The axes of each entry.
    sample, response : object
        The rows and the model.
    method : {"auto", "tree", "brute"}
        As :func:`~sklearn_interpret._model.replacement.replaced.replaced` takes it.
    keep_rows : bool, default=False
        Whether the differences of single rows are kept.
    n_jobs : int or None, default=None
        Workers.

    Returns
    -------
    effects : list of LocalEffects
        For each entry.
    state : LocalState
        What they are made of.
    """
    _, columns = distinct_axes(axes)
    steps = [
        NeighbourSteps(tuple(map(_make_node_axis, entry_axes)), tuple(positions))
        for entry_axes, positions in zip(axes, columns, strict=True)
    ]
    task = partial(
        LocalState.of_sample, axes, steps, response, method, keep_rows, n_jobs
    )
    state = sample.map_reduce(task, LocalState.merge)
    steps = [entry_steps.for_rows(state.weight_off_nodes) for entry_steps in steps]
    effects = map(LocalEffects, steps, state.inside, state.step_moments)
    return list(effects), state


def similar_levels_first(
    axis: Axis, sample: Sample, categorical: NDArray[np.bool_]
) -> Axis:
    """The axis with levels in an order in which neighbours have similar rows.

    Rows are compared by all other features: by levels where `categorical`
    (n_features,) is true, by percentiles elsewhere.
    """
    if len(axis.values) < 3:
        return axis
    rows = sample.rows
    # Columns of text or dates are compared as levels, too.
    are_levels = categorical | ~rows.are_numbers
    ignored = {*axis.columns, *untreatable_columns(rows, are_levels)}
    compared = [j for j in range(rows.n_columns) if j not in ignored]
    numbers = [j for j in compared if not are_levels[j]]
    levels = [(j,) for j in compared if are_levels[j]]
    quantiles = dict.fromkeys(numbers, PERCENTILES)
    sample = sample.with_values_and_levels(quantiles, levels, len(PERCENTILES))
    points = {j: percentiles(*sample.values_of(j)) for j in numbers}
    level_axes = [level_axis(sample, columns, "") for columns in levels]
    task = partial(_tables_by_level, axis, points, level_axes)
    tables = sample.map_reduce(task, merge_states)
    number_tables, level_tables = tables[: len(numbers)], tables[len(numbers) :]
    order = order_levels(len(axis.values), number_tables, level_tables)
    return reorder_levels(axis, order, by_similarity=True)


def _tables_by_level(
    axis: Axis,
    points: dict[int, NDArray[np.float64]],
    level_axes: list[Axis],
    sample: Sample,
) -> list[NDArray[np.float64]]:
    """Weights of rows by level of the axis and cell of each other feature."""
    rows, weights, n_levels = sample.rows, sample.weights, len(axis.values)
    codes, tables = axis.codes(rows), []
    for j, ends in points.items():
        values = rows.numbers(j)
        observed = ~np.isnan(values)
        cells = np.searchsorted(ends, values[observed])
        size = n_levels, len(ends)
        tables.append(cell_weights(codes[observed], cells, size, weights[observed]))
    for compared in level_axes:
        size = n_levels, len(compared.values)
        tables.append(cell_weights(codes, compared.codes(rows), size, weights))
    return tables


def reorder_levels(
    axis: Axis, order: NDArray[np.intp], *, by_similarity: bool = False
) -> Axis:
    """The axis with its levels in another order."""
    levels = tuple(gather(level, order) for level in axis.levels)
    values = axis.values[order]
    return replace(axis, values=values, levels=levels, by_similarity=by_similarity)


def _make_node_axis(axis: Axis) -> NodeAxis:
    """The nodes of an axis, from which effects are accumulated."""
    positions = np.arange(len(axis.values)) if axis.categorical else axis.values
    return NodeAxis(positions.astype(np.float64), axis.categorical)


def _weights_at_nodes(
    axes: list[Axis],
    steps: list[NeighbourSteps],
    nodes: NDArray[np.integer],
    sample: Sample,
) -> tuple[list[Any], list[float], list[float]]:
    """Weights for `LocalState`: at nodes, outside of them, and between two nodes."""
    inside: list[Any] = [0.0] * len(steps)
    outside, weight_off_nodes = [0.0] * len(steps), [0.0] * len(axes)
    for block in slices(len(nodes), block_rows(sample.rows.row_bytes)):
        rows, block_nodes = sample.rows.sliced(block), nodes[block]
        weights = sample.weights[block]
        for entry, entry_steps in enumerate(steps):
            at_nodes, not_at_nodes = entry_steps.node_weights(block_nodes, weights)
            inside[entry] = inside[entry] + at_nodes
            outside[entry] += not_at_nodes
        for column, axis in enumerate(axes):
            # It only matters whether any weight is positive: later blocks are not read.
            if not axis.categorical and not weight_off_nodes[column]:
                is_between = axis.is_between(rows, block_nodes[:, column])
                weight_off_nodes[column] = weights[is_between].sum()
    return inside, outside, weight_off_nodes


def _step_moments(
    steps: list[NeighbourSteps],
    weights: NDArray[np.float64],
    keep_rows: bool,
    entry: int,
    index: NDArray[np.intp],
    row_steps: list[NDArray[np.intp]],
    differences: list[NDArray[np.float64]],
) -> StepMoments:
    """Moments of the differences of some rows, by step."""
    return StepMoments.of_rows(
        steps[entry], index, row_steps, differences, weights, keep_rows=keep_rows
    )

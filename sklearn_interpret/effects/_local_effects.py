"""Differences of the response over the steps of rows along axes."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

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
from sklearn_interpret._model.replacement.replaced import replaced
from sklearn_interpret._model.rows.axes import Axis, CellsOfRows, level_axis
from sklearn_interpret._model.rows.base import gather
from sklearn_interpret._model.rows.features import untreatable
from sklearn_interpret._model.rows.partitioned import merged
from sklearn_interpret.effects._base import (
    distinct_axes,
    grid_replacement,
    sums_of_entries,
)


@dataclass(frozen=True, eq=False)
class LocalState:
    """What local effects need to know of some rows.

    Parameters
    ----------
    inside, outside : list
        For each entry, the weight of the rows of each node, and of none.
    between : list of float
        For each distinct axis, some weight of rows between edges, zero without any.
    differences : list of StepMoments
        For each entry.
    sums : list of ndarray
        For each entry, `grid_sums` along its axis; zero for pairs.
    nodes : ndarray or LazyRows of shape (n_rows, n_axes)
        Nodes of the rows along the distinct axes; None for rows of two states.
    """

    inside: list
    outside: list
    between: list
    differences: list
    sums: list
    nodes: Any = None

    @classmethod
    def of_sample(cls, axes, steps, response, method, keep_rows, n_jobs, sample):
        """The state of the rows of a sample."""
        distinct, _ = distinct_axes(axes)
        nodes = CellsOfRows(distinct, sample.rows, Axis.nodes).array_if_small()
        weights = _weights_at_nodes(distinct, steps, nodes, sample)
        grids = [grid_replacement(of_entry) for of_entry in axes]
        model = replaced(method, response, sample.rows, grids, additive=True)
        blocks = model.differences(
            steps,
            nodes,
            partial(_step_moments, steps, sample.weights, keep_rows),
            merge=StepMoments.merge,
            n_jobs=n_jobs,
        )
        differences = [
            found[0] if found else StepMoments.of_none(own, model.n_outputs)
            for own, found in zip(steps, blocks, strict=True)
        ]
        sums = sums_of_entries(axes, False, sample)
        return cls(*weights, differences, sums, nodes)

    def merge(self, other):
        """The state of the rows of both."""
        return LocalState(*map(merged, self._merged, other._merged))

    @property
    def _merged(self):
        return self.inside, self.outside, self.between, self.differences, self.sums


def local_effects(axes, sample, response, method, *, keep_rows=False, n_jobs=None):
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
    parts : list of LocalEffects
        For each entry.
    state : LocalState
        What they are made of.
    """
    _, columns = distinct_axes(axes)
    steps = [
        NeighbourSteps(tuple(map(_node_axis, of_entry)), tuple(own))
        for of_entry, own in zip(axes, columns, strict=True)
    ]
    given = axes, steps, response, method, keep_rows, n_jobs
    task = partial(LocalState.of_sample, *given)
    state = sample.map_reduce(task, LocalState.merge)
    steps = [own.for_rows(state.between) for own in steps]
    entries = zip(steps, state.inside, state.differences, strict=True)
    return [LocalEffects(*entry) for entry in entries], state


def similar_levels_first(axis, sample, categorical):
    """The axis with levels next to each other whose rows are similar otherwise.

    `categorical` (n_features,) says which columns are compared as levels.
    """
    rows = sample.rows
    others = [j for j in range(rows.n_columns) if j not in axis.columns]
    # Columns of text or dates are compared as levels.
    flags = categorical | ~rows.are_numbers
    others = [j for j in others if j not in untreatable(rows, flags)]
    if len(axis.values) < 3:
        return axis
    numbers = [j for j in others if not flags[j]]
    levels = [(j,) for j in others if flags[j]]
    wanted = dict.fromkeys(numbers, PERCENTILES)
    sample = sample.summarised(wanted, levels, len(PERCENTILES))
    points = {j: percentiles(*sample.values_of(j)) for j in numbers}
    others = [level_axis(sample, columns, "") for columns in levels]
    tables = sample.map_reduce(partial(_tables_by_level, axis, points, others), merged)
    n_levels, split = len(axis.values), len(numbers)
    order = order_levels(n_levels, tables[:split], tables[split:])
    return reordered(axis, order, by_similarity=True)


def _tables_by_level(axis, points, others, sample):
    """Weights of an axis' levels by percentiles, or levels, of each other feature."""
    rows, weights, n_levels = sample.rows, sample.weights, len(axis.values)
    codes, tables = axis.codes(rows), []
    for j, ends in points.items():
        values = rows.numbers(j)
        known = ~np.isnan(values)
        cells = np.searchsorted(ends, values[known])
        size = n_levels, len(ends)
        tables.append(cell_weights(codes[known], cells, size, weights[known]))
    for other in others:
        size = n_levels, len(other.values)
        tables.append(cell_weights(codes, other.codes(rows), size, weights))
    return tables


def reordered(axis, order, *, by_similarity=False):
    """The axis with its levels in another order."""
    levels = tuple(gather(level, order) for level in axis.levels)
    values = axis.values[order]
    return replace(axis, values=values, levels=levels, by_similarity=by_similarity)


def _node_axis(axis):
    positions = np.arange(len(axis.values)) if axis.categorical else axis.values
    return NodeAxis(positions.astype(np.float64), axis.categorical)


def _weights_at_nodes(axes, steps, nodes, sample):
    """Weights for `LocalState`: at nodes, outside of them, and between two nodes."""
    inside, outside, between = [0.0] * len(steps), [0.0] * len(steps), [0.0] * len(axes)
    for part in slices(len(nodes), block_rows(sample.rows.row_bytes)):
        rows, table, weights = (
            sample.rows.sliced(part),
            nodes[part],
            sample.weights[part],
        )
        for entry, own in enumerate(steps):
            totals, missing = own.node_weights(table, weights)
            inside[entry] = inside[entry] + totals
            outside[entry] += missing
        for column, axis in enumerate(axes):
            if not axis.categorical and not between[column]:
                apart = axis.is_between(rows, table[:, column])
                between[column] = weights[apart].sum()
    return inside, outside, between


def _step_moments(steps, weights, keep_rows, which, index, taken, differences):
    """Reduce the differences of some rows to their moments by step."""
    return StepMoments.of_rows(
        steps[which], index, taken, differences, weights, keep_rows=keep_rows
    )

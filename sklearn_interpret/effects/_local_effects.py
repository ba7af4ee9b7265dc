"""Differences of the response over the steps of rows along axes."""

from dataclasses import replace
from functools import partial

import numpy as np

from sklearn_interpret._core.effects.accumulation import (
    LocalEffects,
    NeighbourSteps,
    NodeAxis,
    StepMoments,
)
from sklearn_interpret._core.statistics.seriation import order_levels
from sklearn_interpret._model.parallel import block_rows, slices
from sklearn_interpret._model.replacement.replaced import replaced
from sklearn_interpret._model.rows.axes import CellsOfRows
from sklearn_interpret._model.rows.base import gather
from sklearn_interpret.effects._base import distinct_axes, grid_replacement


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
    outside : list of float
        For each entry, the weight of the rows in no cell.
    cells : ndarray or LazyRows of shape (n_rows, n_axes)
        Cells of the rows along the distinct axes.
    """
    distinct, columns = distinct_axes(axes)
    steps = [
        NeighbourSteps(tuple(map(_node_axis, of_entry)), tuple(own))
        for of_entry, own in zip(axes, columns, strict=True)
    ]
    cells = CellsOfRows(distinct, sample.rows).held()
    inside, outside = _weights_in_cells(steps, cells, sample)
    grids = [grid_replacement(of_entry) for of_entry in axes]
    model = replaced(method, response, sample.rows, grids, additive=True)
    blocks = model.differences(
        steps,
        cells,
        partial(_step_moments, steps, sample.weights, keep_rows),
        merge=StepMoments.merge,
        n_jobs=n_jobs,
    )
    parts = []
    for own, weights, found in zip(steps, inside, blocks, strict=True):
        moments = found[0] if found else StepMoments.of_none(own, model.n_outputs)
        parts.append(LocalEffects(own, weights, moments))
    return parts, outside, cells


def similar_levels_first(axis, sample, categorical):
    """The axis with levels next to each other whose rows are similar otherwise.

    `categorical` (n_features,) says which columns are compared as levels.
    """
    rows = sample.rows
    others = [j for j in range(rows.n_columns) if j not in axis.columns]
    # Columns of text or dates are compared as levels.
    flags = categorical | ~rows.are_numbers
    order = order_levels(
        axis.codes(rows),
        len(axis.values),
        [rows.numbers(j) for j in others if not flags[j]],
        [rows.encode((j,))[0] for j in others if flags[j]],
        sample.weights,
    )
    # With two levels there is nothing to order.
    return reordered(axis, order, by_similarity=len(order) > 2)


def reordered(axis, order, *, by_similarity=False):
    """The axis with its levels in another order."""
    levels = tuple(gather(level, order) for level in axis.levels)
    values = axis.values[order]
    return replace(axis, values=values, levels=levels, by_similarity=by_similarity)


def _node_axis(axis):
    positions = np.arange(len(axis.values)) if axis.categorical else axis.values
    return NodeAxis(positions.astype(np.float64), axis.categorical)


def _weights_in_cells(steps, cells, sample):
    """Weight of the rows in each cell, and outside, for each entry."""
    inside, outside = [0.0] * len(steps), [0.0] * len(steps)
    for rows in slices(len(cells), block_rows(sample.rows.row_bytes)):
        table, weights = cells[rows], sample.weights[rows]
        for entry, own in enumerate(steps):
            found, missing = own.cell_weights(table, weights)
            inside[entry] = inside[entry] + found
            outside[entry] += missing
    return inside, outside


def _step_moments(steps, weights, keep_rows, which, index, taken, differences):
    """Reduce the differences of some rows to their moments by step."""
    return StepMoments.of_rows(
        steps[which], index, taken, differences, weights, keep_rows=keep_rows
    )

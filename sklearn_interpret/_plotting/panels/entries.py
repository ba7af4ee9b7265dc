"""Entries of fitted inspectors of effects, and the data along them."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.axes import values_along

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.axes import Axis
    from sklearn_interpret._plotting.sources import Data

# Largest number of rows whose data a display keeps.
MAX_DATA_ROWS = 5000


def find_entries(inspector: Any, features: Any) -> list[int]:
    """Positions of the entries of a fitted inspector that `features` names."""
    if features is None:
        return list(range(len(inspector.effect_names_)))
    if isinstance(features, str | Integral):
        features = [features]
    if {type(feature) for feature in features} <= {bool, np.bool_}:
        features = np.flatnonzero(features).tolist()
    chosen = []
    for entry in features:
        names = tuple(entry) if isinstance(entry, tuple | list) else (entry,)
        positions = [
            position
            for position, axes in enumerate(inspector.axes_)
            if _have_names(axes, names)
        ]
        if not positions:
            raise ValueError(
                f"The fitted {type(inspector).__name__} has no entry {entry!r}; it has "
                f"{inspector.effect_names_!r}."
            )
        chosen.append(positions[0])
    return chosen


def _have_names(axes: tuple[Axis, ...], names: tuple[int | str, ...]) -> bool:
    """Whether axes have these names, or positions of single columns."""
    keys = [
        {axis.name, *(axis.columns if len(axis.columns) == 1 else ())} for axis in axes
    ]
    return len(keys) == len(names) and all(
        name in key for name, key in zip(names, keys, strict=True)
    )


def sort_by_grid(values: Any, axes: tuple[Axis, ...]) -> Any:
    """Numbers (..., G) or (..., G1, G2) of an entry, or its grids, in grid order."""
    orders = [axis.order for axis in axes]
    if isinstance(values, tuple):
        return tuple(grid[order] for grid, order in zip(values, orders, strict=True))
    return None if values is None else values[(..., *np.ix_(*orders))]


def data_of_entries(inspector: Any, data: Data) -> list[Any]:
    """Values (n,) of each entry's feature in some rows, or a pair of them for pairs."""
    rows = as_rows(data.X)
    validate_data(inspector, rows.native, reset=False, skip_check_array=True)
    indices = np.arange(rows.n_rows)
    if data.sample_weight is not None:
        indices = np.flatnonzero(np.asarray(data.sample_weight) > 0)
    if len(indices) > MAX_DATA_ROWS:
        draw = np.random.default_rng(0).choice(
            len(indices), MAX_DATA_ROWS, replace=False
        )
        indices = indices[np.sort(draw)]
    rows = rows.take(indices)
    values = [
        tuple(values_along(axis.columns, rows, axis.categorical) for axis in axes)
        for axes in inspector.axes_
    ]
    return [entry if len(entry) > 1 else entry[0] for entry in values]

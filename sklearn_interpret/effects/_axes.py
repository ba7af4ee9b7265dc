"""How axes of effects are made: of intervals, or of the points of grids.

Each function is a method of an estimator, which is its first argument: a class has as
attributes the three functions that its axes need (size, quantiles, axis).
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.rows.axes import (
    Axis,
    grid_axis,
    interval_axis,
    level_axis,
)
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.sample import Sample

# Default number of intervals of a feature: forty follow a curve closely.
_MOST_INTERVALS = 40
# A pair of n intervals has n * n cells. With fewer rows in a cell than this, its
# estimate is noisy.
_ROWS_PER_CELL = 10
# Fewest intervals of each feature of a pair, however few rows there are.
_FEWEST_OF_A_PAIR = 4

INTERVAL_CONSTRAINTS: dict[str, Any] = {
    "n_intervals": [Interval(Integral, 1, None, closed="left"), None]
}


class AxisRequest(NamedTuple):
    """The feature or group of an axis, and how many values the axis has."""

    columns: tuple[int, ...]
    name: str
    size: int  # largest number of points or intervals
    custom: ArrayLike | None  # the user's values, where there are any


def make_interval_axis(
    inspector: Any, sample: Sample, request: AxisRequest, **kwargs: Any
) -> Axis:
    """Axis of intervals or levels, for accumulated local effects and the M-plot."""
    columns, name, size, custom = request
    if inspector._is_level_axis(columns):
        return level_axis(sample, columns, name, custom=custom)
    return interval_axis(sample, columns[0], n_intervals=size, custom=custom, **kwargs)


def number_of_intervals(
    inspector: Any, sample: Sample, entry: Sequence[tuple[int, ...]]
) -> int:
    """At most 40 intervals; fewer for pairs, whose cells should hold ten rows."""
    if isinstance(inspector.n_intervals, Integral):
        return int(inspector.n_intervals)
    if len(entry) == 1:
        return _MOST_INTERVALS
    # Distinct rows: weights and repeated rows must give the same cells.
    enough_rows = _MOST_INTERVALS**2 * _ROWS_PER_CELL
    n_distinct = sample.n_distinct(sum(entry, ()), enough_rows)
    n_intervals = int(np.sqrt(n_distinct / _ROWS_PER_CELL))
    return min(_MOST_INTERVALS, max(n_intervals, _FEWEST_OF_A_PAIR))


def interval_quantiles(
    inspector: Any, rows: Rows, column: int, size: int
) -> ArrayLike | None:
    """Quantiles that are the edges of a number of intervals."""
    return np.arange(1, size + 1) / size


GRID_CONSTRAINTS: dict[str, Any] = {
    "grid_resolution": [Interval(Integral, 2, None, closed="left")],
    "percentiles": [tuple, list],
}


def number_of_points(
    inspector: Any, sample: Sample, entry: Sequence[tuple[int, ...]]
) -> int:
    """Number of grid points of each feature."""
    return inspector.grid_resolution


def grid_quantiles(
    inspector: Any, rows: Rows, column: int, size: int
) -> ArrayLike | None:
    """Quantiles between which the grid of a column lies; None for all values."""
    _check_percentiles(inspector.percentiles)
    return None if rows.is_integer(column) else inspector.percentiles


def make_grid_axis(inspector: Any, sample: Sample, request: AxisRequest) -> Axis:
    """Axis of grid points or levels, for partial dependence and curves of rows."""
    columns, name, size, custom = request
    _check_percentiles(inspector.percentiles)
    if inspector._is_level_axis(columns):
        axis = level_axis(sample, columns, name, custom=custom)
        if len(columns) > 1 and len(axis.values) > size:
            raise ValueError(
                f"The feature group {name!r} has {len(axis.values)} distinct joint "
                f"values, more than grid_resolution={size}: pass "
                "those of interest in custom_values."
            )
        return axis
    return grid_axis(
        sample,
        columns[0],
        resolution=size,
        percentiles=inspector.percentiles,
        custom=custom,
    )


def _check_percentiles(percentiles: Sequence[float]) -> None:
    """Refuse percentiles other than two increasing numbers from 0 to 1."""
    are_shares = len(percentiles) == 2 and all(
        isinstance(p, Real) and 0 <= p <= 1 for p in percentiles
    )
    if not are_shares or percentiles[0] >= percentiles[1]:
        raise ValueError(
            f"percentiles={percentiles!r} must be two increasing numbers in [0, 1]."
        )

"""The axis of an effect: the values of a feature, or of a group of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics import grids
from sklearn_interpret._model.parallel import LazyRows
from sklearn_interpret._model.rows.base import gather, label_key
from sklearn_interpret._model.rows.dates import as_dates, date_text, is_date, is_missing
from sklearn_interpret._model.rows.plain import PlainState

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@dataclass(frozen=True)
class Axis(PlainState):
    """Values of one feature or group; built by the three functions of this module."""

    name: str  # of the feature or group
    columns: tuple[int, ...]
    values: NDArray[Any]  # numbers (dates as days), or labels (tuples for groups)
    levels: tuple[Any, ...]  # as the model sees them: a native vector per column
    categorical: bool  # whether values are looked up rather than interpolated
    by_similarity: bool = False  # whether levels are ordered by similarity
    date_dtype: Any = None  # of numbers that are days: numpy's dtype of their dates

    @property
    def displayed(self) -> NDArray[Any]:
        """Values as users see them: numbers of days as dates."""
        return as_dates(self.values, self.date_dtype)

    def levels_with(self, rows: Rows, number: float) -> Any:
        """Its values and one more of a single column, as a native vector."""
        values = as_dates(np.append(self.values, number), self.date_dtype)
        return rows.cast(self.columns[0], values)

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of numbers in increasing order; of levels, unchanged."""
        return (
            np.arange(len(self.values)) if self.categorical else self.values.argsort()
        )

    def codes(self, rows: Rows) -> NDArray[np.intp]:
        """Position of each row's label in `values`; -1 for unknown labels."""
        codes, labels, _ = rows.encode(self.columns)
        code_of = {label_key(label): code for code, label in enumerate(self.values)}
        mapping = [code_of.get(label_key(label), -1) for label in labels]
        return np.array(mapping, dtype=np.intp)[codes]

    def cells(self, rows: Rows) -> NDArray[np.intp]:
        """Interval or level of each row; -1 outside of all."""
        if self.categorical:
            return self.codes(rows)
        return grids.interval_index(rows.numbers(self.columns[0]), self.values)

    def nodes(self, rows: Rows) -> NDArray[np.intp]:
        """Level of each row, or the edge that it is at or next below; -1 outside."""
        if self.categorical:
            return self.codes(rows)
        numbers = rows.numbers(self.columns[0])
        cells = grids.interval_index(numbers, self.values)
        lowest = self.values.min(initial=np.inf)
        return cells + ((cells >= 0) & (numbers > lowest))

    def is_between(self, rows: Rows, nodes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether rows lie between two edges, given their nodes."""
        numbers, between = rows.numbers(self.columns[0]), nodes >= 0
        between[between] = numbers[between] != self.values[nodes[between]]
        return between


class CellsOfRows(LazyRows):
    """Cells of rows along several axes, computed in blocks if memory is short.

    `locate` says which: :meth:`Axis.cells` or :meth:`Axis.nodes`.
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        rows: Rows,
        locate: Callable[[Axis, Rows], NDArray[np.intp]] = Axis.cells,
    ) -> None:
        self._axes, self._locate = axes, locate
        # The smallest dtype: the table is as large as the input.
        n_values = max((len(axis.values) for axis in axes), default=0)
        dtype = np.min_scalar_type(-1 - n_values)
        super().__init__(rows, len(axes), dtype, 8 * len(axes))

    def _compute(self, rows: Rows) -> NDArray[np.intp]:
        return np.stack([self._locate(axis, rows) for axis in self._axes], axis=1)


def labels_array(labels: list[Any]) -> NDArray[Any]:
    """Labels as an array: numbers and booleans as such, everything else as objects."""
    types = {type(label) for label in labels}
    if types <= {int, float, np.int64, np.float64} or types == {bool}:
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def level_axis(
    sample: Sample,
    columns: Sequence[int],
    name: str,
    *,
    custom: ArrayLike | None = None,
) -> Axis:
    """Axis over the levels of a categorical feature, or the joint levels of a group.

    Custom levels keep the order in which they are given; without any, the observed ones
    come in their natural order.
    """
    rows = sample.rows
    if custom is None:
        labels, levels = sample.levels_of(tuple(columns))
        return Axis(name, tuple(columns), labels_array(labels), levels, True)
    labels = _custom_levels(custom, len(columns), name)
    by_column = [labels] if len(columns) == 1 else list(zip(*labels, strict=True))
    levels = tuple(map(rows.cast, columns, by_column))
    return Axis(name, tuple(columns), labels_array(labels), levels, True)


def _custom_levels(custom: Any, n_columns: int, name: str) -> list[Any]:
    """Levels given by the user: distinct, and tuples for a group of columns."""
    if isinstance(custom, str) or not isinstance(custom, Iterable):
        raise ValueError(
            f"custom_values for the feature {name!r} must be a sequence of levels; got "
            f"{custom!r}."
        )
    levels = list(custom)
    if not levels:
        raise ValueError(f"custom_values has no value for the feature {name!r}.")
    if n_columns > 1:
        for level in levels:
            if not isinstance(level, tuple | list) or len(level) != n_columns:
                raise ValueError(
                    f"The group {name!r} has {n_columns} columns: its custom_values "
                    f"must be tuples of {n_columns} values; got {level!r}."
                )
        levels = list(map(tuple, levels))
    try:
        n_distinct = len({label_key(level) for level in levels})
    except TypeError as error:
        raise ValueError(
            f"custom_values for the feature {name!r} has a value that cannot be a "
            f"level: {error}."
        ) from error
    if n_distinct < len(levels):
        raise ValueError(f"custom_values has a level of {name!r} twice: {levels!r}.")
    return levels


def grid_axis(
    sample: Sample,
    column: int,
    *,
    resolution: int,
    percentiles: tuple[float, float],
    custom: ArrayLike | None = None,
) -> Axis:
    """Axis over a grid of a numeric feature; empty if all of its values are missing.

    Custom values keep the order in which they are given.
    """
    rows = sample.rows
    grid = partial(
        grids.numeric_grid,
        resolution=resolution,
        percentiles=percentiles,
        observed_only=rows.is_integer(column),
    )
    values = _numeric_values(sample, column, grid, custom, smallest=1)
    # The cast may round (to float32): report the values that the model sees, once.
    levels, rounded, date_dtype = rows.cast_with_numbers(column, values)
    first_of_equal = np.sort(np.unique(rounded, return_index=True)[1])
    levels = gather(levels, first_of_equal)
    return Axis(
        rows.names[column],
        (column,),
        rounded[first_of_equal],
        (levels,),
        False,
        date_dtype=date_dtype,
    )


def interval_axis(
    sample: Sample,
    column: int,
    *,
    n_intervals: int,
    custom: ArrayLike | None = None,
    make_edges: Callable[..., Any] = grids.interval_edges,
) -> Axis:
    """Axis over interval edges of a numeric feature; empty if all are missing."""
    rows, edges = sample.rows, partial(make_edges, n_intervals=n_intervals)
    values = _numeric_values(sample, column, edges, custom, smallest=2)
    levels, rounded, date_dtype = rows.cast_with_numbers(column, values)
    if custom is not None and np.any(np.diff(rounded) <= 0):
        raise ValueError(
            f"custom_values for the feature {rows.names[column]!r} must increase, as "
            f"edges of intervals do; got {custom!r}."
        )
    name = rows.names[column]
    return Axis(name, (column,), rounded, (levels,), False, date_dtype=date_dtype)


def _numeric_values(
    sample: Sample,
    column: int,
    choose: Callable[..., Any],
    custom: ArrayLike | None,
    smallest: int,
) -> NDArray[Any]:
    """Custom numbers, or the result of ``choose(values, weights)`` for known values."""
    if custom is not None:
        return _custom_numbers(custom, sample.rows, column, smallest)
    values, weights = sample.values_of(column)
    return choose(values, weights) if len(values) else values


def _custom_numbers(custom: Any, rows: Rows, column: int, smallest: int) -> Any:
    """Custom grid or edges: finite numbers, distinct; dates as days."""
    name, is_of_dates = rows.names[column], rows.dates(column) is not None
    try:
        values = rows.as_numbers(column, custom)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"custom_values for the {'date' if is_of_dates else 'numeric'} feature "
            f"{name!r} must be {'dates' if is_of_dates else 'numbers'}; got {custom!r}."
        ) from error
    if values.ndim != 1 or len(values) < smallest or not np.isfinite(values).all():
        raise ValueError(
            f"custom_values for the feature {name!r} must be a one-dimensional "
            f"sequence of at least {smallest} finite "
            f"{'dates' if is_of_dates else 'numbers'}; got {custom!r}."
        )
    if len(np.unique(values)) < len(values):
        raise ValueError(
            f"custom_values for the feature {name!r} has a number twice: {custom!r}."
        )
    return custom if is_of_dates else values


def values_along(columns: Sequence[int], rows: Rows, categorical: bool) -> NDArray[Any]:
    """Each row's number, date or label: (n_rows,)."""
    if not categorical:
        is_number = rows.dates(columns[0]) is None
        return rows.numbers(columns[0]) if is_number else rows.displayed(columns[0])
    codes, labels, _ = rows.encode(columns)
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    return values[codes]


def label_text(label: Any) -> str:
    """A label as text in names: tuples joined, missing spelled out."""
    if isinstance(label, tuple):
        return ", ".join(map(label_text, label))
    if is_missing(label):
        return "missing"
    return date_text(label) if is_date(label) else str(label)

"""Actionability: the values that rows may take, their distances, and encodings.

`Actionability` is made from the rows of `fit` and the parameters of a search. It
encodes rows as floats, limits and rounds encoded rows to values that are permitted,
measures their distances, and decodes them into the user's container.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.search.decimal_grids import DecimalGrid, decimal_step
from sklearn_interpret._core.statistics.weighted import (
    averaged_quantile,
    weighted_quantile,
)
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret._model.rows.dates import as_objects
from sklearn_interpret._model.rows.plain import PlainState

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows, Tiles

# Doubles hold all whole numbers up to this one.
LARGEST_INTEGER = 2.0**53
# Largest excess over a linear constraint, relative to the size of its terms: ranges and
# programs meet constraints to more digits.
_ROUNDING = 1e-9
# Share of changed cells above which all cells are rounded together: one call for whole
# columns costs less than picking out many cells. Chosen by hand.
_MANY_CELLS = 0.1
_UNIT_NAMES = {
    "mad": "median absolute deviations",
    "std": "standard deviations",
    "gower": "ranges times the number of features",
    "raw": "units of the data",
}


class Actionability(PlainState):
    """The rows that a search may return for a row, and their distances from it.

    Rows are encoded as floats: numbers as they are, a category as the position of its
    level among the levels that the dtype declares or the rows of `fit` have, -1 for an
    unknown level. Missing entries are NaN.

    Parameters
    ----------
    fit_rows : Rows
        The rows of `fit`.
    weights : ndarray of shape (n_rows,)
        Weights of the rows of `fit`.
    categorical : ndarray of shape (n_columns,), bool
        Which columns are categories.
    vary : ndarray of shape (n_columns,), bool
        Which columns may change.
    ranges : dict of int to (low, high) or list of levels
        Values that some columns may take. A value that lies outside may stay.
    directions : dict of int to {"increase", "decrease"}
        Which way some columns may go.
    distance : {"mad", "std", "gower", "raw"} or dict of int to float
        The unit of numbers, a change of category being one: the median absolute
        deviation (the standard deviation, else 1, where that is zero), the standard
        deviation, the range times the number of columns, or the number itself.
        A dict gives the cost of a unit of some columns, or of a change of category.
    norm : {1, 2, inf, 0}, default=1
        The norm of changes in their units that is their distance.
    within_data : ndarray of shape (n_columns,), bool, default=None
        Which columns take values between the lowest and the highest observed one and
        that of the row, or observed levels. None means no column.
    two_valued : ndarray of shape (n_columns,), bool, default=None
        Which of these columns hold two successive whole numbers, and take only these
        two, even where ranges are lifted.
    missing_stays : bool, default=False
        Whether missing entries stay. Else they may be filled, which costs one unit.
    steps : None, dict of int to float or "exact", default="exact"
        Numbers change to multiples of their column's step. None takes the step of the
        decimals of the rows of `fit` (`decimal_step`), a dict gives some others;
        "exact" allows all numbers of the dtypes. Integer dtypes have the step 1 in any
        case.

    Attributes
    ----------
    costs : ndarray of shape (n_columns,)
        Costs of a unit of each number, or of a change of a category.
    filling : ndarray of shape (n_columns,)
        Sizes of the changes from a missing entry to a value.
    observed : ndarray of shape (2, n_columns)
        Lowest and highest observed numbers.
    grid : DecimalGrid
        The multiples of the steps.
    integer : ndarray of shape (n_columns,), bool
        Which columns have the step 1.
    """

    def __init__(
        self,
        fit_rows: Rows,
        weights: NDArray[np.float64],
        *,
        categorical: NDArray[np.bool_],
        vary: NDArray[np.bool_],
        ranges: Mapping[int, Sequence[Any]],
        directions: Mapping[int, str],
        distance: Mapping[int, float] | str,
        norm: float = 1,
        within_data: NDArray[np.bool_] | None = None,
        two_valued: NDArray[np.bool_] | None = None,
        missing_stays: bool = False,
        steps: Mapping[int, float] | str | None = "exact",
    ) -> None:
        self.fit_rows = fit_rows
        self._missing_stays = missing_stays
        self.norm = norm
        self._unit_name = "given costs"
        if isinstance(distance, str):
            self._unit_name = _UNIT_NAMES[distance]
        self.categorical = categorical
        self.levels: list[Any] = [
            self._levels_of(j) if categorical[j] else None
            for j in range(fit_rows.n_columns)
        ]
        self._codes_by_level = [
            None
            if levels is None
            else {label_key(level): code for code, level in enumerate(levels)}
            for levels in self.levels
        ]
        self._level_vectors = [
            fit_rows.cast(j, levels) if levels else None
            for j, levels in enumerate(self.levels)
        ]
        columns = range(fit_rows.n_columns)
        # Missing entries turn integers into floats: dtypes are those of no rows.
        no_rows = fit_rows.take(np.arange(0))
        self.dtypes = [self._dtype_of(j, no_rows) for j in columns]
        self.vary = vary
        self._directions = np.zeros(fit_rows.n_columns)
        for j, direction in directions.items():
            self._directions[j] = 1 if direction == "increase" else -1
        no_columns = np.zeros(fit_rows.n_columns, dtype=bool)
        self._two_valued = no_columns if two_valued is None else two_valued
        self._within_data = no_columns if within_data is None else within_data
        self._set_steps([self._step_of(j, steps, weights) for j in columns])
        dtype_limits = [self._limits_of_dtype(j) for j in columns]
        self._dtype_limits = np.array(dtype_limits).reshape(-1, 2).T
        all_rows = np.ones(fit_rows.n_rows, dtype=bool)
        self._low: NDArray[np.float64]
        self._high: NDArray[np.float64]
        self.observed, self._observed_levels = self._observed_values(weights > 0)
        _, self.seen_levels = self._observed_values(all_rows)
        self._limit_to_data(self._within_data)
        low, high = np.repeat([[-np.inf], [np.inf]], fit_rows.n_columns, axis=1)
        for j, limits in ranges.items():
            if categorical[j]:
                allowed = set(map(label_key, limits))
                self.possible_levels[j][:] = [
                    label_key(level) in allowed for level in self.levels[j]
                ]
            else:
                low[j], high[j] = limits
        self._low = self.grid.up(np.maximum(low, self._low))
        self._high = self.grid.down(np.minimum(high, self._high))
        self.costs, self.filling = self._unit_costs(weights, distance)
        self._weights = weights
        self.coefficients = np.zeros((0, fit_rows.n_columns))
        self.bounds = np.zeros(0)

    @property
    def distance_name(self) -> str:
        """Norm and unit of the distances."""
        if self.norm == 0:
            return "number of changes"
        return f"norm {self.norm:g}, {self._unit_name}"

    def _are_floats(self, rows: Rows) -> bool:
        """Whether rows are an array of doubles, none of whose columns is a category."""
        return _is_float_array(rows.native) and not self.categorical.any()

    def _dtype_of(self, j: int, no_rows: Rows) -> np.dtype[Any]:
        """Dtype of the numbers of a column; dates are days, and so floats."""
        if self.fit_rows.dates(j) is not None:
            return np.dtype(float)
        dtype = no_rows.column_array(j).dtype
        return np.dtype(getattr(self.fit_rows.column(j).dtype, "numpy_dtype", dtype))

    def _levels_of(self, j: int) -> list[Any]:
        """Levels of a category, in the natural order, missing ones left out.

        Levels that the dtype declares and no row of `fit` has are among the levels.
        """
        _, labels = self.fit_rows.encode_column(j)
        labels = self.fit_rows.categories(j) or labels
        return [label for label in labels if not is_missing(label)]

    def _step_of(
        self,
        j: int,
        steps: Mapping[int, float] | str | None,
        weights: NDArray[np.float64],
    ) -> float:
        """The step of a column; zero where it takes all numbers of its dtype."""
        if self.categorical[j]:
            return 0.0
        if not isinstance(steps, str) and steps and j in steps:
            return steps[j]
        if self.fit_rows.is_integer(j) or self._two_valued[j]:
            return 1.0
        if steps == "exact" or self.fit_rows.dates(j) is not None:
            return 0.0
        values = self.fit_rows.numbers(j)
        (spread,) = _units_of_numbers("mad", values[:, None], weights)
        return decimal_step(values, self.dtypes[j], spread)

    def _set_steps(self, steps: Sequence[float] | NDArray[np.float64]) -> None:
        """Limit numbers to multiples of steps (n_columns,); zero allows all numbers."""
        self.grid = DecimalGrid.of(steps, self.dtypes)
        self.stepped, self.integer = self.grid.steps > 0, self.grid.steps == 1
        # Columns that do not hold each number of double precision.
        doubles = np.array([dtype == np.float64 for dtype in self.dtypes], dtype=bool)
        doubles &= [self.fit_rows.dates(j) is None for j in range(len(doubles))]
        self._rounded = ~(doubles | self.stepped) | self.categorical

    def _limits_of_dtype(self, j: int) -> tuple[float, float]:
        """The lowest and highest multiple of a step; no limits of other columns."""
        if not self.stepped[j]:
            return -np.inf, np.inf
        largest = LARGEST_INTEGER * self.grid.steps[j]
        if self.dtypes[j].kind in "iu":
            bounds = np.iinfo(self.dtypes[j])
            return max(bounds.min, -largest), min(bounds.max, largest)
        return -largest, largest

    def _observed_values(
        self, included: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], list[Any]]:
        """Lowest and highest numbers (2, n_columns) of some rows of `fit`, and levels.

        The levels are a mask of the `levels` of each column, None for a column of
        numbers.
        """
        n_columns = self.fit_rows.n_columns
        observed = np.repeat([[np.inf], [-np.inf]], n_columns, axis=1)
        levels: list[Any] = [None] * n_columns
        for columns, values in blocks_of_numbers(self.fit_rows, self.categorical):
            observed[:, columns] = lowest_and_highest(values[included])
        for j in np.flatnonzero(self.categorical).tolist():
            codes, labels = self.fit_rows.encode_column(j)
            present = {label_key(labels[k]) for k in np.unique(codes[included])}
            levels[j] = np.array(
                [label_key(level) in present for level in self.levels[j]], bool
            )
        return observed, levels

    def _limit_to_data(self, within_data: NDArray[np.bool_]) -> None:
        """Limit some columns to values of the rows of `fit`, others by their dtype."""
        self._within_data = within_data
        low, high = np.where(within_data, self.observed, self._dtype_limits)
        self._low, self._high = self.grid.up(low), self.grid.down(high)
        self.possible_levels: list[Any] = [
            observed if within else copy(seen)
            for observed, seen, within in zip(
                self._observed_levels, self.seen_levels, within_data, strict=True
            )
        ]

    def is_beyond_data(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Mask of cells changed to values beyond those of the rows of `fit`."""
        low, high = self.observed
        is_beyond: NDArray[np.bool_] = (values < low) | (values > high)
        for j, is_observed in enumerate(self._observed_levels):
            if is_observed is not None:
                codes = np.nan_to_num(values[:, j], nan=-1).astype(np.intp)
                is_beyond[:, j] = False
                if len(is_observed):
                    is_beyond[:, j] = (codes >= 0) & ~is_observed[codes]
        return is_beyond & (self.changes(values, origins) > 0)

    @cached_property
    def medians(self) -> NDArray[np.float64]:
        """Medians of the observed numbers, (n_columns,); zero where there are none."""
        medians = np.zeros(self.fit_rows.n_columns)
        for j in np.flatnonzero(~self.categorical).tolist():
            values = self.fit_rows.numbers(j)
            present = np.isfinite(values) & (self._weights > 0)
            if present.any():
                (medians[j],) = weighted_quantile(
                    values[present], [0.5], self._weights[present]
                )
        return medians

    def _unit_costs(
        self, weights: NDArray[np.float64], distance: Mapping[int, float] | str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Costs of a unit of each column, or of a change of category; `filling`."""
        n_columns = self.fit_rows.n_columns
        units = np.ones(n_columns)
        kind = distance if isinstance(distance, str) else "mad"
        for columns, values in blocks_of_numbers(self.fit_rows, self.categorical):
            units[columns] = _units_of_numbers(kind, values, weights)
        costs = 1 / units
        if kind == "gower":
            costs /= n_columns
        elif not isinstance(distance, str):
            for j, cost in distance.items():
                costs[j], units[j] = cost, 1.0
        return costs, units

    def with_constraints(
        self, coefficients: NDArray[np.float64], bounds: NDArray[np.float64]
    ) -> Actionability:
        """A copy with linear constraints: ``coefficients @ row <= bounds``."""
        constrained = copy(self)
        constrained.coefficients, constrained.bounds = coefficients, bounds
        return constrained

    def excess(
        self, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Excess of encoded rows over the bounds (n, n_bounds), and its terms' size."""
        terms = self.coefficients * values[:, None]
        terms = np.where(self.coefficients != 0, terms, 0)
        term_sizes = np.abs(terms).sum(axis=2) + np.abs(self.bounds)
        return terms.sum(axis=2) - self.bounds, term_sizes

    def satisfies(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether encoded rows satisfy all linear constraints, to rounding."""
        excess, term_sizes = self.excess(values)
        return np.all(excess <= _ROUNDING * term_sizes, axis=1)

    def without_limits(self, limits: str) -> Actionability:
        """A copy without one of its limits, a parameter of the methods."""
        if limits == "constraints":
            return self.with_constraints(self.coefficients[:0], self.bounds[:0])
        free = copy(self)
        if limits == "features_to_vary":
            free.vary = np.ones_like(self.vary)
        elif limits == "direction":
            free._directions = np.zeros_like(self._directions)
        elif limits == "steps":
            free._set_steps(np.where(self.integer, 1.0, 0.0))
        else:
            free._limit_to_data(self._two_valued)
        return free

    def encode(self, rows: Rows) -> NDArray[np.float64]:
        """Rows as floats, (n_rows, n_columns)."""
        if self._are_floats(rows) and not np.isinf(rows.native).any():
            return rows.native.copy()
        values = np.empty((rows.n_rows, rows.n_columns))
        for j, codes in enumerate(self._codes_by_level):
            if codes is None:
                values[:, j] = rows.numbers(j)
            else:
                values[:, j] = [
                    np.nan if is_missing(label) else codes.get(label_key(label), -1)
                    for label in as_objects(rows.displayed(j)).tolist()
                ]
        return values

    def distinct(self, rows: Rows) -> Rows:
        """The distinct rows of a table; missing entries count as equal."""
        values = np.nan_to_num(self.encode(rows), nan=np.inf)
        return rows.take(np.unique(values, axis=0, return_index=True)[1])

    def permitted_limits(
        self, origins: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest value of changed cells, (n_rows, n_columns) each.

        For categories the values are positions of levels, of which `possible_levels`
        are permitted. Cells that must stay have the lowest value inf and the highest
        -inf.
        """
        low, high = self._low.copy(), self._high.copy()
        for j in np.flatnonzero(self.categorical).tolist():
            low[j], high[j] = 0, len(self.possible_levels[j]) - 1
        # Values beyond the observed range may move towards it.
        extended = self._within_data & ~self._two_valued
        if extended.any():
            clipped = np.clip(origins, *self._dtype_limits)
            below, above = extended & (clipped < low), extended & (clipped > high)
            low, high = (np.broadcast_to(x, origins.shape).copy() for x in (low, high))
            low[below] = self.grid.up(clipped[below], below.nonzero()[1])
            high[above] = self.grid.down(clipped[above], above.nonzero()[1])
        directed = self._directions != 0
        if directed.any():
            above, below = self.grid.up(origins), self.grid.down(origins)
            low = np.where(self._directions > 0, np.maximum(low, above), low)
            high = np.where(self._directions < 0, np.minimum(high, below), high)
        stays = ~(self.vary & (low <= high))
        if directed.any():
            # An unknown value is neither above nor below a number.
            stays = stays | (
                directed & (np.isnan(origins) | self.categorical & (origins < 0))
            )
        if self._missing_stays:
            stays = stays | np.isnan(origins)
        if stays.any():
            low, high = np.where(stays, np.inf, low), np.where(stays, -np.inf, high)
        return np.broadcast_to(low, origins.shape), np.broadcast_to(high, origins.shape)

    def limits(
        self, origins: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of boxes of origins and `permitted` values, (n_rows, n_columns) each.

        Where an origin is not permitted, some values inside the box are not either.
        """
        low, high = self.permitted_limits(origins)
        stays = low > high
        return (
            np.where(stays, origins, np.fmin(low, origins)),
            np.where(stays, origins, np.fmax(high, origins)),
        )

    def intervals(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of the intervals of permitted values that encoded rows lie in."""
        low, high = self.permitted_limits(origins)
        inside = (low <= values) & (values <= high)
        return np.where(inside, low, values), np.where(inside, high, values)

    def projected(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The nearest values that rows encoded as `origins` may take, cell by cell.

        Multiples of the column's step, and numbers that its dtype holds; a level that
        is not possible becomes the origin's.
        """
        low, high = self.permitted_limits(origins)
        unchanged = (values == origins) | np.isnan(values) | (low > high)
        values = np.where(unchanged, origins, np.clip(values, low, high))
        changed = ~unchanged & self.stepped
        if changed.sum() > _MANY_CELLS * changed.size:
            values = self.grid.nearest(values)
        elif changed.any():
            values[changed] = self.grid.nearest(values[changed], changed.nonzero()[1])
        for j in np.flatnonzero(self._rounded & ~unchanged.all(axis=0)).tolist():
            column = values[:, j]
            if self.possible_levels[j] is not None:
                column = self._keep_possible(j, np.rint(column), origins[:, j])
            else:
                column = self._nearest_in_dtype(j, column, low[:, j], high[:, j])
            values[:, j] = column
        # Between the limits there may be no number of the dtype.
        unchanged |= ~((low <= values) & (values <= high))
        return np.where(unchanged, origins, values)

    def _keep_possible(
        self, j: int, codes: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Codes of levels, with the origins' codes in place of levels not possible."""
        is_level = codes >= 0
        possible = np.zeros(len(codes), dtype=bool)
        possible[is_level] = self.possible_levels[j][codes[is_level].astype(np.intp)]
        return np.where(possible, codes, origins)

    def _nearest_in_dtype(
        self, j: int, values: NDArray[np.float64], low: ArrayLike, high: ArrayLike
    ) -> NDArray[np.float64]:
        """The nearest numbers within limits that the dtype of a column holds."""
        dtype, dates = self.dtypes[j], self.fit_rows.dates(j)
        if dates is not None:
            return self._nearest_dates(j, values, low, high, dates.step / 2)
        if dtype.kind != "f" or dtype.itemsize >= 8:
            return values
        largest = np.finfo(dtype).max
        cast = np.clip(values, -largest, largest).astype(dtype)
        cast = np.where(cast > high, np.nextafter(cast, dtype.type(-np.inf)), cast)
        cast = np.where(cast < low, np.nextafter(cast, dtype.type(np.inf)), cast)
        return cast.astype(np.float64)

    def _nearest_dates(
        self,
        j: int,
        values: NDArray[np.float64],
        low: ArrayLike,
        high: ArrayLike,
        half_step: float,
    ) -> NDArray[np.float64]:
        """The nearest dates of a column within limits, as days."""
        _, days, _ = self.fit_rows.cast_with_numbers(j, np.atleast_1d(values))
        low, high = np.broadcast_to(low, days.shape), np.broadcast_to(high, days.shape)
        for is_outside, inside in (
            (days > high, high - half_step),
            (days < low, low + half_step),
        ):
            if is_outside.any():
                _, days[is_outside], _ = self.fit_rows.cast_with_numbers(
                    j, inside[is_outside]
                )
        return days.reshape(np.shape(values))

    def shrink_to_dtypes(
        self,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        values: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends (n_columns,) of a box around values, moved inwards.

        The ends become multiples of the steps, and numbers that the dtypes hold.
        """
        low = np.fmin(self.grid.up(low), values)
        high = np.fmax(self.grid.down(high), values)
        for j in np.flatnonzero(~self.categorical).tolist():
            if np.isfinite(low[j]):
                low[j] = self._nearest_in_dtype(j, low[j], low[j], np.inf)
            if np.isfinite(high[j]):
                high[j] = self._nearest_in_dtype(j, high[j], -np.inf, high[j])
        return low, high

    def step_away(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Encoded rows with the next multiples of steps, away from the origins."""
        up = self.grid.up(values)
        away = np.where(values > origins, up, self.grid.down(values))
        return np.where((values == origins) | np.isnan(origins), values, away)

    @property
    def movable(self) -> NDArray[np.bool_]:
        """Mask of the numbers that may change."""
        return self.vary & ~self.categorical

    def step_nearer(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The next values towards encoded rows that the dtypes of numbers hold."""
        one_step_nearer = values + np.clip(origins - values, -1, 1)
        nearer = np.where(self.integer, one_step_nearer, np.nextafter(values, origins))
        for j, dtype in enumerate(self.dtypes):
            if dtype.kind == "f" and dtype.itemsize < 8:
                ends = values[:, j].astype(dtype), origins[:, j].astype(dtype)
                # The origin may not be a number of the dtype.
                nearer[:, j] = np.where(
                    np.equal(*ends), origins[:, j], np.nextafter(*ends)
                )
        # An origin that is not permitted has no permitted values next to it.
        low, high = self.permitted_limits(origins)
        return np.where((low <= nearer) & (nearer <= high), nearer, origins)

    def distances(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Distances of encoded rows from others, (n_rows,)."""
        change_costs = self.changes(values, origins) * self.costs
        return np.linalg.norm(change_costs, self.norm, axis=1)

    def n_changed(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Numbers of cells that differ from the origins, (n_rows,)."""
        return (self.changes(values, origins) > 0).sum(axis=1)

    def changes(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Distance of each cell from its origin: of numbers, and 1 for a category.

        Missing entries that are filled have the distance `filling`.
        """
        changes = np.abs(values - origins)
        changed = changes > 0
        changes[:, self.categorical] = changed[:, self.categorical]
        filled = np.isnan(origins) & ~np.isnan(values)
        changes = np.where(filled, self.filling, changes)
        return np.nan_to_num(changes, nan=0.0, posinf=np.inf)

    def survives_encoding(
        self, rows: Rows, values: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Mask of columns whose cells survive `encode` and `decode`.

        Cells of columns with missing or unknown entries, or other objects, do not.
        """
        if self._are_floats(rows) and self._are_floats(self.fit_rows):
            return np.all(np.abs(values) < LARGEST_INTEGER, axis=0)
        returning = np.zeros(rows.n_columns, dtype=bool)
        for j, levels in enumerate(self.levels):
            column = values[:, j]
            if rows.column(j).dtype != self.fit_rows.column(j).dtype:
                continue
            if levels is None:
                plain = rows.column_array(j).dtype.kind in "fiu"
                returning[j] = plain and (np.abs(column) < LARGEST_INTEGER).all()
            else:
                plain = all(type(level) in (str, bool) for level in levels)
                returning[j] = plain and (column >= 0).all()
        return returning

    def decode(
        self,
        values: NDArray[np.float64],
        origins: NDArray[np.float64],
        rows: Rows,
        index: NDArray[np.intp],
        returning: NDArray[np.bool_],
    ) -> Any:
        """Encoded rows in the native container: cells that changed in those at `index`.

        Parameters
        ----------
        values : ndarray of shape (m, n_columns)
            Encoded rows.
        origins : ndarray of shape (m, n_columns)
            The rows that they come from, encoded.
        rows : Rows
            The rows, not encoded.
        index : ndarray of shape (m,), int
            Position in `rows` of the row that each encoded row comes from.
        returning : ndarray of shape (n_columns,), bool
            Columns whose cells may be decoded without having changed.

        Returns
        -------
        native container of m rows
        """
        if self._are_floats(rows) and returning.all():
            return values.copy()
        changed = (values != origins) & ~(np.isnan(values) & np.isnan(origins))
        any_changed = changed.any(axis=0)
        mixed = rows.take(index)
        columns = np.flatnonzero(any_changed & ~returning).tolist()
        if columns:
            tiles = self.fit_rows.sliced(slice(0, 1)).tiles(0, 1, len(values))
            donors = self._replace_columns(tiles, columns, values, changed)
            stacked = rows.followed_by(type(self.fit_rows)(donors))
            below = rows.n_rows + np.arange(len(values))
            sources = {j: np.where(changed[:, j], below, index) for j in columns}
            mixed = type(rows)(stacked.mix(index, sources))
        columns = np.flatnonzero(any_changed & returning).tolist()
        if columns:
            everywhere = np.ones_like(changed)
            tiles = mixed.tiles(0, len(values), 1)
            return self._replace_columns(tiles, columns, values, everywhere)
        return mixed.native

    def _replace_columns(
        self,
        tiles: Tiles,
        columns: list[int],
        values: NDArray[np.float64],
        changed: NDArray[np.bool_],
    ) -> Any:
        """Repeated rows in which some columns are the encoded ones, where changed."""
        cells = (self._native_column(j, values[:, j], changed[:, j]) for j in columns)
        vectors, codes = zip(*cells, strict=True)
        shape = tiles.n_rows, tiles.repeats
        positions = [
            np.broadcast_to(code, len(values)).reshape(shape) for code in codes
        ]
        return tiles.replace(columns, vectors, positions)

    def _native_column(
        self, j: int, values: NDArray[np.float64], changed: NDArray[np.bool_]
    ) -> tuple[Any, NDArray[np.intp]]:
        """New values of a column: a vector of its dtype, and positions in it, (m,).

        Unchanged cells get the value of a changed one: the dtype may not hold theirs.
        """
        values = np.where(changed, values, values[changed][0])
        if self.levels[j] is None:
            return self.fit_rows.cast(j, values), np.arange(len(values))
        return self._level_vectors[j], values.astype(np.intp)


def _is_float_array(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype == np.float64


def blocks_of_numbers(
    rows: Rows, categorical: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Columns that are no categories: positions (k,), and their numbers (n, k).

    An array of doubles is one block, because calls for each column take longer.
    """
    columns = np.flatnonzero(~categorical)
    if _is_float_array(rows.native):
        yield columns, rows.native[:, columns]
    else:
        yield from (
            (columns[[i]], rows.numbers(j)[:, None])
            for i, j in enumerate(columns.tolist())
        )


def lowest_and_highest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lowest and highest finite number of each column: (2, k); inf, -inf of none."""
    known = np.isfinite(values)
    low = values.min(axis=0, initial=np.inf, where=known)
    return np.stack([low, values.max(axis=0, initial=-np.inf, where=known)])


def _units_of_numbers(
    kind: str, values: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The units of distances of columns (n, k) of numbers, as `distance` names them."""
    values, weights = values[weights > 0], weights[weights > 0]
    units = np.ones(values.shape[1])
    missing = np.isnan(values)
    if kind == "raw" or not len(values):
        return units
    if missing.any() and values.shape[1] > 1:
        for j, column in enumerate(values.T):
            units[j] = _units_of_numbers(kind, column[:, None], weights)[0]
        return units
    values, weights = values[~missing.any(axis=1)], weights[~missing.any(axis=1)]
    if not len(values):
        return units
    # Without scaling squares of large numbers overflow, and those of small ones vanish.
    exponents = np.frexp(np.abs(values).max(axis=0))[1]
    values = np.ldexp(values, -exponents)
    with np.errstate(invalid="ignore"):  # infinite numbers, whose unit is one
        means = np.average(values, axis=0, weights=weights)
        spreads = np.sqrt(np.average((values - means) ** 2, axis=0, weights=weights))
        if kind == "gower":
            spreads = np.ptp(values, axis=0)
    if kind == "mad":
        for j, column in enumerate(values.T):
            (median,) = averaged_quantile(column, [0.5], weights)
            (deviation,) = averaged_quantile(np.abs(column - median), [0.5], weights)
            spreads[j] = deviation if deviation > 0 else spreads[j]
    numbers = np.finfo(np.float64)
    with np.errstate(over="ignore"):
        sizes = np.clip(np.ldexp(spreads, exponents), numbers.tiny, numbers.max)
    return np.where(spreads > 0, sizes, units)

"""Actionability: the values that rows may take, their distances, and encodings.

And a `SearchProblem`: rows to be explained under a target and such constraints.
"""

from copy import copy
from functools import cached_property

import numpy as np

from sklearn_interpret._core.search.decimal_grids import DecimalGrid, decimal_step
from sklearn_interpret._core.statistics.weighted import (
    averaged_quantile,
    weighted_quantile,
)
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret._model.rows.dates import as_objects
from sklearn_interpret._model.rows.plain import PlainState

# Up to here floats hold all whole numbers.
LARGEST_INTEGER = 2.0**53
# Largest excess over a linear constraint, relative to the size of its terms.
_ROUNDING = 1e-9
# Share of changed cells above which all cells are rounded together, which is faster.
_MANY = 0.2


class Actionability(PlainState):
    """The rows that a search may return for a row, and their distances from it.

    Rows are encoded as floats: numbers as they are, a category as the position of its
    level among those that the dtype declares and the known rows have, -1 where none of
    these. What is missing in a row stays so.

    Parameters
    ----------
    known : Rows
        The rows of `fit`.
    weights : ndarray of shape (n_rows,)
        Their weights.
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
        Which columns take values between the lowest and the highest known one and their
        own, or known levels. None means none.
    two_valued : ndarray of shape (n_columns,), bool, default=None
        Which of these have two successive whole numbers, and take only these, even
        where ranges are lifted.
    missing_stays : bool, default=False
        Whether missing entries stay. Else they may be filled, which costs one unit.
    steps : None, dict of int to float or "exact", default="exact"
        Numbers change to multiples of their column's step. None takes that of the
        decimals of the known rows (`decimal_step`), a dict gives some others; "exact"
        leaves all numbers of the dtypes. Whole dtypes have the step 1 in any case.

    Attributes
    ----------
    costs : ndarray of shape (n_columns,)
        Costs of a unit of each number, or of a change of a category.
    filling : ndarray of shape (n_columns,)
        Sizes of the changes from a missing entry to a value.
    observed : ndarray of shape (2, n_columns)
        Lowest and highest known numbers.
    grid : DecimalGrid
        The multiples of the steps.
    integer : ndarray of shape (n_columns,), bool
        Which columns have the step 1.
    """

    def __init__(
        self,
        known,
        weights,
        *,
        categorical,
        vary,
        ranges,
        directions,
        distance,
        norm=1,
        within_data=None,
        two_valued=None,
        missing_stays=False,
        steps="exact",
    ):
        self.known = known
        self._missing_stays = missing_stays
        self.norm = norm
        self.categorical = categorical
        self.levels = [
            self._levels_of(j) if categorical[j] else None
            for j in range(known.n_columns)
        ]
        self._codes = [
            levels and {label_key(level): k for k, level in enumerate(levels)}
            for levels in self.levels
        ]
        self._level_vectors = [
            known.cast(j, levels) if levels else None
            for j, levels in enumerate(self.levels)
        ]
        # Missing entries turn integers into floats: dtypes are those of no rows.
        empty = known.take(np.arange(0))
        self.dtypes = [
            np.dtype(
                getattr(
                    known.column(j).dtype, "numpy_dtype", empty.column_array(j).dtype
                )
                if known.dates(j) is None
                else float
            )
            for j in range(known.n_columns)
        ]
        self.vary = vary
        self._directions = np.zeros(known.n_columns)
        for j, direction in directions.items():
            self._directions[j] = 1 if direction == "increase" else -1
        none = np.zeros(known.n_columns, dtype=bool)
        self._two_valued = none if two_valued is None else two_valued
        self._within_data = none if within_data is None else within_data
        steps = [self._step_of(j, steps, weights) for j in range(known.n_columns)]
        self._take_steps(steps)
        limits = [self._limits_of_dtype(j) for j in range(known.n_columns)]
        self._of_dtype = np.array(limits).reshape(-1, 2).T
        every = np.ones(known.n_rows, dtype=bool)
        self.observed, self._known_levels = self._known_values(weights > 0)
        self.seen_levels = self._known_values(every)[1]
        self._limit_to(self._within_data)
        for j, limits in ranges.items():
            if categorical[j]:
                allowed = set(map(label_key, limits))
                self.possible_levels[j][:] = [
                    label_key(level) in allowed for level in self.levels[j]
                ]
            else:
                self._low[j] = self.grid.up(max(limits[0], self._low[j]), j)
                self._high[j] = self.grid.down(min(limits[1], self._high[j]), j)
        self.costs, self.filling = self._costs(weights, distance)
        self._weights = weights
        self.coefficients = np.zeros((0, known.n_columns))
        self.bounds = np.zeros(0)

    def _are_floats(self, rows):
        """Whether rows are an array of doubles, none of whose columns is a category."""
        native = rows.native
        plain = isinstance(native, np.ndarray) and native.dtype == np.float64
        return plain and not self.categorical.any()

    def _levels_of(self, j):
        """Levels of a category, in the natural order, missing ones left out.

        Those that the dtype declares and no known row has are among them.
        """
        _, labels = self.known.encode_column(j)
        labels = self.known.categories(j) or labels
        return [label for label in labels if not is_missing(label)]

    def _step_of(self, j, steps, weights):
        """The step of a column; zero where it takes all numbers of its dtype."""
        if self.categorical[j]:
            return 0.0
        if not isinstance(steps, str) and steps and j in steps:
            return steps[j]
        if self.known.is_integer(j) or self._two_valued[j]:
            return 1.0
        if steps == "exact" or self.known.dates(j) is not None:
            return 0.0
        values = self.known.numbers(j)
        present = ~np.isnan(values) & (weights > 0)
        spread = _unit("mad", values[present], weights[present])
        return decimal_step(values, self.dtypes[j], spread)

    def _take_steps(self, steps):
        """Limit numbers to multiples of steps (n_columns,); zero allows all numbers."""
        self.grid = DecimalGrid.of(steps, self.dtypes)
        self.stepped, self.integer = self.grid.steps > 0, self.grid.steps == 1
        # Columns that do not hold each number of double precision.
        doubles = np.array([dtype == np.float64 for dtype in self.dtypes], dtype=bool)
        doubles &= [self.known.dates(j) is None for j in range(len(doubles))]
        self._rounded = ~(doubles | self.stepped) | self.categorical

    def _limits_of_dtype(self, j):
        """The lowest and highest multiple of a step; no limits of other columns."""
        if not self.stepped[j]:
            return -np.inf, np.inf
        most = LARGEST_INTEGER * self.grid.steps[j]
        if self.dtypes[j].kind in "iu":
            bounds = np.iinfo(self.dtypes[j])
            return max(bounds.min, -most), min(bounds.max, most)
        return -most, most

    def _known_values(self, counted):
        """Lowest and highest numbers of the known rows that count, and their levels."""
        n_columns = self.known.n_columns
        observed = np.repeat([[np.inf], [-np.inf]], n_columns, axis=1)
        levels = [None] * n_columns
        for j in range(n_columns):
            if self.categorical[j]:
                codes, labels = self.known.encode_column(j)
                present = {label_key(labels[k]) for k in np.unique(codes[counted])}
                levels[j] = np.array(
                    [label_key(level) in present for level in self.levels[j]], bool
                )
                continue
            values = self.known.numbers(j)[counted]
            values = values[np.isfinite(values)]
            observed[:, j] = values.min(initial=np.inf), values.max(initial=-np.inf)
        return observed, levels

    def _limit_to(self, within_data):
        """Limit some columns to the values of the known rows, others by their dtype."""
        self._within_data = within_data
        low, high = np.where(within_data, self.observed, self._of_dtype)
        self._low, self._high = self.grid.up(low), self.grid.down(high)
        self.possible_levels = [
            levels if within else seen if seen is None else seen.copy()
            for levels, seen, within in zip(
                self._known_levels, self.seen_levels, within_data, strict=True
            )
        ]

    def beyond(self, values, origins):
        """Mask of cells changed to values beyond the known rows."""
        low, high = self.observed
        beyond = (values < low) | (values > high)
        for j, known in enumerate(self._known_levels):
            if known is not None:
                codes = np.nan_to_num(values[:, j], nan=-1).astype(np.intp)
                beyond[:, j] = (codes >= 0) & ~known[codes] if len(known) else False
        return beyond & (self.changes(values, origins) > 0)

    @cached_property
    def medians(self):
        """Medians of the known numbers, (n_columns,); zero where there are none."""
        medians = np.zeros(self.known.n_columns)
        for j in np.flatnonzero(~self.categorical).tolist():
            values = self.known.numbers(j)
            present = np.isfinite(values) & (self._weights > 0)
            if present.any():
                (medians[j],) = weighted_quantile(
                    values[present], [0.5], self._weights[present]
                )
        return medians

    def _costs(self, weights, distance):
        """Costs of a unit of each column, or of a change of category; `filling`."""
        n_columns = self.known.n_columns
        units = np.ones(n_columns)
        kind = distance if isinstance(distance, str) else "mad"
        for j in np.flatnonzero(~self.categorical).tolist():
            values = self.known.numbers(j)
            present = ~np.isnan(values) & (weights > 0)
            units[j] = _unit(kind, values[present], weights[present])
        costs = 1 / units
        if kind == "gower":
            costs /= n_columns
        elif distance is not kind:
            for j, cost in distance.items():
                costs[j], units[j] = cost, 1.0
        return costs, units

    def constrained(self, coefficients, bounds):
        """A copy with linear constraints: ``coefficients @ row <= bounds``."""
        some = copy(self)
        some.coefficients, some.bounds = coefficients, bounds
        return some

    def excess(self, values):
        """Excess of encoded rows over the bounds (n, n_bounds), and its terms' size."""
        terms = self.coefficients * values[:, None]
        terms = np.where(self.coefficients != 0, terms, 0)
        sizes = np.abs(terms).sum(axis=2) + np.abs(self.bounds)
        return terms.sum(axis=2) - self.bounds, sizes

    def keeps(self, values):
        """Whether encoded rows satisfy all linear constraints, to rounding."""
        excess, sizes = self.excess(values)
        return (excess <= _ROUNDING * sizes).all(axis=1)

    def without(self, limits):
        """A copy without one of its limits, a parameter of the methods."""
        if limits == "constraints":
            return self.constrained(self.coefficients[:0], self.bounds[:0])
        free = copy(self)
        if limits == "features_to_vary":
            free.vary = np.ones_like(self.vary)
        elif limits == "direction":
            free._directions = np.zeros_like(self._directions)
        elif limits == "steps":
            free._take_steps(np.where(self.integer, 1.0, 0.0))
        else:
            free._limit_to(self._two_valued)
        return free

    def encode(self, rows):
        """Rows as floats, (n_rows, n_columns)."""
        if self._are_floats(rows) and not np.isinf(rows.native).any():
            return rows.native.copy()
        values = np.empty((rows.n_rows, rows.n_columns))
        for j, codes in enumerate(self._codes):
            if codes is None:
                values[:, j] = rows.numbers(j)
            else:
                values[:, j] = [
                    np.nan if is_missing(label) else codes.get(label_key(label), -1)
                    for label in as_objects(rows.shown(j)).tolist()
                ]
        return values

    def distinct(self, rows):
        """The distinct rows of a table; missing entries count as equal."""
        values = np.nan_to_num(self.encode(rows), nan=np.inf)
        return rows.take(np.unique(values, axis=0, return_index=True)[1])

    def permitted(self, origins):
        """Lowest and highest value of changed cells, (n_rows, n_columns) each.

        Of categories the positions of levels, for `possible_levels` among them. Cells
        that may only stay have an infinite lowest value and no highest.
        """
        low, high = self._low.copy(), self._high.copy()
        for j in np.flatnonzero(self.categorical).tolist():
            low[j], high[j] = 0, len(self.possible_levels[j]) - 1
        # Values beyond the known range may move towards it.
        extended = self._within_data & ~self._two_valued
        if extended.any():
            own = np.clip(origins, *self._of_dtype)
            below, above = extended & (own < low), extended & (own > high)
            if below.any():
                low = np.where(below, self.grid.up(own), low)
            if above.any():
                high = np.where(above, self.grid.down(own), high)
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

    def limits(self, origins):
        """Ends of boxes of origins and `permitted` values, (n_rows, n_columns) each.

        Where an origin is not permitted, some values between these are not either.
        """
        low, high = self.permitted(origins)
        stays = low > high
        return (
            np.where(stays, origins, np.fmin(low, origins)),
            np.where(stays, origins, np.fmax(high, origins)),
        )

    def rooms(self, values, origins):
        """Ends of the intervals of permitted values that encoded rows lie in."""
        low, high = self.permitted(origins)
        inside = (low <= values) & (values <= high)
        return np.where(inside, low, values), np.where(inside, high, values)

    def projected(self, values, origins):
        """The nearest values that rows encoded as `origins` may take, cell by cell.

        Multiples of the column's step, and numbers that its dtype holds; a level that
        is not possible becomes the origin's.
        """
        low, high = self.permitted(origins)
        same = (values == origins) | np.isnan(values) | (low > high)
        values = np.where(same, origins, np.clip(values, low, high))
        changed = ~same & self.stepped
        if changed.sum() > _MANY * changed.size:
            values = self.grid.nearest(values)
        elif changed.any():
            values[changed] = self.grid.nearest(values[changed], changed.nonzero()[1])
        for j in np.flatnonzero(self._rounded & ~same.all(axis=0)).tolist():
            column = values[:, j]
            if self.possible_levels[j] is not None:
                column = self._possible_level(j, np.rint(column), origins[:, j])
            else:
                column = self._held(j, column, low[:, j], high[:, j])
            values[:, j] = column
        # Between the limits there may be no number of the dtype.
        same |= ~((low <= values) & (values <= high))
        return np.where(same, origins, values)

    def _possible_level(self, j, codes, own):
        known = codes >= 0
        possible = np.zeros(len(codes), dtype=bool)
        possible[known] = self.possible_levels[j][codes[known].astype(np.intp)]
        return np.where(possible, codes, own)

    def _held(self, j, values, low, high):
        """The nearest numbers within limits that the dtype of a column holds."""
        dtype, dates = self.dtypes[j], self.known.dates(j)
        if dates is not None:
            return self._held_dates(j, values, low, high)
        if dtype.kind != "f" or dtype.itemsize >= 8:
            return values
        largest = np.finfo(dtype).max
        held = np.clip(values, -largest, largest).astype(dtype)
        held = np.where(held > high, np.nextafter(held, dtype.type(-np.inf)), held)
        held = np.where(held < low, np.nextafter(held, dtype.type(np.inf)), held)
        return held.astype(np.float64)

    def _held_dates(self, j, values, low, high):
        """The nearest dates of a column within limits, as days."""
        half, shape = self.known.dates(j).step / 2, np.shape(values)
        _, held, _ = self.known.rounded(j, np.atleast_1d(values))
        low, high = np.broadcast_to(low, held.shape), np.broadcast_to(high, held.shape)
        for beyond, inner in ((held > high, high - half), (held < low, low + half)):
            if beyond.any():
                _, held[beyond], _ = self.known.rounded(j, inner[beyond])
        return held.reshape(shape)

    def within_dtypes(self, low, high, values):
        """The ends (n_columns,) of a box around values moved inwards.

        To multiples of the steps, and to numbers that dtypes hold.
        """
        low = np.fmin(self.grid.up(low), values)
        high = np.fmax(self.grid.down(high), values)
        for j in np.flatnonzero(~self.categorical):
            if np.isfinite(low[j]):
                low[j] = self._held(j, low[j], low[j], np.inf)
            if np.isfinite(high[j]):
                high[j] = self._held(j, high[j], -np.inf, high[j])
        return low, high

    def away(self, values, origins):
        """Encoded rows with the next multiples of steps, away from the origins."""
        up = self.grid.up(values)
        away = np.where(values > origins, up, self.grid.down(values))
        return np.where((values == origins) | np.isnan(origins), values, away)

    @property
    def moving(self):
        """Mask of the numbers that may change."""
        return self.vary & ~self.categorical

    def nearer(self, values, origins):
        """The next values towards encoded rows that the dtypes of numbers hold."""
        one_less = values + np.clip(origins - values, -1, 1)
        nearer = np.where(self.integer, one_less, np.nextafter(values, origins))
        for j, dtype in enumerate(self.dtypes):
            if dtype.kind == "f" and dtype.itemsize < 8:
                ends = values[:, j].astype(dtype), origins[:, j].astype(dtype)
                # The origin may not be a number of the dtype.
                nearer[:, j] = np.where(
                    np.equal(*ends), origins[:, j], np.nextafter(*ends)
                )
        # An origin that is not permitted has no permitted values next to it.
        low, high = self.permitted(origins)
        return np.where((low <= nearer) & (nearer <= high), nearer, origins)

    def distances(self, values, origins):
        """Distances of encoded rows from others, (n_rows,)."""
        sizes = self.changes(values, origins) * self.costs
        return np.linalg.norm(sizes, self.norm, axis=1)

    def n_changed(self, values, origins):
        """Numbers of cells that differ from the origins, (n_rows,)."""
        return (self.changes(values, origins) > 0).sum(axis=1)

    def changes(self, values, origins):
        """Distance of each cell from its origin: of numbers, and 1 for a category.

        Missing entries that are filled have the distance `filling`.
        """
        changes = np.abs(values - origins)
        changed = changes > 0
        changes[:, self.categorical] = changed[:, self.categorical]
        filled = np.isnan(origins) & ~np.isnan(values)
        changes = np.where(filled, self.filling, changes)
        return np.nan_to_num(changes, nan=0.0, posinf=np.inf)

    def returning(self, rows, values):
        """Mask of columns whose cells survive `encode` and `decode`.

        Columns with missing or unknown entries, or with other objects, do not.
        """
        if self._are_floats(rows) and self._are_floats(self.known):
            return (np.abs(values) < LARGEST_INTEGER).all(axis=0)
        returning = np.zeros(rows.n_columns, dtype=bool)
        for j, levels in enumerate(self.levels):
            own = values[:, j]
            if rows.column(j).dtype != self.known.column(j).dtype:
                continue
            if levels is None:
                plain = rows.column_array(j).dtype.kind in "fiu"
                returning[j] = plain and (np.abs(own) < LARGEST_INTEGER).all()
            else:
                plain = all(type(level) in (str, bool) for level in levels)
                returning[j] = plain and (own >= 0).all()
        return returning

    def decode(self, values, origins, rows, index, returning):
        """Encoded rows in the native container: cells that changed in those at `index`.

        Parameters
        ----------
        values : ndarray of shape (m, n_columns)
            Encoded rows.
        origins : ndarray of shape (m, n_columns)
            The rows that they come from, encoded.
        rows : Rows
            Rows that hold these.
        index : ndarray of shape (m,), int
            Which of these each comes from.
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
            tiles = self.known.part(slice(0, 1)).tiles(0, 1, len(values))
            donors = self._replaced(tiles, columns, values, changed)
            both = rows.followed_by(type(self.known)(donors))
            below = rows.n_rows + np.arange(len(values))
            places = {j: np.where(changed[:, j], below, index) for j in columns}
            mixed = type(rows)(both.mixed(index, places))
        columns = np.flatnonzero(any_changed & returning).tolist()
        if columns:
            everywhere = np.ones_like(changed)
            tiles = mixed.tiles(0, len(values), 1)
            return self._replaced(tiles, columns, values, everywhere)
        return mixed.native

    def _replaced(self, tiles, columns, values, changed):
        """Repeated rows in which some columns are the encoded ones, where changed."""
        cells = (self._native_column(j, values[:, j], changed[:, j]) for j in columns)
        vectors, codes = zip(*cells, strict=True)
        shape = tiles.n_rows, tiles.repeats
        codes = [
            np.broadcast_to(places, len(values)).reshape(shape) for places in codes
        ]
        return tiles.replaced(columns, vectors, codes)

    def _native_column(self, j, values, changed):
        """New values of a column: a vector of its dtype, and places in it, (m,).

        Unchanged cells get the value of a changed one: the dtype may not hold theirs.
        """
        values = np.where(changed, values, values[changed][0])
        if self.levels[j] is None:
            return self.known.cast(j, values), np.arange(len(values))
        return self._level_vectors[j], values.astype(np.intp)


def _unit(kind, values, weights):
    """The unit of the numbers of a column."""
    if not len(values) or kind == "raw":
        return 1.0
    # Without scaling squares of large numbers overflow, and those of small ones vanish.
    exponent = np.frexp(np.abs(values).max())[1]
    values = np.ldexp(values, -exponent)
    mean = np.average(values, weights=weights)
    spread = np.sqrt(np.average((values - mean) ** 2, weights=weights))
    if kind == "gower":
        spread = np.ptp(values)
    if kind == "mad":
        (median,) = averaged_quantile(values, [0.5], weights)
        (deviation,) = averaged_quantile(np.abs(values - median), [0.5], weights)
        spread = deviation if deviation > 0 else spread
    if not spread > 0:
        return 1.0
    numbers = np.finfo(np.float64)
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(spread, exponent), numbers.tiny, numbers.max)

"""Rows of pandas and polars data frames; neither library is imported here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.base import (
    ArrayTiles,
    Codes,
    Rows,
    Tiles,
    checked_cast,
    gather,
    is_missing,
    label_key,
    plain_list,
    refuse_values,
    same_labels,
)
from sklearn_interpret._model.rows.dates import Dates, clock_of_objects, python_dates


class PandasRows(Rows):
    """Rows of a pandas DataFrame."""

    def __init__(self, native: Any) -> None:
        super().__init__(native)
        self.named = all(isinstance(name, str) for name in native.columns)

    @cached_property
    def names(self) -> list[str]:
        """Column names."""
        return [str(name) for name in self.native.columns]

    def take(self, index: NDArray[np.intp] | list[int]) -> Self:
        """Rows at `index`, renumbered."""
        return type(self)(self.native_at(index).reset_index(drop=True))

    def native_at(self, index: NDArray[np.intp] | list[int]) -> Any:
        """Rows at `index`, with their labels."""
        return self.native.iloc[index]

    def keep_columns(self, columns: NDArray[np.intp] | Sequence[int]) -> Self:
        """Some of the columns."""
        return type(self)(self.native.iloc[:, list(columns)])

    def followed_by(self, rows: Rows) -> Self:
        """These rows, then `rows`, with the categories of these rows alone."""
        pandas = sys.modules["pandas"]
        stacked = {}
        for j in range(self.n_columns):
            above = self.native.iloc[:, j]
            below = pandas.Series(rows.column(j))
            pair = above.dtype, below.dtype
            if pair[0] != pair[1] and not _are_numbers(*pair):
                below = pandas.Series(self.cast(j, rows.column_array(j)))
            stacked[j] = pandas.concat([above, below], ignore_index=True)
        frame = pandas.DataFrame(stacked, copy=False)
        frame.columns = self.native.columns
        return type(self)(frame)

    def joined(self, rows: Rows) -> Self:
        """These rows, then `rows`, with the labels and categories of both tables."""
        pandas = sys.modules["pandas"]
        stacked = []
        for (_, above), (_, below) in zip(
            self.native.items(), rows.native.items(), strict=True
        ):
            pair = above.dtype, below.dtype
            if pair[0] != pair[1] and all(dtype == "category" for dtype in pair):
                joined = pandas.api.types.union_categoricals([above, below])
                stacked.append(pandas.Series(joined))
            else:
                stacked.append(pandas.concat([above, below], ignore_index=True))
        frame = pandas.concat(stacked, axis=1)
        frame.columns = self.native.columns
        frame.index = self.native.index.append(rows.native.index)
        return type(self)(frame)

    def dtype(self, j: int) -> Any:
        """The dtype of a column."""
        return self.native.dtypes.iloc[j]

    def cast_columns(self, dtypes: dict[int, Any]) -> Self:
        """The rows with some columns cast."""
        names = self.native.columns
        changed = {
            names[j]: dtype for j, dtype in dtypes.items() if self.dtype(j) != dtype
        }
        return type(self)(self.native.astype(changed)) if changed else self

    def column(self, j: int) -> Any:
        """Column `j` as pandas' own array, with its dtype."""
        return self.native.iloc[:, j].array

    def _dates_of(self, vector: Any) -> Dates | None:
        series, unit = sys.modules["pandas"].Series(vector, copy=False), None
        if str(series.dtype).startswith("period"):
            letter = str(series.dtype)[len("period[")]
            unit = {"M": "M", "Q": "M", "Y": "Y", "A": "Y"}.get(letter)
            series = series.dt.to_timestamp()
        elif _kind(series.dtype) == "O":
            if series.dtype != object:
                return None
            clock = clock_of_objects(series.to_numpy())
            return None if clock is None else Dates(clock)
        elif _kind(series.dtype) not in "mM":
            return None
        elif _kind(series.dtype) == "M":
            if hasattr(series.dtype, "pyarrow_dtype"):
                pandas = sys.modules["pandas"]
                series = pandas.to_datetime(series.astype(object))
            series = series.dt.tz_localize(None)
        return Dates(series.to_numpy(), unit)

    def _cast_dates(self, j: int, clock: NDArray[Any]) -> Any:
        """Dates as an array of the column's dtype."""
        pandas, dtype = sys.modules["pandas"], self.dtype(j)
        if isinstance(dtype, np.dtype) and dtype.kind == "O":
            values = python_dates(clock, self._plain_values(j))
            return pandas.Series(values, dtype=object).array
        series = pandas.Series(clock.astype(f"{clock.dtype.kind}8[us]"))
        arrow = hasattr(dtype, "pyarrow_dtype")
        zone = getattr(dtype.pyarrow_dtype, "tz", None) if arrow else None
        zone = zone or getattr(dtype, "tz", None)
        if zone is not None:
            # An hour shown twice by clocks is the first; a skipped one shifts forward.
            first = np.ones(len(series), dtype=bool)
            series = series.dt.tz_localize(zone, first, "shift_forward")
        if arrow:
            # Pandas does not cast times to pyarrow's days.
            plain = [None if is_missing(v) else v for v in series.astype(object)]
            return pandas.array(plain, dtype=dtype)
        if str(dtype).startswith("period"):
            series = series.dt.to_period(dtype.freq)
        return series.astype(dtype).array

    def _plain_values(self, j: int) -> NDArray[Any]:
        """Numeric columns as numbers (missing as NaN), others as objects."""
        series = self.native.iloc[:, j]
        if isinstance(series.dtype, np.dtype):
            return series.to_numpy()
        kind = _kind(series.dtype)
        missing = kind in "iub" and series.isna().any()
        if kind == "f" or (kind in "iu" and missing):
            return series.to_numpy(dtype=np.float64, na_value=np.nan)
        if kind in "iu":
            return series.to_numpy(dtype=np.int64)
        return series.to_numpy(dtype=bool if kind == "b" and not missing else object)

    def is_categorical(self, j: int) -> bool:
        """Category, object, string and boolean dtypes are categorical."""
        dtype = self.native.dtypes.iloc[j]
        if dtype.name == "category" or _kind(dtype) == "b":
            return True
        return _kind(dtype) == "O" and self.dates(j) is None

    def is_ordered(self, j: int) -> bool:
        """Ordered categories and booleans have an order."""
        dtype = self.native.dtypes.iloc[j]
        return bool(getattr(dtype, "ordered", False)) or _kind(dtype) == "b"

    def _is_integer(self, j: int) -> bool:
        """Whole-number dtypes."""
        return _kind(self.native.dtypes.iloc[j]) in "iu"

    def categories(self, j: int) -> list[Any] | None:
        """The categories of a category dtype."""
        dtype = self.native.dtypes.iloc[j]
        return list(dtype.categories) if dtype.name == "category" else None

    def _cast(self, j: int, values: NDArray[Any] | Sequence[Any]) -> Any:
        """`values` as an array of the column's dtype."""
        pandas = sys.modules["pandas"]
        dtype = self.native.dtypes.iloc[j]
        if isinstance(dtype, np.dtype) and dtype.kind != "O":
            plain = checked_cast(values, dtype, self.names[j])
            return pandas.Series(plain).array
        values = plain_list(values)
        self._refuse_unknown(j, values)
        try:
            cast = pandas.Series(values, dtype=dtype).array
        except (TypeError, ValueError):
            refuse_values(values, dtype, self.names[j])
        if dtype.kind != "f" and not same_labels(cast, values):
            refuse_values(values, dtype, self.names[j])
        return cast

    def _refuse_unknown(self, j: int, values: list[Any]) -> None:
        """Refuse labels that a category dtype does not declare."""
        declared = self.categories(j)
        if declared is None:
            return
        declared_keys = set(map(label_key, declared))
        for label in values:
            if not is_missing(label) and label_key(label) not in declared_keys:
                raise ValueError(
                    f"The feature {self.names[j]!r} has no category {label!r}; its "
                    f"categories are {declared!r}."
                )

    def tiles(self, start: int, stop: int, repeats: int) -> Tiles:
        """Repeated rows as a DataFrame of the same columns and dtypes."""
        if self._is_plain:
            return _PlainPandasTiles(self.native.iloc[start:stop], repeats)
        index = np.repeat(np.arange(start, stop), repeats)
        frame = self.native.iloc[index].reset_index(drop=True)
        return _PandasTiles(frame, stop - start, repeats)

    @property
    def _is_plain(self) -> bool:
        """Whether all columns have the same numeric numpy dtype."""
        dtypes = set(self.native.dtypes)
        (dtype,) = dtypes if len(dtypes) == 1 else (None,)
        return isinstance(dtype, np.dtype) and dtype.kind in "iuf"


def _are_numbers(*dtypes: Any) -> bool:
    """Whether all are numeric dtypes, which have a common dtype."""
    return all(_kind(dtype) in "iuf" for dtype in dtypes)


def _kind(dtype: Any) -> str:
    """Kind of a dtype as in numpy; "O" for texts and for dtypes without one."""
    kind = getattr(dtype, "kind", "O")
    return "O" if kind in "SU" else kind  # of pyarrow's texts, which are objects here


class _PandasTiles(Tiles):
    """Repeated rows; replaced columns are assigned to a shallow copy."""

    def __init__(self, frame: Any, n_rows: int, repeats: int) -> None:
        super().__init__(n_rows, repeats)
        self._frame = frame

    def replace(
        self, columns: Sequence[int], levels: Sequence[Any], codes: Codes
    ) -> Any:
        pandas = sys.modules["pandas"]
        frame, dtypes = self._frame.copy(deep=False), self._frame.dtypes.tolist()
        for j, values, positions in zip(columns, levels, codes, strict=True):
            column = gather(values, self._cells(positions))
            # Without a dtype, pandas would infer strings from objects that are texts.
            column = pandas.Series(column, frame.index, dtypes[j], copy=False)
            frame.isetitem(j, column)
        return frame


class _PlainPandasTiles(Tiles):
    """Repeated rows of one numpy dtype: a new frame around a work array, no copies."""

    # Assigning a column to a frame would split the block that holds all columns, and
    # every call of the model would have to join the pieces again.

    def __init__(self, frame: Any, repeats: int) -> None:
        super().__init__(len(frame), repeats)
        self._columns = frame.columns
        self._tiles = ArrayTiles(frame.to_numpy(), repeats)

    def replace(
        self, columns: Sequence[int], levels: Sequence[Any], codes: Codes
    ) -> Any:
        work = self._tiles.replace(columns, levels, codes)
        pandas = sys.modules["pandas"]
        return pandas.DataFrame(work, columns=self._columns, copy=False)


class PolarsRows(Rows):
    """Rows of a polars DataFrame."""

    named = True

    @cached_property
    def names(self) -> list[str]:
        """Column names."""
        return list(self.native.columns)

    def take(self, index: NDArray[np.intp] | list[int]) -> Self:
        """Rows at `index`."""
        return type(self)(self.native[np.asarray(index)])

    def keep_columns(self, columns: NDArray[np.intp] | Sequence[int]) -> Self:
        """Some of the columns."""
        return type(self)(self.native.select([self.names[j] for j in columns]))

    def followed_by(self, rows: Rows) -> Self:
        """These rows, then `rows`, with the categories of these rows alone."""
        polars = sys.modules["polars"]
        stacked = []
        for j, name in enumerate(self.names):
            above = self.column(j)
            same_kind = isinstance(rows, PolarsRows)
            below = rows.column(j) if same_kind else rows.column_array(j)
            below = polars.Series(name, below)
            numbers = above.dtype.is_numeric() and below.dtype.is_numeric()
            if above.dtype != below.dtype and not numbers:
                below = self.cast(j, rows.column_array(j)).alias(name)
            pair = above.to_frame(), below.to_frame()
            stacked.append(polars.concat(pair, how="vertical_relaxed").to_series())
        return type(self)(polars.DataFrame(stacked))

    def joined(self, rows: Rows) -> Self:
        """These rows, then `rows`, with the categories of both tables."""
        polars = sys.modules["polars"]
        pair = self.native, rows.native
        return type(self)(polars.concat(pair, how="vertical_relaxed"))

    def dtype(self, j: int) -> Any:
        """The dtype of a column."""
        return self.native.dtypes[j]

    def cast_columns(self, dtypes: dict[int, Any]) -> Self:
        """The rows with some columns cast."""
        casts = {self.names[j]: dtype for j, dtype in dtypes.items()}
        return type(self)(self.native.cast(casts))

    def column(self, j: int) -> Any:
        """Column `j` as a Series."""
        return self.native.to_series(j)

    def _dates_of(self, vector: Any) -> Dates | None:
        polars, series = sys.modules["polars"], vector
        kind = series.dtype.base_type()
        if kind is polars.Object:
            clock = clock_of_objects(np.array(series.to_list(), dtype=object))
            return None if clock is None else Dates(clock)
        if kind not in (polars.Date, polars.Datetime, polars.Duration):
            return None
        if kind is polars.Datetime:
            series = series.dt.replace_time_zone(None)
        return Dates(series.to_numpy())

    def _cast_dates(self, j: int, clock: NDArray[Any]) -> Any:
        """Dates as a Series of the column's dtype."""
        polars, dtype = sys.modules["polars"], self.native.dtypes[j]
        if dtype.base_type() is polars.Object:
            values = python_dates(clock, self._plain_values(j))
            return polars.Series(self.names[j], values, dtype=dtype)
        series = polars.Series(self.names[j], clock.astype(f"{clock.dtype.kind}8[us]"))
        zone = getattr(dtype, "time_zone", None)
        if zone is not None:
            # An hour that clocks show twice is the first; of an hour that they skip,
            # the time an hour later is taken.
            later = series.dt.offset_by("1h")
            series, later = (
                each.dt.replace_time_zone(
                    zone, ambiguous="earliest", non_existent="null"
                )
                for each in (series, later)
            )
            series = series.fill_null(later)
        return series.cast(dtype)

    def _plain_values(self, j: int) -> NDArray[Any]:
        """Numeric columns as numbers (missing as NaN), others as objects."""
        series = self.column(j)
        is_boolean = series.dtype == sys.modules["polars"].Boolean
        if series.dtype.is_numeric() or (is_boolean and not series.null_count()):
            return series.to_numpy()
        # An array of lists would have two axes.
        return np.fromiter(series.to_list(), dtype=object, count=len(series))

    def is_categorical(self, j: int) -> bool:
        """Categorical, enum, string, object and boolean dtypes are categorical."""
        polars = sys.modules["polars"]
        kinds = polars.Categorical, polars.Enum, polars.String, polars.Boolean
        is_level = self.native.dtypes[j].base_type() in (*kinds, polars.Object)
        return is_level and self.dates(j) is None

    def is_ordered(self, j: int) -> bool:
        """Enums and booleans have an order."""
        polars = sys.modules["polars"]
        return self.native.dtypes[j].base_type() in (polars.Enum, polars.Boolean)

    def _is_integer(self, j: int) -> bool:
        """Whole-number dtypes."""
        return self.native.dtypes[j].is_integer()

    def categories(self, j: int) -> list[Any] | None:
        """The categories of an enum."""
        dtype = self.native.dtypes[j]
        if dtype.base_type() is sys.modules["polars"].Enum:
            return dtype.categories.to_list()
        return None

    def _cast(self, j: int, values: NDArray[Any] | Sequence[Any]) -> Any:
        """`values` as a Series of the column's dtype."""
        polars = sys.modules["polars"]
        dtype = self.native.dtypes[j]
        plain = [None if is_missing(v) else v for v in plain_list(values)]
        try:
            series = polars.Series(self.names[j], plain, strict=True)
            cast = series.cast(dtype, strict=True)
        except (TypeError, polars.exceptions.PolarsError):
            refuse_values(plain, dtype, self.names[j])
        if dtype.is_float():
            exact = cast.is_infinite().sum() == series.cast(float).is_infinite().sum()
        else:
            exact = same_labels(cast.to_list(), plain)
        if not exact:
            refuse_values(plain, dtype, self.names[j])
        return cast

    def tiles(self, start: int, stop: int, repeats: int) -> Tiles:
        """Repeated rows as a DataFrame of the same columns and dtypes."""
        index = np.repeat(np.arange(start, stop), repeats)
        return _PolarsTiles(self.native[index], stop - start, repeats)


class _PolarsTiles(Tiles):
    """Repeated rows; a new frame has the replaced columns, and shares all others."""

    def __init__(self, frame: Any, n_rows: int, repeats: int) -> None:
        super().__init__(n_rows, repeats)
        self._frame = frame

    def replace(
        self, columns: Sequence[int], levels: Sequence[Any], codes: Codes
    ) -> Any:
        polars = sys.modules["polars"]
        names = self._frame.columns
        return self._frame.with_columns(
            polars.Series(names[j], gather(values, self._cells(positions)))
            for j, values, positions in zip(columns, levels, codes, strict=True)
        )

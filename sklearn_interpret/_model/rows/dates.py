"""Dates, times, periods and durations as numbers of days, and back.

A column of dates is one of numbers: days since 1970-01-01, matplotlib's unit of dates;
durations are days, too. Times of a zone are those on its clocks. As users see them,
dates are numpy's, in the coarsest unit that holds all dates of their column: rounding
and texts ("2024-03-05", "2024-03-05 14:30", "2024-03", "3 days") follow the column.
"""

import datetime
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_UNITS_PER_DAY = {
    "D": 1,
    "h": 24,
    "m": 1440,
    "s": 86400,
    "ms": 86400 * 10**3,
    "us": 86400 * 10**6,  # finer units are lost in float64
}
# Python's types of dates and durations, of which pandas' types are subclasses.
_DATE_TYPES = datetime.date, datetime.timedelta
# Types of scalars one of whose values, NaN or NaT, stands for a missing one.
_TYPES_WITH_NAN = float, np.floating, np.datetime64, np.timedelta64
_DAY = np.timedelta64(1, "D")
# What to do about a column of dates where a method cannot take one.
TO_NUMBERS = (
    "turn it into numbers in the table, such as (X['date'] - X['date'].min()).dt.days "
    "or X['date'].dt.month"
)


class Dates:
    """A column of dates or durations.

    Parameters
    ----------
    clock : ndarray of shape (n,), dtype datetime64 or timedelta64
        The dates, those of a zone as on its clocks.
    unit : str, default=None
        Unit of periods, "M" or "Y"; None takes the coarsest one that holds all dates.

    Attributes
    ----------
    numbers : ndarray of shape (n,)
        Days since 1970-01-01, or days; NaN where missing.
    dtype : numpy.dtype
        Dtype of the dates as users see them.
    step : float
        Days between neighbouring dates of the dtype; zero of periods of several days.
    """

    def __init__(self, clock: NDArray[Any], unit: str | None = None) -> None:
        self.dtype = np.dtype(f"{clock.dtype.kind}8[{unit or _coarsest_unit(clock)}]")
        per_day = _UNITS_PER_DAY.get(np.datetime_data(self.dtype)[0], np.inf)
        self.step = 1 / per_day
        # In their unit, equal dates of two columns are equal to the last bit.
        self.numbers = days(clock.astype(self.dtype))

    def as_dates(self, values: Iterable[Any]) -> NDArray[Any]:
        """Numbers, or dates of any kind, as dates.

        Numbers are rounded to the unit of the column; dates may be in a finer one.
        """
        numbers, unit = np.asarray(values), np.datetime_data(self.dtype)[0]
        if numbers.dtype.kind not in "iuf":
            clock = as_clock(values, self.dtype.kind)
            numbers = days(clock)
            if unit in _UNITS_PER_DAY:
                unit = max(unit, _coarsest_unit(clock), key=_UNITS_PER_DAY.__getitem__)
        return _days_to_dates(numbers, self.dtype.kind, unit)

    def parse(self, values: Iterable[Any]) -> NDArray[np.float64]:
        """Dates of any kind, or texts in ISO form, as days."""
        return days(as_clock(values, self.dtype.kind))


def as_dates(numbers: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Days as dates of a dtype; numbers as they are where the dtype is None."""
    if dtype is None:
        return np.asarray(numbers)
    dtype = np.dtype(dtype)
    return _days_to_dates(np.asarray(numbers), dtype.kind, np.datetime_data(dtype)[0])


def _days_to_dates(numbers: NDArray[Any], kind: str, unit: str) -> NDArray[Any]:
    """Days as dates in a unit, rounded; periods begin at or before the day."""
    missing = np.isnan(numbers)
    counts = np.where(missing, 0, numbers) * _UNITS_PER_DAY.get(unit, 1)
    counts = np.rint(counts) if unit in _UNITS_PER_DAY else np.floor(counts)
    integers = counts.astype(np.int64)
    integers[missing] = np.iinfo(np.int64).min  # of NaT
    dates = integers.view(f"{kind}8[{unit if unit in _UNITS_PER_DAY else 'D'}]")
    return dates.astype(f"{kind}8[{unit}]")


def is_missing(value: Any) -> bool:
    """Whether a scalar stands for a missing value (None, NaN, NaT, NA)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, _TYPES_WITH_NAN) and value != value


def is_date(value: Any) -> bool:
    """Whether a scalar or an array is of numpy's dates or durations."""
    return getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M")


def days(dates: Any) -> Any:
    """Numpy's dates or durations as days, NaT as NaN; numbers as they are."""
    if not is_date(dates):
        return dates
    since = dates - np.datetime64(0, "D") if dates.dtype.kind == "M" else dates
    return since / _DAY


def as_objects(values: NDArray[Any]) -> NDArray[Any]:
    """An array as objects; dates stay numpy's, which know their unit."""
    if not is_date(values):
        return values.astype(object)
    return np.fromiter(values, dtype=object, count=len(values))


def date_between(low: float, high: float, dtype: np.dtype[Any]) -> Any:
    """The coarsest date at or after `low` and before `high`, both in days.

    It is near their middle where it is not `low` itself, in a unit of days or less.
    """
    finest, units = np.datetime_data(dtype)[0], list(_UNITS_PER_DAY)
    n_units = units.index(finest) + 1 if finest in units else 0  # periods: none
    middle, tolerance = low / 2 + high / 2, high / 4 - low / 4
    for unit in units[:n_units]:
        per_day = _UNITS_PER_DAY[unit]
        day = np.floor(middle * per_day) / per_day
        (date,) = _days_to_dates(np.array([day]), dtype.kind, unit)
        if low <= days(date) < high and middle - days(date) <= tolerance:
            return date
    return as_dates([low], dtype)[0]


def dates_within(low: float, high: float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Ends of an interval of days, rounded inward to dates of a dtype."""
    per_day = _UNITS_PER_DAY.get(np.datetime_data(dtype)[0], 1)
    ends = np.array([np.ceil(low * per_day), np.floor(high * per_day)]) / per_day
    return as_dates(np.where(np.isinf(ends), np.nan, ends), dtype)


def date_text(date: Any) -> str:
    """Numpy's date as text in ISO form; a duration with its unit."""
    if date.dtype.kind == "M":
        return str(date).replace("T", " ")
    text = str(date)
    return text.removesuffix("s") if text.split()[0] in ("1", "-1") else text


def _coarsest_unit(clock: NDArray[Any]) -> str:
    """The coarsest unit of days and less in which all dates are whole."""
    clock = clock[~np.isnat(clock)]
    for unit in _UNITS_PER_DAY:
        rounded = clock.astype(f"{clock.dtype.kind}8[{unit}]")
        if np.array_equal(rounded.astype(clock.dtype), clock):
            return unit
    return "us"


def as_clock(values: Iterable[Any], kind: str) -> NDArray[Any]:
    """Scalars as numpy's dates ("M") or durations ("m") in microseconds."""
    make = np.datetime64 if kind == "M" else np.timedelta64
    dates = []
    for value in values:
        if is_missing(value):
            value = "NaT"
        elif hasattr(value, "to_timestamp"):  # a pandas Period
            value = value.to_timestamp()
        elif getattr(value, "tzinfo", None) is not None:
            value = value.replace(tzinfo=None)
        elif isinstance(value, int | float | np.number) and not is_date(value):
            raise TypeError(f"{value!r} is no {'date' if kind == 'M' else 'duration'}.")
        dates.append(make(value, "us"))
    return np.array(dates, dtype=f"{kind}8[us]")


def clock_of_objects(values: NDArray[Any]) -> NDArray[Any] | None:
    """Python's dates or durations, all of one type, as numpy's; None of other objects.

    Times of a zone are no dates here.
    """
    first = next((value for value in values if not is_missing(value)), None)
    if not isinstance(first, _DATE_TYPES) or getattr(first, "tzinfo", None) is not None:
        return None
    if {type(value) for value in values if not is_missing(value)} != {type(first)}:
        return None
    return as_clock(values, "m" if isinstance(first, datetime.timedelta) else "M")


def python_dates(clock: NDArray[Any], values: NDArray[Any]) -> list[Any]:
    """Numpy's dates as Python objects of the type of those in a column."""
    kind = next(type(value) for value in values if not is_missing(value))
    if kind is datetime.date:
        return clock.astype("M8[D]").tolist()
    dates = clock.astype(f"{clock.dtype.kind}8[us]").tolist()
    if kind in (datetime.datetime, datetime.timedelta):
        return dates
    return [None if date is None else kind(date) for date in dates]  # of pandas

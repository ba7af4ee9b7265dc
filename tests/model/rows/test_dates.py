"""Columns of dates of every kind: numbers of days, and back to their own dtype."""

import datetime

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.dates import (
    as_dates,
    date_between,
    date_text,
    dates_within,
    days,
)

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

DAYS = np.array(["2024-03-05", "NaT", "2023-01-02", "2024-03-31"], dtype="M8[D]")
NUMBERS = [19787, np.nan, 19359, 19813]
BERLIN = "Europe/Berlin"


def frame(column):
    kind = pl if isinstance(column, pl.Series) else pd
    return kind.DataFrame({"day": column})


def naive():
    return pd.Series(DAYS.astype("M8[ns]"))


def moments():
    return pl.Series("day", DAYS.tolist()).cast(pl.Datetime("us"))


def arrow(kind):
    pyarrow = pytest.importorskip("pyarrow")
    dtypes = {
        "date": pyarrow.date32(),
        "timestamp": pyarrow.timestamp("us"),
        "zoned": pyarrow.timestamp("us", tz=BERLIN),
    }
    series = naive().dt.tz_localize(BERLIN) if kind == "zoned" else DAYS.tolist()
    return pd.Series(pd.array(series, dtype=pd.ArrowDtype(dtypes[kind])))


COLUMNS = {
    "naive": naive,
    "seconds": lambda: naive().astype("M8[s]"),
    "zoned": lambda: naive().dt.tz_localize(BERLIN),
    "period": lambda: naive().dt.to_period("D"),
    "date": lambda: pd.Series(DAYS.tolist(), dtype=object),
    "arrow date": lambda: arrow("date"),
    "arrow timestamp": lambda: arrow("timestamp"),
    "arrow zoned": lambda: arrow("zoned"),
    "stamps": lambda: pd.Series(list(naive()), dtype=object),
    "polars date": lambda: pl.Series("day", DAYS.tolist()),
    "polars datetime": moments,
    "polars zoned": lambda: moments().dt.replace_time_zone(BERLIN),
    "polars objects": lambda: pl.Series("day", DAYS.tolist(), dtype=pl.Object),
}


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_every_kind_is_days_and_comes_back(make):
    column = make()
    rows = as_rows(frame(column))
    assert_array_equal(rows.numbers(0), NUMBERS)
    assert_array_equal(rows.displayed(0), DAYS)
    assert rows.are_numbers[0]
    assert not rows.is_categorical(0)
    assert rows.is_integer(0)
    back = rows.cast(0, rows.numbers(0) + 0.3)  # rounded to whole days
    known = [0, 2, 3]
    assert [str(back[k]) for k in known] == [str(rows.column(0)[k]) for k in known]
    assert as_rows(frame(back)).displayed(0)[1] != as_rows(frame(back)).displayed(0)[1]
    assert str(back.dtype) == str(rows.column(0).dtype)
    assert_array_equal(rows.take([2]).numbers(0), NUMBERS[2:3])
    later = rows.followed_by(as_rows(frame(column)))
    assert_array_equal(later.numbers(0), NUMBERS + NUMBERS)


@pytest.mark.parametrize(
    "X",
    [DAYS[:, None], np.array(DAYS.tolist(), dtype=object)[:, None]],
    ids=["dates", "objects"],
)
def test_arrays(X):
    rows = as_rows(X)
    assert_array_equal(rows.numbers(0), NUMBERS)
    assert_array_equal(rows.cast(0, NUMBERS), X[:, 0])


@pytest.mark.parametrize(
    ("freq", "numbers", "texts"),
    [
        ("M", [19783, 19358], ["2024-03", "2023-01"]),
        ("Q", [19723, 19358], ["2024-01", "2023-01"]),
        ("Y", [19723, 19358], ["2024", "2023"]),
        ("W", [19786, 19359], ["2024-03-04", "2023-01-02"]),
    ],
)
def test_periods_begin_at_their_start(freq, numbers, texts):
    column = naive()[[0, 2]].dt.to_period(freq)
    rows = as_rows(pd.DataFrame({"when": column}))
    assert_array_equal(rows.numbers(0), numbers)
    assert list(map(date_text, rows.displayed(0))) == texts
    back = rows.cast(0, rows.numbers(0) + 2.7)
    assert list(back) == list(column)
    assert_array_equal(rows.cast_with_numbers(0, rows.numbers(0) + 2.7)[1], numbers)


@pytest.mark.parametrize("library", ["pandas", "arrow", "polars"])
def test_durations(library):
    lengths = pd.to_timedelta([3, 1, None, -2], unit="D")
    column = pd.Series(lengths.astype("m8[us]"))
    if library == "polars":
        column = pl.Series("day", column.to_numpy())
    if library == "arrow":
        pyarrow = pytest.importorskip("pyarrow")
        column = column.astype(pd.ArrowDtype(pyarrow.duration("us")))
    rows = as_rows(frame(column))
    assert_array_equal(rows.numbers(0), [3, 1, np.nan, -2])
    assert list(map(date_text, rows.displayed(0)[[0, 1, 3]])) == [
        "3 days",
        "1 day",
        "-2 days",
    ]
    assert list(rows.cast(0, [5.2])) == [datetime.timedelta(5)]


def test_texts_have_the_unit_of_the_column():
    times = pd.to_datetime(["2024-03-05 14:30", "2024-03-05 00:00"])
    rows = as_rows(pd.DataFrame({"when": times}))
    texts = list(map(date_text, rows.displayed(0)))
    assert texts == ["2024-03-05 14:30", "2024-03-05 00:00"]
    assert not rows.is_integer(0)
    # Numbers are rounded to minutes; dates may be finer.
    assert str(rows.cast(0, [19787.123456])[0]) == "2024-03-05 02:58:00"
    assert str(rows.cast(0, ["2024-03-05 14:30:07"])[0]) == "2024-03-05 14:30:07"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_clocks_of_a_zone(library):
    times = pd.to_datetime(["2024-01-05 14:30", "2024-07-05 14:30"])
    X = pd.DataFrame({"when": times.tz_localize(BERLIN)})
    X = pl.from_pandas(X) if library == "polars" else X
    rows = as_rows(X)
    assert_allclose(rows.numbers(0) % 1 * 24, [14.5] * 2)
    skipped, twice, aware = rows.cast(
        0,
        [
            "2024-03-31 02:30",
            "2024-10-27 02:30",
            datetime.datetime(2024, 7, 5, 8, tzinfo=datetime.UTC),
        ],
    )
    assert skipped.utcoffset() == twice.utcoffset() == datetime.timedelta(hours=2)
    assert skipped.hour == 3
    assert aware.hour == 8  # clocks are read, whatever their zone


def test_equal_dates_are_equal_numbers():
    times = pd.date_range("2024-01-01", periods=2000, freq="61s")
    fine, coarse = (as_rows(pd.DataFrame({"t": times.as_unit(u)})) for u in ("ns", "s"))
    assert_array_equal(fine.numbers(0), coarse.numbers(0))
    assert_array_equal(days(fine.displayed(0)), fine.numbers(0))
    assert_array_equal(fine.cast(0, fine.numbers(0)), times)


def test_what_are_no_dates():
    X = pd.DataFrame(
        {
            "mixed": pd.Series([datetime.date(2024, 1, 1), "x"], dtype=object),
            "text": ["2024-01-01", "2024-01-02"],
            "level": pd.Categorical(pd.to_datetime(["2024-01-01", "2024-01-02"])),
            "missing": pd.Series([None, None], dtype=object),
        }
    )
    rows = as_rows(X)
    assert [rows.dates(j) for j in range(4)] == [None] * 4
    assert rows.is_categorical(1)


def test_dates_as_levels_keep_their_text():
    rows = as_rows(frame(naive()))
    codes, labels = rows.encode_column(0)
    assert_array_equal(codes, [1, 3, 0, 2])
    assert list(map(str, labels)) == ["2023-01-02", "2024-03-05", "2024-03-31", "NaT"]


def test_values_that_are_no_dates_are_refused():
    rows = as_rows(frame(naive()))
    with pytest.raises(ValueError, match=r"'day'.*cannot hold.*nonsense"):
        rows.cast(0, ["nonsense"])
    with pytest.raises(TypeError, match="3 is no date"):
        rows.as_numbers(0, [3])


@pytest.mark.parametrize(
    ("low", "high", "unit", "text"),
    [
        (10, 11, "D", "1970-01-11"),
        (10, 20, "D", "1970-01-16"),
        (10.2, 12.4, "m", "1970-01-12"),
        (10.25, 10.75, "m", "1970-01-11 12"),
        (10.5, 10.5 + 1 / 1440, "m", "1970-01-11 12:00"),
        (0, 31, "M", "1970-01"),
    ],
)
def test_a_date_between_two(low, high, unit, text):
    date = date_between(low, high, np.dtype(f"M8[{unit}]"))
    assert low <= days(date) < high
    assert date_text(date) == text


def test_intervals_are_rounded_inward():
    low, high = dates_within(10.2, 20.9, np.dtype("M8[D]"))
    assert [date_text(low), date_text(high)] == ["1970-01-12", "1970-01-21"]
    assert np.isnat(dates_within(-np.inf, 3, np.dtype("M8[D]"))[0])
    assert_array_equal(as_dates([1.0, 2.0], None), [1.0, 2.0])

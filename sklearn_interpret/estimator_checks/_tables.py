"""The small tables that the checks work with, and estimators to fit on them."""

from __future__ import annotations

import importlib
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.sklearn_bases import DataFrame


# No feature may have as many distinct values as there are rows: in a result, an axis
# of this length is then an axis of rows.
N_ROWS = 60

# The rows that are explained: more would only take longer.
FEW_ROWS = slice(4)

NAMES = ("length", "width", "height", "count", "age")


def optional(library: str) -> Any:
    """The module of an optional library; the check is skipped where it is absent."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise SkipTest(f"{library} is not installed") from error


def numeric_table() -> NDArray[np.float64]:
    """Array of shape (N_ROWS, 5) of rounded, partly dependent numbers."""
    return _numeric_table().copy()


@cache
def _numeric_table() -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, len(NAMES)))
    X[:, 2] += X[:, 0]
    X[:, 3] = rng.integers(5, size=N_ROWS)
    X[:, 4] = rng.exponential(size=N_ROWS)
    return np.round(2 * X) / 2


def named_table(names: list[str] | tuple[str, ...] = NAMES) -> DataFrame:
    """:func:`numeric_table` as a pandas frame with an index of its own."""
    pandas = optional("pandas")
    index = [f"row {i}" for i in range(N_ROWS)]
    return pandas.DataFrame(numeric_table(), columns=list(names), index=index)


def mixed_columns() -> dict[str, Any]:
    """Columns of several kinds, as lists by name.

    As in the numeric table, a parameter may declare the fourth column categorical; the
    other four of the first five hold numbers.
    """
    rng = np.random.default_rng(1)
    numbers = numeric_table()
    return {
        "length": numbers[:, 0].tolist(),
        "count": rng.integers(4, size=N_ROWS).tolist(),
        "width": numbers[:, 2].tolist(),
        "size": rng.choice(["small", "large"], size=N_ROWS).tolist(),
        "age": numbers[:, 4].tolist(),
        "colour": rng.choice(["red", "green", "blue"], size=N_ROWS).tolist(),
        "known": (rng.random(N_ROWS) < 0.5).tolist(),
        "note": rng.choice(["a", "b"], size=N_ROWS).tolist(),
    }


TEXTS = ("size", "colour", "note")
_COLOURS = ["red", "blue", "grey", "green"]  # "grey" never occurs
_SIZES = ["small", "large"]


def mixed_frame(library: str, estimator: Any) -> Any:
    """A frame of many dtypes; without texts for an estimator that takes numbers only.

    Such an estimator has a true attribute `_takes_numbers_only`.
    """
    frame = {"pandas": pandas_mixed, "polars": polars_mixed}[library]()
    if not getattr(estimator, "_takes_numbers_only", False):
        return frame
    return frame[[name for name in frame.columns if name not in TEXTS]]


def pandas_mixed() -> DataFrame:
    """A pandas frame with small, whole-number, category, bool and text dtypes."""
    pandas = optional("pandas")
    dtypes = {
        "length": "float32",
        "count": "int8",
        "colour": pandas.CategoricalDtype(_COLOURS, ordered=True),
        "size": pandas.CategoricalDtype(_SIZES, ordered=True),
    }
    return pandas.DataFrame(mixed_columns()).astype(dtypes)


def polars_mixed() -> Any:
    """The same table as :func:`pandas_mixed`, in polars."""
    polars = optional("polars")
    dtypes = {
        "length": polars.Float32,
        "count": polars.Int8,
        "colour": polars.Enum(_COLOURS),
        "size": polars.Enum(_SIZES),
    }
    return polars.DataFrame(mixed_columns(), schema_overrides=dtypes)


def days(dates: list[Any]) -> NDArray[np.float64]:
    """Dates as days since 1970-01-01."""
    durations = np.asarray(dates, dtype="M8[us]") - np.datetime64(0, "D")
    return durations / np.timedelta64(1, "D")


def frames_of_dates_and_days() -> tuple[DataFrame, DataFrame]:
    """Two frames: the numeric table with its fourth column as dates, and as days."""
    pandas = optional("pandas")
    days = 19_700 + 100 * numeric_table()[:, 3].astype(int)
    of_days = pandas.DataFrame(numeric_table(), columns=list(NAMES))
    of_days["count"] = days
    return of_days.assign(count=days.astype("M8[D]").astype("M8[us]")), of_days


def target_for(estimator: Any) -> NDArray[np.float64]:
    """Targets for the rows of the tables: numbers, or two classes."""
    X = numeric_table()
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    return (y > np.median(y)).astype(int) if is_classifier(estimator) else y


def prepared(estimator: Any, /, **params: Any) -> Any:
    """A clone with fixed seeds, and with those of `params` that it has."""
    estimator = clone(estimator)
    accepted = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in params.items() if k in accepted})
    seeds = [
        name
        for name in estimator.get_params()
        if name == "random_state" or name.endswith("__random_state")
    ]
    return estimator.set_params(**dict.fromkeys(seeds, 0))


def without_draws(estimator: Any, /, **params: Any) -> Any:
    """A clone that uses every row and draws nothing at random, where it can."""
    level = signature(type(estimator)).parameters.get("confidence_level")
    if level is not None and level.default is None:  # intervals are optional
        params = {"confidence_level": None, **params}
    return prepared(estimator, subsample=1.0, **params)


def fitted(estimator: Any, X: Any = None, /, **params: Any) -> Any:
    """A prepared clone, fitted on rows; on the numeric table by default."""
    X = numeric_table() if X is None else X
    return prepared(estimator, **params).fit(X, target_for(estimator))

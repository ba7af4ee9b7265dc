"""Checks of an estimator whose fitted results are a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from sklearn_interpret.estimator_checks._results import assert_same, expect_error
from sklearn_interpret.estimator_checks._tables import (
    fitted,
    named_table,
    numeric_table,
    optional,
    prepared,
)

# Numbers, except those in a name such as "x0".
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?")


def check_tables_need_fit(estimator: Any) -> None:
    """Before `fit` there is no table, text or dict."""
    for name in ("to_frame", "to_text", "to_dict"):
        with expect_error(NotFittedError, doing=f"{name} before fit"):
            getattr(prepared(estimator), name)()


def check_frame_names_each_line(estimator: Any) -> None:
    """`to_frame` has columns of different names, and no line twice."""
    pandas = optional("pandas")
    for X in (numeric_table(), named_table()):
        table = fitted(estimator, X).to_frame()
        assert isinstance(table, pandas.DataFrame)
        assert len(table), "the table has no lines"
        assert all(isinstance(name, str) for name in table.columns)
        assert table.columns.is_unique, f"names twice: {list(table.columns)}"
        assert not table.reset_index().duplicated().any(), f"lines twice: {table}"


def check_numbers_of_the_text_are_in_the_frame(estimator: Any) -> None:
    """Each number of `to_text`, rounded as it is, is one of `to_frame`."""
    optional("pandas")
    model = fitted(estimator, named_table())
    table, text = model.to_frame(), model.to_text()
    entries = [*table.reset_index().to_numpy().ravel(), *table.attrs.values()]
    numbers = np.array([abs(float(n)) for n in _numbers_in(entries)])
    for number in _NUMBER.findall(text):
        step = 10.0 ** int(Decimal(number).as_tuple().exponent)
        is_near = np.abs(numbers - float(number)) <= 0.501 * step
        # A small p-value is a bound in the text: "< 0.0001".
        is_bound = f"< {number}" in text and (numbers < float(number)).any()
        assert is_near.any() or is_bound, f"{number} is in the text, not in the table"


def _numbers_in(entry: Any) -> Iterator[Any]:
    """Yield the numbers in an entry, also those in its texts."""
    if isinstance(entry, str):
        yield from _NUMBER.findall(entry.replace("\N{MINUS SIGN}", "-"))
    elif np.iterable(entry):
        for element in entry:
            yield from _numbers_in(element)
    elif isinstance(entry, int | float | np.number):
        yield entry


def check_dict_survives_json(estimator: Any) -> None:
    """`to_dict` has the lines of `to_frame`, names and versions, in strict JSON."""
    optional("pandas")
    model = fitted(estimator, named_table())
    content = model.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["names"]["features"] == model.feature_names_in_.tolist()
    assert content["versions"].keys() >= {"sklearn_interpret", "sklearn", "numpy"}
    table, lines = model.to_frame(), content["results"]
    assert len(lines) == len(table)
    for name, column in table.items():
        assert_same(
            [_none_if_not_finite(line[name]) for line in lines],
            [_none_if_not_finite(entry) for entry in column.astype(object)],
            f"results, {name}",
        )


def _none_if_not_finite(entry: Any) -> Any:
    """The entry, or None for a number that JSON does not have."""
    is_number = isinstance(entry, float | np.floating)
    missing = entry is None or str(entry) in ("<NA>", "NaT")
    return None if missing or (is_number and not np.isfinite(entry)) else entry

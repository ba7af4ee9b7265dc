"""Conditions on the columns of a table, as codes for searches and as users see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.rules.coded_conditions import CodedTable, merge_conditions
from sklearn_interpret._core.rules.coded_conditions import Condition as CodeInterval
from sklearn_interpret._model._sklearn_compat import warn
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.dates import date_between
from sklearn_interpret._model.rows.features import (
    resolve_categorical,
    untreatable_columns,
    warn_of_left_out,
)
from sklearn_interpret._model.rows.number_format import only_number
from sklearn_interpret.exceptions import IdentifierWarning
from sklearn_interpret.explanations import Condition

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Columns of at most this number of levels are never taken for identifiers: tables of a
# few rows are examples, whose levels are meant. Chosen by hand.
_MOST_LEVELS = 10


class ConditionSpace:
    """Columns of rows as codes, and conditions on codes as conditions on columns.

    Parameters
    ----------
    rows : Rows
        The rows of `fit`.
    categorical : ndarray of shape (n_columns,), bool
        Columns whose values are levels. Values of columns without numbers always are.

    Attributes
    ----------
    nominal : ndarray of shape (n_columns,), bool
        Columns whose values are levels.
    values : list of ndarray or list
        Known values of each column, in the order of their codes.
    table : CodedTable
        The codes.
    """

    def __init__(self, rows: Rows, categorical: NDArray[np.bool_]) -> None:
        self.names = rows.names
        self._date_dtypes = [rows.date_dtype(j) for j in range(rows.n_columns)]
        self.nominal = categorical | ~rows.are_numbers
        self.values: list[Any] = []
        codes = []
        left_out = untreatable_columns(rows, self.nominal)
        if left_out:
            warn_of_left_out(rows, left_out)
        for j, nominal in enumerate(self.nominal):
            values: Any
            if rows.column_array(j).dtype.kind == "c":
                raise ValueError(f"Complex data not supported: {self.names[j]!r}.")
            if j in left_out:  # of one level, on which there is no condition
                column_codes = np.zeros(rows.n_rows, dtype=np.intp)
                values = np.array([""])
            elif nominal:
                column_codes, values = rows.encode_column(j)
            else:
                values, column_codes = np.unique(rows.numbers(j), return_inverse=True)
            if len(values) and is_missing(values[-1]):
                values = values[:-1]
            self.values.append(values)
            codes.append(column_codes)
        self.table = self._table_of(codes)

    @classmethod
    def of_rows(cls, rows: Rows, categorical_features: Any) -> Self:
        """Conditions on rows, from the parameter `categorical_features`."""
        categorical = resolve_categorical(categorical_features, rows)
        space = cls(rows, categorical)
        # Columns that the user names are categories, whatever they hold.
        named = categorical & (not isinstance(categorical_features, str))
        if identifiers := space.leave_out_identifiers(~named):
            warn(
                f"Leave {', '.join(map(repr, identifiers))} out of X, or join levels: "
                "more than half as many levels as rows make an identifier, on which no "
                "rule holds for other rows. No conditions on it are sought.",
                IdentifierWarning,
            )
        return space

    def _table_of(self, codes: Sequence[NDArray[np.intp]]) -> CodedTable:
        n_values = np.array([len(values) for values in self.values])
        return CodedTable(np.stack(codes), n_values, self.nominal)

    def leave_out_identifiers(self, among: NDArray[np.bool_]) -> list[str]:
        """Make columns constant that have a level per row or two; return the names."""
        codes = self.table.codes.copy()
        names = []
        for j in np.flatnonzero(self.nominal & among):
            n_levels = len(np.unique(codes[j][codes[j] < len(self.values[j])]))
            if n_levels > max(_MOST_LEVELS, codes.shape[1] / 2):
                self.values[j], codes[j] = self.values[j][:1], 0
                names.append(self.names[j])
        if names:
            self.table = self._table_of(list(codes))
        return names

    def conditions(self, rule: list[CodeInterval]) -> tuple[Condition, ...]:
        """A rule of intervals of codes, as a tuple of `Condition`."""
        return tuple(self.condition(*interval) for interval in merge_conditions(rule))

    def condition(self, column: int, first: int, last: int) -> Condition:
        """An interval of codes, as a `Condition`."""
        return self.of_codes(column, range(first, last + 1))

    def of_codes(self, column: int, codes: NDArray[np.intp] | range) -> Condition:
        """Ascending codes as a `Condition`; codes of numbers have no gap."""
        values, name = self.values[column], self.names[column]
        first_code, last_code = codes[0], codes[-1]
        if first_code == len(values):
            return Condition(column, name, levels=(np.nan,))
        if self.nominal[column]:
            return Condition(column, name, levels=tuple(values[code] for code in codes))
        low, high, dtype = None, None, self._date_dtypes[column]
        if first_code:
            low = threshold(values[first_code - 1], values[first_code], dtype)
        if last_code + 1 < len(values):
            high = threshold(values[last_code], values[last_code + 1], dtype)
        only = None if dtype else only_number(values, low, high)
        return Condition(column, name, low=low, high=high, only=only)


def threshold(below: float, above: float, date_dtype: Any = None) -> Any:
    """A number near the middle of two numbers, with as few digits as possible.

    It is at least the first, and less than the second. Of days, it is a date.
    """
    if date_dtype is not None:
        return date_between(below, above, date_dtype)
    middle = below / 2 + above / 2
    for digits in range(1, 16):
        short = float(f"{middle:.{digits}g}")
        near = abs(short - middle) <= above / 4 - below / 4
        if near and below <= short < above:
            return short
    return float(middle if below <= middle < above else below)

"""Values of a feature in the explained rows, as positions and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.axes import label_text
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.dates import as_dates, as_objects
from sklearn_interpret._model.rows.features import feature_index, resolve_categorical
from sklearn_interpret._model.rows.number_format import column_texts, value_text
from sklearn_interpret._plotting.labels import AND, shorten

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret.explanations import BaseExplanation

NAME_LENGTH = 28  # characters of the names of an entry
VALUE_LENGTH = 18  # characters of its values
MISSING = label_text(np.nan)


@dataclass(frozen=True)
class FeatureValues:
    """A feature's values in the explained rows."""

    name: str  # the feature, or the column of it
    # Numbers of the feature (n_rows,), or positions of its levels; NaN if missing.
    numbers: NDArray[np.float64]
    # Levels in order, without the missing one; None for numbers.
    levels: list[Any] | None = None
    ordered: bool = True  # whether the values have an order
    date_dtype: np.dtype[Any] | None = None  # dtype of dates; the numbers are days

    @property
    def level_texts(self) -> list[str]:
        """Levels as texts on an axis; none for numbers."""
        return list(map(value_text, self.levels or []))

    def texts(self) -> NDArray[np.object_]:
        """Values as texts (n_rows,) on an axis."""
        texts = column_texts(self.numbers)
        if self.date_dtype is not None:
            texts = list(map(value_text, as_dates(self.numbers, self.date_dtype)))
        if self.levels is not None:
            levels = [*self.level_texts, ""]
            codes = np.where(self.is_observed, self.numbers, -1).astype(np.intp)
            texts = [levels[code] for code in codes]
        return np.array([text or MISSING for text in texts], dtype=object)

    @property
    def is_observed(self) -> NDArray[np.bool_]:
        """Which rows have a value."""
        return np.isfinite(self.numbers)

    def cells(self) -> NDArray[Any]:
        """Values for a table: numbers, dates, or levels with None for missing."""
        if self.levels is None:
            return as_dates(self.numbers, self.date_dtype)
        cells = np.empty(len(self.numbers), dtype=object)
        for row in np.flatnonzero(self.is_observed):
            cells[row] = self.levels[int(self.numbers[row])]
        return cells


class FeatureReader:
    """Reads features out of data: columns, groups of them, rules or linear terms.

    Parameters
    ----------
    explanation : Explanation or InteractionExplanation
        With or without data.
    categorical_features : "auto", None, bool mask or list, default="auto"
        Columns of the data that are categories.

    Attributes
    ----------
    n_rows : int
        Number of explained rows.
    has_data : bool
        Whether there are values to show.
    """

    def __init__(
        self, explanation: BaseExplanation, categorical_features: Any = "auto"
    ) -> None:
        self.n_rows = len(explanation)
        self._names = list(explanation.feature_names)
        self._are_columns = explanation.columns is None
        if explanation.columns is None:
            self._columns = [(j,) for j in range(len(self._names))]
        else:
            self._columns = explanation.columns
        self.has_data = explanation.data is not None
        if self.has_data:
            self._rows: Rows = as_rows(explanation.data)
            self._is_categorical = resolve_categorical(categorical_features, self._rows)

    def position(self, feature: int | str, parameter: str) -> int:
        """Position of a feature given by position or name."""
        return feature_index(feature, self._names, parameter=parameter)

    def is_group(self, feature: int) -> bool:
        """Whether the feature is a group of columns."""
        return len(self._columns[feature]) != 1

    def feature_values(self, feature: int) -> FeatureValues | None:
        """Values of the feature at a position; None without data, and for groups."""
        if not self.has_data or self.is_group(feature):
            return None
        (column,) = self._columns[feature]
        return self._column_values(column, self._names[feature])

    def joint_values(self, feature: int) -> FeatureValues:
        """Joint levels of the columns of a group."""
        return self._levels(self._columns[feature], self._names[feature], ordered=False)

    def any_values(self, feature: int) -> FeatureValues | None:
        """Values of the feature, or joint levels for a group of columns."""
        if self.is_group(feature):
            return self.joint_values(feature)
        return self.feature_values(feature)

    def members(self, feature: int) -> list[str]:
        """Names of the columns behind a feature."""
        return [self._rows.names[j] for j in self._columns[feature]]

    def member_values(
        self, feature: int, column: int | str, parameter: str
    ) -> FeatureValues:
        """Values of one column of a feature."""
        members, names = self._columns[feature], self.members(feature)
        index = feature_index(column, names, parameter=parameter)
        return self._column_values(members[index], names[index])

    def _column_values(self, column: int, name: str) -> FeatureValues:
        values = self._rows.column_array(column)
        if self._is_categorical[column] or values.dtype.kind not in "iuf":
            # Texts that the caller does not declare a category are ordered as texts.
            ordered = not self._is_categorical[column] or self._rows.is_ordered(column)
            return self._levels((column,), name, ordered=ordered)
        numbers = values.astype(np.float64)
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        return FeatureValues(name, numbers, date_dtype=self._rows.date_dtype(column))

    def _levels(
        self, columns: tuple[int, ...], name: str, *, ordered: bool
    ) -> FeatureValues:
        codes, labels, _ = self._rows.encode(columns)
        numbers = codes.astype(np.float64)
        if labels and is_missing(labels[-1]):
            numbers[codes == len(labels) - 1] = np.nan
            labels = labels[:-1]
        return FeatureValues(name, numbers, labels, ordered)

    def table(self, features: Sequence[int] | NDArray[np.intp]) -> NDArray[np.object_]:
        """Values of features for a table, None where there are none."""
        cells = np.full((self.n_rows, len(features)), None, dtype=object)
        for j, feature in enumerate(features):
            values = self.feature_values(feature)
            if values is not None:
                cells[:, j] = as_objects(values.cells())
        return cells

    def joint_entry_text(
        self, features: Sequence[int], row: int, *, in_full: bool = False
    ) -> str:
        """Features that act together, and their values in a row.

        Columns have values, "age = 3" ("age:sex = 3, f" together). A condition or a
        linear term has the value of its column, "age > 2 (3)". With `in_full` it is not
        shortened, and a rule of several conditions stands alone, "age > 2 and bmi > 1".
        """
        names = [self._names[feature] for feature in features]
        # A long name may take the letters that short names leave.
        n_free = NAME_LENGTH - sum(map(len, names))
        name = ":".join(
            shorten(each, max(NAME_LENGTH // len(names), n_free + len(each)))
            for each in names
        )
        if not self.has_data:
            return name
        columns = [column for feature in features for column in self._columns[feature]]
        displayed = map(self._rows.displayed, columns)
        texts = [value_text(values[row], values) for values in displayed]
        values = shorten(", ".join(texts), VALUE_LENGTH)
        column_names = [self._rows.names[column] for column in columns]
        is_rule_of_several_conditions = AND in names[0]
        if in_full and is_rule_of_several_conditions:
            return names[0]
        if self._are_columns or column_names == names or len(columns) > 1:
            return f"{name} = {values}"
        # The name is a condition, or a linear term.
        return f"{names[0] if in_full else name} ({values})"

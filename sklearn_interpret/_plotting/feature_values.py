"""Values of a feature in the explained rows, as positions and colours."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.axes import label_text
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.dates import as_objects, shown
from sklearn_interpret._model.rows.features import feature_index, resolve_categorical
from sklearn_interpret._model.rows.number_format import column_texts, value_text
from sklearn_interpret._plotting.labels import AND, shorten

NAME_LENGTH, VALUE_LENGTH = 28, 18
MISSING = label_text(np.nan)


@dataclass(frozen=True)
class FeatureValues:
    """A feature's values in the explained rows."""

    name: str  # the feature, or the column of it
    # Its numbers (n_rows,), or positions of its levels; NaN where missing.
    numbers: np.ndarray
    # Levels in order, without the missing one; None for numbers.
    levels: list | None = None
    ordered: bool = True  # whether low and high mean something
    date_dtype: Any = None  # of dates whose days the numbers are

    @property
    def level_texts(self):
        """Levels as texts on an axis."""
        return list(map(value_text, self.levels))

    def texts(self):
        """Values as texts (n_rows,) on an axis."""
        found = column_texts(self.numbers)
        if self.date_dtype is not None:
            found = list(map(value_text, shown(self.numbers, self.date_dtype)))
        if self.levels is not None:
            levels = [*self.level_texts, ""]
            places = np.where(self.known, self.numbers, -1).astype(np.intp)
            found = [levels[place] for place in places]
        return np.array([text or MISSING for text in found], dtype=object)

    @property
    def known(self):
        """Which rows have a value."""
        return np.isfinite(self.numbers)

    def cells(self):
        """Values for a table: numbers, dates, or levels with None for missing."""
        if self.levels is None:
            return shown(self.numbers, self.date_dtype)
        cells = np.empty(len(self.numbers), dtype=object)
        for row in np.flatnonzero(self.known):
            cells[row] = self.levels[int(self.numbers[row])]
        return cells


class FeatureReader:
    """Reads features out of an explanation's data.

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
    """

    def __init__(self, explanation, categorical_features="auto"):
        self.n_rows = len(explanation)
        self._names = list(explanation.feature_names)
        self._rows = None if explanation.data is None else as_rows(explanation.data)
        self._columns = explanation.columns
        self._are_columns = self._columns is None
        if self._are_columns:
            self._columns = [(j,) for j in range(len(self._names))]
        self._flags = None
        if self._rows is not None:
            self._flags = resolve_categorical(categorical_features, self._rows)

    @property
    def has_data(self):
        """Whether there are values to show."""
        return self._rows is not None

    def position(self, feature, parameter):
        """Position of a feature given by position or name."""
        return feature_index(feature, self._names, parameter=parameter)

    def is_group(self, feature):
        """Whether the feature is a group of columns."""
        return len(self._columns[feature]) != 1

    def feature_values(self, feature):
        """Values of the feature at a position; None without data, and for groups."""
        if self._rows is None or self.is_group(feature):
            return None
        (column,) = self._columns[feature]
        return self._column_values(column, self._names[feature])

    def joint_values(self, feature):
        """Joint levels of the columns of a group."""
        return self._levels(self._columns[feature], self._names[feature], ordered=False)

    def any_values(self, feature):
        """Values of the feature, or joint levels for a group of columns."""
        if self.is_group(feature):
            return self.joint_values(feature)
        return self.feature_values(feature)

    def members(self, feature):
        """Names of the columns behind a feature."""
        return [self._rows.names[j] for j in self._columns[feature]]

    def member_values(self, feature, column, parameter):
        """Values of one column of a feature."""
        members, names = self._columns[feature], self.members(feature)
        place = feature_index(column, names, parameter=parameter)
        return self._column_values(members[place], names[place])

    def _column_values(self, column, name):
        values = self._rows.column_array(column)
        if self._flags[column] or values.dtype.kind not in "iuf":
            ordered = not self._flags[column] or self._rows.is_ordered(column)
            return self._levels((column,), name, ordered=ordered)
        numbers = values.astype(np.float64)
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        return FeatureValues(name, numbers, date_dtype=self._rows.date_dtype(column))

    def _levels(self, columns, name, *, ordered):
        codes, labels, _ = self._rows.encode(columns)
        numbers = codes.astype(np.float64)
        if labels and is_missing(labels[-1]):
            numbers[codes == len(labels) - 1] = np.nan
            labels = labels[:-1]
        return FeatureValues(name, numbers, labels, ordered)

    def table(self, features):
        """Values of features for a table, None where there are none."""
        cells = np.full((self.n_rows, len(features)), None, dtype=object)
        for place, feature in enumerate(features):
            values = self.feature_values(feature)
            if values is not None:
                cells[:, place] = as_objects(values.cells())
        return cells

    def joint_entry_text(self, features, row, *, whole=False):
        """Features that act together, and their values in a row.

        With `whole`, conditions are not shortened, and rules of several stand alone.
        """
        names = [self._names[feature] for feature in features]
        # A long name may take the letters that short names leave.
        left = NAME_LENGTH - sum(map(len, names))
        name = ":".join(
            shorten(each, max(NAME_LENGTH // len(names), left + len(each)))
            for each in names
        )
        if self._rows is None:
            return name
        members = [c for feature in features for c in self._columns[feature]]
        columns = map(self._rows.shown, members)
        parts = [value_text(column[row], column) for column in columns]
        values = shorten(", ".join(parts), VALUE_LENGTH)
        own = [self._rows.names[column] for column in members]
        if whole and AND in names[0]:
            return names[0]
        if self._are_columns or own == names or len(members) > 1:
            return f"{name} = {values}"
        # The name is a condition, or a linear term.
        return f"{names[0] if whole else name} ({values})"

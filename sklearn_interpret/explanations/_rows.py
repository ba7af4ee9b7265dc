"""Explanations that are other rows: counterfactuals, adversarial examples."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.dates import as_objects, dates_within
from sklearn_interpret._model.rows.number_format import (
    as_decimal,
    decimal_text,
    entry_text,
    interval_text,
)
from sklearn_interpret.explanations._base import (
    FILLED,
    SHOWN_ROWS,
    BaseExplanation,
    counts_text,
    optional_library,
)
from sklearn_interpret.explanations._selection import take_rows


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation(BaseExplanation):
    """Rows with another answer of the model, for each explained row.

    Parameters
    ----------
    rows : {ndarray, sparse matrix, DataFrame} of n_found rows
        The rows found, in the container of the explained ones; unchanged values are
        exact copies.
    origin : array-like of shape (n_found,), int
        Position of the explained row of each row found; increasing.
    valid : array-like of shape (n_found,), bool
        Whether the row, as given here, satisfies the target; attacks also return rows
        that do not.
    distances : array-like of shape (n_found,)
        Distance of each row found from its explained row, in the unit of the method.
    status : array-like of shape (n_rows,), str
        For each explained row "found", "unchanged" (it satisfies the target already),
        "impossible" or "failed".
    predictions : array-like of shape (n_found[, n_outputs]), default=None
        The model's responses to the rows found.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows; required.
    feature_names : sequence of str, default=None
        A name for each feature; None means ``x0``, ``x1``...
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability"...
    target_name : str, default=None
        Name of the target.
    distance_name : str, default=None
        Norm and unit of the distances.
    reasons : array-like of shape (n_rows,), str, default=None
        Why nothing was found; empty otherwise.
    lower_bounds : array-like of shape (n_rows,), default=None
        Lower bounds of the distance of any row that satisfies the target, if the
        method proves them.
    optimal : array-like of shape (n_rows,), bool, default=None
        Whether the nearest row found is proved to be the nearest of all.
    low, high : array-like of shape (n_found, n_features), default=None
        Ends of a box around each row found, in which all points satisfy the target;
        equal to the row's value if there is no room, NaN for categories.
    beyond_data : array-like of shape (n_found, n_features), bool, default=None
        Mask of the changed values that are outside the range of the rows of `fit`, or
        are levels that these rows do not have.
    original_predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the explained rows.
    answers, original_answers : array-like of shape (n_found,) and (n_rows,), \
default=None
        The classes that the model predicts for the rows found, and for the explained
        rows; not always the classes of the largest response, for instance in one-vs-one
        votes.

    Raises
    ------
    ValueError
        If parts have inconsistent shapes.

    Notes
    -----
    ``explanation[index]`` selects explained rows, with all rows found for them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.explanations import RowExplanation
    >>> explanation = RowExplanation(
    ...     rows=np.array([[30.0, 2.5], [40.0, 2.0]]),
    ...     origin=[0, 0],
    ...     valid=[True, True],
    ...     distances=[0.5, 1.0],
    ...     status=["found", "failed"],
    ...     reasons=["", "no row of the target class within 100 steps"],
    ...     data=np.array([[30.0, 2.0], [25.0, 1.0]]),
    ...     feature_names=["age", "income"],
    ... )
    >>> explanation
    RowExplanation(n_rows=2, n_features=2, n_found=2)
    1 found, 1 failed
    >>> explanation.n_changed
    array([1, 1])
    >>> explanation.to_frame()[["row", "feature", "before", "after"]]
       row feature  before  after
    0    0  income     2.0    2.5
    1    0     age    30.0   40.0
    """

    rows: Any
    origin: NDArray[np.intp]
    valid: NDArray[np.bool_]
    distances: NDArray[np.float64]
    status: NDArray[np.object_]
    distance_name: str | None = field(default=None, kw_only=True)
    reasons: NDArray[np.object_] = field(default=FILLED, kw_only=True)
    lower_bounds: NDArray[np.float64] | None = field(default=None, kw_only=True)
    optimal: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    low: NDArray[np.float64] | None = field(default=None, kw_only=True)
    high: NDArray[np.float64] | None = field(default=None, kw_only=True)
    beyond_data: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    original_predictions: NDArray[np.float64] | None = field(default=None, kw_only=True)
    answers: NDArray[Any] | None = field(default=None, kw_only=True)
    original_answers: NDArray[Any] | None = field(default=None, kw_only=True)

    _objects: ClassVar[tuple[str, ...]] = ("status", "reasons")
    _facts_by_row = ("original_predictions", "status", "reasons", "lower_bounds")
    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *_objects,
        "original_predictions",
        "original_answers",
        "lower_bounds",
        "optimal",
    )
    _displays: ClassVar[str] = "CounterfactualDisplay and AdversarialDisplay"
    _arrays_by_found: ClassVar[tuple[str, ...]] = (
        "predictions",
        "answers",
        "valid",
        "distances",
        "low",
        "high",
        "beyond_data",
    )

    def __post_init__(self) -> None:
        if self.data is None:
            raise ValueError("data must hold the explained rows; got None.")
        rows_found, data = as_rows(self.rows), as_rows(self.data)
        n_rows, n_found, n_features = len(self), rows_found.n_rows, data.n_columns
        if rows_found.n_columns != n_features:
            raise ValueError(
                f"rows has {rows_found.n_columns} columns, but data has {n_features}."
            )
        self._set_objects()
        for name, dtype, *shape in (
            ("origin", np.intp, n_found),
            ("valid", bool, n_found),
            ("distances", float, n_found),
            ("optimal", bool, n_rows),
            ("lower_bounds", float, n_rows),
            ("low", float, n_found, n_features),
            ("high", float, n_found, n_features),
            ("beyond_data", bool, n_found, n_features),
            ("answers", None, n_found),
            ("original_answers", None, n_rows),
        ):
            if getattr(self, name) is not None:
                self._set_array(name, tuple(shape), dtype)
        within = (self.origin >= 0) & (self.origin < n_rows)
        if not within.all() or (np.diff(self.origin) < 0).any():
            raise ValueError(
                f"origin must hold increasing positions of the {n_rows} explained rows."
            )
        if hasattr(self.rows, "iloc") and hasattr(self.data, "iloc"):
            self._set("rows", self.rows.set_axis(self.data.index[self.origin]))
        self._check_common_fields(n_features, n_predictions=n_found)

    def __len__(self) -> int:
        """Return the number of explained rows."""
        return len(self.status)

    def _fields_of_rows(self, positions: NDArray[np.intp]) -> dict[str, Any]:
        """Fields of some explained rows, and of the rows found for them."""
        by_row = [np.flatnonzero(self.origin == position) for position in positions]
        n_found = [len(indices) for indices in by_row]
        indices_found = np.concatenate([np.empty(0, dtype=np.intp), *by_row])
        return {
            **super()._fields_of_rows(positions),
            **self._entries_of(self._arrays_by_found, indices_found),
            "rows": take_rows(self.rows, indices_found),
            "origin": np.repeat(np.arange(len(positions)), n_found),
        }

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Mask of the changed features of each row found: (n_found, n_features)."""
        before, after = as_rows(self.data).take(self.origin), as_rows(self.rows)
        changed = np.empty((after.n_rows, after.n_columns), dtype=bool)
        for j in range(after.n_columns):
            old, new = before.column_array(j), after.column_array(j)
            both_missing = (old != old) & (new != new)
            changed[:, j] = (old != new) & ~both_missing
        return changed

    @property
    def n_changed(self) -> NDArray[np.intp]:
        """Number of changed features of each row found: int, (n_found,)."""
        return self.changed.sum(axis=1)

    @property
    def perturbations(self) -> NDArray[np.float64]:
        """Change of each number of the rows found: (n_found, n_features).

        NaN for a changed category, 0 for an unchanged one.
        """
        before, after = as_rows(self.data).take(self.origin), as_rows(self.rows)
        perturbations = np.where(self.changed, np.nan, 0.0)
        for j in range(after.n_columns):
            if after.column_array(j).dtype.kind in "fiu":
                differences = after.numbers(j) - before.numbers(j)
                perturbations[:, j] = np.where(self.changed[:, j], differences, 0.0)
        return perturbations

    def to_frame(self) -> DataFrame:
        """Return the changes as a table, one row for each changed feature.

        Returns
        -------
        pandas.DataFrame
            Columns: "row" (`row_names` of the explained row), "status" (of that row),
            "counterfactual" (its number among those of the row), "feature", "before",
            "after"; "low" and "high" if there are boxes; "beyond_data" if known.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = optional_library("pandas", "RowExplanation.to_frame")
        index, feature = np.nonzero(self.changed)
        first_of_row = np.searchsorted(self.origin, self.origin)
        number_in_row = np.arange(len(self.origin)) - first_of_row
        names = np.array(self.feature_names, dtype=object)
        before, after = self._old_and_new(index, feature)
        columns = {
            "row": self.row_names[self.origin[index]],
            "status": self.status[self.origin[index]],
            "counterfactual": number_in_row[index],
            "feature": names[feature],
            "before": before,
            "after": after,
        }
        if self.low is not None and self.high is not None:
            box_ends = self.low[index, feature], self.high[index, feature]
            columns["low"], columns["high"] = self._days_as_dates(*box_ends, feature)
        if self.beyond_data is not None:
            columns["beyond_data"] = self.beyond_data[index, feature]
        table = pandas.DataFrame(columns).infer_objects()
        for name in ("before", "after"):
            # Missing levels next to dates are not missing dates.
            if table[name].dtype.kind in "mM" and table[name].isna().any():
                table[name] = pandas.Series(columns[name], dtype=object)
        return table

    def _old_and_new(
        self, indices: NDArray[np.intp], features: NDArray[np.intp]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Values before and after, objects, of some pairs of row found and feature."""
        before, after = as_rows(self.data), as_rows(self.rows)
        old, new = np.empty((2, len(indices)), dtype=object)
        for j in np.unique(features).tolist():
            cells = np.flatnonzero(features == j)
            rows_found = indices[cells]
            old[cells] = _as_objects(before.displayed(j)[self.origin[rows_found]])
            new[cells] = _as_objects(after.displayed(j)[rows_found])
        return old, new

    def _days_as_dates(
        self,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        features: NDArray[np.intp],
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Ends of intervals of some features; the ends of dates are objects."""
        rows = as_rows(self.rows)
        for j in np.unique(features).tolist():
            dtype = rows.date_dtype(j)
            if dtype is not None:
                low, high = low.astype(object), high.astype(object)
                for cell in np.flatnonzero(features == j):
                    low[cell], high[cell] = dates_within(low[cell], high[cell], dtype)
        return low, high

    def _size(self) -> str:
        n_features = as_rows(self.rows).n_columns
        n_rows, n_valid = len(self), np.count_nonzero(self.valid)
        return f"n_rows={n_rows}, n_features={n_features}, n_found={n_valid}"

    def _summary(self) -> list[str]:
        if not len(self):
            return []
        lines = [counts_text(self.status)]
        if self.beyond_data is not None and self.beyond_data.any():
            n_beyond = np.count_nonzero(self.beyond_data.any(axis=1))
            lines.append(f"{n_beyond} with values beyond the data")
        return lines

    def _after_text(self, index: int, feature: int, after: Any) -> str:
        """New value of a feature, or its interval in the box."""
        if self.low is not None and self.high is not None:
            box_low, box_high = self.low[index, feature], self.high[index, feature]
            if box_low < box_high:
                dtype = as_rows(self.rows).date_dtype(feature)
                return interval_text(box_low, box_high, date_dtype=dtype)
        return _value_text(after)

    def _html_table(self) -> tuple[list[str], list[list[str]]]:
        head = ["row", "status", "distance", "changes"]
        body = []
        for row in self._shown_rows:
            indices, name = np.flatnonzero(self.origin == row), str(self.row_names[row])
            if not len(indices):
                body.append([name, self.status[row], "", self.reasons[row]])
            for index in indices[:SHOWN_ROWS].tolist():
                features = np.flatnonzero(self.changed[index])
                old, new = self._old_and_new(np.full(len(features), index), features)
                changes = [
                    f"{self.feature_names[j]}: {_value_text(before)} → "
                    f"{self._after_text(index, j, after)}"
                    for j, before, after in zip(
                        features.tolist(), old, new, strict=True
                    )
                ]
                distance = entry_text(self.distances[index])
                body.append([name, self.status[row], distance, "; ".join(changes)])
        return head, body


def _value_text(entry: Any) -> str:
    """A number in all digits if they are few, else in four; other entries as text."""
    return decimal_text(entry) or entry_text(entry)


def _as_objects(values: NDArray[np.float64]) -> NDArray[Any]:
    """Entries of a column as objects; of float32 numbers the shortest decimals."""
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        values = np.array(list(map(as_decimal, values)), dtype=np.float64)
    return as_objects(values)

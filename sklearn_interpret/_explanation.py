"""Result of a local method: how much each feature gave to each prediction."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.rows.features import default_names

__all__ = ["Explanation"]

# A glance, not the data: how much of an explanation its HTML table shows.
_SHOWN_ROWS, _SHOWN_OUTPUTS, _SHOWN_FEATURES = 5, 5, 8


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Attributions of a model's responses to features, row by row.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        What each feature gave to each response, in the response's unit. The axis of
        outputs is there if several outputs are explained.
    base_values : array-like of shape (n_rows[, n_outputs])
        Where the attributions start from: the response without any feature.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature or group of features; None makes up ``x0``, ``x1``...
    output_names : sequence, default=None
        A class label or position for each output, one of them if `values` has no axis
        of outputs; None makes up positions.
    standard_errors : array-like of the shape of `values`, default=None
        Standard errors of sampled values; None where the values are exact.
    columns : sequence of sequences of int, default=None
        The columns of `data` behind each feature, for groups of features; None means
        column j for feature j.

    Raises
    ------
    ValueError
        Parts that do not fit each other, or that are not numbers.

    Notes
    -----
    ``explanation[index]`` takes rows. Whatever the index (an int, a slice, positions
    or a boolean mask), the result is an `Explanation` whose axis of rows is kept, so
    that ``explanation[0]`` has one row. Iterating gives such explanations of one row.

    Examples
    --------
    >>> from sklearn_interpret.base import Explanation
    >>> explanation = Explanation(
    ...     values=[[1.0, -3.0], [0.5, 2.0], [0.0, 1.0]],
    ...     base_values=[10.0, 10.0, 10.0],
    ...     predictions=[8.0, 12.5, 11.0],
    ...     feature_names=["age", "income"],
    ... )
    >>> explanation
    Explanation(n_rows=3, n_features=2)
    mean |value|: income 2, age 0.5
    >>> len(explanation), explanation[0].values.shape
    (3, (1, 2))
    >>> explanation.additivity_error()
    array([0., 0., 0.])
    >>> explanation[[True, False, True]].to_frame()
       age  income
    0  1.0    -3.0
    1  0.0     1.0
    """

    values: np.ndarray
    base_values: np.ndarray
    predictions: np.ndarray | None = field(default=None, kw_only=True)
    data: Any = field(default=None, kw_only=True)
    feature_names: Any = field(default=None, kw_only=True)
    output_names: Any = field(default=None, kw_only=True)
    standard_errors: np.ndarray | None = field(default=None, kw_only=True)
    columns: Sequence | None = field(default=None, kw_only=True)

    # Fields with an axis of rows; a subclass with more of them extends this.
    _arrays_by_row: ClassVar[tuple] = (
        "values",
        "base_values",
        "predictions",
        "standard_errors",
    )
    # What features are ranked by.
    _strength_name: ClassVar[str] = "value"

    def __post_init__(self):
        values = _numbers(self.values, "values")
        if values.ndim not in (2, 3):
            raise ValueError(
                f"values has the shape {values.shape}; (n_rows, n_features) or "
                "(n_rows, n_features, n_outputs) is needed."
            )
        by_row = (values.shape[0], *values.shape[2:])
        self._set("values", values)
        self._set_fitting("base_values", by_row)
        for name, shape in (("predictions", by_row), ("standard_errors", values.shape)):
            if getattr(self, name) is not None:
                self._set_fitting(name, shape)
        n_outputs = values.shape[2] if values.ndim == 3 else 1
        names = self.feature_names
        names = default_names(values.shape[1]) if names is None else names
        names = _names(names, "feature_names", values.shape[1])
        outputs = range(n_outputs) if self.output_names is None else self.output_names
        self._set("feature_names", tuple(map(str, names)))
        self._set("output_names", _names(outputs, "output_names", n_outputs))
        self._check_data()

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    def _set_fitting(self, name, shape):
        """Make a field an array of floats of the shape that `values` asks for."""
        self._set(name, _fitting(getattr(self, name), name, shape))

    def _check_data(self):
        """Check `data` and the columns of it that each feature stands for."""
        n_rows, n_features = self.values.shape[:2]
        if self.data is None:
            if self.columns is not None:
                raise ValueError("columns point into data, but data is None.")
            return
        rows = as_rows(self.data)
        if rows.n_rows != n_rows:
            raise ValueError(f"data has {rows.n_rows} rows, but values has {n_rows}.")
        if self.columns is None:
            if rows.n_columns != n_features:
                raise ValueError(
                    f"data has {rows.n_columns} columns, but values has {n_features} "
                    "features: pass the columns of each feature."
                )
            return
        columns = tuple(tuple(int(j) for j in members) for members in self.columns)
        if len(columns) != n_features:
            raise ValueError(
                f"columns has {len(columns)} entries, but values has {n_features} "
                "features."
            )
        for j in {j for members in columns for j in members}:
            if not 0 <= j < rows.n_columns:
                raise ValueError(
                    f"columns has the position {j}, but data has {rows.n_columns} "
                    "columns."
                )
        self._set("columns", columns)

    def __len__(self) -> int:
        """Return the number of explained rows."""
        return len(self.values)

    def __getitem__(self, index) -> "Explanation":
        """Return the explanation of some rows, their axis kept."""
        taken = _positions(index, len(self))
        changes = {
            name: getattr(self, name)[taken]
            for name in self._arrays_by_row
            if getattr(self, name) is not None
        }
        if self.data is not None:
            changes["data"] = self._data_rows(taken)
        return replace(self, **changes)

    def _data_rows(self, taken):
        """Rows of `data`; a pandas index stays with its rows."""
        if hasattr(self.data, "iloc"):
            return self.data.iloc[taken]
        return as_rows(self.data).take(taken).native

    def __iter__(self) -> Iterator["Explanation"]:
        """Go through the rows, as explanations of one row each."""
        return (self[row] for row in range(len(self)))

    def additivity_error(self) -> np.ndarray:
        """By how much base value and attributions together miss the predictions.

        Returns
        -------
        ndarray of shape (n_rows[, n_outputs])
            Base value plus sum of the attributions, minus prediction. Zero up to
            rounding for methods whose values share out the prediction.

        Raises
        ------
        ValueError
            The explanation was made without predictions.
        """
        if self.predictions is None:
            raise ValueError(
                "This explanation has no predictions to compare its sums with."
            )
        return self.base_values + self.values.sum(axis=1) - self.predictions

    def to_frame(self):
        """Return the attributions as a table, one row for each explained row.

        Returns
        -------
        pandas.DataFrame of shape (n_rows, n_features x n_outputs)
            A column for each feature; with several outputs one for each feature and
            output, under a two-level header. The index is that of `data`, if `data`
            is of pandas.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        pandas = _optional("pandas", "to_frame")
        columns = pandas.Index(self.feature_names, dtype=object)
        if self.values.ndim == 3:
            columns = pandas.MultiIndex.from_product(
                [self.feature_names, self.output_names], names=["feature", "output"]
            )
        has_index = isinstance(self.data, pandas.DataFrame | pandas.Series)
        index = self.data.index if has_index else None
        flat = self.values.reshape(len(self), len(columns))
        return pandas.DataFrame(flat, index=index, columns=columns)

    def to_shap(self):
        """Return the explanation as an object that the plots of shap take.

        Returns
        -------
        shap.Explanation
            With copies of all arrays. Without `data` where a feature is a group of
            columns, which shap cannot show.

        Raises
        ------
        ImportError
            shap is not installed.
        """
        shap = _optional("shap", "to_shap")
        several = self.values.ndim == 3
        return shap.Explanation(
            values=self.values.copy(),
            base_values=self.base_values.copy(),
            data=self._data_array(),
            feature_names=list(self.feature_names),
            output_names=[str(name) for name in self.output_names] if several else None,
            error_std=None
            if self.standard_errors is None
            else self.standard_errors.copy(),
        )

    def _feature_columns(self):
        """Columns of `data` behind each feature."""
        if self.columns is not None:
            return self.columns
        return tuple((j,) for j in range(self.values.shape[1]))

    def _data_array(self):
        """One value for each row and feature, or None where that cannot be."""
        members = self._feature_columns()
        if self.data is None or any(len(columns) != 1 for columns in members):
            return None
        rows = as_rows(self.data)
        parts = [rows.values(column) for (column,) in members]
        if any(part.dtype.kind not in "iufb" for part in parts):
            parts = [part.astype(object) for part in parts]
        return np.stack(parts, axis=1) if parts else np.empty((len(self), 0))

    def _by_strength(self):
        """Features from the largest mean absolute attribution down, and those means."""
        if not len(self):
            return np.arange(self.values.shape[1]), np.zeros(self.values.shape[1])
        strength = self._sizes().mean(axis=(0, *range(2, self.values.ndim)))
        return np.argsort(-strength, kind="stable"), strength

    def _sizes(self):
        """How much each attribution counts, whatever its sign."""
        return np.abs(self.values)

    def __repr__(self) -> str:
        n_rows, n_features = self.values.shape[:2]
        outputs = f", n_outputs={self.values.shape[2]}" if self.values.ndim == 3 else ""
        order, strength = self._by_strength()
        shown = [f"{self.feature_names[j]} {strength[j]:.3g}" for j in order[:5]]
        return (
            f"{type(self).__name__}(n_rows={n_rows}, n_features={n_features}{outputs})"
            + (
                f"\nmean |{self._strength_name}|: {', '.join(shown)}"
                if shown and n_rows
                else ""
            )
            + (", ..." if shown and n_rows and n_features > 5 else "")
        )

    def _repr_html_(self) -> str:
        """Return a table of the first rows and the strongest features."""
        n_rows, n_features = self.values.shape[:2]
        values = self.values if self.values.ndim == 3 else self.values[:, :, None]
        order = self._by_strength()[0][:_SHOWN_FEATURES]
        several = values.shape[2] > 1
        head = ["row", *(["output"] if several else []), "base value"]
        head += [self.feature_names[j] for j in order]
        body = []
        for row in range(min(n_rows, _SHOWN_ROWS)):
            entries = self._entries(row, order)
            for output in range(min(values.shape[2], _SHOWN_OUTPUTS)):
                cells = [
                    str(row),
                    *([str(self.output_names[output])] if several else []),
                ]
                cells.append(f"{self.base_values[row].reshape(-1)[output]:.4g}")
                cells += [
                    f"{values[row, j, output]:+.4g}{entry}"
                    for j, entry in zip(order, entries, strict=True)
                ]
                body.append(_html_row("td", cells))
        caption = (
            f"{type(self).__name__}: {n_rows} rows, {n_features} features, "
            f"{values.shape[2]} outputs; the first rows and outputs, and the features "
            "of the largest mean absolute value"
        )
        return (
            f"<table><caption>{escape(caption)}</caption>"
            f"<thead>{_html_row('th', head)}</thead>"
            f"<tbody>{''.join(body)}</tbody></table>"
        )

    def _entries(self, row, features):
        """What the data hold for some features of a row, as text to follow a value."""
        if self.data is None:
            return [""] * len(features)
        rows = as_rows(self.data).take(np.array([row]))
        members = self._feature_columns()
        return [
            f" ({', '.join(_entry_text(rows.values(c)[0]) for c in members[j])})"
            for j in features
        ]


def _numbers(values, name):
    """An array of floats."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error


def _fitting(values, name, shape):
    """An array of floats of the shape that `values` asks for."""
    array = _numbers(values, name)
    if array.shape != shape:
        raise ValueError(
            f"{name} has the shape {array.shape}; these values need {shape}."
        )
    return array


def _names(names, parameter, size):
    """Names as a tuple of the right length."""
    if isinstance(names, str):
        raise ValueError(
            f"{parameter} must be a sequence of names; got the string {names!r}."
        )
    names = tuple(names)
    if len(names) != size:
        raise ValueError(
            f"{parameter} has {len(names)} names; these values need {size}."
        )
    return names


def _positions(index, n_rows):
    """Positions of the rows that an index takes."""
    if isinstance(index, slice):
        return np.arange(n_rows)[index]
    taken = np.asarray(index)
    if taken.ndim == 1 and not taken.size:
        taken = taken.astype(np.intp)
    single = isinstance(index, Integral) and not isinstance(index, bool | np.bool_)
    listed = (
        taken.ndim == 1 and taken.dtype.kind in "iub" and not isinstance(index, tuple)
    )
    if not single and not listed:
        raise TypeError(
            "An explanation is indexed by rows: with an int, a slice, a sequence of "
            f"positions or a boolean mask; got {index!r}."
        )
    return np.atleast_1d(np.arange(n_rows)[taken])


def _optional(library, method):
    """Import an optional library when a method needs it."""
    try:
        return import_module(library)
    except ImportError as error:
        raise ImportError(
            f"Explanation.{method} needs {library}, which is not installed."
        ) from error


def _html_row(tag, cells):
    return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"


def _entry_text(entry):
    """An entry of the data in short."""
    if isinstance(entry, float | np.floating):
        return f"{entry:.4g}"
    return str(entry)

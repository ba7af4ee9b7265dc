"""Base of all explanations: rows, predictions, names, and their display."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import default_names
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret._model.rows.tables import json_value, versions
from sklearn_interpret.explanations._selection import names_of_rows, take_rows

# Most rows and outputs in the repr and the HTML table: what fits on a screen.
SHOWN_ROWS = 5
SHOWN_OUTPUTS = 5
# Most names in the repr: what fits in a line.
_SHOWN_IN_RANKING = 5
# Default of the fields that `__post_init__` fills: they are never None afterwards.
FILLED: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class BaseExplanation(ABC):
    """Base of the explanations that `explain` of an inspector returns.

    A subclass adds fields with results for each row, lists those with an axis of rows
    in `_arrays_by_row`, checks them in `__post_init__`, and defines its display
    (`to_frame`, `_size`, `_summary`, `_html_table`, `_caption`).

    Parameters
    ----------
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature; None means ``x0``, ``x1``...
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability", "log-odds"...
    target_name : str, default=None
        Name of the target.

    Examples
    --------
    >>> from sklearn_interpret.explanations import BaseExplanation, Explanation
    >>> explanation = Explanation([[1.0], [2.0]], [3.0, 3.0], feature_names=["age"])
    >>> isinstance(explanation, BaseExplanation)
    True
    >>> [len(row) for row in explanation], len(explanation[[True, False]])
    ([1, 1], 1)
    """

    predictions: NDArray[np.float64] | None = field(default=None, kw_only=True)
    data: Any = field(default=None, kw_only=True)
    feature_names: Sequence[str] = field(default=FILLED, kw_only=True)
    output_names: Sequence[Any] = field(default=FILLED, kw_only=True)
    response_name: str | None = field(default=None, kw_only=True)
    target_name: str | None = field(default=None, kw_only=True)

    _arrays_by_row: ClassVar[tuple[str, ...]] = ("predictions",)
    # Fields with an object for each row, of kinds that have `status` and `reasons`.
    _objects: ClassVar[tuple[str, ...]] = ()
    # What `to_dict` says of each explained row, besides its results.
    _facts_by_row: ClassVar[tuple[str, ...]] = ("predictions",)
    # The displays that draw it, in words.
    _displays: ClassVar[str] = "displays"

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of explained rows."""

    @abstractmethod
    def to_frame(self) -> DataFrame:
        """Return the explanation as a table.

        Returns
        -------
        pandas.DataFrame
            The index is that of `data`, if `data` is a pandas object.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dict that JSON can hold.

        Returns
        -------
        dict
            "class"; "names" of features, outputs, target and response; "units" of the
            numbers; "versions" of the libraries; "rows": a dict for each explained row
            with its name, its data and the model's response; and "results": a dict for
            each line of the table. Missing and infinite numbers are None.

        Raises
        ------
        ImportError
            pandas is not installed, and the results are not a number per feature.
        """
        names = {
            "features": self.feature_names,
            "outputs": self.output_names,
            "target": self.target_name,
            "response": self.response_name,
        }
        return json_value(
            {
                "class": type(self).__name__,
                "names": names,
                "units": self._units(),
                "versions": versions(),
                "rows": list(self._row_lines()),
                "results": list(self._lines()),
            }
        )

    def _units(self) -> dict[str, str | None]:
        """Unit of the numbers in columns of the results, by column."""
        return {}

    def _row_lines(self) -> Iterator[dict[str, Any]]:
        """Yield what is known of each explained row, by name."""
        facts = [name for name in self._facts_by_row if getattr(self, name) is not None]
        columns, texts = {}, None
        if len(getattr(self.data, "shape", ())) == 2:
            data = as_rows(self.data)
            columns = {name: data.displayed(j) for j, name in enumerate(data.names)}
        elif self.data is not None:
            texts = list(self.data)  # or images
        for row, label in enumerate(self.row_names):
            line = {"row": label} | {name: getattr(self, name)[row] for name in facts}
            if columns:
                line["data"] = {name: column[row] for name, column in columns.items()}
            elif texts is not None:
                line["data"] = texts[row]
            yield line

    def _lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the table, each by the names of columns."""
        table = self.to_frame()
        lines: Any = table.to_dict("records")
        for label, line in zip(table.index, lines, strict=True):
            yield line if "row" in table else {"row": label} | line

    @abstractmethod
    def _html_table(self) -> tuple[list[str], list[list[str]]]:
        """Head (list of str) and body (rows of str) of the HTML table."""

    @abstractmethod
    def _summary(self) -> list[str]:
        """Further lines of the repr."""

    def _size(self) -> str:
        """Numbers of rows, features and so on, for the repr."""
        return f"n_rows={len(self)}"

    def _caption(self) -> str:
        """Caption of the HTML table."""
        return f"{self._size()}; the first rows"

    @property
    def row_names(self) -> NDArray[Any]:
        """Label of each row in the index of a pandas `data`, else its position."""
        return names_of_rows(self.data, len(self))

    @property
    def _shown_rows(self) -> range:
        """Rows in the HTML table."""
        return range(min(len(self), SHOWN_ROWS))

    def _first_lines(self, text: Callable[[int], str]) -> list[str]:
        """The ``text(row)`` of each of the first rows, and "..." if there are more."""
        lines = [text(row) for row in self._shown_rows]
        return lines + ["..."] * (len(self) > SHOWN_ROWS)

    def _outcome(self, row: int) -> str:
        """Text of the status of a row and its reason."""
        return ": ".join(filter(None, [self.status[row], self.reasons[row]]))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _set_objects(self) -> None:
        """Make the fields in `_objects` arrays of objects, one for each row."""
        n_rows = len(self)
        if self.reasons is None:
            self._set("reasons", [""] * n_rows)
        for name in self._objects:
            entries = list(getattr(self, name))
            if len(entries) != n_rows:
                raise ValueError(
                    f"{name} has {len(entries)} entries; {n_rows} rows are explained."
                )
            array = np.empty(n_rows, dtype=object)
            array[:] = entries
            self._set(name, array)

    def _set_array(
        self, name: str, shape: tuple[int, ...], dtype: type | None = np.float64
    ) -> None:
        """Convert a field to an array, and check its shape."""
        array = checked_array(getattr(self, name), name, dtype)
        if array.shape != shape:
            raise ValueError(
                f"{name} has the shape {array.shape}; these values need {shape}."
            )
        self._set(name, array)

    def _name_features(self, names: Iterator[str]) -> int:
        """Let `feature_names` default to these names; return their number."""
        if self.feature_names is None:
            self._set("feature_names", tuple(dict.fromkeys(names)))
        return len(tuple(self.feature_names))

    def _check_common_fields(
        self,
        n_features: int,
        outputs: tuple[int, ...] | None = None,
        n_predictions: int | None = None,
    ) -> None:
        """Check the base's fields, and fill in names.

        `outputs` is the shape of a row's responses, by default that of the predictions.
        """
        original = getattr(self, "original_predictions", None)
        if outputs is None:
            responses: Any = self.predictions if original is None else original
            outputs = np.shape(responses)[1:]
        if original is not None:
            self._set_array("original_predictions", (len(self), *outputs))
        if self.predictions is not None:
            n_predictions = len(self) if n_predictions is None else n_predictions
            self._set_array("predictions", (n_predictions, *outputs))
        n_outputs = outputs[0] if outputs else 1
        names: Iterable[Any] = self.feature_names
        names = default_names(n_features) if names is None else names
        names = checked_names(names, "feature_names", n_features)
        self._set("feature_names", tuple(map(str, names)))
        labels: Iterable[Any] = self.output_names
        labels = range(n_outputs) if labels is None else labels
        self._set("output_names", checked_names(labels, "output_names", n_outputs))
        if self.data is not None:
            shape = getattr(self.data, "shape", None)
            n_rows = shape[0] if shape else len(self.data)
            if n_rows != len(self):
                raise ValueError(
                    f"data has {n_rows} rows; {len(self)} rows are explained."
                )

    def __getattr__(self, name: str) -> Any:
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name == "plot":
            message += f": it is drawn by `from_explanation` of {self._displays}"
        raise AttributeError(message, name=name, obj=self)

    def __getitem__(self, index: Any) -> Self:
        """Return the explanation of some rows, their axis kept."""
        return replace(self, **self._fields_of_rows(row_positions(index, len(self))))

    def _fields_of_rows(self, positions: NDArray[np.intp]) -> dict[str, Any]:
        """The fields that differ for these rows alone: arguments of `replace`."""
        fields = self._entries_of(self._arrays_by_row, positions)
        if self.data is not None:
            fields["data"] = take_rows(self.data, positions)
        return fields

    def _entries_of(
        self, names: tuple[str, ...], positions: NDArray[np.intp]
    ) -> dict[str, Any]:
        """Entries at positions of the named arrays, without those that are None."""
        present = [name for name in names if getattr(self, name) is not None]
        return {name: getattr(self, name)[positions] for name in present}

    def __iter__(self) -> Iterator[Self]:
        """Iterate over the rows, as explanations of one row each."""
        return (self[row] for row in range(len(self)))

    def _frame_by_row(
        self, entries: NDArray[np.float64] | dict[str, Any], columns: Any = None
    ) -> DataFrame:
        """A table with one row per explained row, and the index of `data`."""
        pandas = optional_library("pandas", f"{type(self).__name__}.to_frame")
        has_index = isinstance(self.data, pandas.DataFrame | pandas.Series)
        index = self.data.index if has_index else None
        return pandas.DataFrame(entries, index=index, columns=columns).infer_objects()

    def _frame_of_values(self, names: Sequence[str], kind: str) -> DataFrame:
        """`values` (n_rows, n[, k]) as a table, a column for each name and output."""
        pandas = optional_library("pandas", f"{type(self).__name__}.to_frame")
        columns = pandas.Index(names, dtype=object)
        if self.values.ndim == 3:
            columns = pandas.MultiIndex.from_product(
                [names, self.output_names], names=[kind, "output"]
            )
        return self._frame_by_row(self.values.reshape(len(self), len(columns)), columns)

    def _table_of_values(
        self,
        names: Sequence[str],
        order: NDArray[np.intp],
        notes: Callable[[int], Iterable[str]],
    ) -> tuple[list[str], list[list[str]]]:
        """Head and body of the HTML table of values (n_rows, n[, k]) in an order.

        ``notes(row)`` are texts that follow the values of a row.
        """
        n_outputs = len(self.output_names)
        values = self.values.reshape(*self.values.shape[:2], n_outputs)
        base_values = self.base_values.reshape(len(self), n_outputs)
        several = n_outputs > 1
        ordered_names = [names[k] for k in order]
        head = ["row", *(["output"] if several else []), "base value", *ordered_names]
        body = []
        for row in self._shown_rows:
            texts = list(notes(row))
            for output in range(min(n_outputs, SHOWN_OUTPUTS)):
                name = [str(self.output_names[output])] if several else []
                cells = [
                    f"{entry_text(values[row, k, output], signed=True)}{text}"
                    for k, text in zip(order, texts, strict=True)
                ]
                base_value = entry_text(base_values[row, output])
                body.append([str(self.row_names[row]), *name, base_value, *cells])
        return head, body

    def __repr__(self) -> str:
        head = f"{type(self).__name__}({self._size()})"
        return "\n".join([head, *self._summary()])

    def _repr_html_(self) -> str:
        """Return a table of the first rows."""
        head, body = self._html_table()
        caption = f"{type(self).__name__}: {self._caption()}"
        lines = "".join(_row_html("td", cells) for cells in body)
        return (
            f"<table><caption>{escape(caption)}</caption>"
            f"<thead>{_row_html('th', head)}</thead><tbody>{lines}</tbody></table>"
        )


def checked_array(
    values: ArrayLike, name: str, dtype: type | None = np.float64
) -> NDArray[Any]:
    """Values as an array of a dtype; the error names the field."""
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error


def checked_names(names: Iterable[Any], parameter: str, size: int) -> tuple[Any, ...]:
    """Names as a tuple of length `size`."""
    if isinstance(names, str):
        raise ValueError(
            f"{parameter} must be a sequence of names; got the string {names!r}."
        )
    checked = tuple(names)
    if len(checked) != size:
        raise ValueError(
            f"{parameter} has {len(checked)} names; these values need {size}."
        )
    return checked


def row_positions(index: Any, n_rows: int) -> NDArray[np.intp]:
    """Positions of the rows that an index selects."""
    if isinstance(index, slice):
        return np.arange(n_rows)[index]
    positions = np.asarray(index)
    if positions.ndim == 1 and not positions.size:
        positions = positions.astype(np.intp)
    is_single = isinstance(index, Integral) and not isinstance(index, bool | np.bool_)
    listed = positions.ndim == 1 and positions.dtype.kind in "iub"
    if not is_single and (not listed or isinstance(index, tuple)):
        raise TypeError(
            "An explanation is indexed by rows: with an int, a slice, a sequence of "
            f"positions or a boolean mask; got {index!r}."
        )
    return np.atleast_1d(np.arange(n_rows)[positions])


def optional_library(library: str, method: str) -> Any:
    """Import an optional library when a method needs it."""
    try:
        return import_module(library)
    except ImportError as error:
        raise ImportError(
            f"{method} needs {library}, which is not installed."
        ) from error


class Markup(str):
    """A string that is HTML already, and is not escaped."""


def _row_html(tag: str, cells: Iterable[str]) -> str:
    texts = [cell if isinstance(cell, Markup) else escape(cell) for cell in cells]
    return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"


def ranking_text(
    names: Sequence[str], means: NDArray[np.float64], order: NDArray[np.intp]
) -> str:
    """The first names of an order, each with its mean."""
    texts = [f"{names[k]} {entry_text(means[k], 3)}" for k in order[:_SHOWN_IN_RANKING]]
    return ", ".join(texts + ["..."] * (len(order) > _SHOWN_IN_RANKING))


def sizes_text(shape: tuple[int, ...], *names: str) -> str:
    """Sizes of the axes of an array, by name."""
    return ", ".join(f"{name}={size}" for name, size in zip(names, shape, strict=False))


def counts_text(words: Iterable[str]) -> str:
    """Counts of each word, the most frequent first."""
    return ", ".join(f"{n} {word}" for word, n in Counter(words).most_common())

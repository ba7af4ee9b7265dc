"""Tables of results: points of effects, plain text, and what JSON can hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.number_format import (
    MINUS,
    column_texts,
    entry_text,
    p_text,
)

# Columns by name, each an entry for each line, or one for all lines.
Block = dict[str, Any]


def with_outputs(values: ArrayLike, n_axes: int) -> NDArray[np.float64]:
    """The array with an axis of outputs in front."""
    values = np.asarray(values, dtype=np.float64)
    return values[None] if values.ndim == n_axes else values


def effect_blocks(
    names: Sequence[str],
    points: Sequence[Any],
    numbers: Mapping[str, Any],
    outputs: Sequence[Any],
    rows: Any = None,
    **constants: Any,
) -> list[Block]:
    """Lines of the effect of one feature or two, for each output.

    Parameters
    ----------
    names : sequence of str
        The features.
    points : sequence of array-like
        Points along each feature.
    numbers : dict of str to ndarray of shape (k, [n,] G[, G2])
        Numbers at the points, the second axis fastest.
    outputs : sequence
        Names of the k outputs.
    rows : array-like of shape (n,), default=None
        Rows that have curves of their own.
    **constants : object
        Columns of one value.
    """
    grids = [np.ravel(grid) for grid in np.meshgrid(*points, indexing="ij")]
    fixed: Block = dict(zip(("feature", "feature2"), names, strict=False)) | constants
    if rows is not None:
        fixed["row"] = np.repeat(rows, len(grids[0]))
        grids = [np.tile(grid, len(rows)) for grid in grids]
    fixed |= zip(("x", "x2"), grids, strict=False)
    blocks = []
    for output, name in enumerate(outputs):
        columns = {column: values[output].ravel() for column, values in numbers.items()}
        blocks.append({**fixed, "output": name, **columns})
    return blocks


def lines_of(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the lines of blocks below each other, each with the names of all columns.

    What a block lacks is None.
    """
    names = list(dict.fromkeys(chain.from_iterable(blocks)))
    for block in blocks:
        columns = [as_objects(block.get(name)) for name in names]
        for line in zip(*np.broadcast_arrays(*columns), strict=True):
            yield dict(zip(names, line, strict=True))


def as_objects(values: Any) -> NDArray[Any]:
    """One entry, or a sequence of entries, as an array of objects."""
    if isinstance(values, str) or not np.iterable(values):
        values = [values]
    array = np.empty(len(values), dtype=object)
    array[:] = values if isinstance(values, list) else list(values)
    return array


def text_table(
    blocks: Sequence[Block], digits: int = 4, own_units: Collection[str] = ()
) -> str:
    """A table as plain text: texts to the left, numbers to the right.

    Parameters
    ----------
    blocks : list of dict of str to array-like
        The table.
    digits : int, default=4
        Significant digits of the largest number of a column.
    own_units : collection of str, default=()
        Columns whose numbers have different units: each has its own digits.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.tables import text_table
    >>> print(text_table([{"term": ["age", "bmi"], "coef": [0.5, -12.25]}]))
    term   coef
    age    0.50
    bmi  -12.25
    """
    lines = list(lines_of(blocks))
    columns = []
    for name in lines[0] if lines else ():
        entries = [line[name] for line in lines]
        texts, is_number = _texts_of_column(name, entries, digits, name in own_units)
        width = max(map(len, [name, *texts]))
        align = str.rjust if is_number else str.ljust
        columns.append([align(text, width) for text in (name, *texts)])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def text_of_facts(facts: Mapping[str, Any], digits: int) -> str:
    """A line for each name and its number or words."""
    width = max(map(len, facts), default=0)
    lines = []
    for name, fact in facts.items():
        texts = [entry_text(entry, digits) for entry in as_objects(fact)]
        lines.append(f"{name:<{width}}  {', '.join(texts)}")
    return "\n".join(lines)


def _texts_of_column(
    name: str, entries: Sequence[Any], digits: int, own_unit: bool
) -> tuple[list[str], bool]:
    """Texts of the entries of a column, and whether they are numbers."""
    present = [entry for entry in entries if not is_missing(entry)]
    if any(isinstance(e, bool | np.bool_) or not isinstance(e, Real) for e in present):
        texts = ["" if is_missing(e) else entry_text(e, digits) for e in entries]
        return [text.replace(MINUS, "-") for text in texts], False
    numbers = [np.nan if is_missing(entry) else float(entry) for entry in entries]
    if name.endswith("pvalue"):
        texts = [p_text(p).removeprefix("p ").removeprefix("= ") for p in numbers]
    elif own_unit:
        texts = ["" if np.isnan(x) else entry_text(x, digits) for x in numbers]
    else:
        texts = column_texts(numbers, digits)
    return [text.replace(MINUS, "-") for text in texts], True


def json_value(value: Any) -> Any:
    """A value made of what JSON can hold: NaN and infinity become None.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._model.rows.tables import json_value
    >>> json_value({"x": np.array([1.0, np.nan]), ("a", "b"): np.int64(2)})
    {'x': [1.0, None], 'a, b': 2}
    """
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if np.isfinite(number) else None
    if isinstance(value, Mapping):
        return {_key_text(key): json_value(entry) for key, entry in value.items()}
    if is_dataclass(value):
        return {f.name: json_value(getattr(value, f.name)) for f in fields(value)}
    if np.iterable(value) and not isinstance(value, str | bytes):
        return [json_value(entry) for entry in value]
    return str(value)


def _key_text(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def versions(*names: str) -> dict[str, str]:
    """Versions of this library, of scikit-learn and numpy, and of other libraries."""
    names = ("sklearn_interpret", "sklearn", "numpy", *names)
    return {name: import_module(name).__version__ for name in names}

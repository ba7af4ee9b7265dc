"""Frames and dicts as plain arrays, texts and lists, for formats without pickle.

skops saves estimators by their state, and knows neither data frames nor dicts with
tuples as keys.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.dates import is_missing

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Plain:
    """An object as the arguments of the function that makes it again.

    Parameters
    ----------
    kind : str
        Key of `_MAKERS`.
    content : list
        Arrays, texts, numbers and bytes, and lists and dicts of such objects.
    """

    kind: str
    content: list[Any]


class PlainState:
    """Mixin of objects that hold native containers: their state is plain."""

    def __getstate__(self) -> dict[str, Any]:
        return to_plain(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(from_plain(state))


def to_plain(value: Any) -> Any:
    """The value with frames and dicts inside as `Plain`, other objects as they are."""
    if type(value) in (list, tuple):
        return type(value)(map(to_plain, value))
    if type(value) is dict:
        values = [to_plain(member) for member in value.values()]
        if all(isinstance(key, str) for key in value):
            return dict(zip(value, values, strict=True))
        return Plain("dict", [list(value), values])
    pandas, polars = map(sys.modules.get, ("pandas", "polars"))
    if polars is not None and isinstance(value, polars.DataFrame | polars.Series):
        is_frame, file = isinstance(value, polars.DataFrame), io.BytesIO()
        (value if is_frame else value.to_frame()).write_ipc(file)
        return Plain("polars", [file.getvalue(), is_frame])
    if pandas is not None:
        try:
            return _plain_pandas(pandas, value)
        except TypeError:  # a dtype that cannot be written down: pickle takes it
            return value
    return value


def from_plain(value: Any) -> Any:
    """The value that `to_plain` made plain."""
    if type(value) in (list, tuple):
        return type(value)(map(from_plain, value))
    if type(value) is dict:
        return {key: from_plain(member) for key, member in value.items()}
    if isinstance(value, Plain):
        return _MAKERS[value.kind](*from_plain(value.content))
    return value


def _plain_pandas(pandas: Any, value: Any) -> Any:
    """Frames, indices and arrays of pandas as `Plain`, others as they are."""
    if type(value) is pandas.DataFrame:
        columns = [_plain_array(column) for _, column in value.items()]
        axes = map(_plain_index, (value.columns, value.index))
        return Plain("pandas", [*axes, columns])
    if isinstance(value, pandas.Index):
        return _plain_index(value)
    if isinstance(value, pandas.arrays.NumpyExtensionArray):
        return Plain("vector", [value.to_numpy()])
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        return Plain("vector", [_plain_array(pandas.Series(value))])
    return value


def _plain_index(index: Any) -> Plain:
    """An Index of pandas as `Plain`; a TypeError for kinds that are not plain."""
    pandas = sys.modules["pandas"]
    if type(index) is pandas.RangeIndex:
        return Plain("range", [index.start, index.stop, index.step, index.name])
    if type(index) is not pandas.Index:
        raise TypeError(f"{type(index).__name__} has no plain form.")
    return Plain("index", [_plain_array(index), index.name])


def _plain_array(column: Any) -> NDArray[Any] | Plain:
    """Values of a Series or Index; a TypeError for dtypes that no name determines."""
    pandas, dtype = sys.modules["pandas"], column.dtype
    if isinstance(dtype, np.dtype):
        return column.to_numpy()
    if isinstance(dtype, pandas.CategoricalDtype):
        levels = _plain_index(dtype.categories)
        return Plain("category", [column.array.codes, levels, dtype.ordered])
    if isinstance(dtype, pandas.SparseDtype):
        return Plain("sparse", [np.asarray(column), dtype.fill_value])
    values = [None if is_missing(v) else v for v in column.astype(object)]
    if isinstance(dtype, pandas.ArrowDtype):
        schema = sys.modules["pyarrow"].schema([("", dtype.pyarrow_dtype)])
        return Plain("arrow", [values, schema.serialize().to_pybytes()])
    if pandas.api.types.pandas_dtype(str(dtype)) != dtype:
        raise TypeError(f"{dtype} has no plain form.")
    return Plain("array", [values, str(dtype)])


def _make_pandas_frame(columns: Any, index: Any, arrays: list[Any]) -> DataFrame:
    """A frame of arrays, each in its dtype."""
    pandas = import_module("pandas")
    # Without a dtype, pandas would infer strings from objects that are texts.
    series = [pandas.Series(array, index, array.dtype) for array in arrays]
    frame = pandas.DataFrame(dict(enumerate(series)), index)
    frame.columns = columns
    return frame


def _make_index(array: Any, name: Any) -> Any:
    kind = import_module("pandas").Index
    return kind(array, dtype=array.dtype, name=name, tupleize_cols=False)


def _make_polars(file: bytes, is_frame: bool) -> Any:
    frame = import_module("polars").read_ipc(io.BytesIO(file))
    return frame if is_frame else frame.to_series()


def _make_category(codes: NDArray[np.intp], levels: Any, ordered: bool) -> Any:
    kind = import_module("pandas").Categorical
    return kind.from_codes(codes, levels, ordered=ordered)


def _make_sparse(values: NDArray[Any], fill_value: Any) -> Any:
    kind = import_module("pandas").arrays.SparseArray
    return kind(values, fill_value=fill_value)


def _make_arrow(values: list[Any], schema: bytes) -> Any:
    pandas, pyarrow = import_module("pandas"), import_module("pyarrow")
    dtype = pyarrow.ipc.read_schema(pyarrow.py_buffer(schema)).field(0).type
    return pandas.array(values, dtype=pandas.ArrowDtype(dtype))


_MAKERS: dict[str, Callable[..., Any]] = {
    "dict": lambda keys, values: dict(zip(keys, values, strict=True)),
    "polars": _make_polars,
    "pandas": _make_pandas_frame,
    "vector": lambda a: import_module("pandas").Series(a, dtype=a.dtype).array,
    "range": lambda *content: import_module("pandas").RangeIndex(*content),
    "index": _make_index,
    "category": _make_category,
    "sparse": _make_sparse,
    "arrow": _make_arrow,
    "array": lambda *content: import_module("pandas").array(*content),
}

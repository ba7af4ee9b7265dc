"""Rows of arrays and of sparse matrices; the choice of a container's `Rows` class."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from sklearn_interpret._model.rows.base import (
    ArrayTiles,
    Codes,
    Rows,
    Tiles,
    checked_cast,
    plain_list,
)
from sklearn_interpret._model.rows.dates import (
    Dates,
    clock_of_objects,
    is_date,
    python_dates,
)
from sklearn_interpret._model.rows.frames import PandasRows, PolarsRows
from sklearn_interpret._model.rows.lazy import is_dask

_ROWS_IN_PARTITIONS = (
    " The rows of X are in partitions: transform of a Dask collection is lazy; explain "
    "takes partitions one by one, and Explanation.concatenate joins the results. fit "
    "takes partitions where it adds up over rows (see the guide), and else a sample, "
    "such as compute() of some partitions."
)


class _OneDtypeRows(Rows):
    """Rows whose columns have one dtype."""

    def dtype(self, j: int) -> Any:
        """The dtype of all columns."""
        return self.native.dtype

    def cast_columns(self, dtypes: dict[int, Any]) -> Self:
        """The rows in the dtype of the columns."""
        if all(dtype == self.native.dtype for dtype in dtypes.values()):
            return self
        return type(self)(self.native.astype(next(iter(dtypes.values()))))


class ArrayRows(_OneDtypeRows):
    """Rows of a numpy array."""

    @property
    def row_bytes(self) -> int:
        """Memory of a row."""
        return max(self.native.itemsize * self.n_columns, 1)

    def take(self, index: NDArray[np.intp] | list[int]) -> Self:
        """Rows at `index`."""
        return type(self)(self.native[index])

    def sliced(self, rows: slice) -> Self:
        """Rows of a slice, not copied."""
        return type(self)(self.native[rows])

    def keep_columns(self, columns: NDArray[np.intp] | Sequence[int]) -> Self:
        """Some of the columns."""
        return type(self)(self.native[:, columns])

    def _number_arrays(self) -> Iterable[Any]:
        return [self.native]

    def mix(self, index: NDArray[np.intp], donors: dict[int, NDArray[np.intp]]) -> Any:
        """Rows whose columns come from several rows, without the copy in `Tiles`."""
        mixed = self.native[index]
        for j, sources in donors.items():
            mixed[:, j] = self.native[sources, j]
        return mixed

    def followed_by(self, rows: Rows) -> Self:
        """These rows, then `rows`; numbers and texts together become objects."""
        below = rows.native
        if not isinstance(rows, ArrayRows):
            below = [rows.column_array(j) for j in range(rows.n_columns)]
            below = np.stack(below, axis=1)
        if (self.native.dtype.kind in "US") != (below.dtype.kind in "US"):
            below = below.astype(object)
        return type(self)(np.concatenate([self.native, below]))

    def blend(
        self, n_background: int, donors: NDArray[np.intp], present: NDArray[np.bool_]
    ) -> Any:
        """Copies of the first rows, with some columns taken from a later row."""
        # Column by column: writes to contiguous memory are fastest.
        blended = np.empty(
            (self.n_columns, len(donors), n_background), self.native.dtype
        )
        for j, column in enumerate(blended):
            column[:] = self.native[:n_background, j]
            copies = np.flatnonzero(present[:, j])
            column[copies] = self.native[donors[copies], j, None]
        return blended.reshape(self.n_columns, -1).T

    def column(self, j: int) -> Any:
        """Column `j`."""
        return self.native[:, j]

    def _dates_of(self, vector: Any) -> Dates | None:
        clock = clock_of_objects(vector) if vector.dtype.kind == "O" else vector
        return Dates(clock) if clock is not None and is_date(clock) else None

    def _cast_dates(self, j: int, clock: NDArray[Any]) -> Any:
        """Dates in the array's dtype."""
        if self.native.dtype.kind != "O":
            return clock.astype(self.native.dtype)
        cast = np.empty(len(clock), dtype=object)
        cast[:] = python_dates(clock, self.native[:, j])
        return cast

    def _plain_values(self, j: int) -> NDArray[Any]:
        """Column `j`; objects that are all numbers become floats."""
        column = self.native[:, j]
        if column.dtype.kind in "US":
            return column.astype(object)
        if column.dtype.kind == "O" and not self.is_categorical(j):
            try:
                return column.astype(np.float64)
            except (TypeError, ValueError, OverflowError):
                return column
        return column

    def is_categorical(self, j: int) -> bool:
        """Strings and booleans are categories; numbers never are."""
        kind = self.native.dtype.kind
        if kind == "O":
            return any(isinstance(v, str | bool | np.bool_) for v in self.native[:, j])
        return kind in "USb"

    def _cast(self, j: int, values: NDArray[Any] | Sequence[Any]) -> Any:
        """`values` in the array's dtype."""
        if self.native.dtype.kind in "US":
            cast = np.asarray(plain_list(values), dtype=self.native.dtype.kind)
            return cast.astype(np.result_type(cast, self.native.dtype))
        if self.native.dtype.kind == "O":
            cast = np.empty(len(values), dtype=object)
            cast[:] = plain_list(values)
            return cast
        return checked_cast(values, self.native.dtype, self.names[j])

    def tiles(self, start: int, stop: int, repeats: int) -> Tiles:
        """A work array of repeated rows."""
        return ArrayTiles(self.native[start:stop], repeats)


class SparseRows(_OneDtypeRows):
    """Rows of a scipy sparse matrix or array."""

    def __init__(self, native: Any) -> None:
        super().__init__(native)
        # Perturbed rows are not diagonal, and scipy would warn.
        self._format = "csr" if native.format == "dia" else native.format

    @cached_property
    def _csr(self) -> Any:
        return self.native.tocsr()

    @cached_property
    def _csc(self) -> Any:
        return self.native.tocsc()

    @property
    def row_bytes(self) -> int:
        """Memory of an average row: value and index of each stored entry."""
        return 16 * (self._csr.nnz // max(self.n_rows, 1) + 1)

    def take(self, index: NDArray[np.intp] | list[int]) -> Self:
        """Rows at `index`, in the same format."""
        return type(self)(self._csr[index].asformat(self._format))

    def keep_columns(self, columns: NDArray[np.intp] | Sequence[int]) -> Self:
        """Some of the columns, in the same format."""
        return type(self)(self._csc[:, columns].asformat(self._format))

    def _number_arrays(self) -> Iterable[Any]:
        return [self._csr]

    def are_within(self, limit: float) -> bool:
        """False, for unknown: some models treat entries not stored as missing."""
        return False

    def followed_by(self, rows: Rows) -> Self:
        """These rows, then `rows`, in the same format."""
        below = rows.native
        if not isinstance(rows, SparseRows):
            numbers = [rows.numbers(j) for j in range(rows.n_columns)]
            below = np.stack(numbers, axis=1)
        below = type(self._csr)(below)
        return type(self)(sparse.vstack([self._csr, below], format=self._format))

    def blend(
        self, n_background: int, donors: NDArray[np.intp], present: NDArray[np.bool_]
    ) -> Any:
        """Copies of the first rows, with some columns taken from a later row."""
        bases = self._csr[np.tile(np.arange(n_background), len(donors))]
        replacements = self._csr[np.repeat(donors, n_background)]
        for rows, is_taken in ((bases, False), (replacements, True)):
            entries = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
            rows.data[present[entries // n_background, rows.indices] != is_taken] = 0
            rows.eliminate_zeros()
        return (bases + replacements).asformat(self._format)

    def equals_first_rows(self, n_background: int) -> NDArray[np.bool_]:
        """Mask of the columns in which all first rows have the value of a later row."""
        first_row = self._csr[:1].toarray()
        bases = self._csr[:n_background]
        low, high = bases.min(axis=0).toarray(), bases.max(axis=0).toarray()
        is_constant = (low == high).reshape(-1)
        return is_constant & (self._csr[n_background:].toarray() == first_row)

    def column(self, j: int) -> Any:
        """Column `j`, dense."""
        return self._csc[:, [j]].toarray().ravel()

    _plain_values = column

    def is_categorical(self, j: int) -> bool:
        """Booleans are categories; numbers never are."""
        return self.native.dtype.kind == "b"

    def _cast(self, j: int, values: NDArray[Any] | Sequence[Any]) -> Any:
        """`values` in the matrix's dtype."""
        return checked_cast(values, self.native.dtype, self.names[j])

    def tiles(self, start: int, stop: int, repeats: int) -> Tiles:
        """Repeated rows, in the same format."""
        index = np.repeat(np.arange(start, stop), repeats)
        return _SparseTiles(self._csr[index], stop - start, repeats, self._format)


class _SparseTiles(Tiles):
    """Repeated rows; replaced columns are stacked between the kept ones."""

    def __init__(self, repeated: Any, n_rows: int, repeats: int, format: str) -> None:
        super().__init__(n_rows, repeats)
        self._columns = repeated.tocsc()
        self._kind = type(self._columns)  # a matrix or an array, as the rows
        self._format = format

    def replace(
        self, columns: Sequence[int], levels: Sequence[Any], codes: Codes
    ) -> Any:
        blocks_between, start = [], 0
        by_column = sorted(zip(columns, levels, codes, strict=True), key=itemgetter(0))
        for j, values, positions in by_column:
            column = np.asarray(values)[self._cells(positions)]
            blocks_between += [self._columns[:, start:j], self._kind(column[:, None])]
            start = j + 1
        blocks_between.append(self._columns[:, start:])
        blocks = [piece for piece in blocks_between if piece.shape[1]]
        return sparse.hstack(blocks, format=self._format)


def _refuse_texts(X: Any) -> None:
    """Raise an error with advice for a list of texts, which is not a table."""
    sized = hasattr(X, "__len__") and not isinstance(X, str | dict)
    if sized and len(X) and all(isinstance(text, str) for text in X):
        raise ValueError(
            "X is a list of texts; a table is needed. Count words first, and inspect "
            "the model of the counts: X = vectorizer.fit_transform(texts)."
        )


def as_rows(X: Any) -> Rows:
    """Wrap `X` in the `Rows` of its kind; array-likes become arrays.

    Other kinds of data frames are refused by a TypeError, and not converted silently.
    """
    if isinstance(X, Rows):
        return X
    if sparse.issparse(X):
        return SparseRows(_make_canonical(X))
    for library, kind in (("pandas", PandasRows), ("polars", PolarsRows)):
        module = sys.modules.get(library)  # not imported: X cannot be of this library
        if module is not None and isinstance(X, module.DataFrame):
            return kind(X)
    # Look at the type: a lazy frame would resolve its columns.
    in_blocks = is_dask(X) or hasattr(type(X), "map_reduce")
    if in_blocks or hasattr(type(X), "__dataframe__") or hasattr(type(X), "columns"):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}; supported containers are "
            "numpy arrays, scipy sparse matrices, and pandas and polars DataFrames."
            + (" Pass X.to_pandas()." if hasattr(type(X), "to_pandas") else "")
            + _ROWS_IN_PARTITIONS * in_blocks
        )
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X is a masked array: fill it, for instance by NaN.")
    plain = isinstance(X, np.ndarray) and not isinstance(X, np.matrix)
    if not plain or X.ndim != 2:
        _refuse_texts(X)
        X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_features=0)
    return ArrayRows(X)


def as_days(X: Any) -> NDArray[np.float64]:
    """Columns of numbers and dates as floats, for estimators that take no dates."""
    rows = as_rows(X)
    return np.stack([rows.numbers(j) for j in range(rows.n_columns)], axis=1)


def with_days(rows: Rows) -> Any:
    """Native rows for estimators of numbers: an array where some columns are dates."""
    has_dates = any(rows.dates(j) is not None for j in range(rows.n_columns))
    return as_days(rows) if has_dates else rows.native


def _make_canonical(X: Any) -> Any:
    """A sparse matrix without duplicate entries, in which indices are sorted.

    Many of scipy's functions would sort the user's own matrix in place.
    """
    if X.format == "coo":
        X = X.copy()
    elif X.format in ("csr", "csc", "bsr"):
        if X.has_canonical_format:
            return X
        X = X.copy()
    else:
        return X
    X.sum_duplicates()
    return X

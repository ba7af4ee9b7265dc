"""Samples that are not rows of a table: texts, and arrays of images."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model._sklearn_compat import safe_indexing


class SampleRows:
    """Samples along the first axis of a list, a Series or an array.

    They have the part of the interface of `Rows` that does not need columns.

    Parameters
    ----------
    native : list, Series or ndarray
        The user's container.
    """

    named = False

    def __init__(self, native: Any) -> None:
        self.native = native
        self.n_rows = len(native)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the samples."""
        return iter(self.native)

    @property
    def row_bytes(self) -> int:
        """Approximate memory of one sample, in bytes."""
        if isinstance(self.native, np.ndarray) and self.native.dtype != object:
            return self.native[:1].nbytes
        return sum(len(str(sample)) for sample in self.native) // max(1, self.n_rows)

    def take(self, index: NDArray[np.intp] | list[int]) -> Self:
        """Samples at the integer positions `index`."""
        return type(self)(safe_indexing(self.native, index))

    def sliced(self, rows: slice) -> Self:
        """Samples of a slice."""
        start, stop, _ = rows.indices(self.n_rows)
        if stop - start == self.n_rows:
            return self
        return self.take(np.arange(start, stop))


class TextRows(SampleRows):
    """Texts in the user's container; see :func:`as_texts`."""

    def with_texts(self, texts: list[str]) -> Any:
        """A list of other texts, in the same kind of container."""
        native = self.native
        if isinstance(native, list):
            return texts
        if isinstance(native, np.ndarray):
            # A dtype of fixed width would truncate longer texts.
            dtype = str if native.dtype.kind == "U" else native.dtype
            return np.array(texts, dtype=dtype)
        series = type(native)
        if hasattr(native, "iloc"):
            categories = getattr(native.dtype, "categories", None)
            dtype = native.dtype if categories is None else categories.dtype
            return series(texts, dtype=dtype, name=native.name)
        return series(native.name, texts)


def as_texts(X: Any) -> TextRows:
    """Wrap a list, tuple, one-dimensional array or Series of str as `TextRows`.

    Anything else raises a TypeError or ValueError that says why.
    """
    if isinstance(X, str | bytes):
        raise TypeError(f"X is a single {type(X).__name__}: pass a list of texts, [X].")
    if isinstance(X, tuple):
        X = list(X)
    libraries = map(sys.modules.get, ("pandas", "polars"))
    series = [library.Series for library in libraries if library is not None]
    kinds: tuple[Any, ...] = (list, np.ndarray, *series)
    if not isinstance(X, kinds) or getattr(X, "ndim", 1) == 0:
        hint = "; pass one of its columns" if hasattr(X, "columns") else ""
        raise TypeError(
            "X must be a list, a one-dimensional array or a Series of str; got "
            f"{type(X).__module__}.{type(X).__name__}{hint}."
        )
    if isinstance(X, np.ndarray) and X.ndim > 1:
        raise ValueError(
            f"X has the shape {X.shape}; texts stand along a single axis, as in "
            "X[:, 0]."
        )
    if not len(X):
        raise ValueError("Found array with 0 sample(s): X has no texts.")
    for position, text in enumerate(X):
        if not isinstance(text, str):
            raise TypeError(
                f"X has {text!r}, a {type(text).__name__}, at position {position}; "
                "texts must be str."
            )
    return TextRows(X)

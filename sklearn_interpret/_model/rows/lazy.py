"""Lazy results of `transform` for the blocks of Dask collections; Dask is not imported.

Workers get the estimator once, as the result of a task, which is computed again if a
worker is lost.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

T = TypeVar("T")


def is_dask(X: Any) -> bool:
    """Whether `X` is a Dask collection."""
    return hasattr(type(X), "__dask_graph__")


def shared_by_tasks(shared: Any) -> Any:
    """An object that tasks share, as the result of a task."""
    # Unlike scattered data, it survives the loss of a worker.
    return sys.modules["dask"].delayed(_identity, pure=False)(shared)


def lazy_for_dask(transform: Callable[..., Any]) -> Callable[..., Any]:
    """Let `transform(self, X)` return a lazy collection for a Dask collection."""

    @wraps(transform)
    def transform_or_defer(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        # Further arguments are for rows in memory: Dask's blocks take none.
        if not is_dask(X):
            return transform(self, X, *args, **options)
        shared = shared_by_tasks(self)
        if not hasattr(X, "chunks"):
            meta = _frame_of_block(X._meta, self)
            return X.map_partitions(_frame_of_block, shared, meta=meta)
        row_blocks = X.rechunk({1: -1})
        empty = self.transform(np.empty((0, X.shape[1]), X.dtype))
        return row_blocks.map_blocks(
            _array_of_block,
            estimator=shared,
            chunks=(row_blocks.chunks[0], (empty.shape[1],)),
            dtype=empty.dtype,
            meta=np.empty((0, 0), empty.dtype),
        )

    return transform_or_defer


def lazy_transformer(cls: type[T]) -> type[T]:
    """Let the `transform` of a class return a lazy collection for a Dask collection."""
    # Wraps the wrapper of `set_output`, which scikit-learn adds as a class is made.
    transformer: Any = cls
    transformer.transform = lazy_for_dask(transformer.transform)
    return cls


def _identity(shared: Any) -> Any:
    return shared


def _array_of_block(rows: Any, estimator: Any) -> NDArray[Any]:
    return _dense(estimator.transform(rows))


def _frame_of_block(rows: Any, estimator: Any) -> Any:
    """The result as a data frame with names."""
    result = estimator.transform(rows)
    if hasattr(result, "columns"):
        return result
    names = estimator.get_feature_names_out()
    frame = sys.modules["pandas"].DataFrame
    return frame(_dense(result), index=rows.index, columns=names)


def _dense(result: Any) -> NDArray[Any]:
    """A result as an array that Dask can join to those of other blocks."""
    return result.toarray() if issparse(result) else np.asarray(result)

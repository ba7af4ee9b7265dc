"""Lazy results of `transform` for the blocks of Dask collections; Dask is not imported.

Workers get the estimator once, as the result of a task, which is computed again if a
worker is lost.
"""

import sys
from functools import wraps
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def is_dask(X):
    """Whether `X` is a Dask collection."""
    return hasattr(type(X), "__dask_graph__")


def once_for_all(shared):
    """An object that tasks share, as the result of a task."""
    # Unlike scattered data, it survives the loss of a worker.
    return sys.modules["dask"].delayed(_identity, pure=False)(shared)


def lazy_for_dask(transform):
    """Let `transform(self, X)` return a lazy collection for one of Dask."""

    @wraps(transform)
    def transform_or_defer(self, X, *args, **options):
        if not is_dask(X):
            return transform(self, X, *args, **options)
        shared = once_for_all(self)
        if not hasattr(X, "chunks"):
            meta = _frame_of_block(X._meta, self)
            return X.map_partitions(_frame_of_block, shared, meta=meta)
        whole = X.rechunk({1: -1})
        empty = self.transform(np.empty((0, X.shape[1]), X.dtype))
        return whole.map_blocks(
            _array_of_block,
            estimator=shared,
            chunks=(whole.chunks[0], (empty.shape[1],)),
            dtype=empty.dtype,
            meta=np.empty((0, 0), empty.dtype),
        )

    return transform_or_defer


def lazy_transformer(cls: type[T]) -> type[T]:
    """Let the `transform` of a class return a lazy collection for one of Dask."""
    # Outside of what `set_output` does, which scikit-learn adds as a class is made.
    transformer: Any = cls
    transformer.transform = lazy_for_dask(transformer.transform)
    return cls


def _identity(shared):
    return shared


def _array_of_block(rows, estimator):
    return np.asarray(estimator.transform(rows))


def _frame_of_block(rows, estimator):
    """The result as a data frame with names."""
    found = estimator.transform(rows)
    if hasattr(found, "columns"):
        return found
    names = estimator.get_feature_names_out()
    return sys.modules["pandas"].DataFrame(found, index=rows.index, columns=names)

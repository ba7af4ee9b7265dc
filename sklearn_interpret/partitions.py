"""Rows in partitions: tables that are larger than memory, or on several machines."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from sklearn_interpret._model.progress import counted

__all__ = ["Partitions", "RowBatches"]

State = TypeVar("State")

# Rows in a batch of a pyarrow dataset: more cost memory, fewer cost time.
_BATCH_ROWS = 2**17


class Partitions(ABC):
    """Rows in partitions, for `fit` of the methods that add up over rows.

    The one seam that an engine fills: a subclass says how to call a function for each
    partition and how to merge its results (`map_reduce`).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn_interpret.effects import PartialDependence
    >>> from sklearn_interpret.partitions import Partitions
    >>> class Halves(Partitions):
    ...     def __init__(self, X):
    ...         self.X = X
    ...
    ...     def map_reduce(self, function, merge, columns=None):
    ...         first, second = np.array_split(self.X, 2)
    ...         return merge(function(0, first), function(1, second))
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> model = FrozenEstimator(LinearRegression().fit(X, X.ravel()))
    >>> PartialDependence(model).fit(Halves(X)).average_[0].round(6)
    array([0., 1., 2., 3., 4., 5., 6., 7.])
    """

    @abstractmethod
    def map_reduce(
        self,
        function: Callable[..., State | None],
        merge: Callable[[State | None, State | None], State | None],
        columns: Sequence[str] | None = None,
    ) -> State | None:
        """Merge the results of a function of each partition.

        Parameters
        ----------
        function : callable
            ``function(index, X, y=None, sample_weight=None)`` of a partition: its
            number from 0 on, its rows, their targets and weights. It can be pickled.
            Its result may be None.
        merge : callable
            ``merge(first, second)`` of the results of two neighbours, in the order of
            the partitions. It is associative up to rounding; a fixed tree of merges
            makes results independent of which worker is done first.
        columns : list of str, default=None
            Names of the only columns that the function reads. X may have just these,
            in this order, or all columns.

        Returns
        -------
        object
            The merged result; None if there is no partition.
        """

    def head(self) -> Any:
        """First rows, from the first partition that has any.

        Returns
        -------
        {ndarray, sparse matrix, DataFrame}
            The rows.
        """
        return self.map_reduce(_rows_or_none, _first)


class RowBatches(Partitions):
    """Batches of rows, read one after another.

    Parameters
    ----------
    source : pyarrow.dataset.Dataset, list of these, or callable
        A callable returns a new iterator of the batches each time, always the same
        ones: arrays or frames, or tuples ``(X, y)`` or ``(X, y, sample_weight)``.
    y : str, default=None
        Name of the column of targets, of frames and datasets.
    sample_weight : str, default=None
        Name of the column of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn_interpret.effects import PartialDependence
    >>> from sklearn_interpret.partitions import RowBatches
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> batches = RowBatches(lambda: iter([X[:5], X[5:]]))
    >>> model = FrozenEstimator(LinearRegression().fit(X, X.ravel()))
    >>> PartialDependence(model).fit(batches).average_[0].round(6)
    array([0., 1., 2., 3., 4., 5., 6., 7.])
    """

    def __init__(
        self, source: Any, *, y: str | None = None, sample_weight: str | None = None
    ) -> None:
        datasets = source if isinstance(source, list | tuple) else [source]
        are_datasets = all(hasattr(one, "to_batches") for one in datasets)
        if not callable(source) and not (datasets and are_datasets):
            raise TypeError(
                "source must be a pyarrow Dataset, a list of them, or a callable that "
                f"returns an iterator of batches; got {source!r}."
            )
        self.source, self.y, self.sample_weight = source, y, sample_weight
        self._n_batches: int | None = None

    def map_reduce(
        self,
        function: Callable[..., State | None],
        merge: Callable[[State | None, State | None], State | None],
        columns: Sequence[str] | None = None,
    ) -> State | None:
        """Merge the results of a function of each batch, see `Partitions`.

        Parameters
        ----------
        function : callable
            ``function(index, X, y, sample_weight)``.
        merge : callable
            ``merge(first, second)``.
        columns : list of str, default=None
            The only columns that a dataset reads.

        Returns
        -------
        object
            The merged result.
        """
        state, n_batches = None, 0
        batches: Iterable[Any] = self._batches(columns)
        if self._n_batches:
            batches = counted(batches, self._n_batches)
        for index, batch in enumerate(batches):
            state, n_batches = merge(state, function(index, *batch)), index + 1
        self._n_batches = n_batches
        return state

    def head(self) -> Any:
        """First rows, from the first batch that has any.

        Returns
        -------
        {ndarray, sparse matrix, DataFrame}
            The rows.
        """
        for X, *_ in self._batches(None):
            if X.shape[0]:
                return X
        return None

    def _batches(self, columns: Sequence[str] | None) -> Iterator[tuple[Any, ...]]:
        """Rows, targets and weights of each batch."""
        given = [name for name in (self.y, self.sample_weight) if name is not None]
        if callable(self.source):
            for batch in self.source():
                parts = batch if isinstance(batch, tuple) else (batch,)
                yield (*self._split(parts[0], given), *parts[1:])
            return
        names = None if columns is None else [*columns, *given]
        datasets = (
            self.source if isinstance(self.source, list | tuple) else [self.source]
        )
        for dataset in datasets:
            # Read ahead little: batches wait in memory.
            for batch in dataset.to_batches(
                columns=names,
                batch_size=_BATCH_ROWS,
                batch_readahead=1,
                fragment_readahead=1,
            ):
                yield self._split(batch.to_pandas(), given)

    def _split(self, X: Any, given: list[str]) -> tuple[Any, ...]:
        """A batch without the columns of targets and weights, and these."""
        if not given:
            return (X,)
        unknown = [name for name in given if name not in getattr(X, "columns", ())]
        if unknown:
            raise ValueError(f"y and sample_weight: no column is named {unknown[0]!r}.")
        taken = [
            None if name is None else X[name] for name in (self.y, self.sample_weight)
        ]
        return X[[name for name in X.columns if name not in given]], *taken


class DaskPartitions(Partitions):
    """Partitions of a Dask data frame or array.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array
        Rows.
    y, sample_weight : dask collection of one axis, or None
        Targets and weights, with the same partitions.
    """

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        self.X, self._others = X, (y, sample_weight)
        for name, other in zip(("y", "sample_weight"), self._others, strict=True):
            if other is not None and not is_dask(other):
                raise TypeError(
                    f"{name} must be a Dask collection, as X is; got "
                    f"{type(other).__module__}.{type(other).__name__}."
                )
            if other is not None and other.npartitions != self._n_rows_of_blocks():
                raise ValueError(
                    f"{name} has {other.npartitions} partitions, and X has "
                    f"{self._n_rows_of_blocks()}: repartition one of them."
                )

    def _n_rows_of_blocks(self) -> int:
        return (
            len(self.X.chunks[0]) if hasattr(self.X, "chunks") else self.X.npartitions
        )

    def map_reduce(
        self,
        function: Callable[..., State | None],
        merge: Callable[[State | None, State | None], State | None],
        columns: Sequence[str] | None = None,
    ) -> State | None:
        """Merge the results of a function of each partition, by a tree of tasks."""
        delayed, X = sys.modules["dask"].delayed, self.X
        if hasattr(X, "chunks"):
            blocks = X.rechunk({1: -1}).to_delayed().ravel().tolist()
        else:
            blocks = (X if columns is None else X[list(columns)]).to_delayed()
        others = [
            [None] * len(blocks) if one is None else np.ravel(one.to_delayed()).tolist()
            for one in self._others
        ]
        # The result of a task, unlike scattered data, survives the loss of a worker.
        shared = delayed(_identity, pure=False)(function)
        call, merged = delayed(_call, pure=False), delayed(merge, pure=False)
        states = [
            call(shared, index, *part)
            for index, part in enumerate(zip(blocks, *others, strict=True))
        ]
        while len(states) > 1:
            pairs = zip(states[::2], [*states[1::2], None], strict=False)
            states = [a if b is None else merged(a, b) for a, b in pairs]
        return states[0].compute() if states else None


def is_dask(X: Any) -> bool:
    """Whether `X` is a Dask collection; Dask is not imported."""
    return hasattr(type(X), "__dask_graph__")


def as_partitions(X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """`X` as `Partitions`; None if its rows are in memory."""
    if isinstance(X, Partitions):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "y and sample_weight belong to the partitions: give RowBatches the "
                "names of their columns, or tuples (X, y, sample_weight)."
            )
        return X
    return DaskPartitions(X, y, sample_weight) if is_dask(X) else None


def _identity(shared):
    return shared


def _call(function, *given):
    return function(*given)


def _rows_or_none(index, X, y=None, sample_weight=None):
    return X if X.shape[0] else None


def _first(first, second):
    return second if first is None else first

"""Rows in partitions: tables that are larger than memory, or on several machines."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.row_limit import rows_left
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import same_content
from sklearn_interpret._model.rows.lazy import is_dask, shared_by_tasks

__all__ = ["Partitions", "RowBatches"]

_Function = Callable[..., Any]
_Names = Sequence[str] | None


class _PassSize(NamedTuple):
    """The numbers of batches and rows in a pass."""

    n_batches: int
    n_rows: int


# Rows in a batch of a pyarrow dataset: more cost memory, fewer cost time.
_BATCH_ROWS = 2**17
# Rows that are looked at beforehand.
_HEAD_ROWS = 2**12


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
    >>> X = np.arange(1, 9.0).reshape(-1, 1)
    >>> model = FrozenEstimator(LinearRegression().fit(X, X.ravel()))
    >>> PartialDependence(model).fit(Halves(X)).average_[0].round(6)
    array([1., 2., 3., 4., 5., 6., 7., 8.])
    """

    @abstractmethod
    def map_reduce(
        self, function: _Function, merge: _Function, columns: _Names = None
    ) -> Any:
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

    @staticmethod
    def from_input(
        X: Any, y: Any = None, sample_weight: Any = None
    ) -> Partitions | None:
        """Take partitions or a Dask collection as partitions.

        Parameters
        ----------
        X : object
            What was passed to `fit`.
        y, sample_weight : dask collection of one axis, default=None
            Targets and weights of a Dask collection, with the same partitions.

        Returns
        -------
        Partitions or None
            None for anything else: rows in memory.
        """
        if not isinstance(X, Partitions):
            return _DaskPartitions(X, y, sample_weight) if is_dask(X) else None
        if y is not None or sample_weight is not None:
            raise ValueError(
                "y and sample_weight belong to the partitions: give RowBatches the "
                "names of their columns, or tuples (X, y, sample_weight)."
            )
        return X

    def head(self) -> Any:
        """First rows, from the first partition that has any.

        Returns
        -------
        {ndarray, sparse matrix, DataFrame}
            The rows.
        """
        return self.map_reduce(_first_rows, _first_present)


class RowBatches(Partitions):
    """Batches of rows, read one after another.

    Parameters
    ----------
    source : pyarrow.dataset.Dataset, list of these, or callable
        A callable returns a new iterator of the batches each time, always the same
        ones: arrays or frames, or tuples ``(X, y)`` or ``(X, y, sample_weight)``. `fit`
        calls it several times, and refuses other batches than the first time.
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
    >>> X = np.arange(1, 9.0).reshape(-1, 1)
    >>> batches = RowBatches(lambda: iter([X[:5], X[5:]]))
    >>> model = FrozenEstimator(LinearRegression().fit(X, X.ravel()))
    >>> PartialDependence(model).fit(batches).average_[0].round(6)
    array([1., 2., 3., 4., 5., 6., 7., 8.])
    """

    def __init__(
        self, source: Any, *, y: str | None = None, sample_weight: str | None = None
    ) -> None:
        datasets = source if isinstance(source, list | tuple) else [source]
        are_datasets = datasets and all(hasattr(d, "get_fragments") for d in datasets)
        if not callable(source) and not are_datasets:
            kinds = " of ".join(type(x).__name__ for x in (source, *datasets[:1]))
            raise TypeError(
                "source must be a pyarrow Dataset, a list of them, or a callable that "
                f"returns an iterator of batches; got {kinds}. pyarrow.dataset.dataset("
                "table) makes a Dataset of a table; rows in memory, such as "
                "table.to_pandas(), need no RowBatches."
            )
        self.source, self.y, self.sample_weight = source, y, sample_weight
        self._datasets = datasets
        self._first_pass: _PassSize | None = None
        self._head: Any = None

    def map_reduce(
        self, function: _Function, merge: _Function, columns: _Names = None
    ) -> Any:
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
        batches: Iterable[Any] = self._read_same_batches(columns)
        if self._first_pass is not None:
            batches = with_progress(batches, self._first_pass.n_batches)
        # As the digits of a binary number: two states of as many batches are merged, so
        # that there are few states, and each row is in few merges.
        states: list[Any] = []
        number = 0
        for number, batch in enumerate(batches, 1):
            states.append(function(number - 1, *batch))
            while len(states) > number.bit_count():
                states[-2:] = [merge(*states[-2:])]
        while len(states) > 1:
            states[-2:] = [merge(*states[-2:])]
        return states[0] if states else None

    def head(self) -> Any:
        """First rows, from the first batch that has any.

        Returns
        -------
        {ndarray, sparse matrix, DataFrame}
            The rows.
        """
        heads = (_first_rows(0, *batch) for batch in self._batches(None))
        self._first_pass = None
        self._head = next((head for head in heads if head is not None), None)
        return self._head

    def _read_same_batches(self, columns: _Names) -> Iterator[tuple[Any, ...]]:
        """Batches of a pass, compared with the head and with the first pass."""
        n_batches = n_rows = 0
        for batch in self._batches(columns):
            yield batch
            head = None if n_rows else _first_rows(0, batch[0])
            # A dataset reads its files anew, and may leave out columns.
            if callable(self.source) and head is not None and self._head is not None:
                same_kind = type(head) is type(self._head)
                if not (same_kind and same_content(head, self._head)):
                    self._refuse("begins with other rows than at first")
            n_batches, n_rows = n_batches + 1, n_rows + as_rows(batch[0]).n_rows
        if self._head is not None and not n_rows:
            self._refuse("has rows at first, and later none")
        size = _PassSize(n_batches, n_rows)
        first = self._first_pass or size
        if size != first:
            at_first = f"{first.n_batches} batches of {first.n_rows} rows"
            self._refuse(f"has {at_first} at first, and later {n_batches} of {n_rows}")
        self._first_pass = size

    @staticmethod
    def _refuse(fault: str) -> NoReturn:
        """Raise the error for a source whose batches are not always the same."""
        raise ValueError(
            f"The source of RowBatches {fault}. Its batches are read several times: "
            "pass a function that opens them anew whenever it is called, such as "
            "lambda: pandas.read_csv(path, chunksize=10_000), and always in the same "
            "order. An iterator that exists already, such as a generator, can be read "
            "only once."
        )

    def _batches(self, columns: _Names) -> Iterator[tuple[Any, ...]]:
        """Rows, targets and weights of each batch."""
        named = [name for name in (self.y, self.sample_weight) if name is not None]
        if callable(self.source):
            for batch in self.source():
                X, *vectors = batch if isinstance(batch, tuple) else (batch,)
                yield (*self._split_columns(X, named), *vectors)
            return
        names = None if columns is None else [*columns, *named]
        for dataset in self._datasets:
            # Piece by piece: a scan of the whole dataset reads far ahead, into memory.
            for piece in _row_groups(dataset):
                for batch in piece.to_batches(
                    schema=dataset.schema, columns=names, batch_size=_BATCH_ROWS
                ):
                    yield self._split_columns(batch.to_pandas(), named)

    def _split_columns(self, X: Any, named: list[str]) -> tuple[Any, ...]:
        """A batch without its columns of targets and weights, then the two columns."""
        if not named:
            return (X,)
        unknown = [name for name in named if name not in getattr(X, "columns", ())]
        if unknown:
            raise ValueError(f"y and sample_weight: no column is named {unknown[0]!r}.")
        vectors = [
            None if name is None else X[name] for name in (self.y, self.sample_weight)
        ]
        return X[[name for name in X.columns if name not in named]], *vectors


class _DaskPartitions(Partitions):
    """Partitions of a Dask data frame or array.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array
        Rows.
    y, sample_weight : dask collection of one axis, or None
        Targets and weights, with the same partitions.
    """

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        self.X, self._columns = X, (y, sample_weight)
        for name, column in zip(("y", "sample_weight"), self._columns, strict=True):
            if column is not None and not is_dask(column):
                raise TypeError(
                    f"{name} must be a Dask collection, as X is; got "
                    f"{type(column).__module__}.{type(column).__name__}."
                )
            n_blocks = X.numblocks[0] if hasattr(X, "chunks") else X.npartitions
            if column is not None and column.npartitions != n_blocks:
                raise ValueError(
                    f"{name} has {column.npartitions} partitions, and X has "
                    f"{n_blocks}: repartition one of them."
                )

    def map_reduce(
        self, function: _Function, merge: _Function, columns: _Names = None
    ) -> Any:
        """Merge the results of a function of each partition, by a tree of tasks."""
        if rows_left() < np.inf:
            raise ValueError(
                "max_rows counts the rows that this process sends to the model: pass "
                "RowBatches, or max_rows=None, for rows of a Dask cluster."
            )
        delayed, blocks = sys.modules["dask"].delayed, self._delayed_tables(columns)
        vectors = [
            [None] * len(blocks)
            if column is None
            else np.ravel(column.to_delayed()).tolist()
            for column in self._columns
        ]
        shared, merged = shared_by_tasks(function), delayed(merge, pure=False)
        states = [
            shared(index, *arguments)
            for index, arguments in enumerate(zip(blocks, *vectors, strict=True))
        ]
        while len(states) > 1:
            pairs = zip(states[::2], [*states[1::2], None], strict=False)
            states = [a if b is None else merged(a, b) for a, b in pairs]
        return states[0].compute() if states else None

    def head(self) -> Any:
        """First rows; partitions are computed until one has any."""
        delayed = sys.modules["dask"].delayed
        for block in self._delayed_tables(None):
            rows = delayed(_first_rows)(0, block).compute()
            if rows is not None:
                return rows
        return None

    def _delayed_tables(self, columns: _Names) -> list[Any]:
        """Partitions, as delayed tables."""
        if hasattr(self.X, "chunks"):
            return self.X.rechunk({1: -1}).to_delayed().ravel().tolist()
        return (self.X if columns is None else self.X[list(columns)]).to_delayed()


def _row_groups(dataset: Any) -> Iterator[Any]:
    """Row groups of a pyarrow dataset; whole files that have none."""
    for fragment in dataset.get_fragments():
        if hasattr(fragment, "split_by_row_group"):
            yield from fragment.split_by_row_group()
        else:
            yield fragment


def _first_rows(index: int, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Some rows of a partition; None if it has none."""
    rows = as_rows(X)
    # A copy, which does not keep the whole partition in memory.
    head = np.arange(min(rows.n_rows, _HEAD_ROWS))
    return rows.take(head).native if rows.n_rows else None


def _first_present(first: Any, second: Any) -> Any:
    return second if first is None else first

"""Batch sizes for the working memory, lazily computed arrays, and parallel loops."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from itertools import chain, starmap
from operator import call
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from joblib import cpu_count, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from numpy.typing import DTypeLike, NDArray
from sklearn import get_config
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from sklearn_interpret._model import row_limit
from sklearn_interpret._model.progress import with_progress

if TYPE_CHECKING:
    from contextlib import _GeneratorContextManager

    from sklearn_interpret._model.rows.base import Rows

T = TypeVar("T")
# Text, category, file name and line number of a warning, as `warn_explicit` takes them.
_CaughtWarning = tuple[str, type[Warning], str, int]
# What a worker returns: a result, warnings, and the number of rows that the model got.
_Returned = tuple[Any, list[_CaughtWarning], int]

# A batch has 4 MiB, about the size of a processor's cache, or 16384 rows where these
# are more: larger batches miss the cache, smaller ones pay for more calls. Both are
# chosen by hand.
_PREFERRED_BYTES = 4 * 2**20
_PREFERRED_ROWS = 2**14

# Bytes of a block of rows that is summed, and its least number of rows. They are fixed,
# so that sums do not depend on any setting.
_BLOCK_BYTES = 2**23
_FEWEST_BLOCK_ROWS = 2**10
# Pieces of work for each of several workers: the others wait for the last piece, which
# is a quarter of a worker's share, and more pieces cost more calls. Chosen by hand.
_PIECES_PER_WORKER = 4


def batch_rows(row_bytes: int) -> int:
    """Number of perturbed rows of `row_bytes` bytes in one call of the model."""
    preferred = max(_PREFERRED_BYTES // max(row_bytes, 1), _PREFERRED_ROWS)
    return min(preferred, most_batch_rows(row_bytes))


def most_batch_rows(row_bytes: int) -> int:
    """Largest number of rows of `row_bytes` bytes in one call of the model."""
    # A quarter: the model makes its own copies (casts, encoded columns).
    return max(1, int(working_bytes() / 4 // max(row_bytes, 1)))


def rows_in_memory(row_bytes: int) -> int:
    """Number of rows, of `row_bytes` bytes in all forms, that are kept in memory."""
    return max(1, bytes_in_memory() // max(row_bytes, 1))


def bytes_in_memory() -> int:
    """Bytes that rows or tables may take: an eighth, as results need memory too."""
    return int(working_bytes() / 8)


def block_rows(row_bytes: int) -> int:
    """Number of rows in a block of a sum, independent of any setting."""
    return max(_FEWEST_BLOCK_ROWS, _BLOCK_BYTES // max(row_bytes, 1))


def working_bytes() -> int:
    """scikit-learn's working memory, in bytes."""
    return get_config()["working_memory"] * 2**20


def slices(n_rows: int, step: int) -> Iterator[slice]:
    """Consecutive slices of `step` rows."""
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def worker_slices(n_rows: int, n_jobs: int | None) -> Iterator[slice]:
    """Slices of rows that workers take: all for one, else several for each."""
    n_workers = effective_n_jobs(n_jobs)
    n_pieces = _PIECES_PER_WORKER * n_workers if n_workers > 1 else 1
    return slices(n_rows, max(1, -(-n_rows // n_pieces)))


class LazyRows(ABC):
    """An array with a row for each of some `Rows`, computed when it is sliced.

    Use it like the array that :meth:`array_if_small` returns if memory allows.

    Parameters
    ----------
    rows : Rows
        Rows that it is computed from.
    n_columns : int
        Number of columns.
    dtype : numpy.dtype
        Dtype of the array.
    making_bytes : int
        Memory of the computation, per row, besides that of the row.
    """

    def __init__(
        self, rows: Rows, n_columns: int, dtype: DTypeLike, making_bytes: int
    ) -> None:
        self.rows = rows
        self.n_columns = n_columns
        self.dtype = np.dtype(dtype)
        self._batch_bytes = rows.row_bytes + making_bytes

    @abstractmethod
    def _compute(self, rows: Rows) -> NDArray[Any]:
        """Compute the array for some `Rows`: (n, n_columns)."""

    def __len__(self) -> int:
        return self.rows.n_rows

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of the array."""
        return self.dtype.itemsize * self.n_columns

    def __getitem__(self, block: slice) -> NDArray[Any]:
        """The array for a slice without a step: (n, n_columns), Fortran order."""
        start, stop, _ = block.indices(len(self))
        array = self.empty(stop - start)
        for batch in self.batches(start, stop):
            in_array = slice(batch.start - start, batch.stop - start)
            array[in_array] = self._compute(self.rows.sliced(batch))
        return array

    def empty(self, n_rows: int) -> NDArray[Any]:
        """An uninitialised array for `n_rows` rows."""
        return np.empty((n_rows, self.n_columns), self.dtype, "F")

    def batches(self, start: int, stop: int) -> Iterator[slice]:
        """Slices of rows that are computed together."""
        for batch in slices(stop - start, batch_rows(self._batch_bytes)):
            yield slice(start + batch.start, start + batch.stop)

    @property
    def is_small(self) -> bool:
        """Whether the whole array fits into memory."""
        return len(self) <= rows_in_memory(self.row_bytes)

    def array_if_small(self) -> Any:
        """The whole array if it is small, else this object."""
        return self[:] if self.is_small else self


@cache
def _threadpools(user_api: str) -> Any:
    # Cached, because finding the libraries takes milliseconds. One controller per API:
    # the end of a limit resets all libraries of its controller.
    return ThreadpoolController().select(user_api=user_api)


class _BlasLimits:
    """Overlapping limits of BLAS threads, a setting of the process: the least holds.

    Several Python threads may set limits; the last one to end restores the setting that
    the first one found.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._limits: list[int] = []
        self._first: Any = None

    @contextmanager
    def limit(self, n_threads: int) -> Iterator[None]:
        """Context manager that limits the number of threads."""
        with self._lock:
            self._limits.append(n_threads)
            limiter = self._set_least()
            self._first = self._first or limiter
        try:
            yield
        finally:
            with self._lock:
                self._limits.remove(n_threads)
                if self._limits:
                    self._set_least()
                else:
                    self._first.restore_original_limits()
                    self._first = None

    def _set_least(self) -> Any:
        return _threadpools("blas").limit(limits=min(self._limits))


_BLAS = _BlasLimits()


def limit_blas(n_threads: int) -> _GeneratorContextManager[None]:
    """Context manager, or decorator, that limits the threads of BLAS.

    With small matrices several threads wait for each other longer than they work.
    """
    return _BLAS.limit(n_threads)


@contextmanager
def limit_threads(n_threads: int) -> Iterator[None]:
    """Context manager that limits OpenMP in this thread, and BLAS in the process."""
    with _threadpools("openmp").limit(limits=n_threads), _BLAS.limit(n_threads):
        yield


def run(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
) -> Iterator[Any]:
    """Results of ``function(*task)`` in the order of `tasks`, counted as progress.

    Parameters
    ----------
    function : callable
        Picklable function.
    tasks : list of tuple
        Arguments of independent calls.
    n_jobs : int or None, default=None
        Number of workers, as in scikit-learn; joblib's active backend is used.

    Yields
    ------
    object
        Result of `function`.
    """
    if row_limit.needs_one_process() or _n_workers(n_jobs, tasks) <= 1:
        yield from with_progress(starmap(function, tasks), len(tasks))
        return
    # Nested parallelism: workers times threads must not exceed the cores.
    work = _limited_calls(function, tasks, n_jobs)
    return_as = _return_as(get_active_backend()[0])
    results: list[Any] = []
    try:
        with limit_threads(_cores_each(_n_workers(n_jobs, tasks))):
            calls = Parallel(n_jobs=n_jobs, return_as=return_as)(work)
            for result in with_progress(calls, len(tasks)):
                results.append(result)
    finally:  # what is finished comes before an interruption
        yield from _issue_warnings(results)


def stream(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    n_items: int | None = None,
    *,
    n_jobs: int | None = None,
) -> Iterator[Any]:
    """Like `run` for functions that return iterators: all items, task by task.

    `n_items` is the number of items; None means one for each task.

    Workers start immediately, while the caller goes on; without workers each item is
    computed when it is requested.
    """
    if row_limit.needs_one_process() or _n_workers(n_jobs, tasks) <= 1:
        results: Iterable[Any] = starmap(function, tasks)
    else:
        work = _limited_calls(partial(_list_results, function), tasks, n_jobs)
        backend, _ = get_active_backend()
        parallel = Parallel(n_jobs=n_jobs, return_as=_return_as(backend))
        results = _issue_warnings(parallel(work))
    return with_progress(chain.from_iterable(results), n_items or len(tasks))


def run_in_threads(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
) -> Iterator[Any]:
    """Like `run` with threads, for loops inside numpy, which release the GIL.

    A backend that the caller has chosen is used in any case.
    """
    if _n_workers(n_jobs, tasks) <= 1:
        yield from with_progress(starmap(function, tasks), len(tasks))
        return
    backend, _ = get_active_backend(prefer="threads")
    with limit_threads(1):
        results = Parallel(
            n_jobs=n_jobs, prefer="threads", return_as=_return_as(backend)
        )(_Shared(function, tasks).calls(call, tasks))
        yield from with_progress(results, len(tasks))


def _n_workers(n_jobs: int | None, tasks: Sequence[tuple[Any, ...]]) -> int:
    return min(effective_n_jobs(n_jobs), len(tasks))


class _Shared:
    """A function, with the arguments that are the same objects in all tasks."""

    def __init__(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
    ) -> None:
        self.function = function
        columns = enumerate(zip(*tasks, strict=True))
        self.arguments = {i: c[0] for i, c in columns if all(a is c[0] for a in c)}

    def calls(
        self,
        function: Callable[..., Any],
        tasks: Sequence[tuple[Any, ...]],
        *first: int,
    ) -> Iterator[Any]:
        """Joblib's calls ``function(*first, self, unshared)``, one for each task.

        On a Dask cluster this object is submitted as a task, because scattered data
        would be lost with its worker; `unshared` is a tuple, which joblib does not
        scatter.
        """
        client = getattr(get_active_backend()[0], "client", None)
        sent = self if client is None else self._submit(client)
        for task in tasks:
            unshared = (a for i, a in enumerate(task) if i not in self.arguments)
            yield delayed(function)(*first, sent, tuple(unshared))

    def _submit(self, client: Any) -> Any:
        with warnings.catch_warnings():
            # A large model must be sent in any case.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return client.submit(_identity, self, pure=False)

    def __call__(self, unshared: tuple[Any, ...]) -> Any:
        task = list(unshared)
        for position, argument in self.arguments.items():
            task.insert(position, argument)
        return self.function(*task)


def _identity(shared: T) -> T:
    return shared


def _limited_calls(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """Joblib's calls, each with its worker's share of the cores."""
    return _Shared(function, tasks).calls(_limit_call, tasks, _n_workers(n_jobs, tasks))


def _cores_each(n_workers: int) -> int:
    return max(1, cpu_count() // n_workers)


def _limit_call(
    n_workers: int, shared: Callable[..., Any], unshared: tuple[Any, ...]
) -> _Returned:
    """Result of a call with its share of the cores, and what else the caller needs."""
    # Cores of the worker's machine, which may not be the caller's.
    cores = _cores_each(n_workers)
    # A model with n_jobs would otherwise get the workers of the whole cluster.
    backend = "sequential" if cores == 1 else "threading"
    # Warning filters are global: only the main thread may catch warnings.
    main = current_thread() is main_thread()
    caught: AbstractContextManager[list[warnings.WarningMessage]]
    caught = warnings.catch_warnings(record=True) if main else nullcontext([])
    config, counting = parallel_config(backend, n_jobs=1), row_limit.counting_rows()
    with caught as issued, limit_threads(cores), config, counting as count:
        result = shared(unshared)
    # As text: not all warnings can be pickled.
    texts = [(str(w.message), w.category, w.filename, w.lineno) for w in issued]
    return result, list(dict.fromkeys(texts)), count.n_sent


def _issue_warnings(results: Iterable[_Returned]) -> Iterator[Any]:
    """Results of `_limit_call`; each warning of the workers is issued once.

    The rows that workers have sent to the model are counted.
    """
    issued = set()
    for result, caught, n_rows in results:
        row_limit.add_rows(n_rows)
        for warning in caught:
            if warning not in issued:
                issued.add(warning)
                warnings.warn_explicit(*warning)
        yield result


def _list_results(function: Callable[..., Any], *task: Any) -> list[Any]:
    # An iterator cannot be pickled.
    return list(function(*task))


def _return_as(backend: Any) -> str:
    """Value of joblib's `return_as`: "generator" if the backend supports it."""
    one_by_one = getattr(backend, "supports_return_generator", False)
    return "generator" if one_by_one else "list"

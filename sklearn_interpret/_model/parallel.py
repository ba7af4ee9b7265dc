"""Batches that fit the working memory, arrays made batch by batch, joblib's loops."""

import warnings
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from itertools import chain, starmap
from operator import call
from threading import Lock, current_thread, main_thread

import numpy as np
from joblib import cpu_count, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn import get_config
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

# Past about this much, larger batches only add cache misses (and memory), but a model
# wants enough rows for its own cost per call not to count.
_PREFERRED_BYTES = 4 * 2**20
_PREFERRED_ROWS = 2**14

_PORTION_BYTES = 2**23
_LEAST_PORTION = 2**10


def batch_rows(row_bytes):
    """How many perturbed rows of so many bytes go to the model at once."""
    # The model makes copies of its own (casts, encoded columns): leave room.
    allowed = working_bytes() / 4
    row_bytes = max(row_bytes, 1)
    preferred = max(_PREFERRED_BYTES // row_bytes, _PREFERRED_ROWS)
    return max(1, int(min(preferred, allowed // row_bytes)))


def rows_in_memory(row_bytes):
    """How many rows of so many bytes, in all our forms of them, are held at once."""
    # An eighth: there has to be room for what is made of them.
    return max(1, int(working_bytes() / 8 // max(row_bytes, 1)))


def portion_rows(row_bytes):
    """How many rows to add up at once, where sums must not hang on any setting."""
    return max(_LEAST_PORTION, _PORTION_BYTES // max(row_bytes, 1))


def working_bytes():
    """scikit-learn's working memory."""
    return get_config()["working_memory"] * 2**20


def slices(n_rows, step):
    """Parts of so many rows, one after the other."""
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


class LazyRows(ABC):
    """Some small numbers for each row, which need not be held all at once.

    A slice of it is an array, as a slice of the array is that :meth:`held` may return.

    Parameters
    ----------
    rows : Rows
        The rows.
    n_columns : int
        How many numbers are made of a row.
    dtype : numpy.dtype
        Their dtype.
    making_bytes : int
        Memory that making a row takes, besides that of the row.
    """

    def __init__(self, rows, n_columns, dtype, making_bytes):
        self.rows = rows
        self.n_columns = n_columns
        self.dtype = np.dtype(dtype)
        self._batch_bytes = rows.row_bytes + making_bytes

    @abstractmethod
    def _made(self, rows):
        """The array of some `Rows`: (n, n_columns)."""

    def __len__(self):
        return self.rows.n_rows

    @property
    def row_bytes(self):
        """Memory of what is made of one row."""
        return self.dtype.itemsize * self.n_columns

    def __getitem__(self, part):
        """For the rows of a slice without a step: (n, n_columns), Fortran order."""
        start, stop, _ = part.indices(len(self))
        made = self.empty(stop - start)
        for some in self.batches(start, stop):
            made[some.start - start : some.stop - start] = self._made(
                self.rows.part(some)
            )
        return made

    def empty(self, n_rows):
        """An array for what is made of so many rows."""
        return np.empty((n_rows, self.n_columns), self.dtype, "F")

    def batches(self, start, stop):
        """Slices of rows that are worked on at once."""
        for part in slices(stop - start, batch_rows(self._batch_bytes)):
            yield slice(start + part.start, start + part.stop)

    @property
    def is_small(self):
        """Whether it may be held for all rows."""
        return len(self) <= rows_in_memory(self.row_bytes)

    def held(self):
        """The array of all rows where it is small, else this object."""
        return self[:] if self.is_small else self


@cache
def _threadpools(user_api):
    # Looking for the libraries takes milliseconds: once is enough. A limit of some of
    # the libraries would set all of its controller's when it ends.
    return ThreadpoolController().select(user_api=user_api)


class _BlasLimits:
    """Limits of the threads of BLAS, which are those of the process: the least holds.

    Threads of Python set limits that overlap; the last to end gives back what the first
    one found.
    """

    def __init__(self):
        self._lock, self._limits, self._first = Lock(), [], None

    @contextmanager
    def limit(self, n_threads):
        """Context manager that limits the number of threads."""
        with self._lock:
            self._limits.append(n_threads)
            limiter = self._set()
            self._first = self._first or limiter
        try:
            yield
        finally:
            with self._lock:
                self._limits.remove(n_threads)
                if self._limits:
                    self._set()
                else:
                    self._first.restore_original_limits()
                    self._first = None

    def _set(self):
        return _threadpools("blas").limit(limits=min(self._limits))


_BLAS = _BlasLimits()


@contextmanager
def limit_threads(n_threads):
    """Context manager that limits OpenMP in this thread, and BLAS in the process."""
    with _threadpools("openmp").limit(limits=n_threads), _BLAS.limit(n_threads):
        yield


def run(function, tasks, *, n_jobs=None, verbose=0):
    """Results of ``function(*task)`` in the order of `tasks`, as they arrive.

    Parameters
    ----------
    function : callable
        Picklable.
    tasks : list of tuple
        Arguments, independent of each other.
    n_jobs : int or None, default=None
        As in scikit-learn; joblib's active backend is used.
    verbose : int, default=0
        Passed to joblib.

    Yields
    ------
    object
        What `function` returned.
    """
    if _n_workers(n_jobs, tasks) <= 1:
        yield from starmap(function, tasks)
        return
    work = _limited_calls(function, tasks, n_jobs)
    with limit_threads(_cores_each(_n_workers(n_jobs, tasks))):
        results = Parallel(n_jobs=n_jobs, verbose=verbose)(work)
    yield from _with_warnings(results)


def stream(function, tasks, *, n_jobs=None, verbose=0):
    """As `run`, of a function that returns an iterator: all items, task by task.

    Workers begin at once, and the caller may do something else meanwhile; without
    workers each item is computed when it is taken.
    """
    if _n_workers(n_jobs, tasks) <= 1:
        return chain.from_iterable(starmap(function, tasks))
    work = _limited_calls(partial(_listed, function), tasks, n_jobs)
    backend, _ = get_active_backend()
    return_as = _return_as(backend)
    parallel = Parallel(n_jobs=n_jobs, verbose=verbose, return_as=return_as)
    return chain.from_iterable(_with_warnings(parallel(work)))


def run_in_threads(function, tasks, *, n_jobs=None, verbose=0):
    """As `run`, in threads that share memory, for numpy's own loops.

    A backend that the caller has chosen is used, be it one of threads or not.
    """
    if _n_workers(n_jobs, tasks) <= 1:
        yield from starmap(function, tasks)
        return
    backend, _ = get_active_backend(prefer="threads")
    with limit_threads(1):
        yield from Parallel(
            n_jobs=n_jobs,
            verbose=verbose,
            prefer="threads",
            return_as=_return_as(backend),
        )(_Shared(function, tasks).calls(call, tasks))


def _n_workers(n_jobs, tasks):
    return min(effective_n_jobs(n_jobs), len(tasks))


class _Shared:
    """A function, and the arguments that are the same objects in all tasks."""

    def __init__(self, function, tasks):
        self.function = function
        columns = enumerate(zip(*tasks, strict=True))
        self.arguments = {i: c[0] for i, c in columns if all(a is c[0] for a in c)}

    def calls(self, function, tasks, *first):
        """Joblib's calls ``function(*first, self, others)``, with a task's others.

        A Dask cluster is sent this object as the result of a task, and the others in a
        tuple, which joblib leaves alone: what is scattered is lost with its worker.
        """
        client = getattr(get_active_backend()[0], "client", None)
        sent = self if client is None else self._submitted(client)
        for task in tasks:
            others = (own for i, own in enumerate(task) if i not in self.arguments)
            yield delayed(function)(*first, sent, tuple(others))

    def _submitted(self, client):
        with warnings.catch_warnings():
            # A large model has to be sent all the same.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return client.submit(_identity, self, pure=False)

    def __call__(self, own):
        task = list(own)
        for position, argument in self.arguments.items():
            task.insert(position, argument)
        return self.function(*task)


def _identity(shared):
    return shared


def _limited_calls(function, tasks, n_jobs):
    """Joblib's calls, each with its worker's share of the cores."""
    return _Shared(function, tasks).calls(_limited, tasks, _n_workers(n_jobs, tasks))


def _cores_each(n_workers):
    return max(1, cpu_count() // n_workers)


def _limited(n_workers, shared, own):
    # Those of the worker's machine, which may not be the caller's.
    cores = _cores_each(n_workers)
    # A model may ask for workers too, and would get all of a cluster.
    backend = "sequential" if cores == 1 else "threading"
    # Threads share the filters of a process: only its main thread may catch warnings.
    main = current_thread() is main_thread()
    caught = warnings.catch_warnings(record=True) if main else nullcontext([])
    with caught as given, limit_threads(cores), parallel_config(backend, n_jobs=1):
        result = shared(own)
    # As text: not all warnings can be pickled.
    found = [(str(w.message), w.category, w.filename, w.lineno) for w in given]
    return result, list(dict.fromkeys(found))


def _with_warnings(found):
    """Results of `_limited`; here each warning of the workers is given, once."""
    given = set()
    for result, warned in found:
        for warning in warned:
            if warning not in given:
                given.add(warning)
                warnings.warn_explicit(*warning)
        yield result


def _listed(function, *task):
    # An iterator does not travel between processes.
    return list(function(*task))


def _return_as(backend):
    """Value of joblib's `return_as` that yields results as early as a backend can."""
    one_by_one = getattr(backend, "supports_return_generator", False)
    return "generator" if one_by_one else "list"

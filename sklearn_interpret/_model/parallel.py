"""Batches that fit the working memory, arrays made batch by batch, joblib's loops."""

import os
from abc import ABC, abstractmethod
from functools import cache
from itertools import chain, starmap

import numpy as np
from joblib import effective_n_jobs
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


def held_rows(row_bytes):
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
        return len(self) <= held_rows(self.row_bytes)

    def held(self):
        """The array of all rows where it is small, else this object."""
        return self[:] if self.is_small else self


@cache
def _threadpools():
    # Looking for the libraries takes milliseconds: once is enough.
    return ThreadpoolController()


def limit_threads(n_threads):
    """Context manager: so many threads of BLAS and OpenMP."""
    return _threadpools().limit(limits=n_threads)


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
    work = _shared(function, tasks, n_jobs)
    yield from Parallel(n_jobs=n_jobs, verbose=verbose)(work)


def stream(function, tasks, *, n_jobs=None, verbose=0):
    """As `run`, of a function that returns an iterator: all items, task by task.

    Workers begin at once, and the caller may do something else meanwhile; without
    workers each item is computed when it is taken.
    """
    if _n_workers(n_jobs, tasks) <= 1:
        return chain.from_iterable(starmap(function, tasks))
    work = _shared(_listed, [(function, task) for task in tasks], n_jobs)
    backend, _ = get_active_backend()
    return_as = _return_as(backend)
    parallel = Parallel(n_jobs=n_jobs, verbose=verbose, return_as=return_as)
    return chain.from_iterable(parallel(work))


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
        )(delayed(function)(*task) for task in tasks)


def _n_workers(n_jobs, tasks):
    return min(effective_n_jobs(n_jobs), len(tasks))


def _shared(function, tasks, n_jobs):
    """Joblib's calls, each with its worker's share of BLAS and OpenMP threads."""
    threads = max(1, (os.cpu_count() or 1) // _n_workers(n_jobs, tasks))
    return (delayed(_limited)(threads, function, task) for task in tasks)


def _limited(threads, function, task):
    with limit_threads(threads):
        return function(*task)


def _listed(function, task):
    # An iterator does not travel between processes.
    return list(function(*task))


def _return_as(backend):
    """Value of joblib's `return_as` that yields results as early as a backend can."""
    one_by_one = getattr(backend, "supports_return_generator", False)
    return "generator" if one_by_one else "list"

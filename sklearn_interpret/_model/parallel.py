"""Batches that fit the working memory, and loops that joblib spreads."""

import os
from itertools import chain, starmap

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import get_config
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

# Past about this much, larger batches only add cache misses (and memory), but a model
# wants enough rows for its own cost per call not to count.
_PREFERRED_BYTES = 4 * 2**20
_PREFERRED_ROWS = 2**14

_PORTION_BYTES = 2**23
_LEAST_PORTION = 2**10


def batch_rows(row_bytes):
    """How many altered rows go to the model at once.

    Parameters
    ----------
    row_bytes : int
        Memory of one row in bytes.

    Returns
    -------
    int
        At least one; within scikit-learn's `working_memory`.
    """
    # The model makes copies of its own (casts, encoded columns): leave room.
    allowed = get_config()["working_memory"] * 2**20 / 4
    row_bytes = max(row_bytes, 1)
    preferred = max(_PREFERRED_BYTES // row_bytes, _PREFERRED_ROWS)
    return max(1, int(min(preferred, allowed // row_bytes)))


def held_rows(row_bytes):
    """How many rows may be held at once in a form of our own.

    Parameters
    ----------
    row_bytes : int
        Memory of one row in bytes, in all forms that are held together.

    Returns
    -------
    int
        At least one; within an eighth of scikit-learn's `working_memory`, so that
        there is room for what is made of them.
    """
    allowed = get_config()["working_memory"] * 2**20 / 8
    return max(1, int(allowed // max(row_bytes, 1)))


def portion_rows(row_bytes):
    """How many rows to add up at once, where sums must not hang on any setting.

    Parameters
    ----------
    row_bytes : int
        Memory of one row in bytes.

    Returns
    -------
    int
        At least a thousand.
    """
    return max(_LEAST_PORTION, _PORTION_BYTES // max(row_bytes, 1))


def slices(n_rows, step):
    """Parts of so many rows, one after the other."""
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


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
    n_workers = min(effective_n_jobs(n_jobs), len(tasks))
    if n_workers <= 1:
        for task in tasks:
            yield function(*task)
        return
    threads = max(1, (os.cpu_count() or 1) // n_workers)
    yield from Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_limited)(threads, function, task) for task in tasks
    )


def stream(function, tasks, *, n_jobs=None, verbose=0):
    """All that ``function(*task)`` yields, in the order of `tasks`.

    Workers begin at once, and the caller may do something else meanwhile; without
    workers nothing is done before it is asked for.

    Parameters
    ----------
    function : callable
        Picklable; returns an iterator, which a worker runs to its end.
    tasks : list of tuple
        Arguments, independent of each other.
    n_jobs : int or None, default=None
        As in scikit-learn; joblib's active backend is used.
    verbose : int, default=0
        Passed to joblib.

    Returns
    -------
    iterator
    """
    n_workers = min(effective_n_jobs(n_jobs), len(tasks))
    if n_workers <= 1:
        return chain.from_iterable(starmap(function, tasks))
    threads = max(1, (os.cpu_count() or 1) // n_workers)
    backend, _ = get_active_backend()
    return chain.from_iterable(
        Parallel(n_jobs=n_jobs, verbose=verbose, return_as=_return_as(backend))(
            delayed(_limited)(threads, _listed, (function, task)) for task in tasks
        )
    )


def _listed(function, task):
    """All that a function yields: an iterator does not travel."""
    return list(function(*task))


def _return_as(backend):
    """How results are handed on as early as a backend can."""
    one_by_one = getattr(backend, "supports_return_generator", False)
    return "generator" if one_by_one else "list"


def _limited(threads, function, task):
    """Run one task with the workers' share of BLAS and OpenMP threads."""
    with threadpool_limits(threads):
        return function(*task)


def run_in_threads(function, tasks, *, n_jobs=None, verbose=0):
    """As `run`, in threads that share memory, for numpy's own loops.

    A backend that the caller has chosen is obeyed, be it one of threads or not.

    Parameters
    ----------
    function : callable
        Spends its time where threads run side by side.
    tasks : list of tuple
        Arguments, independent of each other.
    n_jobs : int or None, default=None
        As in scikit-learn.
    verbose : int, default=0
        Passed to joblib.

    Yields
    ------
    object
        What `function` returned, in the order of `tasks`.
    """
    if min(effective_n_jobs(n_jobs), len(tasks)) <= 1:
        yield from run(function, tasks)
        return
    backend, _ = get_active_backend(prefer="threads")
    with threadpool_limits(1):
        yield from Parallel(
            n_jobs=n_jobs,
            verbose=verbose,
            prefer="threads",
            return_as=_return_as(backend),
        )(delayed(function)(*task) for task in tasks)

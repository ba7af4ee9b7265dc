"""Work spread over threads, processes and a Dask cluster: same results, fair shares."""

import logging
import os
import time
import warnings
from threading import Barrier, Event, Thread

import numpy as np
import pytest
from joblib import cpu_count, effective_n_jobs, parallel_config
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_info, threadpool_limits

from sklearn_interpret._model.parallel import limit_threads, run, run_in_threads, stream
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.estimator_checks import check_estimator
from sklearn_interpret.estimator_checks._results import all_results, assert_same
from sklearn_interpret.exceptions import (
    NonFiniteResponseError,
    SaturatedResponseWarning,
)
from sklearn_interpret.importance import (
    DropColumnImportance,
    PermutationImportance,
    PermutationTest,
)
from sklearn_interpret.shapley import KernelSHAP
from tests.instances import quick_arguments

pytestmark = pytest.mark.thorough

# One inspector for each loop: in threads, streamed, of blocks of rows, of models. That
# the work of every inspector can be sent to processes is an estimator check.
OF_EACH_LOOP = [
    PartialDependence,
    PermutationImportance,
    KernelSHAP,
    DropColumnImportance,
]


@pytest.fixture
def table():
    """A table of five columns, and a target of three of them."""
    X = np.random.default_rng(0).normal(size=(200, 5)).round(2)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    return X, y


def found_by(inspector_class, table, n_jobs=None):
    """What an inspector finds with so many workers, in blocks of few rows."""
    X, y = table
    model = HistGradientBoostingRegressor(max_iter=5)
    arguments = quick_arguments(inspector_class, model)
    with config_context(working_memory=0.1):
        inspector = inspector_class(model, n_jobs=n_jobs, **arguments).fit(X, y)
        return all_results(inspector, X)


each_loop = pytest.mark.parametrize(
    "inspector_class", OF_EACH_LOOP, ids=lambda c: c.__name__
)


@pytest.mark.parametrize(
    ("inspector_class", "backend"),
    [*((c, "loky") for c in OF_EACH_LOOP), (KernelSHAP, "multiprocessing")],
)
def test_backends_of_joblib_are_obeyed(inspector_class, backend, table):
    alone = found_by(inspector_class, table)
    with parallel_config(backend=backend, n_jobs=2):
        assert_same(found_by(inspector_class, table), alone)


# Before the cluster starts its threads: a process that is forked amid the work of a
# thread may wait forever for its lock.
def jobs_within(n_jobs):
    """Workers that a model with this `n_jobs` would use here."""
    return effective_n_jobs(n_jobs)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("n_jobs", [None, -1])
def test_models_in_workers_that_take_all_cores_use_one_each(backend, n_jobs):
    workers = max(2, cpu_count())
    with parallel_config(backend=backend):
        found = list(run(jobs_within, [(n_jobs,)] * workers, n_jobs=workers))
    assert found == [1] * workers


def warned(value):
    """Give one value, with a warning of ours."""
    warnings.warn("rows are odd", SaturatedResponseWarning, stacklevel=1)
    return [value]


@pytest.mark.parametrize("backend", ["multiprocessing", "loky"])
@pytest.mark.parametrize("loop", [run, stream])
def test_warnings_of_workers_are_seen_once(loop, backend):
    tasks = [(value,) for value in range(6)]
    with (
        parallel_config(backend=backend),
        pytest.warns(SaturatedResponseWarning, match="rows are odd") as seen,
    ):
        found = list(loop(warned, tasks, n_jobs=2))
    assert np.ravel(found).tolist() == list(range(6))
    assert [(w.filename, str(w.message)) for w in seen] == [(__file__, "rows are odd")]


def test_filters_of_warnings_hold_in_workers():
    with parallel_config(backend="multiprocessing"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SaturatedResponseWarning)
        assert list(run(warned, [(0,), (1,)], n_jobs=2)) == [[0], [1]]


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two workers within this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            # Another test process may have taken the usual port.
            dashboard_address="127.0.0.1:0",
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@each_loop
def test_dask_spreads_the_work(inspector_class, cluster, table):
    alone = found_by(inspector_class, table)
    with parallel_config(backend="dask"):
        assert_same(found_by(inspector_class, table, n_jobs=-1), alone)


def test_dask_does_the_work(cluster, table):
    """The blocks are sent to the workers, not answered here."""
    X, y = table
    distributed = pytest.importorskip("distributed")

    class Located(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.n_features_in_ = X.shape[1]
            return self

        def predict(self, X):
            try:
                distributed.get_worker()
            except ValueError:
                return np.zeros(len(X))
            return np.ones(len(X))

    with parallel_config(backend="dask"), config_context(working_memory=0.1):
        inspector = PartialDependence(Located(), n_jobs=-1).fit(X, y)
    assert_array_equal(inspector.average_[0], 1)


class Pickled:
    """Counts how often it is pickled: what a worker is sent."""

    def __init__(self):
        self.count = 0

    def __reduce__(self):
        self.count += 1
        return Pickled, ()


def nothing_of(first, own, second):
    """Return what is a task's own, as one result or as an iterator of one."""
    return [own]


@pytest.mark.parametrize("loop", [run, stream, run_in_threads])
def test_dask_is_sent_once_what_all_tasks_share(loop, cluster):
    model, rows = Pickled(), Pickled()
    tasks = [(model, own, rows) for own in range(20)]
    with parallel_config(backend="dask"):
        found = list(loop(nothing_of, tasks, n_jobs=-1))
    assert np.ravel(found).tolist() == list(range(20))
    assert max(model.count, rows.count) <= 1


def test_a_worker_that_dies_does_not_end_the_run(tmp_path):
    """Nor is anything lost that was on it: the model, or rows of other tasks."""
    distributed = pytest.importorskip("distributed")

    # Not a function of this module, whose imports take a worker seconds.
    def sum_of_both(shared, own, mark):
        if own[0] == 2 and not mark.exists():
            mark.touch()
            os._exit(1)
        return shared.sum() + own.sum()

    shared, mark = np.ones(10**4), tmp_path / "ended"
    tasks = [(shared, np.full(10**4, own), mark) for own in range(6)]
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as local,
        distributed.Client(local),
        parallel_config(backend="dask"),
    ):
        found = list(run(sum_of_both, tasks, n_jobs=-1))
    assert mark.exists()
    assert found == [10**4 * (1 + own) for own in range(6)]


class Sent(LinearRegression):
    """Counts how often any of its instances is pickled."""

    count = 0

    def __getstate__(self):
        """Count, and give what there is to pickle."""
        Sent.count += 1
        return super().__getstate__()


@pytest.mark.parametrize(
    "inspector",
    [
        PartialDependence(Sent()),
        PermutationImportance(Sent(), random_state=0),
        DropColumnImportance(Sent()),
        PermutationTest(Sent(), n_permutations=20, random_state=0),
        KernelSHAP(Sent(), random_state=0),
    ],
    ids=lambda inspector: type(inspector).__name__,
)
def test_a_cluster_is_sent_the_model_once(inspector, cluster, table):
    X, y = table
    Sent.count = 0
    with parallel_config(backend="dask"), config_context(working_memory=0.1):
        inspector.set_params(n_jobs=-1).fit(X, y)
        assert Sent.count <= 1
        if hasattr(inspector, "explain"):
            Sent.count = 0
            inspector.explain(X)
            assert Sent.count <= 1


def transformed(rows, inspector):
    return inspector.transform(rows)


def test_partitions_share_an_inspector_that_was_scattered(cluster, table):
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y = table
    X = pandas.DataFrame(X, columns=list("abcde"))
    inspector = KernelSHAP(Sent(), background=X[:5], random_state=0).fit(X, y)
    inspector.set_output(transform="pandas")
    expected = inspector.transform(X)
    counts = []
    for n_partitions in (2, 8):
        Sent.count = 0
        sent = cluster.scatter(inspector, broadcast=True, hash=False)
        parts = dataframe.from_pandas(X, npartitions=n_partitions)
        found = parts.map_partitions(transformed, sent, meta=expected[:2]).compute()
        pandas.testing.assert_frame_equal(found, expected, rtol=1e-10, atol=1e-10)
        counts.append(Sent.count)
    assert counts[0] == counts[1]


def test_models_in_a_cluster_do_not_spread_their_work_again(cluster):
    with parallel_config(backend="dask"):
        assert list(run(jobs_within, [(None,)] * 4)) == [1] * 4


def overlapping(seconds):
    """Take so long that tasks begin and end within others."""
    time.sleep(seconds)
    return [seconds]


@pytest.mark.parametrize("backend", ["threading", "dask"])
@pytest.mark.parametrize("loop", [run, stream])
def test_threads_are_given_back(loop, backend, cluster):
    started = max(blas_threads(), default=1)
    set_elsewhere(cpu_count() + 1)  # more than a worker's share
    try:
        before = blas_threads()
        with parallel_config(backend=backend):
            list(loop(overlapping, [(0.05,), (0.15,)], n_jobs=2))
        assert blas_threads() == before
    finally:
        set_elsewhere(started)


def test_limits_of_threads_may_overlap():
    """The least one holds in all threads, and the last to end gives back the first."""
    started = max(blas_threads(), default=1)
    set_elsewhere(3)
    before, seen = blas_threads(), []
    entered, left = Event(), Event()

    def longer():
        with limit_threads(2):
            entered.set()
            left.wait(timeout=60)
            seen.append(blas_threads())

    try:
        thread = Thread(target=longer)
        with limit_threads(1):
            thread.start()
            entered.wait(timeout=60)
            assert blas_threads() == [1] * len(before)
        left.set()
        thread.join()
        assert seen == [[2] * len(before)]
        assert blas_threads() == before
    finally:
        set_elsewhere(started)


BOTH_WORK = Barrier(2)


def listed_blas_threads(_):
    """Most threads that any BLAS would use here while two workers are at work."""
    BOTH_WORK.wait(timeout=60)
    found = max(blas_threads(), default=1)
    BOTH_WORK.wait(timeout=60)
    return [found]


@pytest.mark.parametrize("loop", [run, stream])
@pytest.mark.parametrize("backend", ["threading", "dask"])
def test_blas_is_limited_in_threads_of_workers(loop, backend, cluster):
    """Of workers at the same time: OpenBLAS ignores all threads but the first.

    A worker that begins when another has ended cannot set a limit while the thread of
    the other lives.
    """
    started = max(blas_threads(), default=1)
    set_elsewhere(cpu_count() + 1)
    try:
        with parallel_config(backend=backend):
            found = list(loop(listed_blas_threads, [(0,), (1,)], n_jobs=2))
        assert max(np.ravel(found)) == max(1, cpu_count() // 2)
    finally:
        set_elsewhere(started)


def set_elsewhere(n_threads):
    """Set threads from a thread that ends, so that none is in charge of them."""
    thread = Thread(target=threadpool_limits, args=(n_threads,))
    thread.start()
    thread.join()


def blas_threads():
    """Threads of the BLAS libraries, which all threads of a process share."""
    return [
        lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"
    ]


def threads_here(_):
    """Threads that BLAS and OpenMP would use here, the most of any library."""
    return max(library["num_threads"] for library in threadpool_info())


def test_workers_share_the_threads():
    found = list(run(threads_here, [(i,) for i in range(4)], n_jobs=2))
    assert max(found) <= max(1, (os.cpu_count() or 1) // 2)


def test_one_worker_keeps_its_threads():
    before = threads_here(None)
    assert list(run(threads_here, [(0,)], n_jobs=1)) == [before]
    assert threads_here(None) == before


# Behind the others that use loky: an error ends its processes, and starting takes time.
# Not with multiprocessing, whose pools may wait forever when they are ended amid work.
def test_warnings_that_are_errors_come_through():
    # As in the tests' own filters: an error.
    with (
        parallel_config(backend="loky"),
        pytest.raises(SaturatedResponseWarning, match="rows are odd"),
    ):
        list(run(warned, [(0,), (1,)], n_jobs=2))


@pytest.mark.parametrize(
    ("backend", "how", "error", "message"),
    [
        ("sequential", "raise", NotFittedError, "large values"),
        ("sequential", "nan", NonFiniteResponseError, "not finite: row"),
        ("loky", "nan", NonFiniteResponseError, "not finite: row"),
    ],
)
def test_errors_of_the_model_come_through(backend, how, error, message, table):
    # Not a class of this module, whose imports take a worker seconds.
    class Failing(RegressorMixin, BaseEstimator):
        """Fails at some rows, each time in its own way."""

        def __init__(self, how="raise"):
            self.how = how

        def fit(self, X, y):
            self.n_features_in_ = X.shape[1]
            return self

        def predict(self, X):
            bad = np.asarray(X)[:, 0] > 1
            if self.how == "raise" and bad.any():
                raise NotFittedError("no answer for large values")
            return np.where(bad, np.nan, 1.0)

    X, y = table
    with parallel_config(backend=backend), pytest.raises(error, match=message):
        PartialDependence(Failing(how), n_jobs=2).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_contract_holds_among_threads():
    inspector = PartialDependence(
        HistGradientBoostingRegressor(max_iter=5), grid_resolution=4
    )
    with parallel_config(backend="threading"):
        check_estimator(inspector)

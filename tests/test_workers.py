"""Work spread over threads, processes and a Dask cluster: same results, fair shares."""

import itertools
import os

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_info

from sklearn_interpret._model.parallel import run
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.estimator_checks import check_estimator
from sklearn_interpret.exceptions import NonFiniteResponseError
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.interactions import HStatistic
from sklearn_interpret.shapley import KernelSHAP
from tests.instances import INSPECTORS, OF_LINES, quick_arguments

# Processes of either kind are sent the same: here one inspector for each way of asking.
OF_EACH_FAMILY = [PartialDependence, PermutationImportance, HStatistic, KernelSHAP]
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def model_for(inspector_class):
    """A model whose answers do not depend on how the rows are parted, if it may be."""
    if inspector_class in OF_LINES:
        return LinearRegression()
    return HistGradientBoostingRegressor(max_iter=5)


@pytest.fixture
def table():
    """A table of five columns, and a target of three of them."""
    X = np.random.default_rng(0).normal(size=(200, 5)).round(2)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    return X, y


def effects_of(inspector):
    """Return what a fitted inspector found, by whatever name."""
    for name in ("effects_", "average_", "importances_"):
        if hasattr(inspector, name):
            return getattr(inspector, name)
    for name in ("pairwise_", "adjacency_", "base_values_", "fidelity_"):
        if hasattr(inspector, name):
            return [getattr(inspector, name)]
    return []  # all that it finds is given to rows


def transformed_by(inspector, X):
    """Return what a fitted inspector gives to rows, where it gives anything."""
    return inspector.transform(X) if hasattr(inspector, "transform") else X


@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize(
    ("inspector_class", "backend"),
    [
        *itertools.product(INSPECTORS, ["loky", "threading"]),
        *itertools.product(OF_EACH_FAMILY, ["multiprocessing"]),
    ],
)
def test_backends_of_joblib_are_obeyed(inspector_class, backend, table):
    X, y = table
    arguments = quick_arguments(inspector_class)
    model = model_for(inspector_class)
    with config_context(working_memory=0.1):
        alone = inspector_class(model, **arguments).fit(X, y)
        with parallel_config(backend=backend, n_jobs=2):
            spread = inspector_class(model, **arguments).fit(X, y)
            transformed = transformed_by(spread, X)
        assert_allclose(transformed, transformed_by(alone, X), **CLOSE)
    for found, expected in zip(effects_of(spread), effects_of(alone), strict=True):
        assert_allclose(found, expected, **CLOSE)


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


@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize("inspector_class", INSPECTORS, ids=lambda c: c.__name__)
def test_dask_spreads_the_work(inspector_class, cluster, table):
    X, y = table
    arguments = quick_arguments(inspector_class)
    model = model_for(inspector_class)
    with config_context(working_memory=0.1):
        alone = inspector_class(model, **arguments).fit(X, y)
        with parallel_config(backend="dask"):
            spread = inspector_class(model, n_jobs=-1, **arguments).fit(X, y)
            transformed = transformed_by(spread, X)
    for found, expected in zip(effects_of(spread), effects_of(alone), strict=True):
        assert_allclose(found, expected, **CLOSE)
    assert_allclose(transformed, transformed_by(alone, X), **CLOSE)


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


class Failing(RegressorMixin, BaseEstimator):
    """Fails at some rows, each time in its own way."""

    def __init__(self, how="raise"):
        self.how = how

    def fit(self, X, y):
        """Do nothing."""
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        """Fail for large values."""
        bad = np.asarray(X)[:, 0] > 1
        if self.how == "raise" and bad.any():
            raise NotFittedError("no answer for large values")
        return np.where(bad, np.nan, 1.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_the_model_come_through(n_jobs, table):
    X, y = table
    # An error ends the processes of a backend. These are forked, which takes no time;
    # errors travel between them as between all others.
    with parallel_config(backend="multiprocessing"):
        with pytest.raises(NotFittedError, match="large values"):
            PartialDependence(Failing(), n_jobs=n_jobs).fit(X, y)
        with pytest.raises(NonFiniteResponseError, match="row"):
            PartialDependence(Failing("nan"), n_jobs=n_jobs).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_contract_holds_among_threads():
    inspector = PartialDependence(
        HistGradientBoostingRegressor(max_iter=5), grid_resolution=4
    )
    with parallel_config(backend="threading"):
        check_estimator(inspector)

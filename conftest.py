"""Settings for the tests and for the doctests of the package and the documentation."""

import gc
import os
import sys
from functools import cache

import pytest

# Before anything imports what reads them: no test may need a screen, and the tests run
# in several processes, whose threads would wait for one another.
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser):
    """Tell how long to look for input that breaks something."""
    parser.addoption("--fuzz", type=int, default=100, help="cases for each family")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector from modules and tests, which live to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def read_signatures_once():
    """Keep the names of each class's parameters.

    scikit-learn reads them from the signature for every clone and validation: that is a
    tenth of what its checks take.
    """
    from sklearn.base import BaseEstimator

    names = BaseEstimator._get_param_names.__func__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseEstimator, "_get_param_names", classmethod(cache(names)))
        yield


@pytest.fixture(autouse=True)
def close_figures():
    """Leave no figure behind, without importing matplotlib for tests that draw none."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")

"""Settings for the tests and for the doctests of the package and the documentation."""

import gc
import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module

import pytest

# Before anything imports what reads them: no test may need a screen, and the tests run
# in several processes, whose threads would wait for one another.
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser):
    """Tell how long to look for input that breaks something."""
    parser.addoption("--fuzz", type=int, help="cases for each family, at random")
    parser.addoption("--thorough", action="store_true", help="run slow tests too")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector from modules and tests, which live to the end.

    And let it come less often: a figure is made of many objects, which it would read
    again and again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 10, 50)
        gc.enable()


def pytest_collection_modifyitems(config, items):
    """Begin with the tests of workers: a small process is quicker to fork.

    And leave the thorough tests to those who ask for them.
    """
    items.sort(key=lambda item: item.path.name != "test_workers.py")
    if not config.getoption("--thorough"):
        thorough = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=thorough)
        items[:] = [item for item in items if item not in set(thorough)]


@pytest.fixture(autouse=True, scope="session")
def look_up_classes_once():
    """Keep what scikit-learn asks of a class for every fit: a fifth of its checks.

    It reads the names of parameters from the signature, and asks narwhals, where it has
    that, whether a class is one of data frames.
    """
    from sklearn.base import BaseEstimator

    names = BaseEstimator._get_param_names.__func__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseEstimator, "_get_param_names", classmethod(cache(names)))
        with suppress(ImportError):
            narwhals = import_module("narwhals.stable.v2.dependencies")
            for name in ("is_into_dataframe", "is_into_series"):
                patch.setattr(narwhals, name, _by_class(getattr(narwhals, name)))
        yield


def _by_class(holds):
    """A test of an object, made once for each class."""
    known = {}

    def holds_for_class(value):
        if type(value) not in known:
            known[type(value)] = holds(value)
        return known[type(value)]

    return holds_for_class


@pytest.fixture(autouse=True)
def close_figures():
    """Leave no figure behind, without importing matplotlib for tests that draw none."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")

"""Settings for the tests and for the doctests of the package and the documentation."""

import gc
import os
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

# Before anything imports what reads them: no test may need a screen, and the tests run
# in several processes, whose threads would wait for one another.
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("OMP_NUM_THREADS", "1")

TESTS = Path(__file__).parent / "tests"
# Pages of the guide whose examples take seconds: doctests of the thorough run.
LONG_CHAPTERS = {
    "additive.rst",
    "adversarial.rst",
    "coming_from.rst",
    "counterfactuals.rst",
    "decomposition.rst",
    "effects.rst",
    "importance.rst",
    "influence.rst",
    "misleading.rst",
    "more_than_one_machine.rst",
    "needed.rst",
    "rules.rst",
    "shapley_any_model.rst",
    "shapley_dependence.rst",
    "shapley_plots.rst",
    "surrogates.rst",
    "which_method.rst",
}


def pytest_addoption(parser):
    """Tell how long to look for input that breaks something."""
    parser.addoption("--fuzz", type=int, help="cases for each family, at random")
    parser.addoption("--thorough", action="store_true", help="run all tests")


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


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for no doctests in the tests: there are none, and all names are searched."""
    found = yield
    if TESTS not in file_path.parents:
        return found
    return [module for module in found if not isinstance(module, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, obj):
    """Make no items of a test that is left out with all its cases."""
    if collector.config.getoption("--thorough"):
        return None
    marks = getattr(obj, "pytestmark", ())
    marks = marks if isinstance(marks, list) else ()
    left_out = any(mark.name == "thorough" and not mark.kwargs for mark in marks)
    return [] if left_out else None


def pytest_collection_modifyitems(config, items):
    """Begin with the tests of workers: a small process is quicker to fork.

    And leave to those who ask for them the thorough tests, and of tests with several
    parameters the cases beyond those that have each value of each parameter.
    """
    items.sort(key=lambda item: item.path.name != "test_workers.py")
    if not config.getoption("--thorough"):
        tests = defaultdict(list)
        for item in items:
            if item.path.name in LONG_CHAPTERS:
                item.add_marker("thorough")
            tests[item.nodeid.partition("[")[0]].append(item)
        chosen = {item for cases in tests.values() for item in _quick(cases)}
        config.hook.pytest_deselected(items=[i for i in items if i not in chosen])
        items[:] = [item for item in items if item in chosen]


def _quick(cases):
    """Cases of a test for the quick run."""
    marks = {case: case.get_closest_marker("thorough") for case in cases}
    most = min(
        (mark.kwargs["after"] for mark in marks.values() if mark and mark.kwargs),
        default=None,
    )
    quick = [case for case in cases if not marks[case] or marks[case].kwargs]
    return _each_value(quick)[:most]


def _each_value(cases):
    """Cases of a test, few of them, that have each value of each of its parameters."""
    values = {case: set(_values(case)) for case in cases}
    unseen = set().union(*values.values())
    of_one = Counter(next(zip(*value, strict=True)) for value in unseen)
    if max(of_one.values(), default=len(cases)) == len(cases):
        return cases
    chosen, n_uses = [], Counter()
    while unseen:
        # The most values that are not seen yet, next to the least used of the others.
        case = max(
            values,
            key=lambda c: (
                len(values[c] & unseen),
                -sum(n_uses[value] for value in values[c]),
            ),
        )
        chosen.append(case)
        unseen -= values[case]
        n_uses.update(values.pop(case))
    return chosen


def _values(case):
    """What a test is called with: values that are parametrized together are one."""
    params = getattr(case, "callspec", None) and dict(case.callspec.params)
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        names = names.split(",") if isinstance(names, str) else names
        yield tuple((name, id(params.pop(name.strip()))) for name in names)
    for name, value in (params or {}).items():
        yield ((name, id(value)),)


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


@pytest.fixture(autouse=True, scope="session")
def stop_the_clock():
    """Let calls take no time: on a busy machine, they would say how long they take."""
    from sklearn_interpret._model import progress

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "monotonic", lambda: 0.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def start_workers_at_once(request):
    """Let joblib send work to threads where it would to processes, which start slowly.

    The thorough run starts processes.
    """
    from joblib import register_parallel_backend

    from tests.workers import SendingBackend

    if not request.config.getoption("--thorough"):
        register_parallel_backend("sending", SendingBackend, make_default=True)


@pytest.fixture(autouse=True)
def close_figures():
    """Leave no figure behind, without importing matplotlib for tests that draw none."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")

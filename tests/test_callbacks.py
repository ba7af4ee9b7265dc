"""Progress: scikit-learn's callbacks see every task, begun and ended."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_interpret._model._sklearn_compat import (
    report_percent,
    root_callback_context,
)
from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence
from sklearn_interpret.rules import RuleFitClassifier
from sklearn_interpret.shapley import KernelSHAP
from tests.instances import OF_WORKERS, models, quick_arguments

callback = pytest.importorskip("sklearn.callback")  # scikit-learn >= 1.9

all_inspectors = pytest.mark.parametrize(
    "inspector_class", OF_WORKERS, ids=lambda c: c.__name__
)


class Recorder:
    """Records events, in order."""

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        """Note that a fit begins."""
        self.events.append(("setup", path_of(context)))

    def on_fit_task_begin(self, estimator, context):
        """Note that a task begins."""
        self.events.append(("begin", path_of(context)))

    def on_fit_task_end(self, estimator, context):
        """Note that a task has ended."""
        self.events.append(("end", path_of(context)))

    def teardown(self, estimator, context):
        """Note that a fit is over, however it went."""
        self.events.append(("teardown", path_of(context)))

    def tasks(self, event):
        """Return the tasks of one kind of event."""
        return [path for kind, path in self.events if kind == event]


class PropagatedRecorder(Recorder):
    """The same, handed on to estimators within."""

    max_propagation_depth = None


def path_of(context):
    """Names and numbers of a task and those around it, the outermost first."""
    path = []
    while context is not None:
        path.append((context.estimator_name, context.task_name, context.task_id))
        context = context.parent
    return tuple(reversed(path))


def assert_nested(recorder):
    """Every task ends before the one around it, and none begins twice."""
    first, *events, last = recorder.events
    assert (first[0], last[0]) == ("setup", "teardown")
    running = []
    for kind, path in events:
        if kind == "begin":
            assert running == [path[:depth] for depth in range(1, len(path))]
            running.append(path)
        else:
            assert running.pop() == path
    assert running == []
    assert len(set(recorder.tasks("begin"))) == len(recorder.tasks("begin"))
    assert sorted(recorder.tasks("begin")) == sorted(recorder.tasks("end"))


def percents(recorder):
    """Tasks that report another percent of a call."""
    return [path for path in recorder.tasks("end") if path[-1][1] == "percent"]


@pytest.fixture
def table():
    """A small table with a numeric and a two-class target."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    return X, X[:, 0] + X[:, 1], (X[:, 0] > 0).astype(int)


@pytest.mark.thorough(after=15)
@all_inspectors
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_balance(inspector_class, n_jobs, table):
    X, y, _ = table
    recorder = Recorder()
    model, *_ = models(inspector_class)
    inspector = inspector_class(
        model, n_jobs=n_jobs, **quick_arguments(inspector_class, model)
    )
    assert isinstance(recorder, callback.FitCallback)
    with config_context(working_memory=0.01):
        inspector.set_callbacks(recorder).fit(X, y)
    assert_nested(recorder)
    parts = {path[1][1] for path in recorder.tasks("begin") if len(path) == 2}
    assert parts == {"fit-estimator", "inspect"}
    assert [path[1][1] for path in percents(recorder)] == ["inspect"] * 100


def test_as_many_tasks_for_two_workers_as_for_one(table):
    X, y, _ = table
    events = []
    for n_jobs in (1, 2):
        recorder = Recorder()
        inspector = AccumulatedLocalEffects(LinearRegression(), n_jobs=n_jobs)
        with config_context(working_memory=0.01):
            inspector.set_callbacks(recorder).fit(X, y)
        events.append(recorder.events)
    assert events[0] == events[1]


def test_callbacks_change_no_result_and_leave_nothing(table):
    X, y, _ = table
    plain = PartialDependence(LinearRegression()).fit(X, y)
    watched = PartialDependence(LinearRegression()).set_callbacks(Recorder()).fit(X, y)
    assert_array_equal(watched.average_[0], plain.average_[0])
    watched.set_callbacks()
    assert set(vars(watched)) == set(vars(plain))
    assert_array_equal(
        pickle.loads(pickle.dumps(watched)).transform(X), plain.transform(X)
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_explaining_has_tasks_too(n_jobs, table):
    X, y, _ = table
    recorder = Recorder()
    inspector = KernelSHAP(LinearRegression(), n_jobs=n_jobs, subsample=10).fit(X, y)
    expected = inspector.explain(X).values
    attributes = set(vars(inspector))
    inspector.set_callbacks(recorder)
    assert_array_equal(inspector.explain(X).values, expected)
    assert_nested(recorder)
    assert recorder.tasks("begin")[0] == (("KernelSHAP", "explain", 0),)
    assert len(percents(recorder)) == 100
    assert set(vars(inspector.set_callbacks())) == attributes


def test_models_of_our_own_have_tasks(table):
    X, _, labels = table
    recorder = Recorder()
    model = RuleFitClassifier(max_rules=10, n_folds=2, random_state=0)
    model.set_callbacks(recorder).fit(X, labels)
    assert_nested(recorder)
    assert len(percents(recorder)) == 100


def test_percents_leave_nothing_where_nobody_listens():
    inspector = PartialDependence(LinearRegression())
    context = root_callback_context(inspector, None)
    report_percent(context, inspector)
    assert list(context) == [context]


def test_the_end_is_told_of_after_an_error(table):
    X, y, _ = table
    recorder = Recorder()
    inspector = PartialDependence(LinearRegression(), features=["unknown"])
    with pytest.raises(ValueError, match="unknown"):
        inspector.set_callbacks(recorder).fit(X, y)
    assert recorder.events[0][0] == "setup"
    assert recorder.events[-1][0] == "teardown"


def test_callbacks_are_handed_to_the_model(table):
    """A model with callbacks of its own has its tasks below the inspector's."""
    X, _, labels = table
    recorder = PropagatedRecorder()
    search = GridSearchCV(LogisticRegression(), {"C": [1, 2]}, cv=2)
    PartialDependence(search).set_callbacks(recorder).fit(X, labels)
    assert_nested(recorder)
    owners = [tuple(name for name, *_ in path) for path in recorder.tasks("begin")]
    assert ("PartialDependence", "GridSearchCV") in owners
    assert any(len(path) > 2 and path[1] == "GridSearchCV" for path in owners)


def test_callbacks_come_from_a_search_around(table):
    X, _, labels = table
    recorder = PropagatedRecorder()
    inspector = PartialDependence(LogisticRegression(), grid_resolution=3)
    search = GridSearchCV(inspector, {"estimator__C": [1, 2]}, cv=2)
    search.set_callbacks(recorder).fit(X, labels)
    assert_nested(recorder)
    inspections = [
        path
        for path in recorder.tasks("end")
        if path[-1][:2] == ("PartialDependence", "inspect")
    ]
    assert len(inspections) == 2 * 2 + 1  # each fold of each candidate, and the refit


# The labels are told apart by the columns.
separated = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.SeparationWarning"
)


@separated
@all_inspectors
def test_progress_bar(inspector_class, table, capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "200")
    X, _, labels = table
    _, model, *_ = models(inspector_class)
    arguments = quick_arguments(inspector_class, model)
    inspector = inspector_class(model, n_jobs=2, **arguments)
    inspector.set_callbacks(callback.ProgressBar()).fit(X, labels)
    shown = capsys.readouterr()
    assert inspector_class.__name__ in shown.out
    assert "inspect" in shown.out
    assert "100%" in shown.out
    assert shown.err == ""


# What is said of a result by a warning is no chatter.
@separated
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.LowFidelityWarning",
    "ignore:No features were selected",
)
@all_inspectors
def test_silent_by_default(inspector_class, table, capfd):
    X, _, labels = table
    _, model, *_ = models(inspector_class)
    arguments = quick_arguments(inspector_class, model)
    inspector = inspector_class(model, n_jobs=2, **arguments).fit(X, labels)
    if hasattr(inspector, "transform"):
        inspector.transform(X)
    assert capfd.readouterr() == ("", "")

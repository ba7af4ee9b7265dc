"""Progress: `verbose` prints the share done and the time left of every slow call."""

import re
import warnings
from itertools import count

import numpy as np
import pytest
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret._model import progress
from sklearn_interpret._model.progress import phases, progress_of, with_progress
from sklearn_interpret.adversarial import FastGradientSign, MinimalPerturbation
from sklearn_interpret.counterfactuals import AnchorsText, TextCounterfactual
from sklearn_interpret.diagnosis import ChangeAttribution
from sklearn_interpret.effects import ConditionalDependence
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.importance import PartialDependenceImportance
from sklearn_interpret.influence import RegressionInfluence
from sklearn_interpret.linear import CoefficientInference
from sklearn_interpret.prototypes import MMDCritic
from sklearn_interpret.shapley import KernelSHAP
from sklearn_interpret.surrogates import LimeText
from tests.instances import ARGUMENTS, models, quick_arguments, takes, wraps_a_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5)).round(2)
NUMBERS, LABELS = X[:, 0] + X[:, 1], (X[:, 0] > 0).astype(int)

LINE = re.compile(r"\[(\w+\.\w+)\] (\d+) % done(?:, \d+ \w+ left| in \d+ \w+|)")


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Let a second pass between any two looks at the clock."""
    seconds = count()
    monkeypatch.setattr(progress, "monotonic", lambda: next(seconds))


class Caller:
    """Something with progress."""

    verbose = 1


def printed(capsys):
    """Percents that are printed, by call, in order."""
    found = {}
    for line in capsys.readouterr().out.splitlines():
        call, percent = LINE.fullmatch(line).groups()
        found.setdefault(call, []).append(int(percent))
    return found


def instance(public_class, verbose):
    """An instance of a class with `verbose`, and targets for it."""
    if not wraps_a_model(public_class):
        return public_class(**ARGUMENTS[public_class][0], verbose=verbose), LABELS
    model = models(public_class)[0]
    arguments = quick_arguments(public_class, model)
    return public_class(model, **arguments, verbose=verbose), NUMBERS


# Of small tables, these are a single call of the model or of LAPACK.
START_AND_END = {
    ChangeAttribution,
    ConditionalDependence,
    CoefficientInference,
    FastGradientSign,
    MinimalPerturbation,
    MMDCritic,
    RegressionInfluence,
}
# Products of coefficients.
QUICK_EXPLAIN = "CoefficientInference", "RuleFitClassifier", "RuleFitRegressor"
SLOW = [c for c in ARGUMENTS if takes(c, "verbose")]


def check_progress(silent, loud, X, y, capsys):
    """Check what `fit` and `explain` print; return the most lines of a call."""
    name = type(loud).__name__
    for estimator in silent, loud:
        with config_context(working_memory=0.01):
            estimator.fit(X, y)
            if is_slow := hasattr(estimator, "explain") and name not in QUICK_EXPLAIN:
                estimator.explain(X)
        calls = printed(capsys)
        assert bool(calls) == bool(estimator.verbose)
    assert set(calls) == {f"{name}.fit", *[f"{name}.explain"] * is_slow}
    for percents in calls.values():
        assert (percents[0], percents[-1]) == (0, 100)
        assert percents == sorted(set(percents))
    return max(map(len, calls.values()))


@pytest.mark.thorough(after=8)
@pytest.mark.parametrize("public_class", SLOW, ids=lambda c: c.__name__)
def test_calls_print_their_progress(public_class, capsys):
    loud, y = instance(public_class, 1)
    silent, _ = instance(public_class, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # results do not matter
        n_lines = check_progress(silent, loud, X, y, capsys)
    assert (n_lines == 2) == (public_class in START_AND_END)


@pytest.mark.parametrize("public_class", [AnchorsText, LimeText, TextCounterfactual])
def test_inspectors_of_texts_print_their_progress(public_class, capsys):
    texts = ["good fine film", "bad dull film", "fine good plot", "dull bad plot"]
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    small = {} if public_class is TextCounterfactual else {"n_samples": 20}
    estimators = [public_class(model, **small, verbose=verbose) for verbose in (0, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        n_lines = check_progress(*estimators, texts, [1, 0, 1, 0], capsys)
    assert n_lines > 2


@pytest.mark.thorough
def test_workers_report_their_tasks(capsys):
    model = LinearRegression().fit(X, NUMBERS)
    inspector = KernelSHAP(FrozenEstimator(model), subsample=5, n_jobs=2, verbose=1)
    inspector.fit(X).explain(X)
    percents = printed(capsys)["KernelSHAP.explain"]
    assert percents == [0, 12, 25, 37, 50, 62, 75, 87, 100]


def test_importances_report_when_they_are_computed(capsys):
    model = LinearRegression().fit(X, NUMBERS)
    inspector = KernelSHAP(FrozenEstimator(model), subsample=5, verbose=1).fit(X)
    first = inspector.feature_importances_
    percents = printed(capsys)["KernelSHAP.feature_importances_"]
    assert (percents[0], percents[-1]) == (0, 100)
    np.testing.assert_array_equal(inspector.feature_importances_, first)
    assert not printed(capsys)


def test_an_inspector_within_another_is_a_part_of_it(capsys):
    PartialDependenceImportance(LinearRegression(), verbose=1).fit(X, NUMBERS)
    assert set(printed(capsys)) == {"PartialDependenceImportance.fit"}


def lines_of(call, capsys):
    """What a function prints as a call with progress."""
    with progress_of(Caller(), "run"):
        call()
    return [
        line.removeprefix("[Caller.run] ")
        for line in capsys.readouterr().out.splitlines()
    ]


def test_lines_have_the_time_left(capsys):
    lines = lines_of(lambda: list(with_progress(range(4))), capsys)
    assert lines == [
        "0 % done",
        "25 % done, 3 seconds left",
        "50 % done, 2 seconds left",
        "75 % done, 1 seconds left",
        "100 % done in 4 seconds",
    ]


def test_there_is_at_most_a_line_per_second(capsys, monkeypatch):
    quarters = count()
    monkeypatch.setattr(progress, "monotonic", lambda: next(quarters) / 4)
    lines = lines_of(lambda: list(with_progress(range(16))), capsys)
    assert lines == [
        "0 % done",
        "25 % done, 3 seconds left",
        "50 % done, 2 seconds left",
        "75 % done, 1 seconds left",
        "100 % done in 4 seconds",
    ]


class Default(Caller):
    """Something with progress, of which nothing was said."""

    verbose = None


def said(n_items, second, capsys, monkeypatch):
    """Lines, and warnings, of a default call whose items take some seconds each."""
    clock = count(0, second)
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with progress_of(Default(), "run"):
            list(with_progress(range(n_items)))
    out, err = capsys.readouterr()
    assert not out
    return err.splitlines(), [(w.category, str(w.message)) for w in caught]


def test_long_calls_say_so_once(capsys, monkeypatch):
    assert said(10, 0.4, capsys, monkeypatch) == ([], [])
    lines, caught = said(10, 2, capsys, monkeypatch)
    text = "[Default.run] 10 % done, about 18 seconds left (verbose=0 leaves this out)"
    assert lines == [text]
    assert not caught


def test_costly_calls_warn_once(capsys, monkeypatch):
    lines, caught = said(100, 3, capsys, monkeypatch)
    assert len(lines) == 1
    ((category, text),) = caught
    assert category is CostlyInspectionWarning
    assert text.startswith("Allow about 5 minutes for the rest of Default.run: ")


def test_calls_within_another_say_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "monotonic", count(0, 9).__next__)
    silent = Caller()
    silent.verbose = 0
    with progress_of(Default(), "run"), progress_of(Default(), "inner"):
        list(with_progress(range(3)))
    assert capsys.readouterr().err.count("Default") == 1
    with progress_of(silent, "run"):
        list(with_progress(range(3)))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(119, "119 seconds"), (120, "2 minutes"), (7200, "2 hours"), (2e5, "2 days")],
)
def test_durations(seconds, text):
    assert progress.duration_in_words(seconds) == text


def test_inner_loops_are_parts_of_an_item(capsys):
    def call():
        for _ in with_progress(range(2)):
            list(with_progress(range(2)))

    shares = [line.split(" %")[0] for line in lines_of(call, capsys)]
    assert shares == ["0", "25", "50", "75", "100"]


def test_phases_divide_a_call(capsys):
    def call():
        parts = phases(2)
        next(parts)
        list(with_progress(range(2)))
        next(parts)
        list(with_progress(range(2)))

    shares = [line.split(" %")[0] for line in lines_of(call, capsys)]
    assert shares == ["0", "25", "50", "75", "100"]


def test_loops_may_end_early(capsys):
    def call():
        for _ in with_progress(range(2)):
            for _ in with_progress(range(100)):
                break

    shares = [line.split(" %")[0] for line in lines_of(call, capsys)]
    assert shares == ["0", "50", "100"]


def test_what_fails_does_not_end(capsys):
    def call():
        raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        lines_of(call, capsys)
    assert capsys.readouterr().out == "[Caller.run] 0 % done\n"
    items = [1]
    assert with_progress(items) is items  # nobody listens any more

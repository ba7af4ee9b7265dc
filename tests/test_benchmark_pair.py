"""The benchmarks' harness: what it measures and how it judges, never how fast."""

import gc
import importlib.util
import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression

SOURCE = Path(__file__).parents[1] / "benchmarks" / "pair.py"


def load(source, name):
    spec = importlib.util.spec_from_file_location(name, source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pair():
    # Each measurement collects garbage first: spare what other tests have left.
    gc.freeze()
    yield load(SOURCE, "benchmark_pair")
    del sys.modules["benchmark_pair"]
    gc.unfreeze()


@pytest.fixture
def model():
    X = np.arange(12.0).reshape(6, 2) ** 2
    return LinearRegression().fit(X, X.sum(axis=1))


def raise_(error):
    raise error


def judged(pair, capsys, peer=lambda: 1.0, ours=1.0, target=None):
    """Exit status and printed text of a single pair."""
    case = pair.Pair(
        "case",
        ours=lambda: ours,
        peer=peer,
        peer_package="numpy",
        agreement=lambda a, b: abs(a - b),
        tolerance=1e-10,
        target_ratio=target,
    )
    run = {"threads": 1, "repeats": 2}
    status = pair.report({"case": lambda _: pair.run_pair(case, **run)}, threads=1)
    return status, capsys.readouterr().out


@pytest.mark.parametrize("target, verdict", [(0.0, "ok"), (math.inf, "below target")])
def test_missed_ratio_is_said_and_no_failure(pair, capsys, target, verdict):
    status, text = judged(pair, capsys, target=target)
    assert status == 0
    assert text.rstrip().endswith(verdict)
    assert f"numpy {np.__version__}" in text


@pytest.mark.parametrize("ours", [1.0 + 1e-9, math.nan])
def test_disagreement_fails_whatever_the_ratio(pair, capsys, ours):
    status, text = judged(pair, capsys, ours=ours, target=0.0)
    assert status == 1
    assert text.rstrip().endswith("DISAGREES")


@pytest.mark.parametrize(
    "error, status, verdict",
    [
        (ModuleNotFoundError("No module named 'peer'"), 0, "peer missing"),
        (TypeError("unexpected keyword"), 1, "peer failed"),
    ],
)
def test_absent_peer_is_told_from_broken_one(pair, capsys, error, status, verdict):
    found, text = judged(pair, capsys, peer=lambda: raise_(error))
    assert found == status
    assert verdict in text
    assert str(error) in text


def test_turns_are_interleaved(pair):
    calls = []
    times = pair.paired_seconds(
        lambda: calls.append("A"), lambda: calls.append("B"), threads=1, repeats=3
    )
    # Short calls are made again and again within a turn.
    assert [call for call, _ in itertools.groupby(calls)] == list("ABABAB")
    assert times.shape == (3, 2)


@pytest.mark.parametrize("expected, verdict", [(10, "ok"), (9, "DISAGREES")])
def test_rows_and_calls_are_counted(pair, model, expected, verdict):
    def inspect(spy):
        return [spy.predict(np.ones((rows, 2))) for rows in (3, 7)]

    row = pair.count_rows("case", inspect, model, expected=expected)
    assert (row.ours, row.measured, row.verdict) == ("10", "2 calls", verdict)


def test_own_time_is_taken_on_the_rows_as_they_were_sent(pair, model):
    sent = []
    model.predict = lambda X: sent.append(X.copy()) or np.zeros(len(X))

    def inspect(spy):
        # One work array, written again: the rows must be kept as they were.
        work = np.zeros((2, 2))
        for value in (1.0, 2.0):
            work[:] = value
            spy.predict(work)

    row = pair.own_time("case", inspect, model, threads=1, repeats=1, limit=math.inf)
    stacked = [X for X in sent if len(X) == 4]
    assert_array_equal(stacked[0][:, 0], [1.0, 1.0, 2.0, 2.0])
    assert row.verdict == "ok"


@pytest.mark.parametrize("large, verdict", [(2**20, "ok"), (2**23, "above target")])
def test_memory_growth_is_judged(pair, large, verdict):
    def work(size):
        return lambda: np.ones(size, dtype=np.uint8).sum()

    row = pair.memory_growth("case", work(2**20), work(large), limit=1.1)
    assert row.verdict == verdict


def test_turns_end_with_the_budget_but_not_before_the_second(pair):
    def measure(budget):
        clock = itertools.count().__next__  # each call takes one second
        return pair.paired_seconds(
            list, list, threads=1, repeats=9, clock=clock, budget=budget
        )

    assert [len(measure(budget)) for budget in (0, 7, math.inf)] == [2, 4, 9]


@pytest.mark.parametrize(
    "target, verdict",
    [
        ({}, "ok"),
        ({"at_least": 0.9}, "ok"),
        ({"at_least": 1.1}, "below target"),
        ({"at_most": 1.1}, "ok"),
        ({"at_most": 0.9}, "above target"),
    ],
)
def test_ratio_of_our_own_works_is_judged(pair, target, verdict):
    run = {"threads": 1, "repeats": 3, "clock": itertools.count().__next__}
    row = pair.own_ratio("case", "other", list, list, **target, **run)
    assert row.measured.startswith("1.00 ")
    assert row.verdict == verdict


@pytest.mark.parametrize("second, verdict", [(2.0, "DISAGREES"), (1.0, "ok")])
def test_our_own_works_must_agree_where_they_can_be_compared(pair, second, verdict):
    row = pair.own_ratio(
        "case",
        "other",
        lambda: 1.0,
        lambda: second,
        agreement=lambda a, b: abs(a - b),
        threads=1,
        repeats=1,
    )
    assert row.verdict == verdict


@pytest.mark.parametrize("passing, verdict", [(2**20, "ok"), (2**24, "above target")])
def test_memory_is_bounded_beyond_the_result(pair, passing, verdict):
    def work():
        kept = np.ones(2**24, dtype=np.uint8)
        return kept, np.ones(passing, dtype=np.uint8).sum()

    row = pair.bounded_memory("case", work, work, working_memory=4, limit=1)
    assert row.verdict == verdict


def test_exponent_of_growth_is_that_of_the_largest_sizes(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "pair", pair)
    monkeypatch.setitem(sys.modules, "benchmark_growth", None)  # put back afterwards
    growth = load(SOURCE.with_name("growth.py"), "benchmark_growth")
    sizes = 10.0 ** np.arange(6)
    found = growth.Growth("case", "rows", sizes, np.maximum(sizes**2, 1e4))
    assert found.exponent == pytest.approx(2.0)
    assert growth.judge(found, limit=2.1).verdict == "ok"
    assert growth.judge(found, limit=1.1).verdict == "above target"


def test_results_are_recorded_case_by_case(pair, tmp_path, capsys):
    record = tmp_path / "results.json"
    record.write_text('{"another": {}}')
    row = pair.Result("case", "numpy", "1 s", "2 s", "2.0", "-", "0", "ok")
    first = tmp_path / "no folder yet" / "first.json"
    for path in (record, first):
        pair.report({"case": lambda _: row}, threads=1, record=path)
    assert first.exists()
    results = json.loads(record.read_text())
    assert set(results) == {"another", "case"}
    assert results["case"]["measured"] == "2.0"
    assert "1 s" not in record.read_text()

"""The benchmarks' harness: what it measures and how it judges, never how fast."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

SOURCE = Path(__file__).parents[1] / "benchmarks" / "pair.py"


@pytest.fixture(scope="module")
def pair():
    spec = importlib.util.spec_from_file_location("benchmark_pair", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


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
    assert calls == list("ABABAB")
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
    np.testing.assert_array_equal(stacked[0][:, 0], [1.0, 1.0, 2.0, 2.0])
    assert row.verdict == "ok"


@pytest.mark.parametrize("large, verdict", [(2**20, "ok"), (2**23, "above target")])
def test_memory_growth_is_judged(pair, large, verdict):
    def work(size):
        return lambda: np.ones(size, dtype=np.uint8).sum()

    row = pair.memory_growth("case", work(2**20), work(large), limit=1.1)
    assert row.verdict == verdict

"""Measure our work against a peer's: same input, same process, same threads.

A `Pair` names two callables that do the same work. `run_pair` warms both up, checks
that their results agree, then times them in turns (ours, peer, ours, peer, ...): the
ratio is taken within each turn, so that a machine that slows down slows both.
The other measurements need no peer: the rows that reach the model, our own time
beyond the model's, the time of one work of ours in units of another, and peak memory.
All give a `Result`, one line each.
"""

import gc
import json
import math
import re
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from threadpoolctl import threadpool_limits

COLUMNS = "{:<30} {:<24} {:>7} {:>9} {:>9} {:>25} {:>13} {:>10}  {}"

# `time.process_time` is the one for a machine that others use too: it leaves out the
# time in which they run, but adds up threads, and does not see other processes.
Clock = Callable[[], float]

# Seconds that a measurement takes at least.
AT_LEAST = 0.02

# Verdicts. Only the first kind makes the run fail: a time varies, a result does not.
FAILURES = {"DISAGREES", "peer failed"}


@dataclass(frozen=True)
class Result:
    """One line of the table; `ours` and `theirs` are texts with their unit."""

    name: str
    against: str
    ours: str
    theirs: str
    measured: str
    target: str
    difference: str
    verdict: str
    note: str = ""


Case = Callable[[str], Result]


@dataclass(frozen=True)
class Pair:
    """Two ways to do the same work.

    Parameters
    ----------
    name : str
        What is measured.
    ours, peer : callable
        Take nothing, do the work, return its result. The peer is imported inside
        `peer`, so that an absent package is met, and reported, there.
    peer_package : str
        The peer's name in the package index; its installed version is printed.
    agreement : callable
        Takes both results, returns the largest absolute difference.
    tolerance : float
        The largest difference that still counts as the same result.
    target_ratio : float or None
        The peer's time divided by ours should be at least this; None: no target.
    enough : float, default=0
        So many seconds of ours meet any target.
    """

    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    peer_package: str
    agreement: Callable[[Any, Any], float]
    tolerance: float
    target_ratio: float | None = None
    enough: float = 0.0

    @property
    def target(self) -> str:
        """What is asked for, as the table has it."""
        if self.target_ratio is None:
            return "-"
        enough = f" or {1e3 * self.enough:g} ms" if self.enough else ""
        return f">= {self.target_ratio:.3g}{enough}"


def seconds(call: Callable[[], Any], clock: Clock) -> float:
    """Return the time of one call, with no garbage left over from before.

    A short one is called again and again: collecting garbage leaves the caches cold.
    """
    gc.collect()
    start, n_calls, passed = clock(), 0, 0.0
    while passed < AT_LEAST:
        call()
        n_calls += 1
        passed = clock() - start
    return passed / n_calls


def paired_seconds(
    first: Callable[[], Any],
    second: Callable[[], Any],
    *,
    threads: int,
    repeats: int,
    clock: Clock = time.perf_counter,
    budget: float = math.inf,
) -> np.ndarray:
    """Time both calls in turns; returns an array of shape (turns, 2).

    There are `repeats` turns, or fewer, but two, where these take more than `budget`
    seconds.
    """
    # Only here, not around the warm-up: the limits reach the libraries that are
    # loaded by now, and a peer's come with its first call.
    with threadpool_limits(limits=threads):
        times = []
        while len(times) < repeats and (len(times) < 2 or np.sum(times) < budget):
            times.append([seconds(first, clock), seconds(second, clock)])
    return np.array(times)


def duration(seconds: float) -> str:
    """Write a time, a short one in milliseconds."""
    return f"{1e3 * seconds:.2f} ms" if seconds < 0.1 else f"{seconds:.3f} s"


def spread(values: Iterable[float], form: str) -> str:
    """Write a median with the smallest and the largest value."""
    values = sorted(values)
    middle = statistics.median(values)
    return f"{middle:{form}} ({values[0]:{form}} - {values[-1]:{form}})"


def run_pair(pair: Pair, **run: Any) -> Result:
    """Warm up, compare the results, then time both as `paired_seconds` does."""
    ours = pair.ours()
    try:
        theirs = pair.peer()
    except Exception as error:
        return _without_peer(pair, error)
    difference = float(pair.agreement(ours, theirs))
    del ours, theirs
    times = paired_seconds(pair.ours, pair.peer, **run)
    ratios = times[:, 1] / times[:, 0]
    middles = np.median(times, axis=0)
    reached = (
        pair.target_ratio is None
        or np.median(ratios) >= pair.target_ratio
        or middles[0] <= pair.enough
    )
    # Written so that a NaN difference is no agreement.
    agrees = difference <= pair.tolerance
    timing = "ok" if reached else "below target"
    return Result(
        pair.name,
        f"{pair.peer_package} {version(pair.peer_package)}",
        *map(duration, middles),
        spread(ratios, ".2f") + " x",
        pair.target,
        f"{difference:.1e}",
        timing if agrees else "DISAGREES",
    )


def _without_peer(pair: Pair, error: Exception) -> Result:
    """Tell an absent peer from one that is there and raises."""
    verdict = "peer missing" if isinstance(error, ImportError) else "peer failed"
    note = f"{type(error).__name__}: {error}"
    return Result(pair.name, pair.peer_package, *"-----", verdict, note)


class CountingRegressor(RegressorMixin, BaseEstimator):
    """A fitted regressor that counts the calls and the rows that reach it.

    It also hides the model's kind, so that nothing but its predictions can be used.

    Attributes
    ----------
    n_calls_, n_rows_ : int
        How often `predict` was called, and the rows it was given in all.
    """

    def __init__(self, model):
        self.model = model
        self.n_calls_ = 0
        self.n_rows_ = 0
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_

    def fit(self, X, y=None):
        """Do nothing: the model is fitted already."""
        return self

    def predict(self, X):
        """Count, and let the model predict."""
        self.n_calls_ += 1
        self.n_rows_ += len(X)
        return self.model.predict(X)


class RecordingRegressor(CountingRegressor):
    """A fitted regressor that keeps a copy of the rows that reach it."""

    def __init__(self, model):
        super().__init__(model)
        self.recorded_ = []

    def predict(self, X):
        """Copy, count, and let the model predict."""
        self.recorded_.append(np.array(X, order="C"))
        return super().predict(X)


class Watched(RegressorMixin, BaseEstimator):
    """A fitted regressor that adds up the time of its predictions.

    Attributes
    ----------
    seconds_ : float
        Time spent in `predict`.
    n_rows_ : int
        Rows it was given in all.
    """

    def __init__(self, model, clock):
        self.model, self.clock = model, clock
        if hasattr(model, "n_features_in_"):
            self.n_features_in_ = model.n_features_in_
        self.seconds_, self.n_rows_ = 0.0, 0

    def fit(self, X, y=None):
        """Do nothing: the model is fitted already."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Answer, and note how long that took."""
        start = self.clock()
        answer = self.model.predict(np.asarray(X))
        self.seconds_ += self.clock() - start
        self.n_rows_ += len(X)
        return answer


def count_rows(
    name: str, inspect: Callable[[Any], Any], model: Any, *, expected: int
) -> Result:
    """Compare the rows that `inspect(model)` sends to the model with `expected`."""
    spy = CountingRegressor(model)
    inspect(spy)
    return Result(
        name,
        "rows by definition",
        f"{spy.n_rows_}",
        f"{expected}",
        f"{spy.n_calls_} calls",
        "equal",
        f"{abs(spy.n_rows_ - expected)}",
        "ok" if spy.n_rows_ == expected else "DISAGREES",
    )


def own_time(
    name: str,
    inspect: Callable[[Any], Any],
    model: Any,
    *,
    limit: float | None = None,
    **run: Any,
) -> Result:
    """Compare `inspect(model)` with one `predict` on the very rows that it sends."""
    spy = RecordingRegressor(model)
    inspect(spy)
    rows = np.concatenate(spy.recorded_)
    del spy
    model.predict(rows)
    times = paired_seconds(lambda: inspect(model), lambda: model.predict(rows), **run)
    shares = times[:, 0] / times[:, 1] - 1
    within = limit is None or np.median(shares) <= limit
    return Result(
        name,
        "predict, one call",
        *(f"{middle:.3f} s" for middle in np.median(times, axis=0)),
        "own time " + spread(shares, "+.0%"),
        "-" if limit is None else f"<= {limit:.0%}",
        "-",
        "ok" if within else "above target",
    )


def peak_memory(call: Callable[[], Any]) -> int:
    """Return the peak of traced memory, in bytes, above what was there before."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def largest_memory() -> float:
    """Return the largest memory of this process so far, in bytes. Needs Linux.

    `resource.getrusage` would count that of the process by which this one was started.
    """
    [kilobytes] = re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return 1024 * float(kilobytes)


def memory_growth(
    name: str,
    small: Callable[[], Any],
    large: Callable[[], Any],
    *,
    limit: float | None = None,
) -> Result:
    """Compare the peak memory of the large work with that of the small one."""
    # Once untraced: what a first call imports and caches is not the work's own.
    small()
    peak_large, peak_small = peak_memory(large), peak_memory(small)
    ratio = peak_large / peak_small
    within = limit is None or ratio <= limit
    return Result(
        name,
        "the small grid",
        f"{peak_large / 2**20:.1f} MiB",
        f"{peak_small / 2**20:.1f} MiB",
        f"{ratio:.2f} x",
        "-" if limit is None else f"<= {limit:g}",
        "-",
        "ok" if within else "above target",
    )


def own_ratio(
    name: str,
    against: str,
    first: Callable[[], Any],
    second: Callable[[], Any],
    *,
    agreement: Callable[[Any, Any], float] | None = None,
    tolerance: float = 0.0,
    at_least: float | None = None,
    at_most: float | None = None,
    **run: Any,
) -> Result:
    """Divide the time of one work of ours by that of another, `against`.

    Parameters
    ----------
    name, against : str
        What the first work and the second are.
    first, second : callable
        The works; `ours` shows the first one's time, `theirs` the second one's.
    agreement : callable or None
        Takes both results, returns the largest difference; None: they differ by nature.
    tolerance : float
        The largest difference that still counts as the same result.
    at_least, at_most : float or None
        Where the ratio should lie.
    **run
        As for `paired_seconds`.
    """
    results = first(), second()
    difference = None if agreement is None else float(agreement(*results))
    del results
    times = paired_seconds(first, second, **run)
    ratios = times[:, 0] / times[:, 1]
    middle = np.median(ratios)
    verdict, target = "ok", "-"
    if at_least is not None:
        target = f">= {at_least:g}"
        verdict = "ok" if middle >= at_least else "below target"
    if at_most is not None:
        target = f"<= {at_most:g}"
        verdict = "ok" if middle <= at_most else "above target"
    if difference is not None and not difference <= tolerance:
        verdict = "DISAGREES"
    return Result(
        name,
        against,
        *(f"{middle:.3f} s" for middle in np.median(times, axis=0)),
        spread(ratios, ".2f") + " x",
        target,
        "-" if difference is None else f"{difference:.1e}",
        verdict,
    )


def passing_memory(call: Callable[[], Any]) -> int:
    """Return the peak of traced memory beyond what the result itself holds."""
    gc.collect()
    tracemalloc.start()
    try:
        result = call()
        kept, peak = tracemalloc.get_traced_memory()
        del result
        return peak - kept
    finally:
        tracemalloc.stop()


def bounded_memory(
    name: str,
    small: Callable[[], Any],
    large: Callable[[], Any],
    *,
    working_memory: int,
    limit: float | None = None,
) -> Result:
    """Compare what large work takes in passing with scikit-learn's working memory.

    Parameters
    ----------
    name : str
        What is measured.
    small, large : callable
        The same work on few rows and on many. They return what is kept, which is no
        passing memory.
    working_memory : int
        In MiB, as scikit-learn's setting of that name.
    limit : float or None
        How many times that the large work may take.
    """
    with config_context(working_memory=working_memory):
        # Once untraced, as above.
        small()
        peaks = [passing_memory(work) / 2**20 for work in (large, small)]
    share = peaks[0] / working_memory
    within = limit is None or share <= limit
    return Result(
        name,
        "fewer rows",
        *(f"{peak:.1f} MiB" for peak in peaks),
        f"{share:.2f} x {working_memory} MiB",
        "-" if limit is None else f"<= {limit:g}",
        "-",
        "ok" if within else "above target",
    )


def report(
    cases: Mapping[str, Case], *, threads: int, record: Path | None = None
) -> int:
    """Run the cases, print a line for each as it ends, return the exit status.

    With `record`, what was measured is written into that JSON file, case by case; what
    the file says of other cases stays. Times are left out: ratios outlive a machine.
    """
    header = "case", "against", "threads", "ours", "theirs", "measured", "target"
    print(COLUMNS.format(*header, "difference", "verdict"))
    failed = 0
    for name, case in cases.items():
        row = case(name)
        cells = row.ours, row.theirs, row.measured, row.target, row.difference
        print(COLUMNS.format(row.name, row.against, threads, *cells, row.verdict))
        if row.note:
            print(f"    {row.note}")
        sys.stdout.flush()
        failed += row.verdict in FAILURES
        if record is not None:
            results = json.loads(record.read_text()) if record.exists() else {}
            results[name] = {
                field: getattr(row, field)
                for field in ("against", "measured", "target", "difference", "verdict")
            }
            text = json.dumps(dict(sorted(results.items())), indent=1)
            record.parent.mkdir(exist_ok=True)
            record.write_text(text + "\n")
    return int(failed > 0)

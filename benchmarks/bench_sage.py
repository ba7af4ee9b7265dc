"""SAGE values against sage-importance, with the same rows and the same background.

Exact values are compared with estimates of the peer, in its standard errors. Sampled
ones are compared by their squared errors times the processor time that they take, since
the error of either falls with the root of the time. It fails where estimates are
farther from the exact values than their errors allow.
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from command_line import parser, run_chosen
from pair import Case, CountingRegressor, Pair, Result, duration, run_pair
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from sklearn_interpret.importance import SAGE

# Deviations from the exact values, in standard errors, of all features and seeds.
MOST_ERRORS = 5.0
LOSSES = {"squared_error": "mse", "log_loss": "cross entropy"}


class Values(NamedTuple):
    """SAGE values and their standard errors."""

    values: np.ndarray
    errors: np.ndarray


class Data(NamedTuple):
    """A fitted model, rows that it has not seen, their targets, and a background."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    background: np.ndarray
    loss: str


@cache
def data(kind: str, n_rows: int, n_background: int) -> Data:
    """Return a model of ten features, and rows."""
    n_all = 2 * n_rows + n_background
    if kind == "forest":
        X, y = make_classification(
            n_all, 10, n_informative=5, n_classes=3, random_state=0
        )
        model, loss = RandomForestClassifier(max_depth=4, random_state=0), "log_loss"
    else:
        X, y = make_friedman1(n_all, 10, noise=1, random_state=0)
        model, loss = GradientBoostingRegressor(random_state=0), "squared_error"
        if kind == "any model":
            model = HistGradientBoostingRegressor(random_state=0)
    model.fit(X[:n_rows], y[:n_rows])
    rows = slice(n_rows, 2 * n_rows)
    return Data(model, X[rows], y[rows], X[2 * n_rows :], loss)


def ours(given: Data, **parameters: Any) -> Values:
    """Return our values."""
    model, X, y, background, loss = given
    sage = SAGE(FrozenEstimator(model), loss=loss, background=background, **parameters)
    sage.fit(X, y)
    return Values(sage.importances_[:, 0], sage.standard_errors_)


def theirs(given: Data, seed: int = 0, **parameters: Any) -> Values:
    """Return values of sage-importance; it stops by its own rule unless told when."""
    import sage

    model, X, y, background, loss = given
    imputer = sage.MarginalImputer(model, background)
    estimator = sage.PermutationEstimator(imputer, LOSSES[loss], random_state=seed)
    if parameters:
        parameters["detect_convergence"] = False
    found = estimator(X, y, bar=False, **parameters)
    return Values(found.values, found.std)


def deviation(exact: Values, found: Values) -> float:
    """Return the largest deviation from exact values, in standard errors."""
    return float((np.abs(found.values - exact.values) / found.errors).max())


def exact(name: str, given: Data, target: float | None, **run: Any) -> Result:
    """Compare exact values with estimates by the peer's own rule."""
    pair = Pair(
        name,
        partial(ours, given),
        partial(theirs, given),
        "sage-importance",
        agreement=deviation,
        tolerance=MOST_ERRORS,
        target_ratio=target,
        enough=0.3,
    )
    return run_pair(pair, **run)


def sampled(
    name: str,
    given: Data,
    target: float | None,
    *,
    clock: Callable[[], float],
    threads: int,
    repeats: int,
    **_: Any,
) -> Result:
    """Compare time at equal error: the product of time and squared error."""
    truth = ours(given)
    hidden = given._replace(model=CountingRegressor(given.model))
    calls = [
        lambda seed: ours(hidden, n_permutations=4, random_state=seed),
        lambda seed: theirs(hidden, seed, n_permutations=1024),
    ]
    times, squares, worst = np.empty((2, repeats)), np.empty((2, repeats)), 0.0
    with threadpool_limits(limits=threads):
        for seed in range(repeats):
            for which, call in enumerate(calls):
                start = clock()
                found = call(seed)
                times[which, seed] = clock() - start
                squares[which, seed] = np.square(found.values - truth.values).mean()
                worst = max(worst, deviation(truth, found))
    products = times.mean(axis=1) * squares.mean(axis=1)
    ratio = products[1] / products[0]
    reached = target is None or ratio >= target
    verdict = "ok" if reached else "below target"
    return Result(
        name,
        "sage, equal error",
        *map(duration, times.mean(axis=1)),
        f"{ratio:.1f} x",
        "-" if target is None else f">= {target:g}",
        f"{worst:.1f}",
        verdict if worst <= MOST_ERRORS else "DISAGREES",
    )


def coverage(name: str, given: Data, *, n_seeds: int, **_: Any) -> Result:
    """Count how often two standard errors to each side hold the exact value."""
    truth = ours(given, method="exact")
    shares = {}
    for n_permutations in (4, 6, 10, None):
        held = []
        for seed in range(n_seeds):
            parameters = {"n_permutations": n_permutations, "random_state": seed}
            found = ours(given, method="sampling", **parameters)
            held.append(np.abs(found.values - truth.values) <= 2 * found.errors)
        shares[n_permutations] = np.mean(held)
    return Result(
        name,
        "exact values",
        f"{100 * min(shares.values()):.1f} %",
        f"{100 * max(shares.values()):.1f} %",
        f"{n_seeds} seeds",
        ">= 90 %",
        "-",
        "ok" if min(shares.values()) >= 0.9 else "DISAGREES",
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    n_rows, n_background = (100, 20) if quick else (1000, 100)
    of = partial(data, n_rows=n_rows, n_background=n_background)
    targets = {"boosting": 100.0, "forest": 10.0, "any model": 2.0}
    targets = {} if quick else targets
    found: dict[str, Case] = {}
    for kind in ("boosting", "forest"):
        found[f"exact, {kind}"] = lambda name, kind=kind: exact(
            name, of(kind), targets.get(kind), **run
        )
    found["sampling, any model"] = lambda name: sampled(
        name, of("any model"), targets.get("any model"), **run
    )
    for rows in (5, 100):
        for kind in ("boosting", "forest"):
            found[f"coverage, {kind}, {rows} rows"] = lambda name, kind=kind, n=rows: (
                coverage(name, first_rows(of(kind), n), n_seeds=20 if quick else 200)
            )
    return found


def first_rows(given: Data, n_rows: int) -> Data:
    """Return the first rows that are inspected."""
    return given._replace(X=given.X[:n_rows], y=given.y[:n_rows])


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))

"""SAGE values against sage-importance, with the same rows and the same background.

Exact values are compared with estimates of the peer, which stops by its own rule.
Sampled ones are compared by their squared errors times the time that they take, since
the error of either falls with the root of the time. It fails where estimates are
farther from the exact values than their standard errors allow.
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from command_line import parser, run_chosen
from pair import Case, CountingRegressor, Pair, Result, duration, run_pair
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from sklearn_interpret.importance import SAGE

# Largest deviation from the exact values, in standard errors, of all features.
MOST_ERRORS = 5.0
LOSSES = {"squared_error": "mse", "log_loss": "cross entropy"}

Values = tuple[np.ndarray, np.ndarray]  # and their standard errors


class Data(NamedTuple):
    """A fitted model, rows that it has not seen, their targets, and a background."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    background: np.ndarray
    loss: str = "squared_error"


@cache
def data(kind: str, n_rows: int, n_background: int) -> Data:
    """Return a model of ten features, and rows."""
    sizes = {"n_samples": 2 * n_rows + n_background, "random_state": 0}
    if kind == "forest":
        X, y = make_classification(n_features=10, n_informative=5, n_classes=3, **sizes)
        model = RandomForestClassifier(max_depth=4, random_state=0)
    else:
        X, y = make_friedman1(noise=1, **sizes)
        model = GradientBoostingRegressor(random_state=0)
    model.fit(X[:n_rows], y[:n_rows])
    rows = slice(n_rows, 2 * n_rows)
    loss = "log_loss" if kind == "forest" else "squared_error"
    return Data(model, X[rows], y[rows], X[2 * n_rows :], loss)


def ours(given: Data, **parameters: Any) -> Values:
    """Return our values."""
    model, X, y, background, loss = given
    sage = SAGE(FrozenEstimator(model), loss=loss, background=background, **parameters)
    sage.fit(X, y)
    return sage.importances_[:, 0], sage.standard_errors_


def theirs(given: Data, seed: int = 0, **parameters: Any) -> Values:
    """Return values of sage-importance."""
    import sage

    model, X, y, background, loss = given
    imputer = sage.MarginalImputer(model, background)
    estimator = sage.PermutationEstimator(imputer, LOSSES[loss], random_state=seed)
    found = estimator(X, y, bar=False, **parameters)
    return found.values, found.std


def deviation(exact: Values, found: Values) -> float:
    """Return the largest deviation from exact values, in standard errors."""
    return float((np.abs(found[0] - exact[0]) / found[1]).max())


def at_equal_error(
    name: str,
    given: Data,
    target: float | None,
    clock: Callable[[], float],
    threads: int,
    repeats: int,
) -> Result:
    """Compare the products of time and squared error, of a model that is called."""
    truth = ours(given)
    hidden = given._replace(model=CountingRegressor(given.model))
    enough = {"n_permutations": 1024, "detect_convergence": False}
    calls = [
        lambda seed: ours(hidden, n_permutations=4, random_state=seed),
        lambda seed: theirs(hidden, seed, **enough),
    ]
    times, squares, worst = *np.empty((2, 2, repeats)), 0.0
    with threadpool_limits(limits=threads):
        for seed, which in np.ndindex(repeats, 2):
            start = clock()
            found = calls[which](seed)
            times[which, seed] = clock() - start
            squares[which, seed] = np.square(found[0] - truth[0]).mean()
            worst = max(worst, deviation(truth, found))
    products = times.mean(axis=1) * squares.mean(axis=1)
    ratio = products[1] / products[0]
    reached = "ok" if target is None or ratio >= target else "below target"
    return Result(
        name,
        "sage, equal error",
        *map(duration, times.mean(axis=1)),
        f"{ratio:.1f} x",
        "-" if target is None else f">= {target:g}",
        f"{worst:.1f}",
        reached if worst <= MOST_ERRORS else "DISAGREES",
    )


def coverage(name: str, given: Data, n_seeds: int) -> Result:
    """Count how often two standard errors to each side hold the exact value."""
    truth, shares = ours(given, method="exact")[0], []
    for budget in (4, 6, 10, None):
        draw = partial(ours, given, method="sampling", n_permutations=budget)
        found = [draw(random_state=seed) for seed in range(n_seeds)]
        held = [np.abs(values - truth) <= 2 * errors for values, errors in found]
        shares.append(100 * np.mean(held))
    ends = [f"{share:.1f} %" for share in (min(shares), max(shares))]
    verdict = "ok" if min(shares) >= 90 else "DISAGREES"
    return Result(
        name, "exact values", *ends, f"{n_seeds} seeds", ">= 90 %", "-", verdict
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    of = partial(data, n_rows=100 if quick else 1000, n_background=20 if quick else 100)
    found: dict[str, Case] = {}
    for kind, target in (("boosting", 100.0), ("forest", 10.0)):
        given = of(kind)
        pair = Pair(
            f"exact, {kind}",
            partial(ours, given),
            partial(theirs, given),
            "sage-importance",
            agreement=deviation,
            tolerance=MOST_ERRORS,
            target_ratio=None if quick else target,
            enough=0.3,
        )
        found[pair.name] = lambda _, pair=pair: run_pair(pair, **run)
        for n in (5, 100):
            few = given._replace(X=given.X[:n], y=given.y[:n])
            found[f"coverage, {kind}, {n} rows"] = partial(
                coverage, given=few, n_seeds=20 if quick else 200
            )
    of_any = {key: run[key] for key in ("clock", "threads", "repeats")}
    found["sampling, any model"] = partial(
        at_equal_error, given=of("boosting"), target=None if quick else 2.0, **of_any
    )
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))

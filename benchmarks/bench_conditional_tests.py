"""Conditional tests against hidimstat: false rejections, power, warnings and time.

`level`: shares of p-values below 5 % for a feature that is not needed given the others,
in fifteen designs; above 7 %, or above two standard errors of fewer runs, `DISAGREES`,
unless 90 % of the runs raise the warning of a weak nuisance.
The peer's are those of conditional feature importance with boosted trees (a t-test over
permutations). `power`: against the oracle, the same test with the true regressions
instead of estimates. `warning`: how often a nuisance of boosted stumps is found out.
`hrt`: redrawn columns of trees against predictions of all redrawn rows, and against the
peer's importances, which differ by their draws and models of the feature.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from command_line import parser, run_chosen
from joblib import Parallel, delayed
from pair import Case, Pair, Result, run_pair
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

from sklearn_interpret.exceptions import WeakNuisanceWarning
from sklearn_interpret.importance import ConditionalImportanceTest

ALPHA, MOST, LEAST = 0.05, 0.07, 0.9
SMOOTH = "linear", "square", "sine", "inter", "hetero", "heavy", "cat", "copies"
# Surfaces over levels, and jumps.
ROUGH = "site", "sites", "flag", "hour", "jump", "jumps"
# "rare": a rare class and a rare flag, which few rows or none have both.
NULLS = (*SMOOTH, *ROUGH, "rare")
# Of the first two columns: levels, which a frame has as categories.
LEVELS = {"site": ["x0"], "sites": ["x0", "x1"]}
TESTS = "pcm", "gcm", "hrt", "loco"
ALTERNATIVES = "linear", "square", "sine", "inter", "hetero", "cat"
# Standard deviations of the effects by number of rows, where the noise has 1. Of weak
# ones the oracle misses some.
EFFECTS = {"": {300: 0.5, 1000: 0.35}, "weak-": {300: 0.3, 1000: 0.16}}
# The last of five features is tested; the others make up one group.
GROUPS = {"others": [0, 1, 2, 3]}
STUMPS = GradientBoostingRegressor(n_estimators=20, max_depth=1)


def rough(name: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Return four features, and a surface or jumps of the first two."""
    Z = rng.normal(size=(n, 4))
    if name in ("site", "sites"):
        Z[:, 0] = rng.integers(0, 3, n)
    if name == "site":
        return Z, np.array([1.0, 0.0, -1.0])[Z[:, 0].astype(int)] * Z[:, 1]
    if name == "sites":
        Z[:, 1] = rng.integers(0, 3, n)
        table = 1.5 * np.array([[1, 0, -1], [-1, 1, 0], [0, -1, 1]])
        return Z, table[tuple(Z[:, :2].astype(int).T)]
    if name == "flag":
        Z[:, 0] = rng.integers(0, 2, n)
        return Z, (1 - 2 * Z[:, 0]) * Z[:, 1]
    if name == "hour":  # two peaks on working days, one on others
        Z[:, 0], Z[:, 1] = rng.integers(0, [[24], [2]], (2, n))
        hour, working = Z[:, 0], Z[:, 1]
        peaks = 3.75 * np.exp(-((hour - 8) ** 2) / 4)
        peaks += 3.1 * np.exp(-((hour - 17) ** 2) / 6)
        return Z, working * peaks + (1 - working) * 2.5 * np.exp(
            -((hour - 14) ** 2) / 20
        )
    jumps = (Z[:, :2] > [0, 0.5]) / 0.3
    return Z, jumps[:, 0] if name == "jump" else jumps.sum(axis=1)


def null(name: str, rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """Return five features, and a target that does not need the last one."""
    if name in ROUGH:
        Z, mean = rough(name, rng, n)
        e, f = rng.normal(size=(2, n))
        frame = pd.DataFrame(np.column_stack([Z, mean + e])).add_prefix("x")
        frame[LEVELS.get(name, [])] = frame[LEVELS.get(name, [])].astype("category")
        return frame, mean + f
    Z = rng.normal(size=(n, 4))
    if name == "rare":
        shares = 0.04 * np.exp(0.5 * Z[:, :1].repeat(2, axis=1))
        flags = (rng.uniform(size=(n, 2)) < shares).astype(float)
        return np.column_stack([Z, flags[:, 0]]), flags[:, 1]
    e, f = rng.normal(size=(2, n))
    if name == "cat":
        Z[:, 0] = rng.integers(0, 4, n)
    if name == "copies":
        Z[:, 1] = Z[:, 0] + 0.01 * rng.normal(size=n)
    if name == "heavy":
        e, f = rng.standard_t(3, size=(2, n))
    if name == "hetero":
        e, f = np.abs(Z[:, 0]) * e, (1 + np.abs(Z[:, 0])) * f
    e *= {"square": 0.3, "copies": 0.1}.get(name, 1.0)
    mean = {
        "square": lambda: Z[:, 0] ** 2,
        "sine": lambda: np.sin(2 * Z[:, 0]),
        "inter": lambda: Z[:, 0] * Z[:, 1],
        "cat": lambda: np.array([0.0, 1.0, -1.0, 2.0])[Z[:, 0].astype(int)],
    }.get(name, lambda: Z[:, 0])()
    return np.column_stack([Z, mean + e]), mean + f


def alternative(
    name: str, n: int, size: float, rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """Return features, target, and true residuals: of target, feature, and effect.

    The effect is that of the last feature given the others, over the variance.
    """
    Z = rng.normal(size=(n, 4))
    e, f = rng.normal(size=(2, n))
    x, left, expected, variance = Z[:, 0] + e, e, np.zeros(n), np.ones(n)
    effect = e
    if name == "square":
        expected = Z[:, 0] ** 2 + 1
        effect = x**2 - expected
    elif name == "sine":
        expected = np.sin(2 * Z[:, 0]) * np.exp(-2)
        effect = np.sin(2 * x) - expected
    elif name == "inter":
        x, effect = e, e * Z[:, 0]
    elif name == "hetero":
        variance = (0.3 + Z[:, 0] ** 2) / 1.3
    elif name == "cat":
        chances = np.exp(np.outer(Z[:, 0], [-0.5, 0, 0.5]))
        chances /= chances.sum(axis=1, keepdims=True)
        x = (rng.uniform(size=(n, 1)) > chances.cumsum(axis=1)).sum(axis=1) + 0.0
        expected, left = chances[:, 1], x - chances @ [0, 1, 2]
        effect = (x == 1) - expected
    size /= effect.std()
    of_target = size * effect + np.sqrt(variance) * f
    y = Z[:, 1] + size * expected + of_target
    return np.column_stack([Z, x]), y, of_target, left, effect / variance


def pvalue(test: str, X: Any, y: np.ndarray, seed: int, **given: Any) -> float:
    """Return the p-value of the last feature."""
    return tested(test, X, y, seed, **given)[0]


def tested(
    test: str, X: Any, y: np.ndarray, seed: int, **given: Any
) -> tuple[float, bool]:
    """Return the p-value of the last feature, and whether a nuisance was too weak."""
    given = {"feature_groups": GROUPS, **given}
    model = ConditionalImportanceTest(test=test, random_state=seed, **given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    weak = any(w.category is WeakNuisanceWarning for w in caught)
    return float(model.pvalues_[model.player_names_.index("x4")]), weak


def peer_pvalue(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Return hidimstat's p-value of the last feature, on the other half of the rows."""
    from hidimstat import CFI

    half = len(X) // 2
    model = HistGradientBoostingRegressor(max_iter=50).fit(X[:half], y[:half])
    found = CFI(model, random_state=seed)
    found.fit(X[:half], y[:half])
    found.importance(X[half:], y[half:])
    return float(found.pvalues_[-1])


def one_null(
    name: str, n: int, seed: int, tests: tuple[str, ...]
) -> list[tuple[float, bool]]:
    """Return p-values of some tests with their warnings, and the peer's, in one run."""
    rng = np.random.default_rng([seed, n, NULLS.index(name)])
    X, y = null(name, rng, n)
    try:
        theirs = peer_pvalue(np.asarray(X, dtype=np.float64), y, seed)
    except ImportError:
        theirs = np.nan
    # "hrt" does not redraw numbers and levels together.
    of_hrt = None if name in ("cat", *ROUGH[:4]) else GROUPS
    groups = [of_hrt if test == "hrt" else GROUPS for test in tests]
    ours = [
        tested(test, X, y, seed, feature_groups=given)
        for test, given in zip(tests, groups, strict=True)
    ]
    return [*ours, (theirs, False)]


def one_alternative(name: str, n: int, size: float, seed: int) -> list[float]:
    """Return p-values of pcm and gcm, and of both with the true regressions."""
    rng = np.random.default_rng([seed, n, ALTERNATIVES.index(name), 1])
    X, y, of_target, left, effect = alternative(name, n, size, rng)
    half = rng.permutation(n)[: n // 2]
    products = (of_target * effect)[half]
    return [
        pvalue("pcm", X, y, seed),
        pvalue("gcm", X, y, seed),
        stats.ttest_1samp(products, 0, alternative="greater").pvalue,
        stats.ttest_1samp(of_target * left, 0).pvalue,
    ]


def one_warning(n: int, seed: int) -> float:
    """Return 1 if the warning of a weak nuisance is given, else 0."""
    X, y = null("square", np.random.default_rng([seed, n, 2]), n)
    return float(tested("pcm", X, y, seed, nuisance=STUMPS)[1])


def shares(function: Callable[..., Any], n_runs: int, threads: int, *given: Any) -> Any:
    """Return how many p-values of each column are below the level."""
    runs = Parallel(threads)(delayed(function)(*given, seed) for seed in range(n_runs))
    return np.mean(np.array(runs) < ALPHA, axis=0)


def level(name: str, n: int, n_runs: int, threads: int, case: str) -> Result:
    """Rejections of a true null hypothesis by all tests, and by the peer."""
    runs = Parallel(threads)(
        delayed(one_null)(name, n, seed, TESTS) for seed in range(n_runs)
    )
    pvalues, warned = np.moveaxis(np.array(runs), 2, 0)
    *ours, theirs = np.mean(pvalues < ALPHA, axis=0)
    texts = [
        f"{test} {share:.1%}" + f" (warns {weak:.0%})" * bool(weak)
        for test, share, weak in zip(TESTS, ours, warned.mean(axis=0)[:-1], strict=True)
    ]
    peer = "missing" if np.isnan(pvalues[:, -1]).any() else f"{theirs:.0%}"
    most = max(MOST, ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / n_runs))
    silent = [
        share
        for share, weak in zip(ours, warned.mean(axis=0)[:-1], strict=True)
        if weak < LEAST
    ]
    verdict = "ok" if max(silent, default=0.0) <= most else "DISAGREES"
    shown = f"{max(ours):.1%}", peer, ", ".join(texts), f"<= {most:.0%}", "-"
    return Result(case, "hidimstat CFI", *shown, verdict, f"{n_runs} runs")


def power(name: str, n: int, kind: str, n_runs: int, threads: int, case: str) -> Result:
    """Rejections of a false null hypothesis, over those of the oracle."""
    given = name, n, EFFECTS[kind][n]
    pcm, gcm, oracle, oracle_gcm = shares(one_alternative, n_runs, threads, *given)
    ratio = pcm / oracle
    shown = f"{pcm:.0%}", f"{oracle:.0%}", f"{ratio:.2f}", f">= {LEAST:g}", "-"
    note = f"gcm {gcm:.0%}, its oracle {oracle_gcm:.0%}"
    verdict = "ok" if ratio >= LEAST or kind else "DISAGREES"
    return Result(case, "oracle", *shown, verdict, note)


def warning(n: int, n_runs: int, threads: int, case: str) -> Result:
    """Share of runs in which a nuisance of stumps raises the warning."""
    runs = Parallel(threads)(delayed(one_warning)(n, seed) for seed in range(n_runs))
    found = float(np.mean(runs))
    shown = f"{found:.0%}", "-", "-", f">= {LEAST:.0%}", "-"
    return Result(case, "-", *shown, "ok" if found >= LEAST else "DISAGREES")


class Hidden(RegressorMixin, BaseEstimator):
    """A model whose trees can't be read."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Hidden":
        """Fit the model."""
        self.model_ = self.model.fit(X, y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predictions of the model."""
        return self.model_.predict(X)


def planted(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features, four of which the target needs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + X[:, 3] + rng.normal(size=n)


def redrawn(model: Any, n: int) -> np.ndarray:
    """Return importances and p-values of the holdout randomization test."""
    test = ConditionalImportanceTest(model, test="hrt", random_state=0)
    test.fit(*planted(n, 5))
    return np.concatenate([test.importances_, test.pvalues_])


def their_importances(n: int) -> np.ndarray:
    """Return the peer's conditional importances by as many permutations."""
    from hidimstat import CFI

    X, y = planted(n, 5)
    half = n // 2
    model = HistGradientBoostingRegressor(random_state=0).fit(X[:half], y[:half])
    found = CFI(model, n_permutations=200, random_state=0)
    found.fit(X[:half], y[:half])
    return found.importance(X[half:], y[half:])


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference."""
    return float(np.abs(one - other).max())


def difference_of_importances(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference, in parts of their largest: draws differ."""
    return largest_difference(ours[: len(theirs)], theirs) / float(theirs.max())


def cases(options: Any, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    quick = options.quick
    sizes = (300,) if quick else (100, 300, 1000)
    n_runs, n_rows = (10, 400) if quick else (options.runs, 5000)
    found: dict[str, Case] = {}
    for n in sizes:
        for name in NULLS:
            found[f"level-{name}-{n}"] = partial(level, name, n, n_runs, run["threads"])
        for kind, name in product(EFFECTS if n > 100 else (), ALTERNATIVES):
            given = name, n, kind, n_runs, run["threads"]
            found[f"power-{kind}{name}-{n}"] = partial(power, *given)
        found[f"warning-{n}"] = partial(warning, n, n_runs, run["threads"])
    boosting = HistGradientBoostingRegressor(random_state=0)

    def timed(peer: Any, package: str, agreement: Any, tolerance: float) -> Case:
        ours = partial(redrawn, boosting, n_rows)
        given = ours, peer, package, agreement, tolerance
        return lambda name: run_pair(Pair(name, *given), **run)

    hidden = partial(redrawn, Hidden(boosting), n_rows)
    found["hrt-definition"] = timed(hidden, "scikit-learn", largest_difference, 1e-9)
    theirs = partial(their_importances, n_rows)
    found["hrt-peer"] = timed(theirs, "hidimstat", difference_of_importances, 0.25)
    return found


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=400)
    chosen = options.parse_args()
    sys.exit(run_chosen(partial(cases, chosen), chosen))

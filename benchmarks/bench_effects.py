"""Feature effects: cost against alibi, PyALE and scikit-learn.

Run ``python benchmarks/bench_effects.py --help``; README.md tells how to set up the
peers and how to read the table.
"""

import argparse
import platform
import sys
import time
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd
import sklearn
from pair import (
    Case,
    Pair,
    Result,
    count_rows,
    memory_growth,
    own_time,
    report,
    run_pair,
)
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression

import sklearn_interpret
from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence

TOLERANCE = 1e-10
N_INTERVALS = 40
N_GRID = 50
OWN_TIME_LIMIT = 0.15
# Room for what is not a row: results, small index arrays, the interpreter's own.
MEMORY_LIMIT = 1.1
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True)
class Sizes:
    """How much work; `judged` tells whether the targets apply to these sizes."""

    n_features: int
    ale_rows: int
    own_time_rows: int
    pd_rows: int
    n_trees: int
    judged: bool

    def target(self, value: float) -> float | None:
        """Return the target at the sizes it was set for, None at others."""
        return value if self.judged else None


FULL = Sizes(20, 100_000, 20_000, 2000, 100, judged=True)
QUICK = Sizes(5, 4000, 2000, 300, 20, judged=False)


@cache
def table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Friedman's first regression problem: five features act."""
    return make_friedman1(n_rows, n_features=n_features, noise=1.0, random_state=0)


def frame(X: np.ndarray) -> pd.DataFrame:
    """Return the same table as PyALE wants it."""
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def quantile_edges(column: np.ndarray, n_intervals: int) -> np.ndarray:
    """Return the minimum and the inverted-CDF quantiles at k / n_intervals."""
    # In whole numbers, so that no k / n_intervals is rounded across a rank.
    ranks = -(-np.arange(1, n_intervals + 1) * len(column) // n_intervals) - 1
    values = np.sort(column)
    return np.unique(np.concatenate([values[:1], values[ranks]]))


def largest_difference(ours: list, theirs: list) -> float:
    """Return the largest absolute difference over all curves."""
    pairs = zip(ours, theirs, strict=True)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def our_ale(model, X, **params) -> AccumulatedLocalEffects:
    """Inspect a fitted model with our class."""
    frozen = FrozenEstimator(model)
    return AccumulatedLocalEffects(frozen, n_intervals=N_INTERVALS, **params).fit(X)


def our_pd(model, X, grids) -> PartialDependence:
    """Inspect a fitted model with our class, every feature on the grid given."""
    values = dict(enumerate(grids))
    return PartialDependence(
        FrozenEstimator(model),
        features=list(values),
        method="brute",
        custom_values=values,
    ).fit(X)


def ale_against_alibi(name: str, model, ratio: float, sizes: Sizes) -> Pair:
    """Both on the same edges: alibi's own search for edges is long, and not ours."""
    X, y = table(sizes.ale_rows, sizes.n_features)
    model = model.fit(X, y)
    edges = {j: quantile_edges(column, N_INTERVALS) for j, column in enumerate(X.T)}

    def alibi():
        from alibi.explainers.ale import ALE

        return ALE(model.predict).explain(X, grid_points=edges)

    def agreement(ours, theirs):
        curves = [values[:, 0] for values in theirs.ale_values]
        return largest_difference(ours.effects_, curves)

    return Pair(
        name,
        partial(our_ale, model, X, custom_values=edges),
        alibi,
        "alibi",
        agreement,
        TOLERANCE,
        sizes.target(ratio),
    )


def ale_against_pyale(name: str, model, ratio: float, sizes: Sizes) -> Pair:
    """Both on a data frame (PyALE takes no array), each with its own edges."""
    values, y = table(sizes.ale_rows, sizes.n_features)
    X = frame(values)
    model = model.fit(X, y)

    def pyale():
        from PyALE import ale

        return [
            ale(
                X,
                model,
                [column],
                feature_type="continuous",
                grid_size=N_INTERVALS,
                include_CI=False,
                plot=False,
            )
            for column in X.columns
        ]

    def agreement(ours, theirs):
        edges = [np.asarray(curve.index) for curve in theirs]
        if not all(map(np.array_equal, ours.edges_, edges)):
            print("    PyALE's edges differ from ours: compared on PyALE's")
            ours = our_ale(model, X, custom_values=dict(enumerate(edges)))
        return largest_difference(ours.effects_, [c["eff"].to_numpy() for c in theirs])

    return Pair(
        name,
        partial(our_ale, model, X),
        pyale,
        "PyALE",
        agreement,
        TOLERANCE,
        sizes.target(ratio),
    )


def fitted_forest(sizes: Sizes) -> tuple[RandomForestRegressor, np.ndarray]:
    """Return a forest fitted on the rows that it is inspected on, and these rows."""
    X, y = table(sizes.pd_rows, sizes.n_features)
    return RandomForestRegressor(sizes.n_trees, random_state=0).fit(X, y), X


def even_grids(X: np.ndarray, n_values: int = N_GRID) -> list[np.ndarray]:
    """Return, for each column, even steps between its 5 % and 95 % quantiles."""
    low, high = np.quantile(X, (0.05, 0.95), axis=0)
    return list(np.linspace(low, high, n_values).T)


def pd_against_sklearn(name: str, ratio: float, sizes: Sizes) -> Pair:
    """Both on the same grids; scikit-learn takes one feature at a time."""
    model, X = fitted_forest(sizes)
    grids = even_grids(X)

    def brute_force():
        return [
            partial_dependence(
                model,
                X,
                [feature],
                method="brute",
                kind="average",
                custom_values={feature: grid},
            )
            for feature, grid in enumerate(grids)
        ]

    def agreement(ours, theirs):
        return largest_difference(ours.average_, [r["average"][0] for r in theirs])

    return Pair(
        name,
        partial(our_pd, model, X, grids),
        brute_force,
        "scikit-learn",
        agreement,
        TOLERANCE,
        sizes.target(ratio),
    )


def ale_rows(name: str, sizes: Sizes) -> Result:
    """Two rows for each row and feature: at both ends of its interval."""
    X, y = table(sizes.ale_rows, sizes.n_features)
    model = LinearRegression().fit(X, y)
    return count_rows(name, partial(our_ale, X=X), model, expected=2 * X.size)


def pd_rows(name: str, sizes: Sizes) -> Result:
    """Each row once for each feature and grid value."""
    X, y = table(sizes.pd_rows, sizes.n_features)
    model = LinearRegression().fit(X, y)
    inspect = partial(our_pd, X=X, grids=even_grids(X))
    return count_rows(name, inspect, model, expected=N_GRID * X.size)


def ale_own_time(name: str, model, limit: float | None, sizes: Sizes, **run) -> Result:
    """Fewer rows than against the peers: all that are sent must fit in memory."""
    X, y = table(sizes.own_time_rows, sizes.n_features)
    inspect = partial(our_ale, X=X)
    return own_time(name, inspect, model.fit(X, y), limit=limit, **run)


def pd_own_time(name: str, limit: float | None, sizes: Sizes, **run) -> Result:
    """As against scikit-learn: a forest, every feature."""
    model, X = fitted_forest(sizes)
    inspect = partial(our_pd, X=X, grids=even_grids(X))
    return own_time(name, inspect, model, limit=limit, **run)


def pd_memory(name: str, limit: float | None, sizes: Sizes) -> Result:
    """Ten times the grid values; the linear model needs little memory of its own.

    At the full sizes the small grid fills a batch of rows already. Below that, memory
    grows with the grid until a batch is full, as it should.
    """
    X, y = table(sizes.pd_rows, sizes.n_features)
    model = LinearRegression().fit(X, y)
    small, large = (
        partial(our_pd, model, X, even_grids(X, n_values))
        for n_values in (N_GRID, 10 * N_GRID)
    )
    return memory_growth(name, small, large, limit=limit)


def cases(sizes: Sizes, **run) -> dict[str, Case]:
    """Return what can be run, by name; nothing is built before it is called."""

    def pair(build, *args):
        return lambda name: run_pair(build(name, *args, sizes), **run)

    linear = LinearRegression()
    boosting = HistGradientBoostingRegressor(random_state=0)
    limit = sizes.target(OWN_TIME_LIMIT)
    return {
        "ale-linear-alibi": pair(ale_against_alibi, linear, 1.0),
        "ale-linear-pyale": pair(ale_against_pyale, linear, 2.5),
        "ale-boosting-alibi": pair(ale_against_alibi, boosting, 1.0),
        "ale-boosting-pyale": pair(ale_against_pyale, boosting, 1.0),
        "pd-forest-sklearn": pair(pd_against_sklearn, 2.5),
        "ale-rows": partial(ale_rows, sizes=sizes),
        "pd-rows": partial(pd_rows, sizes=sizes),
        "ale-linear-own": partial(
            ale_own_time, model=linear, limit=None, sizes=sizes, **run
        ),
        "ale-boosting-own": partial(
            ale_own_time, model=boosting, limit=limit, sizes=sizes, **run
        ),
        "pd-forest-own": partial(pd_own_time, limit=limit, sizes=sizes, **run),
        "pd-memory": partial(pd_memory, limit=sizes.target(MEMORY_LIMIT), sizes=sizes),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=1, help="of BLAS and OpenMP")
    parser.add_argument("--repeats", type=int, default=5, help="timed turns of a pair")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: for a busy machine"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, for which no target is set"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[""],
        metavar="TEXT",
        help="cases with TEXT in them",
    )
    options = parser.parse_args(arguments)
    known = cases(
        QUICK if options.quick else FULL,
        threads=options.threads,
        repeats=options.repeats,
        clock=CLOCKS[options.clock],
    )
    chosen = {
        name: case
        for name, case in known.items()
        if any(text in name for text in options.only)
    }
    if not chosen:
        parser.error(f"--only {options.only}: no such case among {', '.join(known)}")
    print(
        f"sklearn_interpret {sklearn_interpret.__version__}, "
        f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, "
        f"pandas {pd.__version__}, Python {platform.python_version()}"
    )
    return report(chosen, threads=options.threads)


if __name__ == "__main__":
    sys.exit(main())

"""Feature effects: cost against alibi, PyALE and scikit-learn.

Run ``python benchmarks/bench_effects.py --help``; README.md tells how to set up the
peers and how to read the table.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import (
    N_GRID,
    ale_against_alibi,
    ale_against_pyale,
    even_grids,
    frame,
    our_ale,
    our_pd,
    pd_against_sklearn,
    table,
)
from pair import (
    Case,
    CountingRegressor,
    Pair,
    Result,
    count_rows,
    memory_growth,
    own_time,
    run_pair,
)
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression

OWN_TIME_LIMIT = 0.15
# Room for what is not a row: results, small index arrays, the interpreter's own.
MEMORY_LIMIT = 1.1


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


def fitted_forest(sizes: Sizes) -> tuple[RandomForestRegressor, np.ndarray]:
    """Return a forest fitted on the rows that it is inspected on, and these rows."""
    X, y = table(sizes.pd_rows, sizes.n_features)
    return RandomForestRegressor(sizes.n_trees, random_state=0).fit(X, y), X


def fitted(
    model, n_rows: int, sizes: Sizes, container: Callable = np.asarray
) -> tuple[CountingRegressor, Any]:
    """Return the fitted model behind a wrapper that hides its kind, and its rows.

    What is measured here holds for any model: boosted trees must not be read.
    """
    X, y = table(n_rows, sizes.n_features)
    X = container(X)
    return CountingRegressor(model.fit(X, y)), X


def ale_pair(build, container, name: str, model, ratio: float, sizes: Sizes) -> Pair:
    """Build a pair on the rows of its size, in the peer's container."""
    model, X = fitted(model, sizes.ale_rows, sizes, container)
    return build(name, model, X, target=sizes.target(ratio))


def pd_pair(name: str, ratio: float, sizes: Sizes) -> Pair:
    """Build the pair with a forest, each row sent to it on both sides."""
    model, X = fitted_forest(sizes)
    target = sizes.target(ratio)
    return pd_against_sklearn(name, model, X, method="brute", target=target)


def ale_rows(name: str, sizes: Sizes) -> Result:
    """Two rows for each row and feature: at both ends of its interval."""
    X, y = table(sizes.ale_rows, sizes.n_features)
    model = LinearRegression().fit(X, y)
    return count_rows(name, partial(our_ale, X=X), model, expected=2 * X.size)


def pd_rows(name: str, sizes: Sizes) -> Result:
    """Each row once for each feature and grid value."""
    X, y = table(sizes.pd_rows, sizes.n_features)
    model = LinearRegression().fit(X, y)
    inspect = partial(our_pd, X=X, grids=even_grids(X), method="brute")
    return count_rows(name, inspect, model, expected=N_GRID * X.size)


def ale_own_time(name: str, model, limit: float | None, sizes: Sizes, **run) -> Result:
    """Fewer rows than against the peers: all that are sent must fit in memory."""
    model, X = fitted(model, sizes.own_time_rows, sizes)
    return own_time(name, partial(our_ale, X=X), model, limit=limit, **run)


def pd_own_time(name: str, limit: float | None, sizes: Sizes, **run) -> Result:
    """As against scikit-learn: a forest, every feature."""
    model, X = fitted_forest(sizes)
    inspect = partial(our_pd, X=X, grids=even_grids(X), method="brute")
    return own_time(name, inspect, model, limit=limit, **run)


def pd_memory(name: str, limit: float | None, sizes: Sizes) -> Result:
    """Ten times the grid values; the linear model needs little memory of its own.

    At the full sizes the small grid fills a batch of rows already. Below that, memory
    grows with the grid until a batch is full, as it should.
    """
    X, y = table(sizes.pd_rows, sizes.n_features)
    model = LinearRegression().fit(X, y)
    small, large = (
        partial(our_pd, model, X, even_grids(X, n_values), method="brute")
        for n_values in (N_GRID, 10 * N_GRID)
    )
    return memory_growth(name, small, large, limit=limit)


def cases(sizes: Sizes, **run) -> dict[str, Case]:
    """Return the cases by name; data and models are built when a case runs."""

    def pair(build, name, **params):
        return run_pair(build(name, sizes=sizes, **params), **run)

    alibi = partial(pair, partial(ale_pair, ale_against_alibi, np.asarray))
    pyale = partial(pair, partial(ale_pair, ale_against_pyale, frame))

    linear = LinearRegression()
    boosting = HistGradientBoostingRegressor(random_state=0)
    limit = sizes.target(OWN_TIME_LIMIT)
    return {
        "ale-linear-alibi": partial(alibi, model=linear, ratio=1.0),
        "ale-linear-pyale": partial(pyale, model=linear, ratio=2.5),
        "ale-boosting-alibi": partial(alibi, model=boosting, ratio=1.0),
        "ale-boosting-pyale": partial(pyale, model=boosting, ratio=1.0),
        "pd-forest-sklearn": partial(pair, pd_pair, ratio=2.5),
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
    options = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, QUICK if options.quick else FULL), options)


if __name__ == "__main__":
    sys.exit(main())

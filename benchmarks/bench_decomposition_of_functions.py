"""Functional decomposition: interaction indices against shapiq, components per row.

Run ``python benchmarks/bench_decomposition_of_functions.py --help``; README.md tells
how to set up the peer and how to read the table.
"""

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import table
from pair import (
    Case,
    Pair,
    Result,
    bounded_memory,
    own_ratio,
    paired_seconds,
    run_pair,
    spread,
)
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.explanations import InteractionExplanation
from sklearn_interpret.interactions import FunctionalDecomposition
from sklearn_interpret.shapley import TreeSHAP

N_FEATURES, DEPTH, ORDER = 20, 6, 3
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Sizes:
    """How much work; `judged` tells whether the targets apply to these sizes."""

    n_trees: int
    n_rows: int
    n_background: int
    n_players: int
    judged: bool

    def target(self, value: float) -> float | None:
        """Return the target at the sizes it was set for, None at others."""
        return value if self.judged else None


FULL = Sizes(100, 1000, 100, 8, judged=True)
QUICK = Sizes(10, 50, 20, 5, judged=False)


def fitted(model: Any, n_rows: int) -> tuple[Any, np.ndarray]:
    """Return a model that is fitted and frozen, and its rows."""
    X, y = table(n_rows, N_FEATURES)
    return FrozenEstimator(model.fit(X, y)), X


def components(model: Any, X: np.ndarray, background: np.ndarray, **parameters: Any):
    """Components of rows, with all that is prepared for them."""
    return FunctionalDecomposition(model, **parameters).fit(background).explain(X)


def against_shapiq(name: str, sizes: Sizes, timing: dict[str, Any]) -> Result:
    """k-SII of a forest, path-dependent; the peer's time is that of a row, scaled."""
    model = RandomForestRegressor(sizes.n_trees, max_depth=DEPTH, random_state=0)
    model, X = fitted(model, sizes.n_rows)

    def ours() -> InteractionExplanation:
        return components(
            model, X, X, max_order=DEPTH, perturbation="path_dependent"
        ).to_index("k-SII", order=ORDER)

    import shapiq

    peer = shapiq.TreeExplainer(
        model.estimator, index="k-SII", max_order=ORDER, min_order=1
    )
    found, expected = ours(), peer.explain(X[0])
    values = zip(found.interactions, found.values[0], strict=True)
    missed = max(abs(expected[members] - value) for members, value in values)
    times = paired_seconds(ours, partial(peer.explain, X[0]), **timing)
    times[:, 1] *= len(X)
    ratios = times[:, 1] / times[:, 0]
    target = sizes.target(300)
    reached = target is None or np.median(ratios) >= target
    return Result(
        name,
        f"shapiq {shapiq.__version__ or ''}",
        *(f"{middle:.3f} s" for middle in np.median(times, axis=0)),
        spread(ratios, ".0f") + " x",
        "-" if target is None else f">= {target:g}",
        f"{missed:.1e}",
        "DISAGREES"
        if not missed <= TOLERANCE
        else ("ok" if reached else "below target"),
        f"theirs is the time of one row, times {len(X)}",
    )


class Game(RegressorMixin, BaseEstimator):
    """A model of as many inputs as players, 0 or 1, that looks values up."""

    def __init__(self, values):
        self.values = values

    def fit(self, X, y=None):
        """Do nothing: there is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return the values of coalitions."""
        X = np.asarray(X, dtype=int)
        return self.values[X @ 2 ** np.arange(X.shape[1])]


def of_games(name: str, sizes: Sizes, *, index: str, order: int) -> Pair:
    """An index of one game, from the values of all coalitions."""
    n = sizes.n_players
    values = np.random.default_rng(0).normal(size=2**n)
    model = FrozenEstimator(Game(values))
    nobody, everybody = np.zeros((1, n), dtype=int), np.ones((1, n), dtype=int)

    def ours():
        found = components(model, everybody, nobody, max_order=n)
        return found.to_index(index, order=order)

    def shapiq_exact():
        import shapiq

        game = Game(values)
        computer = shapiq.ExactComputer(n_players=n, game=game.predict)
        return computer(index=index, order=order)

    def agreement(found, expected):
        values = zip(found.interactions, found.values[0], strict=True)
        return max(abs(expected[members] - value) for members, value in values)

    return Pair(name, ours, shapiq_exact, "shapiq", agreement, TOLERANCE)


def against_values(name: str, sizes: Sizes, timing: dict[str, Any]) -> Result:
    """Interventional components of three features, in times of Shapley values."""
    model = GradientBoostingRegressor(
        n_estimators=sizes.n_trees, max_depth=DEPTH, random_state=0
    )
    model, X = fitted(model, sizes.n_rows)
    background = X[: sizes.n_background]
    return own_ratio(
        name,
        "our Shapley values",
        lambda: components(model, X, background, max_order=ORDER),
        lambda: TreeSHAP(model).fit(background).explain(X),
        at_most=sizes.target(10),
        **timing,
    )


def first_row(name: str, sizes: Sizes, timing: dict[str, Any]) -> Result:
    """One row of a forest with deep trees, with all that is prepared for it."""
    model, X = fitted(RandomForestRegressor(sizes.n_trees, random_state=0), 1000)
    background = X[: sizes.n_background]
    work = partial(components, model, X[:1], background, max_order=2)
    times = paired_seconds(work, partial(model.predict, X[:1]), **timing)[:, 0]
    middle, limit = np.median(times), sizes.target(0.3)
    return Result(
        name,
        "-",
        f"{middle:.3f} s",
        "-",
        "-",
        "-" if limit is None else f"<= {limit:g} s",
        "-",
        "ok" if limit is None or middle <= limit else "above target",
    )


def memory(name: str, sizes: Sizes) -> Result:
    """What many rows take in passing, beyond the result."""
    model = RandomForestRegressor(sizes.n_trees, max_depth=DEPTH, random_state=0)
    model, X = fitted(model, sizes.n_rows)
    many = np.tile(X, (10, 1))

    def work(rows):
        return lambda: (
            components(model, rows, X[: sizes.n_background], max_order=ORDER).values
        )

    return bounded_memory(
        name, work(X), work(many), working_memory=64, limit=sizes.target(1.5)
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""
    orders = (1, 2, 3, 4)
    indices = ("SII", "k-SII", "STII", "FSII", "BII")
    of_index = {
        f"game-{index}-{order}": partial(
            lambda name, index, order: run_pair(
                of_games(name, sizes, index=index, order=order), **timing
            ),
            index=index,
            order=order,
        )
        for index in indices
        for order in orders
    }
    return {
        "trees-shapiq": partial(against_shapiq, sizes=sizes, timing=timing),
        "trees-shapley-values": partial(against_values, sizes=sizes, timing=timing),
        "trees-first-row": partial(first_row, sizes=sizes, timing=timing),
        "trees-memory": partial(memory, sizes=sizes),
        **of_index,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, QUICK if options.quick else FULL), options)


if __name__ == "__main__":
    sys.exit(main())

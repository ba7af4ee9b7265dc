"""Standard errors of Shapley values and effects: how often intervals hold the truth.

Shapley values:

The share of values within 1.96 standard errors of the exact ones, over rows, features
and seeds, in games of trees, networks, interactions and products, at budgets from the
smallest up: of few players at every number of pairs that leaves one unknown.
The line of a game names the budget at which the share is smallest, with the 95 % margin
of that share; a share below 90 % is a disagreement, and so is a standard error of zero
beside a wrong value. Each seed has rows of its own: some budgets leave nothing to
draw, and with one row all of its values are held or none.

Effects (accumulated local effects and M-plots, with defaults): the share of points
within 1.96 standard errors of the true effect, given the feature's values, of a feature
and an independent companion. The line of a formula names the number of rows and the
distribution at which the share is smallest. Random tables draw all of these.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from bench_shapley import game, tabled
from command_line import parser, run_chosen
from pair import Case, Result
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import AccumulatedLocalEffects, ConditionalDependence
from sklearn_interpret.shapley import KernelSHAP, ShapleySampling

NOMINAL, LEAST = 0.95, 0.90
GAMES = ("gb", "mlp", "interaction", "four", "product", "signed")
SIZES = (4, 5, 6, 11)
# Of as many players every number of pairs is tried.
FEW = 6
# Errors below this, relative to the largest value, are rounding errors.
ROUNDING = 1e-9

ROWS = (20, 30, 60, 100, 400)
FEATURES = {
    "normal": np.random.Generator.standard_normal,
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "exponential": np.random.Generator.standard_exponential,
}
# The companion's values, all equally likely: true effects are means over them.
COMPANION = np.random.default_rng(0).standard_normal(50)
FORMULAS = {
    "flat": lambda a, b: a * b,
    "rough": lambda a, b: np.sin(5 * a) * (1 + b),
    "rougher": lambda a, b: np.sign(np.sin(12 * a)) * (1 + b),
    "linear": lambda a, b: 2 * a + a * b,
    "additive": lambda a, b: a**2 + b,
}
N_TABLES = 300


def budgets(kind: type, n_players: int) -> list[dict[str, Any]]:
    """Return parameters from the smallest number of coalitions or orders up."""
    if kind is ShapleySampling:
        return [
            {"n_permutations": n, "antithetic": antithetic}
            for n in (2, 3, 4, 6, 10, 20, 50)
            for antithetic in (True, False)
        ]
    p = n_players
    numbers = set(range(4, 2**p, 2))
    if p > FEW:
        numbers = {4, 6, 8, p, p + 2, 2 * p - 2, 2 * p, 2 * p + 2, 2 * p + 4}
        numbers |= {3 * p, 4 * p, 6 * p, 10 * p, 20 * p}
        numbers |= {2**p * share // 32 for share in (16, 24, 30, 31)} | {2**p - 2}
    return [{"n_coalitions": n} for n in sorted(numbers)]


def coverage(
    name: str, *, kind: type, played: str, n_players: int, n_rows: int, n_seeds: int
) -> Result:
    """Compare intervals with exact values at each budget."""
    enumerated = game(played, n_players, n_rows * n_seeds)
    table, nobody, rows = tabled(enumerated.values)
    rounding = ROUNDING * np.abs(enumerated.truth).max()
    held, wrong = {}, 0
    for params in budgets(kind, n_players):
        shares = []
        for seed in range(n_seeds):
            inspector = kind(table, background=nobody, random_state=seed, **params)
            own = slice(seed * n_rows, (seed + 1) * n_rows)
            explanation = inspector.fit(nobody).explain(rows[own])
            errors = explanation.standard_errors
            apart = np.abs(explanation.values - enumerated.truth[own])
            shares.append((apart <= 1.96 * errors + rounding).mean())
            wrong += int(((errors < rounding * 1e-3) & (apart > rounding)).sum())
        margin = 1.96 * np.std(shares, ddof=1) / np.sqrt(n_seeds)
        held[", ".join(map(str, params.values()))] = np.mean(shares), margin
    return coverage_result(name, held, wrong)


class Formula(RegressorMixin, BaseEstimator):
    """A function of two columns as a fitted model."""

    def __init__(self, formula: Callable[..., np.ndarray]) -> None:
        self.formula = formula

    def fit(self, X: np.ndarray, y: None = None) -> "Formula":
        """Learn nothing."""
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the function's values."""
        return self.formula(*X.T)


def held_by_effect(
    kind: type, formula: Callable[..., np.ndarray], a: np.ndarray, b: np.ndarray
) -> float:
    """Share of an effect's points whose intervals hold the truth."""

    def mean(a: np.ndarray, _: np.ndarray) -> np.ndarray:
        every = np.repeat(a, len(COMPANION)), np.tile(COMPANION, len(a))
        return formula(*every).reshape(len(a), -1).mean(axis=1)

    X = np.c_[a, b]
    effect, truth = (
        kind(FrozenEstimator(Formula(each).fit(X)), features=[0]).fit(X)
        for each in (formula, mean)
    )
    name = "average_" if kind is ConditionalDependence else "effects_"
    values, true_values = (getattr(each, name)[0] for each in (effect, truth))
    apart = np.abs(values - true_values)
    rounding = ROUNDING * np.abs(true_values).max()
    return np.mean(apart <= 1.96 * effect.standard_errors_[0] + rounding)


def effect_coverage(name: str, *, kind: type, formula: str, n_runs: int) -> Result:
    """Compare intervals of an effect with the truth, for each number of rows."""
    rng, held = np.random.default_rng(0), {}
    for feature, draw in FEATURES.items():
        for n in ROWS:
            shares = [
                held_by_effect(
                    kind, FORMULAS[formula], draw(rng, n), rng.choice(COMPANION, n)
                )
                for _ in range(n_runs)
            ]
            margin = 1.96 * np.std(shares, ddof=1) / np.sqrt(n_runs)
            held[f"{n} rows, {feature}"] = np.mean(shares), margin
    return coverage_result(name, held)


def random_tables(name: str, *, kind: type, n_tables: int) -> Result:
    """Compare intervals of effects with the truth on random tables and models."""
    rng, shares = np.random.default_rng(0), []
    for _ in range(n_tables):
        n = int(np.exp(rng.uniform(np.log(20), np.log(400))))
        a, b = FEATURES[rng.choice(list(FEATURES))](rng, n), rng.choice(COMPANION, n)
        formula = FORMULAS[rng.choice(list(FORMULAS))]
        if rng.random() < 0.3:
            forest = RandomForestRegressor(20, random_state=0).fit(
                np.c_[a, b], formula(a, b) + rng.normal(size=n)
            )

            def formula(*columns: np.ndarray) -> np.ndarray:
                return forest.predict(np.stack(columns, axis=1))  # noqa: B023

        shares.append(held_by_effect(kind, formula, a, b))
    margin = 1.96 * np.std(shares, ddof=1) / np.sqrt(n_tables)
    return coverage_result(name, {f"{n_tables} tables": (np.mean(shares), margin)})


def coverage_result(
    name: str, held: dict[str, tuple[float, float]], wrong: int = 0
) -> Result:
    """One line of the table from shares and their margins, by what they are of."""
    least = min(held, key=held.__getitem__)
    share, margin = held[least]
    return Result(
        name,
        "exact values",
        f"{np.mean([share for share, _ in held.values()]):.1%}",
        f"{NOMINAL:.0%}",
        f"{share:.1%} +- {margin:.1%} at {least}",
        f"{LEAST:.0%}",
        f"{wrong} wrong",
        "ok" if share >= LEAST and not wrong else "DISAGREES",
    )


def cases(n_rows: int, n_seeds: int, n_runs: int, **_: Any) -> dict[str, Case]:
    """Return the cases by name."""
    kinds = AccumulatedLocalEffects, ConditionalDependence
    effects = {
        f"{kind.__name__}-{formula}": partial(
            effect_coverage, kind=kind, formula=formula, n_runs=n_runs
        )
        for kind in kinds
        for formula in FORMULAS
    }
    tables = {
        f"{kind.__name__}-tables": partial(random_tables, kind=kind, n_tables=N_TABLES)
        for kind in kinds
    }
    values = {
        f"{kind.__name__}-{played}{n_players}": partial(
            coverage,
            kind=kind,
            played=played,
            n_players=n_players,
            n_rows=n_rows,
            n_seeds=n_seeds,
        )
        for kind in (KernelSHAP, ShapleySampling)
        for played in GAMES
        for n_players in SIZES
        if played != "four" or n_players == max(SIZES)
    }
    return {**effects, **tables, **values}


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 where intervals hold too little, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    sizes = (4, 20, 40) if chosen.quick else (20, 50, 400)
    return run_chosen(partial(cases, *sizes), chosen)


if __name__ == "__main__":
    sys.exit(main())

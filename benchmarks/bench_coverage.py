"""Standard errors of Shapley values: how often intervals hold the exact value.

The share of values within 1.96 standard errors of the exact ones, over rows, features
and seeds, in games of trees, networks and products, at budgets from the smallest up.
The line of a game names the budget at which the share is smallest; a share below 90 %
is a disagreement, and so is a standard error of zero beside a wrong value.
"""

import sys
from functools import partial
from typing import Any

import numpy as np
from bench_shapley import game
from command_line import parser, run_chosen
from pair import Case, Result
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.shapley import KernelSHAP, ShapleySampling

NOMINAL, LEAST = 0.95, 0.90
GAMES = ("gb", "mlp", "four", "product")
SMALL, LARGE = 4, 11
# Relative to the largest value: an error below is rounding.
ROUNDING = 1e-9


class Table(RegressorMixin, BaseEstimator):
    """Values of coalitions of several games, (n_games, 2**p), looked up.

    Players of game number g that are there have the value g + 1, the others 0.
    """

    def __init__(self, values):
        self.values = values

    def fit(self, X, y=None):
        """Do nothing: there is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return the values of coalitions."""
        X = np.asarray(X)
        number = np.maximum(X.max(axis=1).astype(int) - 1, 0)
        return self.values[number, (X > 0) @ 2 ** np.arange(X.shape[1])]


def budgets(kind: type, n_players: int) -> list[dict[str, Any]]:
    """Return parameters from the smallest number of coalitions or orders up."""
    if kind is ShapleySampling:
        return [
            {"n_permutations": n, "antithetic": antithetic}
            for n in (2, 3, 4, 6, 10, 20, 50)
            for antithetic in (True, False)
        ]
    p = n_players
    numbers = {4, 6, 8, p, p + 2, 2 * p - 2, 2 * p, 2 * p + 2, 2 * p + 4}
    numbers |= {3 * p, 4 * p, 6 * p, 10 * p, 20 * p}
    return [{"n_coalitions": n} for n in sorted(numbers) if 4 <= n < 2**p]


def coverage(
    name: str, *, kind: type, played: str, n_players: int, n_rows: int, n_seeds: int
) -> Result:
    """Compare intervals with exact values at each budget."""
    enumerated = game(played, n_players, n_rows)
    # All games start from zero: nobody has no number.
    table = Table(enumerated.values - enumerated.values[:, :1])
    nobody = np.zeros((1, n_players))
    rows = np.tile(np.arange(1.0, n_rows + 1)[:, None], n_players)
    rounding = ROUNDING * np.abs(enumerated.truth).max()
    held, wrong = {}, 0
    for params in budgets(kind, n_players):
        shares = []
        for seed in range(n_seeds):
            inspector = kind(
                FrozenEstimator(table), background=nobody, random_state=seed, **params
            )
            explanation = inspector.fit(nobody).explain(rows)
            errors = explanation.standard_errors
            apart = np.abs(explanation.values - enumerated.truth)
            shares.append((apart <= 1.96 * errors + rounding).mean())
            wrong += int(((errors < rounding * 1e-3) & (apart > rounding)).sum())
        held[", ".join(map(str, params.values()))] = np.mean(shares)
    least = min(held, key=held.__getitem__)
    return Result(
        name,
        "exact values",
        f"{np.mean(list(held.values())):.1%}",
        f"{NOMINAL:.0%}",
        f"least {held[least]:.1%} at {least}",
        f"{LEAST:.0%}",
        f"{wrong} wrong",
        "ok" if held[least] >= LEAST and not wrong else "DISAGREES",
    )


def cases(n_rows: int, n_seeds: int, **_: Any) -> dict[str, Case]:
    """Return what can be run, by name."""
    return {
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
        for n_players in (SMALL, LARGE)
        if (played, n_players) != ("four", SMALL)
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 where intervals hold too little, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    sizes = (20, 4) if chosen.quick else (40, 20)
    return run_chosen(partial(cases, *sizes), chosen)


if __name__ == "__main__":
    sys.exit(main())

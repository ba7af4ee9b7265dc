"""Standard errors of Shapley values: how often intervals hold the exact value.

The share of values within 1.96 standard errors of the exact ones, over rows, features
and seeds, in games of trees, networks, interactions and products, at budgets from the
smallest up: of few players at every number of pairs that leaves one unknown.
The line of a game names the budget at which the share is smallest, with the 95 % margin
of that share; a share below 90 % is a disagreement, and so is a standard error of zero
beside a wrong value. Each seed has rows of its own: some budgets leave nothing to
draw, and with one row all of its values are held or none.
"""

import sys
from functools import partial
from typing import Any

import numpy as np
from bench_shapley import game, tabled
from command_line import parser, run_chosen
from pair import Case, Result

from sklearn_interpret.shapley import KernelSHAP, ShapleySampling

NOMINAL, LEAST = 0.95, 0.90
GAMES = ("gb", "mlp", "interaction", "four", "product", "signed")
SIZES = (4, 5, 6, 11)
# Of as many players every number of pairs is tried.
FEW = 6
# Errors below this, relative to the largest value, are rounding errors.
ROUNDING = 1e-9


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


def cases(n_rows: int, n_seeds: int, **_: Any) -> dict[str, Case]:
    """Return the cases by name."""
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
        for n_players in SIZES
        if played != "four" or n_players == max(SIZES)
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 where intervals hold too little, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    sizes = (4, 20) if chosen.quick else (20, 50)
    return run_chosen(partial(cases, *sizes), chosen)


if __name__ == "__main__":
    sys.exit(main())

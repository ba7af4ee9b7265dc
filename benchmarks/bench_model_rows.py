"""Shapley values of single rows of costly models: error at an equal number of rows.

Lines `<game>-<players>-<budget>` compare the errors of our estimators with those of
shapiq's approximators, which get as many coalitions of each explained row, the empty
one and the grand coalition included: 2p + 8, 8p and 32p. An error is the norm of
values minus the truth relative to that of the truth, a median over rows and seeds; the
truth is that of all coalitions, TreeSHAP's (of trees that are hidden from our
estimators), or that of a game of order two, whose values are means of the gains of
joining first and last. With 12 players, an error of ours above the best peer's by more
than 10 %, and beyond chance (a bootstrap over rows and seeds), is a disagreement; with
more it is `behind`.

Lines `tolerance-...` compare rows that a model gets until the largest error is below a
twentieth of the largest value: KernelSHAP(tolerance=.05), which finds out by itself,
against the smallest of a grid of fixed budgets at which a peer's errors are below in
90 % of the pairs of a row and a seed, which needs the truth. `measured` has the peer's
rows divided by ours. `oracle` is our own estimator at such a fixed budget.

PolySHAP is there where coalitions exceed the terms of three players: with terms of two,
and pairs of coalitions, it is KernelSHAP. ShaplEIG needs torch, and is not compared.
"""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import product
from math import comb
from typing import Any

import numpy as np
from bench_shapley import by_table, tabled
from command_line import parser, run_chosen
from pair import Case, Result, Watched
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from sklearn_interpret.shapley import (
    ExactShapley,
    KernelSHAP,
    ShapleySampling,
    TreeSHAP,
)

# Of these all coalitions are evaluated.
FEW = 12
# Players of each game.
GAMES = {
    "boosting": (12, 30, 80),
    "forest": (12, 30, 80),
    "quadratic": (12, 30, 80),
    "rbf": (12,),
    "mlp": (12,),
}
TREES = {"boosting", "forest"}
BUDGETS = {"2p+8": lambda p: 2 * p + 8, "8p": lambda p: 8 * p, "32p": lambda p: 32 * p}
# Our error may be so many times the best peer's.
MOST = 1.1
# Errors below this are rounding errors.
ROUNDING = 1e-6
TOLERANCE, SHARE = 0.05, 0.9
# Each budget of the grid relative to the one before.
GROWTH = 1.3
# Rows of the background, at a hypothetical cost of each.
N_BACKGROUND, ROW_SECONDS = 10, 0.05


@dataclass(frozen=True)
class Sizes:
    """Rows explained and draws of the estimators, and of tolerances."""

    n_rows: int
    n_seeds: int  # of few players
    n_pair_rows: int
    n_pair_seeds: int
    judged: bool

    def seeds_for(self, p: int) -> int:
        """Return the number of draws, fewer of many players."""
        return self.n_seeds if p == FEW else min(self.n_seeds, 3)


FULL = Sizes(10, 5, 40, 5, judged=True)
QUICK = Sizes(2, 1, 4, 1, judged=False)


class Hidden(RegressorMixin, BaseEstimator):
    """A fitted model, or a function, of which nothing but predictions can be used."""

    def __init__(self, answer: Callable[[np.ndarray], np.ndarray]) -> None:
        self.answer = answer

    def fit(self, X: np.ndarray, y: None = None) -> "Hidden":
        """Learn nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the answers."""
        return self.answer(np.asarray(X))


Values = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Game:
    """A model and the rows to explain; the values of coalitions of each, the truth.

    `difference` is that of the two truths, where there are two.
    """

    model: Any
    background: np.ndarray
    rows: np.ndarray
    values: list[Values]
    truth: np.ndarray
    difference: float | None = None

    @property
    def n_players(self) -> int:
        """The number of features."""
        return self.rows.shape[1]


def of_model(
    answer: Callable[[np.ndarray], np.ndarray], background: np.ndarray, row: np.ndarray
) -> Values:
    """Return the values of coalitions of a row, as means over the background."""

    def values(members: np.ndarray) -> np.ndarray:
        members = np.asarray(members).astype(bool)
        found = np.empty(len(members))
        for start in range(0, len(members), 1024):
            present = members[start : start + 1024, None, :]
            mixed = np.where(present, row, background).reshape(-1, len(row))
            answers = answer(mixed).reshape(-1, len(background))
            found[start : start + 1024] = answers.mean(axis=1)
        return found

    return values


def enumerated(answer: Any, background: np.ndarray, rows: np.ndarray) -> Game:
    """Return a game whose coalitions are looked up in a table of all of them."""
    p = rows.shape[1]
    members = (np.arange(2**p)[:, None] >> np.arange(p)) & 1
    values = np.array([of_model(answer, background, row)(members) for row in rows])
    values -= values[:, :1]
    table, nobody, numbered = tabled(values)
    exact = ExactShapley(table, background=nobody).fit(nobody).explain(numbered)
    looked_up = [by_table(each) for each in values]
    return Game(table, nobody, numbered, looked_up, exact.values)


def training_table(n_rows: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return correlated features of falling influence, and a target with products."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(n_rows, 1))
    X = np.sqrt(0.8) * rng.normal(size=(n_rows, p)) + np.sqrt(0.2) * shared
    influence = 0.5 ** (np.arange(p) / 4)
    y = np.sin(1.5 * X) @ influence + (X[:, :-1] * X[:, 1:]) @ influence[1:] / 2
    y += 2 * (X[:, 0] > 0) * (X[:, 3] > 0.5) * X[:, 5]
    return X, (y - y.mean()) / y.std() + 0.2 * rng.normal(size=n_rows)


@cache
def game(kind: str, p: int, sizes: Sizes) -> Game:
    """Return one of the games."""
    X, y = training_table(1500, p)
    if kind not in TREES:  # a machine asks all of its support vectors
        X, y = X[-500:], y[-500:]
    model = {
        "boosting": GradientBoostingRegressor(max_depth=4, random_state=0),
        "forest": RandomForestRegressor(50, min_samples_leaf=5, random_state=0),
        "quadratic": SVR(kernel="poly", degree=2, coef0=1.0, gamma=1 / p),
        "rbf": SVR(gamma=1 / p, C=10.0),
        "mlp": MLPRegressor(hidden_layer_sizes=(50, 50), max_iter=500, random_state=0),
    }[kind].fit(X[:-100], y[:-100])
    background, rows = X[:N_BACKGROUND], X[-sizes.n_rows :]
    truth = None
    values = [of_model(model.predict, background, row) for row in rows]
    if kind in TREES:
        reader = TreeSHAP(FrozenEstimator(model), background=background)
        truth = reader.fit(background).explain(rows).values
    elif kind == "quadratic":
        alone = np.eye(p, dtype=bool)
        ends = np.array([[False], [True]]) | np.zeros((2, p), dtype=bool)
        asked = [value(np.concatenate([ends, alone, ~alone])) for value in values]
        truth = np.array([(v[2:][:p] - v[0] + v[1] - v[2:][p:]) / 2 for v in asked])
    if p > FEW:
        hidden = FrozenEstimator(Hidden(model.predict))
        return Game(hidden, background, rows, values, truth)
    played = enumerated(model.predict, background, rows)
    gap = None if truth is None else float(np.abs(truth - played.truth).max())
    return replace(played, difference=gap)


def kernel(played: Game, budget: int, seed: int) -> np.ndarray:
    """Return the values of our KernelSHAP."""
    inspector = KernelSHAP(
        played.model,
        n_coalitions=budget,
        background=played.background,
        random_state=seed,
        verbose=0,
    )
    return inspector.fit(played.background).explain(played.rows).values


def sampling(played: Game, budget: int, seed: int) -> np.ndarray:
    """Return the values of our ShapleySampling."""
    n_orders = (budget - 2) // (played.n_players - 1)
    inspector = ShapleySampling(
        played.model,
        n_permutations=n_orders - n_orders % 2,
        background=played.background,
        random_state=seed,
        verbose=0,
    )
    return inspector.fit(played.background).explain(played.rows).values


OURS = {"KernelSHAP": kernel, "ShapleySampling": sampling}
# Their options: defaults, but pairs of coalitions wherever they can be had.
PAIRED = {"pairing_trick": True}
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "LeverageSHAP": ("LeverageSHAP", {}),
    "OddSHAP": ("OddSHAP", {}),
    "ProxySHAP": ("ProxySHAP", {"index": "SV", "max_order": 1}),
    "ProxySHAP+": (
        "ProxySHAP",
        {"index": "SV", "max_order": 1, "adjustment": True, "k_folds": 5},
    ),
    "RegressionMSR": ("RegressionMSR", {"index": "SV"}),
    "KernelSHAP": ("KernelSHAP", PAIRED),
    "PolySHAP": ("PolySHAP", {"max_order": 3, **PAIRED}),
    "PermutationSV": ("PermutationSamplingSV", {}),
    "SVARM": ("SVARM", PAIRED),
    "UnbiasedKernelSHAP": ("UnbiasedKernelSHAP", PAIRED),
}


def by_peer(peer: str, value: Values, p: int, budget: int, seed: int) -> np.ndarray:
    """Return the values of one row by one of shapiq's approximators."""
    import shapiq

    name, options = PEERS[peer]
    n_terms = sum(comb(p, size) for size in range(options.get("max_order", 0) + 1))
    if n_terms > budget:
        raise ValueError(f"{budget} coalitions do not identify {n_terms} terms")
    made = getattr(shapiq.approximator, name)(n=p, random_state=seed, **options)
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        explained = made.approximate(budget, lambda asked: value(np.atleast_2d(asked)))
    return np.array([explained[(player,)] for player in range(p)])


def peer_values(peer: str, played: Game, budget: int, seed: int) -> np.ndarray:
    """Return the values of all rows, each with draws of its own."""
    p, n_rows = played.n_players, len(played.rows)
    return np.array(
        [
            by_peer(peer, value, p, budget, seed * n_rows + row)
            for row, value in enumerate(played.values)
        ]
    )


def errors(
    estimate: Callable[..., np.ndarray], played: Game, budget: int, n_seeds: int
) -> np.ndarray:
    """Return relative errors, (n_seeds, n_rows)."""
    gaps = [estimate(played, budget, seed) - played.truth for seed in range(n_seeds)]
    norms = np.linalg.norm(gaps, axis=2) / np.linalg.norm(played.truth, axis=1)
    return np.maximum(norms, ROUNDING)


def ratio_interval(
    ours: np.ndarray, theirs: np.ndarray, n_draws: int = 1000
) -> tuple[float, float]:
    """Return the 95 % interval of our median error divided by theirs."""
    rng = np.random.default_rng(0)
    n_seeds, n_rows = ours.shape
    ratios = []
    for _ in range(n_draws):
        drawn = np.ix_(
            rng.integers(n_seeds, size=n_seeds), rng.integers(n_rows, size=n_rows)
        )
        ratios.append(np.median(ours[drawn]) / np.median(theirs[drawn]))
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def by_all_peers(measure: Callable[[str], Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what is measured of each peer, and what the others say."""
    found, notes = {}, []
    for peer in PEERS:
        try:
            found[peer] = measure(peer)
        except (ImportError, AttributeError, ValueError) as refused:
            told = str(refused).splitlines()[0][:70]
            notes.append(f"{peer} {type(refused).__name__}: {told}")
    return found, notes


def accuracy(name: str, *, kind: str, p: int, budget: int, sizes: Sizes) -> Result:
    """Compare the error of our better estimator with that of the best peer."""
    played = game(kind, p, sizes)
    budget, n_seeds = min(budget, 2**p), sizes.seeds_for(p)
    own = {
        label: errors(estimate, played, budget, n_seeds)
        for label, estimate in OURS.items()
    }
    theirs, notes = by_all_peers(
        lambda peer: errors(partial(peer_values, peer), played, budget, n_seeds)
    )
    medians = {
        side: {label: float(np.median(each)) for label, each in found.items()}
        for side, found in (("ours", own), ("theirs", theirs))
    }
    told = [
        f"{side} {label} {error:.1e}"
        for side, found in medians.items()
        for label, error in found.items()
    ]
    ours = min(medians["ours"], key=medians["ours"].__getitem__)
    if not theirs:
        line = name, "shapiq", f"{medians['ours'][ours]:.1e}", *"----"
        return Result(*line, "peer missing", "; ".join(told + notes))
    best = min(medians["theirs"], key=medians["theirs"].__getitem__)
    rank = 1 + sum(e < medians["ours"][ours] for e in medians["theirs"].values())
    ratio = medians["ours"][ours] / medians["theirs"][best]
    low, high = ratio_interval(own[ours], theirs[best])
    target = sizes.judged and p == FEW
    verdict = "ok"
    if low > MOST:
        verdict = "DISAGREES" if target else "behind"
    return Result(
        name,
        f"shapiq {version('shapiq')} {best}",
        f"{medians['ours'][ours]:.1e}",
        f"{medians['theirs'][best]:.1e}",
        f"{ratio:.2f} ({low:.2f} - {high:.2f}) x",
        f"<= {MOST:g}" if target else "not judged",
        "-" if played.difference is None else f"{played.difference:.1e}",
        verdict,
        f"{budget} coalitions, ours is number {rank}; " + "; ".join(told + notes),
    )


def friedman(z: np.ndarray) -> np.ndarray:
    """A probability by Friedman's first function; the last five features do nothing."""
    u = (np.tanh(z) + 1) / 2
    waves = np.sin(np.pi * u[:, 0] * u[:, 1])
    margin = 10 * waves + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3] + 5 * u[:, 4]
    return 1 / (1 + np.exp((14 - margin) / 3))


def products(z: np.ndarray) -> np.ndarray:
    """Products, also with a threshold, a maximum and a linear rest."""
    found = np.sin(2 * z[:, 0]) * z[:, 1] + z[:, 2] * z[:, 3] * (z[:, 4] > 0)
    return found + 0.2 * z[:, 5:].sum(axis=1) + np.maximum(z[:, 5], z[:, 6])


def network(z: np.ndarray) -> np.ndarray:
    """A random layer of twenty hidden units."""
    rng = np.random.default_rng(0)
    inner = rng.normal(size=(z.shape[1], 20)) / np.sqrt(z.shape[1])
    return np.tanh(2 * z @ inner + rng.normal(size=20)) @ rng.normal(size=20)


FUNCTIONS = {
    "friedman": (friedman, 10),
    "network": (network, 11),
    "products": (products, 12),
}


@cache
def costly_game(function: str, sizes: Sizes) -> Game:
    """Return the game of one of the functions."""
    answer, p = FUNCTIONS[function]
    Z = np.random.default_rng(1).normal(size=(N_BACKGROUND + sizes.n_pair_rows, p))
    return enumerated(answer, Z[:N_BACKGROUND], Z[N_BACKGROUND:])


def model_rows(n_coalitions: float) -> float:
    """Return the rows that a model gets for a row's coalitions, two of them free."""
    return (n_coalitions - 2) * N_BACKGROUND + 1


def largest_errors(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return largest errors as a share of the largest value."""
    return np.abs(values - truth).max(axis=-1) / np.abs(truth).max(axis=-1)


def reaches(
    estimate: Callable[[int, int], np.ndarray], played: Game, n_seeds: int
) -> bool:
    """Whether enough of the pairs have a small error; stops once that is excluded.

    `estimate(row, seed)` returns the values of a row, or refuses the budget.
    """
    n_rows = len(played.rows)
    allowed = int((1 - SHARE) * n_rows * n_seeds + 1e-9)
    missed = 0
    for seed, row in product(range(n_seeds), range(n_rows)):
        try:
            found = estimate(row, seed)
        except ValueError:
            return False
        missed += largest_errors(found, played.truth[row]) > TOLERANCE
        if missed > allowed:
            return False
    return True


def smallest_budget(
    estimate: Callable[[int, int, int], np.ndarray], played: Game, n_seeds: int
) -> int:
    """Return the smallest budget of the grid that suffices, by bisection."""
    p = played.n_players
    grid = [2 * p + 4]
    while grid[-1] < 2**p:
        grid.append(min(2**p, int(GROWTH * grid[-1])))
    low, high = 0, len(grid) - 1  # all coalitions suffice
    while low < high:
        middle = (low + high) // 2
        if reaches(partial(estimate, grid[middle]), played, n_seeds):
            high = middle
        else:
            low = middle + 1
    return grid[high]


def of_ours(played: Game) -> Callable[[int, int, int], np.ndarray]:
    """Return our estimates of single rows at a budget, all rows of a seed at once."""
    explain = cache(partial(kernel, played))
    return lambda budget, row, seed: explain(budget, seed)[row]


def to_tolerance(played: Game, n_seeds: int) -> tuple[np.ndarray, float]:
    """Return our largest errors at the tolerance, and coalitions of a row."""
    found, n_asked = [], 0
    for seed in range(n_seeds):
        counted = Watched(played.model, time.perf_counter)
        inspector = KernelSHAP(
            FrozenEstimator(counted),
            tolerance=TOLERANCE,
            background=played.background,
            random_state=seed,
            verbose=0,
        ).fit(played.background)
        counted.n_rows_ = 0
        explained = inspector.explain(played.rows)
        n_asked += counted.n_rows_
        found.append(largest_errors(explained.values, played.truth))
    # The grand coalition's row is among them, the empty coalition's is not.
    return np.array(found), n_asked / np.size(found) + 1


def tolerance(name: str, *, function: str, sizes: Sizes) -> Result:
    """Compare the rows that our tolerance takes with those that peers need."""
    played, n_seeds = costly_game(function, sizes), sizes.n_pair_seeds
    p = played.n_players
    found, n_coalitions = to_tolerance(played, n_seeds)
    share = float((found <= TOLERANCE).mean())
    rows = model_rows(n_coalitions)
    oracle = model_rows(smallest_budget(of_ours(played), played, n_seeds))

    def of_peer(peer: str) -> float:
        def estimate(budget: int, row: int, seed: int) -> np.ndarray:
            draws = seed * len(played.rows) + row
            return by_peer(peer, played.values[row], p, budget, draws)

        return model_rows(smallest_budget(estimate, played, n_seeds))

    theirs, notes = by_all_peers(of_peer)
    told = [
        f"{label} {each:.0f} = {each / rows:.2f} x" for label, each in theirs.items()
    ]
    quantiles = ", ".join(f"{each:.3f}" for each in np.quantile(found, [0.5, 0.9, 1]))
    told = [
        f"ours {rows:.0f} rows = {rows * ROW_SECONDS:.0f} s at {ROW_SECONDS:g} s, "
        f"{share:.1%} of {found.size} below {TOLERANCE:g}, largest errors (median, "
        f"90 %, all) {quantiles}; oracle {oracle:.0f} = {oracle / rows:.2f} x",
        *told,
        *notes,
    ]
    if not theirs:
        line = name, "shapiq", f"{rows:.0f}", *"----"
        return Result(*line, "peer missing", "; ".join(told))
    best = min(theirs, key=theirs.__getitem__)
    # Two standard errors of the share itself.
    held = share >= SHARE - 2 * np.sqrt(SHARE * (1 - SHARE) / found.size)
    verdict = "ok" if theirs[best] >= rows / MOST else "behind"
    return Result(
        name,
        f"shapiq {version('shapiq')} {best}",
        f"{rows:.0f}",
        f"{theirs[best]:.0f}",
        f"{theirs[best] / rows:.2f} x the rows",
        f"{share:.1%} >= {SHARE:.0%}",
        "-",
        verdict if held or not sizes.judged else "DISAGREES",
        "; ".join(told),
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""
    found: dict[str, Case] = {}
    for kind, all_players in GAMES.items():
        for p, (label, budget) in product(all_players, BUDGETS.items()):
            found[f"{kind}-{p}-{label}"] = partial(
                accuracy, kind=kind, p=p, budget=budget(p), sizes=sizes
            )
    for function in FUNCTIONS:
        found[f"tolerance-{function}"] = partial(
            tolerance, function=function, sizes=sizes
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when ours are worse where judged, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    sizes = QUICK if chosen.quick else FULL
    return run_chosen(partial(cases, sizes), chosen)


if __name__ == "__main__":
    sys.exit(main())

"""Conditional Shapley values: error to the truth against shapiq and shapr.

Tables whose distribution is known: normal features, skewed ones of a normal copula, and
numbers with flags, which are latent normals cut at a threshold. Boosted trees are
fitted on 1000 rows; the value of a coalition is the mean response given its features.

The truth takes the true distribution: normal draws given the features that are there,
in latent space, and weights for those that are flags (draws are cut to their side of
the threshold, one after the other, and weighted by the chance of that side). `truth`
holds it against other draws by another formula, with rejection.

Errors are squared, relative to the sum of squares of the true values. Everyone gets the
same rows to estimate the distribution, explains the same rows by all coalitions, and
asks the model for as many draws. The values of coalitions of the peers are turned into
Shapley values by us. An error above that of the best peer, or more rows sent than the
peers send: `DISAGREES`. shapr needs `Rscript`.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bench_shapley import tabled
from command_line import parser, run_chosen
from pair import Case, Result, Watched
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from scipy.stats.qmc import Sobol
from sklearn.base import RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.shapley import ExactShapley

N_FEATURES, N_TRAINING = 8, 1000
MEMBERS = (np.arange(2**N_FEATURES)[:, None] >> np.arange(N_FEATURES)) & 1 == 1
CORRELATION = 0.7 ** np.abs(np.subtract.outer(*2 * [np.arange(N_FEATURES)]))
# Of the flags among the columns: where their latent normals are cut.
CUTS = {2: 0.0, 5: 0.5, 7: -1.0}

# What peers call the assumptions that ours are named by; nearest ones for the last two.
# Not shapiq's GenerativeConditionalImputer: it draws rows near the whole explained row,
# whatever the coalition, so that its error is that of independence, after minutes.
PEERS = {
    "gaussian": ("shapiq GaussianImputer", "shapr gaussian"),
    "copula": ("shapiq GaussianCopulaImputer", "shapr copula"),
    "neighbors": ("shapr empirical",),
    "regression": ("shapr ctree",),
}
PEERS["auto"] = tuple(peer for peers in PEERS.values() for peer in peers)
# The others are reported: the peers do not do the same.
JUDGED = {
    "gaussian": ("gaussian", "copula", "auto"),
    "skewed": ("copula", "auto"),
    "mixed": ("copula", "auto"),
}
# All draws of all coalitions, with their weights, into a file of numbers.
DRAWS = """
suppressMessages(library(shapr))
given <- commandArgs(TRUE)
found <- suppressWarnings(explain(
  model = list(), x_explain = read.csv(given[2]), x_train = read.csv(given[1]),
  approach = given[4], phi0 = 0, n_MC_samples = as.integer(given[5]),
  seed = as.integer(given[6]), iterative = FALSE, verbose = NULL,
  predict_model = function(x, newdata) rowSums(newdata),
  output_args = list(keep_samp_for_vS = TRUE)
))$internal
draws <- as.data.frame(found$output$dt_samp_for_vS)
coalitions <- found$iter_list[[1]]$X$features
bits <- sapply(coalitions, function(columns) sum(2^(columns - 1)))
names <- c("id", "w", names(read.csv(given[2])))
columns <- cbind(bits[draws$id_coalition], draws[, names])
writeBin(as.vector(t(as.matrix(columns))), given[3])
"""


@dataclass(frozen=True)
class Sizes:
    """Rows explained, seeds, draws of the truth and ours, and whether it is judged."""

    n_rows: int
    n_seeds: int
    n_true: int
    budgets: tuple[int, ...]
    judged: bool


FULL = Sizes(20, 10, 2**13, (20, 100), judged=True)
QUICK = Sizes(2, 1, 2**10, (20,), judged=False)


def observed(kind: str, latent: np.ndarray) -> np.ndarray:
    """Return the features that latent normals become."""
    X = latent.copy()
    if kind == "skewed":
        X[..., ::2] = -norm.logsf(latent[..., ::2])  # exponential
        X[..., 1::2] = np.exp(latent[..., 1::2])
    if kind == "mixed":
        for column, cut in CUTS.items():
            X[..., column] = latent[..., column] > cut
    return X


def surface(kind: str, X: np.ndarray) -> np.ndarray:
    """Return the expected target; flags act by their sign."""
    # Skewed features around one: trees would not tell others from normal ones.
    z = X.T - (kind == "skewed")
    if kind == "mixed":
        for column in CUTS:
            z[column] = 2 * z[column] - 1
    pairs = z[1] * z[2] + np.abs(z[4]) * z[5] + z[6] * (z[7] > 0)
    return z[0] + np.sin(2 * z[3]) + pairs


@dataclass(frozen=True, eq=False)
class Problem:
    """A model, rows that it was fitted on, rows to explain, and their true values."""

    kind: str
    model: RegressorMixin
    X: np.ndarray
    latent: np.ndarray
    truth: np.ndarray
    own_error: float

    @property
    def rows(self) -> np.ndarray:
        """The rows to explain."""
        return observed(self.kind, self.latent)

    def error(self, values: np.ndarray) -> float:
        """Return the squared error, relative to the square of the truth."""
        return float(((values - self.truth) ** 2).sum() / (self.truth**2).sum())


def shapley(values: np.ndarray) -> np.ndarray:
    """Return Shapley values from values of all coalitions, (n_rows, 2**p)."""
    known, nobody, numbered = tabled(values)
    return ExactShapley(known, background=nobody).fit(nobody).explain(numbered).values


def conditional(
    kind: str, known: np.ndarray, latent: np.ndarray, uniform: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the latent normals given the known features, and weights."""
    flag = np.isin(np.arange(N_FEATURES), list(CUTS) if kind == "mixed" else [])
    exact = np.flatnonzero(known & ~flag)
    # Flags first: their latent normals are cut, and the others follow.
    sides, free = np.flatnonzero(known & flag), np.flatnonzero(~known)
    drawn = np.concatenate([sides, free])
    weights = np.linalg.solve(
        CORRELATION[np.ix_(exact, exact)], CORRELATION[np.ix_(exact, drawn)]
    )
    covariance = CORRELATION[np.ix_(drawn, drawn)]
    root = np.linalg.cholesky(covariance - CORRELATION[np.ix_(drawn, exact)] @ weights)
    mean = latent[exact] @ weights
    steps = np.empty((len(uniform), len(drawn)))
    chances = np.ones(len(uniform))
    for place, column in enumerate(sides):
        so_far = mean[place] + steps[:, :place] @ root[place, :place]
        edge = ndtr((CUTS[column] - so_far) / root[place, place])
        low, high = (edge, 1.0) if latent[column] > CUTS[column] else (0.0, edge)
        chances *= high - low
        inside = low + (high - low) * uniform[:, place]
        steps[:, place] = ndtri(np.clip(inside, 1e-15, 1 - 1e-15))
    steps[:, len(sides) :] = ndtri(uniform[:, len(sides) : len(drawn)])
    draws = np.tile(latent, (len(uniform), 1))
    draws[:, drawn] = mean + steps @ root.T
    return draws, chances / chances.sum()


def uniform_draws(n_draws: int, seed: int) -> np.ndarray:
    """Return quasi-random numbers between 0 and 1, a column for each feature."""
    points = Sobol(N_FEATURES, rng=np.random.default_rng(seed)).random(n_draws)
    return np.clip(points, 1e-12, 1 - 1e-12)


def true_value(
    kind: str,
    model: RegressorMixin,
    known: np.ndarray,
    latent: np.ndarray,
    uniform: np.ndarray,
) -> float:
    """Return the mean response given the known features of a row."""
    draws, weights = conditional(kind, known, latent, uniform)
    mixed = np.where(known, observed(kind, latent), observed(kind, draws))
    return float(weights @ model.predict(mixed))


def true_values(
    kind: str, model: RegressorMixin, latent: np.ndarray, n_draws: int, seed: int
) -> np.ndarray:
    """Return the values of all coalitions of rows."""
    value = partial(true_value, kind, model)
    uniform = uniform_draws(n_draws, seed)
    values = np.empty((len(latent), len(MEMBERS)))
    values[:, 0] = value(MEMBERS[0], latent[0], uniform)
    values[:, -1] = model.predict(observed(kind, latent))
    for row, into in zip(latent, values, strict=True):
        into[1:-1] = [value(known, row, uniform) for known in MEMBERS[1:-1]]
    return values


@cache
def problem(kind: str, sizes: Sizes) -> Problem:
    """Return one of the problems, with its truth."""
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(CORRELATION)
    latent = rng.normal(size=(N_TRAINING + sizes.n_rows, N_FEATURES)) @ root.T
    X = observed(kind, latent[:N_TRAINING])
    y = surface(kind, X) + 0.5 * rng.normal(size=N_TRAINING)
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    rows = latent[N_TRAINING:]
    halves = [
        shapley(true_values(kind, model, rows, sizes.n_true // 2, seed))
        for seed in range(2)
    ]
    truth = np.mean(halves, axis=0)
    # Of the mean of both halves, from their difference.
    own_error = ((halves[0] - halves[1]) ** 2).sum() / 4 / (truth**2).sum()
    return Problem(kind, model, X, rows, truth, float(own_error))


def ours(
    dependence: str | None, played: Problem, n_draws: int, seed: int
) -> np.ndarray:
    """Return our values."""
    assumed = {} if dependence is None else {"dependence": dependence}
    inspector = ExactShapley(
        FrozenEstimator(played.model), subsample=n_draws, random_state=seed, **assumed
    )
    return inspector.fit(played.X).explain(played.rows).values


def shapiq(imputer: str, played: Problem, n_draws: int, seed: int) -> np.ndarray:
    """Return the values of one of shapiq's imputers."""
    import shapiq

    made = getattr(shapiq.imputer, imputer)(
        played.model.predict, played.X, sample_size=n_draws, random_state=seed
    )
    values = [made.fit(row).value_function(MEMBERS) for row in played.rows]
    return shapley(np.array(values))


def shapr(approach: str, played: Problem, n_draws: int, seed: int) -> np.ndarray:
    """Return the values from the draws of one of shapr's approaches."""
    p, n_rows = N_FEATURES, len(played.rows)
    names = ",".join(f"x{column}" for column in range(p))
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("X.csv", "rows.csv", "draws")]
        for path, table in zip(paths[:2], (played.X, played.rows), strict=True):
            np.savetxt(path, table, "%.17g", ",", header=names, comments="")
        # Seeds from one.
        settings = approach, str(n_draws), str(seed + 1)
        in_r(DRAWS, *paths, *settings)
        draws = np.fromfile(paths[2]).reshape(-1, p + 3)
    coalition, row = draws[:, :2].astype(int).T
    cells = (row - 1) * 2**p + coalition
    answers = played.model.predict(draws[:, 3:])
    weights = np.bincount(cells, draws[:, 2], n_rows * 2**p)
    sums = np.bincount(cells, draws[:, 2] * answers, n_rows * 2**p)
    values = (sums / np.where(weights, weights, 1)).reshape(n_rows, -1)
    # It draws for neither: it is told the mean response, and asks for the rows' own.
    values[:, 0] = played.model.predict(played.X).mean()
    values[:, -1] = played.model.predict(played.rows)
    return shapley(values)


def in_r(code: str, *arguments: str) -> str:
    """Return what R prints."""
    command = ["Rscript", "-e", code, *arguments]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as missing:
        told = (getattr(missing, "stderr", "") or str(missing)).splitlines()[0]
        raise ImportError(f"shapr: {told[:80]}") from missing
    return ran.stdout


@cache
def peer_version(package: str) -> str:
    """Return the version of a peer."""
    if package == "shapr":
        return in_r('cat(as.character(packageVersion("shapr")))')
    return version(package)


@dataclass(frozen=True)
class Measured:
    """An error and rows sent to the model, as means over seeds, and seconds of one."""

    error: float
    n_rows: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.error:.2e} ({self.n_rows:,} rows, {self.seconds:.1f} s)"


def over_seeds(
    estimate: Callable[..., np.ndarray], kind: str, n_draws: int, sizes: Sizes
) -> Measured:
    """Return what an estimator needs and misses."""
    played = problem(kind, sizes)
    watched = Watched(played.model, time.perf_counter)
    spied = replace(played, model=watched)
    start = time.perf_counter()
    seeds = range(sizes.n_seeds)
    errors = [played.error(estimate(spied, n_draws, seed)) for seed in seeds]
    seconds = time.perf_counter() - start
    return Measured(
        float(np.mean(errors)), watched.n_rows_ // len(seeds), seconds / len(seeds)
    )


@cache
def of_peer(peer: str, kind: str, n_draws: int, sizes: Sizes) -> Measured:
    """Return the same of a peer."""
    package, _, method = peer.partition(" ")
    peer_version(package)
    estimate = {"shapiq": shapiq, "shapr": shapr}[package]
    return over_seeds(partial(estimate, method), kind, n_draws, sizes)


@cache
def of_independence(kind: str, n_draws: int, sizes: Sizes) -> Measured:
    """Return the same of our values without dependence."""
    return over_seeds(partial(ours, None), kind, n_draws, sizes)


def compare(
    name: str, *, kind: str, dependence: str, n_draws: int, sizes: Sizes
) -> Result:
    """Compare our error with that of the best peer."""
    measured, notes = {}, []
    for peer in PEERS[dependence]:
        try:
            measured[peer] = of_peer(peer, kind, n_draws, sizes)
            notes.append(f"{peer} {measured[peer]}")
        except (ImportError, ValueError) as error:
            # Among them is shapiq's refusal of columns with two values.
            notes.append(f"{peer} {type(error).__name__}: {error}")
    own = over_seeds(partial(ours, dependence), kind, n_draws, sizes)
    independent = of_independence(kind, n_draws, sizes)
    notes.insert(0, f"ours {own}; independence {independent}")
    notes.append(f"the truth's own error {problem(kind, sizes).own_error:.1e}")
    if not measured:
        measured["independence"] = independent
    best = min(measured, key=lambda peer: measured[peer].error)
    ratio = measured[best].error / own.error
    judged = sizes.judged and dependence in JUDGED[kind]
    # Those of all coalitions, and once the rows that the distribution is estimated
    # from: their mean is the value of the empty one. "auto" tries all kinds before.
    allowed = sizes.n_rows * len(MEMBERS) * n_draws + N_TRAINING
    many = dependence != "auto" and own.n_rows > allowed
    package = best.partition(" ")[0]
    known = package in ("shapiq", "shapr")
    return Result(
        name,
        f"{package} {peer_version(package)} {best.partition(' ')[2]}"
        if known
        else best,
        f"{own.error:.2e}",
        f"{measured[best].error:.2e}",
        f"{ratio:.2f} x less error",
        ">= 1" if judged else "-",
        "-",
        "DISAGREES" if judged and (many or ratio < 1) else "ok",
        "; ".join(notes),
    )


def truth(name: str, *, kind: str, sizes: Sizes) -> Result:
    """Compare the truth's values of coalitions with those by other draws."""
    rng = np.random.default_rng(1)
    played = problem(kind, sizes)
    precision = np.linalg.inv(CORRELATION)
    flags = np.isin(np.arange(N_FEATURES), list(CUTS) if kind == "mixed" else [])
    uniform = uniform_draws(2**16, 2)
    gaps = []
    for number in rng.choice(np.arange(1, len(MEMBERS) - 1), 20, replace=False):
        known = MEMBERS[number]
        # Of the others given the numbers; flags by rejection.
        exact = known & ~flags
        inner = np.linalg.inv(precision[np.ix_(~exact, ~exact)])
        slope = -inner @ precision[np.ix_(~exact, exact)]
        for row in played.latent[:2]:
            draws = np.tile(row, (50_000, 1))
            mean = slope @ row[exact]
            draws[:, ~exact] = rng.multivariate_normal(mean, inner, len(draws))
            drawn, given = observed(kind, draws), observed(kind, row)
            kept = drawn[(drawn[:, flags & known] == given[flags & known]).all(axis=1)]
            answers = played.model.predict(np.where(known, given, kept))
            found = true_value(kind, played.model, known, row, uniform)
            error = answers.std() / np.sqrt(len(answers))
            gaps.append((answers.mean() - found) / error)
    worst = float(np.abs(gaps).max())
    return Result(
        name,
        "other draws",
        *"--",
        f"{worst:.1f} standard errors",
        "<= 4",
        "-",
        "ok" if worst <= 4 else "DISAGREES",
        f"their root mean square {np.sqrt(np.mean(np.square(gaps))):.2f}; "
        f"the truth's own error {played.own_error:.1e}",
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""
    found: dict[str, Case] = {}
    for kind in JUDGED:
        found[f"truth-{kind}"] = partial(truth, kind=kind, sizes=sizes)
        for dependence, n_draws in product(PEERS, sizes.budgets):
            found[f"{kind}-{dependence}-{n_draws}"] = partial(
                compare, kind=kind, dependence=dependence, n_draws=n_draws, sizes=sizes
            )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when ours are worse than a peer's, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    sizes = QUICK if chosen.quick else FULL
    return run_chosen(partial(cases, sizes), chosen)


if __name__ == "__main__":
    sys.exit(main())

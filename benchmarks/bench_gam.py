"""Additive models: error and time against pygam, gamfit, statsmodels and R's mgcv.

Tables of 10 000 rows and eight features: a sine, a parabola, an exponential, a line,
Wood's bump and three of noise, 20 splines each. The error is that of the linear
predictor to the truth, a root mean square over the rows, averaged over tables. Above
those of mgcv's `bam` (with P-splines and no second penalty, on these tables), or above
pygam's: `DISAGREES`. pygam and mgcv choose the smoothness, as we do; statsmodels is
given one for all terms. mgcv needs `Rscript`, and times itself, in processor seconds.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache, partial, reduce
from importlib.metadata import version
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from command_line import parser, run_chosen
from pair import (
    Case,
    Result,
    duration,
    own_ratio,
    paired_seconds,
    passing_memory,
    seconds,
    spread,
)
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from sklearn_interpret.additive import GAMClassifier, GAMRegressor

N_FEATURES, N_SPLINES, N_TABLES = 8, 20, 10
# Standard deviation of the noise, and what shrinks the linear predictor of classes:
# those for which bam has the errors below.
NOISE, SHARE = 1.8, 0.68
LARGEST_ERROR = {"normal": 0.0985, "logit": 0.1096}
BAM = """
library(mgcv)
args <- commandArgs(TRUE)
n <- as.integer(args[2])
d <- as.data.frame(matrix(readBin(args[1], "double", 9 * n), n))
names(d) <- c(paste0("x", 1:8), "y")
terms <- paste0("s(x", 1:8, ", bs = 'ps', k = ", args[3], ")", collapse = " + ")
formula <- as.formula(paste("y ~", terms))
family <- if (args[4] == "logit") binomial() else gaussian()
fit <- function() bam(formula, data = d, family = family, discrete = TRUE,
                      method = "fREML", select = args[5] == "1")
invisible(fit())
start <- proc.time()
model <- fit()
cat(sum((proc.time() - start)[1:2]), as.character(packageVersion("mgcv")))
writeBin(as.vector(predict(model, d)), args[1])
"""

# Rows, targets, and the true linear predictor.
Table = tuple[np.ndarray, np.ndarray, np.ndarray]


def true_effects(X: np.ndarray) -> np.ndarray:
    """Return the effects of all features, which sum to zero over the rows."""
    a, b, c, d, e = X.T[:5]
    bump = 0.2 * e**11 * (10 * (1 - e)) ** 6 + 10 * (10 * e) ** 3 * (1 - e) ** 10
    effects = np.zeros(X.shape)
    effects[:, 0], effects[:, 1] = np.sin(2 * np.pi * a), 4 * (b - 0.5) ** 2
    effects[:, 2], effects[:, 3] = np.exp(2 * c) / 4, 1.5 * d
    effects[:, 4] = bump / 4
    return effects - effects.mean(axis=0)


@cache
def table(kind: str, n_rows: int, seed: int) -> Table:
    """Return a table of numbers (`"normal"`) or of two classes (`"logit"`)."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, N_FEATURES))
    truth = true_effects(X).sum(axis=1)
    if kind == "normal":
        return X, truth + NOISE * rng.normal(size=n_rows), truth
    truth *= SHARE
    return X, (rng.random(n_rows) < expit(truth)).astype(int), truth


def ours(kind: str, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit our model."""
    return {"normal": GAMRegressor, "logit": GAMClassifier}[kind](
        n_splines=N_SPLINES
    ).fit(X, y)


def our_predictor(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the linear predictor of our model."""
    return model.intercept_ + model.transform(X).sum(axis=1)


def pygam(kind: str, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit pygam's model; its grid has one smoothness for all terms."""
    from pygam import LinearGAM, LogisticGAM, s

    terms = reduce(add, [s(j, n_splines=N_SPLINES) for j in range(N_FEATURES)])
    model = {"normal": LinearGAM, "logit": LogisticGAM}[kind](terms)
    return model.gridsearch(X, y, progress=False)


def pygam_predictor(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the linear predictor of pygam's model."""
    return model.link.link(model.predict_mu(X), model.distribution)


def gamfit(kind: str, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit gamfit's model, by its formula."""
    from gamfit import fit

    names = [f"x{j}" for j in range(N_FEATURES)]
    frame = pd.DataFrame(X, columns=names).assign(y=y.astype(np.float64))
    terms = " + ".join(f"s({name}, k={N_SPLINES})" for name in names)
    more = {} if kind == "normal" else {"family": "binomial"}
    return fit(frame, f"y ~ {terms}", **more)


def gamfit_predictor(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the linear predictor of gamfit's model."""
    names = [f"x{j}" for j in range(X.shape[1])]
    means = np.asarray(model.predict(pd.DataFrame(X, columns=names)))
    binary = means.min() >= 0 and means.max() <= 1
    return logit(np.clip(means, 1e-12, 1 - 1e-12)) if binary else means


def statsmodels(kind: str, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit statsmodels' model at one smoothness for all terms."""
    from statsmodels.api import families
    from statsmodels.gam.api import BSplines, GLMGam

    splines = BSplines(X, df=[N_SPLINES] * N_FEATURES, degree=[3] * N_FEATURES)
    family = families.Gaussian() if kind == "normal" else families.Binomial()
    model = GLMGam(y, np.ones((len(y), 1)), splines, [0.01] * N_FEATURES, family=family)
    return model.fit()


def statsmodels_predictor(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the linear predictor of statsmodels' model of the same rows."""
    return model.family.link(np.asarray(model.fittedvalues))


PEERS: dict[str, tuple[Callable[..., Any], Callable[..., np.ndarray], float | None]] = {
    # How to fit, the linear predictor, and how many times as long it takes.
    "pygam": (pygam, pygam_predictor, 8.0),
    "gamfit": (gamfit, gamfit_predictor, 4.0),
    "statsmodels": (statsmodels, statsmodels_predictor, None),
}


def error(predictor: np.ndarray, truth: np.ndarray) -> float:
    """Return the root mean square, whatever the constant."""
    return float(np.std(predictor - truth))


def our_errors(kind: str, tables: list[Table]) -> list[float]:
    """Return our error on each table."""
    return [error(our_predictor(ours(kind, X, y), X), truth) for X, y, truth in tables]


def bounded_error(name: str, *, kind: str, tables: int, n_rows: int) -> Result:
    """Compare our mean error with what it may be."""
    errors = our_errors(kind, [table(kind, n_rows, seed) for seed in range(tables)])
    mean, limit = np.mean(errors), LARGEST_ERROR[kind]
    # Of small tables nothing is asked.
    within = mean <= limit or n_rows < 10_000
    return Result(
        name,
        f"{tables} tables",
        f"{mean:.4f}",
        f"{limit:.4f}",
        spread(errors, ".4f"),
        f"<= {limit:.4f}",
        "-",
        "ok" if within else "DISAGREES",
    )


def against_peer(
    name: str, *, kind: str, peer: str, tables: int, n_rows: int, **run: Any
) -> Result:
    """Compare errors on some tables, and times on the first."""
    fit, predict, target = PEERS[peer]
    drawn = [table(kind, n_rows, seed) for seed in range(tables)]
    try:
        errors = [
            error(np.ravel(predict(fit(kind, X, y), X)), truth) for X, y, truth in drawn
        ]
    except ImportError as missing:
        return Result(name, peer, *"-----", "peer missing", str(missing))
    X, y, _ = drawn[0]
    times = paired_seconds(lambda: ours(kind, X, y), lambda: fit(kind, X, y), **run)
    ratios = times[:, 1] / times[:, 0]
    mine, theirs = np.mean(our_errors(kind, drawn)), np.mean(errors)
    slow = target is not None and np.median(ratios) < target
    worse = peer == "pygam" and not mine <= theirs
    return Result(
        name,
        f"{peer} {version(peer)}",
        *map(duration, np.median(times, axis=0)),
        spread(ratios, ".1f") + " x",
        "-" if target is None else f">= {target:g}",
        f"{mine - theirs:+.4f}",
        "DISAGREES" if worse else "below target" if slow else "ok",
        f"errors {mine:.4f} and {theirs:.4f}",
    )


def against_bam(
    name: str, *, kind: str, select: bool, tables: int, n_rows: int, **run: Any
) -> Result:
    """Compare errors and processor times with those of mgcv's `bam`."""
    drawn = [table(kind, n_rows, seed) for seed in range(tables)]
    errors, times = [], []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        for X, y, truth in drawn:
            np.column_stack([X, y]).T.tofile(path)
            settings = path, n_rows, N_SPLINES, kind, int(select)
            command = ["Rscript", "-e", BAM, *map(str, settings)]
            try:
                ran = subprocess.run(
                    command, capture_output=True, text=True, check=True
                )
            except (OSError, subprocess.CalledProcessError) as missing:
                return Result(name, "mgcv", *"-----", "peer missing", str(missing)[:80])
            own = partial(ours, kind, X, y)
            taken, mgcv = ran.stdout.split()
            with threadpool_limits(limits=run["threads"]):
                times.append([seconds(own, time.process_time), float(taken)])
            errors.append(error(np.fromfile(path), truth))
    ratios = [theirs / own for own, theirs in times]
    mine, theirs = np.mean(our_errors(kind, drawn)), np.mean(errors)
    return Result(
        name,
        f"mgcv {mgcv}",
        *map(duration, np.median(times, axis=0)),
        spread(ratios, ".1f") + " x",
        "-",
        f"{mine - theirs:+.4f}",
        "ok",
        f"errors {mine:.4f} and {theirs:.4f}",
    )


def many_terms(name: str, *, n_features: int, **run: Any) -> Result:
    """Compare a fit of many features, most of them noise, with one of a fifth."""
    X, y, truth = table("normal", 1000, 0)
    noise = np.random.default_rng(1).random((1000, n_features - N_FEATURES))
    wide = np.column_stack([X, noise])

    def fitted(n: int) -> np.ndarray:
        return our_predictor(ours("normal", wide[:, :n], y), wide[:, :n])

    return own_ratio(
        name,
        "a fifth of the features",
        partial(fitted, n_features),
        partial(fitted, n_features // 5),
        # More features of noise may add as much error as the noise of a row.
        agreement=lambda many, few: error(many, truth) - error(few, truth),
        tolerance=NOISE,
        at_most=5**3,
        **run,
    )


def memory(name: str, *, kind: str, n_rows: int) -> Result:
    """Compare what a fit takes in passing with a design of all splines."""
    X, y, _ = table(kind, n_rows, 0)
    used = passing_memory(lambda: ours(kind, X, y)) / 2**20
    design = 8 * n_rows * N_FEATURES * N_SPLINES / 2**20
    return Result(
        name,
        "the design",
        f"{used:.1f} MiB",
        f"{design:.1f} MiB",
        f"{used / design:.2f} x",
        "<= 0.5",
        "-",
        "ok" if used <= design / 2 else "above target",
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    # Rust's threads are counted when they are first used.
    os.environ["RAYON_NUM_THREADS"] = str(run["threads"])
    n_rows, n_tables = (1000, 2) if quick else (10_000, N_TABLES)
    found: dict[str, Case] = {}
    for kind in LARGEST_ERROR:
        work = {"kind": kind, "n_rows": n_rows}
        found[f"{kind}, error"] = partial(bounded_error, tables=n_tables, **work)
        for select in (False, True):
            found[f"{kind}, bam{', select' * select}"] = partial(
                against_bam, select=select, tables=n_tables, **work, **run
            )
        for peer in PEERS:
            # A fit takes some peers half a minute.
            tables = min(n_tables, 3) if peer == "pygam" else 1
            found[f"{kind}, {peer}"] = partial(
                against_peer, peer=peer, tables=tables, **work, **run
            )
        small, large = (table(kind, n, 0)[:2] for n in (n_rows, 10 * n_rows))
        found[f"{kind}, rows"] = partial(
            own_ratio,
            against="a tenth of the rows",
            first=partial(ours, kind, *large),
            second=partial(ours, kind, *small),
            at_most=6.0,
            **run,
        )
        found[f"{kind}, memory"] = partial(memory, kind=kind, n_rows=10 * n_rows)
    for n_features in (40,) if quick else (100, 300):
        name = f"1000 x {n_features}"
        found[name] = partial(many_terms, n_features=n_features, **run)
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))

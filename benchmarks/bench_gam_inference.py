"""Whether p-values, bands and intervals of additive models hold.

The tables of `bench_gam.py`. p-values of noise terms must be uniform: Kolmogorov's
distance below that which one in a hundred samples exceeds. Bands of 95 % must hold the
true curve at 93 to 99 % of the rows, averaged over the rows and the five curves: where
a curve is straight they are wide, for the rows do not rule out that it bends. Intervals
must hold 94 to 96 % of new targets.

Then one feature of few rows: a sine, a line and a bump, of normal, Poisson and binomial
targets. Bands must hold the curve at 90 % of the rows at n = 40, at 93 % at n = 100.
"""

import argparse
import sys

import numpy as np
from bench_gam import LARGEST_ERROR, NOISE, SHARE, table, true_effects
from scipy import stats
from scipy.special import expit

from sklearn_interpret.additive import GAMClassifier, GAMRegressor

LEVEL, SHOWN, NEW = 0.05, 500, 1000
CURVES = {
    "sine": lambda x: np.sin(2 * np.pi * x),
    "line": lambda x: 2 * x - 1,
    "bump": lambda x: 1.5 * np.exp(-(((x - 0.5) / 0.12) ** 2)),
}
# By number of rows.
LEAST_COVERAGE = {40: 0.90, 100: 0.93}


def inspected(
    kind: str, shrinkage: bool, n_rows: int, seed: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return p-values of noise, coverage of the five curves, and of new targets."""
    X, y, _ = table.__wrapped__(kind, n_rows, seed)
    model = {"normal": GAMRegressor, "logit": GAMClassifier}[kind](shrinkage=shrinkage)
    model.fit(X, y)
    truth = true_effects(X)[:SHOWN] * (1 if kind == "normal" else SHARE)
    covered = []
    for j in range(5):
        _, effects, errors = model.partial_effect(j, X[:SHOWN, j])
        reach = stats.norm.ppf(1 - LEVEL / 2) * errors
        covered.append(np.mean(np.abs(effects - truth[:, j]) <= reach))
    within = np.nan
    if kind == "normal":
        rng = np.random.default_rng([seed, 1])
        new = rng.random((NEW, X.shape[1]))
        # Centred as the rows of the fit are.
        truth = true_effects(np.vstack([X, new]))
        truth = truth[n_rows:] - truth[:n_rows].mean(axis=0)
        targets = truth.sum(axis=1) + NOISE * rng.normal(size=NEW)
        low, high = model.predict_interval(new, LEVEL)
        within = float(np.mean((low <= targets) & (targets <= high)))
    return model.pvalues_[5:], np.array(covered), within


def judge(found: list[tuple[np.ndarray, np.ndarray, float]]) -> tuple[str, bool]:
    """Return the results of the models of all tables, and whether they hold."""
    noise, curves, targets = (np.array(part) for part in zip(*found, strict=True))
    noise = noise.ravel()
    test = stats.kstest(noise, "uniform")
    bands, intervals = curves.mean(), targets.mean()
    holds = test.pvalue > 0.01 and 0.93 <= bands <= 0.99
    holds &= np.isnan(intervals) or 0.94 <= intervals <= 0.96
    text = (
        f"noise: at most 0.05: {np.mean(noise <= LEVEL):.3f}, at most 0.5: "
        f"{np.mean(noise <= 0.5):.3f}, distance {test.statistic:.3f} (p = "
        f"{test.pvalue:.2f}); bands {bands:.3f} ("
        f"{', '.join(f'{one:.3f}' for one in curves.mean(axis=0))})"
    )
    if not np.isnan(intervals):
        text += f"; intervals {intervals:.3f}"
    return text, bool(holds)


def coverage(family: str, curve: str, n_rows: int, n_tables: int) -> float:
    """Return the share of rows where the band of one feature holds the curve."""
    covered = []
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, n_rows])
        x = rng.random((n_rows, 1))
        truth = CURVES[curve](x[:, 0]) * (1.5 if family == "binomial" else 1)
        centred = truth - truth.mean()
        y = {
            "normal": lambda rng, f, _: f + rng.normal(size=len(f)) / 2,
            "poisson": lambda rng, f, _: rng.poisson(np.exp(f + 0.5)),
            "binomial": lambda rng, _, f: rng.random(len(f)) < expit(f),
        }[family](rng, truth, centred)
        model = GAMRegressor(family=family).fit(x, y)
        _, effects, errors = model.partial_effect(0, x[:, 0])
        known = family != "normal"
        law = stats.norm if known else stats.t(model.residual_dof_)
        reach = law.ppf(1 - LEVEL / 2) * errors
        covered.append(np.mean(np.abs(effects - centred) <= reach))
    return float(np.mean(covered))


def few_rows(n_tables: int) -> bool:
    """Print coverage of bands at few rows; returns whether all hold."""
    held = True
    for family in ("normal", "poisson", "binomial"):
        for curve in CURVES:
            shares = [coverage(family, curve, n, n_tables) for n in LEAST_COVERAGE]
            holds = all(np.array(shares) >= list(LEAST_COVERAGE.values()))
            text = ", ".join(
                f"n = {n}: {share:.3f}"
                for n, share in zip(LEAST_COVERAGE, shares, strict=True)
            )
            name = f"{family}, {curve}"
            print(f"{name:22} bands {text}  {'ok' if holds else 'FAILS'}", flush=True)
            held &= holds
    return held


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen models; returns 1 where something does not hold, else 0."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="twenty tables")
    options.add_argument("--tables", type=int, default=200)
    options.add_argument("--rows", type=int, default=10_000)
    chosen = options.parse_args(arguments)
    n_tables = 20 if chosen.quick else chosen.tables
    failed = not few_rows(n_tables)
    for kind in LARGEST_ERROR:
        for shrinkage in (True, False):
            found = [
                inspected(kind, shrinkage, chosen.rows, seed)
                for seed in range(n_tables)
            ]
            text, holds = judge(found)
            name = f"{kind}, {'with' if shrinkage else 'no'} shrinkage"
            print(f"{name:22} {text}  {'ok' if holds else 'FAILS'}", flush=True)
            failed |= not holds
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

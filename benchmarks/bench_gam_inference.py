"""Whether p-values, bands and intervals of additive models hold.

The tables of `bench_gam.py`. p-values of noise terms must be uniform: Kolmogorov's
distance below that which one in a hundred samples exceeds. Bands of 1.96 standard
errors must hold the true curve at 93 to 97 % of the rows, averaged over the rows and
the five curves; intervals must hold 94 to 96 % of new targets. On fewer rows (`--rows
2000`) weak curves are often taken for straight lines, whose bands are too narrow.
"""

import argparse
import sys

import numpy as np
from bench_gam import LARGEST_ERROR, NOISE, SHARE, table, true_effects
from scipy import stats

from sklearn_interpret.additive import GAMClassifier, GAMRegressor

LEVEL, SHOWN, NEW = 0.05, 500, 1000


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
    """Return what the models of all tables say, and whether that holds."""
    noise, curves, targets = (np.array(part) for part in zip(*found, strict=True))
    noise = noise.ravel()
    test = stats.kstest(noise, "uniform")
    bands, intervals = curves.mean(), targets.mean()
    holds = test.pvalue > 0.01 and 0.93 <= bands <= 0.97
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


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen models; returns 1 where something does not hold, else 0."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="twenty tables")
    options.add_argument("--tables", type=int, default=200)
    options.add_argument("--rows", type=int, default=10_000)
    chosen = options.parse_args(arguments)
    n_tables = 20 if chosen.quick else chosen.tables
    failed = False
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

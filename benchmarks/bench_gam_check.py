"""Level and power of `check` of additive models, which tests the number of functions.

Tables without a pattern: at most 8 % of p-values of the checked term may be 5 % or less
(of 400 tables, 7 % are two standard errors above 5 %). Tables with one: five splines
for three periods of a sine; in tables of 300 rows or more, nine in ten must be found.
"""

import argparse
import sys
import warnings

import numpy as np
from scipy.special import expit

from sklearn_interpret.additive import GAMClassifier, GAMRegressor

LEVEL, LARGEST, LEAST = 0.05, 0.08, 0.9
WITHOUT = (
    *("normal", "hours", "t", "uneven", "gamma", "counts", "classes", "rare classes"),
    *("survey weights", "precisions", "surface", "curves by level", "cyclic"),
)
WITH = ("normal", "hours", "classes", "surface", "curves by level")


def table(kind: str, n_rows: int, seed: int, few: bool) -> tuple:
    """Return a model, its rows, targets and weights; `few` splines leave a pattern."""
    rng = np.random.default_rng([seed, n_rows])
    X, weights = rng.random((n_rows, 3)), None
    if kind in ("hours", "cyclic"):
        X[:, 0] = rng.integers(0, 24, n_rows) / 24
    X[:, 2] = rng.integers(0, 2, n_rows)
    score = np.sin((6 if few else 2) * np.pi * X[:, 0]) + X[:, 1]
    splines = {"n_splines": 5 if few else 20}
    terms = {"terms": [0, 1]}
    if kind == "surface":
        terms = {"terms": [(0, 1)]}
        splines = {"n_splines": 4 if few else 8}
        score = np.sin((4 if few else 1) * np.pi * X[:, 0]) * (1 + X[:, 1])
    elif kind == "curves by level":
        terms = {"terms": {0: "spline", 1: "spline", 2: "category"}, "by": {0: 2}}
        score = np.where(X[:, 2], score, X[:, 0])
    elif kind == "cyclic":
        terms = {"terms": {0: "cyclic", 1: "spline"}, "periods": {0: 1}}
    noise = rng.normal(size=n_rows) / 2
    options = splines | terms
    if kind in ("classes", "rare classes"):
        size, shift = (2, 1) if kind == "classes" else (3, 4.5)
        y = rng.random(n_rows) < expit(size * score - shift)
        y[:2] = [False, True]
        return GAMClassifier(**options), X, y, weights
    y = score + noise
    if kind == "t":
        y = score + rng.standard_t(2.2, n_rows)
    elif kind == "uneven":
        y = score + noise * np.exp(3 * X[:, 0] - 1.5)
    elif kind == "gamma":
        options["family"] = "gamma"
        y = np.exp(score) * np.maximum(rng.gamma(1, 1, n_rows), 1e-9)
    elif kind == "counts":
        options["family"] = "poisson"
        y = rng.poisson(np.exp(score - 1))
    elif kind == "survey weights":
        weights = rng.integers(1, 6, n_rows) / 3
    elif kind == "precisions":
        weights = rng.uniform(0.2, 5, n_rows)
        y = score + noise / np.sqrt(weights)
        weights /= weights.mean()
    return GAMRegressor(**options), X, y, weights


def share(kind: str, n_rows: int, n_tables: int, few: bool) -> tuple[float, float]:
    """Return the share of p-values up to the level, and the mean index."""
    results = []
    for seed in range(n_tables):
        model, X, y, weights = table(kind, n_rows, seed, few)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check = model.fit(X, y, weights).check(X, y, weights)
        results.append((check.pvalue[0] <= LEVEL, check.k_index[0]))
    significant, index = np.mean(results, axis=0)
    return float(significant), float(index)


def main(arguments: list[str] | None = None) -> int:
    """Run all tables; returns 1 where something does not hold, else 0."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="twenty tables")
    options.add_argument("--tables", type=int, default=400)
    options.add_argument("--rows", type=int, nargs="*", default=[50, 300, 2000])
    chosen = options.parse_args(arguments)
    n_tables = 20 if chosen.quick else chosen.tables
    failed = False
    for few, kinds in ((False, WITHOUT), (True, WITH)):
        for kind in kinds:
            shares = [share(kind, n, n_tables, few) for n in chosen.rows]
            holds = all(
                part <= LARGEST if not few else part >= LEAST or n < 300
                for n, (part, _) in zip(chosen.rows, shares, strict=True)
            )
            text = ", ".join(
                f"n = {n}: {part:.3f} (k-index {index:.2f})"
                for n, (part, index) in zip(chosen.rows, shares, strict=True)
            )
            name = f"{kind}, {'too few' if few else 'enough'}"
            print(f"{name:24} {text}  {'ok' if holds else 'FAILS'}", flush=True)
            failed |= not holds
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

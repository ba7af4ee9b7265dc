"""Slices of large loss: alarms by chance, planted slices, intervals, and sliceline.

`alarms`: tables without a slice in which any adjusted p-value is below 5 %; two and a
half standard errors above that: `DISAGREES`. `planted`: losses of 5 % of the rows, a
box of two of ten features, are doubled; how often a slice of a small p-value shares
more than half of its rows with it (both together). `intervals`: how often those of the
slices hold the true difference, below 90 %: `DISAGREES`. `sliceline`: both search the
same codes for slices of at most two conditions and the same least number of rows;
`difference` is by how much a slice of sliceline has a larger score of ours. Its
conditions are on single bins, ours on intervals; with a smaller `alpha` it finds none.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, run_pair
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._core.rules.subgroups import BinnedRows
from sklearn_interpret.diagnosis import ErrorSlices

LOSSES: dict[str, Callable[..., np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy-tailed": lambda rng, n: rng.standard_t(3, n) ** 2,
    "zero-one": lambda rng, n: (rng.random(n) < 0.2).astype(float),
    "absolute": lambda rng, n: np.abs(rng.normal(size=n)),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "squared": lambda rng, n: rng.normal(size=n) ** 2,
}


class Zero(RegressorMixin, BaseEstimator):
    """A fitted model that predicts zero."""

    def fit(self, X: np.ndarray, y: Any = None) -> "Zero":
        """Do nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Return that it is fitted."""
        return True

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return zeros."""
        return np.zeros(len(X))


def slices_of(X: np.ndarray, losses: np.ndarray, seed: int) -> ErrorSlices:
    """Return the slices of given losses."""
    model = FrozenEstimator(Zero())
    params = {"loss": lambda y, prediction: y, "random_state": seed}
    return ErrorSlices(model, **params).fit(X, losses)


def share_result(name: str, share: float, target: str, agrees: bool) -> Result:
    """Return the line of a share."""
    verdict = "ok" if agrees else "DISAGREES"
    return Result(name, "-", f"{share:.1%}", "-", f"{share:.3f}", target, "-", verdict)


def alarms(name: str, *, kind: str, n_rows: int, n_tables: int) -> Result:
    """Count tables without a slice in which one is found."""
    n_alarms = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 10))
        slices = slices_of(X, LOSSES[kind](rng, n_rows), seed).slices_
        n_alarms += any(part.adjusted_pvalue < 0.05 for part in slices)
    share = n_alarms / n_tables
    most = 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / n_tables)
    return share_result(name, share, "<= 5 %", share <= most)


def plant(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ten features, and the mask of a random box of 5 % of the rows."""
    X = rng.uniform(size=(n_rows, 10))
    side = np.sqrt(0.05)
    start = rng.random(2) * (1 - side)
    return X, ((X[:, :2] >= start) & (X[:, :2] < start + side)).all(axis=1)


def planted(
    name: str, *, kind: str, n_rows: int, n_tables: int, least: float | None
) -> Result:
    """Count tables in which the planted slice is found."""
    n_found = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, inside = plant(rng, n_rows)
        losses = LOSSES[kind](rng, n_rows)
        if kind == "zero-one":
            losses[inside] = rng.random(inside.sum()) < 0.4
        else:
            losses[inside] *= 2
        n_found += any(
            part.adjusted_pvalue < 0.05
            and 2 * (part.holds(X) & inside).sum() > (part.holds(X) | inside).sum()
            for part in slices_of(X, losses, seed).slices_
        )
    share = n_found / n_tables
    target = "-" if least is None else f">= {least:.0%}"
    verdict = "ok" if least is None or share >= least else "below target"
    cells = f"{share:.1%}", "-", f"{share:.3f}", target, "-"
    return Result(name, "-", *cells, verdict)


def intervals(name: str, *, kind: str, n_rows: int, n_tables: int) -> Result:
    """Share of intervals that hold the true difference, with a planted slice."""
    held = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, inside = plant(rng, n_rows)
        factor = np.where(inside, 2.0, 1.0)
        base = LOSSES[kind](rng, n_rows)
        expected = LOSSES[kind](np.random.default_rng(0), 10**6).mean() * factor
        for part in slices_of(X, base * factor, seed).slices_:
            holds = part.holds(X)
            truth = expected[holds].mean() - expected[~holds].mean()
            held.append(part.low <= truth <= part.high)
    share = float(np.mean(held))
    return share_result(name, share, ">= 90 %", share >= 0.9)


def best_score(codes: np.ndarray, losses: np.ndarray, mask: np.ndarray) -> float:
    """Return our score of the rows of a mask."""
    excess = losses[mask].mean() - losses.mean()
    return excess * np.sqrt(mask.sum()) / losses.std()


def against_sliceline(name: str, *, shape: tuple[int, int], **run: Any) -> Result:
    """Compare the search with sliceline's on the same codes."""
    n_rows, n_features = shape
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10, (n_rows, n_features))
    inside = (codes[:, 0] == 3) & (codes[:, 1] >= 6)
    losses = rng.exponential(size=n_rows) * np.where(inside, 3, 1)
    least = max(10, n_rows // 50)

    def ours() -> float:
        rows = BinnedRows(codes.T, np.full(n_features, 10), losses, np.ones(n_rows))
        return rows.best_boxes(5, 2, least)[0].score

    def theirs() -> float:
        from sliceline.slicefinder import Slicefinder

        finder = Slicefinder(alpha=0.99, k=5, max_l=2, min_sup=least, verbose=False)
        finder.fit(codes + 1, losses)
        masks = [_mask(codes, top) for top in finder.top_slices_]
        return max(best_score(codes, losses, mask) for mask in masks)

    pair = Pair(
        name,
        ours,
        theirs,
        "sliceline",
        agreement=lambda mine, other: max(other - mine, 0.0),
        tolerance=1e-9,
        target_ratio=1.0,
    )
    return run_pair(pair, **run)


def _mask(codes: np.ndarray, top: np.ndarray) -> np.ndarray:
    """Return the rows of a slice of sliceline: a code or None for each column."""
    mask = np.ones(len(codes), dtype=bool)
    for j, code in enumerate(top):
        if code is not None:
            mask &= codes[:, j] + 1 == code
    return mask


def large(name: str, *, shape: tuple[int, int], seconds: float, **run: Any) -> Result:
    """Time of all pairs of many features and rows, with the halves."""
    n_rows, n_features = shape
    rng = np.random.default_rng(0)
    X, losses = rng.normal(size=(n_rows, n_features)), rng.exponential(size=n_rows)
    start = run["clock"]()
    slices_of(X, losses, 0)
    passed = run["clock"]() - start
    verdict = "ok" if passed <= seconds else "above target"
    cells = f"{passed:.1f} s", "-", f"{passed:.1f}", f"<= {seconds:g} s", "-"
    return Result(name, "-", *cells, verdict)


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    found: dict[str, Case] = {}
    for n_rows in (200, 2000) if quick else (200, 2000, 20_000):
        n_tables = 20 if quick else 400 if n_rows < 20_000 else 100
        for kind in ("normal", "heavy-tailed", "zero-one"):
            name = f"alarms, {kind}, {n_rows}"
            work = {"kind": kind, "n_rows": n_rows, "n_tables": n_tables}
            found[name] = partial(alarms, **work)
    for n_rows, least in ((2000, 0.9), (10_000, 0.99)):
        for kind in ("absolute", "exponential", "squared", "zero-one"):
            work = {"kind": kind, "n_rows": n_rows, "n_tables": 20 if quick else 100}
            name = f"planted, {kind}, {n_rows}"
            found[name] = partial(planted, least=least, **work)
    for n_rows in (200, 2000):
        work = {"kind": "exponential", "n_rows": n_rows}
        name = f"intervals, exponential, {n_rows}"
        found[name] = partial(intervals, n_tables=20 if quick else 100, **work)
    for shape in ((1000, 10), (10_000, 10)) if quick else ((1000, 10), (10_000, 50)):
        name = f"sliceline, {shape[0]} x {shape[1]}"
        found[name] = partial(against_sliceline, shape=shape, **run)
    if not quick:
        found["pairs, 100000 x 100"] = partial(
            large, shape=(100_000, 100), seconds=20.0, **run
        )
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))

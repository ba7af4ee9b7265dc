"""How often bands over folds hold what the learner finds on average.

Partial dependence and permutation importance (on test rows) of the models of a
cross-validation, with the low and high of the displays' tables. The truth is the mean
over independent training sets of the folds' size, on other rows. Two other half-widths
show what the correction changes: of independent refits (uncorrected), and of Nadeau and
Bengio's correction for errors on test rows. Coverage is the mean over points, or over
features. Exit status 1 where ours is below 90 %, or the uncorrected one is not lower.
"""

import argparse
import sys
from typing import Any

import numpy as np
from scipy import stats
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, ShuffleSplit, cross_validate
from sklearn.neighbors import KNeighborsRegressor

from sklearn_interpret.effects import PartialDependence, PartialDependenceDisplay
from sklearn_interpret.importance import (
    PermutationImportance,
    PermutationImportanceDisplay,
)

LEAST, N_ROWS, N_POPULATION = 0.9, 200, 500
LEARNERS = {
    "linear": LinearRegression(),
    "forest": RandomForestRegressor(20, min_samples_leaf=2, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=25, random_state=0),
    "neighbours": KNeighborsRegressor(),
}
SPLITS = {
    "5 folds": KFold(5),
    "10 folds": KFold(10),
    "3 halves": ShuffleSplit(3, test_size=0.5, random_state=0),
    "10 quarters": ShuffleSplit(10, test_size=0.25, random_state=0),
}
GRID = np.linspace(-1.2, 1.2, 5)
CURVES = {"features": [0, 1, 3], "custom_values": dict.fromkeys([0, 1, 3], GRID)}
IMPORTANCES = {"scoring": "neg_mean_squared_error", "n_repeats": 3, "random_state": 0}
RULES = ("ours", "Nadeau-Bengio", "uncorrected")


class Curves(PartialDependenceDisplay):
    """Numbers of a display that is not drawn."""

    def plot(self, ax: Any = None) -> "Curves":
        """Draw nothing."""
        return self


class Importances(PermutationImportanceDisplay):
    """Numbers of a display that is not drawn."""

    def plot(self, ax: Any = None) -> "Importances":
        """Draw nothing."""
        return self


def table(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of four features, of which the last is noise, and their targets."""
    X = rng.normal(size=(n_rows, 4))
    X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
    y = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 0] * X[:, 2] / 2
    return X, y + rng.normal(size=n_rows)


def truth(learner: Any, n_rows: int, n_sets: int) -> tuple[np.ndarray, np.ndarray]:
    """Return expected curves and importances of models of so many rows."""
    rng, curves, importances = np.random.default_rng(1), [], []
    for _ in range(n_sets):
        model = FrozenEstimator(learner.fit(*table(rng, n_rows)))
        others = table(rng, N_POPULATION)
        curves.append(
            np.ravel(PartialDependence(model, **CURVES).fit(*others).average_)
        )
        found = PermutationImportance(model, **IMPORTANCES).fit(*others)
        importances.append(found.importances_mean_)
    return np.mean(curves, axis=0), np.mean(importances, axis=0)


def held(frame: Any, value: str, expected: np.ndarray, ratio: float) -> list[float]:
    """Return by rule the share of expectations that the intervals of a table hold.

    `ratio` is that of rows of test and of training.
    """
    mean = frame[frame["fold"].isna()]
    folds = frame[frame["fold"].notna()].sort_values("fold", kind="stable")
    folds = folds[value].to_numpy().reshape(-1, len(expected))
    m, middle = len(folds), mean[value].to_numpy()
    reach = stats.t.ppf(0.975, m - 1) * folds.std(axis=0, ddof=1)
    half_widths = [
        mean["high"].to_numpy() - middle,
        np.sqrt(1 / m + ratio) * reach,
        np.sqrt(1 / m) * reach,
    ]
    return [np.mean(np.abs(middle - expected) <= half) for half in half_widths]


def coverage(learner: Any, cv: Any, n_tables: int) -> dict[str, np.ndarray]:
    """Return the coverage of each rule, for curves and for importances."""
    train, test = next(cv.split(np.zeros(N_ROWS)))
    ratio = len(test) / len(train)
    curves, importances = truth(learner, len(train), n_tables)
    shares: dict[str, list[list[float]]] = {"curves": [], "importances": []}
    for seed in range(n_tables):
        X, y = table(np.random.default_rng([2, seed]), N_ROWS)
        kept = {"return_estimator": True, "return_indices": True}
        results = cross_validate(learner, X, y, cv=cv, **kept)
        frame = Curves.from_cv_results(results, X, **CURVES).to_frame()
        shares["curves"].append(held(frame, "value", curves, ratio))
        frame = Importances.from_cv_results(results, X, y, **IMPORTANCES).to_frame()
        frame = frame[frame["sample"] == "test"]
        order = [int(name[1:]) for name in frame.loc[frame["fold"].isna(), "feature"]]
        expected = importances[order]
        shares["importances"].append(held(frame, "importance", expected, ratio))
    return {what: np.mean(part, axis=0) for what, part in shares.items()}


def main(arguments: list[str] | None = None) -> int:
    """Print all coverages; returns 1 where a band does not hold, else 0."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="twenty tables")
    options.add_argument("--tables", type=int, default=300)
    chosen = options.parse_args(arguments)
    failed = False
    for name, learner in LEARNERS.items():
        for splits, cv in SPLITS.items():
            tables = 20 if chosen.quick else chosen.tables
            for what, found in coverage(learner, cv, tables).items():
                holds = found[0] >= LEAST and found[-1] < found[0]
                text = ", ".join(
                    f"{rule} {share:.1%}"
                    for rule, share in zip(RULES, found, strict=True)
                )
                case = f"{name}, {splits}, {what}"
                print(f"{case:32} {text}  {'ok' if holds else 'FAILS'}", flush=True)
                failed |= not holds
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""How often checks of InspectionReport find their fault, and warn where there is none.

Each check gets tables with its fault, which it must find in 95 of 100, and others
without it, with correlated columns, curves, interactions, noise and several models: of
these at most 5 of 100 may raise a warning.
"""

import argparse
import sys
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.report import InspectionReport

LEAST_FOUND, MOST_FALSE = 0.95, 0.05

# A case is a model and its data.
Case = tuple[object, object, np.ndarray]
Rng = np.random.Generator


def columns(rng: Rng, n_rows: int, n_columns: int) -> np.ndarray:
    """Return columns, in half the cases correlated at 0.5, some of them skewed."""
    X = rng.normal(size=(n_rows, n_columns))
    if rng.random() < 0.5:
        X = np.sqrt(0.5) * X + np.sqrt(0.5) * rng.normal(size=(n_rows, 1))
    if rng.random() < 0.3:
        X[:, -1] = np.exp(X[:, -1] / 2)
    if rng.random() < 0.3:
        X[:, 0] = rng.uniform(-2, 2, n_rows)
    return X


def size(rng: Rng, least: int = 150, columns: tuple[int, int] = (2, 12)) -> tuple:
    """Return a number of rows and one of columns."""
    n_rows = int(np.exp(rng.uniform(np.log(least), np.log(1500))))
    return n_rows, int(rng.integers(columns[0], columns[1] + 1))


def signal(rng: Rng, X: np.ndarray, *, additive: bool = False) -> np.ndarray:
    """Return a function of some columns, of variance 1: lines, curves, interactions."""
    n_used = int(rng.integers(2, min(X.shape[1], 5) + 1))
    total = np.zeros(len(X))
    for j in range(n_used):
        own = X[:, j]
        curve = [own, np.tanh(2 * own), own + 0.5 * own**2, 1.0 * (own > 0)]
        total += rng.uniform(0.5, 1.5) * rng.choice([-1, 1]) * curve[rng.integers(4)]
    if rng.random() < 0.5 and not additive:
        total += X[:, 0] * (X[:, 1] > 0) * np.sign(np.cov(total, X[:, 0])[0, 1])
    return (total - total.mean()) / total.std()


def model_of(rng: Rng, classifies: bool) -> object:
    """Return a model that is regularised well enough."""
    kind = rng.integers(3)
    leaf, seed = int(rng.integers(1, 6)), int(rng.integers(1000))
    forest = RandomForestClassifier if classifies else RandomForestRegressor
    boosting = GradientBoostingClassifier if classifies else GradientBoostingRegressor
    line = LogisticRegression() if classifies else Ridge(1.0)
    return [
        forest(25, min_samples_leaf=leaf, random_state=seed),
        boosting(n_estimators=40, max_depth=int(rng.integers(1, 4)), random_state=seed),
        make_pipeline(StandardScaler(), line),
    ][kind]


def labelled(rng: Rng, latent: np.ndarray, most: int = 3) -> np.ndarray:
    """Return two or three classes of about the same size."""
    n_classes = int(rng.integers(2, most + 1))
    cuts = np.quantile(latent, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(cuts, latent)


def ordinary(rng: Rng, classifies: bool | None = None, **sizes: object) -> Case:
    """Return a model that learned a signal with noise, and no fault that we know of."""
    X = columns(rng, *size(rng, **sizes))
    y = signal(rng, X) + rng.uniform(0.3, 0.9) * rng.normal(size=len(X))
    if classifies is None:
        classifies = rng.random() < 0.5
    return model_of(rng, classifies), X, labelled(rng, y) if classifies else y


def without_signal(rng: Rng) -> Case:
    """Targets are permuted."""
    model, X, y = ordinary(rng)
    return model, X, rng.permutation(y)


def overfitted(rng: Rng) -> Case:
    """Trees without limits, nearest neighbours, or polynomials, and much noise."""
    n_rows, n_columns = size(rng, columns=(3, 10))
    X = columns(rng, n_rows, n_columns)
    y = signal(rng, X) + rng.uniform(0.8, 1.5) * rng.normal(size=n_rows)
    kind = rng.integers(5)
    if kind == 0:
        return DecisionTreeRegressor(random_state=0), X, y
    if kind == 1:
        return make_pipeline(StandardScaler(), KNeighborsRegressor(1)), X, y
    if kind == 2:
        return DecisionTreeClassifier(random_state=0), X, labelled(rng, y)
    if kind == 3:
        return KNeighborsClassifier(1), X, labelled(rng, y)
    powers = PolynomialFeatures(4 if n_columns < 5 else 3)
    model = make_pipeline(StandardScaler(), powers, LinearRegression())
    return model, X[:200, :6], y[:200]


def with_companion(rng: Rng) -> Case:
    """An important column has a noisy or curved copy, or is a sum of others."""
    model, X, y = ordinary(rng, columns=(3, 12))
    scale = X[:, 0].std()
    noise = rng.uniform(0.02, 0.3) * scale * rng.normal(size=len(X))
    copies = [X[:, 0] + noise, np.exp(X[:, 0] / scale) + noise / 4]
    latent = 1.5 * X[:, 0] / scale + signal(rng, X)
    if rng.random() < 0.3:
        copy = X[:, 0] / scale + X[:, 1] / X[:, 1].std() + noise / scale
        latent = latent + copy
    else:
        copy = copies[rng.integers(2)]
    y = latent + rng.normal(size=len(X)) / 2
    classifies = hasattr(model, "predict_proba")
    return model, np.column_stack([X, copy]), labelled(rng, y) if classifies else y


def opposed(rng: Rng) -> Case:
    """A column raises the target in one part of the rows and lowers it in another."""
    X = columns(rng, *size(rng, 300, columns=(2, 10)))
    where = np.where(X[:, 1] > np.median(X[:, 1]), 1, -1)
    own = X[:, 0] / X[:, 0].std()
    latent = rng.uniform(1, 2) * where * own + rng.uniform(0, 0.7) * signal(rng, X)
    y = latent + rng.uniform(0.2, 0.6) * rng.normal(size=len(X))
    classifies = rng.random() < 0.5
    forest = RandomForestClassifier if classifies else RandomForestRegressor
    boosting = GradientBoostingClassifier if classifies else GradientBoostingRegressor
    model = [
        forest(25, min_samples_leaf=2, max_features=0.7, random_state=0),
        boosting(n_estimators=60, max_depth=3, random_state=0),
    ][rng.integers(2)]
    return model, X, labelled(rng, y, 2) if classifies else y


def additive(rng: Rng) -> Case:
    """Each column has one effect everywhere.

    There are no more than two classes, as columns raise the probability of a class
    between two others in some rows and lower it in others.
    """
    X = columns(rng, *size(rng))
    y = signal(rng, X, additive=True) + rng.uniform(0.3, 0.9) * rng.normal(size=len(X))
    classifies = rng.random() < 0.5
    return model_of(rng, classifies), X, labelled(rng, y, 2) if classifies else y


def unstable(rng: Rng) -> Case:
    """Columns that can replace each other, or a tree of few rows with much noise."""
    n_rows, n_columns = size(rng, columns=(2, 8))
    X = columns(rng, n_rows, n_columns)
    kind = rng.integers(3)
    if kind == 0:
        # A tree divides by one copy or another.
        own = X[:, :1] + 0.02 * rng.normal(size=(n_rows, 8))
        y = own.mean(axis=1) + 0.5 * rng.normal(size=n_rows)
        tree = DecisionTreeRegressor(max_depth=3, random_state=0)
        return tree, np.hstack([own, 0.1 * X[:, 1:]]), y
    if kind == 1:
        own = X[:, :1] + 1e-3 * rng.normal(size=(n_rows, 3))
        y = own.mean(axis=1) + rng.normal(size=n_rows)
        return LinearRegression(), np.hstack([own, X[:, 1:]]), y
    X = rng.normal(size=(150, 10))
    y = X[:, 0] / 4 + rng.normal(size=150)
    return DecisionTreeRegressor(max_depth=3, random_state=0), X, y


def heavy_tailed(rng: Rng) -> Case:
    """Few rows have values far beyond those of the others, and the model follows."""
    X = columns(rng, *size(rng, columns=(2, 8)))
    if rng.random() < 0.5:
        X[:, 0] = np.where(rng.random(len(X)) < 0.03, rng.uniform(30, 90, len(X)), 0)
    else:
        X[:, 0] = rng.standard_t(1.0, len(X)) ** 2
    weight = rng.uniform(2, 4)
    y = weight * X[:, 0] + 0.3 * signal(rng, X) + 0.3 * rng.normal(size=len(X))
    return [LinearRegression(), Ridge(1.0)][rng.integers(2)], X, y


def with_progress(rng: Rng, *, codes: bool) -> Case:
    """A column of whole numbers: codes in no order, or counts with a smooth effect."""
    model, X, y = ordinary(rng, least=200 if codes else 150)
    n_levels = int(rng.integers(6, 13) if codes else rng.integers(4, 16))
    if codes:
        column = rng.integers(n_levels, size=len(X))
        effects = rng.permutation(np.linspace(-1.5, 1.5, n_levels))
    else:
        place = np.linspace(-1, 1, n_levels)
        column = np.clip(rng.poisson(n_levels / 3, len(X)), 0, n_levels - 1)
        shapes = [place, place**2, np.sqrt(place + 1), np.exp(place), place > 0]
        effects = rng.uniform(-2, 2) * shapes[rng.integers(5)]
    if hasattr(model, "predict_proba"):
        y = labelled(rng, signal(rng, X) + effects[column])
    else:
        y = y + effects[column]
    return model, np.column_stack([X, column]), y


def leaking(rng: Rng) -> Case:
    """A column is the target with little noise."""
    model, X, y = ordinary(rng)
    if hasattr(model, "predict_proba"):
        leak = np.where(rng.random(len(y)) < 0.002, rng.permutation(y), y)
        leak = leak + rng.choice([0, 0.05]) * rng.normal(size=len(y))
    else:
        leak = y + rng.uniform(0, 0.1) * rng.normal(size=len(y))
    return model, np.column_stack([leak, X]), y


def impossible(rng: Rng) -> Case:
    """Targets are amounts, counts or shares, and the model is a line or polynomial."""
    X = columns(rng, *size(rng, columns=(2, 8)))
    latent = 1.5 * signal(rng, X) + 0.3 * rng.normal(size=len(X))
    targets = [
        np.exp(latent),
        rng.poisson(np.exp(latent)).astype(float),
        1 / (1 + np.exp(-2.5 * latent)),
        np.maximum(latent, 0),
    ]
    powers = make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge(1.0))
    return [LinearRegression(), powers][rng.integers(2)], X, targets[rng.integers(4)]


def possible(rng: Rng) -> Case:
    """Targets of any sign, or a model whose predictions keep to their range."""
    kind = rng.integers(3)
    if kind == 0:
        return ordinary(rng, classifies=False)
    _, X, y = ordinary(rng, classifies=False)
    if kind == 1:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        counts = rng.poisson(np.exp(signal(rng, X) / 2)).astype(float)
        return PoissonRegressor(), X, counts
    if rng.random() < 0.5:
        return RandomForestRegressor(25, random_state=0), X, np.exp(y)
    logs = TransformedTargetRegressor(Ridge(1.0), func=np.log, inverse_func=np.exp)
    return logs, X, np.exp(y / 2)


def imbalanced(rng: Rng) -> Case:
    """The share of a class is 1 to 4 %, or less than a tenth of an equal share."""
    model, X, y = ordinary(rng, classifies=True, least=300)
    n_classes = len(np.unique(y))
    latent = signal(rng, X) + 0.5 * rng.normal(size=len(X))
    rare = latent > np.quantile(latent, 1 - rng.uniform(0.4, 0.9) * 0.1 / n_classes)
    rest = labelled(rng, rng.permutation(latent)) % (n_classes - 1)
    return model, X, np.where(rare, n_classes - 1, rest)


def calibrated(rng: Rng) -> Case:
    """Logistic regression of classes whose log-odds are linear."""
    _, X, _ = ordinary(rng, classifies=True, least=200)
    logits = X @ rng.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    return LogisticRegression(), X, (rng.logistic(size=len(X)) < 2 * logits).astype(int)


def miscalibrated(rng: Rng) -> Case:
    """Copies of columns, each of which a naive classifier counts; or whole trees."""
    _, X, y = calibrated(rng)
    if rng.random() < 0.5:
        return GaussianNB(), np.repeat(X, rng.integers(4, 8), axis=1), y
    return DecisionTreeClassifier(random_state=0), X, y


def noisy(rng: Rng) -> Case:
    """Hardly any signal, and models that follow each row."""
    n_rows, n_columns = size(rng, columns=(4, 10))
    X = rng.normal(size=(min(n_rows, 600), n_columns))
    y = 0.2 * signal(rng, X) + rng.normal(size=len(X))
    kind = rng.integers(4)
    if kind == 0:
        return DecisionTreeRegressor(random_state=0), X, y
    if kind == 1:
        return make_pipeline(StandardScaler(), KNeighborsRegressor(2)), X, y
    if kind == 2:
        return DecisionTreeClassifier(random_state=0), X, labelled(rng, y)
    return RandomForestRegressor(25, random_state=0), X, y


def failing(rng: np.random.Generator) -> tuple:
    """Return a model, rows and targets, with three times the noise in a box of rows."""
    n_rows = 1500
    X = rng.normal(size=(n_rows, 6))
    box = (X[:, 0] > 0.3) & (X[:, 1] > 0)
    y = X[:, 0] - X[:, 2] + np.where(box, 3, 1) * rng.normal(size=n_rows)
    if rng.integers(2):
        return LinearRegression(), X, y
    return RandomForestRegressor(25, min_samples_leaf=5, random_state=0), X, y


# For each check: cases with its fault, and cases without.
CASES = {
    "chance": (without_signal, ordinary),
    "overfit": (overfitted, ordinary),
    "companions": (with_companion, ordinary),
    "outside": (with_companion, ordinary),
    "opposite": (opposed, additive),
    "folds": (unstable, ordinary),
    "background": (heavy_tailed, ordinary),
    "ordinal": (
        lambda rng: with_progress(rng, codes=True),
        lambda rng: with_progress(rng, codes=False),
    ),
    "leakage": (leaking, ordinary),
    "range": (impossible, possible),
    "imbalance": (imbalanced, lambda rng: ordinary(rng, classifies=True)),
    "calibration": (miscalibrated, calibrated),
    "noise": (noisy, ordinary),
    "slices": (failing, ordinary),
}


def result(name: str, with_fault: bool, seed: int) -> tuple:
    """Return the verdict and the statistic of a check for a case, and what it was."""
    warnings.simplefilter("ignore")
    make = CASES[name][0 if with_fault else 1]
    model, X, y = make(np.random.default_rng([seed, with_fault]))
    report = InspectionReport(model, checks=[name], sections=[], random_state=seed)
    (check,) = report.fit(X, y).checks_
    last = type(model[-1] if hasattr(model, "steps") else model).__name__
    return check.verdict, check.statistic, f"{last} {np.shape(X)}: {check.finding}"


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen checks; returns 1 where one misses or warns too often, else 0."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="ten cases of each kind")
    options.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    options.add_argument("--cases", type=int, default=100)
    # Thresholds were chosen with the seeds from 0 on.
    options.add_argument("--first-seed", type=int, default=1000)
    options.add_argument("--n-jobs", type=int, default=1)
    options.add_argument("--show", action="store_true", help="wrong verdicts in full")
    chosen = options.parse_args(arguments)
    n_cases = 10 if chosen.quick else chosen.cases
    seeds = range(chosen.first_seed, chosen.first_seed + n_cases)
    run, failed = Parallel(chosen.n_jobs), False
    for name in chosen.only:
        runs = [(name, fault, seed) for fault in (True, False) for seed in seeds]
        found = run(delayed(result)(*one) for one in runs)
        warned = np.array([one[0] == "warned" for one in found]).reshape(2, -1)
        statistics = np.array([one[1] for one in found]).reshape(2, -1)
        shares = warned.mean(axis=1)
        holds = shares[0] >= LEAST_FOUND and shares[1] <= MOST_FALSE
        low, high = np.nanquantile(statistics, [0.05, 0.95], axis=1)
        print(
            f"{name:11} found {warned[0].sum():3d} of {n_cases}, false "
            f"{warned[1].sum():3d} of {n_cases}; statistics with the fault "
            f"{low[0]:.3f} to {high[0]:.3f}, without {low[1]:.3f} to {high[1]:.3f}  "
            f"{'ok' if holds else 'FAILS'}",
            flush=True,
        )
        failed |= not holds
        for one, (_, fault, seed) in zip(found, runs, strict=True):
            if chosen.show and (one[0] == "warned") != fault:
                print(f"  {'missed' if fault else 'false'} {seed}: {one[0]} {one[2]}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

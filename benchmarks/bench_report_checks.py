"""Checks of the inspection report: how often they find a fault, and warn without one.

Each check runs on simulated tables that have its fault, and on as many that lack it but
have rich structure otherwise: interactions, correlated and unneeded features, several
models, regression and classification. It must find at least 95 % and warn of at most
5 %. One thread each; run with ``--quick`` for ten tables of each kind.
"""

import argparse
import sys
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.report import InspectionReport


def features(rng, n, p, correlation=0.0):
    """Normal features, each correlated with the next."""
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X


def regressor(rng):
    """Return a regressor that suits most data."""
    return [
        RandomForestRegressor(30, min_samples_leaf=3, random_state=0),
        RandomForestRegressor(30, random_state=0),
        HistGradientBoostingRegressor(max_iter=50, max_depth=3, learning_rate=0.1),
        LinearRegression(),
    ][rng.integers(4)]


def classifier(rng):
    """Return a classifier that suits most data."""
    return [
        RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=30, max_depth=3, learning_rate=0.1),
        LogisticRegression(),
    ][rng.integers(3)]


def sound(rng):
    """A table without fault: model, rows, targets."""
    n, p = int(rng.integers(200, 1500)), int(rng.integers(3, 12))
    X = features(rng, n, p, rng.uniform(0, 0.5))
    signal = X[:, 0] + np.abs(X[:, 1]) + 0.5 * X[:, 0] * (X[:, 2] > 0)
    model = regressor(rng)
    if isinstance(model, LinearRegression):
        signal = X[:, 0] + 0.7 * X[:, 1]
    y = signal + rng.uniform(0.2, 0.8) * rng.normal(size=n)
    if rng.random() < 0.4:
        linear = X[:, 0] + 0.7 * X[:, 1]
        y = 2.5 * linear + rng.logistic(size=n) > rng.normal(0, 0.5)
        return classifier(rng), X, y
    return model, X, y


def chance(rng):
    """Targets that do not depend on the features."""
    model, X, y = sound(rng)
    return model, X, rng.permutation(y)


def overfit(rng):
    """Models that follow the noise of the targets."""
    n, p = int(rng.integers(200, 800)), int(rng.integers(3, 8))
    X = features(rng, n, p, 0.3)
    signal = X[:, 0] + X[:, 1]
    if rng.random() < 0.3:
        y = signal + 2 * rng.logistic(size=n) > 0
        return DecisionTreeClassifier(random_state=0), X, y
    y = signal + rng.uniform(1, 2) * rng.normal(size=n)
    model = [
        DecisionTreeRegressor(random_state=0),
        KNeighborsRegressor(1),
        make_pipeline(PolynomialFeatures(5 if p < 5 else 4), LinearRegression()),
    ][rng.integers(3)]
    return model, X, y


def companions(rng):
    """A feature that is made from others."""
    model, X, y = sound(rng)
    made = [
        X[:, 0] + 0.2 * rng.normal(size=len(X)),
        np.exp(X[:, 0]),
        X[:, 0] + X[:, 1],
    ][rng.integers(3)]
    X[:, 2] = made
    return model, X, y


def outside(rng):
    """Features that are close to a line or a curve."""
    n = int(rng.integers(300, 1500))
    X = features(rng, n, int(rng.integers(3, 8)), 0.3)
    X[:, 1] = X[:, 0] + 0.15 * rng.normal(size=n)
    if rng.random() < 0.5:
        X[:, 1] = X[:, 0] ** 2 + 0.15 * rng.normal(size=n)
    y = X[:, 0] + X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n)
    return regressor(rng), X, y


def opposite(rng):
    """A feature whose effect changes its sign with another."""
    n, p = int(rng.integers(300, 1500)), int(rng.integers(3, 8))
    X = features(rng, n, p, rng.uniform(0, 0.4))
    sign = np.where(X[:, 1] > rng.normal(0, 0.3), 1, -1)
    y = 2 * sign * X[:, 0] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n)
    if rng.random() < 0.3:
        model = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
        return model, X, y > 0
    return RandomForestRegressor(30, min_samples_leaf=3, random_state=0), X, y


def folds(rng):
    """Refits that use one of several copies, or follow noise."""
    n = int(rng.integers(100, 250))
    X = features(rng, n, 10, 0.2)
    y = X[:, 0] + X[:, 1] + 2 * rng.normal(size=n)
    return DecisionTreeRegressor(min_samples_leaf=3, random_state=0), X, y


def background(rng):
    """Features with a few values that are far from all others."""
    n, p = int(rng.integers(300, 1500)), int(rng.integers(3, 8))
    X = features(rng, n, p)
    X *= np.exp(rng.uniform(3, 3.5) * np.abs(rng.normal(size=(n, p))))
    return LinearRegression(), X, X.sum(axis=1) + rng.normal(size=n)


def ordinal(rng):
    """A column of codes whose order says nothing."""
    _, X, y = sound(rng)
    codes = rng.integers(int(rng.integers(9, 14)), size=len(X))
    effect = rng.normal(size=codes.max() + 1)[codes]
    X[:, 2] = codes
    y = y > np.mean(y) if len(np.unique(y)) > 2 else y
    noisy = np.where(y, 1.0, -1.0) + 2 * effect + rng.normal(size=len(X))
    return DecisionTreeRegressor(max_depth=6), X, noisy


def counts(rng):
    """A sound table with a column of counts, whose effect is smooth."""
    model, X, y = sound_regression(rng)
    X[:, 2] = rng.integers(int(rng.integers(9, 14)), size=len(X))
    shape = [lambda v: v / 4, lambda v: np.sqrt(v), lambda v: (v - 5) ** 2 / 12]
    return model, X, y + shape[rng.integers(3)](X[:, 2])


def leakage(rng):
    """A column made from the target."""
    model, X, y = sound(rng)
    if len(np.unique(y)) == 2:
        X[:, 2] = np.where(rng.random(len(y)) < 0.01, 1 - y, y)
    else:
        X[:, 2] = 3 * y + 0.1 * y.std() * rng.normal(size=len(y))
    return model, X, y


def range_(rng):
    """A linear model of targets that are never negative."""
    n, p = int(rng.integers(200, 1500)), int(rng.integers(3, 8))
    X = features(rng, n, p, 0.3)
    y = np.exp(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n))
    if rng.random() < 0.5:
        y = rng.poisson(y).astype(float)
    return LinearRegression(), X, y


def imbalance(rng):
    """A class of 1 to 4 % of the rows."""
    n = int(rng.integers(600, 1500))
    X = features(rng, n, 4, 0.3)
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    return classifier(rng), X, score > np.quantile(score, rng.uniform(0.96, 0.985))


def classes(rng):
    """Two to four classes of like sizes."""
    n, k = int(rng.integers(300, 1500)), int(rng.integers(2, 5))
    X = features(rng, n, 4, 0.3)
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    cuts = np.quantile(score, np.arange(1, k) / k + rng.uniform(-0.05, 0.05))
    return classifier(rng), X, np.searchsorted(cuts, score)


def noise(rng):
    """Models that follow noise as much as features."""
    n, p = int(rng.integers(100, 400)), int(rng.integers(3, 8))
    X = features(rng, n, p, 0.2)
    y = 0.2 * X[:, 0] + rng.normal(size=n)
    model = [
        DecisionTreeRegressor(min_samples_leaf=2, random_state=0),
        RandomForestRegressor(30, random_state=0),
    ][rng.integers(2)]
    return model, X, y


FAULTS = {
    one.__name__.rstrip("_"): one
    for one in (
        *(chance, overfit, companions, outside, opposite, folds, background),
        *(ordinal, leakage, range_, imbalance, noise),
    )
}
WITHOUT = {"ordinal": counts, "imbalance": classes}


def sound_regression(rng):
    """A table without fault, for a model that is not linear."""
    while True:
        model, X, y = sound(rng)
        if len(np.unique(y)) > 2 and not isinstance(model, LinearRegression):
            return model, X, y


def positive(rng):
    """A sound regression of targets that are never negative."""
    model, X, y = sound_regression(rng)
    return model, X, y - y.min()


def warned(name, make, seed):
    """Whether a check warns of a simulated table; None if it was skipped."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, len(make.__name__), ord(make.__name__[0])])
    model, X, y = make(rng)
    names = [f"x{j}" for j in range(X.shape[1])]
    report = InspectionReport(model, sections=[], checks=[name], random_state=seed)
    (check,) = report.fit(pd.DataFrame(X, columns=names), y).checks_
    return None if check.verdict == "skipped" else check.verdict == "warned"


def main():
    """Run all, print the shares, and fail if one is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", choices=FAULTS, default=list(FAULTS))
    given = parser.parse_args()
    n_tables, missed = 10 if given.quick else 100, []
    print(f"{'check':12} {'found':>6} {'false alarms':>13}   of {n_tables}")
    with Parallel(n_jobs=2) as parallel:
        for name in given.only:
            sides = []
            for make in (FAULTS[name], WITHOUT.get(name, sound)):
                if name == "range" and make is sound:
                    make = [sound, positive]
                makes = make if isinstance(make, list) else [make]
                sides.append(
                    parallel(
                        delayed(warned)(name, makes[k % len(makes)], k)
                        for k in range(n_tables)
                    )
                )
            found, false = (sum(map(bool, side)) for side in sides)
            skipped = sum(one is None for side in sides for one in side)
            print(f"{name:12} {found:6} {false:13}   {skipped} skipped", flush=True)
            if found < 0.95 * n_tables or false > 0.05 * n_tables:
                missed.append(name)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()

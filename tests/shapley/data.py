"""Explanations that the tests of displays share."""

import numpy as np
import pandas as pd

from sklearn_interpret.explanations import Explanation


def numbers(n_rows=60, n_features=5, seed=0, scale=1.0):
    """Numeric features; the first and the third interact, if there are so many."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    values = X * rng.uniform(-2, 2, n_features)
    if n_features > 2:
        values[:, [0, 2]] += (X[:, 0] * X[:, 2] / 2)[:, None]
    values *= scale
    names = [f"feature {j}" for j in range(n_features)]
    base = np.full(n_rows, 3.0 * scale)
    return Explanation(
        values, base, predictions=base + values.sum(axis=1), data=X, feature_names=names
    )


def mixed(n_rows=80, seed=0):
    """Numbers and strings with gaps, ordered categories, booleans; odd names."""
    rng = np.random.default_rng(seed)
    age = rng.gamma(4.0, 10.0, n_rows)
    age[::7] = np.nan
    town = rng.choice(["Ulm", "$Aalen_<i>$", "Wien"], n_rows).astype(object)
    town[::9] = None
    size = rng.integers(0, 4, n_rows)
    new = rng.random(n_rows) < 0.3
    columns = {"age": age, "$town_<b>$": town, "new": new, "size": size}
    X = pd.DataFrame(columns)
    X["size"] = pd.Categorical.from_codes(size, ["S", "M", "L", "XL"], ordered=True)
    effect = {"Ulm": 1.0, "$Aalen_<i>$": -1.0, "Wien": 0.2}
    values = np.stack(
        [
            np.where(np.isnan(age), -1.0, age / 20 - 2) * np.where(new, 2, 1),
            [effect.get(name, 0.1) for name in town],
            new * 1.0 - 0.3,
            size / 4 - 0.4,
        ],
        axis=1,
    )
    return Explanation(values, np.zeros(n_rows), data=X, feature_names=list(columns))


def three_outputs(n_rows=40):
    """Several outputs with names."""
    one = numbers(n_rows)
    weights = np.array([1.0, -0.4, -0.6])
    return Explanation(
        one.values[:, :, None] * weights,
        np.full((n_rows, 3), 1 / 3),
        data=one.data,
        feature_names=one.feature_names,
        output_names=["low", "_mid", "$top$"],
    )


def grouped(n_rows=60, seed=0):
    """Features that stand for several columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "lat": rng.normal(size=n_rows),
            "lon": rng.normal(size=n_rows),
            "kind": rng.choice(["a", "b"], n_rows),
            "sub": rng.choice(["x", "y"], n_rows),
            "price": rng.normal(size=n_rows),
        }
    )
    values = np.stack([X["lat"] * X["lon"], (X["kind"] == "a") * 1.0, X["price"]], 1)
    return Explanation(
        values,
        np.zeros(n_rows),
        data=X,
        feature_names=["place", "category", "price"],
        columns=[(0, 1), (2, 3), (4,)],
    )

"""Small tables that the tests of effects share."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def numeric_table(n_rows=60, n_features=3, seed=0):
    """Dependent numeric features and a response with an interaction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 1] += 0.8 * X[:, 0]
    y = X[:, 0] + X[:, 1] ** 2 + X[:, 0] * X[:, 2] + 0.1 * rng.normal(size=n_rows)
    return X, y


def mixed_frame(n_rows=60, seed=0):
    """A number, a whole number, a category, a string and a boolean, and a response."""
    rng = np.random.default_rng(seed)
    colour = rng.integers(0, 4, n_rows)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows) + 0.5 * colour,
            "rooms": rng.integers(1, 9, n_rows),
            "colour": pd.Categorical.from_codes(
                colour, ["red", "green", "blue", "amber"]
            ),
            "town": rng.choice(["Ulm", "Aalen", "Wien"], n_rows),
            "new": rng.random(n_rows) < 0.4,
        }
    )
    y = X["size"] * (1 + colour) + X["rooms"] + 2.0 * X["new"] * (X["town"] == "Ulm")
    return X, y.to_numpy() + 0.1 * rng.normal(size=n_rows)


def encoded(predictor):
    """A pipeline that takes the columns of `mixed_frame`."""
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["colour", "town", "new"]),
            (StandardScaler(), ["size", "rooms"]),
        ),
        predictor,
    )


def classes(y, n_classes):
    """Labels by the response's quantiles."""
    cuts = np.quantile(y, np.arange(1, n_classes) / n_classes)
    return np.array(["low", "mid", "top"])[np.searchsorted(cuts, y)]

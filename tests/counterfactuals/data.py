"""Tables and models that counterfactuals are tested on."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.counterfactuals import ExactCounterfactual

LEVELS = ["low", "mid", "high"]
NUMBERS = ["a", "b", "n", "small", "single"]
TEXTS = ["job", "size", "text"]


def mixed(n_rows=120, seed=0):
    """A frame of numbers, whole numbers, categories and flags, and two classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.exponential(size=n_rows),
            "n": rng.integers(0, 9, n_rows),
            "small": rng.integers(0, 100, n_rows).astype("uint8"),
            "single": rng.normal(size=n_rows).astype("float32"),
            "job": pd.Categorical(rng.choice(list("wxyz"), n_rows)),
            "size": pd.Categorical(rng.choice(LEVELS, n_rows), LEVELS, ordered=True),
            "text": rng.choice(["u", "v", "t"], n_rows),
            "flag": rng.random(n_rows) < 0.4,
        }
    )
    score = X.a + X.b + 0.3 * X.n * (X.job == "x") + X.single * (X.text == "u")
    score += 0.5 * X["size"].cat.codes + X.flag + rng.normal(size=n_rows) * 0.3
    return X, (score > score.median()).astype(int).to_numpy()


class Scores(ClassifierMixin, BaseEstimator):
    """A quick classifier of mixed frames: a smooth score, or one that goes in steps."""

    def __init__(self, steps=False):
        self.steps = steps

    def fit(self, X, y=None):
        """Nothing is learned."""
        self.classes_ = np.array([0, 1])
        self.n_features_in_, self.feature_names_in_ = X.shape[1], np.array(X.columns)
        return self

    def decision_function(self, X):
        """The score."""
        numbers = [X[name].to_numpy().astype(float) for name in NUMBERS]
        if self.steps:
            numbers = [np.floor(2 * column) / 2 for column in numbers]
        a, b, n, small, single = numbers
        job, size, text = (X[name].astype(object).to_numpy() for name in TEXTS)
        score = a + b + 0.2 * n * (job == "x") + single * (text == "u") - 2
        score += 0.5 * (size == "high") + X["flag"].to_numpy() + 0.01 * small
        return score + 0.5 * np.sin(a)

    def predict_proba(self, X):
        """The logistic function of the score."""
        second = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.stack([1 - second, second], axis=1)

    def predict(self, X):
        """Whether the score is positive."""
        return (self.decision_function(X) > 0).astype(int)


def pipeline(model, scaled=True):
    """A model of frames of any kind."""
    categories = make_column_selector(dtype_exclude=["number", "bool"])
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories),
        remainder=StandardScaler() if scaled else "passthrough",
    )
    return make_pipeline(encoder, model)


def polars_mixed(table):
    """A mixed frame of pandas as one of polars."""
    polars = pytest.importorskip("polars")
    kinds = {"job": polars.Categorical, "size": polars.Enum(LEVELS)}
    columns = {name: table[name].to_list() for name in table}
    schema = {name: kinds[name] for name in table if name in kinds}
    return polars.DataFrame(columns, schema_overrides=schema)


def polars_forest(columns):
    """A forest on some columns of a frame of polars."""
    texts = [name for name in columns if name in TEXTS]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), texts),
        remainder=FunctionTransformer(np.asarray),
    )
    return make_pipeline(encoder, RandomForestClassifier(3, random_state=0))


def logistic():
    """A logistic regression on mixed frames."""
    return pipeline(LogisticRegression())


def forest():
    """A forest on mixed frames."""
    model = RandomForestClassifier(3, max_depth=6, random_state=0)
    return pipeline(model, scaled=False)


def cell_ends(model):
    """First and last doubles of all cells of each feature of a model of trees.

    Libraries that compare in single precision round first: a double may be on the far
    side of a threshold half a step of single precision away from it.
    """
    trees = read_trees(model).ensemble
    for thresholds in trees.split_codes.thresholds:
        last = thresholds.astype(np.float64)
        if trees.precision == np.float32:
            below = thresholds.astype(np.float32)
            too_far = below > thresholds
            below[too_far] = np.nextafter(below[too_far], np.float32(-np.inf))
            above = np.nextafter(below, np.float32(np.inf))
            last = (below.astype(np.float64) + above) / 2
            rounded_up = last.astype(np.float32) == above
            last[rounded_up] = np.nextafter(last[rounded_up], -np.inf)
        low = np.append(-np.inf, np.nextafter(last, np.inf))
        yield np.stack([low, np.append(last, np.inf)], axis=1)


def candidates(model, row, limits=None):
    """All cells of each feature: the nearest number to the row's in each.

    Those within `limits` (n_features, 2) alone, where these are given.
    """
    nearest = []
    for j, (x, ends) in enumerate(zip(row, cell_ends(model), strict=True)):
        if limits is not None:
            low, high = limits[j]
            ends = np.column_stack([np.maximum(ends[:, 0], low), ends[:, 1]])
            ends[:, 1] = np.minimum(ends[:, 1], high)
            ends = ends[ends[:, 0] <= ends[:, 1]]
        nearest.append(np.unique(np.clip(x, *ends.T)))
    return nearest


def brute_force(model, row, costs, holds, most_changes=None, before=(), limits=None):
    """Least distance of rows that satisfy the target, and fewest changes with theirs.

    Of changes of each row before, no more than half are changes of these.
    """
    rows = np.array(list(product(*candidates(model, row, limits))))
    rows = rows[holds(rows)]
    for other in before:
        shares = np.abs(other - row) * costs
        rows = rows[(rows != row) @ shares <= (0.5 + 1e-9) * shares.sum()]
    if not len(rows):
        return np.inf, np.inf, np.inf
    changes = (rows != row).sum(axis=1)
    if most_changes is not None:
        rows, changes = rows[changes <= most_changes], changes[changes <= most_changes]
    distances = np.abs(rows - row) @ costs
    few = changes == changes.min()
    return distances.min(), changes.min(), distances[few].min()


def class_table(n_classes=2, n_features=3, seed=0):
    """A small table of single-precision numbers and its classes."""
    X, y = make_classification(
        120,
        n_features=n_features,
        n_informative=n_features,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        flip_y=0.1,
        random_state=seed,
    )
    return X.astype(np.float32).astype(np.float64), y


def exact(model, X, **parameters):
    """Exact counterfactuals of a fitted model, within some rows, of real numbers."""
    parameters = {"steps": "exact", **parameters}
    return ExactCounterfactual(FrozenEstimator(model), **parameters).fit(X)

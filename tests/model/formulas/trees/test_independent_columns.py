"""Moments of trees where columns are independent: against whole grids of rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret._model.formulas.trees import independent_columns
from sklearn_interpret._model.formulas.trees.independent_columns import (
    IndependentColumns,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.exceptions import UnreadableModelError

CLOSE = {"rtol": 1e-10, "atol": 1e-10}
SIZES = (4, 6, 1, 5)
FIELDS = ("mean", "covariance", "statistic", "variance")


def table(seed=0, sizes=SIZES, n_rows=80):
    """Columns with few values each, one of them constant; a response."""
    rng = np.random.default_rng(seed)
    values = [np.sort(rng.normal(size=size)) for size in sizes]
    X = np.column_stack([rng.choice(column, n_rows) for column in values])
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, -1]) * X[:, 0] + rng.normal(size=n_rows) / 9
    return X, y


def holes():
    X, y = table()
    X[::7, 0] = X[::5, 3] = np.nan
    return X, y


def frame():
    """The same with a column of categories, some of them missing."""
    X, y = table()
    X = pd.DataFrame(X, columns=list("abcd"))
    kinds = np.unique(X["b"], return_inverse=True)[1]
    X["b"] = pd.Categorical(np.array(list("uvwxyz"))[kinds])
    X.loc[::7, "a"] = np.nan
    X.loc[::11, "b"] = None
    return X, y


def cut(y):
    return np.searchsorted(np.quantile(y, [0.3, 0.6]), y)


def models():
    """Sums of trees, their rows, and the method that is asked."""
    X, y = table()
    gaps, _ = holes()
    named, _ = frame()
    coded = named.assign(b=named["b"].cat.codes.where(named["b"].notna()))
    forest = RandomForestClassifier(3, random_state=0).fit(X, cut(y))
    scores = GradientBoostingClassifier(n_estimators=4, random_state=0)
    boosted = {"max_iter": 6, "min_samples_leaf": 3}
    by_kind = HistGradientBoostingRegressor(**boosted, categorical_features=[1])
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["b", "d"]),
        (StandardScaler(), ["a", "d"]),
        remainder="passthrough",
    )
    encoded = make_pipeline(columns, HistGradientBoostingRegressor(**boosted))
    return {
        "probabilities": (forest, X, "predict_proba"),
        "scores": (scores.fit(X, cut(y)), X, "decision_function"),
        "missing": (HistGradientBoostingRegressor(**boosted).fit(gaps, y), gaps, None),
        "categories": (by_kind.fit(coded, y), coded, "predict"),
        "encoded": (encoded.fit(named, y), named, "predict"),
    }


MODELS = models()


def levels_of(X):
    """Distinct values of each column, the last one repeated; how many there are."""
    columns = list(X.columns) if hasattr(X, "columns") else list(range(X.shape[1]))
    frame = pd.DataFrame(X)
    firsts = [np.flatnonzero(~frame[column].duplicated()) for column in columns]
    height = max(map(len, firsts))
    places = [np.append(f, np.full(height - len(f), f[-1])) for f in firsts]
    rows = as_rows(X)
    levels = rows.mix(places[0], dict(enumerate(places)))
    return as_rows(levels), [len(first) for first in firsts]


def grid_of(levels, sizes):
    """All rows that the levels make up, in the model's container."""
    places = np.indices(sizes).reshape(len(sizes), -1)
    return levels.mix(places[0], dict(enumerate(places)))


def draw(sizes, m, seed=0, zeros=0.3):
    rng = np.random.default_rng(seed)
    shares, statistics = [], []
    for j, size in enumerate(sizes):
        share = rng.exponential(size=(m, size)) * (rng.random((m, size)) >= zeros)
        share[share.sum(axis=1) == 0, 0] = 1
        shares.append(share / share.sum(axis=1, keepdims=True))
        statistics.append(rng.normal(size=(size,) if j % 2 else (m, size)))
    return shares, statistics


def answers(model, method, X):
    found = np.asarray(getattr(model, method or "predict")(X), dtype=float)
    return found.reshape(len(found), -1)


def check(model, X, method, *, m=3, seed=0, zeros=0.3):
    levels, sizes = levels_of(X)
    response = make_response(model, method or "auto")
    products = IndependentColumns(response, levels, sizes)
    shares, statistics = draw(sizes, m, seed, zeros)
    found = products.moments(shares, statistics)
    asked = answers(model, method, grid_of(levels, sizes))
    places = np.indices(sizes).reshape(len(sizes), -1)
    for row in range(m):
        chances = [share[row][at] for share, at in zip(shares, places, strict=True)]
        weights = np.prod(chances, axis=0)
        mean = weights @ asked
        assert_allclose(found.mean[row], mean, **CLOSE)
        for j, statistic in enumerate(statistics):
            values = (statistic if statistic.ndim == 1 else statistic[row])[places[j]]
            values = values - weights @ values
            assert_allclose(
                found.covariance[row, j], (weights * values) @ asked, **CLOSE
            )
            assert_allclose(found.variance[row, j], weights @ values**2, **CLOSE)
    return products, shares, statistics, found


@pytest.mark.parametrize("name", MODELS)
def test_moments(name):
    check(*MODELS[name])


def test_what_stands_below_the_last_value_of_a_column_is_not_looked_at():
    model, X, method = MODELS["scores"]
    levels, sizes = levels_of(X)
    drawn = draw(sizes, 2)
    below = levels.native.copy()
    for column, size in enumerate(sizes):
        below[size:, column] = 77.0
    found = [
        IndependentColumns(make_response(model, method), rows, sizes).moments(*drawn)
        for rows in (levels, as_rows(below))
    ]
    for field in FIELDS:
        assert_array_equal(*(getattr(of, field) for of in found))


def test_a_model_that_is_no_sum_of_trees_is_refused():
    X, y = table()
    for model, method in (
        (LinearRegression().fit(X, y), "predict"),
        (
            GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, cut(y)),
            "predict_proba",
        ),
    ):
        with pytest.raises(UnreadableModelError):
            IndependentColumns(make_response(model, method), *levels_of(X))


def test_trees_that_are_not_what_the_model_answers_are_refused(monkeypatch):
    model, X, _ = MODELS["missing"]
    response = make_response(model)
    read = independent_columns.tree_response(response)
    doubled = replace(read.ensemble, value=1.01 * read.ensemble.value)
    wrong = replace(read, ensemble=doubled)
    monkeypatch.setattr(independent_columns, "tree_response", lambda *_, **__: wrong)
    with pytest.raises(UnreadableModelError, match="is not the sum of the trees"):
        IndependentColumns(response, *levels_of(X))


def test_too_many_sets_are_refused(monkeypatch):
    model, X, method = MODELS["encoded"]
    monkeypatch.setattr(independent_columns, "_MOST_SET_ENTRIES", 20)
    with pytest.raises(UnreadableModelError, match="too many to work with"):
        IndependentColumns(make_response(model, method), *levels_of(X))

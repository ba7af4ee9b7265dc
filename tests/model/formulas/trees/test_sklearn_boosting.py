"""Scikit-learn's boosted trees, read and asked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.formulas.trees.agreement import (
    assert_read,
    assert_same_leaves,
    assert_same_outputs,
    telling_inputs,
)
from tests.model.formulas.trees.data import labels, table

# GradientBoosting


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "squared_error", "subsample": 0.5},
        {"loss": "absolute_error"},
        {"loss": "huber", "learning_rate": 0.3},
        {"loss": "quantile", "alpha": 0.2},
        {"init": "zero"},
        {"init": DummyRegressor(strategy="quantile", quantile=0.9)},
        {"init": DummyRegressor(strategy="constant", constant=3.0)},
        {"max_leaf_nodes": 5, "max_depth": None},
        {"n_iter_no_change": 2, "tol": 0.1},
        {"max_features": 2, "min_samples_leaf": 5},
    ],
    ids=str,
)
def test_boosting_regressors(parameters):
    X, y = table()
    estimator = GradientBoostingRegressor(
        n_estimators=15, random_state=0, **parameters
    ).fit(X, y)
    model = assert_read(estimator, X, missing=False)
    assert model.ensemble.n_trees == estimator.n_estimators_
    assert model.raw_method == "predict"
    assert model.cover == "weight"


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"init": "zero", "subsample": 0.7},
        {"init": DummyClassifier(strategy="uniform")},
        {"init": DummyClassifier(strategy="most_frequent")},
        {"loss": "exponential"},
    ],
    ids=str,
)
def test_boosting_classifiers(parameters, n_classes):
    if parameters.get("loss") == "exponential" and n_classes > 2:
        parameters = {"loss": "log_loss", "learning_rate": 0.5}
    X, y = table()
    estimator = GradientBoostingClassifier(
        n_estimators=8, random_state=0, **parameters
    ).fit(X, labels(y, n_classes, names=True))
    model = assert_read(estimator, X, missing=False)
    assert model.raw_method == "decision_function"
    assert model.response_method == "predict_proba"
    assert model.ensemble.n_outputs == (1 if n_classes == 2 else 3)


def test_leaves_of_boosting():
    X, y = table()
    estimator = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(
        X, labels(y, 3)
    )
    model = read_trees(estimator)
    rows = telling_inputs(model, X, missing=False)
    assert_same_leaves(model, rows, estimator.apply(rows).reshape(len(rows), -1))


@pytest.mark.parametrize(
    "start",
    [
        DecisionTreeRegressor(max_depth=3, random_state=0),
        RandomForestRegressor(4, random_state=0),
        HistGradientBoostingRegressor(max_iter=5),
        HistGradientBoostingRegressor(max_iter=5, categorical_features=[0]),
        GradientBoostingRegressor(
            n_estimators=3, init=DecisionTreeRegressor(random_state=0), random_state=0
        ),
    ],
    ids=str,
)
def test_boosting_that_goes_on_from_trees(start):
    X, y = table()
    estimator = GradientBoostingRegressor(
        n_estimators=5, init=start, random_state=0
    ).fit(X, y)
    model = assert_read(estimator, X, missing=False)
    assert model.ensemble.precision == np.float32


def test_boosting_that_goes_on_from_trees_of_another_precision():
    """The start compares in float64 what was cast to float32 before."""
    X, y = table()
    start = HistGradientBoostingRegressor(max_iter=5, categorical_features=[0])
    estimator = GradientBoostingRegressor(
        n_estimators=5, init=start, random_state=0
    ).fit(X, y)
    model = read_trees(estimator)
    plain = GradientBoostingRegressor(
        n_estimators=5, init=HistGradientBoostingRegressor(max_iter=5), random_state=0
    ).fit(X, y)
    rows = telling_inputs(read_trees(plain), X, n_rows=500, missing=False)
    rows[:, 0] = np.resize(X[:, 0], 500)
    assert_same_outputs(model, estimator, rows)


@pytest.mark.parametrize(
    "start, reason",
    [
        (LinearRegression(), "LinearRegression"),
        (HistGradientBoostingRegressor(loss="poisson"), "not a plain sum"),
    ],
    ids=str,
)
def test_boosting_that_starts_from_no_trees(start, reason):
    X, y = table()
    estimator = GradientBoostingRegressor(
        n_estimators=2, init=start, random_state=0
    ).fit(X, abs(y))
    with pytest.raises(UnreadableModelError, match=reason):
        read_trees(estimator)


@pytest.mark.parametrize(
    "start",
    [
        DecisionTreeClassifier(max_depth=2, random_state=0),
        DummyClassifier(strategy="stratified"),
    ],
)
def test_boosting_that_starts_from_probabilities(start):
    X, y = table()
    estimator = GradientBoostingClassifier(n_estimators=2, init=start, random_state=0)
    with pytest.raises(UnreadableModelError, match="log-odds"):
        read_trees(estimator.fit(X, labels(y, 2)))


# HistGradientBoosting


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "squared_error"},
        {"loss": "absolute_error", "max_bins": 8},
        {"loss": "gamma"},
        {"loss": "poisson", "max_depth": 2},
        {"loss": "quantile", "quantile": 0.3},
        {"early_stopping": True, "n_iter_no_change": 1},
        {"max_features": 0.5, "l2_regularization": 1.0, "max_leaf_nodes": 4},
        {"monotonic_cst": [1, 0, -1, 0, 0]},
    ],
    ids=str,
)
def test_hist_boosting_regressors(parameters, missing):
    X, y = table(missing=missing)
    estimator = HistGradientBoostingRegressor(
        max_iter=10, random_state=0, **parameters
    ).fit(X, np.abs(y) + 0.1)
    model = assert_read(estimator, X, infinite=True)
    assert model.ensemble.precision == np.float64
    assert model.cover == "rows"
    identity = parameters.get("loss") not in ("gamma", "poisson")
    assert model.link == ("identity" if identity else "exp")
    assert model.raw_method == ("predict" if identity else None)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_hist_boosting_classifiers(missing, n_classes):
    X, y = table(missing=missing)
    estimator = HistGradientBoostingClassifier(max_iter=6, class_weight="balanced")
    model = assert_read(
        estimator.fit(X, labels(y, n_classes, names=True)), X, infinite=True
    )
    assert model.ensemble.n_outputs == (1 if n_classes == 2 else 3)
    assert model.raw_method == "decision_function"


def test_missing_against_all_others():
    """Such a split has an infinite threshold."""
    X = np.where(np.arange(100) % 3 == 0, np.nan, 1.0)[:, None]
    y = np.isnan(X[:, 0]) * 5.0
    estimator = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1).fit(X, y)
    model = assert_read(estimator, X, infinite=True)
    assert np.isinf(model.ensemble.threshold[0])
    assert_read(DecisionTreeRegressor(random_state=0).fit(X, y), X)


def test_cover_of_hist_boosting():
    X, y = table(missing=True)
    estimator = HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    trees = read_trees(estimator).ensemble
    reached = np.bincount(trees.apply(X).ravel(), minlength=trees.n_nodes)
    assert_array_equal(reached[trees.is_leaf], trees.cover[trees.is_leaf])


def test_warm_start_of_boosting():
    X, y = table()
    for kind, name in (
        (GradientBoostingRegressor, "n_estimators"),
        (HistGradientBoostingRegressor, "max_iter"),
    ):
        estimator = kind(warm_start=True, random_state=0).set_params(**{name: 3})
        estimator.fit(X, y).set_params(**{name: 7}).fit(X, y)
        assert assert_read(estimator, X, missing=False).ensemble.n_trees == 7


def test_single_leaves():
    X, _ = table()
    for kind in (GradientBoostingRegressor, HistGradientBoostingRegressor):
        model = assert_read(kind().fit(X, np.full(len(X), 2.5)), X, missing=False)
        assert_allclose(model.raw(X), 2.5)


def test_weighted_training():
    X, y = table()
    weights = np.random.default_rng(0).integers(0, 4, size=len(y))
    for kind in (GradientBoostingRegressor, HistGradientBoostingRegressor):
        assert_read(kind().fit(X, y, sample_weight=weights), X, missing=False)


# Categorical splits


def categorical_rows(X, columns, n_rows=400):
    """Rows whose categories are seen, unseen, missing and impossible."""
    rng = np.random.default_rng(1)
    rows = X[rng.integers(len(X), size=n_rows)].copy()
    for column in columns:
        odd = rng.choice([np.nan, -1, 7, 250, 254, 255, 256, 1.5, 1e9, -0.0], n_rows)
        rows[:, column] = np.where(rng.random(n_rows) < 0.5, odd, rows[:, column])
    return rows


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["regressor", "two", "three"])
def test_categories_in_arrays(kind, missing):
    X, y = table(400, missing=missing)
    X[:, 3] = np.random.default_rng(2).integers(0, 40, size=len(X)) * 6
    y = y + (X[:, 3] % 4) * 3
    columns = [3, 0]
    X[:, 0] = np.abs(X[:, 0])
    if kind == "regressor":
        estimator = HistGradientBoostingRegressor(
            max_iter=15, categorical_features=columns, min_samples_leaf=2
        ).fit(X, y)
    else:
        estimator = HistGradientBoostingClassifier(
            max_iter=8, categorical_features=columns, min_samples_leaf=2
        ).fit(X, labels(y, 2 if kind == "two" else 3))
    model = assert_read(estimator, X)
    assert (model.ensemble.category_set >= 0).any()
    # The model's own preprocessing puts categories first.
    assert_array_equal(model.columns, [0, 3, 1, 2, 4])
    assert_same_outputs(model, estimator, categorical_rows(X, columns))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_categories_in_frames(kind):
    X, y = table(400, missing=True)
    rng = np.random.default_rng(3)
    colours = np.array(["red", "green", "blue", "grey"], dtype=object)
    colour = colours[rng.integers(0, 4, size=len(X))]
    y = y + 3 * (colour == "blue")
    unseen = np.where(rng.random(len(X)) < 0.3, "pink", colour)
    absent = np.where(rng.random(len(X)) < 0.3, None, colour)
    frames = [
        frame_of(kind, X, column) for column in (colour, unseen, absent, colour[::-1])
    ]
    estimator = HistGradientBoostingRegressor(
        max_iter=15, categorical_features=["colour"]
    ).fit(frames[0], y)
    model = assert_read(estimator, frames[0])
    assert_array_equal(model.columns, [5, 0, 1, 2, 3, 4])
    for frame in frames[1:]:
        assert_same_outputs(model, estimator, frame)


def frame_of(kind, X, colour):
    """Numbers and a column of categories."""
    library = pytest.importorskip(kind)
    frame = library.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    if kind == "pandas":
        return frame.assign(colour=library.Categorical(colour))
    colours = library.Series("colour", colour.tolist(), dtype=library.Categorical)
    return frame.with_columns(colours)


def test_many_categories():
    """Up to 255, whose sets are eight words long."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.permutation(2000) % 255, rng.normal(size=2000)])
    y = np.isin(X[:, 0], [0, 31, 32, 63, 64, 127, 128, 254]) * 5.0 + X[:, 1]
    estimator = HistGradientBoostingRegressor(
        max_iter=10, categorical_features=[0], min_samples_leaf=1
    )
    model = assert_read(estimator.fit(X, y), X)
    assert_same_outputs(model, estimator, categorical_rows(X, [0]))

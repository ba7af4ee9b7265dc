"""LightGBM's trees, read and asked."""

import inspect

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.formulas.trees.agreement import (
    assert_read,
    assert_same_leaves,
    assert_same_outputs,
    in_single_precision,
    numbers_of_leaves,
    telling_inputs,
)
from tests.model.formulas.trees.data import labels, table

lightgbm = pytest.importorskip("lightgbm")

SMALL = {
    "n_estimators": 10,
    "num_leaves": 9,
    "min_child_samples": 2,
    "min_data_per_group": 2,
    "cat_smooth": 1.0,
    "verbose": -1,
    "n_jobs": 1,
}


def regressor(**parameters):
    return lightgbm.LGBMRegressor(**{**SMALL, **parameters})


def classifier(**parameters):
    return lightgbm.LGBMClassifier(**{**SMALL, **parameters})


def assert_leaves(model, estimator, X):
    """The library's leaves; it counts them alone."""
    leaves = estimator.predict(X, pred_leaf=True)
    assert_same_leaves(model, X, leaves, numbers_of_leaves(model))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"objective": "regression_l1"},
        {"objective": "huber", "boost_from_average": False},
        {"objective": "fair"},
        {"objective": "quantile", "alpha": 0.2},
        {"objective": "mape"},
        {"objective": "poisson"},
        {"objective": "gamma"},
        {"objective": "tweedie", "max_depth": 2},
        {"boosting_type": "dart", "drop_rate": 0.5},
        {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
        {"data_sample_strategy": "goss"},
        {"extra_trees": True, "colsample_bytree": 0.6},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"max_bin": 7},
    ],
    ids=str,
)
def test_regressors(parameters, missing):
    X, y = table(missing=missing)
    estimator = regressor(**parameters).fit(X, np.abs(y) + 0.1)
    model = assert_read(estimator, X, infinite=True)
    rows = telling_inputs(model, X, n_rows=1000, missing=True, infinite=True)
    for sent in (X, rows, in_single_precision(rows)):
        assert_leaves(model, estimator, sent)
    assert model.cover == "rows"
    assert not model.ensemble.strict


@pytest.mark.parametrize("n_classes", [2, 3])
def test_forests_of_classes(n_classes):
    """The link takes the mean of the trees, `raw_score` returns their sum."""
    X, y = table()
    estimator = classifier(boosting_type="rf", subsample=0.5, subsample_freq=1)
    model = assert_read(estimator.fit(X, labels(y, n_classes)), X)
    assert model.raw_method is None
    assert_allclose(
        10 * model.raw(X),
        np.reshape(estimator.predict(X, raw_score=True), (len(X), -1)),
    )


def test_regression_on_square_roots_has_no_link():
    X, y = table()
    model = assert_read(regressor(reg_sqrt=True).fit(X, y), X)
    assert model.link is None


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters", [{}, {"sigmoid": 1.7}, {"class_weight": "balanced"}]
)
def test_classifiers(parameters, n_classes):
    X, y = table(missing=True)
    estimator = classifier(**parameters).fit(X, labels(y, n_classes, names=True))
    model = assert_read(estimator, X, infinite=True)
    assert model.ensemble.n_outputs == (1 if n_classes == 2 else 3)
    assert model.response_method == "predict_proba"


def test_one_class_against_the_others():
    X, y = table()
    estimator = classifier(objective="multiclassova", sigmoid=0.8)
    assert_read(estimator.fit(X, labels(y, 3)), X)


def test_probabilities_of_a_regressor():
    X, y = table()
    estimator = regressor(objective="cross_entropy").fit(X, 1 / (1 + np.exp(-y)))
    model = assert_read(estimator, X)
    assert model.response(model.raw(X)).shape == (len(X), 1)


def test_ranker():
    X, y = table()
    estimator = lightgbm.LGBMRanker(**SMALL).fit(X, labels(y, 3), group=[50] * 4)
    assert_read(estimator, X)


def test_objective_of_the_users_own():
    def squares(y, score):
        return score - y, np.ones_like(y)

    X, y = table()
    model = assert_read(regressor(objective=squares).fit(X, y), X)
    assert model.link == "identity"
    model = assert_read(classifier(objective=squares).fit(X, labels(y, 2)), X)
    assert model.link is None


# What counts as missing, and as zero


@pytest.mark.parametrize("zero_as_missing", [False, True])
@pytest.mark.parametrize("seen", [False, True])
def test_numbers_next_to_zero(zero_as_missing, seen):
    """Within 1e-35 of zero all is zero, or missing."""
    X, y = table(400)
    X[:, 2] = np.where(np.arange(400) % 3 == 0, 0.0, X[:, 2])
    y = y + 5 * (X[:, 2] == 0) + 3 * (X[:, 2] > 0)
    if seen:
        X[::7, 2] = np.nan
    estimator = regressor(zero_as_missing=zero_as_missing).fit(X, y)
    model = assert_read(estimator, X, infinite=True)
    assert (2 in model.encoder.zero_is_missing) == zero_as_missing
    edge = float(np.float32(1e-35))
    near = np.array([edge, 1e-35, 1e-36, 5e-324, 0.0])
    near = np.concatenate([near, np.nextafter(near, 1), np.nextafter(near, -1)])
    rows = X.copy()
    rows[:, 2] = np.resize(np.concatenate([near, -near, [np.nan]]), len(rows))
    assert_leaves(model, estimator, rows)
    assert_leaves(model, estimator, rows.astype(np.float32))
    if zero_as_missing:
        assert np.isnan(model.encode(np.zeros((1, 5)))[0, 2])


def test_sparse_rows_hold_zeros():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((400, 6)) < 0.3, np.round(rng.normal(size=(400, 6))), 0)
    X = sparse.csr_matrix(dense)
    for zero_as_missing in (False, True):
        estimator = regressor(zero_as_missing=zero_as_missing)
        estimator.fit(X, dense.sum(axis=1))
        model = read_trees(estimator)
        assert_same_outputs(model, estimator, X)
        assert_same_outputs(model, estimator, dense)


def test_whole_numbers_are_cast_as_the_library_does():
    rng = np.random.default_rng(0)
    X = rng.integers(-(2**40), 2**40, size=(400, 2))
    estimator = regressor().fit(X, rng.normal(size=400))
    model = read_trees(estimator)
    assert_leaves(model, estimator, X)
    assert_leaves(model, estimator, X.astype(float))


# Shapes of trees


def test_deep_trees():
    X = np.arange(160.0)[:, None]
    y = np.exp2(np.linspace(-120, 120, 160))
    estimator = regressor(
        n_estimators=1,
        num_leaves=160,
        min_child_samples=1,
        min_child_weight=0,
        max_bin=1000,
        min_data_in_bin=1,
        learning_rate=1.0,
        boost_from_average=False,
    ).fit(X, y)
    model = assert_read(estimator, X)
    assert model.ensemble.depth.max() > 100
    assert_leaves(model, estimator, X)


def test_single_leaves():
    X, y = table()
    for target in (np.full(len(y), 2.5), y):
        estimator = regressor(min_child_samples=len(y)).fit(X, target)
        model = assert_read(estimator, X)
        assert model.ensemble.is_leaf.all()
    estimator = classifier(min_child_samples=len(y)).fit(X, labels(y, 3))
    assert_read(estimator, X)


def test_early_stopping():
    X, y = table()
    noise = np.random.default_rng(0).normal(size=100)
    estimator = regressor(n_estimators=60)
    stop = lightgbm.early_stopping(2, verbose=False)
    held_out = (X[:100], noise)
    names = ("eval_X", "eval_y")  # eval_set before LightGBM 4.7
    if names[0] in inspect.signature(estimator.fit).parameters:
        held_out = dict(zip(names, held_out, strict=True))
    else:
        held_out = {"eval_set": [held_out]}
    estimator.fit(X, y, callbacks=[stop], **held_out)
    model = assert_read(estimator, X)
    assert model.ensemble.n_trees == estimator.best_iteration_ < 60


def test_training_that_goes_on():
    X, y = table()
    first = regressor(n_estimators=3).fit(X, y)
    estimator = regressor(n_estimators=4).fit(X, y, init_model=first)
    assert assert_read(estimator, X).ensemble.n_trees == 7


def test_cover_is_the_number_of_rows():
    X, y = table()
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    trees = assert_read(regressor().fit(X, y, sample_weight=weights), X).ensemble
    reached = np.bincount(trees.apply(X).ravel(), minlength=trees.n_nodes)
    assert_array_equal(reached[trees.is_leaf], trees.cover[trees.is_leaf])


# Frames and categories


def test_frames_of_numbers():
    pd = pytest.importorskip("pandas")
    X, y = table(missing=True)
    frame = pd.DataFrame(X, columns=list("abcde")).astype({"c": "float32"})
    frame["a"] = frame["a"].astype("Int64")
    frame["e"] = frame["e"] > 0
    estimator = regressor().fit(frame, y)
    model = assert_read(estimator, frame)
    assert_leaves(model, estimator, frame)
    single = frame.astype("float32")
    assert_leaves(model, estimator, single)


@pytest.mark.parametrize("one_hot", [1, 4, 100])
@pytest.mark.parametrize("names", [["ä", "", "b", "zz", "c"], [3, 1, 40, 7, 5]])
def test_categories_in_frames(one_hot, names):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n_rows = 600
    code, number = rng.integers(0, 5, n_rows), rng.normal(size=n_rows)
    ordered = rng.integers(0, 3, n_rows)
    y = number + np.array([4.0, -3, 8, 1, -7])[code] + ordered

    def rows(labels, categories=None):
        levels = pd.Categorical(
            np.array(["low", "mid", "high"])[ordered],
            categories=["low", "mid", "high"],
            ordered=True,
        )
        return pd.DataFrame(
            {
                "level": levels,
                "number": number,
                "name": pd.Categorical(labels, categories=categories),
            }
        )

    seen = [names[c] for c in code]
    estimator = regressor(max_cat_to_onehot=one_hot, cat_l2=0.1).fit(rows(seen), y)
    model = assert_read(estimator, rows(seen))
    assert (model.ensemble.category_set >= 0).any()
    other = "new" if isinstance(names[0], str) else 99
    for odd in (None, other):
        some = rows([odd if i % 4 == 0 else label for i, label in enumerate(seen)])
        assert_same_outputs(model, estimator, some)
        assert_leaves(model, estimator, some)
    assert_leaves(model, estimator, rows(seen, categories=[*names[::-1], other]))


def test_number_of_category_columns_is_checked():
    pd = pytest.importorskip("pandas")
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    estimator = regressor().fit(frame.astype({"a": "category"}), y)
    with pytest.raises(ValueError, match="0 columns of category dtype"):
        read_trees(estimator).encode(frame)


@pytest.mark.parametrize("one_hot", [1, 100])
def test_categories_in_arrays(one_hot):
    rng = np.random.default_rng(0)
    code, number = rng.integers(0, 12, 900), rng.normal(size=900)
    X = np.column_stack([number, code * 37.0])
    y = number + rng.normal(size=12)[code] * 5
    X[::9, 1] = np.nan
    estimator = regressor(max_cat_to_onehot=one_hot, cat_l2=0.1)
    estimator.fit(X, y, categorical_feature=[1])
    model = assert_read(estimator, X)
    odd = [np.nan, -1, -0.5, -0.0, 0.5, 37.9, 38, 74, 1e6, 2.0**31 - 1, -1e9]
    rows = np.column_stack([number, np.resize(odd, len(number))])
    assert_same_outputs(model, estimator, rows)
    assert_leaves(model, estimator, rows)


# Inside of other models, and refusals


def test_inside_of_other_models():
    X, y = table()
    bagging = BaggingRegressor(
        regressor(), n_estimators=3, max_features=0.6, random_state=0
    )
    assert_read(bagging.fit(X, y), X)
    voting = VotingRegressor(
        [
            ("tree", DecisionTreeRegressor(max_depth=4, random_state=0)),
            ("boosting", regressor()),
        ]
    )
    assert_read(voting.fit(X, y), X, missing=False)


def test_linear_leaves_are_refused():
    X, y = table()
    with pytest.raises(UnreadableModelError, match="linear_tree"):
        read_trees(regressor(linear_tree=True).fit(X, y))


def test_mixed_meanings_of_zero_are_refused():
    X, y = table()
    first = regressor(zero_as_missing=True).fit(X, y)
    estimator = regressor(zero_as_missing=False).fit(X, y, init_model=first)
    with pytest.raises(UnreadableModelError, match="zero is a missing value in some"):
        read_trees(estimator)


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        read_trees(regressor())


def test_boosters_are_refused():
    X, y = table()
    with pytest.raises(UnreadableModelError, match="scikit-learn estimators"):
        read_trees(regressor().fit(X, y).booster_)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda model: model,
        make_pipeline,
        TransformedTargetRegressor,
        lambda model: GridSearchCV(model, {"num_leaves": [4]}, cv=2),
        lambda model: VotingRegressor([("a", model)]),
        lambda model: StackingRegressor([("a", model)], cv=2),
    ],
)
def test_blanks_in_names(wrapped):
    """LightGBM writes underlines for them, and so do models that hold one."""
    X, y = table()
    frame = pd.DataFrame(X).add_prefix("column ")
    model = wrapped(regressor(n_estimators=2)).fit(frame, y)
    assert model.feature_names_in_[0] == "column_0"
    found = PartialDependence(FrozenEstimator(model), features=[0]).fit(frame)
    again = wrapped(regressor(n_estimators=2)).fit(X, y)
    expected = PartialDependence(FrozenEstimator(again), features=[0]).fit(X)
    assert_allclose(found.average_[0], expected.average_[0], rtol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        PartialDependence(FrozenEstimator(model)).fit(frame.add_prefix("a "))

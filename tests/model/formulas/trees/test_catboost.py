"""CatBoost's trees, read and asked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

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
from tests.model.formulas.trees.data import labels, several, table

catboost = pytest.importorskip("catboost")

SMALL = {
    "iterations": 8,
    "depth": 4,
    "thread_count": 1,
    "verbose": 0,
    "allow_writing_files": False,
    "random_seed": 0,
}


def regressor(**parameters):
    return catboost.CatBoostRegressor(**{**SMALL, **parameters})


def classifier(**parameters):
    return catboost.CatBoostClassifier(**{**SMALL, **parameters})


def assert_leaves(model, estimator, X):
    """The library's leaves; it counts them alone."""
    leaves = estimator.calc_leaf_indexes(X)
    assert_same_leaves(model, X, leaves, numbers_of_leaves(model))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss_function": "MAE"},
        {"loss_function": "Quantile:alpha=0.2"},
        {"loss_function": "Huber:delta=1.0"},
        {"loss_function": "Poisson"},
        {"loss_function": "Tweedie:variance_power=1.5"},
        {"boost_from_average": False, "nan_mode": "Max"},
        {"bootstrap_type": "Bernoulli", "subsample": 0.5, "rsm": 0.5},
        {"border_count": 7, "depth": 6},
        {"boosting_type": "Ordered"},
    ],
    ids=str,
)
def test_symmetric_regressors(parameters, missing):
    X, y = table(missing=missing)
    estimator = regressor(**parameters).fit(X, np.abs(y) + 0.1)
    model = assert_read(estimator, X, infinite=True)
    rows = telling_inputs(model, X, n_rows=1000, missing=True, infinite=True)
    for sent in (X, rows, in_single_precision(rows)):
        assert_leaves(model, estimator, sent)
    assert model.raw_params == {"prediction_type": "RawFormulaVal"}


@pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
@pytest.mark.parametrize("missing", [False, True])
def test_other_shapes_of_trees(policy, missing):
    X, y = table(missing=missing)
    estimator = regressor(grow_policy=policy, min_data_in_leaf=2, depth=6).fit(X, y)
    assert_read(estimator, X, infinite=True)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"auto_class_weights": "Balanced"}, {"grow_policy": "Lossguide"}],
    ids=str,
)
def test_classifiers(parameters, n_classes):
    X, y = table(missing=True)
    estimator = classifier(**parameters).fit(X, labels(y, n_classes, names=True))
    model = assert_read(estimator, X, infinite=True)
    assert model.ensemble.n_outputs == (1 if n_classes == 2 else 3)
    assert_array_equal(model.classes, estimator.classes_)


def test_one_class_against_the_others():
    X, y = table()
    estimator = classifier(loss_function="MultiClassOneVsAll").fit(X, labels(y, 3))
    assert_read(estimator, X)


def test_several_targets():
    X, y = table()
    estimator = regressor(loss_function="MultiRMSE").fit(X, several(y))
    assert assert_read(estimator, X).ensemble.n_outputs == 2


def test_early_stopping():
    X, y = table()
    noise = np.random.default_rng(0).normal(size=100)
    estimator = regressor(iterations=60, early_stopping_rounds=2)
    estimator.fit(X, y, eval_set=(X[:100], noise))
    model = assert_read(estimator, X)
    assert model.ensemble.n_trees == estimator.tree_count_ < 60


def test_scale_of_the_sum():
    X, y = table()
    estimator = regressor().fit(X, y)
    estimator.set_scale_and_bias(-0.5, 2.0)
    assert_read(estimator, X)


def test_single_leaves():
    X, y = table()
    estimator = regressor(min_data_in_leaf=500, grow_policy="Lossguide").fit(X, y)
    model = assert_read(estimator, X)
    assert model.ensemble.is_leaf.all()


def test_cover_is_the_weight_of_training_rows():
    X, y = table()
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    trees = assert_read(regressor().fit(X, y, sample_weight=weights), X).ensemble
    leaves = trees.apply(X)
    reached = np.bincount(
        leaves.ravel(), np.repeat(weights, leaves.shape[1]), minlength=trees.n_nodes
    )
    assert_allclose(
        reached[trees.is_leaf], trees.cover[trees.is_leaf], rtol=1e-5, atol=1e-6
    )


def test_frames_and_columns_that_are_no_numbers():
    """A model that never splits on its categories can be read."""
    pd = pytest.importorskip("pandas")
    X, y = table(missing=True)
    frame = pd.DataFrame(X, columns=list("abcde"))
    estimator = regressor().fit(frame, y)
    assert_read(estimator, frame)
    mixed = frame.copy()
    mixed.insert(1, "same", ["one"] * len(frame))
    estimator = regressor(cat_features=["same"]).fit(mixed, y)
    model = read_trees(estimator)
    assert_array_equal(model.columns, [0, 2, 3, 4, 5])
    assert_same_outputs(model, estimator, mixed)


@pytest.mark.parametrize("n_categories", [2, 6])
def test_splits_on_categories_are_refused(n_categories):
    pd = pytest.importorskip("pandas")
    X, y = table()
    code = np.random.default_rng(0).integers(0, n_categories, len(y))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(f=code.astype(str))
    estimator = regressor(cat_features=["f"]).fit(frame, y + 5 * code)
    with pytest.raises(UnreadableModelError, match="splits on categories"):
        read_trees(estimator)


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        read_trees(regressor())


def test_what_the_exporter_refuses_is_any_model():
    X, y = table()
    X = np.where(X < -1, -np.inf, X)
    estimator = regressor().fit(X, y)
    with pytest.raises(UnreadableModelError, match=r"exports no .* value: -inf"):
        read_trees(estimator)
    finite = FrozenEstimator(estimator), np.nan_to_num(X, neginf=-9.0)
    found = PartialDependence(finite[0], features=[1]).fit(finite[1])
    sent = finite[1].copy()
    sent[:, 1] = found.grid_values_[0][0]
    assert_allclose(found.average_[0][0], estimator.predict(sent).mean())


def test_rankers():
    X, y = table()
    groups = np.arange(len(X)) // 10
    for loss in ("YetiRank", "QueryRMSE"):
        estimator = catboost.CatBoostRanker(**SMALL, loss_function=loss)
        estimator.fit(X, np.abs(y).round(), group_id=groups)
        model = assert_read(estimator, X)
        assert model.response_method == "predict"

"""TreeSHAP: what pickles hold, weights, targets and classes."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.shapley import TreeSHAP


@pytest.fixture
def regression():
    """A table in which the first two of four features matter."""
    X = np.random.default_rng(0).normal(size=(80, 4))
    return X, 3 * X[:, 0] + 2 * X[:, 1]


def forest(**parameters):
    return RandomForestRegressor(8, max_depth=5, random_state=0, **parameters)


def test_pickles_hold_no_tables(regression):
    """They are made again, so that a pickle is about as large as what it explains."""
    X, y = regression
    inspector = TreeSHAP(forest()).fit(X, y)
    assert inspector.feature_importances_.shape == (4,)
    before = len(pickle.dumps(inspector))
    inspector.transform(X)
    inspector.interaction_values(X[:3])
    assert len(pickle.dumps(inspector)) == before


# Weights and metadata


def test_weights_reach_the_model_and_the_background(regression):
    X, y = regression
    weights = np.random.default_rng(1).integers(0, 3, size=len(y))
    inspector = TreeSHAP(DecisionTreeRegressor(max_depth=3, random_state=0))
    inspector.fit(X, y, sample_weight=weights)
    plain = clone(inspector.estimator).fit(X, y, sample_weight=weights)
    assert_array_equal(inspector.predict(X), plain.predict(X))
    base = np.average(plain.predict(X), weights=weights)
    assert inspector.base_values_ == pytest.approx(base)
    assert len(inspector.background_) == np.count_nonzero(weights)


# Kinds of models and of data


def test_targets_pick_outputs(regression):
    X, y = regression
    Y = np.column_stack([y, -2 * y, X[:, 2]])
    every = TreeSHAP(forest()).fit(X, Y)
    third = TreeSHAP(forest(), target=2).fit(X, Y)
    assert every.output_names_ == [0, 1, 2]
    assert every.base_values_.shape == (3,)
    found = third.explain(X)
    assert found.values.shape == (80, 4)
    assert_allclose(found.values, every.explain(X).values[..., 2], atol=1e-14)
    assert every.interaction_values(X[:2]).shape == (2, 4, 4, 3)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, max_depth=4, random_state=0),
        GradientBoostingClassifier(n_estimators=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_other_class_has_the_opposite_values(model, regression):
    X, y = regression
    labels = np.where(y > 1, "up", "down")
    up = TreeSHAP(model).fit(X, labels)
    down = TreeSHAP(model, target="down").fit(X, labels)
    assert up.output_names_ == ["up"]
    assert down.output_names_ == ["down"]
    assert_allclose(down.transform(X), -up.transform(X), atol=1e-14)

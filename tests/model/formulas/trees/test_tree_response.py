"""Which responses are sums of trees, and what is said of the others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.formulas.trees.data import labels, several, table

SEEDED = {"random_state": 0}
X, Y = table()
TWO, THREE = labels(Y, 2), labels(Y, 3, names=True)
BOTH = np.column_stack([labels(Y, 3), TWO])


def hist_classifier(y):
    return HistGradientBoostingClassifier(max_iter=5).fit(X, y)


TREE = DecisionTreeClassifier(**SEEDED).fit(X, THREE)
SEVERAL = RandomForestRegressor(5, **SEEDED).fit(X, several(Y))
FOREST = RandomForestClassifier(5, **SEEDED).fit(X, TWO)
OF_BOTH = RandomForestClassifier(5, **SEEDED).fit(X, BOTH)
NUMBERS = HistGradientBoostingRegressor(max_iter=5).fit(X, Y)
SCORES = {"response_method": "decision_function"}
ADDITIVE = {
    "several targets": (SEVERAL, {}),
    "one of several": (SEVERAL, {"target": 1}),
    "frozen": (
        FrozenEstimator(NUMBERS),
        {"response_method": ["decision_function", "predict"]},
    ),
    "probability": (FOREST, {}),
    "of the first class": (FOREST, {"target": 0}),
    "of a class": (TREE, {"target": "late"}),
    "of several targets": (OF_BOTH, {}),
    "one column of these": (OF_BOTH, {"target": 2}),
    "scores": (hist_classifier(THREE), SCORES),
    "against the score": (hist_classifier(TWO), {**SCORES, "target": 0}),
}


@pytest.mark.parametrize("name", ADDITIVE)
def test_the_response_is_the_sum(name):
    estimator, asked = ADDITIVE[name]
    response = make_response(estimator, **asked)
    trees = tree_response(response, additive=True)
    ensemble = trees.ensemble
    codes = ensemble.codes(trees.model.encode(X))
    added = ensemble.base + ensemble.value[ensemble.apply_codes(codes)].sum(axis=1)
    assert_allclose(added, response(X), rtol=0, atol=1e-12)
    trees.check_agreement(X, codes)


BOOSTED = hist_classifier(TWO)

NOT_ADDITIVE = {
    "probability of scores": (
        BOOSTED,
        {},
        'response_method="predict_proba" of HistGradientBoostingClassifier is not the '
        'plain sum of its trees; response_method="decision_function" is',
    ),
    "labels": (
        FOREST,
        {"response_method": "predict"},
        'response_method="predict" of RandomForestClassifier .* '
        'response_method="predict_proba" is',
    ),
    "logarithms": (
        FOREST,
        {"response_method": "centered_log_proba"},
        'response_method="centered_log_proba" of RandomForestClassifier',
    ),
    "a function": (
        BOOSTED,
        {"response_method": lambda model, X: model.decision_function(X)},
        "lambda.* of HistGradientBoostingClassifier is not the plain sum",
    ),
    "a link": (
        HistGradientBoostingRegressor(loss="poisson", max_iter=3).fit(X, np.exp(Y)),
        {},
        'response_method="predict" of HistGradientBoostingRegressor .* trees.$',
    ),
    "a score of depths": (
        IsolationForest(n_estimators=3, random_state=0).fit(X),
        {"response_method": "decision_function"},
        "IsolationForest is not the plain sum",
    ),
    "no trees": (LinearRegression().fit(X, Y), {}, "trees of LinearRegression can't"),
}


@pytest.mark.parametrize("name", NOT_ADDITIVE)
def test_other_responses_are_refused(name):
    estimator, asked, message = NOT_ADDITIVE[name]
    with pytest.raises(UnreadableModelError, match=message):
        tree_response(make_response(estimator, **asked), additive=True)


class Doubled(RandomForestRegressor):
    """A forest that predicts something else than the mean of its trees."""

    def predict(self, X):
        """Twice the mean."""
        return 2 * super().predict(X)


def changed_by(monkeypatch, change):
    """A forest whose library computes something else than its trees."""
    predict = RandomForestRegressor.predict
    changed = lambda self, X: change(predict(self, X))  # noqa: E731
    monkeypatch.setattr(RandomForestRegressor, "predict", changed)
    return tree_response(make_response(RandomForestRegressor(3, **SEEDED).fit(X, Y)))


def test_trees_that_are_not_the_model_are_found_out(monkeypatch):
    trees = changed_by(monkeypatch, lambda values: 2 * values)
    codes = trees.ensemble.codes(trees.model.encode(X))
    with pytest.raises(UnreadableModelError, match="Regressor is not the sum of the"):
        trees.check_agreement(X, codes)


@pytest.mark.parametrize(("shift", "agrees"), [(0.0, True), (1e-7, False)])
def test_a_model_agrees_with_its_trees_to_rounding(shift, agrees, monkeypatch):
    trees = changed_by(monkeypatch, lambda values: values + shift * np.abs(Y).max())
    for n_rows in (1, 5, len(X)):
        assert trees.agrees(as_rows(X[:n_rows])) == agrees


def test_a_subclass_with_predictions_of_its_own():
    model = Doubled(3, **SEEDED).fit(X, Y)
    with pytest.raises(UnreadableModelError, match="Regressor with predict of its own"):
        tree_response(make_response(model))


def test_rows_that_a_model_surely_takes():
    forest, boosted = (
        RandomForestRegressor(3),
        HistGradientBoostingRegressor(max_iter=3),
    )
    scaled = make_pipeline(StandardScaler(), forest)
    by_category = boosted.set_params(categorical_features=[0])
    codes = np.column_stack([np.arange(len(X)) % 3, X[:, 1:]])
    large = np.where(np.eye(*X.shape) > 0, 1e39, X)  # infinite in single precision
    for model, rows, takes in (
        (forest, X, True),
        (forest, large, False),
        (DecisionTreeRegressor(), np.where(np.eye(*X.shape) > 0, np.nan, X), False),
        (scaled, X, False),
        (by_category, codes, False),
    ):
        fitted = model.fit(codes if model is by_category else X, Y)
        trees = tree_response(make_response(fitted))
        assert trees.surely_accepts(as_rows(rows)) == takes


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(init="zero", n_estimators=1, random_state=0),
        HistGradientBoostingClassifier(max_iter=1),
    ],
)
def test_margins_of_zero_are_the_class_that_the_model_predicts(model):
    X, y = np.zeros((40, 2)), np.tile([0, 1], 20)
    trees = tree_response(make_response(model.fit(X, y), "predict"))
    sums = trees.ensemble.raw(X)
    assert not sums.any()
    assert_array_equal(trees.link_sums(sums)[:, 0], model.predict(X))

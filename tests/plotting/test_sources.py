"""The one way from estimators to what displays draw."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._core.statistics.refits import Splits
from sklearn_interpret._plotting.sources import (
    Data,
    check_same_in_folds,
    fold_estimators,
    fold_rows,
    inspector_of,
    inspectors_of_folds,
    model_within,
    outputs_have_names,
    parameter_names,
    refuse_unknown,
    response_name,
    split_keywords,
    splits_of,
)
from sklearn_interpret.effects import ConditionalDependence, PartialDependence
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.shapley import ExactShapley, LinearSHAP, ShapleyValues, TreeSHAP

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X[:, 0] - X[:, 1]
MODEL = LinearRegression().fit(X, Y)
OF_EFFECTS = {"kinds": (PartialDependence,), "display": "ADisplay"}
OF_IMPORTANCES = {"kinds": (PermutationImportance,), "display": "ADisplay"}


def test_a_predictor_is_inspected_frozen():
    inspector = inspector_of(MODEL, Data(X), {"grid_resolution": 4}, **OF_EFFECTS)
    assert isinstance(inspector, PartialDependence)
    assert inspector.estimator.estimator is MODEL
    assert len(inspector.grid_values_[0]) == 4
    assert inspector_of(inspector, Data(), {}, **OF_EFFECTS) is inspector


def test_weights_and_targets_reach_the_inspector():
    weights = np.r_[np.ones(20), np.zeros(10)]
    asked = {"n_repeats": 2, "random_state": 0}
    one = inspector_of(MODEL, Data(X, Y, weights), asked, **OF_IMPORTANCES)
    rows = Data(X, Y, weights).take(np.arange(20))
    other = inspector_of(MODEL, rows, asked, **OF_IMPORTANCES)
    assert_allclose(one.importances_, other.importances_)


def test_what_cannot_be_drawn():
    fitted = PartialDependence(FrozenEstimator(MODEL)).fit(X)
    with pytest.raises(ValueError, match="centered, sample_weight can only be set"):
        inspector_of(fitted, Data(X, None, Y), {"centered": True}, **OF_EFFECTS)
    with pytest.raises(NotFittedError):
        inspector_of(PartialDependence(LinearRegression()), Data(X), {}, **OF_EFFECTS)
    with pytest.raises(NotFittedError):
        inspector_of(LinearRegression(), Data(X), {}, **OF_EFFECTS)
    with pytest.raises(TypeError, match="a predictor is needed"):
        inspector_of(object(), Data(X), {}, **OF_EFFECTS)
    with pytest.raises(ValueError, match="pass X, or a fitted inspector"):
        inspector_of(MODEL, Data(), {}, **OF_EFFECTS)
    other = ConditionalDependence(FrozenEstimator(MODEL)).fit(X)
    message = "ADisplay shows PartialDependence; got ConditionalDependence, which"
    with pytest.raises(TypeError, match=message):
        inspector_of(other, Data(X), {}, **OF_EFFECTS)
    message = "PartialDependence or an inspector that has explain; got Conditional"
    kinds = (PartialDependence, "explain")
    with pytest.raises(TypeError, match=message):
        inspector_of(other, Data(X), {}, kinds=kinds, display="ADisplay")


def test_a_check_comes_before_the_work(monkeypatch):
    monkeypatch.setattr(PartialDependence, "fit", None)

    def check(estimator, rows, parameters):
        assert estimator is MODEL
        assert rows is X
        assert parameters == {"centered": True}
        raise ValueError("in vain")

    with pytest.raises(ValueError, match="in vain"):
        inspector_of(MODEL, Data(X), {"centered": True}, check=check, **OF_EFFECTS)


@pytest.mark.parametrize("state", [None, np.random.RandomState(3)])
def test_folds_draw_the_same_rows(state):
    asked = {"random_state": state, "n_repeats": 2}
    one, other = inspectors_of_folds(
        [MODEL, MODEL], Data(X, Y), asked, **OF_IMPORTANCES
    )
    assert_array_equal(one.importances_, other.importances_)
    assert asked["random_state"] is state


def test_a_random_state_settles_what_folds_draw():
    drawn = [
        inspectors_of_folds(
            [MODEL, MODEL],
            Data(X, Y),
            {"random_state": np.random.RandomState(3)},
            **OF_IMPORTANCES,
        )[0].importances_
        for _ in range(2)
    ]
    assert_array_equal(*drawn)


def test_fitted_inspectors_of_folds_are_drawn_as_they_are():
    folds = [PartialDependence(LinearRegression()).fit(X[k:], Y[k:]) for k in (0, 5)]
    assert inspectors_of_folds(folds, Data(), {}, **OF_EFFECTS) == folds
    with pytest.raises(ValueError, match="centered can only be set before its fit"):
        inspectors_of_folds(folds, Data(X), {"centered": True}, **OF_EFFECTS)


def test_predictors_of_fitted_inspectors_are_inspected_again_on_the_same_rows():
    folds = [
        PartialDependence(LinearRegression(), grid_resolution=4, centered=True).fit(
            X[k:], Y[k:]
        )
        for k in (0, 5)
    ]
    again = inspectors_of_folds(
        folds, Data(X), {"grid_resolution": 6}, again=True, **OF_EFFECTS
    )
    grids = [inspector.grid_values_[0] for inspector in again]
    assert_array_equal(*grids)
    assert len(grids[0]) == 6
    assert again[0].centered
    assert [one.estimator.estimator for one in again] == [
        one.estimator_ for one in folds
    ]


def splits_by(cv):
    """What is known of the splits of 30 rows."""
    train, test = zip(*cv.split(X[:30]), strict=True)
    return splits_of({"estimator": [], "indices": {"train": train, "test": test}})


def test_how_rows_are_left_out():
    assert splits_by(KFold(3)) == Splits(1 / 2)
    assert splits_by(RepeatedKFold(n_splits=3, n_repeats=2)) == Splits(1 / 2, False)
    few = ShuffleSplit(3, test_size=1 / 3, random_state=0)
    assert splits_by(few) == Splits(1 / 2, False)
    without = splits_of({"estimator": [MODEL] * 5})
    assert without == Splits(1 / 4, are_known=False)


def test_folds_may_have_rows_of_their_own():
    results = {
        "estimator": [MODEL, MODEL],
        "indices": {
            "train": [np.arange(20), np.arange(10, 30)],
            "test": [np.arange(20, 30), np.arange(10)],
        },
    }
    assert fold_estimators(results) == [MODEL, MODEL]
    train, test = fold_rows(results, Data(X, Y))
    assert_array_equal(train[1].X, X[10:])
    assert_array_equal(test[1].y, Y[:10])
    assert train[0].sample_weight is None
    assert fold_rows({"estimator": [MODEL]}, Data(X, Y)) is None
    with pytest.raises(ValueError, match="index 29, but X has 20 rows"):
        fold_rows(results, Data(X[:20], Y[:20]))
    inspectors = inspectors_of_folds(results["estimator"], train, {}, **OF_EFFECTS)
    assert inspectors[0].grid_values_[0].max() <= X[:20, 0].max()


def test_models_within_pipelines_and_searches():
    inner = make_pipeline(StandardScaler(), GridSearchCV(LinearRegression(), {}, cv=2))
    outer = make_pipeline(StandardScaler(), FrozenEstimator(inner.fit(X, Y)))
    outer.fit(X, Y)
    model, (first, second) = model_within(outer, (LinearRegression,), "ADisplay")
    assert model is inner[-1].best_estimator_
    rows = second.transform(first.transform(X))
    assert_allclose(model.predict(rows), outer.predict(X))
    assert model_within(MODEL, (LinearRegression,), "ADisplay") == (MODEL, [])
    with pytest.raises(TypeError, match=r"ADisplay shows LinearSVC, .* got LinearReg"):
        model_within(outer, (LinearSVC,), "ADisplay")
    with pytest.raises(NotFittedError):
        model_within(LinearRegression(), (LinearRegression,), "ADisplay")


def test_folds_that_differ():
    check_same_in_folds([["a"], ["a"]], "outputs")
    with pytest.raises(ValueError, match=r"different outputs, which.*\['a'\], \['b'\]"):
        check_same_in_folds([["a"], ["b"]], "outputs")


def test_keywords_go_to_all_who_know_them():
    given = {"a": 1, "b": 2}
    assert split_keywords(given, [{"a"}, {"a", "b"}]) == [{"a": 1}, given]
    with pytest.raises(TypeError, match=r"ADisplay has no parameter 'colr'.*or colour"):
        refuse_unknown({"colr": 1}, ["color", "colour"], "ADisplay")
    names = parameter_names(PartialDependence)
    assert names == PartialDependence(MODEL).get_params(deep=False).keys() - {
        "estimator"
    }


def doubled(model, rows):
    return 2 * model.predict(rows)


BINARY = LogisticRegression().fit(X, Y > 0)
SEVERAL = LogisticRegression().fit(X, np.digitize(Y, [-1, 1]))
MARGIN = {"response_method": "decision_function"}


@pytest.mark.parametrize(
    ("model", "asked", "name"),
    [
        (MODEL, {}, "prediction"),
        (MODEL, {"response_method": doubled}, "doubled"),
        (MODEL, {"target": 0}, "prediction"),
        (BINARY, {}, "probability"),
        (BINARY, MARGIN, "log-odds"),
        (make_pipeline(StandardScaler(), BINARY).fit(X, Y > 0), MARGIN, "log-odds"),
        (SEVERAL, MARGIN, "decision function"),
        (LinearSVC().fit(X, Y > 0), {}, "decision function"),
        (SGDClassifier(random_state=0).fit(X, Y > 0), {}, "decision function"),
        (BINARY, {"response_method": "predict_log_proba"}, "log-probability"),
        (BINARY, {"response_method": "predict"}, "prediction"),
    ],
)
def test_responses_are_named(model, asked, name):
    inspector = PartialDependence(FrozenEstimator(model), features=[0], **asked).fit(X)
    assert response_name(inspector) == name
    assert outputs_have_names(inspector) == (model is not MODEL or "target" in asked)


BOOSTED = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, Y > 0)
EXPONENTIAL = clone(BOOSTED).set_params(loss="exponential").fit(X, Y > 0)
COUNTS = HistGradientBoostingRegressor(loss="poisson", max_iter=2).fit(X, Y**2)
TREE = DecisionTreeClassifier(random_state=0).fit(X, Y > 0)
ISOLATION = IsolationForest(n_estimators=2, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("kind", "model", "asked", "name"),
    [
        (TreeSHAP, BOOSTED, {}, "log-odds"),
        (TreeSHAP, BOOSTED, {"response_method": "predict_proba"}, "probability"),
        (TreeSHAP, EXPONENTIAL, {}, "decision function"),
        (TreeSHAP, COUNTS, {}, "log"),
        (TreeSHAP, COUNTS, {"response_method": "predict"}, "prediction"),
        (TreeSHAP, TREE, {}, "probability"),
        (TreeSHAP, ISOLATION, {}, "margin"),
        (LinearSHAP, BINARY, {}, "log-odds"),
        (LinearSHAP, PoissonRegressor().fit(X, Y**2), {}, "log"),
        (ShapleyValues, BOOSTED, {}, "log-odds"),
        (ExactShapley, BINARY, {"link": "logit"}, "log-odds"),
        (ExactShapley, BINARY, {}, "probability"),
    ],
)
def test_explanations_know_their_response(kind, model, asked, name):
    targets = pd.Series(Y > 0, name="bought")
    inspector = kind(FrozenEstimator(model), **asked).fit(X, targets)
    explanation = inspector.explain(X[:2])
    assert explanation.response_name == response_name(inspector) == name
    assert explanation[0].target_name == "bought"


def test_who_has_no_model_has_a_response():
    assert response_name(object()) == "response"

"""Boosters and models of files are read as the scikit-learn estimators are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.diagnosis import ModelDifference
from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.shapley import TreeSHAP

TABLES = {"binary": load_breast_cancer, "multi": load_iris, "numbers": load_diabetes}
ROUNDS = 12


def of_xgboost(kind, X, y, path):
    xgboost = pytest.importorskip("xgboost")
    objective = {
        "binary": "binary:logistic",
        "multi": "multi:softprob",
        "numbers": "reg:squarederror",
    }[kind]
    params = {"objective": objective, "num_class": 3 if kind == "multi" else None}
    rows = xgboost.DMatrix(X, y)
    booster = xgboost.train(params, rows, ROUNDS)
    booster.save_model(path / "model.ubj")
    loaded = xgboost.Booster(model_file=path / "model.ubj")
    return booster, loaded, booster.predict(rows, output_margin=True), 1e-5


def of_lightgbm(kind, X, y, path):
    lightgbm = pytest.importorskip("lightgbm")
    objective = {"binary": "binary", "multi": "multiclass", "numbers": "regression"}
    params = {"objective": objective[kind], "verbose": -1}
    if kind == "multi":
        params["num_class"] = 3
    booster = lightgbm.train(params, lightgbm.Dataset(X, y), ROUNDS)
    booster.save_model(path / "model.txt")
    loaded = lightgbm.Booster(model_file=path / "model.txt")
    return booster, loaded, booster.predict(X, raw_score=True), 1e-12


def of_catboost(kind, X, y, path):
    catboost = pytest.importorskip("catboost")
    loss = {"binary": "Logloss", "multi": "MultiClass", "numbers": "RMSE"}[kind]
    params = {"loss_function": loss, "iterations": ROUNDS, "verbose": 0}
    model = catboost.CatBoost({**params, "allow_writing_files": False}).fit(X, y)
    model.save_model(str(path / "model.cbm"))
    loaded = catboost.CatBoost().load_model(str(path / "model.cbm"))
    sums = model.predict(X, prediction_type="RawFormulaVal")
    return FrozenEstimator(model), FrozenEstimator(loaded), sums, 1e-12


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("train", [of_xgboost, of_lightgbm, of_catboost])
def test_sums_are_the_models(train, kind, tmp_path):
    X, y = TABLES[kind](return_X_y=True, as_frame=True)
    trained, loaded, expected, rtol = train(kind, X, y, tmp_path)
    scale = np.abs(expected).max()
    for model in (trained, loaded):
        inspector = TreeSHAP(model).fit(X)
        explanation = inspector.explain(X)
        sums = explanation.values.sum(axis=1) + explanation.base_values
        assert_allclose(sums, expected, rtol=rtol, atol=rtol * scale)
        n_classes = len(np.unique(y))
        if kind != "numbers":
            assert_array_equal(inspector.classes_, np.arange(n_classes))
        importance = PermutationImportance(model, n_repeats=1, random_state=0)
        assert (importance.fit(X, y).importances_mean_ > 0).any()


def trained_predictions(model, rows):
    return TreeSHAP(model).fit(rows).predict(rows)


@pytest.mark.parametrize("train", [of_xgboost, of_lightgbm, of_catboost])
def test_fitted_models_are_taken_as_they_are(train, tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    trained, loaded, *_ = train("numbers", X, y, tmp_path)
    PartialDependenceDisplay.from_estimator(loaded, X, features=["bmi"])
    difference = ModelDifference([trained, loaded], [1, -2])
    # Names of CatBoost are no feature_names_in_.
    rows = X.to_numpy() if train is of_catboost else X
    assert_allclose(difference.predict(rows), -trained_predictions(trained, rows))
    TreeSHAP(difference).fit(rows).explain(rows[:3])

"""Boosters and models of files are read as the scikit-learn estimators are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret._model.adapters import adapt
from sklearn_interpret.diagnosis import ErrorSlices, ModelDifference
from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.importance import (
    ConditionalImportanceDisplay,
    ConditionalImportanceTest,
    DropColumnImportance,
    PermutationImportance,
    PermutationTest,
)
from sklearn_interpret.influence import DeletionDiagnostics, InfluenceDisplay
from sklearn_interpret.report import InspectionReport
from sklearn_interpret.shapley import ShapleyValues, TreeSHAP

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
    return model, loaded, sums, 1e-12


every_library = pytest.mark.parametrize("train", [of_xgboost, of_lightgbm, of_catboost])


@pytest.mark.parametrize("kind", TABLES)
@every_library
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
        chosen = ShapleyValues(model, subsample=10, random_state=0).fit(X)
        assert (chosen.algorithm_, chosen.response_method_) == ("tree", "margin")


def trained_predictions(model, rows):
    return TreeSHAP(model).fit(rows).predict(rows)


@every_library
def test_fitted_models_are_taken_as_they_are(train, tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    trained, loaded, *_ = train("numbers", X, y, tmp_path)
    PartialDependenceDisplay.from_estimator(loaded, X, features=["bmi"])
    difference = ModelDifference([trained, loaded], [1, -2])
    # Names of CatBoost are no feature_names_in_.
    rows = X.to_numpy() if train is of_catboost else X
    assert_allclose(difference.predict(rows), -trained_predictions(trained, rows))
    TreeSHAP(difference).fit(rows).explain(rows[:3])


@every_library
def test_no_model_is_fitted_again(train, tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    trained, loaded, *_ = train("numbers", X, y, tmp_path)
    message = "cannot be fitted again: pass a scikit-learn estimator, such as "
    for kind in (
        ConditionalImportanceTest,
        DeletionDiagnostics,
        DropColumnImportance,
        PermutationTest,
    ):
        for model in (trained, FrozenEstimator(loaded)):
            with pytest.raises(TypeError, match=message + "(XGB|LGBM|CatBoost)Regr"):
                kind(model).fit(X, y)
    for display in (ConditionalImportanceDisplay, InfluenceDisplay):
        with pytest.raises(TypeError, match=message):
            display.from_estimator(loaded, X, y)
    with pytest.raises(TypeError, match=message):
        InfluenceDisplay.from_removal(loaded, X, y, np.ones(len(y)))
    report = InspectionReport(loaded, sections=["overview"], checks=["folds"])
    (check,) = report.fit(X, y).checks_
    assert "was given fitted" in check.finding
    slices = ErrorSlices(trained, random_state=0).fit(X, y)
    residuals = y - trained_predictions(trained, X)
    assert_allclose(slices.losses_, residuals**2)


def test_differences_are_not_fitted_again():
    X, y = load_diabetes(return_X_y=True)
    difference = ModelDifference([LinearRegression().fit(X, y)], [1])
    with pytest.raises(TypeError, match="a ModelDifference cannot be fitted again"):
        DropColumnImportance(difference).fit(X, y)


def test_xgboost_predicts_by_all_trees(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, y = load_diabetes(return_X_y=True)
    rows, others = xgboost.DMatrix(X[::2], y[::2]), xgboost.DMatrix(X[1::2], y[1::2])
    stopping = {"evals": [(others, "others")], "early_stopping_rounds": 5}
    booster = xgboost.train({}, rows, 40, **stopping, verbose_eval=False)
    assert booster.best_iteration + 1 < booster.num_boosted_rounds()
    booster.save_model(tmp_path / "model.ubj")
    loaded = xgboost.Booster(model_file=tmp_path / "model.ubj")
    for model in (booster, FrozenEstimator(booster), loaded):
        explanation = TreeSHAP(model).fit(X).explain(X)
        predictions = booster.predict(xgboost.DMatrix(X))
        assert_allclose(explanation.predictions, predictions, rtol=1e-5)
        sums = explanation.values.sum(axis=1) + explanation.base_values
        assert_allclose(sums, explanation.predictions, rtol=1e-4)
    assert booster.best_iteration is not None  # the user's stays as it was


def test_a_booster_is_converted_once_for_a_fit(monkeypatch, tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    trained, *_ = of_xgboost("numbers", X, y, tmp_path)
    seen, convert = [], adapt.adapt_xgboost

    def counted(model):
        seen.append(type(model).__name__)
        return convert(model)

    monkeypatch.setitem(adapt._ADAPTERS, "xgboost", counted)
    inspector = TreeSHAP(trained).fit(X)
    first = inspector.explain(X)
    assert seen.count("Booster") == 1
    trained.update(pytest.importorskip("xgboost").DMatrix(X, y), ROUNDS)
    again = inspector.fit(X).explain(X)
    assert seen.count("Booster") == 2
    assert (first.predictions != again.predictions).any()


@pytest.mark.filterwarnings("ignore:.*booster=gblinear. is deprecated:UserWarning")
def test_messages_name_the_users_model():
    xgboost = pytest.importorskip("xgboost")
    X, y = load_diabetes(return_X_y=True)
    rows = xgboost.DMatrix(X, y)
    booster = xgboost.train({"booster": "gblinear"}, rows, 3)
    with pytest.raises(UnreadableModelError, match=r"of Booster can't .* and Boosters"):
        TreeSHAP(booster).fit(X)

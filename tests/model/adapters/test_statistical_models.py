"""Results of statsmodels, and pyGAM's models, are predictors."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.shapley import LinearSHAP, ShapleyValues


@pytest.fixture
def table():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("kind", ["OLS", "WLS", "RLM", "QuantReg"])
def test_linear_results_of_statsmodels(kind, table):
    api = pytest.importorskip("statsmodels.api")
    X, y = table
    X = api.add_constant(X)
    results = getattr(api, kind)(y, X).fit()
    explanation = LinearSHAP(results).fit(X).explain(X)
    sums = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(sums, results.predict(X), rtol=1e-10)
    assert_array_equal(explanation.feature_names, X.columns)
    PartialDependenceDisplay.from_estimator(results, X, features=["bmi"])


@pytest.mark.parametrize("kind", ["GLM", "Logit", "formula"])
def test_other_results_of_statsmodels(kind, table):
    api = pytest.importorskip("statsmodels.api")
    X, y = table
    X = api.add_constant(X[["age", "bmi", "bp"]])
    if kind == "GLM":
        results = api.GLM(y, X, family=api.families.Poisson()).fit()
    elif kind == "Logit":
        results = api.Logit(y > 140, X).fit(disp=0)
    else:
        X = X.drop(columns="const")
        results = api.formula.ols("y ~ bmi * bp + I(age**2)", X.assign(y=y)).fit()
    for model in (results, FrozenEstimator(results)):
        explanation = ShapleyValues(model).fit(X).explain(X[:4])
        sums = explanation.values.sum(axis=1) + explanation.base_values
        assert_allclose(sums, results.predict(X[:4]), rtol=1e-10)
        importance = PermutationImportance(model, n_repeats=1, random_state=0)
        assert len(importance.fit(X, y).importances_mean_) == X.shape[1]


def test_pygam():
    pygam = pytest.importorskip("pygam")
    X, y = load_breast_cancer(return_X_y=True)
    model = FrozenEstimator(pygam.LogisticGAM(max_iter=20).fit(X[:, :3], y))
    inspector = ShapleyValues(model).fit(X[:30, :3])
    explanation = inspector.explain(X[:4, :3])
    sums = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(sums, model.estimator.predict_proba(X[:4, :3]), rtol=1e-10)
    assert_array_equal(inspector.classes_, [0, 1])
    PermutationImportance(model, n_repeats=1).fit(X[:, :3], y)

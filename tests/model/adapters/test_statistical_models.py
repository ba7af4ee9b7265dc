"""Results of statsmodels, and pyGAM's models, are predictors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, roc_auc_score

from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.exceptions import RefitWarning
from sklearn_interpret.importance import DropColumnImportance, PermutationImportance
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
        y = y > 140
        results = api.Logit(y, X).fit(disp=0)
    else:
        X = X.drop(columns="const")
        results = api.formula.ols("y ~ bmi * bp + I(age**2)", X.assign(y=y)).fit()
    for model in (results, FrozenEstimator(results)):
        explanation = ShapleyValues(model).fit(X).explain(X[:4])
        sums = explanation.values.sum(axis=1) + explanation.base_values
        assert_allclose(sums, results.predict(X[:4]), rtol=1e-10)
        importance = PermutationImportance(model, n_repeats=1, random_state=0)
        assert len(importance.fit(X, y).importances_mean_) == X.shape[1]


@pytest.mark.parametrize("kind", ["Logit", "Probit", "GLM", "formula"])
def test_models_of_two_classes(kind, table):
    api = pytest.importorskip("statsmodels.api")
    X, y = api.add_constant(table[0][["age", "bmi"]]), 1 * (table[1] > 140)
    if kind == "GLM":
        results = api.GLM(y, X, family=api.families.Binomial()).fit()
    elif kind == "formula":
        X = X.drop(columns="const")
        results = api.formula.logit("y ~ age + bmi", X.assign(y=y)).fit(disp=0)
    else:
        results = getattr(api, kind)(y, X).fit(disp=0)
    probabilities = results.predict(X)
    scoring = ["accuracy", "roc_auc", "neg_log_loss"]
    importance = PermutationImportance(results, scoring=scoring, n_repeats=1)
    scores = importance.fit(X, y).results_
    baselines = [scores[name].baseline_score for name in scoring]
    expected = [
        accuracy_score(y, probabilities > 0.5),
        roc_auc_score(y, probabilities),
        -log_loss(y, probabilities),
    ]
    assert_allclose(baselines, expected)
    assert_array_equal(importance.classes_, [0, 1])
    inspector = ShapleyValues(results, subsample=20, random_state=0).fit(X)
    assert inspector.response_method_ == "predict_proba"
    assert_allclose(inspector.explain(X[:4]).predictions, probabilities[:4])


def test_shares_are_numbers(table):
    api = pytest.importorskip("statsmodels.api")
    X, y = table
    family = api.families.Binomial()
    results = api.GLM(y / 400, api.add_constant(X), family=family).fit()
    inspector = ShapleyValues(results, subsample=5).fit(api.add_constant(X))
    assert inspector.response_method_ == "predict"


@pytest.mark.parametrize(
    "kind", ["NegativeBinomial", "GeneralizedPoisson", "ZeroInflatedPoisson", "Ordered"]
)
def test_columns_are_no_other_parameters(kind, table):
    api = pytest.importorskip("statsmodels.api")
    ordinal = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    X, y = table[0][["bmi", "bp"]], table[1]
    if kind == "Ordered":
        grades = np.digitize(y, [90, 140, 210])
        results = ordinal.OrderedModel(grades, X).fit(disp=0)
    else:
        X = api.add_constant(X)
        counts = np.random.default_rng(0).negative_binomial(2, 1 / (1 + y / 150))
        results = getattr(api, kind)(counts, X).fit(disp=0)
    inspector = ShapleyValues(results, subsample=10, random_state=0).fit(X)
    assert_array_equal(inspector.feature_names_in_, X.columns)
    expected = np.asarray(results.predict(X[:3]))
    assert_allclose(inspector.explain(X[:3]).predictions, expected)


def test_proportional_hazards(table):
    api = pytest.importorskip("statsmodels.api")
    X, y = table
    results = api.PHReg(y, X).fit()
    explanation = ShapleyValues(results, subsample=5).fit(X[:50]).explain(X[:3])
    expected = results.predict(exog=X[:3]).predicted_values
    assert_allclose(explanation.predictions, expected)


@pytest.mark.parametrize("kind", ["GLMGam", "ZeroInflatedPoisson"])
def test_results_that_predict_from_two_tables(kind, table):
    api = pytest.importorskip("statsmodels.api")
    gam = pytest.importorskip("statsmodels.gam.api")
    X, y = api.add_constant(table[0][["bmi", "bp"]]), table[1] // 100
    if kind == "GLMGam":
        splines = gam.BSplines(table[0][["age"]], df=[5], degree=[3])
        results = gam.GLMGam(y, X, smoother=splines).fit()
    else:
        results = api.ZeroInflatedPoisson(y, X, exog_infl=X).fit(disp=0)
    with pytest.raises(TypeError, match=f"Results of {kind} predict from two tables"):
        ShapleyValues(results).fit(X)


def test_results_are_not_fitted_again(table):
    api = pytest.importorskip("statsmodels.api")
    X, y = table
    with pytest.raises(TypeError, match=r"again: .* such as LinearRegression"):
        DropColumnImportance(api.OLS(y, X).fit()).fit(X, y)


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


def test_regressors_of_pygam(table):
    pygam = pytest.importorskip("pygam")
    X, y = table[0][["age", "bmi", "bp"]].to_numpy(), table[1]
    gam = pygam.LinearGAM(pygam.s(0, n_splines=6) + pygam.te(1, 2, n_splines=5))
    gam.fit(X, y)
    predictions = gam.predict(X)
    scoring = {"r2": "r2", "own": lambda y, p: (y - p) ** 2, "mse": mean_squared_error}
    frozen = PermutationImportance(FrozenEstimator(gam), scoring=scoring, n_repeats=1)
    results = frozen.fit(X, y).results_
    squared_error = mean_squared_error(y, predictions)
    for name in ("own", "mse"):
        assert_allclose(results[name].baseline_score, squared_error)
    inspector = ShapleyValues(gam, subsample=10, random_state=0)
    with pytest.warns(RefitWarning, match="the LinearGAM is fitted already"):
        inspector.fit(X, -y)
    assert_allclose(inspector.predict(X), -predictions, rtol=1e-6)
    assert_array_equal(gam.predict(X), predictions)
    unfitted = clone(inspector.set_params(estimator=pygam.LinearGAM(pygam.s(1))))
    unfitted.fit(X, y)
    assert_allclose(unfitted.explain(X[:3]).values[:, [0, 2]], 0, atol=1e-9)
    assert DropColumnImportance(gam, cv=3, removal="constant")._clone().fit(X, y)

"""Linear models of scikit-survival, read as linear functions."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from sklearn_interpret._model.formulas.linear import read_linear
from sklearn_interpret._model.gradients.models import read_scores
from sklearn_interpret.counterfactuals import ExactCounterfactual
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.shapley import ExactShapley, LinearSHAP

pytest.importorskip("sksurv")
from sksurv import datasets, preprocessing
from sksurv.ensemble import ComponentwiseGradientBoostingSurvivalAnalysis
from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis, IPCRidge

BOOSTING = {"n_estimators": 40, "random_state": 0}
MODELS = [
    CoxPHSurvivalAnalysis(),
    CoxPHSurvivalAnalysis(alpha=1.0, ties="efron"),
    CoxnetSurvivalAnalysis(),
    CoxnetSurvivalAnalysis(l1_ratio=1.0, normalize=True, alphas=[0.1, 0.002]),
    IPCRidge(),
    ComponentwiseGradientBoostingSurvivalAnalysis(**BOOSTING),
    ComponentwiseGradientBoostingSurvivalAnalysis(**BOOSTING, dropout_rate=0.3),
    ComponentwiseGradientBoostingSurvivalAnalysis(**BOOSTING, loss="squared"),
    ComponentwiseGradientBoostingSurvivalAnalysis(**BOOSTING, loss="ipcwls"),
]


def short(model):
    """Name of a model for pytest."""
    return repr(model).replace("\n", "").replace(" ", "")


@pytest.fixture(scope="module")
def table():
    X, y = datasets.load_whas500()
    return X.astype(float)[["age", "bmi", "chf", "hr", "los", "sysbp"]], y


@pytest.mark.parametrize("model", MODELS, ids=short)
def test_values_sum_to_the_response(model, table):
    X, y = table
    X = X.to_numpy()
    predictions = model.fit(X, y).predict(X)
    loaded = pickle.loads(pickle.dumps(model))
    is_time = not getattr(loaded, "_predict_risk_score", True)
    assert read_linear(loaded).exponential == is_time
    expected = np.log(predictions) if is_time else predictions
    explanation = LinearSHAP(FrozenEstimator(loaded)).fit(X).explain(X)
    sums = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(sums, expected, atol=1e-10 * np.abs(expected).max())
    # Slopes, by differences of the predictions.
    rows, step = X[:5], np.array([1e-4, 0, 0, 0, 0, 0])
    change = model.predict(rows + step) - model.predict(rows - step)
    slopes = read_scores(loaded).function.vjp(rows, np.ones((5, 1)))[:, 0]
    assert_allclose(slopes, change / 2e-4, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("model", MODELS[:3], ids=short)
def test_values_equal_brute_force(model, table):
    X, y = table
    frozen, few = FrozenEstimator(model.fit(X, y)), X[:30]
    linear, exact = (
        kind(frozen).fit(few).explain(X[:5]).values
        for kind in (LinearSHAP, ExactShapley)
    )
    assert_allclose(linear, exact, atol=1e-10)


def test_pipelines_and_counterfactuals():
    X, y = datasets.load_veterans_lung_cancer()
    model = make_pipeline(preprocessing.OneHotEncoder(), CoxPHSurvivalAnalysis())
    frozen = FrozenEstimator(model.fit(X, y))
    inspectors = LinearSHAP(frozen).fit(X), ExactShapley(frozen, subsample=None).fit(X)
    linear, exact = (inspector.explain(X[:5]).values for inspector in inspectors)
    assert_allclose(linear, exact, atol=1e-10)
    risk = float(model.predict(X[:1])[0])
    inspector = ExactCounterfactual(frozen, desired=(None, risk - 1)).fit(X)
    counterfactual = inspector.explain(X[:1])
    assert model.predict(counterfactual.rows)[0] <= risk - 1


def test_overridden_predictions_are_not_read(table):
    class Doubled(CoxPHSurvivalAnalysis):
        def predict(self, X):
            return 2 * super().predict(X)

    with pytest.raises(UnreadableModelError, match="predict of its own"):
        read_linear(Doubled().fit(*table))

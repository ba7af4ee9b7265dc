"""TreeSHAP against shap."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from tests.model.formulas.trees.data import labels, several, table
from tests.shapley.truth import inspected

shap = pytest.importorskip("shap", minversion="0.51")

SEED = {"random_state": 0}
MODELS = {
    "tree": (DecisionTreeRegressor(max_depth=6, random_state=0), "numbers"),
    "forest": (RandomForestRegressor(20, max_depth=8, **SEED), "numbers"),
    "forest, grown fully": (RandomForestRegressor(10, **SEED), "numbers"),
    "forest, many outputs": (RandomForestRegressor(10, max_depth=6, **SEED), "several"),
    "forest, two classes": (RandomForestClassifier(20, max_depth=8, **SEED), "two"),
    "extra trees, three": (ExtraTreesClassifier(10, max_depth=8, **SEED), "three"),
    "boosting": (GradientBoostingRegressor(max_depth=5, **SEED), "numbers"),
    "boosting, two classes": (GradientBoostingClassifier(max_depth=4, **SEED), "two"),
    "histogram": (HistGradientBoostingRegressor(max_iter=50), "numbers"),
    "histogram, two classes": (HistGradientBoostingClassifier(max_iter=30), "two"),
    "histogram, three classes": (HistGradientBoostingClassifier(max_iter=10), "three"),
}


def rounded(X):
    """Numbers that float32 holds, and so are the thresholds between them.

    shap rounds both to it where it works with a background.
    """
    return np.round(64 * X) / 64


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    """A model and rows."""
    model, kind = MODELS[request.param]
    X, y = table(500, 8)
    X = rounded(X)
    if kind == "several":
        y = several(y)
    if kind in ("two", "three"):
        y = labels(y, {"two": 2, "three": 3}[kind])
    return model.fit(X, y), X


def interventional(model, background, **options):
    """The explainer of shap, with a background of at most a hundred rows."""
    return shap.TreeExplainer(
        model, background, feature_perturbation="interventional", **options
    )


def of_outputs(values, inspector):
    """shap's values in our shape: of two classes the second."""
    values = np.asarray(values)
    two = len(inspector.output_names_) == 1 and values.ndim == 3
    return values[..., 1] if two else values


def assert_close(found, expected, explanation, tolerance):
    spread = np.ptp(explanation.predictions)
    assert_allclose(found, expected, rtol=0, atol=tolerance * spread)


def test_path_dependent(fitted):
    model, X = fitted
    inspector = inspected(model, X, perturbation="path_dependent")
    explanation = inspector.explain(X[:100])
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    expected = of_outputs(explainer.shap_values(X[:100]), inspector)
    assert_close(explanation.values, expected, explanation, 1e-8)


def test_interventional(fitted):
    model, X = fitted
    inspector = inspected(model, X[100:150])
    explanation = inspector.explain(X[:50])
    explainer = interventional(model, X[100:150])
    expected = of_outputs(explainer.shap_values(X[:50]), inspector)
    assert_close(explanation.values, expected, explanation, 1e-6)


@pytest.mark.parametrize("name", ["tree", "forest", "boosting"])
def test_path_dependent_interactions(name):
    model, _ = MODELS[name]
    X, y = table(500, 8)
    X = rounded(X)
    inspector = inspected(model.fit(X, y), X, perturbation="path_dependent")
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    expected = explainer.shap_interaction_values(X[:20])
    found = inspector.interaction_values(X[:20])
    # The library itself adds up in single precision here.
    assert_close(found, expected, inspector.explain(X[:20]), 1e-6)


@pytest.mark.parametrize(
    "kind", [GradientBoostingClassifier, HistGradientBoostingClassifier]
)
def test_probabilities_of_boosting(kind):
    """shap rescales pair by pair too, for the models of which it knows the margin."""
    X, y = table(300, 6)
    X = rounded(X)
    model = kind(random_state=0).fit(X, labels(y, 2))
    background = X[100:120]
    inspector = inspected(model, background, response_method="predict_proba")
    explanation = inspector.explain(X[:30])
    explainer = interventional(model, background, model_output="probability")
    expected = explainer.shap_values(X[:30])
    assert_close(explanation.values, expected, explanation, 1e-6)


def test_isolation_forest():
    X, _ = table(300, 5)
    X = rounded(X)
    model = IsolationForest(n_estimators=20, **SEED).fit(X)
    inspector = inspected(model, X, perturbation="path_dependent")
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    explanation = inspector.explain(X[:40])
    assert_close(explanation.values, explainer.shap_values(X[:40]), explanation, 1e-8)


# Where shap is wrong


def test_an_explanation_becomes_one_of_shap(fitted):
    model, X = fitted
    explanation = inspected(model, X[:20]).explain(X[:7])
    theirs = explanation.to_shap()
    assert_array_equal(theirs.values, explanation.values)
    assert_array_equal(theirs.data, X[:7])

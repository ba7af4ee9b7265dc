"""LinearSHAP against shap's explainer of linear models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_interpret.shapley import LinearSHAP

shap = pytest.importorskip("shap", minversion="0.51")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)) @ RNG.normal(size=(4, 4))
Y = X @ [1.0, -2, 0.5, 0.0] + RNG.normal(size=300)
MODELS = {
    "numbers": Ridge().fit(X, Y),
    "two classes": LogisticRegression().fit(X, Y > 0),
    "three classes": LogisticRegression().fit(X, np.digitize(Y, [-1, 1])),
}


@pytest.mark.parametrize("name", MODELS)
def test_interventional_values(name):
    model = MODELS[name]
    masker = shap.maskers.Independent(X, max_samples=len(X))
    theirs = shap.LinearExplainer(model, masker)(X[:20])
    ours = LinearSHAP(FrozenEstimator(model)).fit(X).explain(X[:20])
    assert_allclose(ours.values, theirs.values, atol=1e-10)
    assert_allclose(ours.base_values, theirs.base_values, atol=1e-10)

"""Mean absolute Shapley values of rows in partitions: those of the rows in memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret.shapley import KernelSHAP, LinearSHAP, TreeSHAP
from tests.partitions import in_batches

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(500, 4)) + [0, 100, 0, 5], columns=list("abcd"))
X["d"] = 7.0  # constant
Y = X["a"] * X["c"]
WEIGHTS = RNG.integers(0, 3, len(X)) / 7
CLASSES = np.digitize(X["a"], [-1, 1])
BY_COVER = {"perturbation": "path_dependent"}

INSPECTORS = {
    "trees": TreeSHAP(
        FrozenEstimator(GradientBoostingRegressor(n_estimators=5).fit(X, Y)), **BY_COVER
    ),
    "background": TreeSHAP(
        FrozenEstimator(RandomForestClassifier(3, max_depth=3).fit(X, CLASSES)),
        background=X[:20],
    ),
    "line": LinearSHAP(FrozenEstimator(LinearRegression().fit(X, Y))),
    "correlation": LinearSHAP(
        FrozenEstimator(LogisticRegression().fit(X[["a", "c", "d"]], CLASSES)),
        perturbation="correlation",
        random_state=0,
    ),
}


@pytest.mark.parametrize("n_partitions", [1, 7, 64])
@pytest.mark.parametrize("name", INSPECTORS)
def test_partitions_give_the_importances_of_all_rows(name, n_partitions):
    inspector = INSPECTORS[name]
    rows = X[["a", "c", "d"]] if name == "correlation" else X
    inspector.fit(rows, sample_weight=WEIGHTS)
    base, expected = inspector.base_values_, inspector.feature_importances_
    inspector.fit(in_batches(rows, None, WEIGHTS, n_partitions))
    assert_allclose(inspector.base_values_, base, rtol=1e-12, atol=1e-13)
    size = np.abs(expected).max()
    assert_allclose(inspector.feature_importances_, expected, rtol=0, atol=1e-12 * size)


def test_other_backgrounds_are_in_memory():
    batches = in_batches(X, None, None, 2)
    inspector = TreeSHAP(INSPECTORS["trees"].estimator)
    with pytest.raises(ValueError, match=r"partitions.*background.*path_dependent"):
        inspector.fit(batches)
    with pytest.raises(TypeError, match="KernelSHAP needs all rows in memory"):
        KernelSHAP(INSPECTORS["line"].estimator).fit(batches)

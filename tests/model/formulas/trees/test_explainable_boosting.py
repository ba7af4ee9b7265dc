"""Explainable boosting machines of interpret, read as trees."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.shapley import ShapleyValues, TreeSHAP
from tests.model.formulas.trees.agreement import assert_same_outputs, telling_inputs

glassbox = pytest.importorskip("interpret.glassbox")
# Its figures do not show all that it fits.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:interpret")
FEW = {"outer_bags": 1, "max_rounds": 30, "n_jobs": 1, "random_state": 0}


def mixed_table():
    """Numbers, a missing one, and categories as texts, numbers and flags."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.loc[3, "bmi"] = np.nan
    X["text"] = np.where(X.age > 0, "a", np.where(X.bmi > 0, "b", "c"))
    X["number"] = pd.Categorical(np.arange(len(X)) % 4)
    X["flag"] = X.bp > 0
    return X, y


@pytest.mark.parametrize(
    ("model", "load"),
    [
        (glassbox.ExplainableBoostingRegressor(**FEW, interactions=3), load_diabetes),
        (
            glassbox.ExplainableBoostingRegressor(
                **FEW, interactions=[(0, 1, 2), (3, 4)], objective="poisson_deviance"
            ),
            load_diabetes,
        ),
        (
            glassbox.ExplainableBoostingClassifier(**FEW, interactions=2),
            load_breast_cancer,
        ),
        (glassbox.ExplainableBoostingClassifier(**FEW), load_iris),
    ],
    ids=["numbers", "counts", "binary", "multi"],
)
def test_scores_are_the_models(model, load):
    X, y = load(return_X_y=True)
    model.fit(X, y)
    trees = read_trees(model)
    assert_same_outputs(trees, model, telling_inputs(trees, X, missing=True))


def test_categories_and_missing_values():
    X, y = mixed_table()
    model = glassbox.ExplainableBoostingRegressor(**FEW, interactions=3).fit(X, y)
    rows = X.copy()
    rows.loc[5, "text"] = "unseen"
    rows.loc[6, "text"] = None
    assert_allclose(read_trees(model).raw(rows)[:, 0], model.predict(rows), rtol=1e-12)


def test_values_and_effects():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = glassbox.ExplainableBoostingRegressor(**FEW, interactions=2).fit(X, y)
    background, rows = X[:40], X[:5]
    inspectors = [kind(FrozenEstimator(model)) for kind in (TreeSHAP, ShapleyValues)]
    inspectors[0].set_params(perturbation="interventional")
    of_trees, exact = (i.fit(background).explain(rows).values for i in inspectors)
    assert_allclose(of_trees, exact, atol=1e-9)
    curves = [
        PartialDependence(FrozenEstimator(model), features=["bmi"], method=method)
        .fit(X)
        .average_[0]
        for method in ("tree", "brute")
    ]
    assert_allclose(*curves, rtol=1e-10)

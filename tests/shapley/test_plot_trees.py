"""Displays of models of trees, explained by TreeSHAP."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.shapley import (
    ShapleyDependenceDisplay,
    ShapleyForceDisplay,
    ShapleyImportanceDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
    TreeSHAP,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    return X, X["a"] * (X["b"] > 0) + X["c"]


def test_a_predictor_is_explained_exactly(table):
    X, y = table
    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    values = TreeSHAP(FrozenEstimator(model)).fit(X).explain(X).values
    display = ShapleyImportanceDisplay.from_estimator(model, X)
    assert_allclose(display.importances, np.abs(values).mean(axis=0))
    frame = ShapleySummaryDisplay.from_estimator(model, X).to_frame()
    wide = frame.pivot(index="row", columns="feature", values="shapley_value")
    assert_allclose(wide[list("abcd")], values)
    frame = ShapleyForceDisplay.from_estimator(model, X).to_frame()
    assert_allclose(
        frame.drop_duplicates("row").sort_values("row")["prediction"], model.predict(X)
    )


def test_path_dependent_values_need_no_background(table):
    X, y = table
    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    inspector = TreeSHAP(FrozenEstimator(model), perturbation="path_dependent")
    display = ShapleyWaterfallDisplay.from_estimator(inspector.fit(X), X[:1])
    assert display.to_frame()["end"].iloc[0] == pytest.approx(model.predict(X[:1])[0])


def test_groups_are_players(table):
    X, y = table
    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    groups = {"ab": ["a", "b"]}
    display = ShapleySummaryDisplay.from_estimator(model, X, feature_groups=groups)
    names = {text.get_text() for text in display.ax_.get_yticklabels()}
    assert names == {"ab", "c", "d"}
    display = ShapleyDependenceDisplay.from_estimator(
        model, X, feature="ab", along="a", color_by="c", feature_groups=groups
    )
    assert display.ax_.get_ylabel() == "Prediction\n(Shapley value of ab)"


def test_interaction_values_name_the_partner(table):
    X, y = table
    model = RandomForestRegressor(20, max_depth=5, random_state=0).fit(X, y)
    inspector = TreeSHAP(FrozenEstimator(model)).fit(X)
    display = ShapleyDependenceDisplay.from_estimator(
        inspector, X, feature="b", interaction_values=inspector.interaction_values(X)
    )
    assert display.color_feature_ == "a"


def test_a_model_that_an_algorithm_cannot_read_is_named(table):
    X, y = table
    model = LinearRegression().fit(X, y)
    with pytest.raises(UnreadableModelError, match="LinearRegression"):
        ShapleySummaryDisplay.from_estimator(model, X, algorithm="tree")
    display = ShapleySummaryDisplay.from_estimator(model, X)
    names = {text.get_text() for text in display.ax_.get_yticklabels()}
    assert names == set(X.columns)

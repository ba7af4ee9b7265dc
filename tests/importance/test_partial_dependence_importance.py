"""Importance by the spread of the partial dependence."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.importance import PartialDependenceImportance
from tests.importance.quick import linear_table, mixed_frame

X, Y = linear_table()


def test_linear_models_in_closed_form():
    """Along an even grid a line's deviation is its slope times that of the grid."""
    model = LinearRegression().fit(X, Y)
    importance = PartialDependenceImportance(FrozenEstimator(model), grid_resolution=7)
    importance.fit(X)
    low, high = np.quantile(X, [0.05, 0.95], axis=0, method="inverted_cdf")
    grid = np.linspace(low, high, 7)
    expected = np.abs(model.coef_) * grid.std(axis=0, ddof=1)
    assert_allclose(importance.feature_importances_, expected)
    assert_allclose(importance.importances_[:, 0], expected)
    assert not importance.importances_std_.any()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_categories_have_a_quarter_of_their_range(kind):
    X, y = mixed_frame()
    frame = X if kind == "pandas" else pl.from_pandas(X)
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LinearRegression()).fit(frame, y)
    importance = PartialDependenceImportance(FrozenEstimator(model)).fit(frame)
    effect = PartialDependence(FrozenEstimator(model)).fit(frame)
    size, colour, _ = effect.average_
    assert_allclose(
        importance.feature_importances_[:2], [size.std(ddof=1), np.ptp(colour) / 4]
    )
    assert importance.feature_importances_[1] == pytest.approx(0.5)
    assert_array_equal(importance.effect_.average_[1], colour)


def test_outputs_are_averaged():
    model = LogisticRegression().fit(X, np.digitize(Y, [-1, 1]))
    each = [
        PartialDependenceImportance(FrozenEstimator(model), target=label).fit(X)
        for label in model.classes_
    ]
    together = PartialDependenceImportance(FrozenEstimator(model)).fit(X)
    assert_allclose(
        together.feature_importances_,
        np.mean([one.feature_importances_ for one in each], axis=0),
    )


def test_groups_move_over_their_joint_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(80, 3)).astype(float)
    y = X[:, 0] + X[:, 2] + 0.1 * X[:, 1]
    model = FrozenEstimator(LinearRegression().fit(X, y))
    importance = PartialDependenceImportance(
        model, feature_groups={"g": [2, 0]}, threshold=0.2
    ).fit(X)
    assert importance.player_names_ == ["g", "x1"]
    assert_allclose(importance.importances_[:, 0], [4 / 4, 0.1])
    assert importance.get_support().tolist() == [True, False, True]
    several = PartialDependenceImportance(
        model, feature_groups={"g": [2, 0]}, grid_resolution=4
    )
    with pytest.raises(ValueError, match="'g' has 9 distinct joint values"):
        several.fit(X)


@pytest.mark.parametrize("linked", [False, True])
def test_trees_and_predictions_agree(linked):
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, Y)
    if linked:
        model = HistGradientBoostingClassifier(max_iter=5).fit(X, np.mean(Y) < Y)
    found = [
        PartialDependenceImportance(FrozenEstimator(model), method=method).fit(X)
        for method in ("tree", "brute", "auto")
    ]
    for one in found:
        assert_allclose(
            one.feature_importances_, found[0].feature_importances_, atol=1e-8
        )


def test_a_flat_feature_has_none_and_is_left_out():
    model = HistGradientBoostingRegressor(max_iter=3, max_depth=1).fit(X, X[:, 0])
    importance = PartialDependenceImportance(FrozenEstimator(model)).fit(X)
    assert importance.feature_importances_[0] > 0
    assert not importance.feature_importances_[1:].any()
    assert_array_equal(importance.transform(X), X[:, :1])


def test_rows_are_drawn_once():
    model = FrozenEstimator(LinearRegression().fit(X, Y))
    importance = PartialDependenceImportance(model, subsample=7, random_state=0).fit(X)
    again = PartialDependenceImportance(model, subsample=7, random_state=0).fit(X)
    full = PartialDependenceImportance(model).fit(X)
    assert_array_equal(importance.importances_, again.importances_)
    assert (importance.importances_ != full.importances_).any()
    assert len(importance.effect_.grid_values_[0]) == 7


@pytest.mark.parametrize(
    "parameters, message",
    [({"method": "recursion"}, "method"), ({"threshold": None}, "threshold")],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        PartialDependenceImportance(LinearRegression(), **parameters).fit(X, Y)

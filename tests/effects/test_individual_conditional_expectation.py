"""Individual curves: against scikit-learn, their definition, and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from sklearn_interpret.effects import PartialDependence
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.references import averages as reference
from tests.references.models import asker, frozen, rows_of

X, Y = numeric_table()
FRAME, FRAME_Y = mixed_frame()

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def test_the_definition():
    X, y = mixed_frame(n_rows=15)
    model = encoded(DecisionTreeRegressor(max_depth=4, random_state=0)).fit(X, y)
    effect = ICE(
        FrozenEstimator(model), features=["size", "colour"], grid_resolution=5
    ).fit(X)
    ask = asker(model, X)
    for j, grid, curves in zip(
        (0, 2), effect.grid_values_, effect.curves_, strict=True
    ):
        for row, curve in zip(rows_of(X), curves, strict=True):
            points = [(value,) for value in grid]
            expected = reference.individual_curve(ask, row, (j,), points)
            assert_allclose(curve, expected, **EXACT)


def test_the_average_is_the_partial_dependence():
    weights = np.random.default_rng(1).integers(0, 3, len(FRAME))
    model = FrozenEstimator(
        encoded(RandomForestRegressor(5, random_state=0)).fit(FRAME, FRAME_Y)
    )
    params = {"features": ["size", "rooms", ("size", "colour")], "grid_resolution": 7}
    curves = ICE(model, **params).fit(FRAME, None, weights)
    average = PartialDependence(model, **params).fit(FRAME, None, weights)
    for ours, theirs in zip(curves.average_, average.average_, strict=True):
        assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


# Centring and slopes


def saddle(a, b, c):
    return a**2 * b + c


def test_curves_centred_at_the_ends():
    X, _ = numeric_table(n_rows=20)
    params = {"features": [0, (0, 1)], "grid_resolution": 5}
    plain = ICE(frozen(saddle), **params).fit(X)
    start = ICE(frozen(saddle), center="start", **params).fit(X)
    end = ICE(frozen(saddle), center="end", **params)
    end.fit(X)
    curves, surfaces = plain.curves_
    assert_allclose(start.curves_[0], curves - curves[:, :1], **EXACT)
    assert_allclose(end.curves_[0], curves - curves[:, -1:], **EXACT)
    assert_allclose(start.curves_[1], surfaces - surfaces[:, :1, :1], **EXACT)
    assert_allclose(end.curves_[1], surfaces - surfaces[:, -1:, -1:], **EXACT)


@pytest.mark.parametrize("center", [0.123, {1: 0.123}])
def test_curves_centred_at_a_value_between_points(center):
    X, _ = numeric_table(n_rows=20)
    params = {"features": [1], "grid_resolution": 5}
    plain = ICE(frozen(saddle), **params).fit(X)
    centred = ICE(frozen(saddle), center=center, **params).fit(X)
    there = saddle(X[:, 0], 0.123, X[:, 2])
    assert_array_equal(centred.grid_values_[0], plain.grid_values_[0])
    assert_allclose(centred.curves_[0], plain.curves_[0] - there[:, None], **EXACT)


def test_curves_centred_at_a_level():
    model = FrozenEstimator(
        encoded(RandomForestRegressor(5, random_state=0)).fit(FRAME, FRAME_Y)
    )
    params = {"features": ["colour", "size"]}
    plain = ICE(model, **params).fit(FRAME)
    centred = ICE(model, center={"colour": "blue"}, **params).fit(FRAME)
    place = list(plain.grid_values_[0]).index("blue")
    assert_allclose(
        centred.curves_[0], plain.curves_[0] - plain.curves_[0][:, [place]], **EXACT
    )
    assert_array_equal(centred.curves_[1], plain.curves_[1])


def test_slopes_and_their_spread():
    X, _ = numeric_table(n_rows=30)
    weights = np.random.default_rng(4).integers(1, 4, len(X))
    grid = np.linspace(-1, 1, 9)
    effect = ICE(
        frozen(lambda a, b, c: a * b + c**2),
        features=[0, 2, (0, 1)],
        custom_values={0: grid, 2: grid},
        derivative=True,
        grid_resolution=4,
    ).fit(X, sample_weight=weights)
    slopes = effect.derivatives_[0]
    assert_allclose(slopes, np.broadcast_to(X[:, [1]], (30, 9)), **EXACT)
    expected = np.repeat(X[:, 1], weights).std()
    assert_allclose(effect.derivative_std_[0], expected, **EXACT)
    # Centred differences are exact for a parabola, one-sided ones at the ends are not.
    assert_allclose(
        effect.derivatives_[1][:, 1:-1], np.tile(2 * grid[1:-1], (30, 1)), **EXACT
    )
    assert_allclose(effect.derivative_std_[1], 0, atol=1e-12)
    assert effect.derivatives_[2] is None
    assert effect.derivative_std_[2] is None


def test_slopes_of_categories_are_none():
    effect = ICE(encoded(Ridge()), features=["colour", "size"], derivative=True).fit(
        FRAME, FRAME_Y
    )
    assert effect.derivatives_[0] is None
    assert effect.derivatives_[1].shape == effect.curves_[1].shape


def test_heterogeneity_by_hand():
    X, _ = numeric_table(n_rows=20)
    weights = np.random.default_rng(4).integers(1, 4, len(X))
    effect = ICE(frozen(saddle), features=[0, 1, 2, (0, 1)], grid_resolution=6).fit(
        X, sample_weight=weights
    )
    for curves, found in zip(effect.curves_, effect.heterogeneity_, strict=True):
        shapes = [curve - curve.mean() for curve in np.repeat(curves, weights, axis=0)]
        assert found == pytest.approx(np.sqrt(np.var(shapes, axis=0).mean()), abs=1e-12)
    assert effect.heterogeneity_[2] == pytest.approx(0, abs=1e-12)
    assert effect.heterogeneity_[0] > 0.1


def test_heterogeneity_of_several_outputs():
    model = LogisticRegression().fit(X, classes(Y, 3))
    effect = ICE(FrozenEstimator(model)).fit(X)
    assert effect.heterogeneity_.shape == (3, 3)
    assert effect.curves_[0].shape[:2] == (3, len(X))


def test_importance_is_the_mean_reach_of_a_curve():
    X, _ = numeric_table(n_rows=20)
    weights = np.random.default_rng(4).integers(1, 4, len(X))
    effect = ICE(frozen(saddle), features=[1, 2], grid_resolution=6).fit(
        X, sample_weight=weights
    )
    for j, curves in zip((1, 2), effect.curves_, strict=True):
        spreads = [curve.var() for curve in np.repeat(curves, weights, axis=0)]
        assert effect.feature_importances_[j] == pytest.approx(np.mean(spreads) ** 0.5)
    assert effect.feature_importances_[0] == 0


# New rows, weights, invariances


def test_transform_gives_the_curves_of_new_rows():
    fresh, _ = numeric_table(seed=9, n_rows=11)
    model = FrozenEstimator(LogisticRegression().fit(X, classes(Y, 3)))
    params = {"features": [0, 2], "grid_resolution": 4, "center": "start"}
    effect = ICE(model, **params).fit(X)
    again = ICE(
        model,
        **params,
        custom_values=dict(zip((0, 2), effect.grid_values_, strict=True)),
    ).fit(fresh)
    found = effect.transform(fresh).reshape(11, 2, 4, 3)
    for place, curves in enumerate(again.curves_):
        assert_array_equal(found[:, place], np.moveaxis(curves, 0, -1))
    assert_array_equal(effect.transform(fresh[3:4]), effect.transform(fresh)[3:4])
    names = effect.get_feature_names_out()
    assert len(names) == effect.transform(fresh).shape[1]
    assert len(set(names)) == len(names)


def test_each_row_is_sent_once_per_point():
    X, _ = numeric_table(n_rows=30)
    model = frozen(saddle)
    ICE(model, grid_resolution=10).fit(X)
    assert sum(model.estimator.sizes_) == 3 * 30 * 10
    assert len(model.estimator.sizes_) == 3
    model = frozen(saddle)
    ICE(model, features=[0], grid_resolution=10, center=0.05).fit(X)
    assert sum(model.estimator.sizes_) == 30 * 11


def test_at_most_ten_thousand_rows_get_a_curve_by_default():
    X = np.random.default_rng(0).normal(size=(10_005, 1))
    model = FrozenEstimator(Ridge().fit(X, X[:, 0]))
    params = {"grid_resolution": 2, "random_state": 0}
    effect = ICE(model, **params).fit(X)
    assert effect.curves_[0].shape == (10_000, 2)
    assert len(set(effect.sample_indices_.tolist())) == 10_000
    assert len(ICE(model, subsample=None, **params).fit(X).curves_[0]) == len(X)

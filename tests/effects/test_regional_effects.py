"""Regional effects: against the effects of each region's rows, and planted regions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    IndividualConditionalExpectation,
    PartialDependence,
    RegionalEffects,
)
from sklearn_interpret.exceptions import ConstantFeatureWarning
from tests.effects.data import encoded, mixed_frame, numeric_table
from tests.references.models import frozen

X, Y = numeric_table()
FRAME, FRAME_Y = mixed_frame(n_rows=200)


def planted(n_rows=400, seed=0):
    """A table of three columns, and a model whose slope has a sign in each region."""
    table = np.random.default_rng(seed).uniform(-1, 1, size=(n_rows, 3))

    def formula(a, b, c):
        return a * np.where(b > 0.25, 3.0, np.where(c > -0.3, -3.0, 0.0))

    return table, frozen(formula, table)


@pytest.fixture(scope="module")
def mixed_model():
    model = encoded(DecisionTreeRegressor(max_depth=6, random_state=0))
    return FrozenEstimator(model.fit(FRAME, FRAME_Y))


def gap_around(values, threshold):
    """The two values between which a threshold lies."""
    return values[values <= threshold].max(), values[values > threshold].min()


@pytest.mark.parametrize("effect", ["ice", "ale"])
def test_planted_thresholds_are_found(effect):
    table, model = planted()
    found = RegionalEffects(model, features=[0], effect=effect).fit(table)
    regions = found.regions_[0]
    assert [[c.feature for c in region.conditions] for region in regions] == [
        [1, 2],
        [1, 2],
        [1],
    ]
    low, high = gap_around(table[:, 1], 0.25)
    assert low <= regions[2].conditions[0].low < high
    low, high = gap_around(table[table[:, 1] <= 0.25, 2], -0.3)
    assert low <= regions[0].conditions[1].high < high
    assert_allclose(found.heterogeneity_[0, 2], 0.0, atol=1e-12)
    assert found.heterogeneity_[0, 0] > found.heterogeneity_[0, 1] > 0.1


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("effect", ["ice", "ale"])
def test_additive_models_have_one_region(effect, offset):
    model = frozen(lambda a, b, c: offset + np.sin(a) + b**2 + np.abs(c), X)
    found = RegionalEffects(model, effect=effect, min_gain=0.0).fit(X)
    assert [len(regions) for regions in found.regions_] == [1, 1, 1]
    assert str(found.regions_[0][0]) == "all rows"
    assert found.regions_[0][0].conditions == ()


def test_regions_hold_their_rows(mixed_model):
    found = RegionalEffects(mixed_model, min_gain=0.02).fit(FRAME)
    places = found.transform(FRAME)
    for entry, regions in enumerate(found.regions_):
        assert_array_equal(
            np.sort(np.concatenate([region.rows for region in regions])),
            np.arange(len(FRAME)),
        )
        for place, region in enumerate(regions):
            assert_array_equal(np.flatnonzero(region.holds(FRAME)), region.rows)
            assert_array_equal(np.flatnonzero(places[:, entry] == place), region.rows)
            assert region.n_rows == len(region.rows)


@pytest.mark.thorough
def test_curves_are_the_effects_of_each_region(mixed_model):
    found = RegionalEffects(mixed_model, min_gain=0.02).fit(FRAME)
    every = IndividualConditionalExpectation(mixed_model, grid_resolution=20).fit(FRAME)
    assert_allclose(found.heterogeneity_[:, 0], every.heterogeneity_)
    for entry, regions in enumerate(found.regions_):
        assert_allclose(found.average_[entry], every.average_[entry])
        assert_allclose(found.individual_[entry], every.curves_[entry])
        for curve, region in zip(found.curves_[entry], regions, strict=True):
            grid = {FRAME.columns[entry]: found.grid_values_[entry]}
            own = PartialDependence(
                mixed_model, features=[entry], custom_values=grid
            ).fit(FRAME.iloc[region.rows])
            assert_allclose(curve, own.average_[0])


def test_local_effects_of_each_region():
    table, model = planted()
    found = RegionalEffects(model, features=[0], effect="ale", grid_resolution=5)
    found.fit(table)
    for curve, region in zip(found.curves_[0], found.regions_[0], strict=True):
        own = AccumulatedLocalEffects(
            model, features=[0], custom_values={0: found.grid_values_[0]}
        ).fit(table[region.rows])
        assert_allclose(curve, own.effects_[0], atol=1e-12)
    assert found.individual_ is None


@pytest.mark.parametrize("effect", ["ice", "ale"])
@pytest.mark.parametrize("joint", [False, True])
def test_weights_are_repeated_rows(effect, joint):
    times = np.random.default_rng(0).integers(0, 3, len(X))
    model = FrozenEstimator(GradientBoostingRegressor(random_state=0).fit(X, Y))
    edges = {j: np.quantile(X[:, j], [0, 0.3, 0.6, 1.0]) for j in range(3)}
    settings = {"effect": effect, "joint": joint, "custom_values": edges}
    weighted = RegionalEffects(model, **settings).fit(X, None, times)
    repeated = RegionalEffects(model, **settings).fit(np.repeat(X, times, axis=0))
    assert_allclose(weighted.heterogeneity_, repeated.heterogeneity_)
    assert_array_equal(weighted.transform(X), repeated.transform(X))
    for ours, theirs in zip(weighted.curves_, repeated.curves_, strict=True):
        assert_allclose(ours, theirs, atol=1e-12)


def test_categories_split_and_are_split():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "x": rng.uniform(-1, 1, 300),
            "kind": rng.choice(["a", "b", "c", "d"], 300),
            "grade": pd.Categorical.from_codes(rng.integers(0, 3, 300), list("uvw")),
        }
    )

    def predict(estimator, rows):
        sign = np.where(np.isin(rows["kind"], ["a", "c"]), 1.0, -1.0)
        step = rows["grade"].cat.codes.to_numpy() * np.where(rows["x"] > 0, 2.0, 0.0)
        return sign * rows["x"].to_numpy() + step

    model = FrozenEstimator(DummyRegressor().fit(table, np.zeros(300)))
    settings = {"response_method": predict, "max_depth": 1}
    found = RegionalEffects(
        model, features=["x", "grade"], split_features=["x", "kind"], **settings
    ).fit(table)
    assert {str(region) for region in found.regions_[0]} == {
        "kind in {a, c}",
        "kind in {b, d}",
    }
    low, high = gap_around(table["x"].to_numpy(), 0.0)
    assert low <= found.regions_[1][0].conditions[0].high < high


def test_missing_values_are_a_part_of_their_own():
    table, _ = planted()
    table[::7, 1] = np.nan

    def predict(estimator, rows):
        slope = np.where(np.isnan(rows[:, 1]), 5.0, np.where(rows[:, 1] > 0.25, 1, -1))
        return slope * rows[:, 0]

    model = FrozenEstimator(DecisionTreeRegressor().fit(table, table[:, 0]))
    found = RegionalEffects(model, features=[0], response_method=predict).fit(table)
    texts = [str(region) for region in found.regions_[0]]
    assert texts[2] == "x1 is missing"
    assert_allclose(found.heterogeneity_[0, 1:], 0.0, atol=1e-12)
    assert_array_equal(found.transform(table)[::7], 2.0)
    unseen = np.array([[0.0, 0.0, np.nan]])
    assert found.transform(unseen)[0, 0] == 0.0


@pytest.mark.parametrize("effect", ["ice", "ale"])
@pytest.mark.parametrize("kind", ["number", "category"])
def test_columns_without_values(effect, kind):
    """They split nothing, and as features they have no curve."""
    frame = pd.DataFrame(planted()[0], columns=list("abc")).assign(d=np.nan)
    if kind == "category":
        frame["d"] = pd.Categorical([None] * len(frame), categories=["u", "v"])

    def predict(estimator, rows):
        return rows["a"].to_numpy() * np.where(rows["b"] > 0, 1.0, -1.0)

    model = FrozenEstimator(DummyRegressor().fit(frame, frame["a"]))
    with pytest.warns(ConstantFeatureWarning):
        found = RegionalEffects(
            model, effect=effect, response_method=predict, max_depth=1
        ).fit(frame)
    assert [len(regions) for regions in found.regions_] == [2, 2, 1, 1]
    assert found.transform(frame).min() == 0


def test_rows_in_no_region():
    table, model = planted()
    found = RegionalEffects(model, features=[0]).fit(table)
    assert found.transform([[0.0, np.nan, 0.0]])[0, 0] == -1.0


def test_joint_regions_lower_the_sum():
    table, model = planted()
    found = RegionalEffects(model, joint=True, max_depth=1).fit(table)
    assert found.transform(table).shape == (len(table), 1)
    assert list(found.get_feature_names_out()) == ["region"]
    assert [len(curves) for curves in found.curves_] == [2, 2, 2]
    before, after = (found.heterogeneity_**2).sum(axis=0)
    assert after < before
    assert "all features:" in found.to_text()
    assert "feature" not in found.to_frame()


def test_classes_share_their_regions():
    labels = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
    model = RandomForestClassifier(10, random_state=0).fit(X, labels)
    found = RegionalEffects(FrozenEstimator(model)).fit(X)
    for curves, regions in zip(found.curves_, found.regions_, strict=True):
        assert curves.shape == (3, len(regions), 20)
        assert_allclose(curves.sum(axis=0), 1.0)


def test_text_and_table():
    table, model = planted()
    found = RegionalEffects(model, features=[0]).fit(table)
    lines = found.to_text().splitlines()
    assert lines[0].startswith("x0: heterogeneity ")
    assert lines[1].startswith("  x1 <= 0.2")
    assert lines[2].startswith("    x2 <= -0.3")
    assert found.to_frame()["conditions"].tolist() == [
        str(region) for region in found.regions_[0]
    ]
    assert found.to_frame()["n_rows"].sum() == len(table)


def test_significance_leaves_noise_and_finds_regions():
    table, model = planted()
    settings = {"features": [0], "alpha": 0.05, "random_state": 0}
    assert len(RegionalEffects(model, **settings).fit(table).regions_[0]) == 3
    values = np.random.default_rng(0)

    def noisy(estimator, rows):
        return rows[:, 0] + values.normal(size=len(rows))

    found = RegionalEffects(model, response_method=noisy, **settings).fit(table)
    assert len(found.regions_[0]) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"features": [(0, 1)]}, "features has the entry"),
        ({"split_features": [(0, 1)]}, "split_features has the entry"),
        ({"split_features": ["x9"]}, "split_features"),
        ({"effect": "pdp"}, "effect"),
        ({"min_gain": -0.1}, "min_gain"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"alpha": 1.0}, "alpha"),
    ],
)
def test_bad_input(parameters, message):
    table, model = planted()
    with pytest.raises(ValueError, match=message):
        RegionalEffects(model, **parameters).fit(table)


@pytest.mark.parametrize("effect", ["ice", "ale"])
@pytest.mark.parametrize("n_rows", [2, 5])
def test_few_rows(effect, n_rows):
    table, model = planted()
    found = RegionalEffects(model, effect=effect).fit(table[:n_rows])
    assert found.transform(table[:n_rows]).shape == (n_rows, 3)


@pytest.mark.parametrize("effect", ["ice", "ale"])
def test_one_row_is_one_region(effect):
    table, model = planted()
    with pytest.warns(ConstantFeatureWarning):
        found = RegionalEffects(model, effect=effect).fit(table[:1])
    assert [len(regions) for regions in found.regions_] == [1, 1, 1]
    assert_array_equal(found.heterogeneity_, 0.0)

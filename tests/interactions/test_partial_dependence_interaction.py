"""Greenwell's interactions: from surfaces of partial dependence, by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import clone, config_context
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.exceptions import (
    ConstantFeatureWarning,
    CostlyInspectionWarning,
    UnreadableModelError,
)
from sklearn_interpret.interactions import PartialDependenceInteraction
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.references.memory import peak_memory
from tests.references.models import frozen

X, Y = numeric_table(40, 3)


def by_hand(surface):
    """Loops over one surface (n_points, n_points_2)."""
    first = np.std([np.std(row, ddof=1) for row in surface], ddof=1)
    second = np.std([np.std(column, ddof=1) for column in surface.T], ddof=1)
    return (first + second) / 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model", [SVR(), RandomForestRegressor(3, random_state=0)], ids=["any", "trees"]
)
def test_deviations_of_deviations_of_the_surface(model, weighted):
    weights = np.arange(1.0, 41) if weighted else None
    model = FrozenEstimator(model.fit(X, Y))
    grid = {"grid_resolution": 6, "percentiles": (0.1, 0.9)}
    found = PartialDependenceInteraction(model, **grid).fit(X, sample_weight=weights)
    assert found.pairs_ == [(0, 1), (0, 2), (1, 2)]
    surfaces = PartialDependence(model, features=found.pairs_, **grid)
    surfaces.fit(X, sample_weight=weights)
    expected = np.zeros((3, 3))
    for (j, k), surface in zip(found.pairs_, surfaces.average_, strict=True):
        expected[j, k] = expected[k, j] = by_hand(surface)
    assert_allclose(found.pairwise_, expected, rtol=1e-10)


def test_a_product_over_a_grid():
    """Along x0 x1 the deviation at v is |v| s, with s that of the grid; so s^2."""
    points = [0.0, 1.0, 2.0, 5.0]
    found = PartialDependenceInteraction(
        frozen(lambda a, b, c: a * b + c**2, X),
        custom_values=dict.fromkeys(range(3), points),
    ).fit(X)
    expected = np.zeros((3, 3))
    expected[0, 1] = expected[1, 0] = np.var(points, ddof=1)
    assert_allclose(found.pairwise_, expected, atol=1e-12)


def test_categories_groups_and_pairs():
    frame, y = mixed_frame()
    model = FrozenEstimator(encoded(SVR()).fit(frame, y))
    groups = {"where": ["town", "new"]}
    pairs = [("where", "colour"), ("size", "where")]
    found = PartialDependenceInteraction(
        model, pairs=pairs, feature_groups=groups, grid_resolution=8
    ).fit(frame)
    assert found.player_names_ == ["size", "rooms", "colour", "where"]
    assert found.pairs_ == [(3, 2), (0, 3)]
    surfaces = PartialDependence(
        model, features=pairs, feature_groups=groups, grid_resolution=8
    ).fit(frame)
    assert_allclose(found.pairwise_[3, 2], by_hand(surfaces.average_[0]))
    assert_allclose(found.pairwise_[3, 0], by_hand(surfaces.average_[1]))
    assert np.isnan(found.pairwise_[0, 1])


def test_several_outputs_lead():
    model = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(
        X, classes(Y, 3)
    )
    found = PartialDependenceInteraction(FrozenEstimator(model), grid_resolution=4)
    found.fit(X)
    brute = clone(found).set_params(method="brute").fit(X)
    assert_allclose(found.pairwise_, brute.pairwise_, atol=1e-12)
    assert found.pairwise_.shape == (3, 3, 3)
    assert found.output_names_ == ["low", "mid", "top"]
    one = PartialDependenceInteraction(
        FrozenEstimator(model), grid_resolution=4, target="mid"
    ).fit(X)
    assert_allclose(one.pairwise_, found.pairwise_[1], atol=1e-12)


def test_one_feature_has_no_partner():
    found = PartialDependenceInteraction(LinearRegression()).fit(X[:, :1], Y)
    assert found.pairwise_.tolist() == [[0]]
    assert found.output_names_ == [0]


@pytest.mark.parametrize(
    "params, message",
    [
        ({"pairs": [(0, 9)]}, "pairs has the position 9"),
        ({"pairs": [(0, 2)], "features": [0, 1]}, "pairs has 'x2'"),
        ({"custom_values": {0: [1, 1]}}, "custom_values"),
        ({"method": "recursion"}, "method"),
        ({"method": "tree"}, "SVR"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises((ValueError, UnreadableModelError), match=message):
        PartialDependenceInteraction(SVR(), **params).fit(X, Y)


def test_a_column_without_values_interacts_with_nothing():
    table = X.copy()
    table[:, 2] = np.nan
    found = PartialDependenceInteraction(frozen(lambda a, b, c: a * b, table))
    with pytest.warns(
        ConstantFeatureWarning, match="'x2' .*: it has no observed value"
    ):
        found.fit(table)
    assert found.pairwise_[0, 1] > 0
    assert_array_equal(found.pairwise_[2], 0)


def test_squares_that_overflow():
    model = frozen(lambda a, b, c: 1e160 * a * b, X)
    with pytest.raises(ValueError, match=r"beyond 1e\+75, .*scale the target"):
        PartialDependenceInteraction(model).fit(X)


def test_very_many_rows_are_warned_of_before_they_are_sent(monkeypatch):
    monkeypatch.setattr("sklearn_interpret._model.row_limit._MANY_ROWS", 2e7)

    class TooMany(Exception):
        pass

    def reluctant(a, *others):
        if len(a) > 300:
            raise TooMany
        return a

    table = np.random.default_rng(0).normal(size=(300, 20))
    found = PartialDependenceInteraction(frozen(reluctant, table))
    expected = "grid_resolution.*: up to 22800000 rows go to the model, 300 rows x"
    with pytest.warns(CostlyInspectionWarning, match=expected), pytest.raises(TooMany):
        found.fit(table)


@pytest.mark.thorough
def test_memory_for_surfaces_does_not_grow_with_the_pairs():
    table = np.random.default_rng(0).normal(size=(5, 12))
    model = frozen(lambda a, b, *others: a * b, table)
    points = np.linspace(-1, 1, 20)

    def fitted(n_features, memory):
        features = list(range(n_features))
        found = PartialDependenceInteraction(
            model, features=features, custom_values=dict.fromkeys(features, points)
        )
        with config_context(working_memory=memory):
            return found.fit(table)

    expected = fitted(4, 1024).pairwise_
    assert_allclose(fitted(4, 0.2).pairwise_, expected, atol=1e-12)
    small, large = (peak_memory(lambda p=p: fitted(p, 0.2)) for p in (4, 12))
    # All surfaces together take another 1.5 MB.
    assert large < small + 0.3 * 2**20

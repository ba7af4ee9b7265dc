"""The M-plot: means of the rows in each interval, by loops and in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_interpret.effects import ConditionalDependence
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.references import averages as reference
from tests.references.effects import interval_of
from tests.references.models import asker, frozen, rows_of

X, Y = numeric_table()

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def wave(a, b, c):
    return np.sin(3 * a) + a * b - c**2


@pytest.mark.parametrize("n_intervals", [1, 3, 10, 200])
def test_the_definition_on_numbers(n_intervals):
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = frozen(wave)
    effect = ConditionalDependence(model, n_intervals=n_intervals)
    effect.fit(X, sample_weight=weights)
    ask = asker(model, X)
    for j, edges in enumerate(effect.edges_):
        mean, weight = reference.conditional_means(ask, X.tolist(), j, edges, weights)
        assert_allclose(effect.average_[j], mean, **EXACT)
        assert_array_equal(effect.interval_counts_[j], weight)


def test_edges_are_inverted_cdf_quantiles_after_the_minimum():
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    effect = ConditionalDependence(frozen(wave), n_intervals=7)
    effect.fit(X, sample_weight=weights)
    for j, edges in enumerate(effect.edges_):
        repeated = np.repeat(X[:, j], weights)
        quantiles = np.quantile(repeated, np.arange(1, 8) / 7, method="inverted_cdf")
        assert_array_equal(edges, np.r_[repeated.min(), quantiles])


def test_few_values_stand_alone():
    X = np.array([[0.0], [0.0], [1.0], [5.0], [5.0], [5.0]])
    y = np.array([1.0, 3.0, 4.0, 0.0, 1.0, 2.0])
    effect = ConditionalDependence(frozen(lambda a: y), n_intervals=5).fit(X)
    assert_array_equal(effect.edges_[0], [0, 0, 1, 5])
    assert_array_equal(effect.centers_[0], [0, 1, 5])
    assert_array_equal(effect.average_[0], [2, 4, 1])
    assert_array_equal(effect.interval_counts_[0], [2, 1, 3])


def test_centres_errors_and_importances():
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    effect = ConditionalDependence(frozen(wave), n_intervals=5)
    effect.fit(X, sample_weight=weights)
    answers = wave(*X.T)
    for j, edges in enumerate(effect.edges_):
        cells = np.array([interval_of(value, edges) for value in X[:, j]])
        for k in range(len(edges) - 1):
            inside = cells == k
            times = weights[inside]
            centre = np.average(X[inside, j], weights=times)
            assert effect.centers_[j][k] == pytest.approx(centre)
            error = reference.standard_error(answers[inside], times)
            assert effect.standard_errors_[j][k] == pytest.approx(error)
        spread = np.repeat(effect.average_[j][cells], weights).std()
        assert effect.feature_importances_[j] == pytest.approx(spread)
        assert_array_equal(effect.transform(X)[:, j], effect.average_[j][cells])


def test_categories_and_groups_of_them():
    X, y = mixed_frame()
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    model = encoded(RandomForestRegressor(5, random_state=0)).fit(X, y)
    effect = ConditionalDependence(
        FrozenEstimator(model),
        features=["colour", "new", "place"],
        feature_groups={"place": ["town", "new"]},
    ).fit(X, sample_weight=weights)
    answers = model.predict(X)
    for levels, average, labels in zip(
        effect.edges_,
        effect.average_,
        (X["colour"], X["new"], list(zip(X["town"], X["new"], strict=True))),
        strict=True,
    ):
        for level, mean in zip(levels, average, strict=True):
            has = np.array([label == level for label in labels])
            assert mean == pytest.approx(np.average(answers[has], weights=weights[has]))


def test_pairs_with_empty_cells():
    X, y = mixed_frame()
    model = encoded(RandomForestRegressor(5, random_state=0)).fit(X, y)
    effect = ConditionalDependence(
        FrozenEstimator(model), features=[("size", "colour")], n_intervals=9
    ).fit(X)
    edges, levels = effect.edges_[0]
    answers = model.predict(X)
    found = np.full((len(edges) - 1, len(levels)), np.nan)
    counts = np.zeros_like(found)
    for a, b in np.ndindex(found.shape):
        inside = [
            interval_of(row[0], edges) == a and row[2] == levels[b]
            for row in rows_of(X)
        ]
        counts[a, b] = sum(inside)
        if any(inside):
            found[a, b] = answers[inside].mean()
    assert (counts == 0).any()
    assert_allclose(effect.average_[0], found, **EXACT)
    assert_array_equal(effect.interval_counts_[0], counts)
    assert_array_equal(np.isnan(effect.standard_errors_[0]), counts == 0)


def test_several_outputs_lead():
    model = LogisticRegression().fit(X, classes(Y, 3))
    effect = ConditionalDependence(FrozenEstimator(model), n_intervals=4).fit(X)
    assert effect.average_[0].shape == (3, 4)
    assert_allclose(effect.average_[0].sum(axis=0), 1)
    assert effect.transform(X).shape == (len(X), 9)
    one = ConditionalDependence(
        FrozenEstimator(model), n_intervals=4, target=model.classes_[2]
    ).fit(X)
    assert_array_equal(one.average_[1], effect.average_[1][2])


def test_rows_without_a_value_or_outside_are_counted():
    X, _ = numeric_table()
    X[:5, 0] = np.nan
    weights = np.arange(1.0, len(X) + 1)
    model = frozen(lambda a, b, c: b + c)
    effect = ConditionalDependence(
        model, features=[0, 1], custom_values={1: [-0.5, 0, 0.5]}
    ).fit(X, sample_weight=weights)
    outside = (X[:, 1] < -0.5) | (X[:, 1] > 0.5)
    assert_allclose(effect.n_missing_, [15, weights[outside].sum()])
    found = effect.transform(X)
    assert_array_equal(np.isnan(found[:, 0]), np.isnan(X[:, 0]))
    assert_array_equal(np.isnan(found[:, 1]), outside)


def test_rows_are_sent_once_for_all_features():
    X, _ = numeric_table(n_rows=70)
    model = frozen(wave)
    ConditionalDependence(model, features=[0, 1, 2, (0, 1)]).fit(X)
    assert model.estimator.sizes_ == [70]

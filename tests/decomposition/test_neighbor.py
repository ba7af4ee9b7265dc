"""Votes of nearest neighbours, counted by hand."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.decomposition import NeighborContributions
from sklearn_interpret.exceptions import UnreadableModelError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + X[:, 1] ** 2
LABELS = np.digitize(Y, [0.0, 1.0])
NEW = RNG.normal(size=(7, 3))


def decay(distances):
    return np.exp(-distances)


def votes_by_hand(row, k, weigh, p):
    """Share of each training row, from all distances in order."""
    distances = (np.abs(X - row) ** p).sum(axis=1) ** (1 / p)
    nearest = np.argsort(distances)[:k]
    weights = np.array([weigh(distances[i]) for i in nearest])
    shares = np.zeros(len(X))
    shares[nearest] = weights / weights.sum()
    return nearest, distances[nearest], shares


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(
    ("weights", "weigh"),
    [("uniform", lambda d: 1.0), ("distance", lambda d: 1 / d), (decay, decay)],
    ids=["uniform", "distance", "callable"],
)
def test_votes_and_distances(weights, weigh, p):
    model = KNeighborsRegressor(4, weights=weights, p=p)
    inspector = NeighborContributions(model).fit(X, Y)
    explanation = inspector.explain(NEW)
    for i, row in enumerate(NEW):
        nearest, distances, shares = votes_by_hand(row, 4, weigh, p)
        assert_array_equal(explanation.neighbors[i], nearest)
        assert_allclose(explanation.distances[i], distances)
        assert_allclose(explanation.values[i], shares)
        terms = np.abs(X[nearest] - row) ** p
        assert_allclose(explanation.feature_distances[i], terms)
    assert_allclose(explanation.values @ Y, explanation.predictions)
    assert_allclose(explanation.predictions, inspector.predict(NEW))
    part = explanation[2]
    assert_array_equal(part.neighbors, explanation.neighbors[2:3])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_shares_of_the_classes_are_the_probabilities(weights):
    inspector = NeighborContributions(KNeighborsClassifier(6, weights=weights))
    explanation = inspector.fit(X, LABELS).explain(NEW)
    shares = explanation.values @ (LABELS[:, None] == np.arange(3))
    assert_allclose(shares, inspector.predict_proba(NEW))
    assert_allclose(explanation.predictions, shares)
    assert_array_equal(explanation.training_targets, LABELS)


def test_a_training_row_outvotes_all_others_by_distance():
    model = KNeighborsRegressor(3, weights="distance")
    explanation = NeighborContributions(model).fit(X, Y).explain(X[:5])
    assert_allclose(explanation.values[:, :5], np.eye(5))
    assert_allclose(explanation.predictions, Y[:5])


def test_weights_of_a_minkowski_distance():
    w = np.array([1.0, 0.0, 4.0])
    model = KNeighborsRegressor(3, p=3, metric_params={"w": w})
    explanation = NeighborContributions(model).fit(X, Y).explain(NEW)
    sums = explanation.feature_distances.sum(axis=2)
    assert_allclose(sums, explanation.distances**3)
    assert not explanation.feature_distances[..., 1].any()


def test_a_distance_that_is_no_sum_has_no_terms():
    model = KNeighborsRegressor(3, metric="chebyshev")
    explanation = NeighborContributions(model).fit(X, Y).explain(NEW)
    assert explanation.feature_distances is None
    assert_allclose(explanation.values @ Y, explanation.predictions)


def test_distances_behind_the_steps_of_a_pipeline():
    from sklearn.compose import make_column_transformer

    frame = pd.DataFrame(X, columns=list("abc")).round(1)
    frame["kind"] = np.array(list("uvw"))[LABELS]
    steps = make_column_transformer(
        (StandardScaler(), ["a", "b", "c"]),
        (OneHotEncoder(sparse_output=False), ["kind"]),
    )
    inspector = NeighborContributions(make_pipeline(steps, KNeighborsRegressor(3)))
    explanation = inspector.fit(frame, Y).explain(frame[:6])
    terms = explanation.feature_distances
    assert_allclose(terms.sum(axis=2), explanation.distances**2, atol=1e-12)
    same = np.array(LABELS)[explanation.neighbors] == LABELS[:6, None]
    assert_allclose(terms[..., 3], np.where(same, 0.0, 2.0))
    assert explanation.feature_names == ("a", "b", "c", "kind")
    assert "share of the vote" in repr(explanation)


def test_a_frozen_model_takes_its_own_training_rows_only():
    model = KNeighborsRegressor(3).fit(X, Y)
    inspector = NeighborContributions(FrozenEstimator(model))
    assert inspector.fit(X).explain(NEW).training_targets is None
    for others in (X[:20], X[::-1] + 1):
        with pytest.raises(ValueError, match="trained on other rows"):
            inspector.fit(others)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LinearRegression(), "is none of KNeighborsClassifier"),
        (KNeighborsRegressor(3, metric="precomputed"), "columns are distances"),
    ],
    ids=["linear", "precomputed"],
)
def test_other_models_are_refused(model, reason):
    with pytest.raises(UnreadableModelError, match=reason):
        NeighborContributions(model).fit(np.abs(X @ X.T), Y)


def test_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight differs between rows"):
        NeighborContributions(KNeighborsRegressor()).fit(
            X, Y, sample_weight=np.arange(40)
        )


def test_weights_that_sum_to_zero_are_an_error():
    model = KNeighborsClassifier(3, weights=np.zeros_like)
    inspector = NeighborContributions(model)
    with pytest.raises(ValueError, match="zero weights"):
        inspector.fit(X, LABELS)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_boolean_columns_are_numbers(metric):
    flags = np.array([[0, 0], [1, 0], [1, 1]], dtype=bool)
    model = KNeighborsRegressor(2, metric=metric)
    found, expected = (
        NeighborContributions(model).fit(table, [1.0, 2.0, 4.0]).explain(table)
        for table in (flags, flags.astype(float))
    )
    assert_allclose(found.feature_distances, expected.feature_distances)

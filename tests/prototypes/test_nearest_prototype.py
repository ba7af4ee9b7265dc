"""Predictions by the nearest prototype, of selectors of both kinds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.prototypes import (
    KMedoids,
    MMDCritic,
    NearestPrototypeClassifier,
    NearestPrototypeRegressor,
)

X, Y = load_iris(return_X_y=True)
SPECIES = load_iris().target_names[Y]


class EveryTenth(TransformerMixin, BaseEstimator):
    """Every tenth row, and how alike others are: the larger, the nearer."""

    def fit(self, X, y=None):
        self.prototype_indices_ = np.arange(0, len(X), 10)
        self.rows_ = np.asarray(X)[::10]
        return self

    def transform(self, X):
        return np.exp(-pairwise_distances(np.asarray(X), self.rows_))


@pytest.mark.parametrize(
    "selector", [KMedoids(n_clusters=12, random_state=0), EveryTenth()]
)
def test_predicts_as_one_neighbour_among_the_prototypes(selector):
    model = NearestPrototypeClassifier(selector=selector).fit(X, SPECIES)
    chosen = model.prototype_indices_
    peer = KNeighborsClassifier(1).fit(X[chosen], SPECIES[chosen])
    new = X + np.random.default_rng(0).normal(0, 0.1, X.shape)
    assert_array_equal(model.predict(new), peer.predict(new))
    assert_array_equal(model.prototypes_, X[chosen])
    assert_array_equal(model.prototype_targets_, SPECIES[chosen])
    assert_array_equal(model.prototype_of(X[chosen]), np.arange(len(chosen)))
    assert_array_equal(model.predict_proba(new), peer.predict_proba(new))
    numbers = NearestPrototypeRegressor(selector=selector).fit(X, Y)
    peer = KNeighborsRegressor(1).fit(X[chosen], Y[chosen])
    assert_array_equal(numbers.predict(new), peer.predict(new))


def test_without_a_selector_each_class_gets_prototypes():
    model = NearestPrototypeClassifier().fit(X, SPECIES)
    chosen, counts = np.unique(model.prototype_targets_, return_counts=True)
    assert chosen.tolist() == sorted(set(SPECIES))
    assert counts.tolist() == [10, 10, 10]
    assert model.score(X, SPECIES) > 0.9
    critic = MMDCritic(n_criticisms=0).fit(X)
    numbers = NearestPrototypeRegressor().fit(X, Y)
    assert_array_equal(numbers.prototype_indices_, critic.prototype_indices_)


def test_a_class_without_a_prototype_is_never_predicted():
    model = NearestPrototypeClassifier(selector=KMedoids(n_clusters=1)).fit(X, SPECIES)
    assert model.classes_.tolist() == sorted(set(SPECIES))
    assert len(set(model.predict(X))) == 1
    assert model.predict_proba(X).sum() == len(X)


def test_frames_with_categories():
    names = [f"flower {i}" for i in range(150)]
    frame = pd.DataFrame({"kind": SPECIES, "length": X[:, 0]}, index=names)
    selector = KMedoids(n_clusters=6, metric="gower", random_state=0)
    model = NearestPrototypeClassifier(selector=selector).fit(frame, SPECIES)
    assert model.score(frame, SPECIES) == 1
    pd.testing.assert_frame_equal(
        model.prototypes_, frame.iloc[model.prototype_indices_]
    )


def test_sparse_rows_and_precomputed_distances():
    one = NearestPrototypeClassifier(selector=KMedoids(random_state=0)).fit(X, Y)
    other = clone(one).fit(sparse.csr_array(X), Y)
    assert_array_equal(other.predict(sparse.csr_array(X)), one.predict(X))
    selector = KMedoids(metric="precomputed", random_state=0)
    distances = pairwise_distances(X)
    given = NearestPrototypeClassifier(selector=selector).fit(distances, Y)
    assert_array_equal(given.predict(distances), one.predict(X))
    # Both axes of a matrix of distances are cut.
    assert cross_val_score(given, distances, Y, cv=3).min() > 0.5


def test_weights_go_to_the_selector():
    weights = np.where(np.arange(150) % 2, 1.0, 0.0)
    model = NearestPrototypeClassifier().fit(X, Y, sample_weight=weights)
    assert (model.prototype_indices_ % 2 == 1).all()
    with pytest.raises(TypeError, match="sample_weight"):
        NearestPrototypeClassifier(selector=EveryTenth()).fit(X, Y, weights)


def test_within_a_pipeline_and_a_grid_search():
    model = NearestPrototypeClassifier(selector=KMedoids(random_state=0))
    grid = {"nearestprototypeclassifier__selector__n_clusters": [1, 9]}
    search = GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=3)
    assert list(search.fit(X, Y).best_params_.values()) == [9]
    assert model.selector.n_clusters == 8


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (NearestPrototypeClassifier(), None, "requires y"),
        (NearestPrototypeClassifier(), X[:, 0], "Unknown label type"),
        (NearestPrototypeClassifier(), Y[:9], "inconsistent numbers of samples"),
        (NearestPrototypeRegressor(), np.full(150, np.nan), "Input y contains NaN"),
        (NearestPrototypeRegressor(), SPECIES, "could not convert string"),
        (NearestPrototypeRegressor(selector=3), Y, "selector"),
        (NearestPrototypeRegressor(selector=KMedoids(n_clusters=999)), Y, "=999"),
    ],
)
def test_bad_input(model, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize(
    "model_class", [NearestPrototypeClassifier, NearestPrototypeRegressor]
)
def test_the_selector_may_be_positional(model_class):
    selector = MMDCritic(n_prototypes=5, random_state=0)
    assert model_class(selector).fit(X, Y).selector_.n_prototypes == 5

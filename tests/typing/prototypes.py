"""Types of prototypes, as users see them."""

from typing import assert_type

import numpy as np
from matplotlib.collections import PathCollection
from numpy.typing import NDArray
from pandas import DataFrame

from sklearn_interpret.prototypes import (
    KMedoids,
    MMDCritic,
    NearestPrototypeClassifier,
    NearestPrototypeRegressor,
    PrototypeDisplay,
)

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


def medoids(X: Floats) -> None:
    clusters = KMedoids(n_clusters=3, metric="gower").fit(X)
    assert_type(clusters, KMedoids)
    assert_type(clusters.prototype_indices_, Positions)
    assert_type(clusters.labels_, Positions)
    assert_type(clusters.inertia_, float)
    assert_type(clusters.n_iter_, int)
    assert_type(clusters.transform(X), Floats)
    assert_type(clusters.predict(X), Positions)
    assert_type(clusters.fit_predict(X), Positions)


def critic(X: Floats) -> None:
    critic = MMDCritic(n_prototypes=5, gamma=0.5).fit(X)
    assert_type(critic, MMDCritic)
    assert_type(critic.prototype_indices_, Positions)
    assert_type(critic.criticism_indices_, Positions)
    assert_type(critic.mmd_, Floats)
    assert_type(critic.gamma_, float | None)
    assert_type(critic.transform(X), Floats)
    assert_type(critic.predict(X), Positions)
    assert_type(critic.witness(X), Floats)
    display = PrototypeDisplay.from_estimator(critic, X, image_shape=(8, 8))
    assert_type(display, PrototypeDisplay)
    assert_type(display.plot(kind="map"), PrototypeDisplay)
    assert_type(display.points_, list[PathCollection])
    assert_type(display.to_frame(), DataFrame)


def nearest(X: Floats, y: Floats, labels: list[str]) -> None:
    classifier = NearestPrototypeClassifier(KMedoids()).fit(X, labels)
    assert_type(classifier, NearestPrototypeClassifier)
    assert_type(classifier.prototype_indices_, Positions)
    assert_type(classifier.prototype_of(X), Positions)
    assert_type(classifier.predict_proba(X), Floats)
    assert_type(classifier.score(X, labels), float)
    regressor = NearestPrototypeRegressor().fit(X, y)
    assert_type(regressor, NearestPrototypeRegressor)
    assert_type(regressor.prototype_targets_, Floats)
    assert_type(regressor.score(X, y), float)

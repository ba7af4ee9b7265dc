"""What a fitted inspector pickles: no rows of `fit` that it does not need."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline

from sklearn_interpret import (
    decomposition,
    effects,
    importance,
    interactions,
    shapley,
    surrogates,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4000, 6))
Y = X[:, 0] + X[:, 1] * X[:, 2]
LINE = FrozenEstimator(LinearRegression().fit(X, Y))
FOREST = FrozenEstimator(
    RandomForestRegressor(2, max_depth=3, random_state=0).fit(X, Y)
)
BAYES = FrozenEstimator(GaussianNB().fit(X, Y > 0))
BY_COVER = {"perturbation": "path_dependent"}

WITHOUT_ROWS = [
    decomposition.NaiveBayesContributions(BAYES),
    decomposition.TreePathContributions(FOREST),
    effects.AccumulatedLocalEffects(LINE, n_intervals=5),
    effects.ConditionalDependence(LINE, n_intervals=5),
    effects.PartialDependence(LINE, grid_resolution=5),
    importance.PermutationImportance(LINE, n_repeats=1, random_state=0),
    interactions.FunctionalDecomposition(FOREST, max_order=1, **BY_COVER),
    interactions.HStatistic(LINE, subsample=50, random_state=0),
    shapley.BreakDown(LINE, subsample=50, random_state=0),
    shapley.KernelSHAP(LINE, background=X[:50]),
    shapley.LinearSHAP(LINE),
    shapley.LinearSHAP(LINE, perturbation="correlation"),
    shapley.TreeSHAP(FOREST, **BY_COVER),
    shapley.TreeSHAP(FOREST, background=X[:50]),
]
# Importances are computed on first access.
LAZY = [
    inspector
    for inspector in WITHOUT_ROWS
    if isinstance(inspector, decomposition.TreePathContributions)
    or "background" in inspector.get_params(deep=False)
]


@pytest.mark.parametrize("inspector", WITHOUT_ROWS, ids=lambda i: type(i).__name__)
def test_a_pickle_does_not_grow_with_the_rows(inspector):
    few, many = (len(pickle.dumps(inspector.fit(X[:n], Y[:n]))) for n in (500, 4000))
    assert many < few + 1000


@pytest.mark.parametrize("inspector", LAZY, ids=lambda i: type(i).__name__)
def test_importances_are_read_before_pickling(inspector):
    inspector.fit(X[:200])
    unread = pickle.loads(pickle.dumps(inspector))
    assert not hasattr(unread, "feature_importances_")
    with pytest.raises(AttributeError, match="before pickling"):
        unread.feature_importances_  # noqa: B018
    expected = inspector.feature_importances_
    read = pickle.loads(pickle.dumps(inspector))
    np.testing.assert_array_equal(read.feature_importances_, expected)


def test_a_pickle_does_not_grow_with_the_texts():
    texts = ["some words", "other words", "more of them"] * 500
    model = make_pipeline(CountVectorizer(), BernoulliNB())
    model.fit(texts, [0, 1, 0] * 500)
    lime = surrogates.LimeText(FrozenEstimator(model), n_samples=8, random_state=0)
    few, many = (len(pickle.dumps(lime.fit(texts[:n]))) for n in (30, 1500))
    assert many < few + 1000

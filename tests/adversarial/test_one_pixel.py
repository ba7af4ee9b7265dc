"""Attack by few features: brute force, images, tables, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.adversarial import OnePixelAttack

X, Y = load_iris(return_X_y=True)


class Labels(ClassifierMixin, BaseEstimator):
    """A classifier that has nothing but `predict`: whether two places are bright."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return (np.asarray(X)[:, :3].sum(axis=1) > 2.5).astype(int)


def flipped_by_one(model, row, columns, ends):
    """Whether an end of the bounds of any single feature changes the answer."""
    answers = []
    for column in columns:
        for end in ends:
            trial = row.copy()
            trial[column] = end[column]
            answers.append(model.predict(trial[None])[0])
    return (answers != model.predict(row[None])).any()


def test_one_feature_of_a_linear_model_as_brute_force():
    model = LogisticRegression(max_iter=999).fit(X, Y)
    attack = OnePixelAttack(
        FrozenEstimator(model), features_to_vary=[0, 3], random_state=0
    ).fit(X)
    rows, low, high = X[::3], X.min(axis=0), X.max(axis=0)
    found = attack.explain(rows)
    expected = [flipped_by_one(model, row, [0, 3], [low, high]) for row in rows]
    assert 0 < np.mean(expected) < 1
    assert_array_equal(found.valid, expected)
    assert_array_equal(found.valid, model.predict(found.rows) != model.predict(rows))
    assert_array_equal(found.n_changed[found.valid], 1)
    assert_array_equal(found.distances, found.n_changed)
    assert ((found.rows >= low) & (found.rows <= high)).all()


def best_margin(model, row, n_pixels, low, high):
    """The largest margin of a linear model with two classes that pixels allow."""
    slopes = -np.sign(model.decision_function(row[None])) * model.coef_[0]
    gains = np.where(slopes > 0, slopes * (high - row), slopes * (low - row))
    most = np.sort(gains)[-n_pixels:].sum()
    return most - np.abs(model.decision_function(row[None])[0])


def test_some_pixels_of_a_linear_model():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(60, 9))
    model = LogisticRegression().fit(rows, (rows - 0.5) @ rng.normal(size=9) > 0)
    attack = OnePixelAttack(
        FrozenEstimator(model), n_pixels=3, image_shape=(3, 3), random_state=0
    ).fit(rows)
    found = attack.explain(rows)
    possible = [best_margin(model, row, 3, rows.min(0), rows.max(0)) for row in rows]
    possible = np.array(possible) > 0
    assert not found.valid[~possible].any()
    assert found.valid.sum() >= 0.9 * possible.sum() > 0
    assert found.n_changed.max() <= 3


@pytest.mark.parametrize("shape", [(2, 3, 3), (3, 2, 3)])
def test_a_pixel_is_all_channels_of_a_place(shape):
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 0.4, size=(20, 18))
    attack = OnePixelAttack(
        Labels(), image_shape=shape, bounds=(0, 1), random_state=0
    ).fit(rows, np.arange(20) % 2)
    found = attack.explain(rows)
    assert found.valid.all()
    assert_array_equal(found.distances, 1)
    assert_array_equal(
        found.changed, np.repeat([[True, False]], [3, 15], axis=1)[[0] * 20]
    )
    apart = OnePixelAttack(Labels(), bounds=(0, 1), random_state=0)
    assert not apart.fit(rows, np.arange(20) % 2).explain(rows).valid.any()


def test_all_rows_are_asked_about_together():
    asked = []

    class Counting(FrozenEstimator):
        def decision_function(self, X):
            asked.append(len(X))
            return self.estimator.decision_function(X)

    model = Counting(LogisticRegression(max_iter=999).fit(X, Y))
    attack = OnePixelAttack(
        model,
        population_size=8,
        n_generations=5,
        features_to_vary=[0, 1],
        random_state=0,
    ).fit(X)
    asked.clear()
    found = attack.explain(X)
    assert asked[0] == 8 * len(X)
    # Margins and responses of the explanation are asked for too.
    assert len(asked) <= 5 + 1 + 4
    assert (~found.valid).any()
    assert found.reasons[~found.valid][0].startswith("no row that reaches the target")


def test_the_curve_is_one_of_numbers_of_pixels():
    attack = OnePixelAttack(SVC(), n_generations=10, random_state=0).fit(X, Y)
    curve = attack.robustness_curve(X, Y, sizes=[0, 1, 2, 4.0])
    assert curve[0] == attack.score(X, Y)
    assert curve[1] == attack.robust_score(X, Y)
    assert (np.diff(curve) <= 0).all()
    assert curve[-1] == 0


def test_a_class_an_interval_and_open_bounds():
    tree = DecisionTreeClassifier(random_state=0)
    attack = OnePixelAttack(
        tree, target=2, n_pixels=2, bounds=(0, np.inf), random_state=0
    )
    found = attack.fit(X, Y).explain(X)
    assert (attack.predict(found.rows)[found.valid] == 2).all()
    assert found.valid.all()
    assert (found.rows >= 0).all()
    assert (found.rows <= X.max(axis=0)).all()
    attack = OnePixelAttack(LinearRegression(), desired=(1.5, None), random_state=0)
    found = attack.fit(X[:, :3], X[:, 3]).explain(X[:, :3])
    assert found.valid.any()
    assert_array_equal(found.valid, attack.predict(found.rows) >= 1.5)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"image_shape": (2, 3)}, "image_shape"),
        ({"image_shape": (4,)}, "image_shape"),
        ({"image_shape": (2, -2, -1)}, "image_shape"),
        ({"image_shape": (2, 2.0)}, "image_shape"),
        ({"desired": (0, 1)}, "desired"),
    ],
)
def test_bad_parameters(parameters, name):
    with pytest.raises(ValueError, match=name):
        OnePixelAttack(SVC(), **parameters).fit(X, Y)

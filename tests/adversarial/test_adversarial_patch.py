"""Patches: pasted exactly, better than random ones, within all limits."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.adversarial import AdversarialPatch
from sklearn_interpret.exceptions import UnreadableModelError

DIGITS = load_digits(return_X_y=True)
QUICK = {"n_transforms": 4, "n_steps": 5, "n_restarts": 0, "random_state": 0}


@pytest.fixture(scope="module")
def logistic():
    """A model of digits between 0 and 1, fitted on the first 600."""
    X, y = DIGITS[0][:600] / 16, DIGITS[1][:600]
    return FrozenEstimator(LogisticRegression(max_iter=500).fit(X, y))


def images(n_rows=60, shape=(5, 6), dtype=float, seed=0):
    """Flat images of whole numbers, and labels that hang on all pixels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 200, size=(n_rows, np.prod(shape)))
    y = X @ rng.normal(size=X.shape[1])
    return X.astype(dtype), np.where(y > np.median(y), "up", "down")


X, Y = images()


@pytest.mark.thorough
def test_it_beats_random_patches(logistic):
    X = DIGITS[0] / 16
    attack = AdversarialPatch(
        logistic,
        target=3,
        image_shape=(8, 8),
        patch_shape=(3, 3),
        bounds=(0, 1),
        n_restarts=1,
        subsample=100,
        random_state=0,
    ).fit(X[:600])
    rows = X[600:1000][logistic.predict(X[600:1000]) != 3]

    def sent(seed):
        return (logistic.predict(attack.apply(rows, random_state=seed)) == 3).mean()

    learned = np.mean([sent(seed) for seed in range(2)])
    assert attack.patch_.shape == (3, 3)
    assert attack.success_rates_.shape == (64,)
    rates = []
    for seed in range(5):
        attack.patch_ = np.random.default_rng(seed).random((3, 3))
        rates.append(sent(seed))
    assert learned >= 2 * np.mean(rates)


@pytest.mark.parametrize("target", ["up", "down"])
def test_over_the_whole_image_a_linear_model_has_a_closed_form(target):
    """Each pixel of the patch is at the end that its coefficient points to."""
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    attack = AdversarialPatch(
        FrozenEstimator(model),
        target=target,
        image_shape=(5, 6),
        patch_shape=(5, 6),
        n_steps=400,
        n_restarts=0,
        bounds=(-2, 300),
        random_state=0,
    ).fit(X)
    towards = model.coef_[0] * (1 if target == "up" else -1)
    clear = np.abs(towards) > 0.05 * np.abs(towards).max()
    expected = np.where(towards > 0, 300, -2)
    assert_allclose(attack.patch_.ravel()[clear], expected[clear])
    assert attack.explain(X).valid.all()
    assert_array_equal(attack.success_rates_, 1)


@pytest.mark.parametrize("dtype", [float, np.float32, np.uint8, np.int64])
def test_given_places_are_exact(dtype):
    X, y = images(dtype=dtype)
    shape = {"image_shape": (5, 6), "patch_shape": (2, 3)}
    attack = AdversarialPatch(LogisticRegression(), **shape, **QUICK).fit(X, y)
    before, cubes = X.copy(), X.reshape(-1, 5, 6)
    found = attack.apply(X, places=(1, 2))
    assert found.dtype == dtype
    expected = cubes.copy()
    patch = attack.patch_
    expected[:, 1:3, 2:5] = patch if dtype(0.5) else np.rint(patch)
    # The bounds of the data are each pixel's own.
    expected = np.clip(expected, cubes.min(axis=0), cubes.max(axis=0))
    assert_array_equal(found, expected.reshape(len(X), -1))
    assert_array_equal(attack.apply(cubes, places=[(1, 2)] * 60), expected)
    assert_array_equal(X, before)


def test_random_places_are_those_of_the_seed():
    attack = AdversarialPatch(
        LogisticRegression(), image_shape=(5, 6), patch_shape=(2, 2), **QUICK
    ).fit(X, Y)
    attack.patch_ = np.full((2, 2), 100.25)
    found = attack.apply(X, random_state=1)
    assert_array_equal(found, attack.apply(X, random_state=1))
    assert ((found == 100.25).sum(axis=1) == 4).all()
    assert len(np.unique(found == 100.25, axis=0)) > 10
    explanation = attack.explain(X)
    moved = explanation.status != "unchanged"
    assert len(np.unique(explanation.changed[moved], axis=0)) == 1
    assert_array_equal(explanation.distances[moved], 4)


def test_channels():
    X, y = images(shape=(4, 4, 3))
    attack = AdversarialPatch(
        LogisticRegression(), image_shape=(4, 4, 3), patch_shape=0.5, **QUICK
    ).fit(X, y)
    assert attack.patch_.shape == (2, 2, 3)
    cubes = X.reshape(-1, 4, 4, 3)
    found = attack.apply(cubes, places=(2, 0))
    assert_array_equal(found[:, :2], cubes[:, :2])
    expected = np.clip(attack.patch_, cubes.min(axis=0)[2:, :2], None)
    expected = np.minimum(expected, cubes.max(axis=0)[2:, :2])
    assert_allclose(found[:, 2:, :2], np.broadcast_to(expected, (60, 2, 2, 3)))


@pytest.mark.parametrize("more", [{}, {"scale": (0.5, 1.5), "max_rotation": 40.0}])
def test_frozen_pixels_and_bounds_are_kept(more):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    attack = AdversarialPatch(
        model,
        image_shape=(5, 6),
        features_to_vary=list(range(15)),
        bounds=(50, 60),
        **more,
        **QUICK,
    ).fit(X, Y)
    found = attack.apply(X, random_state=0)
    entered = (found >= 50) & (found <= 60)
    assert_array_equal(found[:, 15:], X[:, 15:])
    assert (entered | (found == X)).all()
    assert (entered & ((X < 50) | (X > 60))).any()
    assert (attack.patch_ >= 50).all()
    assert (attack.patch_ <= 60).all()


def test_frames_with_whole_numbers_and_categories():
    """What is no number is no pixel, and stays."""
    X, y = images(shape=(1, 6))
    frame = pd.DataFrame(X, columns=list("abcdef")).astype({"a": "int16"})
    frame["b"] = pd.Categorical(np.where(X[:, 1] > 100, "high", "low"))
    encoders = make_column_transformer(
        (OneHotEncoder(), ["b"]), remainder=StandardScaler()
    )
    model = make_pipeline(encoders, LogisticRegression())
    attack = AdversarialPatch(model, patch_shape=(1, 6), **QUICK).fit(frame, y)
    explanation = attack.explain(frame, y)
    assert explanation.rows.dtypes.equals(frame.dtypes)
    assert explanation.rows["b"].equals(frame["b"])
    assert explanation.rows["a"].between(frame["a"].min(), frame["a"].max()).all()
    assert_array_equal(explanation.valid, model_answers(attack, explanation) != y)
    assert attack.apply(frame, places=(0, 0)).dtypes.equals(frame.dtypes)


def model_answers(attack, explanation):
    return attack.predict(explanation.rows)


def test_scores_and_curves():
    attack = AdversarialPatch(
        LogisticRegression(), image_shape=(5, 6), patch_shape=0.6, **QUICK
    ).fit(X, Y)
    curve = attack.robustness_curve(X, Y, sizes=[0, 0.3, 1.0])
    assert curve[0] == attack.score(X, Y)
    assert curve[2] == attack.robust_score(X, Y) < curve[0]
    assert curve[1] >= curve[2]


def test_regressors_have_intervals():
    model = LinearRegression().fit(X, X.sum(axis=1))
    attack = AdversarialPatch(
        FrozenEstimator(model), desired=(3300, None), image_shape=(5, 6), **QUICK
    ).fit(X)
    explanation = attack.explain(X)
    assert_array_equal(explanation.valid, model.predict(explanation.rows) >= 3300)


def test_rows_that_satisfy_the_target_stay():
    always = LinearRegression().fit(X, np.zeros(len(X)))
    attack = AdversarialPatch(FrozenEstimator(always), desired=(-1, 1), **QUICK).fit(X)
    assert_array_equal(attack.success_rates_, 1)
    assert (attack.explain(X).status == "unchanged").all()


def test_one_pixel():
    X = np.linspace(0, 1, 20)[:, None]
    attack = AdversarialPatch(LogisticRegression(), **QUICK).fit(X, X[:, 0] > 0.5)
    assert attack.patch_.shape == (1, 1)
    assert attack.explain(X[:1]).valid.shape == (1,)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"image_shape": (5, 5)}, "image_shape"),
        ({"image_shape": (30,)}, "image_shape"),
        ({"image_shape": (5, 6), "patch_shape": (6, 2)}, "patch_shape"),
        ({"image_shape": (5, 6), "patch_shape": (2, 0)}, "patch_shape"),
        ({"image_shape": (5, 6), "patch_shape": (2, 2, 2)}, "patch_shape"),
        ({"patch_shape": 1.5}, "patch_shape"),
        ({"scale": (2, 1)}, "scale"),
        ({"scale": (0.5,)}, "scale"),
        ({"scale": ("a", "b")}, "scale"),
        ({"target": "sideways"}, "target"),
        ({"desired": (0, 1)}, "desired"),
    ],
)
def test_bad_parameters(wrong, message):
    with pytest.raises(ValueError, match=message):
        AdversarialPatch(LogisticRegression(), **wrong).fit(X, Y)


def test_bad_images():
    attack = AdversarialPatch(LogisticRegression(), image_shape=(5, 6), **QUICK)
    attack.fit(X, Y)
    with pytest.raises(ValueError, match=r"shape \(6, 5\)"):
        attack.apply(X.reshape(-1, 6, 5))
    with pytest.raises(ValueError, match="features"):
        attack.apply(X[:, 1:])
    with pytest.raises(ValueError, match="places has"):
        attack.apply(X, places=(4, 0))
    for places in [(1, 1, 1), "here", [(0, 0)] * 3]:
        with pytest.raises(ValueError, match="places="):
            attack.apply(X, places=places)


def test_trees_are_refused():
    with pytest.raises(UnreadableModelError, match="no slopes"):
        AdversarialPatch(DecisionTreeClassifier()).fit(X, Y)

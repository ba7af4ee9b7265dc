"""Pairs that an additive model finds by itself."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_friedman1

from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from tests.partitions import in_batches


def hours(n, seed):
    """Peaks of an hour of the day that working days alone have; noise of 8."""
    rng = np.random.default_rng(seed)
    hour, works = rng.integers(0, [[24], [2]], (2, n)).astype(float)
    warmth, wind = rng.uniform([0, -2], [30, 2], (n, 2)).T
    mean = works * 60 * np.exp(-((hour - 8) ** 2) / 4)
    mean += works * 50 * np.exp(-((hour - 17) ** 2) / 6)
    mean += (1 - works) * 40 * np.exp(-((hour - 14) ** 2) / 20)
    mean += 0.8 * warmth + 0.2 * warmth * hour / 24 + 5 * wind
    X = pd.DataFrame({"hour": hour, "works": works, "warmth": warmth, "wind": wind})
    return X, mean + rng.normal(0, 8, n)


def products(n, seed=0, n_columns=6):
    """A product, steps, and a curve by a flag, with noise of 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    X[:, 5] = X[:, 5] > 0
    mean = X[:, 0] + X[:, 0] * X[:, 1] + 2.0 * ((X[:, 2] > 0) ^ (X[:, 3] > 0))
    return X, mean + X[:, 5] * np.sin(2 * X[:, 4]) * 2 + rng.normal(size=n)


FOUND = {(0, 1), (2, 3), (4, 5)}


@pytest.mark.parametrize("levels", [False, True])
def test_peaks_of_an_hour_on_working_days(levels):
    X, y = hours(3000, 0)
    new, new_y = hours(3000, 1)
    if levels:
        X, new = (table.astype({"works": "category"}) for table in (X, new))
    model = GAMRegressor(interactions="auto").fit(X, y)
    assert model.interaction_pairs_ == [(0, 1)]
    assert model.term_names_[-1] == "hour:works"
    assert model.score(new, new_y) > 0.85  # the mean itself: 0.86
    assert GAMRegressor().fit(X, y).score(new, new_y) < 0.65


def test_the_product_of_friedman():
    X, y = make_friedman1(1000, n_features=10, noise=1, random_state=0)
    new, new_y = make_friedman1(3000, n_features=10, noise=1, random_state=1)
    model = GAMRegressor(interactions="auto").fit(X, y)
    oracle = GAMRegressor(interactions=[(0, 1)]).fit(X, y)
    assert model.interaction_pairs_ == oracle.interaction_pairs_ == [(0, 1)]
    assert_array_equal(model.predict(new), oracle.predict(new))
    assert model.score(new, new_y) > 0.95


def test_pairs_are_those_named():
    X, y = products(1000)
    model = GAMRegressor(interactions="auto").fit(X, y)
    assert set(model.interaction_pairs_) == FOUND
    assert (model.interaction_pvalues_ < 1e-4).all()
    named = GAMRegressor(interactions=model.interaction_pairs_).fit(X, y)
    in_terms = GAMRegressor(terms=[*range(6), *model.interaction_pairs_]).fit(X, y)
    for other in (named, in_terms):
        assert_array_equal(other.coef_, model.coef_)
        assert_array_equal(other.interaction_pvalues_, model.pvalues_[6:])


@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_a_number_limits_the_pairs(most):
    X, y = products(1000)
    model = GAMRegressor(interactions=most).fit(X, y)
    assert len(model.interaction_pairs_) == min(most, 3)
    assert set(model.interaction_pairs_) <= FOUND


@pytest.mark.parametrize("family", ["poisson", "gamma", "binomial"])
def test_families(family):
    X, _ = products(4000)
    rng = np.random.default_rng(0)
    predictor = 0.5 * X[:, 0] - X[:, 1] * X[:, 2] / 2
    y = {
        "poisson": lambda: rng.poisson(np.exp(predictor)),
        "gamma": lambda: rng.gamma(2, np.exp(predictor)),
        "binomial": lambda: rng.random(4000) < 1 / (1 + np.exp(-2 * predictor)),
    }[family]()
    model = GAMRegressor(family=family, interactions="auto", link=None)
    assert model.fit(X, y.astype(float)).interaction_pairs_ == [(1, 2)]


def test_classes_have_the_pairs_of_any_class():
    X, _ = products(2000)
    scores = np.column_stack(
        [2 * X[:, 0] * X[:, 1], 2 * X[:, 2] * X[:, 3], 0 * X[:, 0]]
    )
    y = (scores + np.random.default_rng(0).gumbel(size=scores.shape)).argmax(axis=1)
    model = GAMClassifier(interactions="auto").fit(X, y)
    assert {(0, 1), (2, 3)} <= set(model.interaction_pairs_)
    assert model.coef_.shape[0] == 3


def test_classes_without_error_have_no_pairs():
    """What penalties leave of separated classes has a form, and no noise."""
    X = np.random.default_rng(0).normal(size=(300, 5))
    with pytest.warns(UserWarning, match="separate"):
        model = GAMClassifier(interactions="auto").fit(X, X[:, 0] > 0)
    assert model.interaction_pairs_ == []


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("noise", ["heavy", "normal", "by a feature"])
def test_noise_has_few_pairs(noise):
    n_found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 6))
        X += rng.normal(size=(200, 1))  # they depend on each other
        y = rng.standard_t(3, 200) if noise == "heavy" else rng.normal(size=200)
        if noise == "by a feature":
            y = y * np.exp(X[:, 0] / 2)
        model = GAMRegressor(interactions="auto").fit(X, np.sin(X[:, 1]) + y)
        n_found += len(model.interaction_pairs_)
    assert n_found <= 4


def test_copies_of_a_feature_leave_the_pair():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 3))
    near = X[:, [0]] + 0.3 * rng.normal(size=(2000, 3))
    X = np.hstack([X, near])
    model = GAMRegressor(interactions="auto")
    model.fit(X, 2 * X[:, 0] * X[:, 1] + rng.normal(size=2000))
    assert model.interaction_pairs_ == [(0, 1)]


def test_partitions_have_the_pairs_of_memory():
    X, y = products(3000)
    model = GAMRegressor(interactions="auto")
    expected = model.fit(X, y).predict(X)
    pairs = model.interaction_pairs_
    batches = in_batches(X, y, None, 5)
    assert model.fit(batches).interaction_pairs_ == pairs
    assert_allclose(model.predict(X), expected, atol=1e-6)


def test_weights_are_repeated_rows():
    X, y = products(300)
    times = np.random.default_rng(1).integers(1, 3, 300)
    model = GAMRegressor(interactions=1).fit(X[:, 2:], y, sample_weight=times)
    repeated = GAMRegressor(interactions=1)
    repeated.fit(np.repeat(X[:, 2:], times, axis=0), np.repeat(y, times))
    assert model.interaction_pairs_ == repeated.interaction_pairs_ == [(0, 1)]
    assert_allclose(model.interaction_pvalues_, repeated.interaction_pvalues_)


def test_missing_values_and_quantile_knots():
    X, y = products(2000)
    X[:300, 1] = np.nan
    model = GAMRegressor(interactions="auto", missing="level", knots="quantile")
    model.fit(X, np.where(np.isnan(X[:, 1]), 2.0 * X[:, 2], y))
    assert {(1, 2), (4, 5)} <= set(model.interaction_pairs_)


def test_features_without_a_curve_are_not_searched():
    X, y = products(1000)
    terms = dict.fromkeys(range(6), "spline") | {0: "linear"}
    model = GAMRegressor(terms=terms, by={4: 5}, offset=None, interactions="auto")
    assert model.fit(X, y).interaction_pairs_ == [(2, 3)]
    del terms[2]
    model = GAMRegressor(terms=terms, offset=2, interactions="auto")
    assert model.fit(X, y - X[:, 2]).interaction_pairs_ == [(4, 5)]


@pytest.mark.parametrize(
    "interactions, message",
    [
        ([0], "no pair"),
        ([(0, 1, 2)], "a pair of two"),
        ([(0, 1), (1, 0)], "more than once"),
        ([(0, 9)], "9"),
        (-1, "interactions"),
        ("all", "interactions"),
    ],
)
def test_refused(interactions, message):
    X, y = products(50)
    with pytest.raises(ValueError, match=message):
        GAMRegressor(interactions=interactions).fit(X, y)


@pytest.mark.parametrize("kind", ["numbers", "levels", "missing"])
def test_a_surface_has_no_effect_of_one_feature(kind):
    """At each value of a feature, its mean over the rows' other values is the same."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 9, 400).astype(float)
    b = (a + rng.integers(0, 9, 400)) // 3
    y = a + b**2 + 2 * a * b + rng.normal(size=400)
    terms = {0: "spline", 1: "category" if kind == "levels" else "spline"}
    if kind == "missing":
        a[::7] = np.nan
    X = np.column_stack([a, b])
    model = GAMRegressor(
        terms=terms | {(0, 1): "tensor"}, missing="level", shrinkage=kind == "levels"
    ).fit(X, y)
    surface = model.transform(X)[:, 2]
    assert surface.std() > 5
    assert abs(surface.mean()) < 1e-9 * surface.std()
    for j in (0, 1):
        means = []
        for value in np.unique(X[:, j]):
            moved = X.copy()
            moved[:, j] = value
            means.append(model.transform(moved)[:, 2].mean())
        assert np.ptp(means) < 1e-9 * surface.std()

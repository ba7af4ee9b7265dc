"""Cases whose answer is known: what each effect shows, and what it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_interpret.effects import AccumulatedLocalEffects as ALE
from sklearn_interpret.effects import ConditionalDependence, PartialDependence
from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from tests.effects.data import numeric_table
from tests.references.models import frozen
from tests.speeds import examples

TRUTH = (lambda x: x, lambda x: x**2)


def correlated_data(seed, n_rows=10_000):
    """Two uniform features of normal copula correlation 0.99, and x0 + x1^2 + noise."""
    rng = np.random.default_rng(seed)
    normal = rng.multivariate_normal([0, 0], [[1, 0.99], [0.99, 1]], size=n_rows)
    X = norm.cdf(normal)
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(scale=0.1, size=n_rows)


def distance(points, effect, truth):
    """Root mean square distance over the central 90 %, up to a constant."""
    middle = np.linspace(0.05, 0.95, 91)
    difference = np.interp(middle, points, effect) - truth(middle)
    return (difference - difference.mean()).std()


@pytest.fixture(scope="module")
def forest():
    """A forest on the correlated data. It is left alone where the data has no rows."""
    X, y = correlated_data(0)
    forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0).fit(X, y)
    return FrozenEstimator(forest), X


@pytest.mark.thorough
def test_accumulated_local_effects_recover_the_terms_of_a_forest(forest):
    model, X = forest
    local = ALE(model).fit(X)
    average = PartialDependence(
        model,
        percentiles=(0.01, 0.99),
        grid_resolution=50,
        subsample=500,
        random_state=0,
    ).fit(X)
    for j, truth in enumerate(TRUTH):
        close = distance(local.edges_[j], local.effects_[j], truth)
        far = distance(average.grid_values_[j], average.average_[j], truth)
        assert close < 0.025
        assert far > 3 * close


def test_conditional_means_mix_the_terms(forest):
    model, X = forest
    mixed = ConditionalDependence(model).fit(X)
    for j, truth in enumerate(TRUTH):
        points, curve = mixed.centers_[j], mixed.average_[j]
        assert distance(points, curve, lambda x: x + x**2) < 0.02
        assert distance(points, curve, truth) > 0.2


def wave(a, b, c):
    return np.sin(3 * a) + a * b - c**2


def levels_and_spreads(fitted):
    """Values that are shifted with the response, and those that are only scaled."""
    if isinstance(fitted, ALE):
        return fitted.effects_, fitted.local_effects_std_
    is_ice = isinstance(fitted, ICE)
    return fitted.average_, fitted.heterogeneity_ if is_ice else fitted.standard_errors_


@pytest.mark.thorough(after=2)
@examples(15)
@given(st.floats(-100, 100), st.floats(-10, 10), st.integers(0, 100))
@pytest.mark.parametrize("effect", [PartialDependence, ICE, ConditionalDependence, ALE])
def test_shifting_scaling_and_shuffling(effect, shift, scale, seed):
    """Effects are linear in the response, whatever the order of rows and columns."""
    X, _ = numeric_table(n_rows=25, seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    plain = effect(frozen(wave), features=[0, 1, 2, (0, 1)]).fit(X)
    formula = frozen(lambda c, a, b: shift + scale * wave(a, b, c))
    other = effect(formula, features=[1, 2, 0, (1, 2)]).fit(X[order][:, [2, 0, 1]])
    levels, spreads = levels_and_spreads(plain)
    other_levels, other_spreads = levels_and_spreads(other)
    shifted = 0 if effect is ALE else shift  # differences have no level
    for ours, theirs in zip(levels, other_levels, strict=True):
        assert_allclose(theirs, shifted + scale * ours, rtol=1e-9, atol=1e-9)
    for ours, theirs in zip(spreads, other_spreads, strict=True):
        assert_allclose(theirs, abs(scale) * ours, rtol=1e-7, atol=1e-7)
    if effect is ICE:
        for ours, theirs in zip(plain.curves_, other.curves_, strict=True):
            expected = shift + scale * ours[order]
            assert_allclose(theirs, expected, rtol=1e-10, atol=1e-10)


def with_square(X):
    """The features, and the square of the second one."""
    return np.c_[X, X[:, 1] ** 2]


def test_a_correctly_specified_model_leaves_nothing_to_differ():
    X, y = correlated_data(0)
    linear = make_pipeline(FunctionTransformer(with_square), LinearRegression())
    model = FrozenEstimator(linear.fit(X, y))
    local = ALE(model).fit(X)
    average = PartialDependence(
        model,
        custom_values=dict(enumerate(local.edges_)),
        subsample=500,
        random_state=0,
    ).fit(X)
    for j, truth in enumerate(TRUTH):
        assert np.ptp(local.effects_[j] - average.average_[j]) < 1e-10
        assert distance(local.edges_[j], local.effects_[j], truth) < 0.02


def test_versicolor_lies_between():
    """Boosted stumps sum steps of one feature each on the log odds.

    A Gaussian classifier would have one normal distribution for the two merged
    species, and a parabola for its log odds, which never stays. Steps can.
    """
    iris = load_iris(as_frame=True)
    y = np.where(iris.target == 1, "versicolor", "other")
    model = FrozenEstimator(
        GradientBoostingClassifier(n_estimators=50, max_depth=1, random_state=0).fit(
            iris.data, y
        )
    )
    params = {"features": ["petal width (cm)"], "grid_resolution": 200}
    effect = PartialDependence(
        model, response_method="centered_log_proba", **params
    ).fit(iris.data)
    assert effect.output_names_ == ["versicolor"]
    points, curve = effect.grid_values_[0], effect.average_[0]
    first, between, last = (
        curve[(low < points) & (points < high)]
        for low, high in ((0, 0.6), (1.0, 1.5), (1.9, 2.5))
    )
    reach = np.ptp(curve)
    assert between.mean() - first.mean() > 0.5 * reach
    assert between.mean() - last.mean() > 0.5 * reach
    for part in (first, between, last):
        assert np.ptp(part) < 0.1 * reach
    # Of two classes the centred logarithm is half the log odds.
    odds = PartialDependence(model, response_method="decision_function", **params)
    assert_allclose(curve, odds.fit(iris.data).average_[0] / 2, atol=1e-10)

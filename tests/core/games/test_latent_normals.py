"""Latent normal variables: correlations of levels, draws given points and levels."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri
from scipy.stats import multivariate_normal, norm

from sklearn_interpret._core.games.latent_normals import (
    LatentNormals,
    batch_operator,
    groups_of_rows,
    latent_correlation,
    level_scores,
    nearest_correlation,
)

CORRELATION = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.0]])


def draw(correlation, n_draws=2**12, n_batches=10, seed=0):
    rng = np.random.default_rng(seed)
    return LatentNormals.draw(correlation, n_draws, n_batches, rng)


def given_one(latents, present, low, high):
    draws, weights = latents.given(
        np.array([present]), np.array([low]), np.array([high])
    )
    return draws[0], weights[0]


def test_scores_are_means_of_levels():
    shares = np.array([0.2, 0.5, 0.3])
    cuts = ndtri(np.cumsum(shares)[:-1])
    scores, coefficients = level_scores(cuts, shares)
    ends = [-np.inf, *cuts, np.inf]
    means = [
        norm.expect(lambda z: z, lb=a, ub=b, conditional=True)
        for a, b in itertools.pairwise(ends)
    ]
    assert_allclose(scores, means, atol=1e-10)
    # The first coefficient is the covariance with the variable: the variance of scores.
    assert_allclose(coefficients[0], shares @ scores**2)
    # By Parseval's identity all have the variance of the scores, or nearly.
    assert 0.9 < (coefficients**2).sum() / (shares @ scores**2) < 1


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.5, 0.95])
@pytest.mark.parametrize("shares", [[0.7, 0.3], [0.1, 0.2, 0.3, 0.4]])
def test_correlation_of_levels_is_that_of_the_latents(rho, shares):
    shares = np.array(shares)
    cuts = ndtri(np.cumsum(shares)[:-1])
    scores, coefficients = level_scores(cuts, shares)
    flag_scores, flag_coefficients = level_scores(
        np.array([0.5]), norm.cdf([0.5, -0.5])
    )
    # Probabilities of all cells, from the joint distribution function.
    joint = multivariate_normal(cov=[[1, rho], [rho, 1]])
    ends = [-9.0, *cuts, 9.0]
    below = np.array([[joint.cdf([a, b]) for b in (-9, 0.5, 9)] for a in ends])
    cells = np.diff(np.diff(below, axis=0), axis=1)
    product = scores @ cells @ flag_scores
    products = np.array(
        [
            [shares @ scores**2, product],
            [product, flag_scores**2 @ norm.cdf([0.5, -0.5])],
        ]
    )
    found = latent_correlation(products, np.stack([coefficients, flag_coefficients]))
    assert_allclose(found, [[1, rho], [rho, 1]], atol=4e-3)


def test_continuous_columns_have_the_correlation_of_their_scores():
    n_rows = 500
    rng = np.random.default_rng(0)
    ranks = np.argsort(
        np.argsort(rng.multivariate_normal(np.zeros(3), CORRELATION, n_rows), axis=0),
        axis=0,
    )
    shares = np.full(n_rows, 1 / n_rows)
    scores, coefficients = level_scores(ndtri(np.cumsum(shares)[:-1]), shares)
    table = scores[ranks]
    found = latent_correlation(table.T @ table / n_rows, np.tile(coefficients, (3, 1)))
    assert_allclose(found, np.corrcoef(table.T), atol=5e-3)


def test_constant_and_equal_columns():
    scores, coefficients = level_scores(np.array([0.2]), norm.cdf([0.2, -0.2]))
    variance = scores**2 @ norm.cdf([0.2, -0.2])
    products = np.zeros((3, 3))
    products[:2, :2] = variance
    found = latent_correlation(
        products, np.stack([coefficients, coefficients, np.zeros_like(coefficients)])
    )
    assert_allclose(found, [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-12)


def test_nearest_correlation_has_no_negative_eigenvalue():
    bad = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    good = nearest_correlation(bad)
    assert np.linalg.eigvalsh(good)[0] > -1e-12
    assert_allclose(np.diag(good), 1)
    assert_allclose(nearest_correlation(CORRELATION), CORRELATION)


def test_groups_of_rows():
    flags = np.random.default_rng(0).random((50, 9)) < 0.1
    groups = list(groups_of_rows(flags))
    assert sorted(np.concatenate(groups)) == list(range(50))
    assert len(groups) == len(np.unique(flags, axis=0))
    for group in groups:
        assert (flags[group] == flags[group[0]]).all()
    assert [g.tolist() for g in groups_of_rows(np.empty((2, 0), bool))] == [[0, 1]]


@pytest.mark.parametrize("n_draws", [12, 40])
def test_means_and_moments_of_draws_are_matched(n_draws):
    latents = draw(CORRELATION, n_draws)
    assert_allclose(latents.draws.mean(axis=0), 0, atol=1e-12)
    assert_allclose(latents.draws.T @ latents.draws / n_draws, CORRELATION, atol=1e-12)


def test_points_give_conditional_means_and_covariances():
    latents = draw(CORRELATION)
    draws, weights = given_one(latents, [False, True, False], [0, 1.5, 0], [0, 1.5, 0])
    assert (weights == 1).all()
    assert_allclose(draws.mean(axis=0), [0.9, 0, 0.3], atol=1e-12)
    expected = CORRELATION - np.outer(CORRELATION[1], CORRELATION[1])
    assert_allclose(np.cov(draws[:, [0, 2]].T, bias=True), expected[::2, ::2])


def test_copies_are_determined():
    correlation = np.array([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]])
    latents = draw(correlation, 64)
    draws, _ = given_one(latents, [True, False, False], [0.7, 0, 0], [0.7, 0, 0])
    assert_allclose(draws[:, 1], 0.7, atol=1e-7)
    # Points that contradict each other: the pseudo-inverse takes their mean.
    draws, _ = given_one(latents, [True, True, False], [0, 2, 0], [0, 2, 0])
    assert_allclose(draws[:, 2].mean(), 0.5, atol=1e-7)
    # The interval of a copy of a point changes nothing.
    low, high = [0.7, 0.0, 0.0], [0.7, np.inf, 0.0]
    draws, weights = given_one(latents, [True, True, False], low, high)
    assert (weights == 1).all()
    assert_allclose(draws[:, 2].mean(), 0.35, atol=1e-7)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ([0.3, -1.0], [np.inf, 0.5]),
        ([-np.inf, -np.inf], [-1.0, -1.0]),
        ([1, -9], [2, 9]),
    ],
)
def test_intervals_agree_with_the_truncated_distribution(low, high):
    latents = draw(CORRELATION, 2**14)
    draws, weights = given_one(latents, [True, True, False], [*low, 0.0], [*high, 0.0])
    sample = np.random.default_rng(1).multivariate_normal(
        np.zeros(3), CORRELATION, 10**6
    )
    inside = np.all((sample[:, :2] > low) & (sample[:, :2] < high), axis=1)
    for function in (np.positive, np.square, np.cos):
        values = function(sample[inside, 2])
        error = values.std() / np.sqrt(inside.sum())
        found = np.average(function(draws[:, 2]), weights=weights)
        assert abs(found - values.mean()) < 4 * error


def test_one_interval_has_equal_weights_and_far_ones_stay_finite():
    latents = draw(CORRELATION, 64)
    _, weights = given_one(latents, [True, False, False], [0, 0, 0], [np.inf, 0, 0])
    assert_allclose(weights, 1)
    low, high = [50.0, -np.inf, 0.0], [np.inf, -50.0, 0.0]
    draws, weights = given_one(latents, [True, True, False], low, high)
    assert np.isfinite(draws).all()
    assert np.isfinite(weights).all()
    assert weights.max() == 1
    # The whole line says nothing.
    draws, weights = given_one(
        latents, [True, False, False], [-np.inf, 0, 0], [np.inf, 0, 0]
    )
    assert_allclose(draws[:, 1:], latents.draws[:, 1:], atol=1e-12)


def test_conditions_are_independent_of_each_other():
    latents, rng = draw(CORRELATION, 16), np.random.default_rng(0)
    present = rng.random((20, 3)) < 0.5
    low = rng.normal(size=(20, 3))
    high = np.where(rng.random((20, 3)) < 0.5, low, low + 1)
    together = latents.given(present, low, high)
    for row in range(20):
        alone = latents.given(*(array[[row]] for array in (present, low, high)))
        for one, many in zip(alone, together, strict=True):
            assert_allclose(one[0], many[row], atol=1e-12)


def test_batches():
    values = np.random.default_rng(0).normal(size=23)
    means = batch_operator(23, 4) @ values
    assert_allclose(
        means,
        [
            batch.mean()
            for batch in (values[:6], values[6:12], values[12:18], values[18:])
        ],
    )
    assert batch_operator(5, 0).shape == (0, 5)
    # With as many draws as match covariances, linear functions have no error.
    latents = draw(CORRELATION, 40)
    assert_allclose(latents.operator @ latents.draws, 0, atol=1e-12)

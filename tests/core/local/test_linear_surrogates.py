"""Surrogates from moments against scikit-learn's regressions on the samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from sklearn_interpret._core.local.linear_surrogates import (
    LocalMoments,
    least_norm,
    select_by_weight,
    select_forward,
)
from sklearn_interpret._core.statistics.losses import r_squared


def samples(n=60, p=5, k=2, seed=0):
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 3
    answers = design @ rng.normal(size=(p, k)) + rng.normal(size=(n, k))
    return design, answers, rng.uniform(0.1, 2, size=n)


def test_coefficients_are_those_of_weighted_regressions():
    design, answers, weights = samples()
    moments = LocalMoments.of_samples(design, answers, weights)
    for chosen in (np.arange(5), np.array([1, 4])):
        for output in range(2):
            model = LinearRegression()
            model.fit(design[:, chosen], answers[:, output], sample_weight=weights)
            found = moments.coefficients(chosen, output)
            assert_allclose(found, model.coef_, atol=1e-10)
            intercept = moments.intercept(chosen, found, output)
            assert_allclose(intercept, model.intercept_, atol=1e-10)
            score = r2_score(
                answers[:, output],
                model.predict(design[:, chosen]),
                sample_weight=weights,
            )
            fitted = intercept + design[:, chosen] @ found
            share = r_squared(answers[:, [output]], fitted[:, None], weights)
            assert_allclose(share, score, atol=1e-12)


def test_collinear_and_constant_features_share_what_they_explain():
    design, answers, weights = samples(p=2, k=1)
    twice = np.column_stack([design[:, 0], design[:, 0], np.full(60, 7.0)])
    moments = LocalMoments.of_samples(twice, answers, weights)
    alone = LocalMoments.of_samples(design[:, :1], answers, weights)
    found = moments.coefficients(np.arange(3), 0)
    half = alone.coefficients(np.arange(1), 0)[0] / 2
    assert_allclose(found, [half, half, 0], atol=1e-9)


@given(st.integers(1, 6), st.integers(0, 2**16))
def test_the_shortest_of_all_solutions(rank, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(6, rank))
    gram = factor @ factor.T
    right = gram @ rng.normal(size=6)
    expected = np.linalg.pinv(gram, rcond=1e-10) @ right
    scale = max(1.0, np.abs(expected).max())
    assert_allclose(least_norm(gram, right), expected, atol=1e-5 * scale)


def best_next(design, answer, weights, chosen):
    """The feature with which a regression explains most, by trying them all."""
    scores = {}
    for j in set(range(design.shape[1])) - set(chosen):
        part = design[:, [*chosen, j]]
        model = LinearRegression().fit(part, answer, sample_weight=weights)
        scores[j] = model.score(part, answer, sample_weight=weights)
    return max(scores, key=scores.get)


@pytest.mark.parametrize("seed", range(5))
def test_forward_selection_tries_every_feature(seed):
    design, answers, weights = samples(p=7, k=1, seed=seed)
    moments = LocalMoments.of_samples(design, answers, weights)
    expected = []
    for _ in range(4):
        expected.append(best_next(design, answers[:, 0], weights, expected))
    assert select_forward(moments, 0, 4).tolist() == expected


def test_selections_have_no_more_and_no_fewer_than_asked():
    design, answers, weights = samples(p=4, k=1)
    design = np.column_stack([design, design[:, 0], np.zeros((60, 2))])
    moments = LocalMoments.of_samples(design, answers, weights)
    for select in (select_by_weight, select_forward):
        for size in range(1, 8):
            assert len(set(select(moments, 0, size).tolist())) == size


def test_the_largest_weights_of_a_regression_on_all():
    design, answers, weights = samples()
    moments = LocalMoments.of_samples(design, answers, weights)
    model = LinearRegression().fit(design, answers[:, 1], sample_weight=weights)
    expected = np.argsort(-np.abs(model.coef_))[:3]
    assert_array_equal(select_by_weight(moments, 1, 3), expected)


def test_standard_errors_are_those_of_many_draws():
    rng = np.random.default_rng(0)
    found, errors = [], []
    for _ in range(300):
        design = rng.uniform(-1, 1, size=(200, 2))
        answers = (design[:, :1] + design[:, 1:] ** 2) * (1 + design[:, :1])
        weights = np.exp(-(design**2).sum(axis=1))
        moments = LocalMoments.of_samples(design, answers, weights)
        both, (answer,) = np.arange(2), answers.T
        coefficients = moments.coefficients(both, 0)
        fitted = design @ coefficients
        fitted += moments.intercept(both, coefficients, 0)
        found.append(coefficients)
        errors.append(moments.sampling_errors(both, design, answer - fitted, weights))
    spread, error = np.std(found, axis=0), np.mean(errors, axis=0)
    assert_allclose(error, spread, rtol=0.15)


def test_no_features_at_all():
    design, answers, weights = samples(k=1)
    moments = LocalMoments.of_samples(design[:, :0], answers, weights)
    none = np.arange(0)
    assert moments.coefficients(none, 0).shape == (0,)
    args = none, design[:, :0], answers[:, 0], weights
    assert moments.sampling_errors(*args).shape == (0,)

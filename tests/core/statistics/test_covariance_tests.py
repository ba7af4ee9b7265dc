"""Tests of residual products: their level, their invariance, and adjusted p-values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, kstest, t, ttest_1samp

from sklearn_interpret._core.statistics.covariance_tests import (
    adjusted_pvalues,
    combine_splits,
    generalised_covariance_test,
    one_sided_test,
)


def _test(products, weights):
    """The test without other held-out products."""
    return generalised_covariance_test(products, products, weights)


def test_variance_is_that_of_the_held_out_products():
    products = np.random.default_rng(0).normal(0.1, 1, size=(100, 1))
    statistic, _ = _test(products, np.ones(100))
    halved, _ = generalised_covariance_test(products, 2 * products + 3, np.ones(100))
    assert_allclose(4 * halved, statistic)
    upper, _ = one_sided_test(products[:, 0], np.ones(100), 2 * products[:, 0] + 3)
    assert_allclose(4 * upper**2, statistic)


@pytest.mark.parametrize("q", [1, 3])
def test_pvalues_are_uniform_without_dependence(q):
    rng = np.random.default_rng(0)
    found = [
        _test(rng.normal(size=(500, q)) * rng.normal(size=(500, 1)), np.ones(500))
        for _ in range(400)
    ]
    assert kstest([pvalue for _, pvalue in found], "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    "n, class_share, flag_share", [(300, 0.05, 0.05), (1000, 0.02, 0.01)]
)
def test_rare_classes_and_flags_without_a_common_row(n, class_share, flag_share):
    """The sample variance is nearly zero: without the bound most tests reject."""
    rng = np.random.default_rng(0)
    pvalues = []
    for _ in range(400):
        residuals = (rng.random((2, n)) < [[class_share], [flag_share]]) + 0.0
        residuals -= residuals.mean(axis=1, keepdims=True)
        products, ones = residuals.prod(axis=0)[:, None], np.ones(n)
        bound = residuals.var(axis=1).prod()
        bounded = generalised_covariance_test(products, products, ones, bound)
        pvalues.append((bounded[1], _test(products, ones)[1]))
    share, without_bound = np.mean(np.array(pvalues) < 0.05, axis=0)
    assert share <= 0.05
    assert without_bound > 0.4


def test_a_bound_replaces_smaller_variances_only():
    products = np.random.default_rng(0).normal(0.1, 1, size=(100, 2))
    variances, ones = products.var(axis=0, ddof=1), np.ones(100)
    assert _test(products, ones) == generalised_covariance_test(
        products, products, ones, variances
    )
    first = products[:, :1]
    statistic, _ = _test(first, ones)
    bounded, _ = generalised_covariance_test(first, first, ones, 4 * variances[0])
    assert_allclose(4 * bounded, statistic)
    upper, _ = one_sided_test(products[:, 0], ones, None, 4 * variances[0])
    assert_allclose(4 * upper**2, statistic)


@pytest.mark.parametrize("n", [2, 3, 200])
def test_one_product_is_tested_by_student(n):
    products = np.random.default_rng(0).normal(0.1, 1, size=n)
    expected = ttest_1samp(products, 0)
    statistic, pvalue = _test(products[:, None], np.ones(n))
    assert_allclose([statistic, pvalue], [expected.statistic**2, expected.pvalue])
    upper = ttest_1samp(products, 0, alternative="greater")
    assert_allclose(one_sided_test(products, np.ones(n)), upper[:2])


def test_few_normal_products_have_exact_pvalues():
    rng = np.random.default_rng(0)
    draws = [_test(rng.normal(size=(6, 3)), np.ones(6))[1] for _ in range(2000)]
    assert kstest(draws, "uniform").pvalue > 0.01


def test_redundant_products_count_once():
    products = np.random.default_rng(0).normal(size=(300, 2))
    twice = np.column_stack([products, -products.sum(axis=1)])
    assert_allclose(_test(twice, np.ones(300)), _test(products, np.ones(300)))


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    products, times = rng.normal(size=(50, 2)), rng.integers(0, 4, 50)
    repeated = np.repeat(products, times, axis=0)
    expected = _test(repeated, np.ones(len(repeated)))
    assert_allclose(_test(products, times.astype(float)), expected)


def test_products_without_variance():
    assert _test(np.zeros((20, 2)), np.ones(20)) == (0.0, 1.0)
    assert _test(np.eye(2), np.ones(2)) == (0.0, 1.0)
    assert one_sided_test(np.zeros(20), np.ones(20)) == (0.0, 1.0)


def test_adjusted_pvalues():
    pvalues = np.array([0.01, 0.04, 0.03, 0.5])
    assert_array_equal(adjusted_pvalues(pvalues, None), pvalues)
    assert_allclose(adjusted_pvalues(pvalues, "holm"), [0.04, 0.09, 0.09, 0.5])
    assert_allclose(adjusted_pvalues(pvalues, "bh"), [0.04, 0.16 / 3, 0.16 / 3, 0.5])


@pytest.mark.parametrize(
    "n_splits", [1, 2, pytest.param(8, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("kind", ["one", "many", "fixed", "largest"])
def test_combined_splits_reject_no_more_than_one_test(kind, n_splits):
    """Of directions that are noise of one half, or fixed, in the limit of many rows."""
    n_tables, n_rows, q = 20_000, 32, {"one": 1, "fixed": 1}.get(kind, 10)
    rng = np.random.default_rng(n_splits)
    products = rng.normal(size=(n_tables, n_rows, q)) / np.sqrt(n_rows / 2)
    statistics = []
    for _ in range(n_splits):
        order = rng.permutation(n_rows)
        halves = [products[:, half].sum(axis=1) for half in np.split(order, 2)]
        for trained, tested in (halves, halves[::-1]):
            direction = trained
            if kind == "fixed":
                direction = np.ones((n_tables, 1))
            if kind == "largest":
                largest = np.abs(trained).max(axis=1, keepdims=True)
                direction = trained * (np.abs(trained) == largest)
            length = np.linalg.norm(direction, axis=1)
            statistics.append((direction * tested).sum(axis=1) / length)
    statistics = np.reshape(statistics, (n_splits, 2, n_tables))
    # P-values fall with the mean: those of the other tables are larger.
    largest_means = np.argsort(statistics.mean(axis=(0, 1)))[-n_tables // 7 :]
    pvalues = [combine_splits(statistics[:, :, i], np.inf)[1] for i in largest_means]
    assert max(pvalues) > 0.1
    for level in (0.1, 0.05, 0.01, 0.001):
        n_rejected = np.sum(np.array(pvalues) < level)
        assert n_rejected <= binom.ppf(0.999, n_tables, level)


def test_equal_tests_combine_to_themselves():
    statistic, pvalue = combine_splits(np.full((1, 2), 2.0), 30)
    assert_allclose([statistic, pvalue], [2.0, t.sf(2.0, 30)])

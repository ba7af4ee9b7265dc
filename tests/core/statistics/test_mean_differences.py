"""Differences of means, against scipy and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_ind

from sklearn_interpret._core.statistics.mean_differences import mean_difference

RNG = np.random.default_rng(0)


def test_many_rows_get_welchs_test():
    values, inside = RNG.exponential(size=200), np.arange(200) < 60
    result = mean_difference(values, np.ones(200), inside, RNG)
    peer = ttest_ind(
        values[inside], values[~inside], equal_var=False, alternative="greater"
    )
    assert_allclose([result.pvalue, result.dof], [peer.pvalue, peer.df])
    assert_allclose(result.difference / result.standard_error, peer.statistic)


def test_weights_count_as_repeated_rows():
    values, inside = RNG.normal(size=150), np.arange(150) < 70
    weights = RNG.integers(1, 4, 150)
    weighted = mean_difference(values, weights.astype(float), inside, RNG)
    repeated = mean_difference(
        np.repeat(values, weights),
        np.ones(weights.sum()),
        np.repeat(inside, weights),
        RNG,
    )
    assert_allclose(weighted, repeated)


def test_few_rows_get_a_permutation_test():
    values, inside = RNG.exponential(size=12), np.isin(np.arange(12), [1, 4, 7])
    result = mean_difference(values, np.ones(12), inside, np.random.default_rng(1))
    means = [np.mean(chosen) for chosen in combinations(values, 3)]
    expected = np.mean(np.array(means) >= values[inside].mean() - 1e-12)
    assert abs(result.pvalue - expected) < 0.04


@pytest.mark.parametrize("n_inside", [0, 20])
def test_a_group_of_none_or_all(n_inside):
    result = mean_difference(
        np.arange(20.0), np.ones(20), np.arange(20) < n_inside, RNG
    )
    assert result.pvalue == 1
    assert np.isnan(result.difference)


def test_equal_values_have_the_variance_of_all():
    values = np.r_[np.ones(3), RNG.integers(0, 2, 40)].astype(float)
    result = mean_difference(values, np.ones(43), np.arange(43) < 3, RNG)
    assert result.standard_error > np.sqrt(values.var() / 3)
    assert result.pvalue > 0.05


def test_constant_values():
    result = mean_difference(np.ones(50), np.ones(50), np.arange(50) < 40, RNG)
    assert (result.difference, result.standard_error, result.pvalue) == (0, 0, 1)

"""Excess of squared residuals against sums over the distributions themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit

from sklearn_interpret._core.regression.overdispersion import (
    OverdispersionTest,
    Trials,
    excess_of_counts,
    excess_of_shares,
)


@pytest.mark.parametrize("copies", [1.0, 0.3, 7.0])
@pytest.mark.parametrize("mean", [0.02, 0.8, 30.0])
def test_counts_have_no_excess_on_average(mean, copies):
    values = np.arange(1000.0)
    chances = stats.poisson.pmf(values, copies * mean)
    excess, variances = excess_of_counts(
        values / copies, np.full(1000, mean), np.full(1000, copies)
    )
    assert chances @ excess == pytest.approx(0, abs=1e-9)
    assert_allclose(chances @ excess**2, variances[0])


@pytest.mark.parametrize("trials", [1, 2, 9])
@pytest.mark.parametrize("share", [0.02, 0.4])
def test_shares_have_no_excess_on_average(share, trials):
    values = np.arange(trials + 1.0)
    chances = stats.binom.pmf(values, trials, share)
    excess, variances = excess_of_shares(
        values / trials, np.full_like(values, share), np.full_like(values, trials)
    )
    assert chances @ excess == pytest.approx(0, abs=1e-12)
    assert_allclose(chances @ excess**2, variances[0], atol=1e-12)


def test_trials_of_rows_in_any_order_and_number_of_parts():
    rng = np.random.default_rng(0)
    log_odds = rng.choice([-1.5, 0.2, 5.0], 50) * (1 + 1e-13 * rng.normal(size=50))
    weights, y = rng.integers(1, 5, 50).astype(float), rng.integers(0, 2, 50)
    whole = Trials.of_rows(log_odds, weights, weights * y)
    assert_allclose(whole.log_odds, [-1.5, 0.2, 5.0])
    for value, n, hits in zip(
        whole.log_odds, whole.trials, whole.successes, strict=True
    ):
        there = np.isclose(log_odds, value)
        assert (n, hits) == (weights[there].sum(), weights[there] @ y[there])
    parts = [
        Trials.of_rows(log_odds[rows], weights[rows], (weights * y)[rows])
        for rows in np.array_split(rng.permutation(50), 4)
    ]
    both = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    assert_allclose(both.trials, whole.trials)
    assert_allclose(both.pearson_statistic, whole.pearson_statistic, rtol=1e-9)
    share = expit(whole.log_odds)
    expected = (whole.successes - whole.trials * share) ** 2
    expected /= whole.trials * share * (1 - share)
    assert_allclose(whole.pearson_statistic, expected.sum(), rtol=1e-6)


def test_pvalues():
    """Of many large counts Pearson's statistic is a chi square."""
    test = OverdispersionTest(30 / 20, 20, 30 - 23, 2 * 20.0, 3)
    assert test.pvalue == pytest.approx(stats.chi2.sf(30, 20))
    assert not test.warns
    assert OverdispersionTest(3.0, 20, 60 - 23, 40.0, 3).warns
    assert OverdispersionTest(3.0, 20, 60 - 23, 0.0, 3).pvalue == 1
    assert not OverdispersionTest(np.nan, 0.0, 5.0, 4.0, 3).warns

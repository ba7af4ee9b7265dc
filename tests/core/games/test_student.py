"""Standard errors of few draws."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from sklearn_interpret._core.games.gaussian_conditionals import Block
from sklearn_interpret._core.statistics.weighted import student_factor


def test_intervals_of_few_draws_are_students():
    draws = np.random.default_rng(0).normal(size=(6, 2, 1, 2))
    deviations = np.array([[1.0, -2.0]])
    _, errors = Block(np.arange(2), np.arange(2), draws).values(deviations)
    drawn = (draws @ deviations[0])[:, :, 0]
    low, high = stats.t.interval(0.95, 5, drawn.mean(axis=0), stats.sem(drawn))
    half = (high - low) / 2
    assert_allclose(stats.norm.ppf(0.975) * errors[0, :, 0], half)
    assert student_factor(1e9) < 1 + 1e-8

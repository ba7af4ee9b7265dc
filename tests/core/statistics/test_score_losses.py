"""Losses of scores, against searches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import expit

from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    HalfTweedie,
    Logistic,
    constant_score,
    one_vs_rest_shares,
)


@pytest.mark.parametrize(
    "loss",
    [HalfSquared(), Logistic(), HalfTweedie(1.0)],
    ids=lambda loss: type(loss).__name__,
)
def test_the_constant_score_has_the_least_loss(loss):
    rng = np.random.default_rng(0)
    targets, weights = 1.0 * (rng.random(50) < 0.1), rng.random(50)
    score = constant_score(loss, targets, weights)
    assert loss.means(score) == pytest.approx(np.average(targets, weights=weights))
    peer = minimize_scalar(
        lambda s: weights @ loss.values(targets[:, None], np.full((50, 1), s))
    )
    assert score == pytest.approx(peer.x, abs=1e-5)


def test_the_constant_score_of_one_class_is_large():
    assert 10 < constant_score(Logistic(), np.ones(3), np.ones(3)) < 50


def test_shares_of_classes_of_which_none_is_likely():
    """Each against the others: shares of the odds, also where they vanish."""
    near, far = np.array([[0.5, -1.0, 2.0]]), np.array([[-800.0, -801.0, -900.0]])
    odds = expit(near) / expit(near).sum()
    assert_allclose(one_vs_rest_shares(near), odds, rtol=1e-14)
    e = np.exp(-1.0)
    assert_allclose(one_vs_rest_shares(far)[0, :2], [1 / (1 + e), e / (1 + e)])
    both = one_vs_rest_shares(np.array([-2.0, 800.0]))
    assert_allclose(both[:, 1], expit([-2.0, 800.0]), rtol=1e-14)

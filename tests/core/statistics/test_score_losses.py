"""Losses of scores, against searches."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    HalfTweedie,
    Logistic,
    constant_score,
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

"""Losses of rows average to the metrics of scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

from sklearn_interpret._core.statistics import losses

RNG = np.random.default_rng(0)
TARGETS, PREDICTIONS = RNG.gamma(2, size=(2, 50, 1))
CLASSES = np.eye(3)[RNG.integers(3, size=50)]
PROBABILITIES = RNG.dirichlet([1, 2, 3], size=50)


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        (losses.squared, metrics.mean_squared_error),
        (losses.absolute, metrics.mean_absolute_error),
        (losses.relative, metrics.mean_absolute_percentage_error),
        (losses.squared_logarithmic, metrics.mean_squared_log_error),
        (losses.poisson_deviance, metrics.mean_poisson_deviance),
        (losses.gamma_deviance, metrics.mean_gamma_deviance),
    ],
)
def test_numbers(loss, metric):
    found = loss(TARGETS, PREDICTIONS).mean()
    assert found == pytest.approx(metric(TARGETS, PREDICTIONS))


def test_probabilities():
    found = losses.log_loss(CLASSES, PROBABILITIES).mean()
    assert found == pytest.approx(metrics.log_loss(CLASSES, PROBABILITIES))
    found = losses.brier(CLASSES, PROBABILITIES).mean()
    assert found == pytest.approx(((CLASSES - PROBABILITIES) ** 2).sum(axis=1).mean())

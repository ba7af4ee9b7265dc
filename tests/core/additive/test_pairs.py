"""Pairs that interact in residuals are found, and noise has none."""

import numpy as np
import pytest

from sklearn_interpret._core.additive.pairs import interacting_pairs

SETTINGS = {"most": 3, "level": 0.05}


@pytest.mark.parametrize(
    "product",
    [
        lambda a, b: a * b,
        lambda a, b: a * b**2,
        lambda a, b: (a > 0) * (b > 0),
        lambda a, b: np.sin(a) * np.abs(b),
    ],
)
def test_the_pair_is_found(product):
    X = np.random.default_rng(0).normal(size=(500, 5))
    values = product(X[:, 1], X[:, 4])
    residuals = values - values.mean() + np.random.default_rng(1).normal(size=500)
    assert interacting_pairs(X, residuals, np.ones(500), **SETTINGS)[0] == (1, 4)


def test_noise_has_few_pairs():
    rng, n_found = np.random.default_rng(0), 0
    for _ in range(300):
        X = rng.standard_t(3, size=(100, 6))
        n_found += bool(
            interacting_pairs(X, rng.normal(size=100), np.ones(100), **SETTINGS)
        )
    assert n_found <= 25  # 15 are expected; more than 25 in less than 1 % of the cases


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X, residuals = rng.normal(size=(80, 4)), rng.normal(size=80)
    residuals += 0.5 * X[:, 0] * X[:, 2]
    rows = rng.permutation(np.repeat(np.arange(80), 2))
    settings = {"most": 6, "level": np.inf}
    weighted = interacting_pairs(X, residuals, np.full(80, 2.0), **settings)
    repeated = interacting_pairs(X[rows], residuals[rows], np.ones(160), **settings)
    assert weighted == repeated


def test_constant_columns_and_residuals():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:, 1] = 2.0
    assert interacting_pairs(X, np.zeros(50), np.ones(50), **SETTINGS) == []
    found = interacting_pairs(X, X[:, 0] * X[:, 2], np.ones(50), **SETTINGS)
    assert found == [(0, 2)]
    assert interacting_pairs(X[:, :1], X[:, 0], np.ones(50), **SETTINGS) == []

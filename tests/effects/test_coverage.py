"""Errors of effects from few rows hold the truth as often as they promise.

`benchmarks/bench_coverage.py` asks more tables and models, each ten times as often.
"""

import numpy as np
import pytest

from sklearn_interpret.effects import AccumulatedLocalEffects, ConditionalDependence
from tests.references.models import frozen

pytestmark = pytest.mark.thorough

SIZES = (20, 30, 60, 100, 400)
N_RUNS = 40
KINDS = [AccumulatedLocalEffects, ConditionalDependence]

# A response of a feature and an independent companion of mean zero, and its mean.
FORMULAS = {
    "flat": (lambda a, b: a * b, lambda a: 0 * a),
    "rough": (lambda a, b: np.sin(5 * a) * (1 + b), lambda a: np.sin(5 * a)),
    "linear": (lambda a, b: 2 * a + a * b, lambda a: 2 * a),
}


def held(kind, formula, mean, X):
    """Share of the points at which 1.96 errors to each side hold the true effect."""
    effect = kind(frozen(formula), features=[0]).fit(X)
    truth = kind(frozen(lambda a, b: mean(a)), features=[0]).fit(X)
    name = "effects_" if kind is AccumulatedLocalEffects else "average_"
    apart = np.abs(getattr(effect, name)[0] - getattr(truth, name)[0])
    return np.mean(apart <= 1.96 * effect.standard_errors_[0] + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORMULAS)
def test_of_few_rows(name, kind):
    rng = np.random.default_rng(0)
    shares = []
    for n in SIZES:
        tables = (rng.normal(size=(n, 2)) for _ in range(N_RUNS))
        shares.append(np.mean([held(kind, *FORMULAS[name], X) for X in tables]))
    assert np.mean(shares) >= 0.9
    # Two binomial standard errors of so many runs below.
    assert min(shares) >= 0.9 - 2 * np.sqrt(0.09 / N_RUNS), shares


@pytest.mark.parametrize("kind", KINDS)
def test_of_random_tables(kind):
    """Features, companions, sizes and smoothness of the truth are drawn."""
    rng = np.random.default_rng(0)
    draws = [
        lambda n: rng.normal(size=n),
        lambda n: rng.uniform(-1, 1, size=n),
        lambda n: rng.exponential(size=n) - 1,
    ]
    shares = []
    for _ in range(300):
        n = int(np.exp(rng.uniform(np.log(20), np.log(400))))
        X = np.c_[rng.choice(draws)(n), rng.choice(draws)(n)]
        slope, rough, own = rng.normal(size=3)

        def mean(a, slope=slope, rough=rough):
            return slope * a + rough * np.sin(5 * rough * a)

        def formula(a, b, mean=mean, own=own):
            return mean(a) + (mean(a) + own * a) * b

        shares.append(held(kind, formula, mean, X))
    assert np.mean(shares) >= 0.9


def test_of_thirty_rows_of_a_flat_effect():
    """Each interval holds one row, whose variance within the interval is not zero."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(30, 2))
    model = frozen(lambda a, b: a * b)
    local = AccumulatedLocalEffects(model, features=[0]).fit(X)
    assert local.standard_errors_[0].min() > 0
    assert (np.abs(local.effects_[0]) <= 1.96 * local.standard_errors_[0]).mean() > 0.9
    assert ConditionalDependence(model).fit(X).standard_errors_[0].min() > 0


def test_of_weights_that_are_no_counts():
    """A row of weight 1.3 or 3 alone in its interval shows no variance either."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(50, 2))
    for weights in (np.full(50, 3.0), rng.exponential(size=50) + 0.1):
        for kind in KINDS:
            effect = kind(frozen(lambda a, b: a * b), n_intervals=50)
            effect.fit(X, sample_weight=weights)
            assert effect.standard_errors_[0].min() > 0


def test_of_an_exact_effect_errors_are_zero():
    """All differences over a step are equal where nothing interacts in a line."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(30, 2))
    effect = AccumulatedLocalEffects(frozen(lambda a, b: 2 * a + b**2), features=[0])
    np.testing.assert_allclose(effect.fit(X).standard_errors_[0], 0, atol=1e-13)

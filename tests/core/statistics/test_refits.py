import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.model_selection import KFold

from sklearn_interpret._core.statistics.refits import learner_half_width

RNG = np.random.default_rng(0)
REFITS = RNG.normal(size=(5, 3, 2))


@pytest.mark.parametrize("ratio", [None, 1 / 4, 0.5])
def test_formula_of_the_jackknife(ratio):
    n_test_to_train = 1 / 4 if ratio is None else ratio
    squares = ((REFITS - REFITS.mean(axis=0)) ** 2).sum(axis=0) / 5
    expected = stats.t.ppf(0.975, 4) * np.sqrt(squares / n_test_to_train + 0.3**2)
    found = learner_half_width(REFITS, ratio, standard_errors=np.full((3, 2), 0.3))
    assert_allclose(found, expected)


def test_formula_of_results_on_test_rows():
    variance = (1 / 5 + 0.5) * REFITS.var(axis=0, ddof=1)
    expected = stats.t.ppf(0.95, 4) * np.sqrt(variance)
    found = learner_half_width(REFITS, 0.5, on_test_rows=True, level=0.9)
    assert_allclose(found, expected)


def test_a_single_refit_has_no_interval():
    assert np.isnan(learner_half_width([[1.0, 2.0]], 0.5)).all()


@pytest.mark.parametrize("n_folds", [5, 10])
def test_coverage_of_coefficients(n_folds):
    """Intervals of a learner whose expectation is known."""
    held, held_by_other = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 2))
        y = X @ [1.0, 0.0] + rng.normal(size=100)
        rows = np.column_stack([X, np.ones(100)])
        coefs = [
            np.linalg.lstsq(rows[train], y[train])[0][:2]
            for train, _ in KFold(n_folds).split(X)
        ]
        errors = np.abs(np.mean(coefs, axis=0) - [1.0, 0.0])
        held.append(errors <= learner_half_width(coefs))
        held_by_other.append(errors <= learner_half_width(coefs, on_test_rows=True))
    assert 0.9 < np.mean(held) < 0.98
    assert np.mean(held_by_other) < 0.8

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.model_selection import KFold, ShuffleSplit

from sklearn_interpret._core.statistics.refits import Splits, learner_half_width

RNG = np.random.default_rng(0)
REFITS = RNG.normal(size=(5, 3, 2))


@pytest.mark.parametrize("ratio", [None, 1 / 4, 0.5])
def test_formula_of_the_jackknife(ratio):
    n_test_to_train = 1 / 4 if ratio is None else ratio
    squares = ((REFITS - REFITS.mean(axis=0)) ** 2).sum(axis=0) / 5
    expected = stats.t.ppf(0.975, 4) * np.sqrt(squares / n_test_to_train + 0.3**2)
    splits = None if ratio is None else Splits(ratio)
    found = learner_half_width(REFITS, splits, standard_errors=np.full((3, 2), 0.3))
    assert_allclose(found, expected)


def test_formula_of_random_splits():
    variance = (1 / 0.5 + 1 / 5) * REFITS.var(axis=0, ddof=1)
    expected = stats.t.ppf(0.975, 4) * np.sqrt(variance)
    assert_allclose(learner_half_width(REFITS, Splits(0.5, False)), expected)


def test_formula_of_results_on_test_rows():
    variance = (1 / 5 + 0.5) * REFITS.var(axis=0, ddof=1)
    expected = stats.t.ppf(0.95, 4) * np.sqrt(variance)
    found = learner_half_width(REFITS, Splits(0.5), on_test_rows=True, level=0.9)
    assert_allclose(found, expected)


def test_a_single_refit_has_no_interval():
    assert np.isnan(learner_half_width([[1.0, 2.0]], Splits(0.5))).all()


def coefficients(seed, n_rows, cv):
    """Of the models of a cross-validation, and their errors' size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    y = X @ [1.0, 0.0] + rng.normal(size=n_rows)
    rows = np.column_stack([X, np.ones(n_rows)])
    coefs = [np.linalg.lstsq(rows[train], y[train])[0][:2] for train, _ in cv.split(X)]
    return coefs, np.abs(np.mean(coefs, axis=0) - [1.0, 0.0])


@pytest.mark.parametrize("n_folds", [5, 10])
def test_coverage_of_coefficients(n_folds):
    """Intervals of a learner whose expectation is known."""
    held, held_by_other = [], []
    for seed in range(200):
        coefs, errors = coefficients(seed, 100, KFold(n_folds))
        held.append(errors <= learner_half_width(coefs))
        held_by_other.append(errors <= learner_half_width(coefs, on_test_rows=True))
    assert 0.9 < np.mean(held) < 0.98
    assert np.mean(held_by_other) < 0.8


@pytest.mark.parametrize(("n_splits", "share"), [(3, 0.5), (3, 0.1), (10, 0.25)])
def test_coverage_of_random_splits(n_splits, share):
    held, held_as_folds = [], []
    ratio = share / (1 - share)
    for seed in range(300):
        cv = ShuffleSplit(n_splits, test_size=share, random_state=seed)
        coefs, errors = coefficients(seed, 100, cv)
        held.append(errors <= learner_half_width(coefs, Splits(ratio, False)))
        held_as_folds.append(errors <= learner_half_width(coefs, Splits(ratio)))
    assert 0.9 < np.mean(held) < 0.98
    assert np.mean(held_as_folds) < np.mean(held)

"""Additive models of many features: which terms are fitted, and what is costly."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret.additive import GAMClassifier, GAMRegressor, _gam
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.partitions import RowBatches

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 30))
X[:, 7] = X[:, 7] > 0
TRUTH = np.sin(2 * X[:, 4]) + 2 * X[:, 7] + X[:, 20] ** 2 / 2
Y = TRUTH + RNG.normal(size=300) / 2


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GAMRegressor(), Y),
        (GAMRegressor(family="poisson"), np.exp(Y / 4).round()),
        (GAMClassifier(), Y > 1),
        (GAMClassifier(), np.digitize(Y + RNG.normal(size=300), [0, 1.5])),
    ],
)
def test_the_clearest_terms_stay(model, y):
    model.set_params(max_terms=4).fit(X, y)
    assert len(model.term_names_) == 4
    assert {"x4", "x7", "x20"} < set(model.term_names_)


def test_the_ranking_is_that_of_models_of_one_term():
    pvalues = [GAMRegressor(terms=[j]).fit(X, Y).pvalues_[0] for j in range(X.shape[1])]
    clearest = sorted(np.argsort(pvalues)[:6])
    model = GAMRegressor(max_terms=6).fit(X, Y)
    assert model.term_names_.tolist() == [f"x{j}" for j in clearest]
    alone = GAMRegressor(terms=[int(j) for j in clearest]).fit(X, Y)
    assert_allclose(model.predict(X), alone.predict(X))


def test_enough_terms_leave_nothing_out():
    terms = list(range(5))
    model = GAMRegressor(terms=terms, max_terms=5).fit(X, Y)
    assert_allclose(model.coef_, GAMRegressor(terms=terms).fit(X, Y).coef_)


def test_features_of_pairs_and_of_by_stay():
    model = GAMRegressor(
        max_terms=5,
        interactions=[(1, 2)],
        by={3: 7},
        monotonic_cst={25: 1},
        knots="quantile",
    ).fit(X, Y)
    names = set(model.term_names_)
    assert {"x1", "x2", "x7", "x1:x2", "x3:x7"} <= names
    assert len(names) == 6


def test_partitions_have_the_same_terms():
    parts = RowBatches(
        lambda: ((X[i : i + 60], Y[i : i + 60]) for i in range(0, 300, 60))
    )
    model = GAMRegressor(max_terms=4)
    expected = model.fit(X, Y).term_names_.tolist()
    assert model.fit(parts).term_names_.tolist() == expected


def test_costly_fits_are_warned_of(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GAMRegressor(terms=[4, 20]).fit(X, Y)
    monkeypatch.setattr(_gam, "_SECONDS", 1.0)
    with pytest.warns(CostlyInspectionWarning, match="39 coefficients: max_terms"):
        GAMRegressor(terms=[4, 20]).fit(X, Y)

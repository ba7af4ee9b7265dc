"""Factors of penalised least squares with more coefficients than rows, or fewer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from sklearn_interpret._core.additive import factors
from sklearn_interpret._core.additive.factors import (
    CholeskyFactor,
    RowsFactor,
    rows_root,
)
from sklearn_interpret.additive import GAMClassifier, GAMRegressor

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_rows", [3, 20])
def test_both_factors_agree(n_rows, monkeypatch):
    monkeypatch.setattr(factors, "_BLOCK", 16)
    design = np.column_stack([np.ones(n_rows), RNG.normal(size=(n_rows, 60))])
    design[:, 7] = 0  # a constant column, centred
    products = (RNG.uniform(0.1, 1, n_rows) * design.T) @ design
    penalties = np.append(0, RNG.uniform(0.01, 10, 60))
    root = rows_root(products, n_rows)
    assert root.shape == (n_rows, 61)
    assert_allclose(root.T @ root, products, atol=1e-12)
    of_all, of_rows = CholeskyFactor(products, penalties), RowsFactor(root, penalties)
    assert_allclose(of_rows.matrix, of_all.matrix, atol=1e-12)
    assert_allclose(of_rows.log_determinant, of_all.log_determinant)
    assert_allclose(of_rows.inverse, of_all.inverse, atol=1e-9)
    assert_allclose(of_all.inverse @ of_all.matrix, np.eye(61), atol=1e-9)
    assert_allclose(of_rows.variances, np.diag(of_all.inverse), rtol=1e-8)
    sums = RNG.normal(size=61)
    assert_allclose(of_rows.solve(sums), of_all.solve(sums), atol=1e-9)
    weights = RNG.uniform(size=(4, 61)) * (RNG.uniform(size=(4, 61)) < 0.2)
    for given in (weights, sparse.csr_array(weights)):
        for name in ("products", "squared_products"):
            results = [getattr(factor, name)(given) for factor in (of_rows, of_all)]
            assert_allclose(*results, rtol=1e-8, atol=1e-10)
    blocks = [slice(1, 9), np.array([3, 40, 60])]
    for information, expected in zip(
        of_rows.information_matrices(blocks),
        of_all.information_matrices(blocks),
        strict=True,
    ):
        assert_allclose(information, expected, atol=1e-9)


def test_many_rows_have_no_root():
    assert rows_root(np.eye(20), 11.0) is None
    assert rows_root(np.eye(20), 10.0) is not None


@pytest.mark.parametrize("model", [GAMRegressor(), GAMClassifier()])
def test_the_factor_does_not_change_the_model(model, monkeypatch):
    X = RNG.normal(size=(60, 12))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + RNG.normal(size=60) > 0
    names = "coef_", "covariance_", "pvalues_", "effective_dof_", "reml_"
    by_rows = {name: getattr(model.fit(X, y), name) for name in names}
    monkeypatch.setattr(factors, "_ROWS_PER_COEFFICIENT", 0)
    by_coefficients = model.fit(X, y)
    for name in names:
        scale = np.abs(by_rows[name]).max()
        assert_allclose(
            by_rows[name], getattr(by_coefficients, name), atol=1e-6 * scale
        )

"""The lasso path: what each of its points has to fulfil, and where it stops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path

from sklearn_interpret._core.statistics.lasso_path import (
    LogLoss,
    SquaredError,
    lasso_path,
)
from tests.speeds import examples

KINDS = ("normal", "binary", "rounded", "copies", "sums")


def features(kind, rng, n_rows, n_features):
    """Features, some of which are equally good, or made of others."""
    X = rng.normal(size=(n_rows, n_features))
    if kind == "binary":
        X = (X > 0).astype(float)
    elif kind == "rounded":
        X = X.round()
    elif kind == "copies":
        half = n_features // 2
        X[:, half : 2 * half] = X[:, :half] * rng.choice([-1, 1, 2])
    elif kind == "sums" and n_features > 2:
        X[:, -1], X[:, 0] = X[:, :2].sum(axis=1), 1
    return X


def problem(kind, rng, n_rows, n_features, n_classes):
    """Features, targets (one class: numbers), weights and loss."""
    X = features(kind, rng, n_rows, n_features)
    weights = rng.random(n_rows) + 0.01
    weights /= weights.sum()
    if n_classes == 1:
        y = X.sum(axis=1) + rng.normal(size=n_rows)
        return X, y[:, None], weights, SquaredError()
    codes = np.append(np.arange(n_classes), rng.integers(n_classes, size=n_rows))
    flags = (codes[:n_rows, None] == np.arange(n_classes)).astype(float)
    return X, flags[:, 1:] if n_classes == 2 else flags, weights, LogLoss()


def violations(path, X, targets, weights, loss):
    """By how much each point misses the conditions of the optimum."""
    centred = X - weights @ X
    spread = np.sqrt(weights @ centred**2)
    scaled = centred / np.where(spread > 1e-9, spread, np.inf)
    for at, coefs, intercepts in zip(
        path.penalties, path.coefficients, path.intercepts, strict=True
    ):
        scores = X @ coefs + intercepts
        if isinstance(loss, LogLoss):
            scores = expit(scores) if coefs.shape[1] == 1 else softmax(scores, axis=1)
        missed = weights[:, None] * (targets - scores)
        correlations = scaled.T @ missed
        in_use = np.abs(coefs) > 1e-8
        yield max(
            np.abs(missed.sum(axis=0)).max(),
            (np.abs(correlations) - at).max(),
            np.abs(correlations - at * np.sign(coefs))[in_use].max(initial=0),
        )


@examples(40)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10**6),
    n_rows=st.integers(5, 30),
    n_features=st.integers(1, 12),
    n_classes=st.integers(1, 4),
)
def test_every_point_is_an_optimum(kind, seed, n_rows, n_features, n_classes):
    rng = np.random.default_rng(seed)
    X, targets, weights, loss = problem(kind, rng, n_rows, n_features, n_classes)
    path = lasso_path(X, targets, weights, loss, None)
    assert max(violations(path, X, targets, weights, loss)) < 1e-6 * (
        path.penalties[0] + 1
    )
    assert (np.diff(path.penalties) <= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_corners_of_least_angles(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 8)) @ rng.normal(size=(8, 8))
    y = X @ rng.normal(size=8) + rng.normal(size=40)
    path = lasso_path(X, y[:, None], np.full(40, 1 / 40), SquaredError(), None)
    scale = X.std(axis=0)
    alphas, _, coefs = lars_path(
        (X - X.mean(axis=0)) / scale, y - y.mean(), method="lasso"
    )
    assert_allclose(path.penalties, alphas, atol=1e-6)
    found = path.coefficients[:, :, 0] * scale
    assert_allclose(found, coefs.T, atol=1e-5)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_it_stops_on_the_first_stretch_of_so_many_features(kind, n_classes):
    rng = np.random.default_rng(3)
    X, targets, weights, loss = problem(kind, rng, 60, 10, n_classes)
    whole = lasso_path(X, targets, weights, loss, None)
    for size in range(1, whole.sizes.max() + 1):
        path = lasso_path(X, targets, weights, loss, size)
        assert path.sizes[-1] == size
        assert (path.sizes[:-1] <= size).all()
        before = slice(len(path.penalties) - 1)
        assert_array_equal(path.penalties[before], whole.penalties[before])


def test_half_way_where_a_feature_leaves():
    X, y = load_diabetes(return_X_y=True)
    y, weights = (y - y.mean())[:, None], np.full(len(y), 1 / len(y))
    whole = lasso_path(X, y, weights, SquaredError(), None)
    path = lasso_path(X, y, weights, SquaredError(), 10)
    end = len(path.penalties) - 1
    assert whole.sizes[end] == 9
    middle = whole.penalties[end - 1 : end + 1].mean()
    assert_allclose(path.penalties[-1], middle)
    assert path.sizes[-1] == 10
    assert max(violations(path, X, y, weights, SquaredError())) < 1e-6


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_copies_never_enter(n_classes):
    rng = np.random.default_rng(0)
    X, targets, weights, loss = problem("normal", rng, 50, 3, n_classes)
    X = np.column_stack([X, 2 * X, -X, np.full(50, 7.0)])
    path = lasso_path(X, targets, weights, loss, None)
    assert set(path.order) == {0, 1, 2}
    assert not path.coefficients[:, 3:].any()

"""Columns redrawn given the other columns."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.importance._base import drop_columns
from sklearn_interpret.importance._conditional_tests import ConditionalTests
from sklearn_interpret.importance._nuisance import Nuisance, encode_columns
from sklearn_interpret.importance._redrawn import Redraw, RedrawRequest

WEIGHTS, PARTS = np.ones(400), np.arange(400) % 10


def redrawn(X, columns, sampler):
    """Values of each column, (n_rest, 51), and the rows at which they are."""
    rows, rest = as_rows(X), np.flatnonzero(PARTS % 2)
    nuisance, redraw = Nuisance(LinearRegression(), None), Redraw(sampler, 50)
    index = np.arange(400)
    tests = ConditionalTests(
        rows, None, WEIGHTS, None, nuisance, PARTS, [], index, redraw
    )
    others, rng = drop_columns(rows, columns), np.random.default_rng(0)
    draws, _ = redraw(RedrawRequest(tests, columns, others, rest, rng))
    return [np.asarray(levels)[codes] for levels, codes in draws], rest


@pytest.mark.parametrize("sampler", ["residuals", "gaussian"])
@pytest.mark.parametrize("columns", [(1,), (0, 1)])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_draws_have_the_moments_of_the_columns(X, sampler, columns, unit):
    """Together with the others they have nearly the same covariances, in any unit."""
    found, rest = redrawn(X * [1, 1, unit], columns, sampler)
    assert_allclose([values[:, 0] for values in found], X[rest][:, columns].T)
    expected = np.cov(X[rest].T)
    mixed = np.tile(X[rest], (50, 1))
    mixed[:, columns] = np.transpose([values[:, 1:].T.ravel() for values in found])
    assert_allclose(np.cov(mixed.T), expected, atol=0.1 * np.diag(expected).max())


def test_residuals_are_permuted_among_like_rows(X):
    """Residuals of draws are as large as the row's, or small where those are."""
    noise = np.random.default_rng(1).normal(size=400)
    X[:, 1] = X[:, 0] + np.where(X[:, 2] > 0, 1.0, 0.01) * noise
    (values,), rest = redrawn(X, (1,), "residuals")
    others = X[:, [0, 2]]
    left = values - LinearRegression().fit(others, X[:, 1]).predict(others)[rest, None]
    small, large = left[X[rest, 2] < -0.2], left[X[rest, 2] > 0.2]
    assert small.std() < 0.1
    assert_allclose(large[:, 1:].std(), large[:, 0].std(), rtol=0.2)


@pytest.mark.parametrize("kind", ["numbers", "texts", "categories"])
def test_levels_are_drawn_by_their_probabilities(kind):
    rng = np.random.default_rng(0)
    other = rng.integers(0, 2, size=400)
    level = np.where(rng.uniform(size=400) < 0.2 + 0.6 * other, 2, 1)
    values = level if kind == "numbers" else np.array(["", "a", "b"], object)[level]
    frame = pd.DataFrame({"level": values, "other": other})
    if kind == "categories":
        frame["level"] = frame["level"].astype("category")
    (found,), rest = redrawn(frame, (0,), "residuals")
    assert_array_equal(found[:, 0], values[rest])
    second = found[:, 1:] == (2 if kind == "numbers" else "b")
    for group in (0, 1):
        expected = (level[other == group] == 2).mean()
        assert_allclose(second[other[rest] == group].mean(), expected, atol=0.02)


def test_whole_numbers_stay_whole():
    X = np.random.default_rng(0).integers(0, 90, size=(400, 2))
    (found,), _ = redrawn(X, (0,), "residuals")
    assert found.dtype == X.dtype


def test_columns_as_numbers():
    frame = pd.DataFrame(
        {
            "size": [0.0, 2.0, np.nan, 1.0],
            "colour": pd.Categorical(["red", "blue", None, "red"]),
        }
    )
    found = encode_columns(as_rows(frame), [0, 1])
    spread = np.std([0, 2, 1, 1])
    assert_allclose(found[:, 0], [0, 0, 1, 0])
    assert_allclose(found[:, 1], np.array([0, 2, 1, 1]) / spread)
    assert_allclose(found[:, 2:], [[0, 1], [1, 0], [0, 0], [0, 1]])

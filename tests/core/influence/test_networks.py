"""Networks without rows: the formula, with the whole matrix."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag

from sklearn_interpret._core.influence import networks
from sklearn_interpret._core.influence.networks import LayerFactors, NetworkModel
from sklearn_interpret._core.statistics.score_losses import Softmax


def model_of(seed=0, n_rows=12, k=3, **fields):
    """A model whose slopes come from random factors of two layers."""
    rng = np.random.default_rng(seed)
    targets, scores = (
        np.eye(k)[rng.integers(0, k, n_rows)],
        rng.normal(size=(n_rows, k)),
    )
    factors = [
        LayerFactors(rng.normal(size=(n_rows, 3)), rng.normal(size=(n_rows, k, 2))),
        LayerFactors(rng.normal(size=(n_rows, 2)), np.tile(np.eye(k), (n_rows, 1, 1))),
    ]
    n_parameters = 3 * 2 + 2 * k
    model = NetworkModel(
        factors,
        Softmax().slopes(targets, scores),
        Softmax().curvatures(targets, scores),
        rng.integers(1, 3, n_rows).astype(float),
        np.full(n_parameters, 0.5),
        rng.normal(size=n_parameters),
    )
    return replace(model, **fields)


def slopes_of(model):
    """Slopes of all scores along all parameters, (n, k, P)."""
    rows = []
    for row in range(len(model.loss_slopes)):
        of_scores = [
            np.concatenate(
                [
                    np.outer(inputs[row], slopes[row, score]).ravel()
                    for inputs, slopes in model.factors
                ]
            )
            for score in range(model.loss_slopes.shape[1])
        ]
        rows.append(of_scores)
    return np.array(rows)


def gradient_and_matrix(model, rows):
    """Of the losses of some rows, and the Gauss-Newton matrix of these."""
    slopes = slopes_of(model)[rows]
    weights = np.repeat(model.weights[rows], model.loss_slopes.shape[1])
    flat = slopes.reshape(len(weights), -1)
    matrix = flat.T @ (weights[:, None] * block_diag(*model.curvatures[rows])) @ flat
    return (weights * model.loss_slopes[rows].ravel()) @ flat, matrix


@pytest.mark.parametrize("factorised", [0, 5000])
@pytest.mark.parametrize("block", [1, 2**22])
def test_changes_equal_the_formula(factorised, block, monkeypatch):
    monkeypatch.setattr(networks, "_MOST_FACTORISED", factorised)
    monkeypatch.setattr(networks, "_MOST_NUMBERS", block)
    monkeypatch.setattr(networks, "_LEAST_DAMPING", 1e-13)
    monkeypatch.setattr(networks, "_TOLERANCE", 1e-12)
    model = model_of(damping=0.25)
    parts = [np.array([3]), np.array([0, 5, 7]), np.arange(6)]
    found = model.changes_without(parts)
    for change, rows in zip(found, parts, strict=True):
        rest = np.setdiff1d(np.arange(12), rows)
        gradient, _ = gradient_and_matrix(model, rows)
        _, matrix = gradient_and_matrix(model, rest)
        expected = np.linalg.solve(matrix + 0.75 * np.eye(12), gradient)
        assert_allclose(change, expected, rtol=1e-6, atol=1e-9)


def test_distance():
    model = model_of()
    total, matrix = gradient_and_matrix(model, np.arange(12))
    inverse = np.linalg.inv(matrix + 0.5 * np.eye(12))
    own = [gradient_and_matrix(model, np.array([row]))[0] for row in range(12)]
    total = total + 0.5 * model.parameters
    expected = total @ inverse @ total / sum(g @ inverse @ g for g in own)
    assert_allclose(model.distance, expected, rtol=1e-3)
    # Parameters whose penalty makes up for the slopes are at a minimum.
    gradient, _ = gradient_and_matrix(model, np.arange(12))
    assert_allclose(replace(model, parameters=-gradient / 0.5).distance, 0, atol=1e-20)
    assert replace(model_of(), loss_slopes=0 * model.loss_slopes).distance == 0


@pytest.mark.parametrize("factorised", [0, 5000])
def test_directions_without_curvature(factorised, monkeypatch):
    monkeypatch.setattr(networks, "_MOST_FACTORISED", factorised)
    monkeypatch.setattr(networks, "_TOLERANCE", 1e-10)
    model = model_of(penalty=np.zeros(12))
    # All classes' scores rise together: no loss changes, and neither do parameters.
    change = model.changes_without([np.array([2])])[0]
    shifts = change[6:].reshape(2, 3).sum(axis=1)
    assert_allclose(shifts, 0, atol=1e-6 * np.abs(change).max())
    sure = replace(model, curvatures=0 * model.curvatures, damping=0.0)
    with pytest.raises(ValueError, match=r"damping=0\.0"):
        sure.changes_without([np.array([2])])
    assert np.isfinite(replace(sure, damping=1.0).changes_without([np.arange(3)])).all()


def test_rows_that_alone_determine_something():
    model = model_of(penalty=np.zeros(12))
    with pytest.raises(ValueError, match="not positive definite"):
        model.changes_without([np.arange(12)])

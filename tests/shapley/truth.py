"""What TreeSHAP has to find: games enumerated over the model's own answers."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.shapley import TreeSHAP
from tests.references.shapley import (
    enumerated,
    interventional_game,
    path_dependent_game,
)
from tests.references.trees import goes_left


def inspected(model, X, **params):
    """An inspector of a fitted model, with the rows of X as its background."""
    weights = params.pop("sample_weight", None)
    return TreeSHAP(FrozenEstimator(model), **params).fit(X, sample_weight=weights)


def two_dimensional(ask):
    """The same model, its answer always with an axis of outputs."""

    def asked(rows):
        answer = np.asarray(ask(rows), dtype=np.float64)
        return answer.reshape(len(answer), -1)

    return asked


def interventional_truth(ask, rows, background, *, weights=None, members=None, order=1):
    """Values (n_rows, n_players[, n_players], k) with absent features from rows."""
    ask = two_dimensional(ask)
    members = [[j] for j in range(rows.shape[1])] if members is None else members
    weights = np.ones(len(background)) if weights is None else weights
    games = (
        interventional_game(ask, row, background, weights, members) for row in rows
    )
    return np.array([enumerated(game, len(members), order) for game in games])


def rescaled_truth(margin, link, rows, background, weights, order=1):
    """Values of a function of the margin: against each background row by itself."""
    total = 0.0
    weights = weights / np.sum(weights)
    ours = margin(rows)
    for other, weight in zip(background, weights, strict=True):
        values = interventional_truth(margin, rows, other[None], order=order)[..., 0]
        theirs = margin(other[None])
        apart = ours - theirs
        slope = (link(ours) - link(theirs)) / np.where(apart == 0, 1.0, apart)
        total = total + weight * slope.reshape(-1, *[1] * order) * values
    return total


def path_dependent_truth(inspector, rows, *, members=None, order=1):
    """Values with absent features sent both ways, by the trees that were read."""
    trees, model = inspector._trees.ensemble, inspector._trees.model
    members = [[j] for j in range(model.n_columns)] if members is None else members
    player = np.empty(model.n_columns, dtype=np.intp)
    for place, columns in enumerate(members):
        player[list(columns)] = place
    games = (
        path_dependent_game(trees, goes_left, row, player[model.columns])
        for row in model.encode(rows).astype(np.float64)
    )
    return np.array([enumerated(game, len(members), order) for game in games])


def assert_values(inspector, rows, expected, *, rtol=1e-11):
    """The explanation has the expected values, and adds up to the predictions."""
    explanation = inspector.explain(rows)
    values = explanation.values.reshape(expected.shape)
    scale = np.ptp(explanation.predictions) + np.abs(expected).max() + 1e-12
    assert_allclose(values, expected, rtol=0, atol=rtol * scale)
    scale += np.abs(explanation.predictions).max()
    assert np.abs(explanation.additivity_error()).max() <= rtol * scale
    return explanation


def assert_interactions(inspector, rows, expected, *, rtol=1e-11):
    """Interaction values are the expected ones, and their rows sum to the values."""
    pairs = inspector.interaction_values(rows)
    values = inspector.explain(rows).values
    scale = np.abs(expected).max() + np.abs(values).max() + 1e-12
    assert_allclose(pairs.reshape(expected.shape), expected, rtol=0, atol=rtol * scale)
    assert_array_equal(pairs, pairs.swapaxes(1, 2))
    assert_allclose(pairs.sum(axis=2), values, rtol=0, atol=rtol * scale)

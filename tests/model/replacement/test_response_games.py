"""Games of coalitions: the definition, and no row too many."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logit
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression

from sklearn_interpret._model.replacement.response_games import CoalitionGame
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows

RNG = np.random.default_rng(0)


class Recording(RegressorMixin, BaseEstimator):
    """A model of two outputs, every column with every other, that keeps all rows."""

    def __init__(self):
        self.seen = []

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        dense = X.toarray() if sparse.issparse(X) else np.array(X)
        self.seen.append(dense)
        dense = np.nan_to_num(dense)
        mixed = dense @ (1 + np.arange(dense.shape[1]))
        return np.stack([np.sin(mixed) * dense[:, 0], np.cos(mixed)], axis=1)


def made(background, players, weights=None, model=None, **params):
    model = Recording() if model is None else model
    weights = np.ones(background.shape[0]) if weights is None else weights
    response = make_response(model)
    return model, CoalitionGame(
        response, as_rows(background), weights, players, **params
    )


def by_definition(model, background, weights, players, row, coalition):
    mixed = np.array(background)
    for player in np.flatnonzero(coalition):
        mixed[:, list(players[player])] = row[list(players[player])]
    return np.average(Recording().predict(mixed), axis=0, weights=weights)


@pytest.mark.parametrize("working_memory", [1024, 0.001])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_values_are_weighted_means_over_the_background(kind, working_memory):
    background = RNG.normal(size=(7, 5)) * (RNG.random((7, 5)) < 0.6)
    X = RNG.normal(size=(3, 5)) * (RNG.random((3, 5)) < 0.6)
    weights = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 1.0])
    players = [(2,), (0, 4), (1,), (3,)]
    with config_context(working_memory=working_memory):
        model, game = made(kind(background), players, weights)
        row_games = game.games_of_rows(as_rows(kind(X)))
        which = np.array([2, 0, 1, 1, 0])
        coalitions = RNG.random((5, 4)) < 0.5
        found = row_games.coalition_values(which, coalitions)
    for value, place, coalition in zip(found, which, coalitions, strict=True):
        expected = by_definition(
            model, background, weights, players, X[place], coalition
        )
        assert_allclose(value, expected, atol=1e-12)
    nobody = np.average(Recording().predict(background), axis=0, weights=weights)
    assert_allclose(game.base_values, nobody, atol=1e-12)
    assert_allclose(row_games.predictions, Recording().predict(X), atol=1e-12)


def test_each_coalition_costs_one_row_for_each_of_the_background():
    model, game = made(RNG.normal(size=(6, 3)), [(0,), (1,), (2,)])
    row_games = game.games_of_rows(as_rows(RNG.normal(size=(2, 3))))
    model.seen.clear()
    row_games.coalition_values(np.array([0, 1, 1]), np.eye(3, dtype=bool))
    assert sum(map(len, model.seen)) == 3 * 6
    assert len(model.seen) == 1


def test_active_players_are_those_that_differ_somewhere():
    background = np.array([[1.0, np.nan, 3.0, 0.0], [1.0, np.nan, 3.0, 1.0]])
    rows = np.array([[1.0, np.nan, 3.0, 0.0], [2.0, 1.0, 3.0, 0.0]])
    players = [(0,), (1,), (2,), (3,)]
    expected = [[False, False, False, True], [True, True, False, True]]
    for working_memory in (1024, 1e-6):
        with config_context(working_memory=working_memory):
            _, game = made(background, players)
            assert game.games_of_rows(as_rows(rows)).active.tolist() == expected
    _, game = made(background, [(0, 2), (1, 3)])
    active = game.games_of_rows(as_rows(rows)).active
    assert active.tolist() == [[False, True], [True, True]]


def test_designs_are_coalitions_of_active_players():
    background = np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 1.0]])
    rows = np.array([[1.0, 2.0, 5.0], [3.0, 2.0, 5.0], [1.0, 1.0, 1.0]])
    players = [(0,), (1,), (2,)]
    _, game = made(background, players)
    row_games = game.games_of_rows(as_rows(rows))

    def design(n_players):
        return np.eye(n_players, dtype=bool)[: n_players - 1]

    expected = [([1, 2], [1]), ([0, 1, 2], [0, 1]), ([1, 2], [1])]
    found = row_games.values_by_design(design)
    for row, (own, alone) in enumerate(expected):
        active, values = next(found)
        assert active.tolist() == own
        coalitions = np.eye(3, dtype=bool)[alone]
        which = np.full(len(alone), row)
        assert_array_equal(values, row_games.coalition_values(which, coalitions))


def test_links():
    X = RNG.normal(size=(30, 2))
    y = X[:, 0] > 0
    model = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y)
    players = [(0,), (1,)]
    _, plain = made(X[:8], players, model=model)
    _, linked = made(X[:8], players, model=model, link="logit")
    rows, one = as_rows(X[9:10]), np.zeros(1, dtype=int)
    coalition = np.array([[True, False]])
    assert_allclose(linked.base_values, logit(plain.base_values))
    assert_allclose(
        linked.games_of_rows(rows).coalition_values(one, coalition),
        logit(plain.games_of_rows(rows).coalition_values(one, coalition)),
    )
    model = LinearRegression().fit(X, y)
    _, outside = made(X[:8], players, model=model, link="logit")
    with pytest.raises(ValueError, match="link='logit' takes mean responses between"):
        outside.games_of_rows(as_rows(10 * X[:2]))

"""Games of losses against enumeration of all coalitions."""

from itertools import permutations

import numpy as np
import pytest

from sklearn_interpret._core.games.coalitions import values_of_all
from sklearn_interpret._core.games.loss_games import (
    means_of_draws,
    membership,
    paired_coalitions,
    paired_gains,
    responses_of_coalitions,
    squared_error_moments,
    squared_error_values,
)

N_PLAYERS = 4
SETS = [(0,), (1,), (3,), (0, 1), (1, 2), (0, 1, 3), (0, 1, 2, 3)]
NUMBERS = np.arange(2**N_PLAYERS)
COALITIONS = ((NUMBERS[:, None] >> np.arange(N_PLAYERS)) & 1).astype(bool)


@pytest.fixture(params=[1, 3])
def parts(request):
    """Components (m, n_sets, k), residuals (m, k) and weights."""
    rng = np.random.default_rng(request.param)
    components = rng.normal(size=(9, len(SETS), request.param))
    return components, rng.normal(size=(9, request.param)), rng.uniform(1, 2, 9)


def removed(components, residuals, weights):
    """Weighted sum of squared errors that each coalition removes, by definition."""
    values = []
    for coalition in COALITIONS:
        known = [{*U} <= {*np.flatnonzero(coalition)} for U in SETS]
        errors = residuals - components[:, known].sum(axis=1)
        values.append(weights @ (residuals**2 - errors**2).sum(axis=1))
    return np.array(values)


def test_values_of_the_squared_error_are_those_of_all_coalitions(parts):
    members = membership(SETS, N_PLAYERS)
    values = squared_error_values(members, *squared_error_moments(*parts))
    expected = values_of_all(removed(*parts)[:, None])[:, 0]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10)


def test_blocks_of_rows_add_up(parts):
    blocks = [[part[some] for part in parts] for some in (slice(4), slice(4, None))]
    sums = [squared_error_moments(*block) for block in blocks]
    for whole, *own in zip(squared_error_moments(*parts), *sums, strict=True):
        np.testing.assert_allclose(sum(own), whole, rtol=0, atol=1e-12)


def test_responses_of_coalitions_sum_the_components_within(parts):
    components, residuals, weights = parts
    responses = responses_of_coalitions(
        COALITIONS[None], membership(SETS, N_PLAYERS), components
    )
    left = residuals[:, None] - responses
    values = weights @ (residuals[:, None] ** 2 - left**2).sum(axis=2)
    np.testing.assert_allclose(values, removed(*parts), rtol=0, atol=1e-12)


def test_all_orders_give_the_exact_values(parts):
    game = -removed(*parts)
    orders = np.array([list(permutations(range(N_PLAYERS)))])
    asked = paired_coalitions(orders)[0] @ 2 ** np.arange(N_PLAYERS)
    assert ((asked > 0) & (asked < 2**N_PLAYERS - 1)).all()
    losses = game[np.concatenate([[0], asked, [2**N_PLAYERS - 1]])]
    gains = paired_gains(orders, losses[None])
    np.testing.assert_allclose(gains.sum(axis=2), game[0] - game[-1])
    expected = values_of_all(-game[:, None])[:, 0]
    np.testing.assert_allclose(gains.mean(axis=(0, 1)), expected)


@pytest.mark.parametrize("n_players", [1, 2])
def test_a_pair_of_orders_is_exact_for_few_players(n_players):
    game = np.array([0.0, -1.0, -3.0, -7.0])[: 2**n_players]
    orders = np.arange(n_players)[None, None]
    asked = paired_coalitions(orders)[0] @ 2 ** np.arange(n_players)
    losses = game[np.concatenate([[0], asked, [-1]]).astype(int)]
    gains = paired_gains(orders, losses[None])
    np.testing.assert_allclose(gains[0, 0], [1.0] if n_players == 1 else [2.5, 4.5])


@pytest.mark.parametrize(("n_rows", "n_draws"), [(1, 2), (1, 5), (3, 2), (50, 2)])
def test_errors_of_means_cover_them(n_rows, n_draws):
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 3, n_rows)
    truth = rng.normal(size=(n_rows, 1, 1)) + np.zeros(400)
    gains = truth + rng.normal(size=(n_rows, n_draws, 400))
    means, errors = means_of_draws(gains, weights)
    exact = np.average(truth[:, 0], axis=0, weights=weights)
    assert (np.abs(means - exact) <= 2 * errors).mean() > 0.93


def test_equal_draws_have_no_error():
    means, errors = means_of_draws(np.ones((3, 2, 2)), np.ones(3))
    assert means.tolist() == [1, 1]
    assert errors.tolist() == [0, 0]

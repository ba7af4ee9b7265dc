"""Surrogates of games: kernels and their shares as defined, errors that are honest."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.games import gaussian_process as coalition_surrogates
from sklearn_interpret._core.games.coalitions import (
    all_coalitions,
    interactions_of_all,
    paired_design,
    values_of_all,
)
from sklearn_interpret._core.games.gaussian_process import EvenSurrogate, OddSurrogate


def signs_of_all(p):
    """All coalitions by number, -1 and 1: (2**p, p)."""
    inner = all_coalitions(p)
    ends = np.zeros((1, p), dtype=bool), np.ones((1, p), dtype=bool)
    return np.where(np.concatenate([ends[0], inner, ends[1]]), 1.0, -1.0)


def halves(game, pairs, sign):
    """Half of sums or differences within pairs of a game by number, (2**p, k)."""
    p = pairs.shape[1]
    numbers = np.concatenate([[2**p - 1], pairs @ (1 << np.arange(p))])
    return (game[numbers] + sign * game[2**p - 1 - numbers]) / 2


def product_game(p, rng, order=4, n_terms=15):
    """Sums of products of up to `order` players: every feature counts, (2**p, 1)."""
    z = signs_of_all(p)
    game = z @ rng.normal(size=p)
    for _ in range(n_terms):
        members = rng.choice(p, rng.integers(2, order + 1), replace=False)
        game = game + rng.normal() * np.maximum(z[:, members], -0.3).prod(axis=1)
    return game[:, None]


def neural_game(p, rng, n_units=8):
    """A network with one layer: all orders of interaction, (2**p, 1)."""
    z = signs_of_all(p)
    units = np.tanh(z @ rng.normal(size=(p, n_units)) / np.sqrt(p) + rng.normal())
    return (units @ rng.normal(size=n_units))[:, None]


def step_game(p, rng, n_steps=3):
    """Steps where weighted sums of players pass a threshold, (2**p, 1)."""
    sums = signs_of_all(p) @ rng.normal(size=(p, n_steps))
    return (sums > rng.normal(size=n_steps)) @ rng.normal(size=(n_steps, 1))


def kernel_by_definition(p, strength, parity, constant):
    """The kernel of one parity, term by term: (2**p, 2**p)."""
    z, total = signs_of_all(p), np.zeros((2**p, 2**p))
    raised = {0: constant + 1, 1: 1 + 10 / strength}
    for degree in range(parity, p + 1, 2):
        for members in combinations(range(p), degree):
            term = z[:, list(members)].prod(axis=1)
            weight = (strength / p) ** degree * raised.get(degree, 1)
            if degree == 2:
                weight += 2 / (p * (p - 1))
            total += weight * np.outer(term, term)
    return total


@pytest.mark.parametrize("p", [3, 4, 6])
def test_values_are_those_of_the_smoothest_function(p, monkeypatch):
    """Against the regression in the kernel's own terms, shared out by enumeration."""
    for strengths in ("_STRENGTHS", "_STRENGTHS_OF_FEW_PAIRS"):
        monkeypatch.setattr(coalition_surrogates, strengths, (0.7,))
    rng = np.random.default_rng(p)
    pairs = paired_design(p, 2 ** (p - 1), rng)
    numbers = np.concatenate([[2**p - 1], pairs @ (1 << np.arange(p))])
    game = rng.normal(size=(2**p, 2))
    odd, even = halves(game, pairs, -1), halves(game, pairs, 1)

    kernel, trend = kernel_by_definition(p, 0.7, 1, 0), signs_of_all(p)
    n, n_terms = len(numbers), p if len(numbers) > p else 0
    trend = trend[:, :n_terms]  # all players alone, or none of them
    bordered = np.zeros((n + n_terms, n + n_terms))
    bordered[:n, :n] = kernel[np.ix_(numbers, numbers)]
    bordered[:n, n:], bordered[n:, :n] = trend[numbers], trend[numbers].T
    known = np.concatenate([odd, np.zeros((n_terms, 2))])
    weights = np.linalg.solve(bordered, known)
    surrogate = np.concatenate([kernel[:, numbers], trend], axis=1) @ weights
    values, _ = OddSurrogate(pairs).values(odd)
    assert_allclose(values, values_of_all(surrogate), atol=1e-7)

    kernel = kernel_by_definition(p, 0.7, 0, 10)
    weights = np.linalg.solve(kernel[np.ix_(numbers, numbers)], even - even[0])
    expected = interactions_of_all(kernel[:, numbers] @ weights)
    found = EvenSurrogate(pairs).interactions(even)
    assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("p", [7, 10])
def test_games_of_few_terms_are_found(p):
    """Players alone and in pairs: enough coalitions tell all there is."""
    rng = np.random.default_rng(p)
    game = product_game(p, rng, order=2)
    pairs = paired_design(p, 2**p - 4, rng)
    values, errors = OddSurrogate(pairs).values(halves(game, pairs, -1))
    assert_allclose(values, values_of_all(game), atol=1e-8)
    assert errors.max() < 1e-3
    found = EvenSurrogate(pairs).interactions(halves(game, pairs, 1))
    assert_allclose(found, interactions_of_all(game), atol=1e-6)


@pytest.mark.parametrize("p", [4, 12, 200])
def test_a_linear_game_is_found_and_its_errors_are_small(p):
    rng = np.random.default_rng(0)
    pairs = paired_design(p, min(2 * p + 40, 2**p - 2), rng)
    slopes = rng.normal(size=(p, 2))
    known = np.concatenate([np.ones((1, p)), np.where(pairs, 1.0, -1.0)])
    values, errors = OddSurrogate(pairs).values(known @ slopes)
    assert_allclose(values, 2 * slopes, atol=1e-9)
    assert errors.max() < 2e-3 * np.abs(values).max()


@given(data=st.data())
def test_errors_are_zero_only_where_values_are_exact(data):
    """A linear game but for one pair, which may not be known."""
    p = data.draw(st.integers(3, 6))
    seed = data.draw(st.integers(0, 2**31 - 1))
    rng = np.random.default_rng(seed)
    game = signs_of_all(p) @ rng.integers(-3, 4, (p, 1))
    game[rng.integers(1, 2**p - 1)] += data.draw(st.sampled_from([1e-4, 1.0, 1e3]))
    pairs = paired_design(p, data.draw(st.integers(4, 2**p - 2)), rng)
    known = halves(game, pairs, -1)
    values, errors = OddSurrogate(pairs).values(known)
    wrong = np.abs(values - values_of_all(game)) > 1e-9
    assert (errors[wrong] > 1e-9).all() or not known.any()


@pytest.mark.parametrize("p, n_coalitions", [(3, 4), (9, 6), (12, 300), (150, 100)])
def test_values_add_up_and_matrices_are_symmetric(p, n_coalitions):
    rng = np.random.default_rng(1)
    pairs = paired_design(p, n_coalitions, rng)
    known = 1e3 * rng.normal(size=(1 + len(pairs), 3))
    values, errors = OddSurrogate(pairs).values(known)
    assert_allclose(values.sum(axis=0), 2 * known[0], rtol=1e-11)
    assert (errors > 0).all()
    found = EvenSurrogate(pairs).interactions(known)
    assert_array_equal(found, found.swapaxes(0, 1))
    assert not found[np.arange(p), np.arange(p)].any()


def test_rounding_does_not_choose_a_kernel():
    """All players alone and together: whatever the kernel, as much is missed."""
    pairs, rng = np.eye(5, dtype=bool), np.random.default_rng(4)
    known = rng.normal(size=(6, 1))
    surrogate = OddSurrogate(pairs)
    _, errors = surrogate.values(known)
    for seed in range(20):
        noise = 1e-13 * np.random.default_rng(seed).normal(size=(6, 1))
        _, near = surrogate.values(known + noise)
        assert_allclose(near, errors, rtol=1e-8)


def test_a_kernel_of_relevant_players_is_of_its_own_terms():
    """With equal relevance a kernel is as without; with the right one, nearer."""
    p, rng = 12, np.random.default_rng(3)
    z, pairs = signs_of_all(p), paired_design(p, 120, rng)
    game = (z[:, 0] * z[:, 1] * z[:, 2] + z[:, 0] * z[:, 3] * z[:, 4])[:, None]
    game = game + rng.normal(size=(2**p, 1)) / 100
    known, surrogate = halves(game, pairs, -1), OddSurrogate(pairs)
    plain, errors = surrogate.values(known)
    same = surrogate.values(known, np.full(p, 1 / p))
    assert_allclose(same, (plain, errors), rtol=1e-6, atol=1e-9)
    found, smaller = surrogate.values(known, np.where(np.arange(p) < 5, 1 / 5, 0.0))
    apart = [np.linalg.norm(each - values_of_all(game)) for each in (plain, found)]
    assert apart[1] < apart[0] / 2
    assert (smaller < errors).all()


def coverage(make, p, n_coalitions, n_games=20):
    """Share of exact values within 1.96 standard errors, over designs and games."""
    covered = []
    rng = np.random.default_rng(n_coalitions)
    games = np.concatenate([make(p, rng) for _ in range(n_games)], axis=1)
    exact = values_of_all(games)
    for _ in range(30):
        pairs = paired_design(p, n_coalitions, rng)
        surrogate, known = OddSurrogate(pairs), halves(games, pairs, -1)
        for game in range(games.shape[1]):
            values, errors = surrogate.values(known[:, [game]])
            apart = np.abs(values[:, 0] - exact[:, game])
            covered.append(apart <= 1.96 * errors[:, 0] + 1e-12)
    return np.mean(covered)


@pytest.mark.thorough
@pytest.mark.parametrize("make", [product_game, neural_game])
@pytest.mark.parametrize("n_coalitions", [64, 256])
def test_intervals_cover_the_exact_values(make, n_coalitions):
    """95 % intervals do so 90 to 99 % of the time."""
    assert 0.90 <= coverage(make, 11, n_coalitions) <= 0.99


@pytest.mark.thorough
@pytest.mark.parametrize("make", [product_game, neural_game, step_game])
@pytest.mark.parametrize("p, budgets", [(5, (26, 30)), (6, (50, 54))])
def test_intervals_of_few_players_cover_the_exact_values(make, p, budgets):
    """Also where nearly all pairs are known, and what is missed is of many players."""
    for n_coalitions in budgets:
        share = coverage(make, p, n_coalitions, n_games=15)
        assert share >= 0.90, n_coalitions


def conjunction(z):
    """One where all players are there."""
    return (z > 0).all(axis=1) * 1.0


def conjunction_beside_players(z):
    """As much again comes from players alone."""
    return conjunction(z) + z @ np.linspace(-1, 1, z.shape[1]) / 4


def signed_product(z):
    """The product of factors that are small where a player is not there."""
    factors = np.where(z > 0, np.linspace(-1.5, 1.9, z.shape[1]), 0.1)
    return factors.prod(axis=1)


@pytest.mark.thorough
@pytest.mark.parametrize("p", [5, 9])
@pytest.mark.parametrize(
    "make", [conjunction, conjunction_beside_players, signed_product]
)
def test_intervals_of_fewer_pairs_than_players_cover_terms_of_many(make, p):
    """What players do together alone is not taken for what each does alone."""
    game = make(signs_of_all(p))[:, None]
    exact = values_of_all(game)
    rng = np.random.default_rng(p)
    for n_coalitions in range(4, 2 * p + 2, 2):
        covered = []
        for _ in range(30):
            pairs = paired_design(p, n_coalitions, rng)
            values, errors = OddSurrogate(pairs).values(halves(game, pairs, -1))
            covered.append(np.abs(values - exact) <= 1.96 * errors + 1e-9)
        assert np.mean(covered) >= 0.9, n_coalitions


def test_more_coalitions_are_better_than_a_regression_on_players_alone():
    """A tenth of the error of least squares on the same pairs, and falling."""
    p, missed = 12, []
    rng = np.random.default_rng(5)
    game = neural_game(p, rng)
    exact = values_of_all(game)
    for n_coalitions in (64, 256, 1024):
        pairs = paired_design(p, n_coalitions, rng)
        known = halves(game, pairs, -1)
        values, _ = OddSurrogate(pairs).values(known)
        missed.append(np.linalg.norm(values - exact))
    z = np.where(pairs, 1.0, -1.0)
    linear, *_ = np.linalg.lstsq(z, known[1:], rcond=None)
    assert missed[0] > 2 * missed[1] > 4 * missed[2]
    assert missed[2] < np.linalg.norm(2 * linear - exact) / 10

"""Linear functions of Gaussian columns: all coalitions, and permutations of many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.games import gaussian_conditionals as gaussian_shapley
from sklearn_interpret._core.games.gaussian_conditionals import gaussian_blocks
from tests.references.gaussian import conditional_values
from tests.speeds import examples

seeds = st.integers(0, 2**16)


def problem(seed, n_columns=5, rank=None, k=1):
    """A covariance of some rank, coefficients, and rows' deviations."""
    rng = np.random.default_rng(seed)
    rank = n_columns if rank is None else rank
    factor = rng.normal(size=(rank, n_columns)) * rng.uniform(0.1, 10, n_columns)
    coefficients = rng.normal(size=(n_columns, k))
    return factor.T @ factor, coefficients, rng.normal(size=(3, n_columns))


def valued(covariance, coefficients, rows, player=None, seed=0):
    """Values and standard errors (n_rows, n_players, k)."""
    player = np.arange(len(covariance)) if player is None else np.asarray(player)
    rng = np.random.default_rng(seed)
    values = np.zeros((len(rows), player.max() + 1, coefficients.shape[1]))
    errors = np.zeros_like(values)
    for block in gaussian_blocks(covariance, coefficients, player, rng):
        values[:, block.players], errors[:, block.players] = block.values(rows)
    return values, errors


@pytest.fixture
def always_sampled(monkeypatch):
    monkeypatch.setattr(gaussian_shapley, "MOST_PLAYERS", 1)


@examples(20)
@given(seed=seeds, rank=st.integers(1, 5), k=st.integers(1, 2))
def test_all_coalitions(seed, rank, k):
    """Singular or not, the values are those of conditional means."""
    covariance, coefficients, rows = problem(seed, rank=rank, k=k)
    expected = conditional_values(coefficients, np.zeros(5), covariance, rows)
    values, errors = valued(covariance, coefficients, rows)
    size = np.abs(expected).max()
    assert_allclose(values, expected, atol=1e-7 * size)
    assert_array_equal(errors, 0)


@examples(15)
@given(seed=seeds)
def test_players_of_several_columns(seed):
    covariance, coefficients, rows = problem(seed, n_columns=6)
    members = [[0, 3], [1], [2, 4, 5]]
    expected = conditional_values(coefficients, np.zeros(6), covariance, rows, members)
    values, _ = valued(covariance, coefficients, rows, [0, 1, 2, 0, 2, 2])
    assert_allclose(values, expected, atol=1e-9 * np.abs(expected).max())


@given(
    share=st.floats(-0.99, 0.99),
    spread=st.floats(0.01, 100),
    b=st.tuples(st.floats(-5, 5), st.floats(-5, 5)),
)
def test_two_columns_in_closed_form(share, spread, b):
    """A column gets its own part, plus half of what each tells of the other."""
    covariance = np.array([[1.0, share * spread], [share * spread, spread**2]])
    rows = np.array([[1.0, 2.0], [-3.0, 0.5]])
    first, second = rows.T
    told = b[1] * share * spread * first - b[0] * share / spread * second
    expected = np.stack([b[0] * first + told / 2, b[1] * second - told / 2], axis=1)
    values, _ = valued(covariance, np.array(b)[:, None], rows)
    size = 1 + np.abs(expected).max() + np.abs(told).max()
    assert_allclose(values[..., 0], expected, atol=1e-10 * size)


def test_columns_that_nothing_connects_are_apart():
    covariance, coefficients, rows = problem(3, n_columns=6)
    covariance[:3, 3:] = covariance[3:, :3] = 0
    covariance[2], covariance[:, 2] = 0, 0
    blocks = gaussian_blocks(
        covariance, coefficients, np.arange(6), np.random.default_rng(0)
    )
    found = sorted(block.players.tolist() for block in blocks)
    assert found == [[0, 1], [2], [3, 4, 5]]
    values, _ = valued(covariance, coefficients, rows)
    assert_allclose(values[:, 2], rows[:, 2:3] * coefficients[2])
    expected = conditional_values(coefficients, np.zeros(6), covariance, rows)
    assert_allclose(values, expected, atol=1e-9 * np.abs(expected).max())


@examples(15)
@given(seed=seeds, rank=st.integers(2, 8))
def test_efficiency_of_samples(seed, rank):
    """Permutations share out all there is, each of them, also where it is singular."""
    covariance, coefficients, rows = problem(seed, n_columns=8, rank=rank, k=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaussian_shapley, "MOST_PLAYERS", 1)
        (block,) = gaussian_blocks(
            covariance, coefficients, np.arange(8), np.random.default_rng(seed)
        )
    assert block.sampled
    total = (block.draws @ rows.T).sum(axis=1)
    expected = coefficients.T @ rows.T
    size = np.abs(block.draws).max()
    assert_allclose(total, np.broadcast_to(expected, total.shape), atol=1e-9 * size)


@pytest.mark.thorough
def test_samples_are_near_and_their_errors_are_honest(always_sampled):
    """Deviations in units of the standard error are about standard normal."""
    standardised = []
    for seed in range(40):
        covariance, coefficients, rows = problem(seed, n_columns=6)
        values, errors = valued(covariance, coefficients, rows[:1], seed=seed)
        exact = conditional_values(coefficients, np.zeros(6), covariance, rows[:1])
        standardised.append((values - exact)[errors > 0] / errors[errors > 0])
    standardised = np.concatenate(standardised)
    assert 0.85 < np.sqrt(np.mean(standardised**2)) < 1.15
    assert np.abs(standardised).max() < 5


def test_samples_of_singular_covariances(always_sampled):
    """Rows like the background get what conditional means give them."""
    covariance, coefficients, _ = problem(0, n_columns=6, rank=3)
    rows = np.random.default_rng(1).normal(size=(3, 6)) @ covariance
    rows /= np.abs(rows).max()
    player = [0, 1, 2, 0, 1, 2]
    members = [[0, 3], [1, 4], [2, 5]]
    exact = conditional_values(coefficients, np.zeros(6), covariance, rows, members)
    values, errors = valued(covariance, coefficients, rows, player)
    assert (np.abs(values - exact) <= 5 * errors + 1e-6).all()


def test_values_of_samples_do_not_depend_on_the_batch_of_rows(
    always_sampled, monkeypatch
):
    covariance, coefficients, rows = problem(2)
    values, errors = valued(covariance, coefficients, rows)
    monkeypatch.setattr(gaussian_shapley, "_BATCH_BYTES", 1)
    one_by_one, errors_one_by_one = valued(covariance, coefficients, rows)
    assert_allclose(one_by_one, values, atol=1e-12)
    assert_allclose(errors_one_by_one, errors, atol=1e-12)


def test_the_same_seed_draws_the_same():
    covariance, coefficients, rows = problem(5, n_columns=20)
    one, errors = valued(covariance, coefficients, rows, seed=3)
    same, _ = valued(covariance, coefficients, rows, seed=3)
    other, _ = valued(covariance, coefficients, rows, seed=4)
    assert_array_equal(one, same)
    assert (errors > 0).all()
    assert (one != other).any()
    assert_allclose(one.sum(axis=1), rows @ coefficients, atol=1e-9)

"""Designs of coalitions: pairs, sizes, no repeats."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_interpret._core.games.coalitions import n_pairs_of, paired_design


def drawn(n_players, n_coalitions, seed=0):
    return paired_design(n_players, n_coalitions, np.random.default_rng(seed))


def assert_distinct(pairs):
    both = np.packbits(np.concatenate([pairs, ~pairs]), axis=1)
    assert len(np.unique(both, axis=0)) == len(both)


@given(
    n_players=st.integers(1, 14),
    n_coalitions=st.integers(2, 2**14),
    seed=st.integers(0, 9),
)
def test_as_many_pairs_as_asked_for_and_none_twice(n_players, n_coalitions, seed):
    pairs = drawn(n_players, n_coalitions, seed)
    wanted = min((n_coalitions - 2) // 2, 2 ** (n_players - 1) - 1)
    assert pairs.shape == (wanted, n_players)
    assert_distinct(pairs)
    sizes = pairs.sum(axis=1)
    assert ((sizes > 0) & (2 * sizes <= n_players)).all()
    assert (np.diff(sizes) >= 0).all()


@pytest.mark.parametrize("n_players", [25, 60, 301, 2000])
def test_many_players(n_players):
    pairs = drawn(n_players, 2 * n_players + 202)
    assert pairs.shape == (n_players + 100, n_players)
    assert_distinct(pairs)
    # Single players are there, and the others spread over the sizes.
    sizes = pairs.sum(axis=1)
    assert (sizes == 1).sum() == n_players
    others = sizes[sizes > 1]
    assert abs(others.mean() - (n_players / 2 + 1.5) / 2) < 0.1 * n_players
    assert pairs[sizes > 1].any(axis=0).all()


@pytest.mark.parametrize("n_players", [11, 12])
def test_sizes_are_as_frequent_as_each_other_until_they_are_whole(n_players):
    counts = np.bincount(drawn(n_players, 302).sum(axis=1))[1:]
    existing = [n_pairs_of(n_players, size) for size in range(1, n_players // 2 + 1)]
    assert counts[0] == existing[0]
    # The middle size is one, the others are two with that of the complements.
    doubled = counts[1:] * np.where(
        2 * np.arange(2, len(counts) + 1) == n_players, 2, 1
    )
    assert np.ptp(doubled) <= 2
    whole = np.bincount(drawn(n_players, 802).sum(axis=1))[1:]
    assert whole[:2].tolist() == existing[:2]


def test_pairs_of_a_size():
    assert [n_pairs_of(6, size) for size in (1, 2, 3)] == [6, 15, comb(6, 3) // 2]
    assert n_pairs_of(7, 3) == 35


@pytest.mark.parametrize("n_players", [9, 40])
def test_every_player_is_drawn_as_often(n_players):
    often = sum(drawn(n_players, 42, seed) for seed in range(300)).sum(axis=0)
    # The first player stands for the pairs of the middle size, of which 9 has none.
    others = often[n_players % 2 == 0 :]
    assert np.ptp(others) < 0.3 * others.mean()


def test_the_same_generator_draws_the_same():
    assert_array_equal(drawn(30, 100, 3), drawn(30, 100, 3))
    assert (drawn(30, 100, 3) != drawn(30, 100, 4)).any()

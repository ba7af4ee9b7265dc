"""Sets of parts that stay: all of them, or draws that are more even than by chance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import comb

from sklearn_interpret._core.local.masks import (
    cosine_distances,
    independent_masks,
    quasi_random_points,
    sized_masks,
)

DRAWS = [independent_masks, sized_masks]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("n_parts", [0, 1, 4])
def test_all_sets_where_there_are_few(draw, n_parts):
    masks = draw(n_parts, 16, np.random.default_rng(0))
    assert masks.complete
    assert len(np.unique(masks.present, axis=0)) == len(masks.present) == 2**n_parts
    assert masks.present[0].all()
    assert_allclose(masks.probabilities.sum(), 1)


def test_probabilities_of_all_sets():
    rng = np.random.default_rng(0)
    assert_array_equal(independent_masks(4, 16, rng).probabilities, 1 / 16)
    masks = sized_masks(4, 16, rng)
    sizes = masks.present.sum(axis=1)
    assert_allclose(masks.probabilities, 1 / (5 * comb(4, sizes)))


@pytest.mark.parametrize("draw", DRAWS)
def test_draws_are_even(draw):
    masks = draw(30, 1025, np.random.default_rng(0))
    assert not masks.complete
    assert masks.present.shape == (1025, 30)
    assert masks.present[0].all()
    assert_allclose(masks.present[1:].mean(axis=0), 0.5, atol=0.02)
    assert_allclose(masks.probabilities, 1 / 1025)


def test_sizes_come_up_equally_often():
    masks = sized_masks(9, 1 + 2**8, np.random.default_rng(1))
    counts = np.bincount(masks.present[1:].sum(axis=1), minlength=10)
    assert_allclose(counts, 25.6, atol=2)


def test_distances_from_the_whole():
    kept = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    assert_allclose(cosine_distances(kept), [0, 0.5, 1])
    assert_array_equal(cosine_distances(kept[:, :0]), 0)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (64, 5), (20, 1100), (5, 0)])
def test_points_lie_inside_of_the_cube(n, d):
    points = quasi_random_points(n, d, np.random.default_rng(0))
    assert points.shape == (n, d)
    assert (points > 0).all()
    assert (points < 1).all()


def test_points_are_more_even_than_by_chance():
    def spread(draw):
        means = [
            draw(np.random.default_rng(seed)).prod(axis=1).mean() for seed in range(20)
        ]
        return np.std(means)

    even = spread(lambda rng: quasi_random_points(256, 4, rng))
    chance = spread(lambda rng: rng.uniform(size=(256, 4)))
    assert even < chance / 4


def test_points_hang_on_the_seed_alone():
    one, same, other = (
        quasi_random_points(30, 4, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert_array_equal(one, same)
    assert not np.array_equal(one, other)

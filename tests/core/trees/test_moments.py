"""Moments of trees under products of distributions against sums over all points."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.trees import moments as module
from sklearn_interpret._core.trees.effects.tree_effects import MovedFeatures
from sklearn_interpret._core.trees.moments import TreeProducts
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from tests.references.trees import random_ensemble
from tests.speeds import examples

CLOSE = {"rtol": 0, "atol": 1e-12}


def part_of(trees, features, n_points, rng):
    """Points in any order, some of them alike, now and then missing."""
    sizes = trees.split_codes.n_codes[features]
    codes = rng.integers(0, sizes, size=(n_points, len(features)))
    return MovedFeatures(np.array(features), codes, (n_points,))


def distributions(parts, m, rng, *, zeros=0.3):
    """Shares, some of them zero, and statistics: each for itself or for all."""
    shares, statistics = [], []
    for number, part in enumerate(parts):
        share = rng.exponential(size=(m, part.n_points)) ** 3
        share *= rng.random(share.shape) >= zeros
        share[share.sum(axis=1) == 0, 0] = 1
        shares.append(share / share.sum(axis=1, keepdims=True))
        shape = (part.n_points,) if number % 2 else share.shape
        statistics.append(rng.normal(size=shape))
    return shares, statistics


def outputs(trees, parts):
    """Responses at all points of the grid: (n_points of each part, ..., k)."""
    shape = [part.n_points for part in parts]
    codes = np.zeros((int(np.prod(shape)), trees.n_features), dtype=np.intp)
    for row, points in enumerate(product(*map(range, shape))):
        for part, point in zip(parts, points, strict=True):
            codes[row, part.features] = part.codes[point]
    return trees.raw_of_codes(codes).reshape(*shape, trees.n_outputs)


def by_definition(grid, shares, statistics):
    """Mean, covariances, means and variances of statistics of one distribution."""
    weights = np.ones(())
    for share in shares:
        weights = np.multiply.outer(weights, share)
    mean = np.tensordot(weights, grid, axes=weights.ndim)
    covariance, of_statistics = [], []
    for axis, (share, statistic) in enumerate(zip(shares, statistics, strict=True)):
        centre = share @ statistic
        centred = (statistic - centre).reshape(-1, *[1] * (len(shares) - axis - 1))
        covariance.append(np.tensordot(weights * centred, grid, axes=weights.ndim))
        of_statistics.append((centre, share @ (statistic - centre) ** 2))
    return mean, np.array(covariance), *np.array(of_statistics).T


def check(trees, parts, shares, statistics):
    found = TreeProducts(trees, trees.value, trees.base, parts).moments(
        shares, statistics
    )
    grid = outputs(trees, parts)
    for row in range(len(shares[0])):
        mean, covariance, centre, variance = by_definition(
            grid,
            [share[row] for share in shares],
            [s[row] if s.ndim == 2 else s for s in statistics],
        )
        assert_allclose(found.mean[row], mean, **CLOSE)
        assert_allclose(found.covariance[row], covariance, **CLOSE)
        assert_allclose(found.statistic[row], centre, **CLOSE)
        assert_allclose(found.variance[row], variance, **CLOSE)


GROUPS = {
    "features": [[0], [1], [2], [3]],
    "groups": [[2], [3, 0], [1]],
    "one": [[1, 3, 2, 0]],
}


@examples(40)
@given(
    seed=st.integers(0, 2**16),
    k=st.sampled_from([1, 3]),
    n_categorical=st.integers(0, 2),
    groups=st.sampled_from(sorted(GROUPS)),
    sizes=st.lists(st.integers(1, 6), min_size=4, max_size=4),
    zeros=st.sampled_from([0, 0.3, 0.9]),
)
def test_moments_of_any_trees(seed, k, n_categorical, groups, sizes, zeros):
    rng = np.random.default_rng(seed)
    trees = random_ensemble(seed, k=k, n_categorical=n_categorical)
    parts = [
        part_of(trees, group, size, rng)
        for group, size in zip(GROUPS[groups], sizes, strict=False)
    ]
    check(trees, parts, *distributions(parts, 2, rng, zeros=zeros))


def test_many_points_that_the_trees_do_not_tell_apart():
    rng = np.random.default_rng(5)
    trees = random_ensemble(2, thresholds=[-0.5, 0.5], n_categorical=1)
    codes = np.sort(rng.integers(0, 3, size=40))
    parts = [part_of(trees, [j], 2, rng) for j in (0, 2, 3)]
    for points in (codes, rng.permutation(np.append(codes, 3))):
        some = [MovedFeatures(np.array([1]), points[:, None], points.shape), *parts]
        check(trees, some, *distributions(some, 3, rng))


def test_shares_so_small_that_their_differences_vanish():
    rng = np.random.default_rng(5)
    trees = random_ensemble(8, depth=8, n_categorical=1)
    parts = [part_of(trees, [j], 6, rng) for j in range(4)]
    shares, statistics = distributions(parts, 3, rng, zeros=0)
    for share in shares:
        share[0, :3] *= 1e-18
        share[1, 1:] = 5e-324
        share[2, :5] *= [1e-300, 1e-310, 5e-324, 1e-17, 1e-200]
        share /= share.sum(axis=1, keepdims=True)
    check(trees, parts, shares, statistics)


@pytest.mark.parametrize("at_once", [1, 7, 16])
def test_the_moments_of_one_do_not_depend_on_others(monkeypatch, at_once):
    rng = np.random.default_rng(2)
    trees = random_ensemble(4, n_trees=9, n_categorical=1, k=2, depth=6)
    sizes = (6, 700, 6)
    parts = [
        part_of(trees, group, size, rng)
        for group, size in zip(([0], [1], [2, 3]), sizes, strict=True)
    ]
    shares, statistics = distributions(parts, 20, rng)
    statistics[1] = np.asfortranarray(rng.normal(size=(20, 700)))
    monkeypatch.setattr(module, "_MOST_DISTRIBUTIONS", at_once)
    monkeypatch.setattr(module, "_MOST_SPLITS", 2**10)
    products = TreeProducts(trees, trees.value, trees.base, parts)
    together = products.moments(shares, statistics)
    for row in range(20):
        rows = slice(row, row + 1)
        alone = products.moments(
            [share[rows] for share in shares],
            [s[rows] if s.ndim == 2 else s for s in statistics],
        )
        for name in ("mean", "covariance", "statistic", "variance"):
            assert_allclose(
                getattr(alone, name)[0],
                getattr(together, name)[row],
                rtol=1e-10,
                atol=1e-10,
            )


def test_single_leaves_and_parts_that_no_tree_looks_at():
    leaf = Tree([-1], [-1], [-2], [np.nan], [[1.0, 2.0]], [1.0])
    split = Tree(
        left=[1, -1, -1],
        right=[2, -1, -1],
        feature=[1, -2, -2],
        threshold=[0.5, np.nan, np.nan],
        value=[[0.0, 0.0], [3.0, 0.0], [5.0, 8.0]],
        cover=[2.0, 1.0, 1.0],
    )
    rng = np.random.default_rng(0)
    for grown in ([leaf, leaf], [leaf, split]):
        trees = join_trees(grown, base=[0.5, 0], n_features=3, precision=np.float64)
        two = np.array([[0], [1]])
        parts = [MovedFeatures(np.array([j]), two, (2,)) for j in range(3)]
        none = np.empty((3, 0), np.intp)
        parts.append(MovedFeatures(none[0], none, (3,)))
        check(trees, parts, *distributions(parts, 3, rng))


def test_a_feature_without_a_part_is_refused():
    trees = random_ensemble(0)
    parts = [part_of(trees, [0], 3, np.random.default_rng(0))]
    with pytest.raises(ValueError, match="does not move"):
        TreeProducts(trees, trees.value, trees.base, parts)

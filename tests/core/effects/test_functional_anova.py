"""Functional ANOVA: sizes of finite differences, and the sets that remain."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.effects.functional_anova import (
    main_effect,
    maximal_sets,
    superset_importance,
)


def test_mean_square_and_its_error():
    differences = np.random.default_rng(0).normal(size=(7, 3, 2))
    weights = np.array([1, 2, 1, 1, 3, 1, 1.0])
    found, error = superset_importance(differences, 2, weights, np.zeros(2))
    repeated = np.repeat(
        np.square(differences).mean(axis=1) / 4, weights.astype(int), 0
    )
    assert_allclose(found, repeated.mean(axis=0))
    assert_allclose(error, repeated.std(axis=0, ddof=1) / np.sqrt(10))
    found, error = superset_importance(differences, 2, weights, np.array([0, 1e3]))
    assert found[1] == error[1] == 0
    assert found[0] > 0


def test_main_effect_is_the_mean_product_over_pairs_of_rows():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, size=(6, 2))
    differences = rng.normal(size=(6, 2, 1)) + points[:, :, None]
    weights = rng.uniform(1, 2, size=6)
    terms = differences[:, :, 0] - differences[:, ::-1, 0] / 2
    terms -= np.average(terms.mean(axis=1), weights=weights)
    expected = total = 0.0
    for point in range(3):
        rows, draws = np.nonzero(points == point)
        products = [
            (weights[i] * weights[j], terms[i, r] * terms[j, s])
            for i, r in zip(rows, draws, strict=True)
            for j, s in zip(rows, draws, strict=True)
            if i != j
        ]
        masses, values = np.transpose(products)
        share = weights[rows].sum()
        expected += share * np.average(values, weights=masses)
        total += share
    found = main_effect(differences, points, weights, np.zeros(1))
    assert_allclose(found, expected / total)


def test_main_effect_needs_a_point_in_two_rows():
    differences, points = np.ones((3, 2, 1)), np.array([[0, 0], [1, 1], [2, 2]])
    assert main_effect(differences, points, np.ones(3), np.zeros(1)) == 0


def all_maximal(n, edges, refuted):
    """The same by looking at every set."""
    edges, refuted = set(map(frozenset, edges)), list(map(frozenset, refuted))
    allowed = [
        frozenset(one)
        for size in range(1, n + 1)
        for one in combinations(range(n), size)
        if all(frozenset(pair) in edges for pair in combinations(one, 2))
        and not any(part <= frozenset(one) for part in refuted)
    ]
    return sorted(
        tuple(sorted(one)) for one in allowed if not any(one < two for two in allowed)
    )


@pytest.mark.parametrize("seed", range(8))
def test_maximal_sets(seed):
    rng = np.random.default_rng(seed)
    edges = [pair for pair in combinations(range(7), 2) if rng.random() < 0.7]
    triples = [
        one
        for one in combinations(range(7), 3)
        if all(pair in edges for pair in combinations(one, 2)) and rng.random() < 0.3
    ]
    for refuted in ([], triples):
        assert maximal_sets(range(7), edges, refuted) == all_maximal(7, edges, refuted)


def test_many_players_that_all_act_together():
    edges = list(combinations(range(60), 2))
    assert maximal_sets(range(60), edges, []) == [tuple(range(60))]
    fewer = maximal_sets(range(60), edges[1:], [])
    assert fewer == [(0, *range(2, 60)), tuple(range(1, 60))]
    assert maximal_sets([], [], []) == []

"""Interaction indices against their definitions, on a game of five players."""

from itertools import combinations
from math import comb, factorial

import numpy as np
import pytest

from sklearn_interpret._core.games.interaction_indices import index_matrix

N = 5
SETS = [s for size in range(N + 1) for s in combinations(range(N), size)]
VALUES = dict(zip(SETS, np.random.default_rng(0).normal(size=len(SETS)), strict=True))
MOEBIUS = np.array(
    [
        sum(
            (-1) ** (len(members) - size) * VALUES[subset]
            for size in range(len(members) + 1)
            for subset in combinations(members, size)
        )
        for members in SETS[1:]
    ]
)


def derivative(members, others):
    """Discrete derivative of the game with respect to a set, where others play."""
    return sum(
        (-1) ** (len(members) - size) * VALUES[tuple(sorted({*subset, *others}))]
        for size in range(len(members) + 1)
        for subset in combinations(members, size)
    )


def averaged(members, weight):
    """Weighted sum of the derivatives over the coalitions of all others."""
    rest = [player for player in range(N) if player not in members]
    return sum(
        weight(size) * derivative(members, others)
        for size in range(len(rest) + 1)
        for others in combinations(rest, size)
    )


def sii(members, order):
    s = len(members)
    total = factorial(N - s + 1)
    return averaged(members, lambda t: factorial(t) * factorial(N - s - t) / total)


def bii(members, order):
    return averaged(members, lambda t: 0.5 ** (N - len(members)))


def stii(members, order):
    if len(members) < order:
        return derivative(members, ())
    return averaged(members, lambda t: order / (N * comb(N - 1, t)))


def k_sii(members, order):
    """The recursion over orders: larger sets are shared out among their subsets."""
    numbers = [1.0, -0.5, 1 / 6, 0.0, -1 / 30]
    rest = [player for player in range(N) if player not in members]
    return sum(
        numbers[size] * sii(tuple(sorted({*members, *others})), order)
        for size in range(order - len(members) + 1)
        for others in combinations(rest, size)
    )


def fsii_of_all(order):
    """The best additive approximation, under Shapley's weights of coalitions."""
    known = [s for s in SETS if len(s) <= order]
    holds = np.array([[float({*k} <= {*s}) for k in known] for s in SETS])
    values = np.array([VALUES[s] for s in SETS])
    weights = [
        1e9 if len(s) in (0, N) else (N - 1) / (comb(N, len(s)) * len(s) * (N - len(s)))
        for s in SETS
    ]
    root = np.sqrt(weights)
    found = np.linalg.lstsq(holds * root[:, None], values * root, rcond=None)[0]
    return dict(zip(known, found, strict=True))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("index", "definition"),
    [("SII", sii), ("BII", bii), ("STII", stii), ("k-SII", k_sii)],
)
def test_indices_are_those_of_the_definitions(index, definition, order):
    sets, matrix = index_matrix(SETS[1:], index, order)
    expected = [definition(members, order) for members in sets]
    np.testing.assert_allclose(matrix @ MOEBIUS, expected, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_faithful_values_are_the_best_approximation(order):
    sets, matrix = index_matrix(SETS[1:], "FSII", order)
    known = fsii_of_all(order)
    expected = [known[members] for members in sets]
    np.testing.assert_allclose(matrix @ MOEBIUS, expected, atol=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("index", ["k-SII", "STII", "FSII"])
def test_efficient_indices_sum_to_the_grand_coalition(index, order):
    _, matrix = index_matrix(SETS[1:], index, order)
    total = VALUES[SETS[-1]] - VALUES[()]
    assert (matrix @ MOEBIUS).sum() == pytest.approx(total)

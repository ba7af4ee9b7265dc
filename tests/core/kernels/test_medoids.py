"""BUILD, swaps and the alternating search against trying everything."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sklearn_interpret._core.kernels import medoids as searches
from sklearn_interpret._core.kernels.medoids import alternate, build, fasterpam


def table(n_rows, seed, decimals=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2)).round(decimals)
    return cdist(X, X), rng.integers(1, 4, size=n_rows).astype(float)


def cost(distances, weights, medoids):
    return distances[list(medoids)].min(axis=0) @ weights


def built(distances, weights, n_medoids):
    """BUILD by trying each row."""
    chosen = []
    for _ in range(n_medoids):
        costs = [cost(distances, weights, [*chosen, c]) for c in range(len(weights))]
        free = [c for c in range(len(weights)) if c not in chosen]
        chosen.append(min(free, key=lambda c: round(costs[c], 9)))
    return chosen


def swapped(medoids, position, candidate):
    return [*medoids[:position], candidate, *medoids[position + 1 :]]


@pytest.mark.parametrize("n_medoids", [1, 2, 7])
@pytest.mark.parametrize("seed", range(3))
def test_build_is_greedy(n_medoids, seed):
    distances, weights = table(90, seed)
    found = build(distances, weights, n_medoids)
    assert found.tolist() == built(distances, weights, n_medoids)


def test_build_of_duplicates_takes_the_first_rows():
    distances = cdist(*[np.repeat([[0.0], [1.0]], 3, axis=0)] * 2)
    assert build(distances, np.ones(6), 6).tolist() == [0, 3, 1, 2, 4, 5]


@pytest.mark.parametrize("n_medoids", [1, 2, 5])
def test_changes_are_those_of_every_swap(n_medoids):
    distances, weights = table(40, 0)
    medoids = list(range(n_medoids))
    found = searches._Assignment(distances, weights, medoids)
    before = cost(distances, weights, medoids)
    changes = found.swap_changes(distances)
    for candidate, position in product(range(40), range(n_medoids)):
        after = cost(distances, weights, swapped(medoids, position, candidate))
        assert changes[position, candidate] == pytest.approx(after - before, abs=1e-9)


def fasterpam_once(distances, weights, start, max_iter):
    """A single search by FasterPAM."""
    [search] = fasterpam(distances, weights, [start], max_iter)
    return search


@pytest.mark.parametrize("start", ["build", "first"])
@pytest.mark.parametrize(("n_medoids", "decimals"), [(1, 8), (4, 8), (6, 1), (6, 0)])
def test_no_swap_improves(start, n_medoids, decimals, monkeypatch):
    monkeypatch.setattr(searches, "_MOST", 16)  # several blocks
    distances, weights = table(70, 1, decimals)
    first = np.arange(n_medoids)
    if start == "build":
        first = build(distances, weights, n_medoids)
    medoids, n_iter, converged = fasterpam_once(distances, weights, first, 100)
    assert converged
    assert 1 <= n_iter <= 100
    assert len(set(medoids.tolist())) == n_medoids
    least = min(
        cost(distances, weights, swapped(medoids.tolist(), position, candidate))
        for position, candidate in product(range(n_medoids), range(70))
    )
    assert least >= cost(distances, weights, medoids) * (1 - 1e-12)


def test_an_optimum_of_two_clusters_is_found():
    distances, weights = table(30, 2)
    medoids, *_ = fasterpam_once(distances, weights, np.array([0, 1]), 100)
    best = min(cost(distances, weights, pair) for pair in product(range(30), repeat=2))
    assert cost(distances, weights, medoids) == pytest.approx(best)


def test_several_starts_end_where_each_does(monkeypatch):
    monkeypatch.setattr(searches, "_MOST", 16)  # several blocks
    distances, weights = table(70, 5)
    starts = [np.arange(first, first + 4) for first in range(0, 60, 7)]
    together = fasterpam(distances, weights, starts, 100)
    for start, (medoids, *others) in zip(starts, together, strict=True):
        [(expected, *rest)] = fasterpam(distances, weights, [start], 100)
        assert medoids.tolist() == expected.tolist()
        assert others == rest


@pytest.mark.parametrize("search", [fasterpam_once, alternate])
def test_max_iter(search):
    distances, weights = table(60, 3)
    start = np.arange(5)
    medoids, n_iter, converged = search(distances, weights, start, 1)
    assert (n_iter, converged) == (1, False)
    assert start.tolist() == [0, 1, 2, 3, 4]
    assert cost(distances, weights, medoids) < cost(distances, weights, start)


def test_alternate_ends_at_the_best_row_of_each_cluster():
    distances, weights = table(60, 4)
    medoids, _, converged = alternate(distances, weights, np.arange(5), 100)
    assert converged
    nearest = distances[medoids].argmin(axis=0)
    for position, medoid in enumerate(medoids):
        members = np.flatnonzero(nearest == position)
        sums = distances[members][:, members] @ weights[members]
        assert members[sums.argmin()] == medoid


def test_alternate_keeps_a_medoid_that_no_row_is_nearest_to():
    distances = cdist(*[np.repeat([[0.0], [1.0]], 3, axis=0)] * 2)
    medoids, _, converged = alternate(distances, np.ones(6), np.array([0, 1, 3]), 10)
    assert converged
    assert medoids.tolist() == [0, 1, 3]

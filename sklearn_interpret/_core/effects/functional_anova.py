"""Superset importance of sets of players, from finite differences of a function.

For independent players the functional ANOVA of f has one component for each set of
players, and the components are uncorrelated. The *superset importance* of a set is the
variance of all components whose sets contain it: where it is zero, f is a sum of
functions none of which takes the whole set (Hooker 2004). It is the mean of a squared
finite difference (Liu & Owen 2006), and never larger than that of a subset of the set.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import Moments


def superset_importance(
    differences: NDArray[np.float64],
    order: int,
    weights: NDArray[np.float64],
    floor: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Variance of the components of the functional ANOVA whose sets contain a set.

    `differences` (n_rows, n_draws, k) are finite differences over the set of `order`
    players: the response with all of them redrawn, minus the finite differences over
    all proper subsets, minus the response to the row. Variances up to `floor` (k,)
    count as rounding. Returns the importance and its standard error: (k,) each.
    """
    # A finite difference over d independent players has 2^d times the variance.
    squares = np.square(differences).mean(axis=1) / 2**order
    moments = Moments.of_rows(squares, weights)
    importance = np.where(moments.mean > floor, moments.mean, 0.0)
    return importance, np.where(importance > 0, moments.standard_error, 0.0)


def main_effect(
    differences: NDArray[np.float64],
    points: NDArray[np.intp],
    weights: NDArray[np.float64],
    floor: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Variance of the partial dependence on a player over its drawn points: (k,).

    `differences` (n_rows, n_draws, k) are changes of the response where the player is
    redrawn; `points` (n_rows, n_draws) says which of its values was drawn. A term is a
    row's response with the point, minus the mean with the row's other points. The
    squared mean at a point is estimated without bias by the mean product of two terms
    of different rows. Squares of single terms would add their variance, which is no
    effect of the player alone.
    """
    n_rows, n_draws, n_outputs = differences.shape
    n_points = int(points.max()) + 1
    row = np.repeat(np.arange(n_rows), n_draws)
    flat = np.repeat(weights / weights.sum(), n_draws)
    # Repeated draws of a point for one row are one cell: they are not independent.
    cells, cell = np.unique(row * n_points + points.ravel(), return_inverse=True)
    cell = cell.reshape(-1)
    point_of_cell = cells % n_points
    cell_weight = np.bincount(cell, flat)
    weight = np.bincount(point_of_cell, cell_weight, n_points)
    pairs = weight**2 - np.bincount(point_of_cell, cell_weight**2, n_points)
    has_pairs = pairs > 1e-12 * weight**2  # a point of a single row leaves rounding
    effect = np.zeros(n_outputs)
    if not has_pairs.any():
        return effect
    # The difference at the row's own point is zero.
    other_means = (differences.sum(axis=1, keepdims=True) - differences) / n_draws
    for output in range(n_outputs):
        terms = (differences - other_means)[:, :, output].ravel()
        sums = np.bincount(cell, flat * (terms - flat @ terms / flat.sum()))
        total = np.bincount(point_of_cell, sums, n_points)
        products = total**2 - np.bincount(point_of_cell, sums**2, n_points)
        squares = products[has_pairs] / pairs[has_pairs]
        effect[output] = weight[has_pairs] @ squares / weight[has_pairs].sum()
    return np.where(effect > floor, effect, 0.0)


def maximal_sets(
    players: Iterable[int],
    edges: Iterable[tuple[int, int]],
    refuted: Iterable[tuple[int, ...]],
) -> list[tuple[int, ...]]:
    """Maximal sets of players that may have a component of their own, sorted.

    The maximal cliques of the graph of `edges` that do not contain a `refuted`
    set: a set without a component although all of its pairs are edges.
    """
    neighbours: defaultdict[int, set[int]] = defaultdict(set)
    forbidden: defaultdict[int, list[frozenset[int]]] = defaultdict(list)
    for first, second in edges:
        neighbours[first].add(second)
        neighbours[second].add(first)
    for clique in map(frozenset, refuted):
        for player in clique:
            forbidden[player].append(clique - {player})
    maximal: set[frozenset[int]] = {frozenset()}  # among the players visited so far
    for player in players:
        joined = {clique & neighbours[player] for clique in maximal}
        for subset in forbidden[player]:
            # Replace a clique that contains the refuted set by its subsets without one
            # member of the refuted set.
            broken = {clique for clique in joined if subset <= clique}
            joined = joined - broken | {c - {p} for c in broken for p in subset}
        largest: list[frozenset[int]] = []
        for clique in sorted(joined, key=len, reverse=True):
            if not any(map(clique.issubset, largest)):
                largest.append(clique)
        maximal = maximal.difference(largest) | {c | {player} for c in largest}
    return sorted(tuple(sorted(clique)) for clique in maximal if clique)

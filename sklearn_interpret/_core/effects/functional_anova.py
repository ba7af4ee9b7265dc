"""Which sets of players a function cannot do without, from its finite differences.

For independent players the functional ANOVA of f has one component for each set of
players, and the components are uncorrelated. The *superset importance* of a set is the
variance of all components whose sets contain it: where it is zero, f is a sum of
functions none of which takes the whole set (Hooker 2004). It is the mean of a squared
finite difference (Liu & Owen 2006), and never larger than that of a subset.
"""

from collections import defaultdict

import numpy as np

from sklearn_interpret._core.statistics.weighted import Moments


def superset_importance(differences, order, weights, floor):
    """Variance of the components of the functional ANOVA whose sets contain a set.

    `differences` (n_rows, n_draws, k) are finite differences over the set of `order`
    players: the response with all of them redrawn, minus the finite differences over
    all proper subsets, minus the response to the row. What does not exceed `floor` (k,)
    is rounding. Returns the importance and its standard error: (k,) each.
    """
    squares = np.square(differences).mean(axis=1) / 2**order
    moments = Moments.of_rows(squares, weights)
    importance = np.where(moments.mean > floor, moments.mean, 0.0)
    return importance, np.where(importance > 0, moments.standard_error, 0.0)


def main_effect(differences, points, weights, floor):
    """Variance of the partial dependence on a player over its drawn points: (k,).

    `differences` (n_rows, n_draws, k) are changes of the response where the player is
    redrawn, `points` (n_rows, n_draws) which of its values was drawn. A term is a row's
    response with the point, minus the mean with the row's other points. The square of a
    mean is the mean product of two of its terms: those of different rows in which the
    same point was drawn. This leaves out the variance of the terms themselves, which is
    no effect of the player alone.
    """
    n_rows, n_draws, n_outputs = differences.shape
    n_points = int(points.max()) + 1
    row = np.repeat(np.arange(n_rows), n_draws)
    flat = np.repeat(weights / weights.sum(), n_draws)
    # A cell is a point of a row, however often it was drawn there.
    cells, cell = np.unique(row * n_points + points.ravel(), return_inverse=True)
    cell = cell.reshape(-1)
    point_of_cell = cells % n_points
    cell_weight = np.bincount(cell, flat)
    weight = np.bincount(point_of_cell, cell_weight, n_points)
    pairs = weight**2 - np.bincount(point_of_cell, cell_weight**2, n_points)
    paired = pairs > 1e-12 * weight**2  # not the rounding of a point of a single row
    effect = np.zeros(n_outputs)
    if not paired.any():
        return effect
    # The difference at the row's own point is zero.
    others = (differences.sum(axis=1, keepdims=True) - differences) / n_draws
    for output in range(n_outputs):
        terms = (differences - others)[:, :, output].ravel()
        sums = np.bincount(cell, flat * (terms - flat @ terms / flat.sum()))
        total = np.bincount(point_of_cell, sums, n_points)
        products = total**2 - np.bincount(point_of_cell, sums**2, n_points)
        squares = products[paired] / pairs[paired]
        effect[output] = weight[paired] @ squares / weight[paired].sum()
    return np.where(effect > floor, effect, 0.0)


def maximal_sets(players, edges, refuted):
    """The largest sets of players that may have a component of their own, in order.

    All of their pairs are `edges`, and none contains one of the `refuted` sets, larger
    ones without a component though all of their pairs are edges.
    """
    near, rests = defaultdict(set), defaultdict(list)
    for first, second in edges:
        near[first].add(second)
        near[second].add(first)
    for one in map(frozenset, refuted):
        for player in one:
            rests[player].append(one - {player})
    maximal = {frozenset()}  # of the players so far
    for player in players:
        joined = {one & near[player] for one in maximal}
        for rest in rests[player]:
            # A set that contains it is replaced by those that lack one of its members.
            broken = {one for one in joined if rest <= one}
            joined = joined - broken | {one - {p} for one in broken for p in rest}
        largest = []
        for one in sorted(joined, key=len, reverse=True):
            if not any(one <= other for other in largest):
                largest.append(one)
        maximal = maximal.difference(largest) | {one | {player} for one in largest}
    return sorted(tuple(sorted(one)) for one in maximal if one)

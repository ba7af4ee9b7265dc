"""Shapley and interaction values from their definitions, coalition by coalition."""

from itertools import combinations, permutations, product
from math import comb, factorial

import numpy as np


def enumerated(value, p, order=1):
    """Values of a game of `p` players, or its interaction values.

    `value` maps a frozenset of players to an array.
    """
    players = range(p)
    known = {
        frozenset(s): np.asarray(value(frozenset(s)))
        for size in range(p + 1)
        for s in combinations(players, size)
    }
    shape = known[frozenset()].shape
    singles = np.zeros((p, *shape))
    for i in players:
        for s in known:
            if i not in s:
                weight = 1 / (p * comb(p - 1, len(s)))
                singles[i] += weight * (known[s | {i}] - known[s])
    if order == 1:
        return singles
    pairs = np.zeros((p, p, *shape))
    for i, j in combinations(players, 2):
        for s in known:
            if i in s or j in s:
                continue
            size = len(s)
            weight = factorial(size) * factorial(p - size - 2) / factorial(p - 1) / 2
            gain = known[s | {i, j}] - known[s | {i}] - known[s | {j}] + known[s]
            pairs[i, j] += weight * gain
        pairs[j, i] = pairs[i, j]
    for i in players:
        pairs[i, i] = singles[i] - pairs[i].sum(axis=0)
    return pairs


def interventional_game(raw, row, background, weights, members):
    """Mean output with absent players taken from the background."""

    def value(coalition):
        mixed = np.array(background, copy=True)
        for player in coalition:
            columns = members[player]
            mixed[:, columns] = row[columns]
        return np.average(raw(mixed), axis=0, weights=weights)

    return value


def path_dependent_game(trees, goes_left, row, player_of):
    """Output with absent players sent both ways, as the cover says."""

    def below(node, coalition):
        if trees.left[node] < 0:
            return trees.value[node]
        left, right = trees.left[node], trees.right[node]
        feature = trees.feature[node]
        if player_of[feature] in coalition:
            chosen = left if goes_left(trees, node, row[feature]) else right
            return below(chosen, coalition)
        cover = trees.cover[node]
        shares = [
            trees.cover[child] / cover if cover else 0.5 for child in (left, right)
        ]
        return shares[0] * below(left, coalition) + shares[1] * below(right, coalition)

    def value(coalition):
        return trees.base + sum(below(root, coalition) for root in trees.roots)

    return value


def product_values(present, absent, order=1):
    """Values of the game whose output is a product, with a factor for each player.

    A player's factor is `present` where it takes part, and else `absent`. For more
    players than coalitions can be gone through: from the multilinear extension.
    """
    p = len(present)
    gains = np.subtract(present, absent)
    # A coalition's weight is an integral over the chance of each player to be in it;
    # the nodes are exact for polynomials of this degree.
    nodes, weights = np.polynomial.legendre.leggauss(p // 2 + 1)
    chance, weights = (nodes[:, None] + 1) / 2, weights / 2
    factors = absent + chance * gains
    if order == 1:
        return gains * (weights @ all_but_one(factors))
    values = np.zeros((p, p))
    for i in range(p):
        others = np.arange(p) != i
        shares = weights @ all_but_one(factors[:, others])
        values[i, others] = gains[i] * gains[others] * shares / 2
    return values


def all_but_one(factors):
    """Products along rows, each leaving out the factor of its column."""
    ones = np.ones((len(factors), 1))
    before = np.cumprod(np.hstack([ones, factors[:, :-1]]), axis=1)
    after = np.cumprod(np.hstack([ones, factors[:, :0:-1]]), axis=1)[:, ::-1]
    return before * after


def leaf_by_leaf(trees, factors, n_features, order=1):
    """Sum of the values of all leaves, each a product over the features above it.

    `factors` gives the two factors of a leaf's feature, from the nodes above that split
    on it and whether the leaf is to their left.
    """
    total = np.zeros((n_features,) * order)

    def below(node, above):
        nonlocal total
        if trees.left[node] >= 0:
            feature = int(trees.feature[node])
            for child, is_left in (
                (trees.left[node], True),
                (trees.right[node], False),
            ):
                conditions = [*above.get(feature, []), (node, is_left)]
                below(child, {**above, feature: conditions})
            return
        pairs = [factors(feature, conditions) for feature, conditions in above.items()]
        values = product_values(*np.array(pairs, dtype=float).reshape(-1, 2).T, order)
        total[np.ix_(*[list(above)] * order)] += trees.value[node, 0] * values

    for root in trees.roots:
        below(root, {})
    return total


def permitted_orders(tree, causal=False):
    """All orders of players in nested lists that keep every list together.

    With `causal`, the outermost lists join one after the other.
    """
    if not isinstance(tree, list):
        return [[tree]]
    inner = [permitted_orders(member) for member in tree]
    arrangements = [inner] if causal else permutations(inner)
    return [
        [player for order in orders for player in order]
        for arrangement in arrangements
        for orders in product(*arrangement)
    ]


def values_over_orders(value, orders):
    """Mean gains of players over some orders of them all."""
    cached = {}

    def known(coalition):
        if coalition not in cached:
            cached[coalition] = np.asarray(value(coalition), dtype=np.float64)
        return cached[coalition]

    totals = [0.0] * len(orders[0])
    for order in orders:
        for position, player in enumerate(order):
            before = frozenset(order[:position])
            totals[player] = totals[player] + known(before | {player}) - known(before)
    return np.array(totals) / len(orders)

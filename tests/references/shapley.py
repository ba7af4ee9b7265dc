"""Shapley and interaction values from their definitions, coalition by coalition."""

from itertools import combinations
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

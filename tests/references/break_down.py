"""Break-down of a prediction, step by step as it is told."""

from itertools import combinations

import numpy as np


def mean_response(ask, row, background, weights, present, members):
    """Mean response where some players have the row's values."""
    mixed = np.array(background, copy=True)
    for player in present:
        mixed[:, list(members[player])] = row[list(members[player])]
    return np.average(ask(mixed), axis=0, weights=weights)


def greedy_order(worth, n_players, interactions):
    """Players, and pairs of them, from what alone does most to what does least."""
    alone = {(i,): worth([i]) - worth([]) for i in range(n_players)}
    candidates = dict(alone)
    if interactions:
        for i, j in combinations(range(n_players), 2):
            both = worth([i, j]) - worth([])
            candidates[i, j] = both - alone[i,] - alone[j,]
    order, open_players = [], set(range(n_players))
    for entry in sorted(candidates, key=lambda e: -np.mean(candidates[e] ** 2)):
        if open_players.issuperset(entry):
            order.append(entry)
            open_players -= set(entry)
    return order


def break_down(ask, row, background, weights, order=None, *, members, interactions):
    """Steps of a row and what each adds, (n_steps, k); None asks for a greedy order."""

    def worth(players):
        return mean_response(ask, row, background, weights, players, members)

    if order is None:
        order = greedy_order(worth, len(members), interactions)
    present, added = [], []
    for step in order:
        before = worth(present)
        present = [*present, *step]
        added.append(worth(present) - before)
    return order, np.array(added)

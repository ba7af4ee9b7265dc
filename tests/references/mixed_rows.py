"""Averages of mixed rows as whole arrays."""

import numpy as np


def averages(responses):
    """Partial dependence on each player, and on all but it: (n_rows, n_players, k)."""
    shape = len(responses.predictions), len(responses.positions)
    all_but = np.full((*shape, responses.predictions.shape[1]), np.nan)
    for rows, players, means in responses.dependence_on_others():
        all_but[rows, players] = means
    alone = [responses.dependence_on(player) for player in range(shape[1])]
    return np.stack(alone, axis=1), all_but

"""Boxes around points in which functions are at least what is needed."""

import numpy as np


def widened(boxes, low, high, columns):
    """A wider box of cells (p,) to (p,) in which sums over boxes are as wished.

    Each side of some columns takes one cell more in turn, until none can.
    """
    low, high = low.copy(), high.copy()
    n_missed = ((boxes.low > high) | (boxes.high < low)).sum(axis=1)
    starts = np.flatnonzero(np.diff(boxes.tree, prepend=-1))
    sides = [(j, step) for j in columns for step in (-1, 1)]
    while sides:
        wider = []
        for j, step in sides:
            at, ends = (low, boxes.high) if step < 0 else (high, boxes.low)
            cell = at[j] + step
            usable = 0 <= cell < len(boxes.costs[j])
            if not usable or np.isinf(boxes.costs[j][cell]):
                continue
            entered = ends[:, j] == cell
            met = (n_missed == entered)[:, None]
            gains = np.where(met, boxes.gains, np.inf)
            least = np.minimum.reduceat(gains, starts, axis=0).sum(axis=0)
            if (least >= boxes.needs).all():
                at[j] = cell
                n_missed -= entered
                wider.append((j, step))
        sides = wider
    return low, high


def shared_room(rooms, losses, slack, whole):
    """How far moves may go (n,), no function losing more than slack; the slack left.

    Parameters
    ----------
    rooms : ndarray of shape (n,)
        How far at most.
    losses : ndarray of shape (n, m)
        What a unit of each move takes from each function.
    slack : ndarray of shape (m,)
        What all of them together may take; each move has an equal share of what those
        before left.
    whole : ndarray of shape (n,), bool
        Moves in whole units.
    """
    moved, slack = np.array(rooms, dtype=np.float64), slack.copy()
    n_left = (losses > 0).sum(axis=0)
    for move, loss in enumerate(losses):
        loses = loss > 0
        if loses.any():
            share = (slack / np.maximum(n_left, 1))[loses] / loss[loses]
            moved[move] = max(min(moved[move], share.min()), 0)
        if whole[move]:
            moved[move] = np.floor(moved[move])
        slack[loses] -= moved[move] * loss[loses]
        n_left -= loses
    return moved, slack

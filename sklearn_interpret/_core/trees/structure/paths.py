"""The path from the root to each leaf, its splits merged player by player."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, eq=False)
class TreePaths:
    """For each node the conditions that a row has to meet to reach it.

    *Players* are what moves as one: single features, or groups of them. All splits on
    the path to a node whose features belong to the same player make up one *condition*.
    A condition is named by the lowest node that it leads to: that of node c is "the
    split above c sends the row to c, and so do all splits of the same player further
    up". So there are as many conditions as nodes that are no roots, and every node
    needs a few of them, each of another player. A tree is then the sum over its leaves
    of the leaf's value times the product of its conditions, each 0 or 1.

    Parameters
    ----------
    player : ndarray of shape (n_nodes,), intp
        Player of the split *above* each node, -1 at roots.
    previous : ndarray of shape (n_nodes,), intp
        The node above with the same player, whose condition is part of this one's;
        -1 where there is none.
    slot : ndarray of shape (n_nodes,), intp
        Position of the node's condition among those of any node below; -1 at roots.
    n_conditions : ndarray of shape (n_nodes,), intp
        How many conditions each node needs.
    starts, strides : ndarray of shape (n_nodes,), intp
        Position of the node's first condition in `conditions`, and how many places
        there are from one of its conditions to the next.
    conditions : ndarray, int32
        The conditions, each named by its node: level by level, those in the first
        slots first. Those of a node's parent are in the same slots, one of them
        replaced by the node itself, or the node behind them.
    n_players : int
        Number of players.
    """

    player: np.ndarray
    previous: np.ndarray
    slot: np.ndarray
    n_conditions: np.ndarray
    starts: np.ndarray
    strides: np.ndarray
    conditions: np.ndarray
    n_players: int

    @classmethod
    def of_ensemble(cls, ensemble, players=None, *, n_players=None):
        """Paths of all nodes, for the player (n_features,) of each feature.

        None makes every feature a player of its own.
        """
        if players is None:
            players = np.arange(ensemble.n_features)
        if n_players is None:
            n_players = int(np.max(players, initial=-1)) + 1
        shape = (ensemble.n_nodes,)
        player, previous, slot = (np.full(shape, -1, dtype=np.intp) for _ in range(3))
        n_conditions, starts, strides = (np.zeros(shape, np.intp) for _ in range(3))
        # Conditions of the nodes of a level, and their players, by slot; -1 behind.
        above, who = np.empty((2, 0, ensemble.n_trees), dtype=np.int32)
        none = np.empty(0, dtype=np.intp)
        blocks, n_before = [above.ravel()], 0
        for nodes, below in pairwise((*ensemble.levels(), none)):
            starts[nodes] = n_before + np.arange(len(nodes))
            strides[nodes] = len(nodes)
            blocks.append(above.ravel())
            n_before += above.size
            at = np.flatnonzero(~ensemble.is_leaf[nodes])
            splits, above, who = nodes[at], above.take(at, axis=1), who.take(at, axis=1)
            new = players[ensemble.feature[splits]].astype(np.int32)
            again = np.nonzero(who == new)  # in which slot the player is already
            place, last = n_conditions[splits], np.full(len(splits), -1)
            count = place + 1
            place[again[1]], last[again[1]] = again[0], above[again]
            count[again[1]] -= 1
            children = below.reshape(len(splits), 2)
            for into, values in (
                (player, new),
                (previous, last),
                (slot, place),
                (n_conditions, count),
            ):
                into[children] = values[:, None]
            above = _one_level_down(above, place, children)
            who = _one_level_down(who, place, new[:, None])
        return cls(
            player=player,
            previous=previous,
            slot=slot,
            n_conditions=n_conditions,
            starts=starts,
            strides=strides,
            conditions=np.concatenate(blocks),
            n_players=n_players,
        )

    def of_nodes(self, nodes):
        """Conditions (d, m) by slot of nodes (m,) that all need d of them."""
        d = self.n_conditions[nodes[0]] if len(nodes) else 0
        slots = np.arange(d)[:, None]
        return self.conditions[self.starts[nodes] + slots * self.strides[nodes]]

    def conditions_of(self, nodes):
        """Conditions of any nodes, by slot: position of its node, and name, of each."""
        counts = self.n_conditions[nodes]
        which = np.repeat(np.arange(len(nodes)), counts)
        slot = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        place = np.repeat(self.starts[nodes], counts)
        place += slot * np.repeat(self.strides[nodes], counts)
        return which, self.conditions[place]

    def code_intervals(self, ensemble):
        """Lowest and highest code with which numbers meet each condition."""
        low = np.zeros(ensemble.n_nodes, dtype=np.intp)
        high = np.full(ensemble.n_nodes, np.iinfo(np.intp).max)
        inner = np.flatnonzero(~ensemble.is_leaf)
        high[ensemble.left[inner]] = ensemble.split_codes.rank[inner]
        low[ensemble.right[inner]] = ensemble.split_codes.rank[inner] + 1
        for nodes, previous in self.merged:
            low[nodes] = np.maximum(low[nodes], low[previous])
            high[nodes] = np.minimum(high[nodes], high[previous])
        return low, high

    @cached_property
    def merged(self):
        """Nodes and their previous ones, the latter themselves merged before."""
        steps = []
        ready = self.previous < 0
        nodes = np.flatnonzero(~ready)
        while len(nodes):
            now = ready[self.previous[nodes]]
            steps.append((nodes[now], self.previous[nodes[now]]))
            ready[nodes[now]] = True
            nodes = nodes[~now]
        return steps


def _one_level_down(above, place, new):
    """Lists of the children of splits: as above, but for one new entry."""
    n_above, n_splits = above.shape
    below = np.empty((max(n_above, place.max(initial=-1) + 1), n_splits, 2), np.int32)
    below[:n_above] = above[:, :, None]
    below[n_above:] = -1
    below[place, np.arange(n_splits)] = new
    return below.reshape(len(below), 2 * n_splits)

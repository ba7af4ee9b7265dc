"""The way from the root to each leaf, its splits merged player by player."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class TreePaths:
    """For each node the conditions that a row has to meet to reach it.

    *Players* are what moves as one: single features, or groups of them. All splits on
    the way to a node whose features belong to the same player make up one *condition*.
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
    starts : ndarray of shape (n_nodes,), intp
        Where the node's conditions start in `conditions`.
    conditions : ndarray, intp
        The conditions, node after node, each named by its node. Those of a node's
        parent come at the same positions, one of them replaced by the node itself, or
        the node appended.
    n_players : int
        Number of players.
    """

    player: np.ndarray
    previous: np.ndarray
    slot: np.ndarray
    n_conditions: np.ndarray
    starts: np.ndarray
    conditions: np.ndarray
    n_players: int

    @classmethod
    def of_ensemble(cls, ensemble, players=None, *, n_players=None):
        """Paths of all nodes of an ensemble.

        Parameters
        ----------
        ensemble : TreeEnsemble
            The trees.
        players : ndarray of shape (n_features,), intp, optional
            The player that each feature belongs to, from 0 on; None makes every
            feature a player of its own.

        Returns
        -------
        TreePaths
        """
        if players is None:
            players = np.arange(ensemble.n_features)
        if n_players is None:
            n_players = int(np.max(players, initial=-1)) + 1
        parents = ensemble.parents
        player = np.append(players, -1)[ensemble.feature[parents]]
        player[parents < 0] = -1
        previous = _previous(parents, player)
        slot = np.full(ensemble.n_nodes, -1, dtype=np.intp)
        n_conditions = np.zeros(ensemble.n_nodes, dtype=np.intp)
        starts = np.zeros(ensemble.n_nodes, dtype=np.intp)
        above = np.empty((len(ensemble.roots), 0), dtype=np.intp)
        found, n_found = [], 0
        place = np.zeros(ensemble.n_nodes, dtype=np.intp)
        for level in ensemble.levels():
            if found:
                above = _one_level_down(
                    level, parents, previous, slot, n_conditions, above[place[level]]
                )
            needed = above >= 0
            starts[level] = n_found + np.cumsum(n_conditions[level])
            starts[level] -= n_conditions[level]
            found.append(above[needed])
            n_found += len(found[-1])
            inner = ~ensemble.is_leaf[level]
            for child in (ensemble.left, ensemble.right):
                place[child[level[inner]]] = np.flatnonzero(inner)
        return cls(
            player=player,
            previous=previous,
            slot=slot,
            n_conditions=n_conditions,
            starts=starts,
            conditions=np.concatenate([np.empty(0, dtype=np.intp), *found]),
            n_players=n_players,
        )

    def of_nodes(self, nodes):
        """Conditions of nodes that all need the same number of them.

        Parameters
        ----------
        nodes : ndarray of shape (m,), intp
            Nodes.

        Returns
        -------
        ndarray of shape (m, d), intp
            Conditions, each named by its node, in the order of their slots.
        """
        d = self.n_conditions[nodes[0]] if len(nodes) else 0
        return self.conditions[self.starts[nodes, None] + np.arange(d)]


def _previous(parents, player):
    """Nearest node above whose split above has the same player."""
    previous = np.full(len(parents), -1, dtype=np.intp)
    node = np.flatnonzero(parents >= 0)
    above = parents[node]
    while len(node):
        met = player[above] == player[node]
        previous[node[met]] = above[met]
        under_way = ~met & (parents[above] >= 0)
        node, above = node[under_way], parents[above[under_way]]
    return previous


def _one_level_down(level, parents, previous, slot, n_conditions, above):
    """Conditions of the nodes of a level from those of their parents, -1 behind."""
    n_above = n_conditions[parents[level]]
    new = previous[level] < 0
    slot[level] = np.where(new, n_above, slot[previous[level]])
    n_conditions[level] = n_above + new
    width = n_conditions[level].max(initial=0)
    if width > above.shape[1]:
        behind = np.full((len(level), width - above.shape[1]), -1, dtype=np.intp)
        above = np.hstack([above, behind])
    above[np.arange(len(level)), slot[level]] = level
    return above

"""The path from the root to each leaf, its splits merged player by player."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.nodes import TreeNodes


class _ConditionLists(NamedTuple):
    """Conditions of all nodes; entries of one node, by slot, are `strides` apart."""

    starts: NDArray[np.intp]  # (n_nodes,): position of each node's first condition
    strides: NDArray[np.intp]  # (n_nodes,)
    conditions: NDArray[np.int32]  # the nodes that name them


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
    ensemble : TreeNodes
        The trees.
    player : ndarray of shape (n_nodes,), intp
        Player of the split *above* each node, -1 at roots.
    previous : ndarray of shape (n_nodes,), intp
        The node above whose condition, on the same player, is part of this node's
        condition; -1 where there is none.
    slot : ndarray of shape (n_nodes,), intp
        Position of the node's condition among the conditions of any node below it; -1
        at roots.
    n_conditions : ndarray of shape (n_nodes,), intp
        How many conditions each node needs.
    n_players : int
        Number of players.
    """

    ensemble: TreeNodes
    player: NDArray[np.intp]
    previous: NDArray[np.intp]
    slot: NDArray[np.intp]
    n_conditions: NDArray[np.intp]
    n_players: int

    @classmethod
    def of_ensemble(
        cls,
        ensemble: TreeNodes,
        players: NDArray[np.intp] | None = None,
        *,
        n_players: int | None = None,
    ) -> TreePaths:
        """Paths of all nodes, for the player (n_features,) of each feature.

        None makes every feature a player of its own.
        """
        if players is None:
            players = np.arange(ensemble.n_features)
        if n_players is None:
            n_players = int(np.max(players, initial=-1)) + 1
        shape = (ensemble.n_nodes,)
        player, previous, slot = (np.full(shape, -1, dtype=np.intp) for _ in range(3))
        n_conditions = np.zeros(shape, dtype=np.intp)
        splits = ensemble.roots[~ensemble.is_leaf[ensemble.roots]]
        # Conditions of the splits of a level, and their players, by slot; -1 in slots
        # that a split does not have.
        split_conditions, split_players = np.empty((2, 0, len(splits)), dtype=np.int32)
        while len(splits):
            # What both children of each split get: at first as of a new player,
            new_player = players[ensemble.feature[splits]].astype(np.int32)
            new_slot, new_count = n_conditions[splits], n_conditions[splits] + 1
            new_previous = np.full(len(splits), -1)
            # then of splits whose player has a condition already, in the same slot.
            repeated_slot, repeated = np.nonzero(split_players == new_player)
            new_slot[repeated] = repeated_slot
            new_count[repeated] -= 1
            new_previous[repeated] = split_conditions[repeated_slot, repeated]
            children = np.column_stack([ensemble.left[splits], ensemble.right[splits]])
            player[children] = new_player[:, None]
            previous[children] = new_previous[:, None]
            slot[children] = new_slot[:, None]
            n_conditions[children] = new_count[:, None]
            inner = np.flatnonzero(~ensemble.is_leaf[children])
            parent, splits = inner // 2, children.ravel()[inner]
            split_conditions = _lists_of_children(
                split_conditions, parent, new_slot[parent], splits
            )
            split_players = _lists_of_children(
                split_players, parent, new_slot[parent], new_player[parent]
            )
        return cls(ensemble, player, previous, slot, n_conditions, n_players)

    @cached_property
    def n_leaves(self) -> NDArray[np.intp]:
        """Number of leaves with 0, 1, 2, ... conditions."""
        return np.bincount(self.n_conditions[self.ensemble.is_leaf])

    @cached_property
    def _lists(self) -> _ConditionLists:
        """The conditions of all nodes, level by level."""
        starts, strides = np.zeros((2, self.ensemble.n_nodes), dtype=np.intp)
        lists = np.empty((0, self.ensemble.n_trees), dtype=np.int32)  # of a level
        blocks, n_before, nodes_above = [], 0, self.ensemble.roots[:0]
        for nodes in self.ensemble.levels:
            if len(nodes_above):  # not at the roots
                splits = np.flatnonzero(~self.ensemble.is_leaf[nodes_above])
                parent = splits[np.arange(len(nodes)) // 2]
                lists = _lists_of_children(lists, parent, self.slot[nodes], nodes)
            starts[nodes] = n_before + np.arange(len(nodes))
            strides[nodes] = len(nodes)
            blocks.append(lists.ravel())
            n_before, nodes_above = n_before + lists.size, nodes
        return _ConditionLists(
            starts, strides, np.concatenate(blocks or [lists.ravel()])
        )

    @property
    def conditions(self) -> NDArray[np.int32]:
        """Conditions of all nodes, each named by its node.

        They are ordered by level, then by slot. A node has the conditions of its parent
        in the same slots, except that the node's own condition replaces one of them or
        has the next slot.
        """
        return self._lists.conditions

    def conditions_by_slot(self, nodes: NDArray[np.intp]) -> NDArray[np.int32]:
        """Conditions (d, m) by slot of nodes (m,) that all need d of them."""
        d = self.n_conditions[nodes[0]] if len(nodes) else 0
        starts, strides, conditions = self._lists
        return conditions[starts[nodes] + np.arange(d)[:, None] * strides[nodes]]

    def conditions_of(
        self, nodes: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """All conditions of nodes: for each the position in `nodes`, and its name."""
        counts = self.n_conditions[nodes]
        node_position = np.repeat(np.arange(len(nodes)), counts)
        slot = np.arange(len(node_position)) - np.repeat(
            np.cumsum(counts) - counts, counts
        )
        starts, strides, conditions = self._lists
        position = np.repeat(starts[nodes], counts)
        position += slot * np.repeat(strides[nodes], counts)
        return node_position, conditions[position]

    def code_intervals(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Lowest and highest code with which numbers meet each condition."""
        ensemble = self.ensemble
        low = np.zeros(ensemble.n_nodes, dtype=np.intp)
        high = np.full(ensemble.n_nodes, np.iinfo(np.intp).max)
        inner = np.flatnonzero(~ensemble.is_leaf)
        high[ensemble.left[inner]] = ensemble.split_codes.rank[inner]
        low[ensemble.right[inner]] = ensemble.split_codes.rank[inner] + 1
        for nodes, previous in self.narrowing_steps:
            low[nodes] = np.maximum(low[nodes], low[previous])
            high[nodes] = np.minimum(high[nodes], high[previous])
        return low, high

    @cached_property
    def narrowing_steps(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Steps that narrow conditions to their previous ones: nodes, previous nodes.

        The conditions of the previous nodes are narrowed in earlier steps.
        """
        steps = []
        ready = self.previous < 0
        nodes = np.flatnonzero(~ready)
        while len(nodes):
            is_ready = ready[self.previous[nodes]]
            steps.append((nodes[is_ready], self.previous[nodes[is_ready]]))
            ready[nodes[is_ready]] = True
            nodes = nodes[~is_ready]
        return steps


def _lists_of_children(
    lists: NDArray[np.int32],
    parent: NDArray[np.intp],
    slot: NDArray[np.intp],
    entry: NDArray[np.integer],
) -> NDArray[np.int32]:
    """Lists (n_slots, m) of children: the parents' lists with one entry replaced."""
    n_slots = max(len(lists), slot.max(initial=-1) + 1)
    of_children = np.full((n_slots, len(parent)), -1, dtype=np.int32)
    lists.take(parent, axis=1, out=of_children[: len(lists)], mode="clip")
    of_children[slot, np.arange(len(parent))] = entry
    return of_children

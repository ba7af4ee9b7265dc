"""Paths of trees against walks from the leaves to the roots, one node at a time."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._core.trees.structure.paths import TreePaths
from tests.references.trees import random_ensemble

PLAYERS = {"features": None, "groups": np.array([1, 0, 1, 2]), "one": np.zeros(4, int)}


def walk(trees, node):
    """Nodes from the one below the root down to `node`."""
    nodes = []
    while trees.parents[node] >= 0:
        nodes.append(node)
        node = trees.parents[node]
    return nodes[::-1]


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_last_node_of_each_player_on_the_way_names_its_condition(seed, players):
    trees = random_ensemble(seed)
    paths = TreePaths.of_ensemble(trees, PLAYERS[players])
    belongs = np.arange(4) if PLAYERS[players] is None else PLAYERS[players]
    assert paths.n_players == belongs.max() + 1
    for node in range(trees.n_nodes):
        last = {}  # in the order in which players come up
        for step in walk(trees, node):
            player = belongs[trees.feature[trees.parents[step]]]
            if step == node:
                assert paths.player[node] == player
                assert paths.previous[node] == last.get(player, -1)
            last[player] = step
        assert paths.conditions_by_slot(np.array([node])).T.tolist() == [
            list(last.values())
        ]
        assert paths.n_conditions[node] == len(last)


def test_conditions_keep_their_slots_further_down():
    trees = random_ensemble(5, depth=7)
    paths = TreePaths.of_ensemble(trees)
    for node in np.flatnonzero(trees.parents >= 0):
        (here,) = paths.conditions_by_slot(np.array([node])).T
        (above,) = paths.conditions_by_slot(trees.parents[[node]]).T
        assert here[paths.slot[node]] == node
        kept = np.arange(len(above)) != paths.slot[node]
        assert_array_equal(here[: len(above)][kept], above[kept])


def test_a_single_leaf_needs_nothing():
    tree = Tree([-1], [-1], [-2], [np.nan], [[1.0]], [1.0])
    trees = join_trees([tree, tree], base=[0.0], n_features=3, precision=np.float64)
    paths = TreePaths.of_ensemble(trees)
    assert paths.conditions.shape == (0,)
    assert paths.conditions_by_slot(np.array([0, 1])).shape == (0, 2)
    assert paths.player.tolist() == paths.previous.tolist() == [-1, -1]

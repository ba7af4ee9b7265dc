"""Partial dependence of trees on any set of features, at rows' own values.

With the features of the set as one player and all others as another, a leaf has at most
one condition on each: it adds its value, times the share of the background that meets
the condition on the others, to all rows that meet the condition on the set.
"""

import numpy as np

from sklearn_interpret._core.trees.structure.bits import (
    Conditions,
    RowBits,
    RowWeights,
    blocks_of_trees,
    set_bits,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths

# Sets that are worked on at once should stay in the processor's cache.
_WORDS_OF_CONDITIONS = 2**18
_WORDS_AT_ONCE = 2**16


class TreeSets:
    """Partial dependence of trees on a set of features.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    values : ndarray of shape (n_nodes, k)
        Value of each leaf, zero at other nodes.
    features : ndarray of intp
        The set.
    rows_at_once : int
        How many rows will be given at once.
    """

    def __init__(self, ensemble, values, features, rows_at_once):
        self.ensemble = ensemble
        self.values = values
        player = np.ones(ensemble.n_features, dtype=np.intp)
        player[features] = 0
        paths = TreePaths.of_ensemble(ensemble, player, n_players=2)
        self._names = _conditions_of_leaves(ensemble, paths)
        leaves = self._names[2]
        most = max(1, _WORDS_OF_CONDITIONS * 64 // rows_at_once)
        self._blocks = []
        for nodes in blocks_of_trees(ensemble, most):
            mine = np.zeros(ensemble.n_nodes, dtype=bool)
            mine[nodes] = True
            conditions = [
                Conditions.of_nodes(ensemble, paths, nodes[paths.player[nodes] == part])
                for part in range(2)
            ]
            self._blocks.append((np.flatnonzero(mine[leaves]), *conditions))

    def leaf_weights(self, codes, weights):
        """Weight of the rows that meet each condition on the features outside.

        A list of one array, by the node that names the condition; last the weight of
        all rows.
        """
        bits, weigh = RowBits(self.ensemble, codes), RowWeights(weights)
        found = np.empty(self.ensemble.n_nodes + 1)
        found[-1] = weights.sum()
        for _, _, outside in self._blocks:
            if len(outside.nodes):
                found[outside.nodes] = weigh.of(outside.met(bits))
        return [found]

    def outputs(self, codes, leaf_weights):
        """Partial dependence at rows, without the base: (n_rows, k).

        From sums over the background of what :meth:`leaf_weights` returns.
        """
        n_rows = len(codes)
        bits = RowBits(self.ensemble, codes)
        found = np.zeros((self.values.shape[1], n_rows))
        inside, outside, leaves = self._names
        shares = leaf_weights[0][outside] / leaf_weights[0][-1]
        amounts = self.values[leaves] * shares[:, None]
        step = max(1, _WORDS_AT_ONCE // bits.n_words)
        place = np.empty(self.ensemble.n_nodes + 1, dtype=np.intp)
        for at, conditions, _ in self._blocks:
            place[conditions.nodes] = np.arange(len(conditions.nodes))
            place[-1] = len(conditions.nodes)
            for output, sums in enumerate(found):
                amount = np.bincount(
                    place[inside[at]], amounts[at, output], len(conditions.nodes) + 1
                )
                sums += amount[-1]
                amount = amount[:-1]
                used = np.flatnonzero(amount)
                if not len(used):
                    continue
                met = conditions.met(bits)
                for start in range(0, len(used), step):
                    some = used[start : start + step]
                    which, row = set_bits(met[some])
                    sums += np.bincount(row, amount[some][which], n_rows)
        return found.T


def _conditions_of_leaves(ensemble, paths):
    """Conditions of all leaves on both players, -1 where there is none; the leaves."""
    leaves = np.flatnonzero(ensemble.is_leaf)
    names = np.full((2, len(leaves)), -1)
    leaf, name = paths.conditions_of(leaves)
    names[paths.player[name], leaf] = name
    return *names, leaves

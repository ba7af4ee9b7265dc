"""Shapley and interaction values of few rows: all leaves at once, without tables."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sklearn_interpret._core.trees.shapley.patterns import all_met
from sklearn_interpret._core.trees.shapley.tables import terms

# Gains of leaves that are found together, for each row: what they need stays in the
# cache.
_GAINS_AT_ONCE = 2**14


@dataclass(frozen=True, eq=False)
class LeafBlock:
    """Leaves with equally many conditions, and what their gains add to.

    Parameters
    ----------
    leaves : ndarray of shape (n_leaves,), intp
        Nodes.
    conditions : ndarray of shape (d, n_leaves), int32
        Their conditions.
    sums : csr_array of shape (n_keys, n_terms * n_leaves)
        Values of the leaves, where their gains are to be added to a total: by output,
        and player or pair of players.
    """

    leaves: np.ndarray
    conditions: np.ndarray
    sums: csr_array


def leaf_blocks(plan, order):
    """All leaves of a plan that have terms of this order: list of LeafBlock."""
    nodes = np.flatnonzero(plan.ensemble.is_leaf)
    d = plan.paths.n_conditions[nodes]
    blocks = []
    for size in np.unique(d[d >= order]):
        group = nodes[d == size]
        step = max(1, _GAINS_AT_ONCE // len(terms(size, order)))
        for start in range(0, len(group), step):
            leaves = group[start : start + step]
            conditions = plan.paths.of_nodes(leaves)
            sums = _sums(plan, leaves, conditions, order)
            blocks.append(LeafBlock(leaves, conditions, sums))
    return blocks


def _sums(plan, leaves, conditions, order):
    """Matrix that adds up gains (n_terms * n_leaves, ...)."""
    n_players = plan.paths.n_players
    members = np.array(terms(len(conditions), order)).T
    players = np.sort(plan.paths.player[conditions[members]], axis=0)
    key = np.ravel_multi_index(tuple(players), (n_players,) * order).ravel()
    values = np.tile(plan.ensemble.value[leaves].T, len(members[0]))
    output, at = np.nonzero(values)
    row = output * n_players**order + key[at]
    return csr_array(
        (values[output, at], (row, at)), shape=(plan.n_keys(order), len(key))
    )


def leafwise_values(plan, game, codes, order):
    """Values of few rows: (n_keys, n_rows)."""
    met = all_met(plan.ensemble, plan.paths, codes)
    totals = np.zeros((plan.n_keys(order), len(codes)))
    for block in plan.leaf_blocks(order):
        held = met[block.conditions]
        gains = game.gains(block.leaves, block.conditions, held, order)
        totals += block.sums @ gains.reshape(-1, len(codes))
    return totals

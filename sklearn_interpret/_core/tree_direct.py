"""Shapley and interaction values of few rows: all leaves at once, without tables.

The same numbers are added in the same order as where tables are looked up, so that a
row alone gets what it gets among thousands, to the last bit.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core import tree_units
from sklearn_interpret._core.tree_patterns import WayDown
from sklearn_interpret._core.tree_tables import terms


@dataclass(frozen=True, eq=False)
class DirectPlan:
    """What every leaf of a plan adds to, entry by entry.

    Parameters
    ----------
    leaves : list of ndarray of intp
        The leaves, those with equally many conditions together.
    way : WayDown
        The way to these leaves, one list behind the other.
    source : ndarray of shape (n_entries,), intp
        Which gain an entry takes: list after list of leaves, leaf by leaf.
    factor : ndarray of shape (n_entries,)
        Value of the leaf, in the output that the entry belongs to.
    target : ndarray of shape (n_entries,), intp
        Which sum the entry is added to: one for each unit, output and player or pair.
    keys : ndarray of shape (n_sums,), intp
        Total that each sum is added to: share of the trees, output and players.
    """

    leaves: list
    way: WayDown
    source: np.ndarray
    factor: np.ndarray
    target: np.ndarray
    keys: np.ndarray

    @classmethod
    def of_plan(cls, plan, order):
        """Entries of all leaves of a plan.

        Parameters
        ----------
        plan : TreePlan
            The trees.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        DirectPlan
        """
        nodes = np.flatnonzero(plan.ensemble.is_leaf)
        d = plan.paths.n_conditions[nodes]
        leaves = [nodes[d == size] for size in np.unique(d) if size >= order]
        unit, share = _places(plan)
        none = np.empty(0, dtype=np.intp)
        sources, factors, sums = [none], [np.empty(0)], [none]
        n_gains = 0
        for nodes in leaves:
            keys = _term_keys(plan, nodes, order)
            n_terms = keys.shape[1]
            value = plan.ensemble.value[nodes]
            leaf, output = np.nonzero(value)
            key = keys[leaf] + (output * plan.paths.n_players**order)[:, None]
            sums.append((unit[nodes[leaf], None] * plan.n_keys(order) + key).ravel())
            source = leaf[:, None] * n_terms + np.arange(n_terms) + n_gains
            sources.append(source.ravel())
            factors.append(np.repeat(value[leaf, output], n_terms))
            n_gains += keys.size
        found, target = np.unique(np.concatenate(sums), return_inverse=True)
        unit, key = np.divmod(found, plan.n_keys(order))
        return cls(
            leaves=leaves,
            way=WayDown(plan.ensemble, plan.paths, np.concatenate([none, *leaves])),
            source=np.concatenate(sources),
            factor=np.concatenate(factors),
            target=target,
            keys=share[unit] * plan.n_keys(order) + key,
        )


def _places(plan):
    """Place of each leaf's unit in the order of sums, and share of each place."""
    parts = [plan.part_of(units) for units in plan.groups]
    # Within a part group after group, the single deep leaves last.
    ranks = [
        (part * 2 + units.is_deep) * len(plan.groups) + number
        for number, (units, part) in enumerate(zip(plan.groups, parts, strict=True))
    ]
    none = np.empty(0, dtype=np.intp)
    order = np.argsort(np.concatenate([none, *ranks]), kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    of_leaf = np.zeros(plan.ensemble.n_nodes, dtype=np.intp)
    n_before = 0
    for units in plan.groups:
        of_leaf[units.leaves] = place[n_before : n_before + len(units), None]
        n_before += len(units)
    return of_leaf, plan.share_of_part[np.concatenate([none, *parts])[order]]


def _term_keys(plan, leaves, order):
    """Player, or pair of players, of each term of leaves: (n_leaves, n_terms)."""
    players = plan.paths.player[plan.paths.of_nodes(leaves)]
    columns = np.array(terms(players.shape[1], order), dtype=np.intp)
    players = np.sort(players[:, columns], axis=2)
    if order == 1:
        return players[..., 0]
    return players[..., 0] * plan.paths.n_players + players[..., 1]


def direct_values(plan, direct, game, codes, order):
    """Values of few rows.

    Parameters
    ----------
    plan : TreePlan
        The trees.
    direct : DirectPlan
        Its entries.
    game : CoverGame or BackgroundGame
        What stands in for absent players.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_keys, n_rows)
        As :func:`~sklearn_interpret._core.tree_shapley.shapley_values` has them.
    """
    n_rows = len(codes)
    patterns = direct.way.patterns(codes)
    gains, n_before = [np.empty((0, n_rows))], 0
    for nodes in direct.leaves:
        here = patterns[n_before : n_before + len(nodes)]
        if plan.paths.n_conditions[nodes[0]] > tree_units.MAX_TABLE_CONDITIONS:
            owner = np.repeat(np.arange(len(nodes)), n_rows)
            found = game.deep_gains(nodes, owner, here.ravel(), order)
        else:
            found = game.gains(nodes, here, order)
        found = found.reshape(-1, len(nodes), n_rows).transpose(1, 0, 2)
        gains.append(found.reshape(-1, n_rows))
        n_before += len(nodes)
    gains = np.concatenate(gains)
    n_keys = plan.n_keys(order)
    totals = np.zeros((n_keys, n_rows))
    for row in range(n_rows):
        given = direct.factor * gains[direct.source, row]
        sums = np.bincount(direct.target, given, len(direct.keys))
        by_share = np.bincount(direct.keys, sums, plan.n_shares * n_keys)
        for share in by_share.reshape(plan.n_shares, n_keys):
            totals[:, row] += share
    return totals

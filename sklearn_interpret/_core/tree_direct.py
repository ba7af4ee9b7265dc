"""Shapley and interaction values of few rows: all leaves at once, without tables.

The same numbers are added in the same order as where tables are looked up, so that a
row alone gets what it gets among thousands, to the last bit.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.tree_patterns import WayDown
from sklearn_interpret._core.tree_tables import column_table, term_place, terms
from sklearn_interpret._core.tree_units import units_of


@dataclass(frozen=True, eq=False)
class DirectPlan:
    """What every leaf of a plan adds to, entry by entry.

    Parameters
    ----------
    leaves : list of TreeUnits
        The single leaves, those with equally many conditions together.
    way : WayDown
        The way to these leaves, one list behind the other.
    source : ndarray of shape (n_entries,), intp
        Which gain an entry takes: list after list of leaves, by term and leaf.
    factor : ndarray of shape (n_entries,)
        Value of the leaf, in the output that the entry belongs to.
    target : ndarray of shape (n_entries,), intp
        Which sum the entry is added to; these are added to totals one by one.
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
        singles = units_of(plan.ensemble, plan.paths, max_splits=0)
        leaves = [units for units in singles if units.n_bits >= order]
        place = np.zeros(plan.ensemble.n_nodes, dtype=np.intp)
        width = np.zeros(plan.ensemble.n_nodes, dtype=np.intp)
        n_before = 0
        for units in leaves:
            place[units.root] = n_before + np.arange(len(units))
            width[units.root] = len(units)
            n_before += len(terms(units.n_bits, order)) * len(units)
        sources, factors, targets, keys, ranks = [], [], [], [], []
        n_sums = 0
        for number, units in enumerate(plan.groups):
            if units.n_bits < order:
                continue
            unit_keys = plan.column_keys(units, order)
            used = unit_keys >= 0
            sums = np.cumsum(used).reshape(used.shape) - 1 + n_sums
            for source, factor, target in _entries(plan, units, order, place, width):
                sources.append(source)
                factors.append(factor)
                targets.append(sums[target])
            unit, _ = np.nonzero(used)
            part = plan.part_of(units)[unit]
            keys.append(unit_keys[used] + plan.share_of_part[part] * plan.n_keys(order))
            # Within a part group after group, the deep ones last.
            ranks.append((part * 2 + units.is_deep) * len(plan.groups) + number)
            n_sums += len(unit)
        none = np.empty(0, dtype=np.intp)
        nodes = [units.root for units in leaves]
        ranking = np.argsort(np.concatenate([none, *ranks]), kind="stable")
        place_of = np.empty(n_sums, dtype=np.intp)
        place_of[ranking] = np.arange(n_sums)
        return cls(
            leaves=leaves,
            way=WayDown(plan.ensemble, plan.paths, np.concatenate([none, *nodes])),
            source=np.concatenate([none, *sources]),
            factor=np.concatenate([np.empty(0), *factors]),
            target=place_of[np.concatenate([none, *targets])],
            keys=np.concatenate([none, *keys])[ranking],
        )


def _entries(plan, units, order, place, width):
    """Entries of the leaves of units, leaf after leaf of each."""
    ensemble = plan.ensemble
    columns = column_table(units.n_bits, order)
    n_columns = len(terms(units.n_bits, order))
    for leaf in range(units.n_splits + 1):
        d = units.n_conditions[:, leaf]
        nodes = units.leaves[:, leaf]
        for term in terms(d.max(initial=0), order):
            has = (term[-1] < d)[:, None]
            unit, output = np.nonzero(has & (ensemble.value[nodes] != 0))
            at = term_place(term, d[unit])
            column = columns[tuple(units.columns[unit, leaf, slot] for slot in term)]
            yield (
                place[nodes[unit]] + at * width[nodes[unit]],
                ensemble.value[nodes[unit], output],
                (unit, output * n_columns + column),
            )


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
    for units in direct.leaves:
        here = patterns[n_before : n_before + len(units)]
        if units.is_deep:
            owner = np.repeat(np.arange(len(units)), n_rows)
            found = game.deep_gains(units, owner, here.ravel(), order)
        else:
            found = game.gains(units.root, here, order)
        gains.append(found.reshape(-1, n_rows))
        n_before += len(units)
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

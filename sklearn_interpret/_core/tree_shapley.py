"""Shapley and interaction values of tree ensembles.

Trees are cut into units (:mod:`~sklearn_interpret._core.tree_units`). What a unit gives
to its players depends on a row's pattern there only, so it is put in a table and looked
up. Leaves that are too deep for a table are valued at the patterns that occur.
"""

from dataclasses import dataclass
from itertools import starmap

import numpy as np

from sklearn_interpret._core.tree_paths import TreePaths
from sklearn_interpret._core.tree_patterns import unit_patterns
from sklearn_interpret._core.tree_tables import terms
from sklearn_interpret._core.tree_units import units_of

# Numbers that are worked on at once: few enough to stay in the cache.
_AT_ONCE = 2**17
_ROWS_AT_ONCE = 2048
_DEEP_AT_ONCE = 16
# Sums of so many shares of the trees are added up, whoever works on which.
_SHARES = 8
_SPLITS_PER_UNIT = 3
_UNITS_PER_PART = 512


@dataclass(frozen=True, eq=False)
class TreePlan:
    """Trees cut into units, and these into parts that are worked on one by one.

    The cut depends on the trees only, so that sums come out alike to the last bit,
    however many rows there are and whoever works on which part.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    parts : list of list of TreeUnits
        The units of some trees each.
    """

    ensemble: object
    paths: TreePaths
    parts: list

    @classmethod
    def of_ensemble(cls, ensemble, players=None, *, n_players=None):
        """Plan for an ensemble.

        Parameters
        ----------
        ensemble : TreeEnsemble
            The trees.
        players : ndarray of shape (n_features,), intp, optional
            The player that each feature belongs to; None makes every feature a player.
        n_players : int, optional
            Number of players, of which some may have no feature.

        Returns
        -------
        TreePlan
        """
        paths = TreePaths.of_ensemble(ensemble, players, n_players=n_players)
        groups = units_of(ensemble, paths, max_splits=_SPLITS_PER_UNIT)
        tree = _tree_of(ensemble, np.concatenate([group.root for group in groups]))
        n_before = np.cumsum(np.bincount(tree, minlength=ensemble.n_trees))
        part_of_tree = n_before // _UNITS_PER_PART
        parts = []
        for part in np.unique(part_of_tree):
            trees = np.flatnonzero(part_of_tree == part)
            ends = trees[0], trees[-1] + 1
            slices = (_of_trees(ensemble, group, *ends) for group in groups)
            parts.append([units for units in slices if len(units)])
        return cls(ensemble, paths, parts)

    @property
    def shares(self):
        """The parts in a few shares, for several workers."""
        edges = np.linspace(0, len(self.parts), _SHARES + 1).round().astype(int)
        pairs = zip(edges[:-1], edges[1:], strict=True)
        return [self.parts[start:stop] for start, stop in pairs if start < stop]


def _tree_of(ensemble, nodes):
    """Tree of each node: the trees stand one behind the other."""
    return np.searchsorted(ensemble.roots, nodes, side="right") - 1


def _of_trees(ensemble, units, start, stop):
    """The units of consecutive trees."""
    edges = np.append(ensemble.roots, ensemble.n_nodes)[[start, stop]]
    return units[slice(*np.searchsorted(units.root, edges))]


def shapley_values(plan, game, codes, order=1, *, run=starmap):
    """Shapley values, or interaction values of pairs, of rows.

    Parameters
    ----------
    plan : TreePlan
        The trees.
    game : CoverGame or BackgroundGame
        What stands in for absent players.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes; fast if each column is one stretch of memory.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.
    run : callable, default=itertools.starmap
        Calls a function with each of some tuples of arguments; results in order.

    Returns
    -------
    ndarray of shape (k, n_players, n_rows) or (k, n_players, n_players, n_rows)
        By output; of pairs, where the smaller player comes first, and zero elsewhere.
        A row's numbers do not depend on the other rows, nor on `run`, to the last bit.
    """
    n_players = plan.paths.n_players
    shape = (plan.ensemble.n_outputs, *[n_players] * order, len(codes))
    totals = np.zeros(shape)
    tasks = [(plan, game, share, codes, order) for share in plan.shares]
    for part in run(_share_values, tasks):
        totals += part.reshape(shape)
    return totals


def _share_values(plan, game, share, codes, order):
    """What a share of the parts gives: (n_keys, n_rows)."""
    n_keys = plan.ensemble.n_outputs * plan.paths.n_players**order
    totals = np.zeros((n_keys, len(codes)))
    for part in share:
        _add_part(plan, game, part, codes, order, totals)
    return totals


def _add_part(plan, game, part, codes, order, totals):
    part = [units for units in part if units.n_bits >= order]
    flat = [units for units in part if not units.is_deep]
    lookups = _lookups(plan, game, flat, order) if flat else []
    for start in range(0, len(codes), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        patterns = unit_patterns(plan.ensemble, plan.paths, part, codes[rows])
        into = list(totals[:, rows])
        for lookup, found in zip(lookups, patterns, strict=False):
            _look_up(lookup, found, into)
        for units, found in zip(part, patterns, strict=True):
            if units.is_deep:
                _add_deep(plan, game, units, found, order, into)


def _look_up(lookup, patterns, into):
    """Add what rows get from units."""
    for (table, keys), pattern in zip(lookup, patterns, strict=True):
        gains = table.take(pattern.astype(np.intp), axis=1)
        for key, gain in zip(keys, gains, strict=True):
            np.add(into[key], gain, out=into[key])


def _lookups(plan, game, flat, order):
    """For each unit its tables, (n_tables, 2 ** n_bits), and their keys."""
    leaf_tables = game.leaf_tables(flat, order)
    starts = np.split(
        leaf_tables.start, np.cumsum([units.leaves.size for units in flat])[:-1]
    )
    found = []
    for units, start in zip(flat, starts, strict=True):
        start = start.reshape(units.leaves.shape)
        n_columns = len(terms(units.n_bits, order)) * plan.ensemble.n_outputs
        step = max(1, _AT_ONCE // (n_columns * 2**units.n_bits))
        lookup = []
        for first in range(0, len(units), step):
            chunk = slice(first, first + step)
            here = units[chunk]
            tables = _unit_tables(plan, here, leaf_tables.numbers, start[chunk], order)
            keys = _column_keys(plan, here, order)
            used = keys >= 0
            tables = np.split(tables[used], np.cumsum(used.sum(axis=1))[:-1])
            lookup += zip(tables, (key[key >= 0].tolist() for key in keys), strict=True)
        found.append(lookup)
    return found


def _unit_tables(plan, units, numbers, starts, order):
    """Sum the tables of leaves over units: (n_units, k * n_columns, 2 ** n_bits)."""
    ensemble = plan.ensemble
    n_slots = units.n_bits
    column_of = _column_table(n_slots, order)
    n_columns = len(terms(n_slots, order))
    tables = np.zeros((len(units), ensemble.n_outputs, n_columns, 2**n_slots))
    unit = np.arange(len(units))
    for leaf in range(units.n_splits + 1):
        patterns = units.leaf_patterns(leaf) + starts[:, leaf, None]
        d = units.n_conditions[:, leaf]
        values = ensemble.value[units.leaves[:, leaf]].T[..., None]
        outputs = np.flatnonzero(values.any(axis=(1, 2)))
        for term in terms(d.max(), order):
            has = (term[-1] < d)[:, None]
            at = patterns + (_term_place(term, d)[:, None] << d[:, None])
            gains = numbers.take(np.where(has, at, 0))
            if term[-1] < units.n_path:  # the same players in all units
                index = (slice(None), column_of[term])
            else:
                players = tuple(units.columns[:, leaf, slot] for slot in term)
                index = (unit, column_of[players])
            for output in outputs:
                tables[:, output][index] += values[output] * gains
    return tables.reshape(len(units), -1, 2**n_slots)


def _term_place(term, d):
    """Position of a term among those of leaves with d conditions each."""
    if len(term) == 1:
        return np.full_like(d, term[0])
    i, j = term
    return i * (2 * d - i - 1) // 2 + j - i - 1


def _column_table(n_slots, order):
    """Position of each term of a unit's players, whatever their order."""
    table = np.zeros((n_slots,) * order, dtype=np.intp)
    for column, term in enumerate(terms(n_slots, order)):
        table[term] = table[term[::-1]] = column
    return table


def _column_keys(plan, units, order):
    """Which total each output and column of units is added to; -1 for none."""
    n_players = plan.paths.n_players
    columns = np.array(terms(units.n_bits, order), dtype=np.intp)
    players = np.sort(units.players[:, columns], axis=2)
    keys = players[..., 0]
    if order == 2:
        alike = players[..., 0] == players[..., 1]
        keys = np.where(alike, -1, keys * n_players + players[..., 1])
    keys = np.where(players[..., 0] < 0, -1, keys)[:, None, :]
    outputs = np.arange(plan.ensemble.n_outputs)[:, None] * n_players**order
    used = plan.ensemble.value[units.leaves].any(axis=1)[..., None]
    keys = np.where((keys >= 0) & used, keys + outputs, -1)
    return keys.reshape(len(units), -1)


def _add_deep(plan, game, units, patterns, order, into):
    """Value single leaves at the patterns that occur, and hand these to the rows."""
    keys = _column_keys(plan, units, order)
    n_terms = len(terms(units.n_bits, order))
    for start in range(0, len(units), _DEEP_AT_ONCE):
        chunk = slice(start, start + _DEEP_AT_ONCE)
        owner, occurring, place = _distinct(patterns[chunk], units.n_bits)
        gains = game.deep_gains(units[chunk], owner, occurring, order)
        values = plan.ensemble.value[units.leaves[chunk, 0]]
        ends = np.searchsorted(owner, np.arange(len(values) + 1))
        for leaf, at_rows in enumerate(place):
            mine = gains[:, ends[leaf] : ends[leaf + 1]]
            at_rows = at_rows - ends[leaf]
            for output in np.flatnonzero(values[leaf]):
                given = (values[leaf, output] * mine).take(at_rows, axis=1)
                of_output = slice(output * n_terms, (output + 1) * n_terms)
                for key, gain in zip(keys[start + leaf, of_output], given, strict=True):
                    np.add(into[key], gain, out=into[key])


def _distinct(patterns, n_bits):
    """Distinct patterns of each row of an array: row and pattern; and their places."""
    n = len(patterns)
    if n_bits <= 16:
        flat = patterns.astype(np.intp) + (np.arange(n)[:, None] << n_bits)
        occurs = np.zeros(n << n_bits, dtype=bool)
        occurs[flat.ravel()] = True
        found = np.flatnonzero(occurs)
        place = (np.cumsum(occurs) - 1)[flat]
        return found >> n_bits, found & ((1 << n_bits) - 1), place
    owner, found, places, n_before = [], [], [], 0
    for row, pattern in enumerate(patterns):
        distinct, place = np.unique(pattern, return_inverse=True)
        owner.append(np.full(len(distinct), row))
        found.append(distinct)
        places.append(place + n_before)
        n_before += len(distinct)
    return np.concatenate(owner), np.concatenate(found), np.stack(places)


def rescaled_values(plan, games, codes, order, factors, *, run=starmap):
    """Values of a function of the sum of trees, from comparisons with single rows.

    Against one background row the function's difference is shared out as that of the
    sum is.

    Parameters
    ----------
    plan : TreePlan
        Trees with one output.
    games : iterable of BackgroundGame
        One for each row of the background.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.
    factors : iterable of ndarray of shape (n_rows,)
        For each game, share of the background row times the function's difference over
        that of the sums.
    run : callable, default=itertools.starmap
        As in `shapley_values`.

    Returns
    -------
    ndarray
        As of `shapley_values`.
    """
    totals = 0.0
    for game, factor in zip(games, factors, strict=True):
        totals = totals + shapley_values(plan, game, codes, order, run=run) * factor
    return totals

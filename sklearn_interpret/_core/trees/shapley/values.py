"""Shapley and interaction values of tree ensembles.

Trees are cut into units (`subtrees`). What a unit gives
to its players depends on a row's pattern there only, so it is put in a table and looked
up. Leaves that are too deep for a table are valued at the patterns that occur.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise, starmap

import numpy as np

from sklearn_interpret._core.trees.shapley.few_rows import DirectPlan, direct_values
from sklearn_interpret._core.trees.shapley.patterns import (
    PatternFinder,
    distinct_patterns,
    met_conditions,
)
from sklearn_interpret._core.trees.shapley.shares import TreeShare
from sklearn_interpret._core.trees.shapley.subtrees import UnitCut
from sklearn_interpret._core.trees.shapley.tables import column_table, term_place, terms
from sklearn_interpret._core.trees.structure.paths import TreePaths

# Numbers that are worked on at once: few enough to stay in the cache.
_AT_ONCE = 2**17
# Rows that are worked on together, at most.
MOST_AT_ONCE = 4096
_DEEP_AT_ONCE = 64
# Up to so many rows are valued leaf by leaf.
_FEW_ROWS = 16
_SPLITS_PER_UNIT = 3
_UNITS_PER_PART = 256
# Numbers in the tables of a share of the trees, of interactions: 64 megabytes.
_NUMBERS_PER_SHARE = 2**23


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
    cut : UnitCut
        Their units.
    part_of_tree : ndarray of shape (n_trees,), intp
        Part that each tree is in: those whose patterns are found together; increasing.
    share_of_part : ndarray of shape (n_parts,), intp
        Share that each part is in: those whose tables are made together, and whose
        values are summed before those of other shares are added; increasing.
    """

    ensemble: object
    paths: TreePaths
    cut: UnitCut
    part_of_tree: np.ndarray
    share_of_part: np.ndarray
    _direct: dict = field(default_factory=dict, repr=False)

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
        cut = UnitCut.of_ensemble(ensemble, paths, max_splits=_SPLITS_PER_UNIT)
        parts = _spread(ensemble, cut, np.ones(len(cut)), _UNITS_PER_PART)
        numbers = _numbers_in_tables(ensemble, cut)
        shares = _spread(ensemble, cut, numbers, _NUMBERS_PER_SHARE)
        # Both increase: a new part starts where either does.
        changes = (np.diff(parts, prepend=0) != 0) | (np.diff(shares, prepend=0) != 0)
        part_of_tree = np.cumsum(changes)
        _, first = np.unique(part_of_tree, return_index=True)
        return cls(ensemble, paths, cut, part_of_tree, shares[first])

    @property
    def groups(self):
        """The units: list of TreeUnits."""
        return self.cut.groups

    @cached_property
    def part_of_unit(self):
        """Part that each unit of the cut is in: intp of shape (n_units,)."""
        return np.repeat(self.part_of_tree, _n_units(self.ensemble, self.cut))

    def part_of(self, units):
        """Part that each unit is in."""
        return self.part_of_unit[self.cut.unit[units.root]]

    @property
    def n_shares(self):
        """Number of shares."""
        return int(self.share_of_part.max(initial=-1)) + 1

    def shares(self, game):
        """The shares, each to be worked on by itself.

        Parameters
        ----------
        game : CoverGame or BackgroundGame
            What stands in for absent players.

        Returns
        -------
        list of TreeShare
        """
        places = np.arange(len(self.share_of_part) + 1)
        edges = [np.searchsorted(self.part_of(units), places) for units in self.groups]
        deep_last = sorted(
            zip(self.groups, edges, strict=True), key=lambda pair: pair[0].is_deep
        )
        ends = np.searchsorted(self.share_of_part, np.arange(self.n_shares + 1))
        shares = []
        for start, stop in pairwise(map(int, ends)):
            units = [
                (units[at[start] : at[stop]], at[start : stop + 1] - at[start])
                for units, at in deep_last
                if at[start] < at[stop]
            ]
            trees = slice(*map(int, np.searchsorted(self.part_of_tree, [start, stop])))
            shares.append(TreeShare(self, game, units, trees))
        return shares

    def n_keys(self, order):
        """Number of totals: one for each output, and player or pair of players."""
        return self.ensemble.n_outputs * self.paths.n_players**order

    def column_keys(self, units, order):
        """Which total each output and column of units is added to.

        Parameters
        ----------
        units : TreeUnits
            Units.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        ndarray of shape (n_units, k * n_columns), intp
            By output and term of the unit's players; -1 for what is always zero.
        """
        n_players = self.paths.n_players
        columns = np.array(terms(units.n_bits, order), dtype=np.intp)
        players = np.sort(units.players[:, columns], axis=2)
        keys = players[..., 0]
        if order == 2:
            keys = keys * n_players + players[..., 1]
        keys = np.where(players[..., 0] < 0, -1, keys)[:, None, :]
        outputs = np.arange(self.ensemble.n_outputs)[:, None] * n_players**order
        used = self.ensemble.value[units.leaves].any(axis=1)[..., None]
        keys = np.where((keys >= 0) & used, keys + outputs, -1)
        return keys.reshape(len(units), -1)

    def direct(self, order):
        """Entries of all leaves, for few rows; made once."""
        if order not in self._direct:
            self._direct[order] = DirectPlan.of_plan(self, order)
        return self._direct[order]


def _n_units(ensemble, cut):
    """Number of units of each tree: the trees stand one behind the other."""
    starts = np.append(ensemble.roots, ensemble.n_nodes)
    return np.diff(np.searchsorted(cut.root, starts))


def _spread(ensemble, cut, costs, most):
    """Number consecutive trees alike while the cost of units does not exceed a limit.

    There are an even number of numbers where there are trees enough: that is fair to
    two workers.
    """
    ends = np.cumsum(_n_units(ensemble, cut))
    sums = np.append(0.0, np.cumsum(costs))[np.append(0, ends)]
    total = max(sums[-1], 1.0)
    n_numbers = 2 * int(np.ceil(total / (2 * most)))
    middle = (sums[1:] + sums[:-1]) / 2
    _, numbers = np.unique(
        (middle * n_numbers / total).astype(int), return_inverse=True
    )
    return numbers


def _numbers_in_tables(ensemble, cut):
    """Numbers in the tables of interaction values of each unit."""
    n_bits = np.where(cut.is_deep, 0, cut.n_bits)
    sizes = ensemble.n_outputs * (n_bits * (n_bits + 1) // 2) * 2.0**n_bits
    return np.where(cut.is_deep, 1.0, sizes)


def one_by_one(function, tasks):
    """All that ``function(*task)`` yields, task after task."""
    return chain.from_iterable(starmap(function, tasks))


def shapley_values(plan, game, codes, order=1, **blocks):
    """Shapley values, or interaction values of pairs, of rows.

    Parameters
    ----------
    plan, game, codes, order, **blocks
        As `value_blocks` takes them.

    Returns
    -------
    ndarray of shape (k, n_players, n_rows) or (k, n_players, n_players, n_rows)
        By output; of pairs, where the smaller player comes first, and zero elsewhere.
        A row's numbers do not depend on the other rows, nor on the blocks, to the last
        bit.
    """
    shape = plan.ensemble.n_outputs, *[plan.paths.n_players] * order, len(codes)
    values = np.zeros(shape)
    add_blocks(values, value_blocks(plan, game, codes, order, **blocks))
    return values


def add_blocks(into, blocks):
    """Add values as they come.

    Parameters
    ----------
    into : ndarray
        Of the shape that `shapley_values` returns.
    blocks : iterable of (slice, ndarray)
        As `value_blocks` returns them.
    """
    shape = into.shape[:-1]
    for rows, totals in blocks:
        here = into[..., rows]
        here += totals.reshape(*shape, -1)


def value_blocks(
    plan, game, codes, order=1, *, rows_at_once=MOST_AT_ONCE, run=one_by_one
):
    """Parts of what sums to Shapley values, or to interaction values of pairs, of rows.

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
    rows_at_once : int
        How many rows are worked on together.
    run : callable, default=one_by_one
        Calls a function that yields with each of some tuples of arguments; what it
        yields, in order.

    Returns
    -------
    iterable of (slice, ndarray of shape (n_keys, m))
        Some rows, and their totals over one share of the trees: by output and player,
        or pair of players. Added in this order, they give the same to the last bit,
        whatever the other rows and `rows_at_once` are.
    """
    few = len(codes) <= _FEW_ROWS and not plan.cut.is_wide.any()
    if few and game.is_direct(plan, order):
        values = direct_values(plan, plan.direct(order), game, codes, order)
        return iter([(slice(0, len(codes)), values)])
    tasks = [(share, codes, order, rows_at_once) for share in plan.shares(game)]
    return run(_share_blocks, tasks)


def _share_blocks(share, codes, order, rows_at_once):
    """What a share of the trees gives to some rows after the other."""
    plan, game = share.plan, share.game
    codes = np.asarray(codes)  # a memory map is slow to take parts of
    parts = _parts(share, order)
    for start in range(0, len(codes), rows_at_once):
        rows = slice(start, start + rows_at_once)
        totals = np.zeros((plan.n_keys(order), len(codes[rows])))
        into = list(totals)
        for part, finder in parts:
            _add_part(plan, game, part, finder, codes[rows], order, into)
        yield rows, totals


def _parts(share, order):
    """For each part its units with their tables, and what finds patterns there."""
    plan, game = share.plan, share.game
    units = [(units, edges) for units, edges in share.units if units.n_bits >= order]
    flat = [units for units, _ in units if not units.is_deep]
    lookups = _lookups(plan, game, flat, order) if flat else []
    lookups += [None] * (len(units) - len(flat))
    parts = []
    for part in range(len(units[0][1]) - 1 if units else 0):
        here = []
        for (of_kind, edges), lookup in zip(units, lookups, strict=True):
            of_part = slice(edges[part], edges[part + 1])
            if of_part.start < of_part.stop:
                here.append((of_kind[of_part], lookup and lookup[of_part]))
        narrow = [of_kind for of_kind, _ in here if not of_kind.is_wide]
        parts.append((here, PatternFinder(plan.ensemble, plan.paths, narrow)))
    return parts


def _add_part(plan, game, part, finder, codes, order, into):
    """Add what rows get from units and their tables; deep ones have none."""
    patterns = finder.find(codes)
    for (units, lookup), found in zip(part, patterns, strict=False):
        if units.is_deep:
            _add_deep(plan, game, units, found, order, into)
        else:
            _look_up(lookup, found, into)
    for units, _ in part[len(patterns) :]:
        _add_wide(plan, game, units, codes, order, into)


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
            keys = plan.column_keys(here, order)
            used = keys >= 0
            tables = np.split(tables[used], np.cumsum(used.sum(axis=1))[:-1])
            lookup += zip(tables, (key[key >= 0].tolist() for key in keys), strict=True)
        found.append(lookup)
    return found


def _unit_tables(plan, units, numbers, starts, order):
    """Sum the tables of leaves over units: (n_units, k * n_columns, 2 ** n_bits)."""
    ensemble = plan.ensemble
    n_slots = units.n_bits
    column_of = column_table(n_slots, order)
    n_columns = len(terms(n_slots, order))
    tables = np.zeros((len(units), ensemble.n_outputs, n_columns, 2**n_slots))
    unit = np.arange(len(units))
    patterns = [
        units.leaf_patterns(leaf) + starts[:, leaf, None]
        for leaf in range(units.n_splits + 1)
    ]
    # The order in which `direct_values` adds up.
    for term in terms(units.n_conditions.max(initial=0), order):
        for leaf in np.flatnonzero((units.n_conditions > term[-1]).any(axis=0)):
            d = units.n_conditions[:, leaf]
            at = patterns[leaf] + (term_place(term, d)[:, None] << d[:, None])
            gains = numbers.take(np.where((term[-1] < d)[:, None], at, 0))
            if term[-1] < units.n_path:  # the same players in all units
                index = (slice(None), column_of[term])
            else:
                players = tuple(units.columns[:, leaf, slot] for slot in term)
                index = (unit, column_of[players])
            values = ensemble.value[units.leaves[:, leaf]].T[..., None]
            for output in np.flatnonzero(values.any(axis=(1, 2))):
                tables[:, output][index] += values[output] * gains
    return tables.reshape(len(units), -1, 2**n_slots)


def _add_deep(plan, game, units, patterns, order, into):
    """Value single leaves at the patterns that occur, and hand these to the rows."""
    keys = plan.column_keys(units, order)
    n_terms = len(terms(units.n_bits, order))
    for start in range(0, len(units), _DEEP_AT_ONCE):
        chunk = slice(start, start + _DEEP_AT_ONCE)
        owner, occurring, place = distinct_patterns(patterns[chunk], units.n_bits)
        gains = game.deep_gains(units.root[chunk], owner, occurring, order)
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


def _add_wide(plan, game, units, codes, order, into):
    """Value single leaves row by row."""
    n_terms = len(terms(units.n_bits, order))
    for leaf, keys in zip(
        units.leaves[:, 0], plan.column_keys(units, order), strict=True
    ):
        met = met_conditions(plan.ensemble, plan.paths, leaf, codes)
        gains = game.wide_gains(leaf, met, order)
        values = plan.ensemble.value[leaf]
        for output in np.flatnonzero(values):
            of_output = slice(output * n_terms, (output + 1) * n_terms)
            for key, gain in zip(keys[of_output], gains, strict=True):
                into[key] += values[output] * gain


def rescaled_values(plan, games, codes, order, factors, **blocks):
    """Values of a function of the sum of trees, from comparisons with single rows.

    Against one background row the function's difference is shared out as that of the
    sum is.

    Parameters
    ----------
    plan : TreePlan
        Trees with one output.
    games : iterable of CoverGame
        One for each row of the background.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.
    factors : iterable of ndarray of shape (n_rows,)
        For each game, share of the background row times the function's difference over
        that of the sums.
    **blocks
        As `value_blocks` takes them.

    Returns
    -------
    ndarray
        As of `shapley_values`.
    """
    totals = 0.0
    for game, factor in zip(games, factors, strict=True):
        values = shapley_values(plan, game, codes, order, **blocks)
        values *= factor
        totals += values
    return totals

"""Shapley and interaction values of tree ensembles.

Trees are cut into units (`subtrees`). The gains of a unit's players depend on a row's
pattern there only, so they are looked up in a table. Leaves that are too
deep for a table are valued at the patterns that occur. Few rows are valued by the game
itself, without tables: `value_tasks` chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.shapley.games import (
    InterventionalGame,
    PathDependentGame,
)
from sklearn_interpret._core.trees.shapley.patterns import (
    PatternFinder,
    Scratch,
    distinct_patterns,
    features_with_gaps,
)
from sklearn_interpret._core.trees.shapley.subtrees import cut_into_units
from sklearn_interpret._core.trees.shapley.tables import column_table, term_place, terms
from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
from sklearn_interpret._core.trees.structure.paths import TreePaths

# Numbers in a block of tables, which fits the cache.
_AT_ONCE = 2**17
# Largest number of rows in a block.
MOST_AT_ONCE = 2**14
# Rows whose totals are added together, and deep leaves valued together.
_ADDED_AT_ONCE = 128
_DEEP_AT_ONCE = 64
# Largest number of splits of a unit, and units whose patterns are found together.
_SPLITS_PER_UNIT = 3
_UNITS_PER_GROUP = 256
# Numbers in the tables of a share of the trees (64 megabytes).
_NUMBERS_PER_SHARE = 2**23

Game = PathDependentGame | InterventionalGame
# Slices of the rows, and values of these: (n_keys, m).
Blocks = Iterator[tuple[slice, NDArray[np.float64]]]


@dataclass(frozen=True, eq=False)
class TreePlan:
    """Trees cut into units, and split into shares of work.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    players : ndarray of shape (n_features,), intp, or None
        The player that each feature belongs to.
    paths : TreePaths
        Paths of the trees.
    """

    ensemble: TreeEnsemble
    players: NDArray[np.intp] | None
    paths: TreePaths

    @classmethod
    def of_ensemble(cls, ensemble, players=None, *, n_players=None):
        """Plan for an ensemble, and the player of each feature; None: each its own."""
        paths = TreePaths.of_ensemble(ensemble, players, n_players=n_players)
        return cls(ensemble, players, paths)

    # Cut on demand: few rows need no units.
    @cached_property
    def units(self):
        """All units, single deep leaves last: list of TreeUnits."""
        units = cut_into_units(self.ensemble, self.paths, _SPLITS_PER_UNIT)
        return sorted(units, key=lambda of_kind: of_kind.is_deep)

    @cached_property
    def trees_of_shares(self):
        """Starts and ends of the trees whose tables are computed together."""
        costs = np.zeros(self.ensemble.n_trees)
        for of_kind in self.units:
            n = of_kind.n_bits
            size = 1 if of_kind.is_deep or not n else n * (n + 1) * 2 ** (n - 1)
            costs += size * _units_of_trees(self.ensemble, of_kind)
        # An even number of shares is fair to two workers.
        return _spread(costs, _NUMBERS_PER_SHARE / self.ensemble.n_outputs, multiple=2)

    def shares(self, game):
        """The independent shares of work: list of TreeShare."""
        edges = pairwise(self.trees_of_shares.tolist())
        return [TreeShare(self, game, slice(start, stop)) for start, stop in edges]

    def n_keys(self, order):
        """Number of totals: one for each output, and player or pair of players."""
        return self.ensemble.n_outputs * self.paths.n_players**order

    def column_keys(self, units, order):
        """Place of the total of each output and term of units; -1 for zero terms."""
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


@dataclass(frozen=True, eq=False)
class TreeShare:
    """Consecutive trees whose tables are made together.

    Another process gets these trees alone, and cuts them into units again.

    Parameters
    ----------
    plan : TreePlan
        The plan that the share is of.
    game : PathDependentGame or InterventionalGame
        The game: how absent players are replaced.
    trees : slice
        Which of the ensemble's trees.
    """

    plan: TreePlan
    game: Game
    trees: slice

    def __reduce__(self):
        plan = self.plan
        ends = np.append(plan.ensemble.roots, plan.ensemble.n_nodes)
        nodes = slice(int(ends[self.trees.start]), int(ends[self.trees.stop]))
        ensemble = plan.ensemble.part(self.trees, nodes)
        game = self.game.of_nodes(nodes)
        return _share_alone, (ensemble, plan.players, plan.paths.n_players, game)

    def blocks(
        self,
        codes: NDArray[np.integer],
        order: int,
        rows_at_once: int,
        most_kept: float,
    ) -> Blocks:
        """Sums over the share's trees, block by block of rows."""
        codes, scratch = np.asarray(codes), Scratch()  # parts of a memory map are slow
        groups = self.groups(order, most_kept)
        for rows in _slices(len(codes), rows_at_once):
            totals = np.zeros((self.plan.n_keys(order), len(codes[rows])))
            into = list(totals)
            gaps = features_with_gaps(self.plan.ensemble, codes[rows])
            for finder, lookups in groups:
                patterns = finder.find(codes[rows], gaps, scratch)
                for units, lookup, of_units in zip(
                    finder.groups, lookups, patterns, strict=True
                ):
                    if lookup is None:
                        _add_deep(self.plan, self.game, units, of_units, order, into)
                    else:
                        _look_up(lookup, of_units, into)
            yield rows, totals

    def groups(self, order, most_kept):
        """As :meth:`make_groups`: those that the game has kept, or new ones.

        New ones are kept if all that is kept then takes at most `most_kept` bytes.
        """
        tables, key = self.game.cached_tables, (order, self.trees.start)
        if key in tables:
            return tables[key][0]
        groups = list(self.make_groups(order))
        size = sum(map(_group_bytes, groups))
        if size + sum(n_bytes for _, n_bytes in tables.values()) <= most_kept:
            tables[key] = groups, size
        return groups

    def make_groups(self, order):
        """Units whose patterns are found together: a PatternFinder, and tables by kind.

        Tables are as `_lookups` gives them; None for deep units.
        """
        plan, trees = self.plan, self.trees
        n_units = sum(_units_of_trees(plan.ensemble, units) for units in plan.units)
        edges = trees.start + _spread(n_units[trees], _UNITS_PER_GROUP)
        nodes = np.append(plan.ensemble.roots, plan.ensemble.n_nodes)[edges]
        units = [of_kind for of_kind in plan.units if of_kind.n_bits >= order]
        ends = [np.searchsorted(of_kind.root, nodes) for of_kind in units]
        flat = [
            of_kind[end[0] : end[-1]]
            for of_kind, end in zip(units, ends, strict=True)
            if not of_kind.is_deep
        ]
        lookups = _lookups(plan, self.game, flat, order) if flat else []
        lookups += [None] * (len(units) - len(flat))
        for group in range(len(edges) - 1):
            here, tables = [], []
            for of_kind, lookup, end in zip(units, lookups, ends, strict=True):
                start, stop = end[group], end[group + 1]
                if start < stop:
                    here.append(of_kind[start:stop])
                    tables.append(lookup and lookup[start - end[0] : stop - end[0]])
            yield PatternFinder(plan.ensemble, plan.paths, here), tables


def _group_bytes(group):
    """Memory of a PatternFinder, and of its tables."""
    finder, lookups = group
    tables = (table for lookup in lookups if lookup for table, _ in lookup)
    return finder.nbytes + sum(table.nbytes for table in tables)


def _share_alone(ensemble, players, n_players, game):
    """The share of all trees of an ensemble."""
    plan = TreePlan.of_ensemble(ensemble, players, n_players=n_players)
    return TreeShare(plan, game(ensemble, plan.paths), slice(0, ensemble.n_trees))


def _units_of_trees(ensemble, units):
    """Number of units in each tree: the units of a tree follow those before it."""
    ends = np.append(ensemble.roots, ensemble.n_nodes)
    return np.diff(np.searchsorted(units.root, ends))


def _spread(costs, most, multiple=1):
    """Starts and ends of runs of trees that cost about `most` at most."""
    if not len(costs):
        return np.zeros(1, dtype=np.intp)
    total = costs.sum()
    n_runs = multiple * int(np.ceil(total / (multiple * most)))
    run = ((np.cumsum(costs) - costs / 2) * n_runs / total).astype(np.intp)
    return np.append(np.flatnonzero(np.diff(run, prepend=-1)), len(costs))


def _slices(n_rows, rows_at_once):
    starts = range(0, n_rows, rows_at_once)
    return (slice(start, start + rows_at_once) for start in starts)


@dataclass(frozen=True, eq=False)
class DirectValues:
    """All trees, in the place of a share of them, for few rows: without tables."""

    plan: TreePlan
    game: Game

    def blocks(
        self,
        codes: NDArray[np.integer],
        order: int,
        rows_at_once: int,
        most_kept: float,
    ) -> Blocks:
        """Values of the rows, block by block."""
        for rows in _slices(len(codes), rows_at_once):
            yield rows, self.game.direct_values(self.plan, codes[rows], order)


def value_tasks(
    plan: TreePlan,
    game: Game,
    codes: NDArray[np.integer],
    order: int = 1,
    *,
    rows_at_once: int = MOST_AT_ONCE,
    most_kept: float = 0,
) -> list[tuple[Any, ...]]:
    """Independent tasks, whose blocks sum to the Shapley or interaction values of rows.

    Parameters
    ----------
    plan : TreePlan
        The trees.
    game : PathDependentGame or InterventionalGame
        The game: how absent players are replaced.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes; fast if each column is one stretch of memory.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values of pairs.
    rows_at_once : int
        How many rows are worked on together.
    most_kept : int, default=0
        Bytes of tables that the game may keep for the next call.

    Returns
    -------
    list of tuple
        Arguments of `task_blocks`.
    """
    direct = game.is_direct(len(codes), order)
    shares = [DirectValues(plan, game)] if direct else plan.shares(game)
    return [(share, codes, order, rows_at_once, most_kept) for share in shares]


def task_blocks(share: TreeShare | DirectValues, *arguments: Any) -> Blocks:
    """Yield the blocks of a task of `value_tasks`.

    Each block is a slice of the rows, and their totals over one share of the trees,
    (n_keys, m): by output and player, or pair of players.
    """
    return share.blocks(*arguments)


def add_blocks(into: NDArray[np.float64], blocks: Blocks) -> None:
    """Add blocks of tasks to an array, of the shape of `shapley_values`."""
    shape = into.shape[:-1]
    for rows, totals in blocks:
        here, totals = into[..., rows], totals.reshape(*shape, -1)
        # Few rows at a time: one of the arrays has rows far apart in memory.
        for some in _slices(totals.shape[-1], _ADDED_AT_ONCE):
            here[..., some] += totals[..., some]


def shapley_values(
    plan: TreePlan,
    game: Game,
    codes: NDArray[np.integer],
    order: int = 1,
    **options: Any,
) -> NDArray[np.float64]:
    """Shapley values, or interaction values of pairs, in one process.

    By output, player (of pairs also the larger player, zero elsewhere), and row. The
    parameters are those of `value_tasks`.
    """
    shape = plan.ensemble.n_outputs, *[plan.paths.n_players] * order, len(codes)
    values = np.zeros(shape)
    for task in value_tasks(plan, game, codes, order, **options):
        add_blocks(values, task_blocks(*task))
    return values


def _look_up(lookup, patterns, into):
    """Add the gains of rows in units."""
    # Into the same memory each time; wrapping is the fastest mode of `take`.
    n_columns = max(len(keys) for _, keys in lookup)
    gains = np.empty((n_columns, patterns.shape[1]))
    places = np.empty(patterns.shape[1], dtype=np.intp)
    for (table, keys), pattern in zip(lookup, patterns, strict=True):
        places[:] = pattern
        some = table.take(places, axis=1, out=gains[: len(keys)], mode="wrap")
        for key, gain in zip(keys, some, strict=True):
            np.add(into[key], gain, out=into[key])


def _lookups(plan, game, flat, order):
    """For each unit its tables, (n_tables, 2 ** n_bits), and their keys."""
    leaf_tables = game.leaf_tables(flat, order)
    ends = np.cumsum([units.leaves.size for units in flat])
    starts = np.split(leaf_tables.start, ends[:-1])
    lookups, scratch, numbers = [], Scratch(), leaf_tables.numbers
    for units, start in zip(flat, starts, strict=True):
        start = start.reshape(units.leaves.shape)
        n_columns = len(terms(units.n_bits, order)) * plan.ensemble.n_outputs
        step = max(1, _AT_ONCE // (n_columns * 2**units.n_bits))
        lookup = []
        for first in range(0, len(units), step):
            chunk = slice(first, first + step)
            here = units[chunk]
            tables = _unit_tables(plan, here, numbers, start[chunk], order, scratch)
            keys = plan.column_keys(here, order)
            used = keys >= 0
            tables = np.split(tables[used], np.cumsum(used.sum(axis=1))[:-1])
            lookup += zip(tables, (key[key >= 0].tolist() for key in keys), strict=True)
        lookups.append(lookup)
    return lookups


def _unit_tables(plan, units, numbers, starts, order, scratch):
    """Sum the tables of leaves over units: (n_units, k * n_columns, 2 ** n_bits).

    In memory of `scratch`, to be copied.
    """
    ensemble = plan.ensemble
    n_slots = units.n_bits
    column_of = column_table(n_slots, order)
    n_columns = len(terms(n_slots, order))
    shape = len(units), ensemble.n_outputs, n_columns, 2**n_slots
    tables = scratch.empty("tables", shape, np.float64)
    tables[:] = 0
    unit = np.arange(len(units))
    for leaf, d in enumerate(units.n_conditions.T):
        patterns = units.leaf_patterns(leaf) + starts[:, leaf, None]
        values = ensemble.value[units.leaves[:, leaf]].T[..., None]
        at = scratch.empty("at", patterns.shape, np.intp)
        gains, products = (
            scratch.empty(name, patterns.shape, np.float64)
            for name in ("gains", "products")
        )
        for term in terms(d.max(initial=0), order):
            np.add(patterns, term_place(term, d)[:, None] << d[:, None], out=at)
            at[term[-1] >= d] = 0
            numbers.take(at, out=gains, mode="wrap")
            if term[-1] < units.n_path:  # the same players in all units
                index = (slice(None), column_of[term])
            else:
                players = tuple(units.columns[:, leaf, slot] for slot in term)
                index = (unit, column_of[players])
            for output in np.flatnonzero(values.any(axis=(1, 2))):
                np.multiply(values[output], gains, out=products)
                tables[:, output][index] += products
    return tables.reshape(len(units), -1, 2**n_slots)


def _add_deep(plan, game, units, patterns, order, into):
    """Value single leaves at the patterns that occur, and hand these to the rows."""
    keys = plan.column_keys(units, order)
    n_terms = len(terms(units.n_bits, order))
    for start in range(0, len(units), _DEEP_AT_ONCE):
        chunk = slice(start, start + _DEEP_AT_ONCE)
        owner, occurring, positions = distinct_patterns(patterns[chunk], units.n_bits)
        gains = game.deep_gains(units.root[chunk], owner, occurring, order)
        values = plan.ensemble.value[units.root[chunk]]
        ends = np.searchsorted(owner, np.arange(len(values) + 1))
        for leaf, at_rows in enumerate(positions):
            mine = gains[:, ends[leaf] : ends[leaf + 1]]
            at_rows = at_rows - ends[leaf]
            for output in np.flatnonzero(values[leaf]):
                added = (values[leaf, output] * mine).take(at_rows, axis=1)
                of_output = slice(output * n_terms, (output + 1) * n_terms)
                for key, gain in zip(keys[start + leaf, of_output], added, strict=True):
                    np.add(into[key], gain, out=into[key])

"""Shapley and interaction values of tree ensembles.

Trees are cut into units (`subtrees`). The gains of a unit's players depend on a row's
pattern there only, so they are looked up in a table. Leaves that are too deep for a
table are evaluated at the patterns that occur. Few rows are evaluated by the game
itself, without tables: `value_tasks` chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

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
from sklearn_interpret._core.trees.shapley.tables import (
    column_table,
    term_position,
    terms,
)
from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
from sklearn_interpret._core.trees.structure.paths import TreePaths

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.shapley.subtrees import TreeUnits

# Sizes of blocks. Chosen by hand: smaller blocks call numpy more often, larger ones
# leave the cache or take memory. Numbers in a block of tables:
_AT_ONCE = 2**17
# Largest number of rows in a block.
MOST_AT_ONCE = 2**14
# Rows whose totals are added together, and deep leaves evaluated together.
_ADDED_AT_ONCE = 128
_DEEP_AT_ONCE = 64
# Units whose patterns are found together.
_UNITS_PER_GROUP = 256
# Numbers in the tables of a share of the trees (64 megabytes).
_NUMBERS_PER_SHARE = 2**23
# Largest number of splits of a unit. Each further split doubles the unit's table, and
# at most halves the number of tables.
_SPLITS_PER_UNIT = 3

Game = PathDependentGame | InterventionalGame
# Summands of the values of rows: slices of the rows, and totals (n_keys, m) of these.
ValueParts = Iterator[tuple[slice, NDArray[np.float64]]]


class UnitTables(NamedTuple):
    """Gains at the patterns of a unit, and the totals that they are added to."""

    tables: NDArray[np.float64]  # (n_tables, 2 ** n_bits)
    keys: list[int]  # (n_tables,): see `TreePlan.column_keys`


@dataclass(frozen=True, eq=False)
class UnitGroup:
    """Units of several kinds whose patterns are found together.

    Parameters
    ----------
    finder : PatternFinder
        Finds the patterns.
    tables : list of (list of UnitTables) or None
        Tables of the units of each kind; None for single deep leaves.
    """

    finder: PatternFinder
    tables: list[list[UnitTables] | None]

    @cached_property
    def n_bytes(self) -> int:
        """Memory of the finder and the tables."""
        of_units = (unit for kind in self.tables for unit in kind or ())
        return self.finder.nbytes + sum(unit.tables.nbytes for unit in of_units)


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
    def of_ensemble(
        cls,
        ensemble: TreeEnsemble,
        players: NDArray[np.intp] | None = None,
        *,
        n_players: int | None = None,
    ) -> TreePlan:
        """Plan for an ensemble, and the player of each feature; None: each its own."""
        paths = TreePaths.of_ensemble(ensemble, players, n_players=n_players)
        return cls(ensemble, players, paths)

    # Cut on demand: few rows need no units.
    @cached_property
    def units(self) -> list[TreeUnits]:
        """All units by kind, single deep leaves last."""
        units = cut_into_units(self.ensemble, self.paths, _SPLITS_PER_UNIT)
        return sorted(units, key=lambda of_kind: of_kind.is_deep)

    @cached_property
    def trees_of_shares(self) -> NDArray[np.intp]:
        """Starts and ends of the trees whose tables are computed together."""
        costs = np.zeros(self.ensemble.n_trees)
        for of_kind in self.units:
            n = of_kind.n_bits
            size = 1 if of_kind.is_deep or not n else n * (n + 1) * 2 ** (n - 1)
            costs += size * _units_of_trees(self.ensemble, of_kind)
        # An even number of shares is fair to two workers.
        return _split_by_cost(
            costs, _NUMBERS_PER_SHARE / self.ensemble.n_outputs, multiple=2
        )

    def shares(self, game: Game) -> list[TreeShare]:
        """The independent shares of work."""
        edges = pairwise(self.trees_of_shares.tolist())
        return [TreeShare(self, game, slice(start, stop)) for start, stop in edges]

    def n_keys(self, order: int) -> int:
        """Number of totals: one for each output, and player or pair of players."""
        return self.ensemble.n_outputs * self.paths.n_players**order

    def column_keys(self, units: TreeUnits, order: int) -> NDArray[np.intp]:
        """Position of the total of each output and term of units; -1: zero terms."""
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
        The plan of all trees.
    game : PathDependentGame or InterventionalGame
        The game: how absent players are replaced.
    trees : slice
        Which of the ensemble's trees.
    """

    plan: TreePlan
    game: Game
    trees: slice

    def __reduce__(self) -> Any:
        plan = self.plan
        ends = np.append(plan.ensemble.roots, plan.ensemble.n_nodes)
        nodes = slice(int(ends[self.trees.start]), int(ends[self.trees.stop]))
        ensemble = plan.ensemble.slice_trees(self.trees, nodes)
        game = self.game.of_nodes(nodes)
        return _make_share, (ensemble, plan.players, plan.paths.n_players, game)

    def value_parts(
        self,
        codes: NDArray[np.integer],
        order: int,
        rows_at_once: int,
        most_kept: float,
    ) -> ValueParts:
        """Sums over the share's trees, block by block of rows."""
        codes, scratch = np.asarray(codes), Scratch()  # parts of a memory map are slow
        groups = self.groups(order, most_kept)
        for rows in _row_slices(len(codes), rows_at_once):
            totals = np.zeros((self.plan.n_keys(order), len(codes[rows])))
            gaps = features_with_gaps(self.plan.ensemble, codes[rows])
            for group in groups:
                patterns = group.finder.find(codes[rows], gaps, scratch)
                for units, tables, of_units in zip(
                    group.finder.groups, group.tables, patterns, strict=True
                ):
                    if tables is None:
                        _add_gains_of_deep_leaves(
                            self.plan, self.game, units, of_units, order, totals
                        )
                    else:
                        _add_gains(tables, of_units, totals)
            yield rows, totals

    def groups(self, order: int, most_kept: float) -> list[UnitGroup]:
        """Groups of :meth:`make_groups`: kept by the game, or new.

        New groups are kept if all kept groups then take at most `most_kept` bytes.
        """
        cached, key = self.game.cached_groups, (order, self.trees.start)
        if key in cached:
            return cached[key]
        groups = list(self.make_groups(order))
        all_groups = chain(groups, *cached.values())
        if sum(group.n_bytes for group in all_groups) <= most_kept:
            cached[key] = groups
        return groups

    def make_groups(self, order: int) -> Iterator[UnitGroup]:
        """The units of the share, and their tables, some at a time."""
        plan, trees = self.plan, self.trees
        n_units = np.sum(
            [_units_of_trees(plan.ensemble, units) for units in plan.units], axis=0
        )
        edges = trees.start + _split_by_cost(n_units[trees], _UNITS_PER_GROUP)
        nodes = np.append(plan.ensemble.roots, plan.ensemble.n_nodes)[edges]
        units = [of_kind for of_kind in plan.units if of_kind.n_bits >= order]
        ends = [np.searchsorted(of_kind.root, nodes) for of_kind in units]
        shallow = [
            of_kind[end[0] : end[-1]]
            for of_kind, end in zip(units, ends, strict=True)
            if not of_kind.is_deep
        ]
        tables: list[list[UnitTables] | None] = [None] * len(units)  # deep units last
        if shallow:
            tables[: len(shallow)] = _tables_by_kind(plan, self.game, shallow, order)
        for group in range(len(edges) - 1):
            group_units, group_tables = [], []
            for of_kind, kind_tables, end in zip(units, tables, ends, strict=True):
                start, stop = end[group], end[group + 1]
                if start < stop:
                    group_units.append(of_kind[start:stop])
                    group_tables.append(
                        kind_tables and kind_tables[start - end[0] : stop - end[0]]
                    )
            finder = PatternFinder(plan.ensemble, plan.paths, group_units)
            yield UnitGroup(finder, group_tables)


def _make_share(
    ensemble: TreeEnsemble, players: Any, n_players: int, game: Callable[..., Any]
) -> TreeShare:
    """The share of all trees of an ensemble."""
    plan = TreePlan.of_ensemble(ensemble, players, n_players=n_players)
    return TreeShare(plan, game(ensemble, plan.paths), slice(0, ensemble.n_trees))


def _units_of_trees(ensemble: TreeEnsemble, units: TreeUnits) -> NDArray[np.intp]:
    """Number of units in each tree: the units of a tree follow those before it."""
    ends = np.append(ensemble.roots, ensemble.n_nodes)
    return np.diff(np.searchsorted(units.root, ends))


def _split_by_cost(
    costs: NDArray[Any], most: float, multiple: int = 1
) -> NDArray[np.intp]:
    """Starts of runs of trees that cost about `most` at most, and the last end."""
    if not len(costs):
        return np.zeros(1, dtype=np.intp)
    total = costs.sum()
    n_runs = multiple * int(np.ceil(total / (multiple * most)))
    run = ((np.cumsum(costs) - costs / 2) * n_runs / total).astype(np.intp)
    return np.append(np.flatnonzero(np.diff(run, prepend=-1)), len(costs))


def _row_slices(n_rows: int, rows_at_once: int) -> Iterator[slice]:
    """Slices of rows, each but the last of `rows_at_once` rows."""
    starts = range(0, n_rows, rows_at_once)
    return (slice(start, start + rows_at_once) for start in starts)


@dataclass(frozen=True, eq=False)
class DirectValues:
    """All trees, in the place of a share of them, for few rows: without tables."""

    plan: TreePlan
    game: Game

    def value_parts(
        self, codes: NDArray[np.intp], order: int, rows_at_once: int, most_kept: float
    ) -> ValueParts:
        """Values of the rows, block by block."""
        for rows in _row_slices(len(codes), rows_at_once):
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
    """Independent tasks, whose parts sum to the Shapley or interaction values of rows.

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
        Arguments of `value_parts_of_task`.
    """
    direct = game.direct_is_cheaper(len(codes), order)
    shares = [DirectValues(plan, game)] if direct else plan.shares(game)
    return [(share, codes, order, rows_at_once, most_kept) for share in shares]


def value_parts_of_task(share: TreeShare | DirectValues, *arguments: Any) -> ValueParts:
    """Yield the parts of the values that a task of `value_tasks` computes.

    Each part is a slice of the rows, and their totals over one share of the trees,
    (n_keys, m): by output and player, or pair of players.
    """
    return share.value_parts(*arguments)


def add_value_parts(values: NDArray[np.float64], parts: ValueParts) -> None:
    """Add parts of tasks to `values` in place, of the shape of `shapley_values`."""
    shape = values.shape[:-1]
    for rows, totals in parts:
        block_values, totals = values[..., rows], totals.reshape(*shape, -1)
        # Few rows at a time: one of the arrays has rows far apart in memory.
        for chunk in _row_slices(totals.shape[-1], _ADDED_AT_ONCE):
            block_values[..., chunk] += totals[..., chunk]


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
        add_value_parts(values, value_parts_of_task(*task))
    return values


def _add_gains(
    tables: list[UnitTables], patterns: NDArray[np.uint8], totals: NDArray[np.float64]
) -> None:
    """Add the gains of rows in units to `totals` (n_keys, n_rows) in place."""
    # Into the same memory each time; wrapping is the fastest mode of `take`.
    n_columns = max(len(unit.keys) for unit in tables)
    buffer = np.empty((n_columns, patterns.shape[1]))
    positions = np.empty(patterns.shape[1], dtype=np.intp)
    of_keys = list(totals)  # views
    for unit, unit_patterns in zip(tables, patterns, strict=True):
        positions[:] = unit_patterns
        gains = unit.tables.take(
            positions, axis=1, out=buffer[: len(unit.keys)], mode="wrap"
        )
        for key, gain in zip(unit.keys, gains, strict=True):
            np.add(of_keys[key], gain, out=of_keys[key])


def _tables_by_kind(
    plan: TreePlan, game: Game, units_by_kind: list[TreeUnits], order: int
) -> list[list[UnitTables]]:
    """The tables of each unit, kind by kind."""
    leaf_tables = game.leaf_tables(units_by_kind, order)
    ends = np.cumsum([units.leaves.size for units in units_by_kind])
    starts = np.split(leaf_tables.start, ends[:-1])
    tables_by_kind, scratch, numbers = [], Scratch(), leaf_tables.numbers
    for units, start in zip(units_by_kind, starts, strict=True):
        start = start.reshape(units.leaves.shape)
        n_columns = len(terms(units.n_bits, order)) * plan.ensemble.n_outputs
        step = max(1, _AT_ONCE // (n_columns * 2**units.n_bits))
        of_kind: list[UnitTables] = []
        for first in range(0, len(units), step):
            chunk = slice(first, first + step)
            chunk_units = units[chunk]
            tables = _unit_tables(
                plan, chunk_units, numbers, start[chunk], order, scratch
            )
            keys = plan.column_keys(chunk_units, order)
            used = keys >= 0
            by_unit = np.split(tables[used], np.cumsum(used.sum(axis=1))[:-1])
            keys_of_units = [key[key >= 0].tolist() for key in keys]
            of_kind += map(UnitTables, by_unit, keys_of_units)
        tables_by_kind.append(of_kind)
    return tables_by_kind


def _unit_tables(
    plan: TreePlan,
    units: TreeUnits,
    numbers: NDArray[np.float64],
    starts: NDArray[np.intp],
    order: int,
    scratch: Scratch,
) -> NDArray[np.float64]:
    """Sum the tables of leaves over units: (n_units, k * n_columns, 2 ** n_bits).

    For each pattern of a unit and each term of a leaf, the leaf adds its value times an
    entry of `numbers`: from its start on, terms follow each other, and each has an
    entry for every pattern of the leaf's d conditions, as `LeafTables` has them. The
    result lies in memory of `scratch`, and has to be copied.
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
        positions = scratch.empty("positions", patterns.shape, np.intp)
        gains, products = (
            scratch.empty(name, patterns.shape, np.float64)
            for name in ("gains", "products")
        )
        for term in terms(d.max(initial=0), order):
            term_starts = term_position(term, d)[:, None] << d[:, None]
            np.add(patterns, term_starts, out=positions)
            positions[term[-1] >= d] = 0  # without the term: number 0 is zero
            numbers.take(positions, out=gains, mode="wrap")
            if term[-1] < units.n_path:  # the same players in all units
                index: Any = (slice(None), column_of[term])
            else:
                players = tuple(units.columns[:, leaf, slot] for slot in term)
                index = (unit, column_of[players])
            for output in np.flatnonzero(values.any(axis=(1, 2))):
                np.multiply(values[output], gains, out=products)
                tables[:, output][index] += products
    return tables.reshape(len(units), -1, 2**n_slots)


def _add_gains_of_deep_leaves(
    plan: TreePlan,
    game: Game,
    units: TreeUnits,
    patterns: NDArray[Any],
    order: int,
    totals: NDArray[np.float64],
) -> None:
    """Add gains of deep leaves, at the patterns that occur, to `totals` in place."""
    keys = plan.column_keys(units, order)
    n_terms = len(terms(units.n_bits, order))
    for start in range(0, len(units), _DEEP_AT_ONCE):
        chunk = slice(start, start + _DEEP_AT_ONCE)
        distinct = distinct_patterns(patterns[chunk], units.n_bits)
        gains = game.deep_gains(
            units.root[chunk], distinct.unit, distinct.pattern, order
        )
        values = plan.ensemble.value[units.root[chunk]]
        ends = np.searchsorted(distinct.unit, np.arange(len(values) + 1))
        for leaf, position in enumerate(distinct.position):
            leaf_gains = gains[:, ends[leaf] : ends[leaf + 1]]
            for output in np.flatnonzero(values[leaf]):
                row_gains = (values[leaf, output] * leaf_gains).take(
                    position - ends[leaf], axis=1
                )
                of_output = slice(output * n_terms, (output + 1) * n_terms)
                for key, gain in zip(
                    keys[start + leaf, of_output], row_gains, strict=True
                ):
                    totals[key] += gain

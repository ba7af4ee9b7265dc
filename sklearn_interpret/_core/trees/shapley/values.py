"""Shapley and interaction values of tree ensembles.

Trees are cut into *units*, subtrees at the bottom of few splits (`subtrees`); units of
one *kind* have equally many splits and conditions above. A leaf has one *condition* for
each player on its path, in its *slots*: first those above the unit. A row's *pattern*
in a unit has a bit for each condition above, and for each split (1: to the left). A
player's *column* is its position in the unit. *Terms* are players, or pairs of players;
a term's *gain* depends on the pattern alone, and is looked up in a table of the term
and output. Its *key* is the position of the output and term in the totals of rows. A
*share* is consecutive trees whose tables are made together.

For example, a root that splits on age, and its left child, on income, are a unit
without conditions above: a young row of high income has the pattern 0b01. Of one output
it has two tables of four gains, of age and of income, and one of the pair.

Leaves that are too deep for a table are evaluated at the patterns that occur. Few rows
are evaluated by the game itself, without tables: `value_tasks` chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

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
_NUMBERS_PER_BLOCK = 2**17
# Largest number of rows in a block.
MOST_AT_ONCE = 2**14
# Rows whose totals are added together, and deep leaves evaluated together.
_ADDED_AT_ONCE = 128
_DEEP_AT_ONCE = 64
# Units whose patterns are found together.
_UNITS_PER_GROUP = 256
# Numbers in the tables of a share of the trees (64 megabytes).
_NUMBERS_PER_SHARE = 2**23
# Largest number of rows whose gains are summed together, and of their gains (8
# megabytes): of more, a sum for each table stays in the cache.
_MOST_SUMMED = 512
_SUMMED_AT_ONCE = 2**20
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


class KindTables(list[UnitTables]):
    """Tables of the units of one kind."""

    @cached_property
    def sums(self) -> tuple[NDArray[np.intp], csc_array]:
        """Keys, and the flags of the tables that are added to each: (n_keys, n)."""
        of_tables = np.fromiter(chain.from_iterable(unit.keys for unit in self), int)
        keys, position = np.unique(of_tables, return_inverse=True)
        flags = np.ones(len(position)), position, np.arange(len(position) + 1)
        return keys, csc_array(flags, shape=(len(keys), len(position)))


@dataclass(frozen=True, eq=False)
class UnitGroup:
    """Units of several kinds whose patterns are found together.

    Parameters
    ----------
    finder : PatternFinder
        Finds the patterns.
    tables : list of KindTables or None
        Tables of the units of each kind; None for single deep leaves.
    """

    finder: PatternFinder
    tables: list[KindTables | None]

    @cached_property
    def n_bytes(self) -> int:
        """Memory of the finder and the tables."""
        units = (unit for kind_tables in self.tables for unit in kind_tables or ())
        return self.finder.nbytes + sum(unit.tables.nbytes for unit in units)


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
        return sorted(units, key=lambda units_of_kind: units_of_kind.is_deep)

    @cached_property
    def trees_of_shares(self) -> NDArray[np.intp]:
        """Starts and ends of the trees whose tables are computed together."""
        costs = np.zeros(self.ensemble.n_trees)
        for units in self.units:
            n, n_numbers = units.n_bits, 1
            if n and not units.is_deep:  # the tables of both orders
                n_numbers = (n + n * (n - 1) // 2) * 2**n
            costs += n_numbers * _units_of_trees(self.ensemble, units)
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
        # Units with fewer players have -1, the first of a sorted pair. Outputs that are
        # zero at all leaves of a unit have zero gains, too.
        has_players, keys = players[..., 0] >= 0, players[..., 0]
        if order == 2:
            keys = keys * n_players + players[..., 1]
        outputs = np.arange(self.ensemble.n_outputs)[:, None] * n_players**order
        has_values = self.ensemble.value[units.leaves].any(axis=1)[..., None]
        is_used = has_players[:, None, :] & has_values
        keys = np.where(is_used, keys[:, None, :] + outputs, -1)
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
        bounds = np.append(plan.ensemble.roots, plan.ensemble.n_nodes)
        nodes = slice(int(bounds[self.trees.start]), int(bounds[self.trees.stop]))
        ensemble = plan.ensemble.slice_trees(self.trees, nodes)
        make_game = self.game.of_nodes(nodes)
        return _make_share, (ensemble, plan.players, plan.paths.n_players, make_game)

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
                for units, tables, unit_patterns in zip(
                    group.finder.groups, group.tables, patterns, strict=True
                ):
                    if tables is None:
                        _add_gains_of_deep_leaves(
                            self.plan, self.game, units, unit_patterns, order, totals
                        )
                    else:
                        _add_gains(tables, unit_patterns, totals)
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
        plan = self.plan
        kinds = [units for units in plan.units if units.n_bits >= order]
        nodes = self._bounds_of_groups()
        bounds = [np.searchsorted(units.root, nodes) for units in kinds]
        units_in_share = [
            units[bound[0] : bound[-1]]
            for units, bound in zip(kinds, bounds, strict=True)
        ]
        shallow = [units for units in units_in_share if not units.is_deep]
        tables: list[KindTables | None] = [None] * len(kinds)  # deep units last
        if shallow:
            tables[: len(shallow)] = _tables_by_kind(plan, self.game, shallow, order)
        for group in range(len(nodes) - 1):
            group_units: list[TreeUnits] = []
            group_tables: list[KindTables | None] = []
            for units, kind_tables, bound in zip(
                units_in_share, tables, bounds, strict=True
            ):
                start, stop = bound[group : group + 2] - bound[0]
                if start < stop:
                    group_units.append(units[start:stop])
                    group_tables.append(
                        kind_tables and KindTables(kind_tables[start:stop])
                    )
            finder = PatternFinder(plan.ensemble, plan.paths, group_units)
            yield UnitGroup(finder, group_tables)

    def _bounds_of_groups(self) -> NDArray[np.intp]:
        """First nodes of the groups of trees with few units, and the last end."""
        ensemble = self.plan.ensemble
        numbers = [_units_of_trees(ensemble, units) for units in self.plan.units]
        n_units = np.sum(numbers, axis=0)[self.trees]
        groups = _split_by_cost(n_units, _UNITS_PER_GROUP)
        bounds = np.append(ensemble.roots, ensemble.n_nodes)
        return bounds[self.trees.start + groups]


def _make_share(
    ensemble: TreeEnsemble, players: Any, n_players: int, make_game: Callable[..., Any]
) -> TreeShare:
    """The share of all trees of an ensemble."""
    plan = TreePlan.of_ensemble(ensemble, players, n_players=n_players)
    return TreeShare(plan, make_game(ensemble, plan.paths), slice(0, ensemble.n_trees))


def _units_of_trees(ensemble: TreeEnsemble, units: TreeUnits) -> NDArray[np.intp]:
    """Number of units in each tree: the units of a tree follow those before it."""
    bounds = np.append(ensemble.roots, ensemble.n_nodes)
    return np.diff(np.searchsorted(units.root, bounds))


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
    last_order: int | None = None,
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
    last_order : {1, 2}, optional
        Order of other values of the same rows: tables serve all orders or none.
    rows_at_once : int
        How many rows are worked on together.
    most_kept : int, default=0
        Bytes of tables that the game may keep for the next call.

    Returns
    -------
    list of tuple
        Arguments of `value_parts_of_task`.
    """
    direct = game.direct_is_cheaper(len(codes), last_order or order)
    shares = [DirectValues(plan, game)] if direct else plan.shares(game)
    return [(share, codes, order, rows_at_once, most_kept) for share in shares]


def value_parts_of_task(share: TreeShare | DirectValues, *arguments: Any) -> ValueParts:
    """Yield the parts of the values that a task of `value_tasks` computes.

    Each part is a slice of the rows, and their totals over one share of the trees,
    (n_keys, m): by output and player, or pair of players.
    """
    return share.value_parts(*arguments)


def add_value_parts(values: NDArray[np.float64], parts: ValueParts) -> None:
    """Add parts of tasks in place to `values`: by output, player or pair, and row."""
    shape = values.shape[:-1]
    for rows, totals in parts:
        block_values, totals = values[..., rows], totals.reshape(*shape, -1)
        # Few rows at a time: one of the arrays has rows far apart in memory.
        for chunk in _row_slices(totals.shape[-1], _ADDED_AT_ONCE):
            block_values[..., chunk] += totals[..., chunk]


def _add_gains(
    tables: KindTables, patterns: NDArray[np.uint8], totals: NDArray[np.float64]
) -> None:
    """Add the gains of rows in units to `totals` (n_keys, n_rows) in place."""
    keys, sums = tables.sums
    shape = sums.shape[1], patterns.shape[1]
    if shape[1] <= _MOST_SUMMED and np.prod(shape) <= _SUMMED_AT_ONCE:
        gains, start = np.empty(shape), 0
        for unit, positions in zip(tables, patterns.astype(np.intp), strict=True):
            stop = start + len(unit.keys)
            unit.tables.take(positions, axis=1, out=gains[start:stop], mode="wrap")
            start = stop
        totals[keys] += sums @ gains
        return
    # Into the same memory each time; wrapping is the fastest mode of `take`.
    n_keys = max(len(unit.keys) for unit in tables)
    buffer = np.empty((n_keys, patterns.shape[1]))
    positions = np.empty(patterns.shape[1], dtype=np.intp)
    rows_of_totals = list(totals)  # views
    for unit, unit_patterns in zip(tables, patterns, strict=True):
        positions[:] = unit_patterns
        gains = unit.tables.take(
            positions, axis=1, out=buffer[: len(unit.keys)], mode="wrap"
        )
        for key, gain in zip(unit.keys, gains, strict=True):
            np.add(rows_of_totals[key], gain, out=rows_of_totals[key])


def _tables_by_kind(
    plan: TreePlan, game: Game, units_by_kind: list[TreeUnits], order: int
) -> list[KindTables]:
    """The tables of each unit, kind by kind."""
    leaf_tables = game.leaf_tables(units_by_kind, order)
    bounds = np.cumsum([units.leaves.size for units in units_by_kind])
    starts = np.split(leaf_tables.start, bounds[:-1])
    tables_by_kind, scratch, numbers = [], Scratch(), leaf_tables.numbers
    for units, start in zip(units_by_kind, starts, strict=True):
        start = start.reshape(units.leaves.shape)
        n_tables = len(terms(units.n_bits, order)) * plan.ensemble.n_outputs
        step = max(1, _NUMBERS_PER_BLOCK // (n_tables * 2**units.n_bits))
        kind_tables = KindTables()
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
            kind_tables += map(UnitTables, by_unit, keys_of_units)
        tables_by_kind.append(kind_tables)
    return tables_by_kind


def _unit_tables(
    plan: TreePlan,
    units: TreeUnits,
    numbers: NDArray[np.float64],
    starts: NDArray[np.intp],
    order: int,
    scratch: Scratch,
) -> NDArray[np.float64]:
    """Sum the tables of leaves over units: (n_units, k * n_terms, 2 ** n_bits).

    For each pattern of a unit and each term of a leaf, the leaf adds its value times an
    entry of `numbers`: from its start on, terms follow each other, and each has an
    entry for every pattern of the leaf's conditions, as `LeafTables` has them. The
    result lies in memory of `scratch`, and has to be copied.
    """
    ensemble = plan.ensemble
    n_slots = units.n_bits
    column_of = column_table(n_slots, order)
    n_terms = len(terms(n_slots, order))
    n_leaves = units.leaves.shape[1]
    of_leaves = scratch.empty(
        "leaves", (len(units), n_leaves, n_terms, 2**n_slots), np.float64
    )
    of_leaves[:] = 0
    unit = np.arange(len(units))
    for leaf, n_leaf_conditions in enumerate(units.n_conditions.T):
        patterns = units.leaf_patterns(leaf) + starts[:, leaf, None]
        positions = scratch.empty("positions", patterns.shape, np.intp)
        gains = scratch.empty("gains", patterns.shape, np.float64)
        for term in terms(n_leaf_conditions.max(initial=0), order):
            term_starts = term_position(term, n_leaf_conditions) << n_leaf_conditions
            np.add(patterns, term_starts[:, None], out=positions)
            positions[term[-1] >= n_leaf_conditions] = 0  # no term: number 0 is zero
            numbers.take(positions, out=gains, mode="wrap")
            # The first slots of a leaf, of the conditions above, belong to the first
            # columns, in this order; columns of later slots differ between units.
            if term[-1] < units.n_path:
                of_leaves[:, leaf, column_of[term]] = gains
            else:
                players = tuple(units.columns[:, leaf, slot] for slot in term)
                of_leaves[unit, leaf, column_of[players]] += gains
    # One product for all outputs: (n_units, k, n_leaves) by the leaves' gains.
    values = ensemble.value[units.leaves].swapaxes(1, 2)
    shape = len(units), ensemble.n_outputs, n_terms * 2**n_slots
    tables = scratch.empty("tables", shape, np.float64)
    np.matmul(values, of_leaves.reshape(len(units), n_leaves, -1), out=tables)
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
        bounds = np.searchsorted(distinct.unit, np.arange(len(values) + 1))
        for leaf, position in enumerate(distinct.position):
            leaf_gains = gains[:, bounds[leaf] : bounds[leaf + 1]]
            gains_of_rows = leaf_gains.take(position - bounds[leaf], axis=1)
            for output in np.flatnonzero(values[leaf]):
                row_gains = values[leaf, output] * gains_of_rows
                of_output = slice(output * n_terms, (output + 1) * n_terms)
                for key, gain in zip(
                    keys[start + leaf, of_output], row_gains, strict=True
                ):
                    totals[key] += gain

r"""Values of few rows, each compared with the rows of a background.

A pair of rows gains at a leaf only if each condition is met by at least one of the two
(see `tables.comparison_integrals`). Most leaves drop out on the path: a row is
accompanied only by the background rows that meet all conditions that the row fails.
There are no tables of patterns to be computed first, so that the first row is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.special import comb

from sklearn_interpret._core.trees.shapley.subtrees import MAX_TABLE_CONDITIONS
from sklearn_interpret._core.trees.shapley.tables import comparison_integrals
from sklearn_interpret._core.trees.structure.bits import WORD, RowBits, set_bits

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Sizes of blocks. Chosen by hand: smaller blocks call numpy more often, larger ones
# leave the cache or take memory. Bytes of one block, 64 MB:
_BYTES_PER_BLOCK = 2**26
# Background rows in one block.
_ROWS_PER_BLOCK = 2**10
# Splits in a block of children's sets.
_SPLITS_AT_ONCE = 512
# The members of all sets of eight players: (256, 8), 0 or 1.
_OCTETS = np.arange(256, dtype=np.uint8)[:, None]
_MEMBERS = np.unpackbits(_OCTETS, axis=1, bitorder="little").astype(np.float64)

# Sets of players as the bits of integers, as many integers as it takes: (n_words, ...).
Sets = NDArray[np.unsignedinteger]


class LevelStep(NamedTuple):
    """Positions of the splits of a level, and of their children on the next level."""

    splits: slice  # among the splits
    left: slice  # of the left children, among the nodes
    right: slice  # of the right children, among the nodes


class ComparedLeaves(NamedTuple):
    """Leaves at which a row and some rows of the background gain."""

    leaves: NDArray[np.intp]  # (m,): positions among the leaves
    lost: Sets  # (n_words, m): players whose conditions the row fails
    background: NDArray[np.uint64]  # (m, n_row_words): rows that meet all `lost`


@dataclass(frozen=True, eq=False)
class Levels:
    """Nodes of some trees level by level, all left children before all right children.

    Arrays in this order are read and written in one stretch, level after level.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,), intp
        The nodes.
    split_positions, leaf_positions : ndarray of intp
        Positions of the splits and of the leaves in `nodes`; increasing.
    edges : ndarray of shape (n_levels,), intp
        Position among the splits at which each level starts, and the end of the last.
    n_roots : int
        Number of trees.
    """

    nodes: NDArray[np.intp]
    split_positions: NDArray[np.intp]
    leaf_positions: NDArray[np.intp]
    edges: NDArray[np.intp]
    n_roots: int

    @classmethod
    def below(cls, ensemble: TreeEnsemble, roots: NDArray[np.intp]) -> Levels:
        """Levels of the trees with these roots."""
        levels, edges, nodes = [], [0], roots
        while len(nodes):
            levels.append(nodes)
            splits = nodes[~ensemble.is_leaf[nodes]]
            edges.append(edges[-1] + len(splits))
            nodes = np.concatenate([ensemble.left[splits], ensemble.right[splits]])
        nodes = np.concatenate(levels)
        is_leaf = ensemble.is_leaf[nodes]
        splits, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
        return cls(nodes, splits, leaves, np.array(edges[:-1]), len(roots))

    @property
    def splits(self) -> NDArray[np.intp]:
        """Nodes of the splits."""
        return self.nodes[self.split_positions]

    @property
    def leaves(self) -> NDArray[np.intp]:
        """Nodes of the leaves."""
        return self.nodes[self.leaf_positions]

    def steps(self) -> Iterator[LevelStep]:
        """The levels with splits, from the roots down."""
        for start, stop in pairwise(self.edges.tolist()):
            first, n = self.n_roots + 2 * start, stop - start
            left, right = slice(first, first + n), slice(first + n, first + 2 * n)
            yield LevelStep(slice(start, stop), left, right)


@dataclass(frozen=True, eq=False)
class PairBlock:
    """Some trees, and the rows of the background that rows are compared with there.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The ensemble that has the trees.
    levels : Levels
        Nodes of the trees; the arrays below have its order of nodes, splits and leaves.
    rows : slice
        Which rows of the background.
    feature, rank : ndarray of shape (n_splits,)
        Feature and rank of the splits, as in `TreeEnsemble` and `SplitCodes`.
    player : Sets of shape (n_words, n_splits)
        The player of each split, as a set.
    n_players : int
        Number of players.
    value : ndarray of shape (n_leaves, k)
        Values of the leaves.
    met : ndarray of shape (n_row_words, n_nodes), uint64
        Rows of the background that meet the condition of each node, as bits.
    failed : Sets of shape (n_words, n_leaves * n_rows)
        Players whose conditions rows of the background fail, leaf after leaf.
    """

    ensemble: TreeEnsemble
    levels: Levels
    rows: slice
    feature: NDArray[np.intp]
    rank: NDArray[np.int32]
    player: Sets
    n_players: int
    value: _Array
    met: NDArray[np.uint64]
    failed: Sets

    @classmethod
    def of_trees(
        cls,
        ensemble: TreeEnsemble,
        paths: TreePaths,
        roots: NDArray[np.intp],
        bits: RowBits,
        rows: slice,
    ) -> PairBlock:
        """The block of the trees with these roots, and RowBits of background rows."""
        levels = Levels.below(ensemble, roots)
        splits = levels.splits
        children = ensemble.left[splits]
        player = _player_sets(paths.n_players).take(paths.player[children], axis=1)
        left = bits.left_rows(splits)
        left &= bits.valid
        failed = _failed_players(levels, player, left, bits.n_rows)
        return cls(
            ensemble=ensemble,
            levels=levels,
            rows=rows,
            feature=ensemble.feature[splits],
            rank=ensemble.split_codes.rank[splits].astype(np.int32),
            player=player,
            n_players=paths.n_players,
            value=ensemble.value[levels.leaves],
            met=_rows_meeting(levels, paths.previous[children], left, bits.valid),
            failed=failed.reshape(len(player), -1),
        )

    def values(
        self, codes: NDArray[np.intp], weights: _Array, order: int, integrals: _Array
    ) -> _Array:
        """Values (n_rows, k, n_players, ...) of rows; see `pair_values`."""
        rows = zip(codes, weights[:, self.rows], strict=True)
        return np.array([self._values(*row, order, integrals) for row in rows])

    def _values(
        self, codes: NDArray[np.intp], weights: _Array, order: int, integrals: _Array
    ) -> _Array:
        """Values (k, n_players, ...) of one row."""
        leaves, lost, background = self._compare_row(codes)
        leaf, background_row = set_bits(background)
        n_rows = self.failed.shape[1] // len(self.value)
        gained = self.failed.take(leaves.take(leaf) * n_rows + background_row, axis=1)
        # The integral depends on how many conditions only one of the two rows meets.
        case = _set_sizes(gained) * integrals.shape[2]
        case += _set_sizes(lost).take(leaf)
        weight = weights.take(background_row)
        gains = _Gains(
            gained=gained,
            leaf=leaf,
            gains=[integral.ravel().take(case) * weight for integral in integrals],
            lost=lost,
            values=self.value.take(leaves, axis=0),
            n_players=self.n_players,
        )
        return gains.by_player() if order == 1 else gains.by_pair()

    def _compare_row(self, codes: NDArray[np.intp]) -> ComparedLeaves:
        """The leaves at which one row gains, from its codes (n_features,)."""
        levels, left = self.levels, self._row_lefts(codes)
        n_words, n_nodes = len(self.player), len(levels.nodes)
        lost = np.zeros((n_words, n_nodes), dtype=self.player.dtype)
        background = np.empty_like(self.met)
        background[:, : levels.n_roots] = self.met[:, : levels.n_roots]
        for step in levels.steps():
            splits = levels.split_positions[step.splits]
            player = self.player[:, step.splits]
            lost_at_splits = lost.take(splits, axis=1)
            background_at_splits = background.take(splits, axis=1)
            fails_right = left[step.splits] * player
            for child, fails in (
                (step.left, fails_right ^ player),
                (step.right, fails_right),
            ):
                lost[:, child] = lost_at_splits | fails
                meets = ~(lost[:, child] & player).any(axis=0)
                # All bits where the row meets the condition: then no background row
                # needs to meet it.
                all_rows = np.negative(meets.view(np.int8)).astype(np.int64).view(WORD)
                background[:, child] = self.met[:, child] | all_rows
                background[:, child] &= background_at_splits
        background = background.take(levels.leaf_positions, axis=1)
        leaves = np.flatnonzero(np.bitwise_or.reduce(background, axis=0))
        lost = lost.take(levels.leaf_positions.take(leaves), axis=1)
        background = np.ascontiguousarray(background.take(leaves, axis=1).T)
        return ComparedLeaves(leaves, lost, background)

    def _row_lefts(self, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """The mask of splits that send a row to the left."""
        trees, split_values = self.ensemble, codes.take(self.feature)
        missing = codes == trees.split_codes.missing
        if len(trees.categories_left) or missing.any():
            return trees.goes_left(self.levels.splits, split_values)
        return split_values <= self.rank


def _player_sets(n_players: int) -> Sets:
    """Each player as a set: (n_words, n_players)."""
    size = next((n for n in (1, 2, 4) if n_players <= 8 * n), 8)
    dtype, players = np.dtype(f"<u{size}"), np.arange(n_players)
    sets = np.zeros((-(-n_players // (8 * size)), n_players), dtype=dtype)
    bits = dtype.type(1) << (players % (8 * size)).astype(dtype)
    sets[players // (8 * size), players] = bits
    return sets


def _rows_meeting(
    levels: Levels,
    previous: NDArray[np.intp],
    left: NDArray[np.uint64],
    valid: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """Rows that meet each condition, as bits: (n_row_words, n_nodes)."""
    position = np.zeros(levels.nodes.max() + 1, dtype=np.intp)
    position[levels.nodes] = np.arange(len(levels.nodes))
    met = np.empty((len(valid), len(levels.nodes)), dtype=WORD)
    met[:, : levels.n_roots] = valid[:, None]
    for step in levels.steps():
        met[:, step.left] = left[step.splits].T
        met[:, step.right] = (left[step.splits] ^ valid).T
        merged = np.flatnonzero(previous[step.splits] >= 0)
        met_before = met.take(position.take(previous[step.splits][merged]), axis=1)
        for child in (step.left, step.right):
            met[:, child.start + merged] &= met_before
    return met


def _failed_players(
    levels: Levels, player: Sets, left: NDArray[np.uint64], n_rows: int
) -> Sets:
    """Players whose conditions rows fail at leaves: (n_words, n_leaves, n_rows)."""
    failed = np.zeros((len(player), len(levels.nodes), n_rows), player.dtype)
    for step in levels.steps():
        for start in range(step.splits.start, step.splits.stop, _SPLITS_AT_ONCE):
            block = slice(start, min(start + _SPLITS_AT_ONCE, step.splits.stop))
            at_splits = failed.take(levels.split_positions[block], axis=1)
            octets, splits_player = left[block].view(np.uint8), player[:, block, None]
            goes_left = np.unpackbits(octets, axis=1, count=n_rows, bitorder="little")
            fails_right = splits_player * goes_left.astype(player.dtype)
            for child, fails in (
                (step.right, fails_right),
                (step.left, fails_right ^ splits_player),
            ):
                first = child.start + start - step.splits.start
                nodes = slice(first, first + block.stop - start)
                np.bitwise_or(at_splits, fails, out=failed[:, nodes])
    return failed.take(levels.leaf_positions, axis=1)


def _set_sizes(sets: Sets) -> NDArray[np.intp]:
    """Number of members of sets (n_words, n)."""
    return np.bitwise_count(sets).sum(axis=0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class _Gains:
    """Gains of a row at m leaves, for n pairs of a leaf and a background row.

    Parameters
    ----------
    gained : Sets of shape (n_words, n)
        Players whose conditions the row alone meets.
    leaf : ndarray of shape (n,), intp
        The leaf of each pair.
    gains : list of ndarray of shape (n,)
        Gains of a term, by how many of its conditions the background row alone meets.
    lost : Sets of shape (n_words, m)
        Players whose conditions the row fails at each leaf.
    values : ndarray of shape (m, k)
        Values of the leaves.
    n_players : int
        Number of players.
    """

    gained: Sets
    leaf: NDArray[np.intp]
    gains: list[_Array]
    lost: Sets
    values: _Array
    n_players: int

    def by_player(self) -> _Array:
        """Values by output and player: (k, n_players)."""
        gain, loss = self.gains
        # Each leaf has a pair or more, and they follow the leaves.
        starts = np.flatnonzero(np.diff(self.leaf, prepend=-1, append=-1))
        losses = np.add.reduceat(loss, starts[:-1])
        of_leaves = np.arange(len(starts))
        values, n_players = self.values, self.n_players
        totals = _player_totals(self.gained, gain, starts, values, n_players)
        totals += _player_totals(self.lost, losses, of_leaves, values, n_players)
        return totals

    def by_pair(self) -> _Array:
        """Interaction values by output and pair: (k, n_players, n_players)."""
        gain, mixed_gain, loss = self.gains
        losses = np.bincount(self.leaf, loss, len(self.values))
        gained, lost, n_players = self.gained, self.lost, self.n_players
        lost_of_pairs = lost.take(self.leaf, axis=1)
        values = []
        for value in self.values.T:
            of_pairs = value.take(self.leaf)
            mixed = _pair_weights(
                gained, lost_of_pairs, mixed_gain * of_pairs, n_players
            )
            total = _pair_weights(gained, gained, gain * of_pairs, n_players)
            total += _pair_weights(lost, lost, losses * value, n_players)
            values.append(total + mixed + mixed.T)
        return np.triu(values, 1)


def _player_totals(
    sets: Sets,
    weights: _Array,
    starts: NDArray[np.intp],
    values: _Array,
    n_players: int,
) -> _Array:
    """Weights of the sets that each player is in, times values of their leaves.

    Sets (n_words, n) and weights (n,) follow the leaves, from `starts` (m + 1,) on;
    values are (m, k). Returns (k, n_players).
    """
    shape = 256, len(values)
    octets = _octets_of_players(sets, n_players)
    # The outputs of a leaf are together: a sparse product adds all of them at once.
    sums = [csc_array((weights, octet, starts), shape) @ values for octet in octets]
    return np.concatenate([_MEMBERS.T @ each for each in sums])[:n_players].T


def _octets_of_players(sets: Sets, n_players: int) -> list[NDArray[np.uint8]]:
    """Each eight players' bits of sets (n_words, n): list of arrays (n,)."""
    octets = [octet for word in sets[..., None].view(np.uint8) for octet in word.T]
    return octets[: -(-n_players // 8)]


def _pair_weights(first: Sets, second: Sets, weights: _Array, n_players: int) -> _Array:
    """Total weight where one player is in the first set, another one in the second."""
    rows = []
    for first_octet in _octets_of_players(first, n_players):
        row = []
        for second_octet in _octets_of_players(second, n_players):
            octet_pairs = first_octet * np.intp(256) + second_octet
            sums = np.bincount(octet_pairs, weights, 2**16).reshape(256, 256)
            row.append(_MEMBERS.T @ sums @ _MEMBERS)
        rows.append(row)
    return np.block(rows)[:n_players, :n_players]


def pair_blocks(
    ensemble: TreeEnsemble,
    paths: TreePaths,
    codes: NDArray[np.intp],
    most_bytes: float = np.inf,
) -> Iterator[PairBlock]:
    """Blocks of all trees and rows of a background, one after the other.

    Each block takes at most about `most_bytes`, if a tree with 64 rows does.
    """
    n_pairs = min(most_bytes, _BYTES_PER_BLOCK) / _bytes_of_pair(paths)
    ends = np.append(ensemble.roots[1:], ensemble.n_nodes)
    largest = np.max(ends - ensemble.roots)
    n_rows = int(np.clip(n_pairs / largest, 64, _ROWS_PER_BLOCK))
    block = (ends - 1) // max(1, int(n_pairs / min(n_rows, len(codes))))
    trees = np.split(ensemble.roots, np.flatnonzero(np.diff(block)) + 1)
    for start in range(0, len(codes), n_rows):
        rows = slice(start, start + n_rows)
        bits = RowBits(ensemble, codes[rows])
        for roots in trees:
            yield PairBlock.of_trees(ensemble, paths, roots, bits, rows)


def pair_values(
    blocks: Iterable[PairBlock],
    paths: TreePaths,
    codes: NDArray[np.intp],
    weights: _Array,
    order: int,
    integrals: Callable[[int, int], _Array] = comparison_integrals,
) -> _Array:
    """Values of rows from all blocks: (n_keys, n_rows).

    `weights` (n_rows, n_background_rows) are the weights of the comparisons.
    """
    table = integrals(int(paths.n_conditions.max(initial=0)), order)
    values = (block.values(codes, weights, order, table) for block in blocks)
    totals = reduce(np.add, values)
    return totals.reshape(len(codes), -1).T


def pair_bytes(ensemble: TreeEnsemble, paths: TreePaths, n_rows: int) -> float:
    """Memory of the blocks of `n_rows` rows of a background."""
    # Each node has its rows' sets and bits, and about 64 bytes in arrays of nodes.
    return ensemble.n_nodes * (n_rows * _bytes_of_pair(paths) + 64)


def _bytes_of_pair(paths: TreePaths) -> float:
    """Memory per node and row of the background."""
    # A set of failed players at leaves, which are half of the nodes, and a bit for the
    # condition of each node.
    return _player_sets(paths.n_players)[:, 0].nbytes / 2 + 1 / 8


def comparing_is_cheaper(
    leaf_counts: NDArray[np.intp],
    n_players: int,
    n_others: int,
    n_rows: int,
    order: int,
) -> bool:
    """Whether comparing `n_rows` rows takes less time than tables.

    `leaf_counts` are the numbers of leaves with 0, 1, 2, ... conditions. The factors
    are microseconds, chosen by hand from times of ensembles of several depths: they
    change the time that values take, not the values. Whether tables are kept from an
    earlier call does not count: so equal rows are always computed in the same way.
    """
    d = np.arange(len(leaf_counts))
    n_leaves, n_words = leaf_counts.sum(), -(-n_others // 64)
    # A leaf's d conditions are met by one of two rows with a probability of 0.6 ** d.
    n_pairs = n_others * (leaf_counts @ 0.6**d)
    n_tables = (n_players / 8) ** 2 if order == 2 else 0  # see `_pair_weights`
    cost_of_row = 250 + 400 * n_tables + 0.008 * n_leaves * (n_words + 1)
    cost_of_row += (0.04 + 0.01 * n_tables) * n_pairs
    cost_of_rows = n_rows * cost_of_row + 0.004 * n_leaves * n_others
    is_flat = d <= MAX_TABLE_CONDITIONS
    n_numbers = leaf_counts[is_flat] @ (comb(d, order) * 2.0**d)[is_flat]
    n_deep = leaf_counts[~is_flat].sum()
    tables = (
        0.15 / order * n_numbers + 120 * n_deep + 0.005 * n_leaves * (n_rows + n_others)
    )
    return bool(cost_of_rows < tables)

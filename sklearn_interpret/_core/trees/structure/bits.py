"""Conditions of trees for many rows together: sets of rows as bits of words.

64 rows share a word, so that one operation on words checks a condition for 64 rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.nodes import TreeNodes
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Little-endian, so that the bytes of a word hold its rows in order on every machine.
WORD = np.dtype("<u8")
_ALL = WORD.type(2**64 - 1)

# Sizes of blocks. Chosen by hand: smaller blocks call numpy more often, larger ones
# leave the cache. Words of the sets of nodes' rows, 4 MB:
_MOST_WORDS = 2**19
# Bytes of sets whose rows' weights are summed; the sums take 128 kB.
_MOST_OCTETS = 2**14


def first_bits(n: int) -> NDArray[np.uint64]:
    """A bit set that holds the first n rows: (n_words,)."""
    words = np.full(-(-n // 64), _ALL, dtype=WORD)
    if n % 64:
        words[-1] = 2 ** int(n % 64) - 1
    return words


class RowBits:
    """For every split, the set of rows that it sends to the left.

    Parameters
    ----------
    ensemble : TreeNodes
        The trees.
    codes : ndarray of shape (n_rows, m), int
        The rows' codes of some features.
    features : ndarray of shape (m,), intp, optional
        Features of the columns; splits on other features cannot be evaluated. None
        means all features.
    """

    def __init__(
        self,
        ensemble: TreeNodes,
        codes: NDArray[np.integer],
        features: NDArray[np.intp] | Sequence[int] | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.n_rows = len(codes)
        self.n_words = -(-self.n_rows // 64)
        self.valid = first_bits(self.n_rows)
        n_codes = ensemble.split_codes.n_codes
        self._first_position = np.cumsum(n_codes) - n_codes
        self._row_of_code = np.zeros(n_codes.sum() + 1, dtype=np.intp)
        self._start: dict[int, int] = {}
        self._missing: dict[int, NDArray[np.uint64]] = {}
        if features is None:
            features = np.arange(ensemble.n_features)
        # The tables of all features stand below each other. A table has an empty set,
        # and then for each code that occurs the set of rows with codes up to it. The
        # last set of all, for a position past all codes, holds all rows.
        most_codes = np.minimum(n_codes, self.n_rows)
        most_codes = most_codes[np.asarray(features, dtype=np.intp)]
        n_sets = most_codes.sum() + len(most_codes) + 1
        self._tables = np.zeros((n_sets, self.n_words), WORD)
        self._tables[-1], self._row_of_code[-1] = self.valid, n_sets - 1
        rows, table_start = np.arange(self.n_rows), 0
        word, bit = rows >> 6, WORD.type(1) << (rows & 63).astype(WORD)
        for column, j in enumerate(features):
            if n_codes[j] == 1 and not ensemble.split_codes.categorical[j]:
                continue  # no split
            occurs = np.bincount(codes[:, column], minlength=n_codes[j]) > 0
            table_row = table_start + np.cumsum(occurs)  # of each code
            first = self._first_position[j]
            self._row_of_code[first : first + n_codes[j]] = table_row
            self._start[int(j)] = table_start
            # Every bit is added once, so that the sums are unions.
            position = table_row[codes[:, column]] * self.n_words + word
            np.add.at(self._tables.reshape(-1), position, bit)
            table = self._tables[table_start : table_row[-1] + 1]
            np.bitwise_or.accumulate(table, axis=0, out=table)
            if occurs[-1]:  # the last code stands for missing values
                self._missing[int(j)] = table[-1] ^ table[-2]
            table_start = table_row[-1] + 1

    def left_rows(self, nodes: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Rows that would go to the left at inner nodes (m,): bits (m, n_words).

        Bits beyond the last row mean nothing.
        """
        return self.left_rows_at(self.ensemble.split_positions.take(nodes), nodes)

    def left_rows_at(
        self,
        positions: NDArray[np.integer],
        nodes: NDArray[np.integer],
        out: NDArray[np.uint64] | None = None,
    ) -> NDArray[np.uint64]:
        """As :meth:`left_rows`, for inner nodes whose `split_positions` are known.

        A position past all codes, with any leaf as node, gives all rows.
        """
        trees = self.ensemble
        sets = self._tables.take(
            self._row_of_code.take(positions), axis=0, out=out, mode="clip"
        )
        if not self._missing and not len(trees.categories_left):
            return sets
        feature = trees.feature[nodes]
        for j, missing in self._missing.items():
            sets[(feature == j) & trees.missing_left[nodes]] |= missing
        if len(trees.categories_left):
            by_category = np.flatnonzero(trees.category_set[nodes] >= 0)
            for j in np.unique(feature[by_category]):
                selected = by_category[feature[by_category] == j]
                sets[selected] = self._categories_left(nodes[selected], j)
        return sets

    def _categories_left(self, nodes: NDArray[np.intp], j: int) -> NDArray[np.uint64]:
        """Rows that go to the left at splits on one categorical feature."""
        first, n_codes = self._first_position[j], self.ensemble.split_codes.n_codes[j]
        table_row = self._row_of_code[first : first + n_codes]
        sets = np.zeros((len(nodes), self.n_words), dtype=WORD)
        before = np.append(self._start[j], table_row[:-1])
        for code in np.flatnonzero(table_row > before):
            rows = self._tables[table_row[code]] ^ self._tables[before[code]]
            left = self.ensemble.goes_left(nodes, np.full(len(nodes), code))
            sets[left] |= rows
        return sets


class _LeavesOfBit(NamedTuple):
    """Leaves whose number in their tree has one of its bits set."""

    trees: NDArray[np.intp]  # (m,): trees that have such leaves
    leaves: NDArray[np.intp]  # (n,): tree by tree
    starts: NDArray[np.intp]  # (m,): position of each tree's first one


class LeafFinder:
    """Finds the leaf of each tree that rows reach, for many rows together.

    The leaves of a tree are numbered. A bit of the number of a row's leaf says whether
    the row reaches any of the leaves whose numbers have this bit.

    Parameters
    ----------
    ensemble : TreeNodes
        The trees.
    """

    def __init__(self, ensemble: TreeNodes) -> None:
        self.ensemble = ensemble
        self.leaves = np.flatnonzero(ensemble.is_leaf)
        self._first = np.searchsorted(self.leaves, ensemble.roots)
        sizes = np.diff(np.append(self._first, len(self.leaves)))
        tree = np.repeat(np.arange(ensemble.n_trees), sizes)
        number = np.arange(len(self.leaves)) - self._first[tree]
        self._dtype = np.min_scalar_type(number.max(initial=0))
        self._leaves_of_bits: list[_LeavesOfBit] = []
        for bit in range(int(number.max(initial=0)).bit_length()):
            with_bit = np.flatnonzero(number >> bit & 1)
            trees, starts = np.unique(tree[with_bit], return_index=True)
            self._leaves_of_bits.append(
                _LeavesOfBit(trees, self.leaves[with_bit], starts)
            )

    @property
    def block_rows(self) -> int:
        """Number of rows that are best routed together."""
        return 64 * max(4, _MOST_WORDS // self.ensemble.n_nodes)

    def find(self, codes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Leaves that rows reach: (n_trees, n_rows), intp."""
        trees = self.ensemble
        bits = RowBits(trees, codes)
        reached = np.empty((trees.n_nodes, bits.n_words), dtype=WORD)
        reached[trees.roots] = bits.valid
        for nodes in trees.levels[1:]:
            left, right = nodes[::2], nodes[1::2]
            splits = trees.parents[left]
            at_splits, go_left = reached.take(splits, axis=0), bits.left_rows(splits)
            go_left &= at_splits
            reached[left], reached[right] = go_left, at_splits ^ go_left
        number = np.zeros((trees.n_trees, len(codes)), dtype=self._dtype)
        for bit, of_bit in enumerate(self._leaves_of_bits):
            sets = reached.take(of_bit.leaves, axis=0)
            octets = np.bitwise_or.reduceat(sets, of_bit.starts, axis=0).view(np.uint8)
            is_set = np.unpackbits(octets, axis=1, count=len(codes), bitorder="little")
            number[of_bit.trees] |= is_set.astype(self._dtype) << self._dtype.type(bit)
        return self.leaves.take(number + self._first[:, None])


class Narrowing(NamedTuple):
    """Conditions that hold only where their previous conditions, listed earlier, do."""

    narrowed: slice
    previous: NDArray[np.intp]  # position of the previous condition of each


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions of some nodes, ordered for the comparison of any rows.

    Build it with :meth:`of_nodes`.

    Parameters
    ----------
    nodes : ndarray of shape (m,), intp
        The nodes that name the conditions; conditions that are part of others first.
    parents : ndarray of shape (m,), intp
        The splits above these nodes.
    sides : ndarray of shape (m, 1), uint64
        Masks by which ``xor`` turns the rows that go left at the split into the rows
        that go to the node.
    narrowings : tuple of Narrowing
        Steps in which conditions are narrowed, in order.
    """

    nodes: NDArray[np.intp]
    parents: NDArray[np.intp]
    sides: NDArray[np.uint64]
    narrowings: tuple[Narrowing, ...]

    @classmethod
    def of_nodes(
        cls, ensemble: TreeNodes, paths: TreePaths, nodes: NDArray[np.intp]
    ) -> Conditions:
        """Conditions of nodes (m,), which are no roots and include previous nodes."""
        # Position of each node's condition, -1 as long as it has none.
        position = np.full(ensemble.n_nodes, -1, dtype=np.intp)
        ordered, narrowings, n_before = [nodes[:0]], [], 0
        ready = nodes[paths.previous[nodes] < 0]
        waiting = nodes[paths.previous[nodes] >= 0]
        while len(ready):
            position[ready] = np.arange(n_before, n_before + len(ready))
            if n_before:
                narrowed = slice(n_before, n_before + len(ready))
                narrowings.append(Narrowing(narrowed, position[paths.previous[ready]]))
            ordered.append(ready)
            n_before += len(ready)
            is_ready = position[paths.previous[waiting]] >= 0
            ready, waiting = waiting[is_ready], waiting[~is_ready]
        nodes = np.concatenate(ordered)
        parents = ensemble.parents[nodes]
        right = ensemble.right[parents] == nodes
        sides = np.where(right, _ALL, WORD.type(0))[:, None]
        return cls(nodes, parents, sides, tuple(narrowings))

    def meeting_rows(self, bits: RowBits) -> NDArray[np.uint64]:
        """Rows that meet each condition: (m, n_words)."""
        sets = bits.left_rows(self.parents)
        sets ^= self.sides
        sets[:, -1] &= bits.valid[-1]
        for narrowed, previous in self.narrowings:
            sets[narrowed] &= sets.take(previous, axis=0)
        return sets


def blocks_of_trees(ensemble: TreeNodes, most_nodes: int) -> list[NDArray[np.intp]]:
    """The nodes of some trees at a time, about `most_nodes`: list of ndarray."""
    # The nodes of a tree begin with its root, and follow those of the tree before.
    ends = np.append(ensemble.roots[1:], ensemble.n_nodes)
    block = (ends - 1) // max(most_nodes, 1)
    starts = ends[:-1][np.diff(block) > 0]
    pieces = np.split(np.arange(ensemble.n_nodes), starts)
    return [nodes for nodes in pieces if len(nodes)]


def all_but_one_and_all(
    sets: NDArray[np.uint64], valid: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Rows in all of d sets but one, for each of the d; and last the rows in all sets.

    Takes sets (d, m, n_words) for m intersections, and all rows as `valid`; returns
    (d + 1, m, n_words).
    """
    d = len(sets)
    rows = np.empty((d + 1, *sets.shape[1:]), dtype=WORD)
    rows[0] = valid
    for s in range(d):
        np.bitwise_and(rows[s], sets[s], out=rows[s + 1])
    if d:
        in_later_sets = sets[-1].copy()
        for s in range(d - 2, -1, -1):
            rows[s] &= in_later_sets
            in_later_sets &= sets[s]
    return rows


def set_bits(sets: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Set and row of each bit that is set in sets (m, n_words): (n,) each."""
    words = sets.reshape(-1)
    used_words = np.flatnonzero(words != 0)
    sparse = 4 * len(used_words) < len(words)
    octets = (words[used_words] if sparse else words).view(np.uint8)
    used = np.flatnonzero(octets != 0)
    flags = np.unpackbits(octets[used], bitorder="little")
    bits = np.flatnonzero(flags.view(np.bool_))
    octet = used[bits >> 3]
    bits &= 7
    if sparse:
        bits += used_words[octet >> 3] << 6
        octet &= 7
    bits += octet << 3
    # Twice as fast as one call of divmod.
    width = max(sets.shape[1], 1) * 64
    set_index = bits // width
    bits -= set_index * width
    return set_index, bits


class RowWeights:
    """Weights of the rows of a block, summed up over bit sets.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Weights.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        n_words = -(-len(weights) // 64)
        self.common_weight = (
            float(weights[0]) if np.all(weights == weights[0]) else None
        )
        if self.common_weight is None:
            padded = np.zeros(n_words * 64)
            padded[: len(weights)] = weights
            octets = np.arange(256, dtype=np.uint8)[:, None]
            of_octets = np.unpackbits(octets, axis=1, bitorder="little")
            # One row of sums for each of the bytes of a set.
            self._sums = (padded.reshape(-1, 8) @ of_octets.T).reshape(-1)
            self._starts = np.arange(n_words * 8) * 256
        self._ones_of_words = np.ones(n_words, dtype=np.float32)

    def counts(self, sets: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Number of rows in sets (..., n_words), as float32."""
        # Small whole numbers: exact in single precision; BLAS adds them up.
        return np.bitwise_count(sets).astype(np.float32) @ self._ones_of_words

    def total(self, sets: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Total weight of the rows in sets (..., n_words)."""
        if self.common_weight is not None:
            return self.counts(sets).astype(np.float64) * self.common_weight
        flat = sets.reshape(-1, sets.shape[-1])
        total = np.empty(len(flat))
        step = max(1, _MOST_OCTETS // max(1, len(self._starts)))
        for start in range(0, len(flat), step):
            octets = flat[start : start + step].view(np.uint8)
            weights = self._sums.take(octets + self._starts)
            total[start : start + step] = weights.sum(axis=-1)
        return total.reshape(sets.shape[:-1])

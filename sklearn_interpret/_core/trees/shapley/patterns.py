"""Patterns: which conditions rows meet, for many nodes and rows together.

The pattern of a row at a node is an integer: bit i is whether the row meets the
condition of slot i, as `TreePaths` has them. Units have further bits, see `subtrees`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.shapley.subtrees import TreeUnits
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Pairs of a split and a row in a block of comparisons. Chosen by hand: smaller blocks
# call numpy more often, larger ones leave the cache.
_PAIRS_AT_ONCE = 2**20
# Longer patterns are Python's integers, not numpy's.
MAX_PATTERN_BITS = 62


class Scratch:
    """Memory for intermediate arrays, by name: arrays of one name share it.

    Some processes give freed memory back to the system; to allocate it again may take
    longer than the computation (Dask sets ``MALLOC_TRIM_THRESHOLD_`` for its workers).
    """

    def __init__(self) -> None:
        self._memory: dict[str, NDArray[np.uint8]] = {}

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """An array that is not filled, valid until the next call with its name."""
        dtype = np.dtype(dtype)
        if dtype.hasobject:
            return np.empty(shape, dtype)
        n_bytes = dtype.itemsize * int(np.prod(shape))
        if name not in self._memory or self._memory[name].nbytes < n_bytes:
            self._memory[name] = np.empty(n_bytes, dtype=np.uint8)
        return self._memory[name][:n_bytes].view(dtype).reshape(shape)


def rows_going_left(
    ensemble: TreeEnsemble,
    nodes: NDArray[np.intp],
    codes: NDArray[Any],
    gaps: NDArray[np.bool_],
    scratch: Scratch | None = None,
) -> NDArray[np.bool_]:
    """Whether rows go to the left at inner nodes (m,): bool of shape (m, n_rows).

    Fast if each column of the codes is one stretch of memory. `gaps` are the features
    with missing values in these rows, as `features_with_gaps` finds them.
    """
    scratch = scratch or Scratch()
    split_codes = ensemble.split_codes
    features = ensemble.feature[nodes]
    shape = len(nodes), len(codes)
    split_values = scratch.empty("taken", shape, codes.dtype)
    codes.T.take(features, axis=0, out=split_values, mode="wrap")
    left = scratch.empty("left", shape, bool)
    ranks = split_codes.rank[nodes, None].astype(codes.dtype)
    np.less_equal(split_values, ranks, out=left)
    with_gaps = np.flatnonzero(gaps[features] & ensemble.missing_left[nodes])
    if len(with_gaps):
        missing_at = split_codes.missing_at[nodes[with_gaps], None].astype(codes.dtype)
        left[with_gaps] |= split_values[with_gaps] == missing_at
    if len(ensemble.categories_left):
        categorical = np.flatnonzero(ensemble.category_set[nodes] >= 0)
        table = _categories_going_left(ensemble, nodes[categorical])
        table_row = np.arange(len(categorical))[:, None]
        left[categorical] = table[table_row, split_values[categorical]]
    return left


def _left_blocks(
    ensemble: TreeEnsemble,
    nodes: NDArray[np.intp],
    codes: NDArray[Any],
    gaps: NDArray[np.bool_],
    scratch: Scratch,
) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Blocks of rows, with the results of `rows_going_left`."""
    step = max(1, _PAIRS_AT_ONCE // max(1, len(nodes)))
    for start in range(0, len(codes), step):
        rows = slice(start, start + step)
        yield rows, rows_going_left(ensemble, nodes, codes[rows], gaps, scratch)


def features_with_gaps(
    ensemble: TreeEnsemble, codes: NDArray[Any]
) -> NDArray[np.bool_]:
    """The mask of features with missing values in rows given by their codes."""
    return (codes == ensemble.split_codes.missing.astype(codes.dtype)).any(axis=0)


def _categories_going_left(
    ensemble: TreeEnsemble, nodes: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether each category goes left at splits; the last column is missing values."""
    sets = ensemble.category_set[nodes]
    missing_left = ensemble.missing_left[nodes, None]
    table = np.where(
        ensemble.categories_known[sets], ensemble.categories_left[sets], missing_left
    )
    table = np.hstack([table, missing_left])
    # The code of missing values may come before the table's end.
    missing_at = ensemble.split_codes.missing_at[nodes]
    table[np.arange(len(nodes)), missing_at] = missing_left[:, 0]
    return table


def all_met(
    ensemble: TreeEnsemble, paths: TreePaths, codes: NDArray[Any]
) -> NDArray[np.bool_]:
    """Which conditions rows meet, by the nodes that name them: (n_nodes, n_rows)."""
    inner = np.flatnonzero(~ensemble.is_leaf)
    left = rows_going_left(ensemble, inner, codes, features_with_gaps(ensemble, codes))
    met = np.ones((ensemble.n_nodes, len(codes)), dtype=bool)
    met[ensemble.left[inner]] = left
    met[ensemble.right[inner]] = ~left
    for nodes, previous in paths.narrowing_steps:
        met[nodes] &= met[previous]
    return met


class PatternFinder:
    """Finds the patterns of blocks of rows at units.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    groups : list of TreeUnits
        The units.
    """

    def __init__(
        self, ensemble: TreeEnsemble, paths: TreePaths, groups: list[TreeUnits]
    ) -> None:
        self.ensemble = ensemble
        self.groups = groups
        roots = [np.empty(0, dtype=np.intp), *(group.root for group in groups)]
        self.root_paths = RootPaths(ensemble, paths, np.concatenate(roots))
        splits_of_groups = [group.splits.T.ravel() for group in groups]
        self._splits = np.concatenate([self.root_paths.splits, *splits_of_groups])

    @property
    def nbytes(self) -> int:
        """Memory of the levels, without the memory of the units."""
        levels = self.root_paths.levels
        return sum(array.nbytes for level in levels for array in level)

    def find(
        self, codes: NDArray[Any], gaps: NDArray[np.bool_], scratch: Scratch
    ) -> list[NDArray[np.uint8]]:
        """Patterns of rows at each group of units, (n_units, n_rows).

        `gaps` are the features with missing values in these rows.
        """
        by_group = [
            np.empty((len(group), len(codes)), dtype=_pattern_dtype(group.n_bits))
            for group in self.groups
        ]
        blocks = _left_blocks(self.ensemble, self._splits, codes, gaps, scratch)
        for rows, left in blocks:
            self._write_patterns(left, [group[:, rows] for group in by_group], scratch)
        return by_group

    def _write_patterns(
        self,
        left: NDArray[np.bool_],
        by_group: list[NDArray[np.uint8]],
        scratch: Scratch,
    ) -> None:
        """Fill arrays (n_units, n_rows) from whether rows go left at all splits."""
        at_roots = self.root_paths.patterns_of_splits(left, scratch)
        left = left[len(self.root_paths.splits) :].view(np.uint8)
        n_before, split = 0, 0
        for group, patterns in zip(self.groups, by_group, strict=True):
            m = len(group)
            patterns[:] = at_roots[n_before : n_before + m]
            for bit in range(group.n_path, group.n_bits):
                patterns |= left[split : split + m] * patterns.dtype.type(1 << bit)
                split += m
            n_before += m


class PathLevel(NamedTuple):
    """Splits of one depth on paths to targets, and their children, left one first."""

    parent: NDArray[np.intp]  # (m,): position of each split in the level above
    bit: NDArray[np.unsignedinteger]  # (m, 1): the bit of its condition in patterns
    new_bit: NDArray[np.unsignedinteger]  # (m, 1): `bit`, 0 for merged conditions
    reached: NDArray[np.intp]  # (r,): positions of the children that are targets
    target: NDArray[np.intp]  # (r,): the target of each of these children


class RootPaths:
    """The nodes on the paths from the roots of trees to some nodes, level by level.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    targets : ndarray of shape (n_targets,), intp
        Nodes.
    """

    def __init__(
        self, ensemble: TreeEnsemble, paths: TreePaths, targets: NDArray[np.intp]
    ) -> None:
        self.ensemble = ensemble
        self.dtype = _pattern_dtype(paths.n_conditions[targets].max(initial=0))
        is_needed = _nodes_and_ancestors(ensemble, targets)
        target_of_node = np.full(ensemble.n_nodes, -1, dtype=np.intp)
        target_of_node[targets] = np.arange(len(targets))
        self.n_targets = len(targets)
        # Position of each needed node, and of its sibling, in its level.
        position = np.zeros(ensemble.n_nodes, dtype=np.intp)
        roots = ensemble.roots[is_needed[ensemble.roots]]
        position[roots] = np.arange(len(roots))
        self._n_roots = len(roots)
        self.levels: list[PathLevel] = []
        by_level = [roots[:0]]
        for nodes in ensemble.levels[1:]:
            left, right = nodes[::2], nodes[1::2]
            leads_to_target = is_needed[left] | is_needed[right]
            left, right = left[leads_to_target], right[leads_to_target]
            if not len(left):
                break
            splits = ensemble.parents[left]
            children = np.column_stack([left, right]).ravel()
            reached = np.flatnonzero(target_of_node[children] >= 0)
            slot = paths.slot[left, None].astype(self.dtype)
            bit = np.left_shift(np.ones_like(slot), slot)
            new_bit = bit * (paths.previous[left, None] < 0)
            target = target_of_node[children[reached]]
            self.levels.append(
                PathLevel(position[splits], bit, new_bit, reached, target)
            )
            by_level.append(splits)
            position[children] = np.arange(len(children))
        self.splits = np.concatenate(by_level)

    def patterns(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Patterns of rows: (n_targets, n_rows); bit i for the condition of slot i."""
        patterns = np.empty((self.n_targets, len(codes)), dtype=self.dtype)
        gaps, scratch = features_with_gaps(self.ensemble, codes), Scratch()
        blocks = _left_blocks(self.ensemble, self.splits, codes, gaps, scratch)
        for rows, left in blocks:
            patterns[:, rows] = self.patterns_of_splits(left, scratch)
        return patterns

    def patterns_of_splits(
        self, left: NDArray[np.bool_], scratch: Scratch
    ) -> NDArray[Any]:
        """Patterns of rows, from whether they go to the left at `splits` (m, n_rows).

        A new condition gets a bit of its own. A condition that is merged with one
        further up keeps its bit, and turns it off where the split fails. With the
        pattern a of a row at a split, whose bit b is on if the condition is new, and
        l = b where the row goes left, else 0: the left child has the pattern
        ``(a & ~b) | (a & l)``, the right child ``a ^ (a & l)``.
        """
        n_rows = left.shape[1]
        at_targets = scratch.empty("targets", (self.n_targets, n_rows), self.dtype)
        at_targets[:] = 0
        patterns = np.zeros((self._n_roots, n_rows), dtype=self.dtype)
        n_before = 0
        for level in self.levels:
            bit, n_splits = level.bit, len(level.bit)
            shape = n_splits, n_rows
            at_splits = scratch.empty("at splits", shape, self.dtype)
            patterns.take(level.parent, axis=0, out=at_splits, mode="wrap")
            at_splits |= level.new_bit
            goes_left = left[n_before : n_before + n_splits].view(np.uint8)
            left_bits = scratch.empty("left bits", shape, self.dtype)
            np.multiply(goes_left, bit, out=left_bits)
            left_bits &= at_splits  # a & l
            patterns = scratch.empty("patterns", (2 * n_splits, n_rows), self.dtype)
            np.bitwise_xor(at_splits, left_bits, out=patterns[1::2])
            at_splits &= ~bit
            np.bitwise_or(at_splits, left_bits, out=patterns[::2])
            at_targets[level.target] = patterns.take(level.reached, axis=0)
            n_before += n_splits
        return at_targets


def _pattern_dtype(n_bits: int) -> Any:
    """Smallest unsigned integers with `n_bits` bits."""
    if n_bits > MAX_PATTERN_BITS:
        return np.dtype(object)
    return np.dtype(f"u{next(n for n in (1, 2, 4, 8) if n_bits <= 8 * n)}")


def _nodes_and_ancestors(
    ensemble: TreeEnsemble, nodes: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """The mask of the given nodes and all nodes above them."""
    needed = np.zeros(ensemble.n_nodes, dtype=bool)
    while len(nodes):
        needed[nodes] = True
        nodes = ensemble.parents[nodes]
        nodes = np.unique(nodes[nodes >= 0])
        nodes = nodes[~needed[nodes]]
    return needed


class DistinctPatterns(NamedTuple):
    """Distinct patterns at each of some units, by unit and then increasing."""

    unit: NDArray[np.intp]  # (n,)
    pattern: NDArray[Any]  # (n,)
    position: NDArray[np.intp]  # (n_units, n_rows): position of each row's pattern


def distinct_patterns(patterns: NDArray[Any], n_bits: int) -> DistinctPatterns:
    """Distinct patterns at units, from the patterns of rows (n_units, n_rows)."""
    n = len(patterns)
    if n_bits <= 16:
        flat = patterns.astype(np.intp) + (np.arange(n)[:, None] << n_bits)
        occurs = np.zeros(n << n_bits, dtype=bool)
        occurs[flat.ravel()] = True
        present = np.flatnonzero(occurs)
        position = (np.cumsum(occurs) - 1)[flat]
        return DistinctPatterns(
            present >> n_bits, present & ((1 << n_bits) - 1), position
        )
    units, by_unit, positions, n_before = [], [], [], 0
    for unit, of_rows in enumerate(patterns):
        distinct, position = np.unique(of_rows, return_inverse=True)
        units.append(np.full(len(distinct), unit))
        by_unit.append(distinct)
        positions.append(position + n_before)
        n_before += len(distinct)
    return DistinctPatterns(
        np.concatenate(units), np.concatenate(by_unit), np.stack(positions)
    )

"""A tree ensemble: the routing of rows, and ensembles out of single trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sklearn_interpret._core.trees.structure.bits import LeafFinder
from sklearn_interpret._core.trees.structure.nodes import TreeNodes

# Fields with an entry for each node that does not refer to other nodes.
NODE_FIELDS = ("feature", "threshold", "missing_left", "category_set", "value", "cover")

# Pairs of a row and a tree that are routed together: some tens of megabytes.
_MOST_PAIRS = 2**19
# Pairs of a row and a tree that go down together. Chosen by hand: smaller blocks call
# numpy more often, larger ones leave the cache.
_PAIRS_IN_CACHE = 2**15
# Rows from which, and largest mean number of nodes of a tree up to which, rows are
# routed together as bits of words. The time of bits grows with the number of nodes, the
# time of single rows with the depth. The first is the number of bits of a word, the
# second is chosen by hand.
_MANY_ROWS = 64
_MOST_NODES = 1000


class TreeEnsemble(TreeNodes):
    """Trees whose leaf values add up, with the routing of rows to their leaves.

    Parameters as of `TreeNodes`.
    """

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Leaf that each row reaches in each tree: (n_rows, n_trees), intp."""
        return self.apply_codes(self.codes(X))

    def apply_codes(self, codes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Leaf that each row reaches in each tree, rows given by their codes."""
        leaves = np.empty((len(codes), self.n_trees), dtype=np.intp)
        for rows, reached in self._route_in_blocks(codes):
            leaves[rows] = reached.T
        return leaves

    def raw(self, X: ArrayLike) -> NDArray[np.float64]:
        """Raw output: `base` plus the values of the leaves reached, (n_rows, k)."""
        return self.raw_of_codes(self.codes(X))

    def raw_of_codes(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Raw output of rows given by their codes."""
        outputs = np.empty((len(codes), self.n_outputs))
        for rows, leaves in self._route_in_blocks(codes, self.n_outputs):
            outputs[rows] = self.value.take(leaves, axis=0).sum(axis=0)
        return outputs + self.base

    @cached_property
    def _leaf_finder(self) -> LeafFinder:
        """Finds the leaves of many rows together."""
        return LeafFinder(self)

    def _route_in_blocks(
        self, codes: NDArray[np.integer], n_values: int = 1
    ) -> Iterator[tuple[slice, NDArray[np.intp]]]:
        """Yield slices of rows, and their leaves (n_trees, n).

        `n_values` is what the caller keeps of each row and tree.
        """
        step = max(1, _MOST_PAIRS // max(1, self.n_trees * n_values))
        route = self._route
        trees_are_small = 0 < self.n_nodes <= _MOST_NODES * self.n_trees
        if trees_are_small and len(codes) >= _MANY_ROWS:
            route = self._leaf_finder.find
            step = min(step, self._leaf_finder.block_rows)
        for start in range(0, len(codes), step):
            rows = slice(start, start + step)
            yield rows, route(codes[rows])

    def _route(self, codes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Leaves (n_trees, n) of rows: few trees at a time, which stay in the cache."""
        leaves = np.empty((self.n_trees, len(codes)), dtype=np.intp)
        step = max(1, _PAIRS_IN_CACHE // max(1, len(codes)))
        # Codes are taken from a flat array, in which each row begins at its start.
        flat_codes = np.ravel(codes)
        row_starts = np.arange(len(codes)) * self.n_features
        by_rank = not len(self.categories_left) and not self._any_missing(codes)
        for start in range(0, self.n_trees, step):
            roots = self.roots[start : start + step]
            # For each pair of a tree and a row: its present node, and its leaf.
            node = np.repeat(roots, len(codes))
            row_start = np.tile(row_starts, len(roots))
            leaf_of_pair = leaves[start : start + step].reshape(-1)
            pair = np.arange(len(node))
            while len(node):
                feature = self.feature.take(node)
                is_inner = feature >= 0
                if not is_inner.all():
                    leaf_of_pair[pair] = node  # overwritten where the node is inner
                    node, row_start = node[is_inner], row_start[is_inner]
                    pair, feature = pair[is_inner], feature[is_inner]
                split_codes = flat_codes.take(row_start + feature)
                if by_rank:
                    goes_left = split_codes <= self.split_codes.rank.take(node)
                else:
                    goes_left = self.goes_left(node, split_codes)
                node = self._children.take(2 * node + ~goes_left)
        return leaves

    @cached_property
    def _children(self) -> NDArray[np.intp]:
        """Left and right child of each node, side by side."""
        return np.column_stack([self.left, self.right]).ravel()

    def _any_missing(self, codes: NDArray[np.integer]) -> bool:
        """Whether some row has a missing value."""
        return bool((codes == self.split_codes.missing).any())

    def slice_trees(self, trees: slice, nodes: slice) -> TreeEnsemble:
        """Consecutive trees, with all their nodes; they compare the same codes."""
        codes = self.split_codes
        return replace(
            self,
            roots=self.roots[trees] - nodes.start,
            left=np.where(self.is_leaf, -1, self.left - nodes.start)[nodes],
            right=np.where(self.is_leaf, -1, self.right - nodes.start)[nodes],
            # Rows come as codes: nothing is compared with thresholds any more.
            shared_codes=replace(
                codes,
                thresholds=(),
                rank=codes.rank[nodes],
                missing_at=codes.missing_at[nodes],
            ),
            **{name: getattr(self, name)[nodes] for name in NODE_FIELDS},
        )


_Column = NDArray[Any] | Sequence[Any]


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree, its nodes counted from zero, the root first.

    Parameters
    ----------
    left, right : array-like of shape (n_nodes,)
        Children, negative at leaves.
    feature : array-like of shape (n_nodes,)
        Feature split on; ignored at leaves.
    threshold : array-like of shape (n_nodes,)
        Of numeric splits; ignored elsewhere.
    value : array-like of shape (n_nodes, k)
        Leaf values; ignored elsewhere.
    cover : array-like of shape (n_nodes,)
        Weight of training rows.
    missing_left : array-like of shape (n_nodes,) or bool, default=False
        Where missing values go.
    category_set : array-like of shape (n_nodes,), default=-1
        Row of this tree's category tables; negative for numeric splits.
    categories_left, categories_known : array-like of shape (n_sets, n_categories)
        Category tables; none by default.
    """

    left: _Column
    right: _Column
    feature: _Column
    threshold: _Column
    value: _Column
    cover: _Column
    missing_left: _Column | bool = False
    category_set: _Column | int = -1
    categories_left: _Column = ()
    categories_known: _Column = ()


def join_trees(
    trees: list[Tree],
    *,
    base: ArrayLike,
    n_features: int,
    precision: DTypeLike,
    strict: bool = False,
) -> TreeEnsemble:
    """One ensemble out of single trees.

    Parameters
    ----------
    trees : list of Tree
        May be empty.
    base : array-like of shape (k,)
        Output without any tree.
    n_features : int
        Number of features.
    precision : dtype
        float32 or float64.
    strict : bool, default=False
        Whether a number equal to the threshold goes to the right.

    Returns
    -------
    TreeEnsemble
    """
    base = np.atleast_1d(np.asarray(base, dtype=np.float64))
    sizes = [len(tree.left) for tree in trees]
    n_nodes = sum(sizes)
    starts = np.cumsum([0, *sizes[:-1]], dtype=np.intp)[: len(trees)]
    offset = np.repeat(starts, sizes).astype(np.intp)
    left = _join_column(trees, "left", np.intp)
    right = _join_column(trees, "right", np.intp)
    is_leaf = left < 0
    sets = [_as_table(tree.categories_left) for tree in trees]
    known_tables = [_as_table(tree.categories_known) for tree in trees]
    first_set = np.cumsum([0, *map(len, sets)])[: len(trees)]
    category_set = _join_column(trees, "category_set", np.intp)
    categorical = (category_set >= 0) & ~is_leaf
    category_set = np.where(
        categorical, category_set + np.repeat(first_set, sizes).astype(np.intp), -1
    )
    threshold = _join_column(trees, "threshold", np.float64)
    value = np.zeros((n_nodes, len(base)))
    if trees:
        value[:] = np.concatenate([np.asarray(tree.value) for tree in trees])
    return TreeEnsemble(
        roots=starts,
        left=np.where(is_leaf, -1, left + offset),
        right=np.where(is_leaf, -1, right + offset),
        feature=np.where(is_leaf, -1, _join_column(trees, "feature", np.intp)),
        threshold=np.where(is_leaf | categorical, np.nan, threshold),
        missing_left=_join_column(trees, "missing_left", np.bool_) & ~is_leaf,
        category_set=category_set,
        categories_left=stack_tables(sets),
        categories_known=stack_tables(known_tables),
        value=np.where(is_leaf[:, None], value, 0.0),
        cover=_join_column(trees, "cover", np.float64),
        base=base,
        n_features=int(n_features),
        precision=np.dtype(precision),
        strict=bool(strict),
    )


def _join_column(trees: list[Tree], name: str, dtype: DTypeLike) -> NDArray[Any]:
    """One field of all trees, one entry for each node: (n_nodes,)."""
    arrays = [getattr(tree, name) for tree in trees]
    # In most ensembles all fields are arrays already: of many trees this is faster.
    if not all(isinstance(array, np.ndarray) and array.ndim for array in arrays):
        sizes = [len(tree.left) for tree in trees]
        if all(np.ndim(array) == 0 for array in arrays):  # one number for all nodes
            return np.repeat(np.array(arrays, dtype=dtype), sizes)
        arrays = [
            np.asarray(array) if np.ndim(array) else np.full(size, array)
            for size, array in zip(sizes, arrays, strict=True)
        ]
    if not arrays:
        return np.empty(0, dtype=dtype)
    return np.concatenate(arrays, dtype=dtype, casting="unsafe")


_NO_TABLE = np.zeros((0, 0), dtype=bool)


def _as_table(rows: _Column) -> NDArray[np.bool_]:
    """A category table: (n_sets, n_categories)."""
    return np.asarray(rows, dtype=bool) if len(rows) else _NO_TABLE


def stack_tables(tables: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Tables of different width below each other."""
    width = max((table.shape[1] for table in tables), default=0)
    stacked = np.zeros((sum(map(len, tables)), width), dtype=bool)
    row = 0
    for table in filter(len, tables):
        stacked[row : row + len(table), : table.shape[1]] = table
        row += len(table)
    return stacked


def cover_shares(ensemble: TreeEnsemble) -> NDArray[np.float64]:
    """Share of each node in its parent's cover; halves where the parent has none."""
    parent_cover = ensemble.cover[ensemble.parents]
    halves = np.full(ensemble.n_nodes, 0.5)
    shares = np.divide(ensemble.cover, parent_cover, out=halves, where=parent_cover > 0)
    shares[ensemble.parents < 0] = 1
    return shares


def node_means(ensemble: TreeEnsemble) -> NDArray[np.float64]:
    """Mean value of the leaves below each node, by their cover: (n_nodes, k)."""
    means, shares = ensemble.value.copy(), cover_shares(ensemble)[:, None]
    levels = list(pairwise(ensemble.levels))
    for parents, children in reversed(levels):
        contributions = shares[children] * means[children]
        splits = parents[~ensemble.is_leaf[parents]]
        # Siblings are side by side.
        means[splits] = contributions[::2] + contributions[1::2]
    return means

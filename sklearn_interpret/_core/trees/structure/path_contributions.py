"""Contributions of the splits on decision paths to outputs (Saabas 2014).

A split contributes the mean of the child that a row goes to less that of its node.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble, node_means

# Trees whose leaves' contributions are added together. Chosen by hand: with more their
# tables leave the cache.
_TREES_OF_PASS = 8
# Largest number of columns of a table of leaves, chosen by hand. Tables with more would
# hold mostly zeros: then the steps of paths are added one by one.
_MOST_COLUMNS = 64


class PathContributions:
    """Changes of the node's mean along decision paths, by the column split on.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    columns : ndarray of shape (n_features,), intp
        The column that each feature of the trees is made from.
    n_columns : int
        Number of columns.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        columns: NDArray[np.intp] | Sequence[int],
        n_columns: int,
    ) -> None:
        self.ensemble = ensemble
        self.n_columns = n_columns
        means, parents = node_means(ensemble), ensemble.parents
        self.base_values = ensemble.base + means[ensemble.roots].sum(axis=0)
        self._change = np.where(parents[:, None] < 0, 0.0, means - means[parents])
        # Short integers, so that more of them stay in the cache.
        self._parents = parents.astype(np.int32)
        self._column = np.append(columns, -1)[ensemble.feature[parents]].astype(
            np.int32
        )

    @property
    def row_bytes(self) -> int:
        """Approximate memory that a row needs."""
        # 8 bytes for each number: contributions and leaves, twice; and for each step of
        # the paths of a pass its leaf, node, column and parent, and its changes.
        steps = _TREES_OF_PASS * (self.ensemble.depth.max(initial=0) + 1)
        numbers = self.n_columns * self.ensemble.n_outputs + self.ensemble.n_trees
        return 8 * (2 * numbers + steps * (4 + self.ensemble.n_outputs))

    def values(
        self, codes: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Contributions (m, n_columns, k) to rows given by codes, and raw output."""
        trees = self.ensemble
        leaves = trees.apply_codes(codes)
        values = np.zeros((len(codes), self.n_columns, trees.n_outputs))
        is_narrow = self.n_columns * trees.n_outputs <= _MOST_COLUMNS
        add = self._add_by_leaf if is_narrow else self._add_by_step
        for start in range(0, trees.n_trees, _TREES_OF_PASS):
            add(values, leaves[:, start : start + _TREES_OF_PASS])
        return values, trees.base + trees.value.take(leaves, axis=0).sum(axis=1)

    def _add_by_leaf(
        self, values: NDArray[np.float64], leaves: NDArray[np.intp]
    ) -> None:
        """Add what leaves (m, n_trees) contribute to `values`, by a table of leaves."""
        first = leaves.min()
        reached = np.zeros(leaves.max() - first + 1, dtype=bool)
        reached[leaves - first] = True
        position = np.cumsum(reached) - 1
        table = np.zeros(((position[-1] + 1) * self.n_columns, values.shape[2]))
        for leaf, column, change in self._steps_up(first + np.flatnonzero(reached)):
            table[leaf * self.n_columns + column] += change  # no leaf is there twice
        table = table.reshape(position[-1] + 1, -1)
        starts = np.arange(len(leaves) + 1) * leaves.shape[1]
        membership = sparse.csr_array(
            (np.ones(leaves.size), position[leaves - first].ravel(), starts),
            shape=(len(leaves), len(table)),
        )
        values += (membership @ table).reshape(values.shape)

    def _add_by_step(
        self, values: NDArray[np.float64], leaves: NDArray[np.intp]
    ) -> None:
        """Add what leaves (m, n_trees) contribute to `values`, step by step."""
        steps = self._steps_up(leaves.ravel())
        pair, column, change = map(np.concatenate, zip(*steps, strict=True))
        cell = pair // leaves.shape[1] * self.n_columns + column
        size = values[..., 0].size
        for output in range(values.shape[2]):
            sums = np.bincount(cell, change[:, output], size)
            values[..., output] += sums.reshape(len(values), -1)

    def _steps_up(
        self, leaves: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.float64]]]:
        """From leaves to roots, step by step: positions of leaves, columns, changes.

        There is at least one step, of no leaf where there are no leaves.
        """
        node, position = leaves.astype(np.int32), np.arange(len(leaves))
        while True:
            parents = self._parents[node]
            inner = parents >= 0
            if not inner.all():
                node, position = node[inner], position[inner]
                parents = parents[inner]
            yield position, self._column[node], self._change[node]
            if not len(node):
                return
            node = parents

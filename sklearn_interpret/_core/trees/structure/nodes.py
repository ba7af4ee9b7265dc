"""The nodes of a tree ensemble as flat arrays, and the codes of its splits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sklearn_interpret._core.statistics.grids import AT_ONCE, search_among


@dataclass(frozen=True, eq=False)
class SplitCodes:
    """Feature values as small integers that every split compares alike.

    An ensemble only compares a feature's value with its own thresholds. So each value
    gets a code:

    - *a number*: how many of the feature's distinct thresholds lie below it, from 0 to
      ``len(thresholds[j])``. With ``rank`` the position of the split's threshold among
      them, ``x <= threshold`` is ``code <= rank``. Where the ensemble is strict,
      thresholds equal to x count as below, and ``x < threshold`` is ``code <= rank``;
    - *a category*: its position;
    - *a missing value*: ``missing[j]``, the last code. NaN are missing values, and
      categories that are negative or larger than all that splits know.

    The casts and comparisons are made here, once per value, as the ensemble's library
    makes them: in its precision, -0.0 equal to 0.0. All else works on codes: left at a
    numeric split are the codes ``0..rank``, right are ``rank + 1..len(thresholds[j])``,
    and ``missing[j]`` goes where the node says.

    Parameters
    ----------
    thresholds : tuple of ndarray
        Sorted distinct thresholds of each feature, float64; empty for categories.
    n_codes : ndarray of shape (n_features,), intp
        Number of codes of each feature, missing included.
    categorical : ndarray of shape (n_features,), bool
        Which features are split as categories.
    rank : ndarray of shape (n_nodes,), intp
        Position of the node's threshold among its feature's; -1 for leaves and
        categorical splits.
    missing_at : ndarray of shape (n_nodes,), intp
        Code of missing values of the feature that the node splits on; -1 at leaves.
    precision : numpy.dtype
        Dtype that numbers are cast to before they are compared.
    strict : bool
        Whether a number equal to a threshold goes to the right.
    """

    thresholds: tuple[NDArray[np.float64], ...]
    n_codes: NDArray[np.intp]
    categorical: NDArray[np.bool_]
    rank: NDArray[np.intp]
    missing_at: NDArray[np.intp]
    precision: np.dtype
    strict: bool

    @classmethod
    def of_splits(
        cls,
        feature: NDArray[np.intp],
        threshold: NDArray[np.float64],
        category_set: NDArray[np.intp],
        categories_known: NDArray[np.bool_],
        *,
        n_features: int,
        precision: DTypeLike,
        strict: bool,
    ) -> SplitCodes:
        """Codes for the splits of an ensemble, from its arrays.

        Parameters
        ----------
        feature, threshold, category_set : ndarray of shape (n_nodes,)
            As in `TreeNodes`.
        categories_known : ndarray of shape (n_sets, n_categories), bool
            As in `TreeNodes`.
        n_features : int
            Number of features.
        precision : numpy.dtype
            Dtype that numbers are cast to.
        strict : bool
            Whether a number equal to a threshold goes to the right.

        Returns
        -------
        SplitCodes
        """
        rank = np.full(len(feature), -1, dtype=np.intp)
        thresholds = [np.empty(0) for _ in range(n_features)]
        for j, nodes in _nodes_by_feature(feature, category_set < 0):
            thresholds[j], rank[nodes] = np.unique(
                threshold[nodes], return_inverse=True
            )
        n_values = np.array([len(values) + 1 for values in thresholds], dtype=np.intp)
        categorical = np.zeros(n_features, dtype=bool)
        for j, nodes in _nodes_by_feature(feature, category_set >= 0):
            is_known = categories_known[np.unique(category_set[nodes])].any(axis=0)
            categorical[j] = True
            n_values[j] = np.flatnonzero(is_known).max(initial=-1) + 1
        missing_at = np.where(feature < 0, -1, np.append(n_values, -1)[feature])
        return cls(
            thresholds=tuple(thresholds),
            n_codes=n_values + 1,
            categorical=categorical,
            rank=rank,
            missing_at=missing_at,
            precision=np.dtype(precision),
            strict=strict,
        )

    @property
    def missing(self) -> NDArray[np.intp]:
        """Code of missing values of each feature: intp of shape (n_features,)."""
        return self.n_codes - 1

    def encode(self, X: ArrayLike) -> NDArray[np.int32]:
        """Codes of rows: (n_rows, n_features), column after column in memory."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self.thresholds):
            raise ValueError(
                f"X has shape {X.shape}, and the trees have "
                f"{len(self.thresholds)} features."
            )
        codes = np.empty(X.shape, dtype=np.int32, order="F")
        side: Literal["left", "right"] = "right" if self.strict else "left"
        searches = [search_among(values, len(X), side) for values in self.thresholds]
        for start in range(0, len(X), AT_ONCE):
            # Rows are turned into columns while they are in the processor's cache.
            columns = np.ascontiguousarray(X[start : start + AT_ONCE].T)
            with np.errstate(over="ignore"):  # beyond float32 is infinite, as it should
                numbers = columns.astype(self.precision, copy=False)
            numbers = numbers.astype(np.float64, copy=False)
            rows = slice(start, start + AT_ONCE)
            for j, search in enumerate(searches):
                codes[rows, j] = search(numbers[j])
            for j in np.flatnonzero(self.categorical).tolist():
                is_known = (columns[j] >= 0) & (columns[j] < self.missing[j])
                codes[rows, j] = np.where(is_known, columns[j], self.missing[j])
            column, row = np.nonzero(np.isnan(numbers))
            codes[start + row, column] = self.missing[column]
        return codes


def _nodes_by_feature(
    feature: NDArray[np.intp], mask: NDArray[np.bool_]
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each feature, and the inner nodes of a mask that split on it."""
    nodes = np.flatnonzero(mask & (feature >= 0))
    if len(nodes) == 0:
        return
    node_feature = feature[nodes]
    # Short integers are sorted fast.
    node_feature = node_feature.astype(np.min_scalar_type(node_feature.max()))
    nodes = nodes[np.argsort(node_feature, kind="stable")]
    starts = np.flatnonzero(np.diff(feature[nodes])) + 1
    for group in np.split(nodes, starts):
        yield feature[group[0]], group


@dataclass(frozen=True, eq=False)
class TreeNodes:
    r"""Trees whose leaf values add up, all nodes of all trees in one table.

    The raw output of a row is ``base`` plus, for each tree, the value of the leaf that
    the row reaches. A split sends a row to the left

    - on a number x, if ``x <= threshold`` (``x < threshold`` where `strict`), x being
      cast to `precision` first;
    - on a category c, if ``categories_left[category_set, c]``;
    - on a missing value, if ``missing_left``. A category that is not known to the
      split (``categories_known``) is treated as missing.

    Parameters
    ----------
    roots : ndarray of shape (n_trees,), intp
        Node index of each tree's root: its other nodes follow, up to the next root.
    left, right : ndarray of shape (n_nodes,), intp
        Node indices of the children, -1 at leaves.
    feature : ndarray of shape (n_nodes,), intp
        Feature that the node splits on, -1 at leaves.
    threshold : ndarray of shape (n_nodes,), float64
        Thresholds of numeric splits; may be infinite. NaN at leaves and categorical
        splits.
    missing_left : ndarray of shape (n_nodes,), bool
        Where missing values go.
    category_set : ndarray of shape (n_nodes,), intp
        Row of the two tables below, -1 for numeric splits and leaves.
    categories_left, categories_known : ndarray of shape (n_sets, n_categories), bool
        Which categories go left, and which are known.
    value : ndarray of shape (n_nodes, k), float64
        Leaf values with everything multiplied in (learning rate, weight of the tree,
        1 / n_trees); zero at inner nodes.
    cover : ndarray of shape (n_nodes,), float64
        Weight of the training rows that reached the node.
    base : ndarray of shape (k,), float64
        Output of the ensemble without any tree.
    n_features : int
        Number of features, also of those that no tree splits on.
    precision : numpy.dtype
        float32 or float64: what inputs are cast to before they are compared.
    strict : bool
        Whether a number equal to the threshold goes to the right.
    shared_codes : SplitCodes, optional
        Codes of the ensemble that these trees were taken from, for their nodes. None
        gives these trees codes of their own.

    Notes
    -----
    All methods work on one level of all trees at a time, without a Python loop over
    nodes or rows. Splits are integer comparisons there: see
    :class:`SplitCodes`.
    """

    roots: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.intp]
    categories_left: NDArray[np.bool_]
    categories_known: NDArray[np.bool_]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]
    base: NDArray[np.float64]
    n_features: int
    precision: np.dtype
    strict: bool
    shared_codes: SplitCodes | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was derived from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees, leaves included."""
        return len(self.left)

    @property
    def n_outputs(self) -> int:
        """Number of outputs, k."""
        return len(self.base)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves: bool of shape (n_nodes,)."""
        return self.left < 0

    @cached_property
    def parents(self) -> NDArray[np.intp]:
        """Node index of each node's parent, -1 at roots."""
        parents = np.full(self.n_nodes, -1, dtype=np.intp)
        inner = np.flatnonzero(~self.is_leaf)
        parents[self.left[inner]] = inner
        parents[self.right[inner]] = inner
        return parents

    @cached_property
    def levels(self) -> tuple[NDArray[np.intp], ...]:
        """Node indices by depth, the roots first, for work on one level of all trees.

        From the second level on siblings stand side by side, the left one first.
        """
        levels = []
        nodes = self.roots
        while len(nodes):
            levels.append(nodes)
            inner = nodes[~self.is_leaf[nodes]]
            nodes = np.column_stack([self.left[inner], self.right[inner]]).ravel()
        return tuple(levels)

    @cached_property
    def depth(self) -> NDArray[np.intp]:
        """Number of splits above each node: intp of shape (n_nodes,)."""
        depth = np.full(self.n_nodes, -1, dtype=np.intp)
        for level, nodes in enumerate(self.levels):
            depth[nodes] = level
        return depth

    @cached_property
    def split_codes(self) -> SplitCodes:
        """The integers that stand for feature values in all comparisons."""
        if self.shared_codes is not None:
            return self.shared_codes
        return SplitCodes.of_splits(
            self.feature,
            self.threshold,
            self.category_set,
            self.categories_known,
            n_features=self.n_features,
            precision=self.precision,
            strict=self.strict,
        )

    @cached_property
    def split_positions(self) -> NDArray[np.intp]:
        """Position of the split's threshold among all codes of all features.

        ndarray of shape (n_nodes,), intp; of no meaning at leaves. Categorical splits
        have the position of their feature's first code.
        """
        first = np.cumsum(self.split_codes.n_codes) - self.split_codes.n_codes
        first = np.append(first, 0)  # for leaves, which have no feature
        return first[self.feature] + np.maximum(self.split_codes.rank, 0)

    def codes(self, X: ArrayLike) -> NDArray[np.int32]:
        """Codes of rows X, as `SplitCodes` has them.

        X holds numbers, positions of categories, and NaN where missing.
        """
        return self.split_codes.encode(X)

    def goes_left(
        self, nodes: NDArray[np.intp], codes: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Whether values go to the left child.

        Parameters
        ----------
        nodes : ndarray of shape (m,), intp
            Inner nodes.
        codes : ndarray of shape (m,), int
            For each node, the code of a value of the feature that it splits on.

        Returns
        -------
        ndarray of shape (m,), bool
        """
        left = codes <= self.split_codes.rank[nodes]
        if len(self.categories_left):
            sets = self.category_set[nodes]
            # The code of missing values is past the table's end, and is treated below.
            selected = np.flatnonzero(
                (sets >= 0) & (codes < self.categories_left.shape[1])
            )
            sets, values = sets[selected], codes[selected]
            left[selected] = np.where(
                self.categories_known[sets, values],
                self.categories_left[sets, values],
                self.missing_left[nodes[selected]],
            )
        missing = np.flatnonzero(codes == self.split_codes.missing_at[nodes])
        left[missing] = self.missing_left[nodes[missing]]
        return left

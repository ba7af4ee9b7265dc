"""A tree ensemble as flat arrays, and how rows are routed through it."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from sklearn_interpret._core.trees.structure.codes import SplitCodes

# Fields with an entry for each node that does not refer to other nodes.
NODE_FIELDS = (
    "feature",
    "threshold",
    "missing_left",
    "category_set",
    "value",
    "cover",
)

# Pairs of a row and a tree that are routed at once: some tens of megabytes.
_PAIRS_AT_ONCE = 2**19


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
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
        Node index of each tree's root.
    left, right : ndarray of shape (n_nodes,), intp
        Node indices of the children, -1 at leaves.
    feature : ndarray of shape (n_nodes,), intp
        Feature that the node splits on, -1 at leaves.
    threshold : ndarray of shape (n_nodes,), float64
        Of numeric splits; may be infinite. NaN at leaves and categorical splits.
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
    whole_codes : SplitCodes, optional
        Of the ensemble that these trees are a part of, for their nodes; its codes are
        theirs then. None gives these trees codes of their own.

    Notes
    -----
    All methods work on one level of all trees at a time, without a Python loop over
    nodes or rows. Splits are integer comparisons there: see
    :class:`~sklearn_interpret._core.trees.structure.codes.SplitCodes`.
    """

    roots: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    category_set: np.ndarray
    categories_left: np.ndarray
    categories_known: np.ndarray
    value: np.ndarray
    cover: np.ndarray
    base: np.ndarray
    n_features: int
    precision: np.dtype
    strict: bool
    whole_codes: SplitCodes | None = None

    def __getstate__(self):
        """The fields alone: what was derived from them is found again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_trees(self):
        """Number of trees."""
        return len(self.roots)

    @property
    def n_nodes(self):
        """Number of nodes of all trees, leaves included."""
        return len(self.left)

    @property
    def n_outputs(self):
        """Number of outputs, k."""
        return len(self.base)

    @cached_property
    def is_leaf(self):
        """Which nodes are leaves: bool of shape (n_nodes,)."""
        return self.left < 0

    @cached_property
    def parents(self):
        """Node index of each node's parent, -1 at roots."""
        parents = np.full(self.n_nodes, -1, dtype=np.intp)
        inner = np.flatnonzero(~self.is_leaf)
        parents[self.left[inner]] = inner
        parents[self.right[inner]] = inner
        return parents

    @cached_property
    def _levels(self):
        levels = []
        nodes = self.roots
        while len(nodes):
            levels.append(nodes)
            inner = nodes[~self.is_leaf[nodes]]
            # Siblings stay side by side.
            nodes = np.column_stack([self.left[inner], self.right[inner]]).ravel()
        return tuple(levels)

    def levels(self):
        """Node indices by depth, the roots first, for work on one level of all trees.

        From the second level on siblings stand side by side, the left one first.
        """
        return self._levels

    @cached_property
    def depth(self):
        """Number of splits above each node: intp of shape (n_nodes,)."""
        depth = np.full(self.n_nodes, -1, dtype=np.intp)
        for level, nodes in enumerate(self._levels):
            depth[nodes] = level
        return depth

    @cached_property
    def split_codes(self):
        """The integers that stand for feature values in all comparisons."""
        if self.whole_codes is not None:
            return self.whole_codes
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
    def split_places(self):
        """Where the split's threshold stands among all codes of all features.

        ndarray of shape (n_nodes,), intp; of no meaning at leaves. What is split as
        categories stands at its feature's first code.
        """
        first = np.cumsum(self.split_codes.n_codes) - self.split_codes.n_codes
        first = np.append(first, 0)  # for leaves, which have no feature
        return first[self.feature] + np.maximum(self.split_codes.rank, 0)

    def codes(self, X):
        """Codes of rows X, as `SplitCodes` has them.

        X holds numbers, positions of categories, and NaN where missing.
        """
        return self.split_codes.encode(X)

    def goes_left(self, nodes, codes):
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
            # The code of missing values is past the table's end: treated below.
            at = np.flatnonzero((sets >= 0) & (codes < self.categories_left.shape[1]))
            sets, values = sets[at], codes[at]
            left[at] = np.where(
                self.categories_known[sets, values],
                self.categories_left[sets, values],
                self.missing_left[nodes[at]],
            )
        missing = np.flatnonzero(codes == self.split_codes.missing_at[nodes])
        left[missing] = self.missing_left[nodes[missing]]
        return left

    def apply(self, X):
        """Leaf that each row reaches in each tree: (n_rows, n_trees), intp."""
        return self.apply_codes(self.codes(X))

    def apply_codes(self, codes):
        """Leaf that each row reaches in each tree, rows given by their codes."""
        leaves = np.empty((len(codes), self.n_trees), dtype=np.intp)
        for rows in self._blocks(len(codes)):
            leaves[rows] = self._route(codes[rows])
        return leaves

    def raw(self, X):
        """Raw output: `base` plus the values of the leaves reached, (n_rows, k)."""
        return self.raw_of_codes(self.codes(X))

    def raw_of_codes(self, codes):
        """Raw output of rows given by their codes."""
        outputs = np.empty((len(codes), self.n_outputs))
        for rows in self._blocks(len(codes), self.n_outputs):
            outputs[rows] = self.value[self._route(codes[rows])].sum(axis=1)
        return outputs + self.base

    def _blocks(self, n_rows, width=1):
        step = max(1, _PAIRS_AT_ONCE // max(1, self.n_trees * width))
        return (slice(start, start + step) for start in range(0, n_rows, step))

    def _route(self, codes):
        """One step down for all pairs of a row and a tree that are still under way."""
        node = np.tile(self.roots, len(codes))
        under_way = np.flatnonzero(~self.is_leaf[node])
        while len(under_way):
            at = node[under_way]
            left = self.goes_left(
                at, codes[under_way // self.n_trees, self.feature[at]]
            )
            at = np.where(left, self.left[at], self.right[at])
            node[under_way] = at
            under_way = under_way[~self.is_leaf[at]]
        return node.reshape(len(codes), self.n_trees)

    def part(self, trees, nodes):
        """Consecutive trees, with all their nodes; they compare the same codes."""
        codes = self.split_codes
        return replace(
            self,
            roots=self.roots[trees] - nodes.start,
            left=np.where(self.is_leaf, -1, self.left - nodes.start)[nodes],
            right=np.where(self.is_leaf, -1, self.right - nodes.start)[nodes],
            # Rows come as codes: nothing is compared with thresholds any more.
            whole_codes=replace(
                codes,
                thresholds=(),
                rank=codes.rank[nodes],
                missing_at=codes.missing_at[nodes],
            ),
            **{name: getattr(self, name)[nodes] for name in NODE_FIELDS},
        )

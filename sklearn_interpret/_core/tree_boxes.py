"""Leaf boxes: the conditions on the way to each leaf, merged feature by feature."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class LeafBoxes:
    """What has to hold of a row's codes for it to reach each leaf.

    Along the way to a leaf all splits on one feature are merged into one *condition*:
    an interval of codes, or a set of categories, and whether missing values pass. A
    tree is then the sum over its leaves of the leaf's value times the product of its
    conditions (each 0 or 1).

    Parameters
    ----------
    leaves : ndarray of shape (n_leaves,), intp
        Node index of each leaf, over all trees.
    leaf : ndarray of shape (n_conditions,), intp
        Position of each condition's leaf in `leaves`; increasing.
    feature : ndarray of shape (n_conditions,), intp
        Feature of each condition; increasing within a leaf.
    low, high : ndarray of shape (n_conditions,), intp
        First and last code that meet a condition on a number.
    missing : ndarray of shape (n_conditions,), bool
        Whether missing values meet the condition.
    category_row : ndarray of shape (n_conditions,), intp
        Row of `categories`, -1 for conditions on numbers.
    categories : ndarray of shape (n_rows, n_codes), bool
        Which codes of a category meet a condition.
    n_features : int
        Number of features.
    """

    leaves: np.ndarray
    leaf: np.ndarray
    feature: np.ndarray
    low: np.ndarray
    high: np.ndarray
    missing: np.ndarray
    category_row: np.ndarray
    categories: np.ndarray
    n_features: int

    @classmethod
    def of_ensemble(cls, ensemble):
        """Boxes of all leaves of an ensemble.

        Parameters
        ----------
        ensemble : TreeEnsemble
            The trees.

        Returns
        -------
        LeafBoxes
        """
        leaves = np.flatnonzero(ensemble.is_leaf)
        leaf, node, goes_left = _splits_above(ensemble, leaves)
        keys = leaf * ensemble.n_features + ensemble.feature[node]
        order = np.argsort(keys, kind="stable")
        keys, node, goes_left = keys[order], node[order], goes_left[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        leaf, feature = np.divmod(keys[starts], max(ensemble.n_features, 1))
        rank = ensemble.split_codes.rank[node]
        last = ensemble.split_codes.missing_at[node] - 1
        category_row, categories = _category_sets(ensemble, node, goes_left, starts)
        return cls(
            leaves=leaves,
            leaf=leaf,
            feature=feature,
            low=_reduced(np.maximum, np.where(goes_left, 0, rank + 1), starts),
            high=_reduced(np.minimum, np.where(goes_left, rank, last), starts),
            missing=_reduced(
                np.logical_and, ensemble.missing_left[node] == goes_left, starts
            ),
            category_row=category_row,
            categories=categories,
            n_features=ensemble.n_features,
        )

    @property
    def n_conditions(self):
        """Number of conditions of all leaves."""
        return len(self.leaf)

    def find(self, leaf, feature):
        """Conditions of leaves on features that these leaves have conditions on.

        Parameters
        ----------
        leaf : ndarray of shape (m,), intp
            Positions in `leaves`.
        feature : ndarray of shape (m,), intp
            A feature of each leaf's box.

        Returns
        -------
        ndarray of shape (m,), intp
            Positions of conditions.
        """
        keys = self.leaf * self.n_features + self.feature
        return np.searchsorted(keys, leaf * self.n_features + feature)

    def curve(self, conditions, amounts, n_codes):
        """Sum of amounts over the conditions that each code of a feature meets.

        Parameters
        ----------
        conditions : ndarray of shape (m,), intp
            Conditions on one feature.
        amounts : ndarray of shape (m, k)
            What each contributes where it is met.
        n_codes : int
            Number of the feature's codes; the last one stands for missing values.

        Returns
        -------
        ndarray of shape (n_codes, k)
        """
        total = np.zeros((n_codes, amounts.shape[1]))
        rows = self.category_row[conditions]
        numeric = rows < 0
        if not numeric.all():
            met = self.categories[rows[~numeric], :n_codes]
            total += met.T @ amounts[~numeric]
        conditions, amounts = conditions[numeric], amounts[numeric]
        total[-1] += amounts[self.missing[conditions]].sum(axis=0)
        # Steps up at the first code of each interval, and down behind the last one;
        # splits that contradict each other leave an interval without any code.
        met = self.low[conditions] <= self.high[conditions]
        conditions, amounts = conditions[met], amounts[met]
        first, behind = self.low[conditions], self.high[conditions] + 1
        for output, amount in enumerate(amounts.T):
            steps = np.bincount(first, amount, n_codes)
            steps -= np.bincount(behind, amount, n_codes)
            total[:-1, output] += np.cumsum(steps)[:-1]
        return total


def _reduced(ufunc, values, starts):
    """Reduction over groups of consecutive entries; no group gives no result."""
    return ufunc.reduceat(values, starts) if len(starts) else values


def _splits_above(ensemble, leaves):
    """All splits above the leaves: leaf position, node, and whether it goes left."""
    none = np.empty(0, dtype=np.intp)
    found = [(none, none, none.astype(bool))]
    current, leaf = leaves, np.arange(len(leaves))
    while len(current):
        parent = ensemble.parents[current]
        inner = parent >= 0
        current, leaf, parent = current[inner], leaf[inner], parent[inner]
        found.append((leaf, parent, ensemble.left[parent] == current))
        current = parent
    return tuple(map(np.concatenate, zip(*found, strict=True)))


def _category_sets(ensemble, node, goes_left, starts):
    """Codes that meet each condition on a category, and where they stand."""
    group = np.zeros(len(node), dtype=np.intp)
    group[starts] = 1
    group = np.cumsum(group) - 1
    splits = np.flatnonzero(ensemble.category_set[node] >= 0)
    category_row = np.full(len(starts), -1, dtype=np.intp)
    n_codes = ensemble.split_codes.n_codes.max(initial=1)
    if not len(splits):
        return category_row, np.zeros((0, n_codes), dtype=bool)
    used, rows = np.unique(group[splits], return_inverse=True)
    category_row[used] = np.arange(len(used))
    categories = np.ones((len(used), n_codes), dtype=bool)
    for code in range(n_codes):
        asked = np.full(len(splits), code)
        met = ensemble.goes_left(node[splits], asked) == goes_left[splits]
        np.logical_and.at(categories[:, code], rows, met)
    return category_row, categories

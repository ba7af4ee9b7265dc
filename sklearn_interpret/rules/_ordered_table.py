"""Ranks of codes, with the levels of a column in the order of their mean target."""

from typing import Any, NamedTuple

import numpy as np

from sklearn_interpret._core.rules.coded_conditions import node_rules


class OrderedTable(NamedTuple):
    """Rows of ranks: codes, with the levels in the order of their mean target.

    Parameters
    ----------
    space : ConditionSpace
        The conditions that codes stand for.
    ranks : ndarray of shape (n_columns, n_rows), float32
        Of known values from 0; -1 of levels that have no weight.
    n_known : ndarray of shape (n_columns,), int
        Number of ranks of known values. A missing value has twice this rank: no split
        between known values and it falls among values that are not in a tree's rows.
    levels : dict of int to ndarray
        For each column of levels, their codes in order.
    """

    space: Any
    ranks: np.ndarray
    n_known: np.ndarray
    levels: dict

    @classmethod
    def of_codes(cls, space, codes, targets, weights):
        """Order the levels of codes (n_columns, n_rows), by rows of positive weight.

        The best set of levels is then an interval (Breiman et al. 1984, 4.2.2).
        """
        n_known, levels = space.table.n_known.copy(), {}
        ranks = np.where(codes == n_known[:, None], 2 * n_known[:, None], codes)
        for j in np.flatnonzero(space.nominal).tolist():
            sums = np.bincount(codes[j], weights, n_known[j] + 1)
            used = np.flatnonzero(sums[:-1])
            means = np.bincount(codes[j], weights * targets, len(sums))[used]
            levels[j] = used[np.argsort(means / sums[used], kind="stable")]
            rank = np.full(len(sums), -1)
            rank[levels[j]], rank[-1] = np.arange(len(used)), 2 * len(used)
            ranks[j], n_known[j] = rank[codes[j]], len(used)
        return cls(space, ranks.astype(np.float32), n_known, levels)

    def rules(self, tree):
        """The path to each node of a tree on the ranks, as intervals of these."""
        children = tree.children_left, tree.children_right
        return node_rules(*children, tree.feature, tree.threshold, self.n_known)

    def conditions(self, rule):
        """A rule of intervals of ranks, as a tuple of `Condition`."""
        return tuple(self.space.of_codes(j, self._codes(j, *ends)) for j, *ends in rule)

    def _codes(self, j, first, last):
        """Codes of an interval of ranks, ascending."""
        if first >= self.n_known[j]:
            return [self.space.table.n_known[j]]
        if j in self.levels:
            return np.sort(self.levels[j][first : last + 1])
        return range(first, last + 1)

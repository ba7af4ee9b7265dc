"""Ranks of codes, with the levels of a column in the order of their mean target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.rules.coded_conditions import node_rules

if TYPE_CHECKING:
    from sklearn.tree import BaseDecisionTree

    from sklearn_interpret._core.rules.coded_conditions import Condition as RankInterval
    from sklearn_interpret._inspectors.condition_space import ConditionSpace
    from sklearn_interpret.explanations import Condition


class OrderedTable(NamedTuple):
    """Rows of ranks: codes, with the levels in the order of their mean target.

    Parameters
    ----------
    space : ConditionSpace
        The conditions that codes stand for.
    ranks : ndarray of shape (n_columns, n_rows), float32
        Ranks of known values, from 0; -1 for levels that have no weight.
    n_known : ndarray of shape (n_columns,), int
        Number of ranks of known values. The rank of a missing value is twice this
        number, so far above that a tree's threshold between the two, in their middle,
        is above all known ranks.
    levels : dict of int to ndarray
        For each column of levels, their codes in order.
    """

    space: ConditionSpace
    ranks: NDArray[Any]
    n_known: NDArray[np.intp]
    levels: dict[int, NDArray[np.intp]]

    @classmethod
    def of_codes(
        cls,
        space: ConditionSpace,
        codes: NDArray[np.integer],
        targets: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> OrderedTable:
        """Order the levels of codes (n_columns, n_rows), by rows of positive weight.

        The best set of levels is then an interval (Breiman et al. 1984, 4.2.2).
        """
        n_known, levels = space.table.n_known.copy(), {}
        ranks = np.where(codes == n_known[:, None], 2 * n_known[:, None], codes)
        for j in np.flatnonzero(space.nominal).tolist():
            level_weights = np.bincount(codes[j], weights, n_known[j] + 1)
            used = np.flatnonzero(level_weights[:-1])  # levels with weight
            target_sums = np.bincount(codes[j], weights * targets, len(level_weights))
            means = target_sums[used] / level_weights[used]
            levels[j] = used[np.argsort(means, kind="stable")]
            n_known[j] = len(used)
            rank_of_code = np.full(len(level_weights), -1)  # of levels without weight
            rank_of_code[levels[j]] = np.arange(len(used))
            rank_of_code[-1] = 2 * len(used)  # of missing values
            ranks[j] = rank_of_code[codes[j]]
        return cls(space, ranks.astype(np.float32), n_known, levels)

    def rules(self, tree: BaseDecisionTree) -> list[tuple[RankInterval, ...]]:
        """The path to each node of a tree on the ranks, as intervals of ranks."""
        nodes = tree.tree_
        children = nodes.children_left, nodes.children_right
        return node_rules(*children, nodes.feature, nodes.threshold, self.n_known)

    def conditions(self, rule: tuple[RankInterval, ...]) -> tuple[Condition, ...]:
        """A rule of intervals of ranks, as a tuple of `Condition`."""
        return tuple(
            self.space.of_codes(j, self._codes_of_ranks(j, *ends)) for j, *ends in rule
        )

    def _codes_of_ranks(
        self, j: int, first: int, last: int
    ) -> range | NDArray[np.intp]:
        """Codes of the ranks of a column from first to last, ascending."""
        if first >= self.n_known[j]:
            return self.space.table.n_known[[j]]
        if j in self.levels:
            return np.sort(self.levels[j][first : last + 1])
        return range(first, last + 1)

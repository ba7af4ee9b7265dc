"""Conditions on the columns of a table, as codes for searches and as users see them."""

from typing import Any, NamedTuple

import numpy as np

from sklearn_interpret._core.rules.coded_conditions import (
    CodedTable,
    merged,
    node_rules,
)
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.bounds import only_number
from sklearn_interpret.explanations import Condition


class ConditionSpace:
    """Columns of rows as codes, and conditions on codes as conditions on columns.

    Parameters
    ----------
    rows : Rows
        The rows of `fit`.
    categorical : ndarray of shape (n_columns,), bool
        Columns whose values are levels. Columns without numbers are too.

    Attributes
    ----------
    nominal : ndarray of shape (n_columns,), bool
        Columns whose values are levels.
    values : list of ndarray or list
        Known values of each column, in the order of their codes.
    table : CodedTable
        The codes.
    """

    def __init__(self, rows, categorical):
        self.names = rows.names
        self.nominal = categorical | ~rows.are_numbers
        self.values, codes = [], []
        for j, nominal in enumerate(self.nominal):
            if rows.values(j).dtype.kind == "c":
                raise ValueError(f"Complex data not supported: {self.names[j]!r}.")
            if nominal:
                own, values = rows.encode_column(j)
            else:
                values, own = np.unique(rows.numbers(j), return_inverse=True)
            if len(values) and is_missing(values[-1]):
                values = values[:-1]
            self.values.append(values)
            codes.append(own)
        n_known = np.array([len(values) for values in self.values])
        self.table = CodedTable(np.stack(codes), n_known, self.nominal)

    def conditions(self, rule):
        """A rule of intervals of codes, as a tuple of `Condition`."""
        return tuple(self.condition(*interval) for interval in merged(rule))

    def condition(self, column, first, last):
        """An interval of codes, as a `Condition`."""
        return self.of_codes(column, range(first, last + 1))

    def of_codes(self, column, codes):
        """Ascending codes, those of numbers without a gap, as a `Condition`."""
        values, name = self.values[column], self.names[column]
        first, last = codes[0], codes[-1]
        if first == len(values):
            return Condition(column, name, levels=(np.nan,))
        if self.nominal[column]:
            return Condition(column, name, levels=tuple(values[code] for code in codes))
        low = threshold(*values[first - 1 : first + 1]) if first else None
        high = None
        if last + 1 < len(values):
            high = threshold(*values[last : last + 2])
        only = only_number(values, low, high)
        return Condition(column, name, low=low, high=high, only=only)


def threshold(below, above):
    """A number near the middle of two others, with as few digits as possible.

    It is at least the first, and less than the second.
    """
    middle = below / 2 + above / 2
    for digits in range(1, 16):
        short = float(f"{middle:.{digits}g}")
        near = abs(short - middle) <= above / 4 - below / 4
        if near and below <= short < above:
            return short
    return float(middle if below <= middle < above else below)


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
    def of(cls, space, codes, targets, weights):
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

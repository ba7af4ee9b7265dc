"""Conditions on columns of codes, and class sums of all conditions of a table.

A column holds codes 0, 1, ... of its known values, and the next code for missing ones.
A condition says that a value is up to or above a number, equal to a level, or missing:
it is an interval of codes. A rule is a sequence of conditions that hold together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Condition(NamedTuple):
    """A condition: the code of a column is from the first to the last."""

    column: int
    first: int
    last: int


class Candidates(NamedTuple):
    """Conditions, and the sums of the rows for which each holds.

    Parameters
    ----------
    column, first, last : ndarray of shape (n_conditions,), int
        The conditions.
    sums : ndarray of shape (n_sums, n_conditions)
        Sums of weights.
    """

    column: NDArray[np.intp]
    first: NDArray[np.integer]
    last: NDArray[np.integer]
    sums: NDArray[np.float64]


class CodedTable:
    """Rows of codes, sorted once along each column.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_rows), int
        Codes of the rows.
    n_known : ndarray of shape (n_columns,), int
        Number of known values of each column, which have lower codes; a missing value
        has the number itself as its code.
    nominal : ndarray of shape (n_columns,), bool
        Columns whose codes have no order.
    """

    def __init__(
        self,
        codes: NDArray[np.integer],
        n_known: NDArray[np.intp],
        nominal: NDArray[np.bool_],
    ) -> None:
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.n_known, self.nominal = n_known, nominal

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Rows sorted along each column: (n_columns, n_rows)."""
        return np.argsort(self.codes, axis=1, kind="stable")

    def take(self, index: NDArray[np.intp]) -> CodedTable:
        """The table of some rows."""
        return CodedTable(self.codes[:, index], self.n_known, self.nominal)

    @property
    def n_conditions(self) -> int:
        """Number of conditions on the table: two for a number, one for a level."""
        has_missing = (self.codes == self.n_known[:, None]).any(axis=1)
        n_on_values = np.where(self.nominal, self.n_known, 2 * (self.n_known - 1))
        return int((n_on_values + has_missing).sum())

    def holds(self, rule: Iterable[Condition]) -> NDArray[np.bool_]:
        """Whether all conditions of a rule hold for each row: (n_rows,), bool."""
        return rule_mask(self.codes, rule)

    def sorted_rows(
        self, mask: NDArray[np.bool_], order: NDArray[np.intp] | None = None
    ) -> NDArray[np.intp]:
        """Rows of a mask, sorted along each column: (n_columns, n_rows of the mask).

        `order` holds these rows and others, sorted in this way; by default all rows.
        """
        order = self.order if order is None else order
        rows = order.ravel().compress(mask.take(order).ravel())
        return rows.reshape(len(order), -1)

    def candidates(
        self, order: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> Candidates:
        """All conditions that hold for some of the rows only, with their sums.

        A cut lies in the middle between the codes of the rows on its two sides.

        Parameters
        ----------
        order : ndarray of shape (n_columns, n_rows), int
            Some of the rows, sorted along each column.
        weights : ndarray of shape (n_sums, n_rows of the table)
            Weights to be summed.
        """
        n_columns, n_rows = order.shape
        # `take` is several times faster than indexing.
        starts = np.arange(n_columns)[:, None] * self.codes.shape[1]
        codes = self.codes.take(order + starts)
        # Rows of equal code in a column are a group: its last row, its column and code,
        # and the sums (n_sums, n_groups) of the column's rows up to that row.
        is_end = np.ones(codes.shape, dtype=bool)
        np.not_equal(codes[:, 1:], codes[:, :-1], out=is_end[:, :-1])
        ends = np.flatnonzero(is_end)
        column, code = ends // n_rows, codes.take(ends)
        sums_upto = np.cumsum(weights.take(order, axis=1), axis=2)
        sums_upto = sums_upto.reshape(len(weights), -1).take(ends, axis=1)
        is_ordered = ~self.nominal.take(column) & (code < self.n_known.take(column))
        # Sums of all rows with a known number: those up to the last code of a column.
        sums_of_numbers = np.zeros((len(weights), n_columns))
        sums_of_numbers[:, column[is_ordered]] = sums_upto[:, is_ordered]
        same_column = column[1:] == column[:-1]
        # Conditions up to or above the middle between a group and the next one, where
        # both have known codes of an ordered column.
        cut_groups = np.flatnonzero(same_column & is_ordered[:-1] & is_ordered[1:])
        middle = (code[cut_groups] + code[cut_groups + 1] - 1) // 2
        cut_column = column[cut_groups]
        sums_below = sums_upto.take(cut_groups, axis=1)
        sums_above = sums_of_numbers.take(cut_column, axis=1) - sums_below
        # Conditions on the single code of a group, where the column has other codes.
        has_earlier = np.append(False, same_column)
        has_later = np.append(same_column, False)
        single = np.flatnonzero(~is_ordered & (has_earlier | has_later))
        sums_before = sums_upto[:, single - 1] * has_earlier[single]
        sums_of_group = sums_upto[:, single] - sums_before
        return Candidates(
            column=np.concatenate([cut_column, cut_column, column[single]]),
            first=np.concatenate([np.zeros_like(middle), middle + 1, code[single]]),
            last=np.concatenate([middle, self.n_known[cut_column] - 1, code[single]]),
            sums=np.concatenate([sums_below, sums_above, sums_of_group], axis=1),
        )


def rule_mask(
    codes: NDArray[np.integer], rule: Iterable[Condition]
) -> NDArray[np.bool_]:
    """Whether all conditions of a rule hold for each row of codes: (n_rows,), bool."""
    mask = np.ones(codes.shape[1], dtype=bool)
    for column, first, last in rule:
        column_codes = codes[column]
        mask &= (column_codes >= first) & (column_codes <= last)
    return mask


def all_hold(
    rules: Collection[Iterable[Any]], X: Any, n_rows: int
) -> NDArray[np.bool_]:
    """Whether all conditions of each rule hold for each row: (n_rules, n_rows), bool.

    Each condition has three methods: `_read(X)` returns the data that it needs,
    `_source` is a key of these data, so that they are read once for all conditions,
    and `_flags(data)` returns a flag for each row.
    """
    holds = np.ones((len(rules), n_rows), dtype=bool)
    columns: dict[Any, Any] = {}
    flags: dict[Any, NDArray[np.bool_]] = {}
    for mask, rule in zip(holds, rules, strict=True):
        for condition in rule:
            if condition not in flags:
                if condition._source not in columns:
                    columns[condition._source] = condition._read(X)
                flags[condition] = condition._flags(columns[condition._source])
            mask &= flags[condition]
    return holds


def merge_conditions(rule: Iterable[Condition]) -> list[Condition]:
    """A rule with one condition per column, on the codes that all conditions allow."""
    intervals: dict[int, tuple[int, int]] = {}
    for column, first, last in rule:
        low, high = intervals.get(column, (first, last))
        intervals[column] = max(low, first), min(high, last)
    return [Condition(column, *interval) for column, interval in intervals.items()]


def distinct_rows(
    codes: NDArray[np.integer], labels: NDArray[np.intp], weights: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Rows that differ in codes or label, in an order that depends on both alone.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_rows), int
        Codes of the rows.
    labels : ndarray of shape (n_rows,), int
        Classes of the rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.

    Returns
    -------
    index : ndarray of shape (n_distinct,)
        One of the rows that are equal.
    weights : ndarray of shape (n_distinct,)
        Weight of all rows that are equal to it.
    """
    keys = np.vstack([codes, labels])
    order = np.lexsort(keys)
    differs = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    starts = np.flatnonzero(np.append(True, differs))
    return order[starts], np.add.reduceat(weights[order], starts)


def node_rules(
    left: NDArray[np.intp],
    right: NDArray[np.intp],
    column: NDArray[np.intp],
    cut: NDArray[np.float64],
    n_known: NDArray[np.intp],
) -> list[tuple[Condition, ...]]:
    """The path to each node of a tree, as a rule.

    Parameters
    ----------
    left, right : ndarray of shape (n_nodes,), int
        Children of each node, behind it, or -1 at leaves; the first node is the root.
    column : ndarray of shape (n_nodes,), int
        Column that a node splits.
    cut : ndarray of shape (n_nodes,)
        Ranks up to it go to the left.
    n_known : ndarray of shape (n_columns,), int
        Known values of a column have lower ranks, a missing value has twice this rank.

    Returns
    -------
    list of tuple of Condition
        One interval of ranks for each column on the path, in the order of the columns.
        An interval of known ranks and the missing one is cut to the known ranks: a
        missing value meets no condition on them.
    """
    paths: list[dict[int, tuple[int, int]]] = [{} for _ in left]
    for node in np.flatnonzero(left >= 0):
        path, j, last_left = paths[node], int(column[node]), int(np.floor(cut[node]))
        first, last = path.get(j, (0, 2 * int(n_known[j])))
        paths[left[node]] = {**path, j: (first, last_left)}
        paths[right[node]] = {**path, j: (last_left + 1, last)}

    def without_missing(j: int, first: int, last: int) -> Condition:
        last_known = int(n_known[j]) - 1
        last = min(last, last_known) if first <= last_known else last
        return Condition(j, first, last)

    return [
        tuple(without_missing(j, *ends) for j, ends in sorted(path.items()))
        for path in paths
    ]

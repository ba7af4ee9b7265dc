"""Rules of a few conditions that hold for enough rows of a class, counted as bits.

:class:`PackedRows` counts rows in sets of bits, :func:`mine_rules` extends frequent
rules by one condition at a time (Apriori; Agrawal & Srikant 1994).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sklearn_interpret._core.rules.bins import entropy_bins, quantile_bins
from sklearn_interpret._core.rules.coded_conditions import Condition, distinct_rows

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.coded_conditions import CodedTable

_WORD = 64  # bits of a word
# Words of each set in a block: blocks of some thousands of sets fit the cache
# (benchmarks/bench_rules.py times it). Sums over a block fit two bytes: 32 * 64 bits.
_BLOCK = 32
# Largest sum of the weights in units: the larger one of a number in all,
_MAX_UNITS = 2**20
# and a number for each row. It limits the powers of two, each of which takes a pass
# over the sets. Weights without a common unit are rounded, by at most a 32nd of the
# mean weight.
_MAX_UNITS_OF_ROW = 16
# Share of a rule's support that is rounding.
_ROUNDING = 1e-12


class PackedRows:
    """Weighted rows of classes; a set of rows is a column of words of bits.

    The words of a class follow each other. Weights are sums of powers of two, so that
    the weight of a set takes no more than counting bits.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), int
        Classes of the rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows, all positive.
    n_classes : int
        Number of classes.

    Attributes
    ----------
    unit : float
        Greatest common unit of the weights, at least nearly.
    everything : ndarray of shape (n_words,), uint64
        The set of all rows.
    """

    def __init__(
        self, labels: NDArray[np.intp], weights: NDArray[np.float64], n_classes: int
    ) -> None:
        sizes = np.bincount(labels, minlength=n_classes)
        ends = np.cumsum(-(-sizes // _WORD))
        starts = np.append(0, ends[:-1])
        # The words of each class end before its entry of `_ends`.
        self._n_classes, self._n_words, self._ends = n_classes, ends[-1], ends
        # The rows of a class take its bits in their order.
        by_class = np.argsort(labels, kind="stable")
        n_unused = starts * _WORD - (np.cumsum(sizes) - sizes)  # bits before the class
        self._bit_of_row = np.empty_like(by_class)
        self._bit_of_row[by_class] = np.arange(len(labels)) + n_unused[labels[by_class]]
        self.unit = _common_unit(weights)
        units = np.maximum(np.rint(weights / self.unit), 1).astype(np.int64)
        powers = np.arange(int(units.max()).bit_length())
        # For each power of two the rows whose weight, in units, has it.
        self._rows_of_power = self.pack((units >> powers[:, None]) & 1 == 1).T
        self.everything = np.bitwise_or.reduce(self._rows_of_power)

    def pack(self, flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Flags of rows (n_sets, n_rows) as words of sets (n_words, n_sets)."""
        bits = np.zeros((len(flags), self._n_words * _WORD), dtype=bool)
        bits[:, self._bit_of_row] = flags
        return np.ascontiguousarray(np.packbits(bits, axis=1).view(np.uint64).T)

    def bits_of_class(self) -> NDArray[np.uint64]:
        """Rows whose weight has each power of two: (n_classes, n_powers, n_words)."""
        labels = np.searchsorted(self._ends, np.arange(self._n_words), side="right")
        mask = labels == np.arange(self._n_classes)[:, None, None]
        return np.where(mask, self._rows_of_power, np.uint64(0))

    def sums(
        self, sets: NDArray[np.uint64], within: NDArray[np.uint64] | None = None
    ) -> NDArray[np.intp]:
        """Weights, in units, of each class in sets of rows.

        Parameters
        ----------
        sets : ndarray of shape (..., n_words, n_sets), uint64
            The sets.
        within : ndarray of shape (n_words,), uint64, default=None
            The set of rows that count; by default all.

        Returns
        -------
        ndarray of shape (n_classes, ..., n_sets), int
            The sums.
        """
        within = self.everything if within is None else within
        shape = self._n_classes, *sets.shape[:-2], sets.shape[-1]
        total = np.zeros(shape, dtype=np.int64)
        for power, rows_of_power in enumerate(self._rows_of_power):
            counted = within & rows_of_power
            (used_words,) = counted.nonzero()
            for first in range(0, len(used_words), _BLOCK):
                block = used_words[first : first + _BLOCK]
                bits = sets.take(block, axis=-2)
                bits &= counted.take(block)[:, None]
                counts = np.bitwise_count(bits)
                ends = block.searchsorted(self._ends).tolist()
                for label, (start, stop) in enumerate(pairwise([0, *ends])):
                    if start < stop:
                        # Sums of bytes are much faster in two bytes than in eight.
                        class_sums = counts[..., start:stop, :].sum(-2, np.uint16)
                        total[label] += class_sums.astype(np.int64) << power
        return total


def _common_unit(weights: NDArray[np.float64]) -> float:
    """A unit of which all weights are multiples, at least nearly."""
    total = weights.sum()
    max_units = max(_MAX_UNITS, _MAX_UNITS_OF_ROW * len(weights))
    for unit in (1.0, weights.min()):
        units = weights / unit
        # 0.3 / 0.1 is not 3 in floats.
        is_integer = np.abs(units - np.rint(units)) <= 1e-9 * units
        if is_integer.all() and total / unit <= max_units:
            return float(unit)
    return float(total / max_units)


class MinedRules(NamedTuple):
    """Rules, no two of which hold for the same rows.

    Parameters
    ----------
    rules : list of list of Condition
        Conditions of each rule.
    sizes : ndarray of shape (n_rules,), int
        Numbers of conditions.
    sets : ndarray of shape (n_words, n_rules), uint64
        The rows for which each rule holds.
    rows : PackedRows
        The rows; rows of a class that meet the same conditions are one row.
    """

    rules: list[list[Condition]]
    sizes: NDArray[np.intp]
    sets: NDArray[np.uint64]
    rows: PackedRows


def mine_rules(
    table: CodedTable,
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
    n_classes: int,
    *,
    min_support: float,
    max_conditions: int,
    max_rules: int,
) -> MinedRules:
    """Frequent rules on a table.

    Parameters
    ----------
    table : CodedTable
        The table.
    labels : ndarray of shape (n_rows,), int
        Classes of the rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows, all positive.
    n_classes : int
        Number of classes.
    min_support : float
        Share of the rows of some class for which a rule has to hold.
    max_conditions : int
        Largest number of conditions of a rule.
    max_rules : int
        Largest number of rules of each number of conditions; the most informative
        rules are kept.

    Returns
    -------
    MinedRules
        The rules.
    """
    conditions, codes = _find_conditions(table, labels, weights, n_classes)
    # Rows are sorted by class, and then by the last columns first: the column whose
    # codes leave least entropy goes last. Rows with its code then share words, so that
    # most words of a set are zero or full, and few words count within it.
    entropies = [
        _class_entropies(_class_sums(column, labels, weights)).sum() for column in codes
    ]
    most_informative_last = np.argsort(entropies)[::-1]
    index, weights = distinct_rows(codes[most_informative_last], labels, weights)
    rows = PackedRows(labels[index], weights, n_classes)
    masks = [table.holds([condition])[index] for condition in conditions]
    flags = np.reshape(masks, (-1, len(index))).astype(bool)
    search = _Search(rows, rows.pack(flags), min_support, max_rules)
    columns = np.array([condition.column for condition in conditions], dtype=np.intp)
    by_size = [search.frequent_conditions()]
    while len(by_size[-1].positions) and len(by_size) < max_conditions:
        by_size.append(search.extend(by_size[-1], columns))
    n_rules = [len(of_size.positions) for of_size in by_size]
    sizes = np.repeat(np.arange(len(by_size)) + 1, n_rules)
    sets = np.concatenate([of_size.sets for of_size in by_size], axis=1)
    rules = [
        [conditions[position] for position in rule]
        for of_size in by_size
        for rule in of_size.positions
    ]
    # Of rules that hold for the same rows, the first is among the shortest.
    _, distinct = np.unique(sets, axis=1, return_index=True)
    distinct.sort()
    return MinedRules(
        [rules[i] for i in distinct], sizes[distinct], sets.take(distinct, axis=1), rows
    )


def _find_conditions(
    table: CodedTable,
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
    n_classes: int,
) -> tuple[list[Condition], NDArray[np.integer]]:
    """Conditions on levels, on unions of bins and on missing values; and new codes.

    Rows with the same new codes (n_columns, n_rows) meet the same conditions.
    """
    conditions: list[Condition] = []
    codes = table.codes.copy()
    for column, column_codes in enumerate(codes):
        n_known = int(table.n_known[column])
        sums = np.zeros((n_known + 1, n_classes))
        np.add.at(sums, (column_codes, labels), weights)
        levels = np.flatnonzero(sums.any(axis=1))
        if n_known and not table.nominal[column]:
            intervals = _unions_of_bins(sums[:-1])
            firsts = np.unique([[first, last + 1] for first, last in intervals])
            positions = np.searchsorted(firsts, column_codes, side="right") - 1
            column_codes[:] = firsts[positions]
            intervals.remove((0, n_known - 1))  # all known values
            conditions += [Condition(column, *interval) for interval in intervals]
            levels = levels[levels == n_known]
        conditions += [Condition(column, code, code) for code in levels.tolist()]
    return conditions, codes


def _class_sums(
    codes: NDArray[np.integer], labels: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weight of each class with each code: (n_classes, n_codes)."""
    sums = np.zeros((labels.max() + 1, codes.max() + 1))
    np.add.at(sums, (labels, codes), weights)
    return sums


def _class_entropies(sums: NDArray[np.float64 | np.intp]) -> NDArray[np.float64]:
    """Weight times entropy of the classes (axis 0) of each column."""
    total = sums.sum(axis=0)
    return xlogy(total, total) - xlogy(sums, sums).sum(axis=0)


def _unions_of_bins(class_sums: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Unions of adjacent bins, which separate classes or hold quarters of weight."""
    intervals: dict[tuple[int, int], None] = {}  # as an ordered set
    for bins in (entropy_bins(class_sums), quantile_bins(class_sums.sum(axis=1), 4)):
        unions = [
            (first, last) for i, (first, _) in enumerate(bins) for _, last in bins[i:]
        ]
        intervals |= dict.fromkeys(unions)
    return list(intervals)


class _RulesOfSize(NamedTuple):
    """Rules of the same size, which is their number of conditions."""

    positions: NDArray[np.intp]  # (n_rules, size): of a rule's conditions, rising
    sets: NDArray[np.uint64]  # (n_words, n_rules): rows for which each rule holds


class _Search:
    """Search for the rules that hold for enough rows of some class.

    `condition_sets` (n_words, n_conditions) are the rows for which each condition
    holds. All weights are in units.
    """

    def __init__(
        self,
        rows: PackedRows,
        condition_sets: NDArray[np.uint64],
        min_support: float,
        max_rules: int,
    ) -> None:
        self.rows, self.condition_sets = rows, condition_sets
        self.max_rules = max_rules
        self.class_sums = rows.sums(rows.everything[:, None])
        # Reduced by the rounding of the product; at least one row.
        min_sums = min_support * self.class_sums * (1 - _ROUNDING)
        self.min_sums = np.maximum(min_sums, 1)

    def frequent_conditions(self) -> _RulesOfSize:
        """Rules of one condition."""
        sums = self.rows.sums(self.condition_sets)
        frequent = np.flatnonzero(self._are_frequent(sums, self.class_sums.sum()))
        return self._select_most_informative(frequent[:, None], sums[:, frequent])

    def extend(self, shorter: _RulesOfSize, columns: NDArray[np.intp]) -> _RulesOfSize:
        """Frequent rules with one more condition, on a later column.

        `columns` holds the column of each condition, (n_conditions,).
        """
        # Rules before these ends are on earlier columns than each condition.
        ends = np.searchsorted(columns[shorter.positions[:, -1]], columns)
        rule_weights = self.rows.sums(shorter.sets).sum(axis=0)
        condition_weights = self.rows.sums(self.condition_sets).sum(axis=0)
        longer, all_sums = [], []
        for j, end in enumerate(ends):
            sets = shorter.sets[:, :end] & self.condition_sets[:, j, None]
            sums = self.rows.sums(sets)
            # A rule has to hold for less than its new condition, and than the others.
            weight_to_reduce = np.minimum(rule_weights[:end], condition_weights[j])
            frequent = np.flatnonzero(self._are_frequent(sums, weight_to_reduce))
            extended = shorter.positions[frequent]
            longer.append(np.insert(extended, extended.shape[1], j, axis=1))
            all_sums.append(sums[:, frequent])
        return self._select_most_informative(
            np.concatenate(longer), np.concatenate(all_sums, axis=1)
        )

    def _are_frequent(
        self, sums: NDArray[np.intp], weight_to_reduce: NDArray[np.intp] | int
    ) -> NDArray[np.bool_]:
        """Whether rules hold for enough rows of a class, and for less than a weight.

        `sums` (n_classes, n_rules) has the weight of each class in each rule.
        """
        reduces = sums.sum(axis=0) < weight_to_reduce
        return (sums >= self.min_sums).any(axis=0) & reduces

    def _select_most_informative(
        self, positions: NDArray[np.intp], sums: NDArray[np.intp]
    ) -> _RulesOfSize:
        """The `max_rules` rules that leave least entropy, in their order."""
        entropy = _class_entropies(sums) + _class_entropies(self.class_sums - sums)
        best = np.sort(np.argsort(entropy, kind="stable")[: self.max_rules])
        positions = positions[best]
        sets = self.condition_sets.take(positions[:, 0], axis=1)
        for next_positions in positions.T[1:]:
            sets &= self.condition_sets.take(next_positions, axis=1)
        return _RulesOfSize(positions, sets)
